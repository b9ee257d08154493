/*
 * hub_status.c - what a running hub says of itself, shown: servers, then sessions.
 */
#include "cli/hub_status.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/hub_client.h"
#include "cli/live_table.h"
#include "hub/election.h"
#include "json/value.h"

struct shown {
	struct mp_tape t;
	struct mp_arena arena;
};

static struct mp_str get_text(struct shown *s, mp_value object, const char *key)
{
	struct mp_str text;

	if (mp_value_text(&s->t, mp_value_get(&s->t, object, key), &s->arena, &text) < 0)
		return MP_STR("");
	return text;
}

static int64_t get_number(struct shown *s, mp_value object, const char *key)
{
	int64_t n;

	return mp_value_i64(&s->t, mp_value_get(&s->t, object, key), &n) < 0 ? -1 : n;
}

static struct mp_str keep(struct shown *s, const struct mp_buf *text)
{
	char *copy = mp_arena_dup(&s->arena, mp_buf_get(text));

	return copy ? mp_str_of(copy) : MP_STR("");
}

static int add_count(struct mp_buf *out, int64_t n, const char *what)
{
	if (n < 0)
		return 0;
	return mp_buf_addf(out, "%s%lld %s%s", out->len ? ", " : "", (long long)n, what,
			   n == 1 ? "" : "s");
}

static int add_life(struct shown *s, mp_value server, struct mp_buf *out)
{
	int64_t pid = get_number(s, server, "pid"), up = get_number(s, server, "uptimeMs");
	char age[16];
	int r = 0;

	if (pid > 0)
		r = mp_buf_addf(out, "process %lld", (long long)pid);
	if (r == 0 && up >= 0) {
		mp_live_write_age(up, age);
		r = mp_buf_addf(out, "%sup %s", out->len ? ", " : "", age);
	}
	if (r == 0 && get_number(s, server, "restarts") > 0)
		r = add_count(out, get_number(s, server, "restarts"), "restart");
	return r;
}

static void fill_row(struct shown *s, mp_value server, struct mp_table_row *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str error = get_text(s, server, "error");

	mp_buf_init(&text, MP_KIB(64));
	row->cells[0] = get_text(s, server, "name");
	row->cells[1] = get_text(s, server, "state");
	if (add_count(&text, get_number(s, server, "tools"), "tool") == 0 &&
	    add_count(&text, get_number(s, server, "calls"), "call") == 0)
		row->cells[2] = keep(s, &text);
	mp_buf_clear(&text);
	if (mp_str_eq(row->cells[1], MP_STR("needs-approval")) && !error.len)
		row->cells[3] = MP_STR("see `mcpool trust`");
	else if (error.len && !mp_str_eq(row->cells[1], MP_STR("connected")))
		row->cells[3] = error;
	else if (add_life(s, server, &text) == 0)
		row->cells[3] = keep(s, &text);
}

static void show_servers(struct shown *s)
{
	mp_value servers = mp_value_get(&s->t, MP_ROOT, "servers");
	size_t max = mp_value_count(&s->t, servers), n = 0;
	struct mp_table_row *rows = mp_alloc((max + 1) * sizeof(*rows));

	MP_VALUE_EACH(&s->t, servers, server)
		fill_row(s, server, &rows[n++]);
	mp_print_table(rows, n, 4);
	if (n == 0 && !get_text(s, MP_ROOT, "problem").len)
		puts("No servers are configured here. `mcpool add NAME -- COMMAND...` adds one.");
	mp_free(rows);
}

