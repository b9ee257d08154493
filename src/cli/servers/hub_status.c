/*
 * hub_status.c - the status of a running hub, and all about one server.
 */
#include "cli/servers/hub_status.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/similar.h"
#include "cli/servers/health_text.h"
#include "cli/servers/hub_client.h"
#include "cli/display/live_table.h"
#include "hub/election.h"

/* --- asking ---------------------------------------------------------------------------------- */

void mp_hub_status_init(struct mp_hub_status *h)
{
	mp_buf_init(&h->text, MP_LIMIT_MESSAGE);
	mp_tape_init(&h->tape, 0);
	mp_arena_init(&h->arena, MP_LIMIT_ARENA);
}

void mp_hub_status_done(struct mp_hub_status *h)
{
	mp_arena_done(&h->arena);
	mp_tape_done(&h->tape);
	mp_buf_done(&h->text);
}

int mp_hub_status_read(struct mp_hub_status *h, struct mcpool_error *reterr)
{
	mp_value servers;
	int r = mp_tape_parse(&h->tape, mp_buf_get(&h->text), reterr);

	if (r < 0)
		return r;
	servers = mp_value_get(&h->tape, MP_ROOT, "servers");
	h->servers = mp_arena_alloc_array(&h->arena, mp_value_count(&h->tape, servers) + 1,
					  sizeof(*h->servers));
	if (!h->servers)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	MP_VALUE_EACH(&h->tape, servers, one) {
		r = mp_status_read(&h->tape, one, &h->arena, &h->servers[h->n], reterr);
		if (r < 0)
			return r;
		h->n++;
	}
	return 0;
}

int mp_hub_status_take(struct mp_hub_status *h, struct mp_hub_client *c,
		       struct mcpool_error *reterr)
{
	int r;

	mp_hub_status_done(h);
	mp_hub_status_init(h);
	h->n = 0;
	r = mp_hub_client_ask(c, "mcpool/status", MP_STR(MP_HUB_STATUS_MEASURED), &h->text, reterr);
	if (r == MCPOOL_ENOENT)
		r = MCPOOL_EPROTO; /* a hub runs */
	return r < 0 ? r : mp_hub_status_read(h, reterr);
}

static int params_write(const char *const *names, size_t n, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("servers"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < n; i++)
		mp_write_text(&w, mp_str_of(names[i]));
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_hub_status_take_some(struct mp_hub_status *h, struct mp_hub_client *c,
			    const char *const *names, size_t n, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int r;

	mp_hub_status_done(h);
	mp_hub_status_init(h);
	h->n = 0;
	mp_buf_init(&params, MP_MIB(1));
	r = params_write(names, n, &params);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	r = mp_hub_client_ask(c, "mcpool/status", mp_buf_get(&params), &h->text, reterr);
	return r < 0 ? r : mp_hub_status_read(h, reterr);
}

/* name: all about this one; NULL: the hub and all of them. MCPOOL_ENOENT: no hub runs. */
static int hub_status_ask(struct mp_hub_status *h, const char *name, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int r;

	mp_buf_init(&params, MP_KIB(64));
	r = name ? params_write(&name, 1, &params) : 0;
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	r = mp_hub_client_open(&c, reterr);
	if (r < 0)
		return r;
	r = mp_hub_client_ask(c, "mcpool/status", mp_buf_get(&params), &h->text, reterr);
	if (r == MCPOOL_ENOENT)
		r = MCPOOL_EPROTO; /* a hub runs */
	return r < 0 ? r : mp_hub_status_read(h, reterr);
}

void mp_hub_status_ask(struct mp_hub_status *h, const struct mp_cli_args *args, const char *name)
{
	struct mcpool_error why;

	mp_hub_status_init(h);
	if (args->config.n == 0 && !args->strict_config && hub_status_ask(h, name, &why) < 0)
		h->n = 0;
}

const struct mp_status *mp_hub_status_find(const struct mp_hub_status *h, const char *server)
{
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->servers[i].name, server) == 0)
			return &h->servers[i];
	return NULL;
}

/* --- members --------------------------------------------------------------------------------- */

struct mp_str mp_hub_status_get_text(struct mp_hub_status *h, mp_value object, const char *key)
{
	struct mp_str text;

	if (mp_value_text(&h->tape, mp_value_get(&h->tape, object, key), &h->arena, &text) < 0)
		return MP_STR("");
	return text;
}

int64_t mp_hub_status_get_number(const struct mp_hub_status *h, mp_value object, const char *key)
{
	int64_t n;

	return mp_value_i64(&h->tape, mp_value_get(&h->tape, object, key), &n) < 0 ? -1 : n;
}

static struct mp_str hub_status_keep(struct mp_hub_status *h, const struct mp_buf *text)
{
	char *copy = mp_arena_dup(&h->arena, mp_buf_get(text));

	return copy ? mp_str_of(copy) : MP_STR("");
}

