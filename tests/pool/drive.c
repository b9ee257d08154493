/*
 * drive.c - many sessions on one hub: drive CONFIG FOLDER [OPTIONS]. FOLDER gets `asked` and
 * `results`, which judge.mjs reads; stdout one line with the counts, and one per session whose
 * server was killed. Exits with 1 when the pool's own counts disagree.
 */
#include "drive.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/read/load.h"
#include "pool/status.h"

extern char **environ;

enum { SETTLE_MS = 5, SETTLE_WITHIN_MS = 10000 };

void drive_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("drive: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

/* --- the end --------------------------------------------------------------------------------- */

struct sums {
	mp_id *seen; /* owned */
	int64_t servers, starts, restarts, calls, by_outcome[MP_OUTCOME_CANCELLED + 1];
};

static void get_status(const struct session *s, struct mp_status *ret)
{
	struct mp_arena texts;
	size_t i = (size_t)mp_workspace_find(s->workspace, s->d->o.server);

	mp_arena_init(&texts, MP_MIB(1));
	mp_status_take(s->workspace, i, s->id, &texts, ret); /* numbers are all that is used */
	mp_arena_done(&texts);
}

static bool is_new(const struct sums *sums, mp_id instance)
{
	for (int64_t i = 0; i < sums->servers; i++)
		if (sums->seen[i] == instance)
			return false;
	return instance != 0;
}

static void add(struct sums *sums, const struct session *s, const struct mp_status *status)
{
	size_t at = (size_t)mp_workspace_find(s->workspace, s->d->o.server);
	const struct mp_stats *stats = mp_workspace_get_stats(s->workspace, at, s->id);

	sums->seen[sums->servers++] = status->instance;
	sums->starts += status->starts;
	sums->restarts += status->restarts;
	if (!stats)
		return;
	sums->calls += (int64_t)stats->calls;
	for (int i = 0; i <= MP_OUTCOME_CANCELLED; i++)
		sums->by_outcome[i] += (int64_t)stats->by_outcome[i];
}

static void forget(struct sums *sums)
{
	mp_free(sums->seen);
}

/* All servers are up again, and nothing is with them. */
static bool add_all(struct drive *d, struct sums *sums)
{
	struct mp_status status;
	bool at_rest = true;

	for (int64_t i = 0; i < d->o.sessions; i++) {
		get_status(&d->sessions[i], &status);
		if (!is_new(sums, status.instance))
			continue;
		at_rest = at_rest && status.state == MP_STATUS_CONNECTED && status.open == 0 &&
			  status.waiting == 0;
		add(sums, &d->sessions[i], &status);
	}
	return at_rest;
}

static int compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->took_us < y->took_us ? -1 : x->took_us > y->took_us;
}

/* The order of calls does not matter any more. */
static void print_latencies(struct drive *d)
{
	qsort(d->calls, (size_t)d->ended, sizeof(*d->calls), compare);
	printf(" p50us %" PRId64 " p99us %" PRId64 " beside %" PRId64,
	       d->calls[d->ended / 2].took_us, d->calls[d->ended * 99 / 100].took_us, d->beside);
}

static void print(struct drive *d, const struct sums *sums)
{
	double s = (double)d->took_us / 1e6;

	printf("calls %" PRId64, d->ended);
	for (int i = 0; i <= MP_OUTCOME_CANCELLED; i++)
		printf(" %s %" PRId64, mp_outcome_get_name((enum mp_outcome)i), d->by_outcome[i]);
	printf(" errors %" PRId64 " twice %" PRId64 " kills %" PRId64 " servers %" PRId64
	       " starts %" PRId64 " restarts %" PRId64 " seconds %.2f calls/s %.0f seed %" PRId64,
	       d->errors, d->twice, d->kills, sums->servers, sums->starts, sums->restarts, s,
	       (double)d->ended / s, d->o.seed);
	print_latencies(d);
	printf("\n");
}

static void print_killed(const struct drive *d)
{
	struct mp_status status;

	for (int64_t i = 0; i < d->o.sessions; i++) {
		const struct session *s = &d->sessions[i];

		if (!s->killed)
			continue;
		get_status(s, &status);
		printf("session %" PRIu64 " killed %" PRId64 " restarts %" PRIu64 "\n", s->id,
		       s->killed, status.restarts);
	}
}

static int judge(const struct drive *d, const struct sums *sums)
{
	int bad = sums->calls != d->asked || d->twice;

	for (int i = 0; i <= MP_OUTCOME_CANCELLED; i++)
		bad |= sums->by_outcome[i] != d->by_outcome[i];
	if (bad)
		fprintf(stderr, "drive: the pool counted %" PRId64 " calls of %" PRId64 "\n",
			sums->calls, d->asked);
	return bad;
}

static void settle(void *u)
{
	struct drive *d = u;
	MP_CLEANUP(forget)
	struct sums sums = {.seen = mp_alloc((size_t)d->o.sessions * sizeof(mp_id))};
	int64_t waited_ms = (mp_loop_now_us(d->hub->loop) - d->began_us - d->took_us) / 1000;

	if (!add_all(d, &sums) && waited_ms < SETTLE_WITHIN_MS) {
		mp_timer_start(&d->timer, SETTLE_MS);
		return;
	}
	print(d, &sums);
	print_killed(d);
	d->exit_code = judge(d, &sums);
	mp_hub_stop(d->hub);
}

void drive_over(struct drive *d)
{
	if (d->is_over)
		return;
	d->is_over = true;
	d->took_us = mp_loop_now_us(d->hub->loop) - d->began_us;
	mp_timer_stop(&d->timer);
	mp_timer_init(&d->timer, d->hub->loop, settle, d);
	mp_timer_start(&d->timer, SETTLE_MS);
}