static void fill_session(struct shown *s, mp_value session, struct mp_table_row *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str client = get_text(s, session, "client");
	struct mp_str way = get_text(s, session, "way");
	int64_t pid = get_number(s, session, "pid");
	int r;

	mp_buf_init(&text, MP_KIB(16));
	row->cells[0] = client.len ? client : MP_STR("(an agent)");
	r = pid > 0 ? mp_buf_addf(&text, "%.*s, process %lld", MP_STR_ARGS(way), (long long)pid)
		    : mp_buf_add_str(&text, way);
	row->cells[1] = r == 0 ? keep(s, &text) : way;
	mp_buf_clear(&text);
	if (add_count(&text, get_number(s, session, "received"), "request") == 0 &&
	    (get_number(s, session, "open") <= 0 ||
	     mp_buf_addf(&text, ", %lld open", (long long)get_number(s, session, "open")) == 0))
		row->cells[2] = keep(s, &text);
	row->cells[3] = get_text(s, session, "root");
}

static void show_sessions(struct shown *s)
{
	mp_value sessions = mp_value_get(&s->t, MP_ROOT, "sessions");
	size_t max = mp_value_count(&s->t, sessions), n = 0;
	struct mp_table_row *rows = mp_alloc((max + 1) * sizeof(*rows));

	MP_VALUE_EACH(&s->t, sessions, session)
		fill_session(s, session, &rows[n++]);
	if (n > 0) {
		putchar('\n');
		mp_print_table(rows, n, 4);
	}
	mp_free(rows);
}

static void show_hub(struct shown *s)
{
	mp_value hub = mp_value_get(&s->t, MP_ROOT, "hub");
	mp_value listening = mp_value_get(&s->t, hub, "listening");
	struct mp_str http = get_text(s, listening, "http"), problem = get_text(s, hub, "problem");
	int64_t sessions = get_number(s, hub, "sessionCount");
	char age[16];

	mp_live_write_age(get_number(s, hub, "uptimeMs"), age);
	printf("mcpool %.*s: the hub runs, as process %lld, up %s, %lld session%s%s%.*s\n\n",
	       MP_STR_ARGS(get_text(s, hub, "version")), (long long)get_number(s, hub, "pid"), age,
	       (long long)sessions, sessions == 1 ? "" : "s", http.len ? ", " : "",
	       MP_STR_ARGS(http));
	if (problem.len)
		mp_cli_complain("%.*s", MP_STR_ARGS(problem));
}

/* --- one server ------------------------------------------------------------------------------ */

static void print_line(const char *title, struct mp_str text)
{
	if (!text.len)
		return;
	printf("%-12s ", title);
	mp_print_text(text);
	putchar('\n');
}

static void print_source(struct shown *s, mp_value server)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	mp_value source = mp_value_get(&s->t, server, "source");

	mp_buf_init(&text, MP_KIB(16));
	if (mp_buf_addf(&text, "%.*s:%lld (%.*s)", MP_STR_ARGS(get_text(s, source, "file")),
			(long long)get_number(s, source, "line"),
			MP_STR_ARGS(get_text(s, source, "tool"))) == 0)
		print_line("configured", mp_buf_get(&text));
}

/* What a shared server is not offered; its own mode would change that. */
static void print_withheld(struct shown *s, mp_value server)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	mp_value list = mp_value_get(&s->t, server, "withheld");
	int r = 0;

	mp_buf_init(&text, MP_KIB(4));
	MP_VALUE_EACH(&s->t, list, word) {
		struct mp_str name;

		if (r == 0 && mp_value_text(&s->t, word, &s->arena, &name) == 0)
			r = mp_buf_addf(&text, "%s%.*s", text.len ? ", " : "", MP_STR_ARGS(name));
	}
	if (r == 0 && text.len && mp_buf_addf(&text, " (\"mode\": \"session\" offers them)") == 0)
		print_line("withheld", mp_buf_get(&text));
}

static void print_server(struct shown *s, mp_value server)
{
	struct mp_table_row row = {0};

	fill_row(s, server, &row);
	print_line("name", row.cells[0]);
	print_line("state", row.cells[1]);
	print_line("error", get_text(s, server, "error"));
	print_line("transport", get_text(s, server, "transport"));
	print_line("mode", get_text(s, server, "mode"));
	print_withheld(s, server);
	print_source(s, server);
	print_line("offers", row.cells[2]);
	if (mp_str_eq(row.cells[1], MP_STR("connected")))
		print_line("runs", row.cells[3]);
	print_line("environment", get_text(s, server, "environment"));
}