static int add_count(struct mp_buf *out, int64_t n, const char *what)
{
	if (n < 0)
		return 0;
	return mp_buf_addf(out, "%s%lld %s%s", out->len ? ", " : "", (long long)n, what,
			   n == 1 ? "" : "s");
}

static int add_life(const struct mp_status *s, struct mp_buf *out)
{
	char age[16];
	int r = 0;

	if (s->pid > 0)
		r = mp_buf_addf(out, "process %lld", (long long)s->pid);
	if (r == 0 && s->uptime_ms >= 0) {
		mp_live_write_age(s->uptime_ms, age);
		r = mp_buf_addf(out, "%sup %s", out->len ? ", " : "", age);
	}
	if (r == 0 && s->restarts > 0)
		r = add_count(out, s->restarts, "restart");
	return r;
}

static void fill_row(struct mp_hub_status *h, const struct mp_status *s, struct mp_table_row *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(64));
	row->cells[0] = mp_str_of(s->name);
	row->cells[1] = mp_str_of(mp_status_state_get_name(s->state));
	if (add_count(&text, s->tools, "tool") == 0 && add_count(&text, s->calls, "call") == 0 &&
	    add_count(&text, s->failures ? s->failures : -1, "failure") == 0)
		row->cells[2] = hub_status_keep(h, &text);
	mp_buf_clear(&text);
	if (s->state == MP_STATUS_NEEDS_APPROVAL && !s->error[0])
		row->cells[3] = MP_STR("see `mcpool trust`");
	else if (s->error[0] && s->state != MP_STATUS_CONNECTED)
		row->cells[3] = mp_str_of(s->error);
	else if (add_life(s, &text) == 0)
		row->cells[3] = hub_status_keep(h, &text);
}

/* --- one server ------------------------------------------------------------------------------ */

/* Further lines of the text are indented, so that none looks like one of ours. */
void mp_hub_status_print_line(const char *title, struct mp_str text)
{
	if (!text.len)
		return;
	printf("%-12s ", title);
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] == '\n') {
			mp_print_text((struct mp_str){text.p, i});
			printf("\n%-12s ", "");
			text = (struct mp_str){text.p + i + 1, text.len - i - 1};
			i = (size_t)-1;
		}
	mp_print_text(text);
	putchar('\n');
}

static void print_time(const char *title, int64_t at_ms)
{
	time_t at = (time_t)(at_ms / 1000);
	char text[40];
	struct tm tm;

	if (at_ms > 0 && localtime_r(&at, &tm) && strftime(text, sizeof(text), "%F %T", &tm) > 0)
		mp_hub_status_print_line(title, mp_str_of(text));
}

static void print_attempt(const struct mp_status *s)
{
	char text[64];

	if (s->attempt <= 0)
		return;
	if (s->max_attempts > 0)
		snprintf(text, sizeof(text), "%lld of %lld", (long long)s->attempt,
			 (long long)s->max_attempts);
	else
		snprintf(text, sizeof(text), "%lld", (long long)s->attempt);
	mp_hub_status_print_line("attempt", mp_str_of(text));
}

/* "files 1.2 (My files)" */
static void print_server_info(struct mp_str json)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	static const char *const keys[] = {"name", "version", "title"},
				 *const before[] = {"", " ", " ("}, *const after[] = {"", "", ")"};
	struct mp_str text;
	int r;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	r = mp_tape_parse(&t, json, NULL);
	for (size_t i = 0; i < MP_ARRAY_LEN(keys) && r == 0; i++)
		if (mp_value_text(&t, mp_value_get(&t, MP_ROOT, keys[i]), &arena, &text) == 0 &&
		    text.len)
			r = mp_buf_addf(&line, "%s%.*s%s", before[i], MP_STR_ARGS(text), after[i]);
	if (r == 0)
		mp_hub_status_print_line("server", mp_buf_get(&line));
}

void mp_hub_status_print_life(const struct mp_status *s)
{
	if (s->state != MP_STATUS_CONNECTED) {
		print_time("failed at", s->failed_at_ms);
		print_attempt(s);
		print_time("next try", s->next_at_ms);
	}
	if (s->server_info.len)
		print_server_info(s->server_info);
	mp_hub_status_print_line("protocol", mp_str_of(s->protocol ? s->protocol : ""));
	mp_hub_status_print_line("capabilities", s->capabilities);
	mp_hub_status_print_line("instructions", mp_str_of(s->instructions ? s->instructions : ""));
}

static void print_source(const struct mp_status *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(16));
	if (mp_buf_addf(&text, "%s:%lld (%s)", s->source.file, (long long)s->source.line,
			s->source.tool) == 0)
		mp_hub_status_print_line("configured", mp_buf_get(&text));
}

