/*
 * cmd_calls.c - `mcpool calls`: who called what, with which outcome, as it happens.
 */
#include <stdio.h>

#include "base/limits.h"
#include "cli/console/feed.h"
#include "cli/display/live_table.h"
#include "cli/display/safe.h"
#include "cli/verbs/verbs.h"

static int run_calls(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_calls = {
	"calls",
	"",
	"Who called what, with which outcome: the last 512 calls of the running hub.",
	"  --follow, -f     go on with calls that end from now on, until Ctrl-C\n"
	"  --server NAME    only calls of this server\n"
	"  --session ID     only calls of this session, as in `mcpool status --json`\n"
	"  --failed         only calls without an answer, and errors\n"
	"  --json           one JSON object a line instead of text for people\n",
	"Arguments are not kept, only a hash that is equal for equal ones; the key audit.args in\n"
	"the configuration keeps them. doc/protocol.md, \"Calls\", lists the outcomes.\n"
	"example: mcpool calls -f --failed\n",
	run_calls,
	NULL,
	MP_VERB_PLAIN,
};

static int64_t get_number(const struct mp_feed *f, const char *key)
{
	int64_t n;

	return mp_value_i64(&f->t, mp_value_get(&f->t, f->item, key), &n) < 0 ? -1 : n;
}

static bool call_is_wanted(struct mp_feed *f, struct mp_arena *arena,
			   const struct mp_cli_args *args)
{
	int64_t session = 0;

	if (args->server &&
	    !mp_str_eq(mp_feed_get_text(f, arena, "server"), mp_str_of(args->server)))
		return false;
	if (args->session && (mp_str_to_i64(mp_str_of(args->session), &session) < 0 ||
			      session != get_number(f, "session")))
		return false;
	return !args->failed ||
	       !mp_str_eq(mp_feed_get_text(f, arena, "outcome"), MP_STR("answered"));
}

/* "tools/call echo", or the method alone */
static int add_what(struct mp_feed *f, struct mp_arena *arena, struct mp_buf *line)
{
	struct mp_str tool = mp_feed_get_text(f, arena, "tool");
	int r = mp_safe_add(line, mp_feed_get_text(f, arena, "method"), MP_SAFE_LINE);

	if (r == 0 && tool.len)
		r = mp_buf_add_char(line, ' ');
	return r < 0 ? r : mp_safe_add(line, tool, MP_SAFE_LINE);
}

static int add_outcome(struct mp_feed *f, struct mp_arena *arena, struct mp_buf *line)
{
	struct mp_str code = mp_feed_get_text(f, arena, "code");
	char took[16];
	int r = mp_buf_addf(line, "  %.*s", MP_STR_ARGS(mp_feed_get_text(f, arena, "outcome")));

	if (r == 0 && code.len)
		r = mp_buf_addf(line, " (%.*s)", MP_STR_ARGS(code));
	mp_live_write_latency(get_number(f, "latencyUs"), took);
	return r < 0 ? r : mp_buf_addf(line, " in %s", took);
}

static int add_caller(struct mp_feed *f, struct mp_arena *arena, struct mp_buf *line)
{
	struct mp_str client = mp_feed_get_text(f, arena, "client");
	int r = mp_buf_addf(line, "  session %lld", (long long)get_number(f, "session"));

	if (r == 0 && client.len)
		r = mp_buf_add_str(line, MP_STR(" "));
	return r < 0 ? r : mp_safe_add(line, client, MP_SAFE_LINE);
}

static int add_args(struct mp_feed *f, struct mp_buf *line)
{
	mp_value args = mp_value_get(&f->t, f->item, "args");

	if (args == MP_NONE)
		return 0;
	return mp_buf_addf(line, "  ") < 0
		       ? MCPOOL_ENOMEM
		       : mp_safe_add(line, mp_value_source(&f->t, args), MP_SAFE_LINE);
}

static void call_print_line(struct mp_feed *f, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	char when[16];

	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	mp_feed_write_time(get_number(f, "time"), when);
	if (mp_safe_add(&line, mp_feed_get_text(f, arena, "server"), MP_SAFE_LINE) == 0 &&
	    mp_buf_addf(&line, "  ") == 0 && add_what(f, arena, &line) == 0 &&
	    add_outcome(f, arena, &line) == 0 && add_caller(f, arena, &line) == 0 &&
	    add_args(f, &line) == 0)
		printf("%s  %.*s\n", when, MP_STR_ARGS(mp_buf_get(&line)));
}

static void call_print(struct mp_feed *f, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (!call_is_wanted(f, &arena, args))
		return;
	if (args->json) {
		struct mp_str json = mp_value_source(&f->t, f->item);

		printf("%.*s\n", MP_STR_ARGS(json));
	} else {
		call_print_line(f, &arena);
	}
}

static int run_calls(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_feed_done) struct mp_feed f;
	struct mcpool_error why;
	struct mp_cli_args args;
	int64_t session;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	mp_feed_init(&f);
	if (r)
		return r - 1;
	if (args.session && mp_str_to_i64(mp_str_of(args.session), &session) < 0) {
		mp_cli_complain("--session takes the number of a session; `mcpool status --json` "
				"has it");
		return MP_EXIT_USAGE;
	}
	if (mp_feed_open(&f, &mp_feed_calls, 1, &why) < 0)
		return mp_feed_complain(&why);
	mp_print_need_no_json();
	return mp_print_finish(mp_feed_print_all(&f, &args, call_print));
}