static mp_value find_server(struct shown *s, const char *name)
{
	mp_value servers = mp_value_get(&s->t, MP_ROOT, "servers");

	MP_VALUE_EACH(&s->t, servers, server)
		if (mp_value_text_is(&s->t, mp_value_get(&s->t, server, "name"), mp_str_of(name)))
			return server;
	return MP_NONE;
}

static int show_one(struct mp_str status, const char *name, bool json)
{
	struct shown s;
	mp_value server;
	int r;

	mp_tape_init(&s.t, 0);
	mp_arena_init(&s.arena, MP_LIMIT_ARENA);
	r = mp_tape_parse(&s.t, status, NULL);
	server = r < 0 ? MP_NONE : find_server(&s, name);
	if (r == 0 && server == MP_NONE)
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "the hub has no server '%s' for this folder; `mcpool status` "
				   "shows those it has",
				   name);
	else if (r == 0 && json)
		mp_print_json(mp_value_source(&s.t, server));
	else if (r == 0)
		print_server(&s, server);
	mp_arena_done(&s.arena);
	mp_tape_done(&s.t);
	return r < 0 ? MP_EXIT_PROTOCOL : server == MP_NONE ? MP_EXIT_NOT_FOUND : MP_EXIT_DONE;
}

/* --- all of it ------------------------------------------------------------------------------- */

static int tell_problem(struct shown *s)
{
	struct mp_str problem = get_text(s, MP_ROOT, "problem");

	if (!problem.len)
		return MP_EXIT_DONE;
	mp_cli_complain("%.*s", MP_STR_ARGS(problem));
	mp_cli_complain("the hub goes on with the servers that it last read there; mend the file, "
			"and it is read again");
	return MP_EXIT_CONFIG;
}

static int show(struct mp_str status, bool json)
{
	struct shown s;
	int r, code = MP_EXIT_DONE;

	mp_tape_init(&s.t, 0);
	mp_arena_init(&s.arena, MP_LIMIT_ARENA);
	r = mp_tape_parse(&s.t, status, NULL);
	if (r == 0 && json)
		mp_print_json(status);
	if (r == 0 && !json) {
		show_hub(&s);
		show_servers(&s);
		show_sessions(&s);
	}
	if (r == 0)
		code = tell_problem(&s);
	mp_arena_done(&s.arena);
	mp_tape_done(&s.t);
	return r < 0 ? MP_EXIT_PROTOCOL : code;
}

/* What follows shows the files only, and the reader should not take it for what runs. */
static void tell_silent_hub(void)
{
	struct mp_hub_place place;
	pid_t pid = mp_hub_place_find(&place, NULL) < 0 ? 0 : mp_hub_place_get_holder(&place);

	if (pid > 0)
		mp_cli_complain(
			"a hub runs as process %ld and does not answer at %s; `mcpool down` "
			"stops it",
			(long)pid, place.socket);
}

bool mp_hub_status_show(const char *name, bool json, int *ret_exit_code)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct mcpool_error why;
	int r = mp_hub_client_open(&c, &why);

	mp_buf_init(&result, MP_LIMIT_MESSAGE);
	if (r == MCPOOL_ENOENT) {
		tell_silent_hub();
		return false;
	}
	if (r == 0)
		r = mp_hub_client_ask(c, "mcpool/status", MP_STR(""), &result, &why);
	if (r < 0) {
		mp_cli_complain("a hub runs and cannot be asked: %s", why.message);
		return false;
	}
	if (name) {
		*ret_exit_code = mp_print_finish(show_one(mp_buf_get(&result), name, json));
		return true;
	}
	*ret_exit_code = mp_print_finish(show(mp_buf_get(&result), json));
	return true;
}
