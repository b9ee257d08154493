/*
 * behave.c - asks servers for everything on one list, through a hub as `serve` has it: behave
 * CONFIG FOLDER KIND:NAME... KIND is `everything` or `ours`. One line for each behaviour, `NAME
 * BEHAVIOUR ok`, `absent`, `unseen: what` or `FAILED: why`; `NAME restart please` asks for a
 * restart of a remote one, after which FOLDER/NAME.again is waited for. Exits with 1 when anything
 * failed.
 */
#include "behave.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "../unit/heap_pool_call.h"

extern char **environ;

enum { PATIENCE_MS = 20000, TICK_MS = 20 };

static const struct kind kinds[] = {
	/* everything: the server of that name, as it is published */
	{
		.tool = "echo",
		.resource = "demo://resource/static/document/features.md",
		.prompt = "args-prompt",
		.call = "{\"name\":\"echo\",\"arguments\":{\"message\":\"hi\"}}",
		.called = "Echo: hi",
		.slow = "{\"name\":\"trigger-long-running-operation\","
			"\"arguments\":{\"duration\":0.6,\"steps\":3}}",
		.slept = "operation completed",
		.endless = "{\"name\":\"trigger-long-running-operation\","
			   "\"arguments\":{\"duration\":4,\"steps\":40}}",
		.change =
			"{\"name\":\"gzip-file-as-resource\",\"arguments\":{\"name\":\"fresh.gz\","
			"\"data\":\"data:text/plain,hello\",\"outputType\":\"resourceLink\"}}",
		.changes = MP_CATALOG_RESOURCE,
		.changed = "demo://resource/session/fresh.gz",
		.read = "{\"uri\":\"demo://resource/dynamic/text/3\"}",
		.content = "Resource 3",
		.uri = "demo://resource/dynamic/text/3",
		.touch = "{\"name\":\"toggle-subscriber-updates\",\"arguments\":{}}",
		.get = "{\"name\":\"args-prompt\",\"arguments\":{\"city\":\"Paris\"}}",
		.got = "Paris",
		.complete = "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"completable-prompt\"},"
			    "\"argument\":{\"name\":\"department\",\"value\":\"Eng\"}}",
		.completed = "Engineering",
		.log = "{\"name\":\"toggle-simulated-logging\",\"arguments\":{}}",
	},
	/* ours: those of tests/servers/features.mjs */
	{
		.tool = "echo",
		.resource = "note://greeting",
		.prompt = "review",
		.call = "{\"name\":\"echo\",\"arguments\":{\"message\":\"hi\"}}",
		.called = "Echo: hi",
		.slow = "{\"name\":\"slow\",\"arguments\":{\"ms\":600,\"steps\":3}}",
		.slept = "slept 600 ms",
		.endless = "{\"name\":\"slow\",\"arguments\":{\"ms\":30000,\"steps\":300}}",
		.notes = true,
		.change = "{\"name\":\"change\",\"arguments\":{}}",
		.changes = MP_CATALOG_TOOL,
		.changed = "added-",
		.read = "{\"uri\":\"note://greeting\"}",
		.content = "hello from a resource",
		.uri = "note://greeting",
		.touch = "{\"name\":\"touch\",\"arguments\":{\"uri\":\"note://greeting\"}}",
		.get = "{\"name\":\"review\",\"arguments\":{\"code\":\"main.c\"}}",
		.got = "Please review main.c",
		.complete = "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"review\"},"
			    "\"argument\":{\"name\":\"code\",\"value\":\"main\"}}",
		.completed = "main.h",
		.log = "{\"name\":\"log\",\"arguments\":{\"words\":\"to whom it may concern\"}}",
	},
};

static void die(const char *format, ...) MP_PRINTF(1, 2);
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("behave: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(2);
}

/* --- one behaviour after the other ----------------------------------------------------------- */

static void go_on(struct actor *a);

static void end(struct actor *a, const char *verdict)
{
	printf("%s %s %s (%lld ms)\n", a->name, a->now->name, verdict,
	       (long long)(mp_loop_now_ms(a->suite->hub->loop) - a->began_ms));
	fflush(stdout);
	mp_timer_stop(&a->timer);
	mp_timer_stop(&a->tick);
	a->now++;
	go_on(a);
}

void behave_ok(struct actor *a)
{
	end(a, "ok");
}

void behave_unseen(struct actor *a, const char *what)
{
	char verdict[200];

	snprintf(verdict, sizeof(verdict), "unseen: %s", what);
	end(a, verdict);
}

void behave_failed(struct actor *a, const char *format, ...)
{
	char verdict[1000] = "FAILED: ";
	va_list args;

	va_start(args, format);
	vsnprintf(verdict + 8, sizeof(verdict) - 8, format, args);
	va_end(args);
	a->suite->failed = true;
	if (a->now == behaviours)
		a->is_missing = true;
	end(a, verdict);
}

static void time_is_up(void *u)
{
	struct actor *a = u;
	mp_id call = a->call, listening = a->listening;

	a->call = a->listening = 0;
	behave_failed(a, "not within %d s (step %d, progress %u, heard %zu, calls %u, good %u)",
		      PATIENCE_MS / 1000, a->step, a->progressed, a->n_heard, a->calls, a->good);
	if (call)
		heap_pool_cancel(call);
	if (listening)
		heap_pool_cancel(listening);
}

static void tick(void *u)
{
	struct actor *a = u;
	const struct behaviour *now = a->now;

	now->tick(a);
	if (a->now == now)
		mp_timer_start(&a->tick, TICK_MS);
}