/* Capabilities that a shared server does not get; its own mode would change that. */
static void print_withheld(const struct mp_status *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r = 0;

	mp_buf_init(&text, MP_KIB(4));
	for (size_t i = 0; i < s->withheld.n && r == 0; i++)
		r = mp_buf_addf(&text, "%s%s", i ? ", " : "", s->withheld.items[i]);
	if (r == 0 && text.len && mp_buf_addf(&text, " (\"mode\": \"session\" offers them)") == 0)
		mp_hub_status_print_line("withheld", mp_buf_get(&text));
}

static void print_tokens(const struct mp_status *s)
{
	char text[96];

	if (s->tool_tokens <= 0)
		return;
	snprintf(text, sizeof(text), "about %lld tokens for the definitions of its tools",
		 (long long)s->tool_tokens);
	mp_hub_status_print_line("costs", mp_str_of(text));
}

static void print_server(struct mp_hub_status *h, const struct mp_status *s)
{
	struct mp_table_row row = {0};

	fill_row(h, s, &row);
	mp_hub_status_print_line("name", row.cells[0]);
	mp_hub_status_print_line("state", row.cells[1]);
	mp_hub_status_print_line("error", mp_str_of(s->error));
	mp_health_print_cause(s->health, mp_hub_status_print_line);
	mp_hub_status_print_line("transport", mp_str_of(s->transport));
	mp_hub_status_print_line("mode", mp_str_of(s->mode));
	print_withheld(s);
	print_source(s);
	mp_hub_status_print_line("offers", row.cells[2]);
	print_tokens(s);
	if (s->state == MP_STATUS_CONNECTED)
		mp_hub_status_print_line("runs", row.cells[3]);
	mp_hub_status_print_life(s);
	mp_hub_status_print_line("environment", mp_str_of(s->environment));
	mp_health_print(s->health, mp_hub_status_print_line);
}

/* Unchanged, as the hub wrote it. */
static void print_json(struct mp_hub_status *h, size_t i)
{
	mp_value servers = mp_value_get(&h->tape, MP_ROOT, "servers");

	MP_VALUE_EACH(&h->tape, servers, one)
		if (i-- == 0)
			mp_print_json(mp_value_source(&h->tape, one));
}

void mp_hub_status_tell_unknown(const char *name)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status h = {0};
	const char **names, *like;
	struct mcpool_error why;

	mp_hub_status_init(&h);
	if (mp_hub_client_open(&c, &why) < 0 || mp_hub_status_take(&h, c, &why) < 0)
		h.n = 0;
	names = mp_alloc((h.n + 1) * sizeof(*names));
	for (size_t i = 0; i < h.n; i++)
		names[i] = h.servers[i].name;
	like = mp_similar_find(name, names, h.n);
	if (like)
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "the hub has no server '%s' for this folder. Did you mean '%s'?",
				   name, like);
	else
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "the hub has no server '%s' for this folder; `mcpool status` "
				   "shows those it has",
				   name);
	mp_free(names);
}

static int show_one(struct mp_hub_status *h, const char *name, bool json)
{
	const struct mp_status *s = mp_hub_status_find(h, name);

	if (!s) {
		mp_hub_status_tell_unknown(name);
		return MP_EXIT_NOT_FOUND;
	}
	if (json)
		print_json(h, (size_t)(s - h->servers));
	else
		print_server(h, s);
	return MP_EXIT_DONE;
}

/* --- words ----------------------------------------------------------------------------------- */

void mp_hub_status_tell_projects(void)
{
	mp_cli_complain("servers of every project start without your approval; "
			"`mcpool trust --projects ask` ends that");
}

int mp_hub_status_tell_problem(struct mp_hub_status *h)
{
	struct mp_str problem = mp_hub_status_get_text(h, MP_ROOT, "problem");

	if (!problem.len)
		return MP_EXIT_DONE;
	mp_cli_complain("%.*s", MP_STR_ARGS(problem));
	mp_cli_complain("the hub goes on with the servers that it last read there; mend the file, "
			"and it is read again");
	return MP_EXIT_CONFIG;
}

/* Only the files are shown; say so, or the reader takes them for the running state. */
void mp_hub_status_tell_silence(const struct mcpool_error *why)
{
	struct mp_hub_place place;
	pid_t pid;

	if (why->code != MCPOOL_ENOENT) {
		mp_cli_complain("cannot talk to the running hub: %s", why->message);
		return;
	}
	pid = mp_hub_place_find(&place, NULL) < 0 ? 0 : mp_hub_place_get_holder(&place);
	if (pid > 0)
		mp_cli_complain(
			"a hub runs as process %ld and does not answer at %s; `mcpool down` "
			"stops it",
			(long)pid, place.socket);
}

bool mp_hub_status_show_one(const char *name, bool json, int *ret_exit_code)
{
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status h = {0};
	struct mcpool_error why;

	mp_hub_status_init(&h);
	if (hub_status_ask(&h, name, &why) < 0) {
		mp_hub_status_tell_silence(&why);
		return false;
	}
	*ret_exit_code = mp_print_finish(show_one(&h, name, json));
	return true;
}