/* --- the hub --------------------------------------------------------------------------------- */

static bool is_alone(struct drive *d)
{
	ptrdiff_t i = d->o.beside ? mp_workspace_find(d->hub->workspace, d->o.beside) : -1;

	return i >= 0 &&
	       mp_workspace_get_state(d->hub->workspace, (size_t)i, 1) == MP_STATUS_PENDING;
}

/* The one beside is to be there, or to have failed, before anything is measured. */
static void begin(void *u)
{
	struct drive *d = u;

	if (is_alone(d)) {
		mp_timer_init(&d->timer, d->hub->loop, begin, d);
		mp_timer_start(&d->timer, SETTLE_MS);
		return;
	}
	if (!d->o.wait) {
		drive_calls(d);
		return;
	}
	printf("ready %zu\n", mp_workspace_count(d->hub->workspace));
	fflush(stdout);
}

static void workspace_is_ready(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	struct drive *d = u;

	(void)v;
	if (error)
		drive_die("a workspace: %s", error->message);
	if (++d->n_ready == d->n_workspaces)
		begin(d);
}

/* The first is the hub's own. */
static void open_views(struct drive *d, const struct mp_config_request *req)
{
	for (size_t i = 1; i < d->o.n_folders; i++) {
		struct mp_config_request there = *req;
		MP_CLEANUP(mp_config_set_unrefp) struct mp_config_set *set = NULL;

		there.cwd = d->o.folders[i];
		set = mp_config_load(&there);
		d->workspaces[d->n_workspaces++] =
			mp_workspace_open(d->hub->pool, set, environ, workspace_is_ready, d);
	}
}

static void hub_is_ready(void *u, const struct mcpool_error *error)
{
	struct drive *d = u;

	d->workspaces[0] = d->hub->workspace;
	workspace_is_ready(d->hub->workspace, error, d);
}

static void hub_has_stopped(void *u)
{
	struct drive *d = u;

	mp_loop_stop(d->hub->loop);
}

static const struct mp_hub_hooks hooks = {.ready = hub_is_ready, .stopped = hub_has_stopped};

static FILE *open_file(const struct drive *d, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", d->o.out, name);
	f = fopen(path, "w");
	if (!f)
		drive_die("%s cannot be written", path);
	return f;
}

static void run(struct drive *d)
{
	static const struct mp_identity me = {
		.name = "drive", .version = "1", .capabilities = {"{}", 2}};
	const char *files[] = {d->o.config};
	struct mp_hub_options options = {
		.request = {.cwd = d->o.folders[0],
			    .env = environ,
			    .files = files,
			    .n_files = 1,
			    .strict = true,
			    .db = d->db},
		.me = &me,
		.exe = MCPOOL_EXE,
	};
	struct mcpool_error why;

	if (mp_hub_new(&options, &hooks, d, &d->hub, &why) < 0)
		drive_die("no hub: %s", why.message);
	d->n_workspaces = 1;
	mp_hub_start(d->hub);
	open_views(d, &options.request);
	mp_loop_run(d->hub->loop);
	for (size_t i = 1; i < d->n_workspaces; i++)
		mp_workspace_close(d->workspaces[i]);
	mp_hub_free(d->hub);
}

/* --- arguments ------------------------------------------------------------------------------- */

static int64_t *find_number(struct options *o, const char *name)
{
	struct {
		const char *name;
		int64_t *at;
	} rows[] = {
		{"--sessions", &o->sessions}, {"--flight", &o->flight}, {"--calls", &o->calls},
		{"--kills", &o->kills},       {"--seed", &o->seed},     {"--slow", &o->slow},
		{"--limit", &o->limit},       {"--aborts", &o->aborts}, {"--pad", &o->pad},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].name, name) == 0)
			return rows[i].at;
	return NULL;
}

static void read_option(struct options *o, const char *name, const char *value)
{
	int64_t *number = find_number(o, name);

	if (number && mp_str_to_i64(mp_str_of(value), number) == 0)
		return;
	if (strcmp(name, "--server") == 0)
		o->server = value;
	else if (strcmp(name, "--beside") == 0)
		o->beside = value;
	else if (strcmp(name, "--folder") == 0 && o->n_folders < MAX_WORKSPACES)
		o->folders[o->n_folders++] = value;
	else
		drive_die("what is %s %s?", name, value);
}

int main(int argc, char **argv)
{
	static char cwd[4096];
	struct drive d = {.o = {.server = "demo",
				.sessions = 1,
				.flight = 1,
				.calls = 1,
				.seed = 1,
				.limit = 1}};
	struct mcpool_error why;

	if (argc < 3 || !getcwd(cwd, sizeof(cwd)))
		drive_die("usage: drive CONFIG FOLDER [--wait] [--OPTION VALUE]...");
	d.o.config = argv[1];
	d.o.out = argv[2];
	for (int i = 3; i < argc; i++) {
		if (strcmp(argv[i], "--wait") == 0)
			d.o.wait = true;
		else if (i + 1 < argc) {
			read_option(&d.o, argv[i], argv[i + 1]);
			i++;
		}
	}
	if (d.o.n_folders == 0)
		d.o.folders[d.o.n_folders++] = cwd;
	mp_log_set_level(MP_LEVEL_WRN);
	d.results = open_file(&d, "results");
	d.all_asked = open_file(&d, "asked");
	if (mp_db_open_default(&d.db, &why) < 0)
		drive_die("%s", why.message);
	run(&d);
	mp_db_close(d.db);
	mp_free(d.sessions);
	mp_free(d.calls);
	mp_free(d.params);
	mp_free(d.kill_at);
	mp_free(d.killed);
	return fclose(d.results) | fclose(d.all_asked) | d.exit_code;
}