static void finish(struct suite *s)
{
	if (++s->n_done == s->n)
		mp_hub_stop(s->hub);
}

const struct mp_hello *behave_hello(struct actor *a)
{
	return mp_upstream_get_hello(mp_keeper_get_upstream(a->in->k));
}

static bool is_offered(struct actor *a)
{
	if (!a->now->needs)
		return true;
	return a->in->catalog.last && a->in->catalog.last->hello.offers & a->now->needs;
}

/* What a server does not say that it can do is not asked of it. */
static void begin(void *u)
{
	struct actor *a = u;

	a->began_ms = mp_loop_now_ms(a->suite->hub->loop);
	a->step = 0;
	a->progressed = 0;
	a->n_heard = 0;
	a->call = a->listening = 0;
	if (!is_offered(a)) {
		end(a, "absent");
		return;
	}
	mp_timer_start(&a->timer, PATIENCE_MS);
	if (a->now->tick) {
		mp_timer_init(&a->tick, a->suite->hub->loop, tick, a);
		mp_timer_start(&a->tick, TICK_MS);
	}
	a->now->start(a);
}

/* From the loop, not from within what has just ended. */
static void go_on(struct actor *a)
{
	if (!a->now->name || a->is_missing) {
		mp_instance_listen(a->in, NULL, NULL);
		finish(a->suite);
		return;
	}
	mp_timer_init(&a->tick, a->suite->hub->loop, begin, a);
	mp_timer_start(&a->tick, 0);
}

/* --- what is heard and seen ------------------------------------------------------------------ */

static void hear(void *u, struct mp_str text)
{
	struct actor *a = u;
	size_t place = a->n_heard % MP_ARRAY_LEN(a->heard);

	snprintf(a->heard[place], sizeof(a->heard[place]), "%.*s", MP_STR_ARGS(text));
	a->n_heard++;
}

bool behave_has_heard(const struct actor *a, const char *method, const char *words)
{
	for (size_t i = 0; i < a->n_heard && i < MP_ARRAY_LEN(a->heard); i++)
		if (strstr(a->heard[i], method) && strstr(a->heard[i], words))
			return true;
	return false;
}

bool behave_has_file(const struct actor *a, const char *suffix, const char *line)
{
	char path[4096], text[65536] = "";
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "%s/%s.%s", a->suite->folder, a->name, suffix);
	f = fopen(path, "r");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	return n == 0 ? !*line : strstr(text, line) != NULL;
}

/* --- the hub --------------------------------------------------------------------------------- */

static void meet(struct actor *a)
{
	struct mp_workspace *v = a->suite->hub->workspace;
	ptrdiff_t i = mp_workspace_find(v, a->name);
	struct mcpool_error why;

	if (i < 0)
		die("there is no %s", a->name);
	a->is_process = mp_workspace_get_entry(v, (size_t)i)->kind == MP_KIND_STDIO;
	a->in = mp_workspace_get_instance(v, a->name, 1, &why);
	if (!a->in)
		die("%s: %s", a->name, why.message);
	mp_instance_listen(a->in, hear, a);
	mp_timer_init(&a->timer, a->suite->hub->loop, time_is_up, a);
	a->now = behaviours;
	go_on(a);
}

static void hub_is_ready(void *u, const struct mcpool_error *error)
{
	struct suite *s = u;

	if (error)
		die("%s", error->message);
	for (size_t i = 0; i < s->n; i++)
		meet(&s->actors[i]);
}

static void hub_has_stopped(void *u)
{
	struct suite *s = u;

	mp_loop_stop(s->hub->loop);
}

static const struct mp_hub_hooks hooks = {.ready = hub_is_ready, .stopped = hub_has_stopped};

static void run(struct suite *s, const char *config, const char *cwd)
{
	static const struct mp_identity me = {
		.name = "behave", .version = "1", .capabilities = {"{}", 2}, .log_level = "debug"};
	const char *files[] = {config};
	struct mp_hub_options options = {
		.request = {.cwd = cwd,
			    .env = environ,
			    .files = files,
			    .n_files = 1,
			    .strict = true,
			    .db = s->db},
		.me = &me,
		.exe = MCPOOL_EXE,
	};
	struct mcpool_error why;

	if (mp_hub_new(&options, &hooks, s, &s->hub, &why) < 0)
		die("no hub: %s", why.message);
	mp_hub_start(s->hub);
	mp_loop_run(s->hub->loop);
	mp_hub_free(s->hub);
}

static void name_actor(struct suite *s, const char *word)
{
	struct actor *a = &s->actors[s->n++];
	const char *colon = strchr(word, ':');

	if (!colon)
		die("KIND:NAME, not %s", word);
	a->suite = s;
	a->kind = &kinds[strncmp(word, "ours", 4) == 0];
	a->name = colon + 1;
}

int main(int argc, char **argv)
{
	struct suite s = {0};
	struct mcpool_error why;
	char cwd[4096];

	if (argc < 4 || !getcwd(cwd, sizeof(cwd)))
		die("usage: behave CONFIG FOLDER KIND:NAME...");
	mp_log_set_level(getenv("BEHAVE_TRACE") ? MP_LEVEL_TRC : MP_LEVEL_WRN);
	s.folder = argv[2];
	s.actors = mp_alloc((size_t)argc * sizeof(*s.actors));
	for (int i = 3; i < argc; i++)
		name_actor(&s, argv[i]);
	if (mp_db_open_default(&s.db, &why) < 0)
		die("%s", why.message);
	run(&s, argv[1], cwd);
	mp_db_close(s.db);
	mp_free(s.actors);
	return s.failed;
}
