/*
 * cmd_calls.c - `mcpool calls`: who called what, with which outcome, as it happens.
 */
#include <stdio.h>

#include "base/limits.h"
#include "cli/console/call_line.h"
#include "cli/console/calls_export.h"
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
	"  --json           one JSON object a line instead of text for people\n"
	"  --export         the records in the store instead, as JSON lines; without a hub, too\n"
	"  --since TIME     with --export: only those of this time, such as 2d or 12h\n",
	"Of arguments only a hash is kept; with \"audit\": {\"args\": true} in the configuration, "
	"the\n"
	"arguments too. The store keeps calls for audit.days, up to audit.maxBytes; those of the\n"
	"last few seconds may be missing. doc/protocol.md, \"Calls\", lists the outcomes.\n"
	"example: mcpool calls -f --failed\n",
	run_calls,
	NULL,
	MP_VERB_PLAIN,
};

static bool call_is_wanted(struct mp_feed *l, struct mp_arena *arena,
			   const struct mp_cli_args *args)
{
	int64_t session = 0;

	if (args->server &&
	    !mp_str_eq(mp_feed_get_text(l, arena, "server"), mp_str_of(args->server)))
		return false;
	if (args->session && (mp_str_to_i64(mp_str_of(args->session), &session) < 0 ||
			      session != mp_call_line_get_number(l, "session")))
		return false;
	return !args->failed ||
	       !mp_str_eq(mp_feed_get_text(l, arena, "outcome"), MP_STR("answered"));
}

static void call_print_line(struct mp_feed *l, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;

	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	if (mp_call_line_add(l, arena, true, &line) == 0)
		printf("%.*s\n", MP_STR_ARGS(mp_buf_get(&line)));
}

static void call_print(struct mp_feed *l, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (!call_is_wanted(l, &arena, args))
		return;
	if (args->json)
		mp_feed_print_json(l);
	else
		call_print_line(l, &arena);
}

static int run_calls(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_feed_done) struct mp_feed l;
	struct mcpool_error why;
	struct mp_cli_args args;
	int64_t session;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	mp_feed_init(&l);
	if (r)
		return r - 1;
	if (args.session && mp_str_to_i64(mp_str_of(args.session), &session) < 0) {
		mp_cli_complain("--session takes the number of a session; `mcpool status --json` "
				"has it");
		return MP_EXIT_USAGE;
	}
	if (args.export ? args.follow : args.since_ms) {
		mp_cli_complain(args.export ? "--export has what is there: leave out --follow"
					    : "--since is for --export");
		return MP_EXIT_USAGE;
	}
	if (args.export)
		return mp_calls_export(&args);
	if (mp_feed_open(&l, &mp_feed_calls, 1, &why) < 0)
		return mp_feed_complain(&why);
	mp_print_need_no_json();
	return mp_print_finish(mp_feed_print_all(&l, &args, call_print));
}
