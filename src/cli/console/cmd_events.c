/*
 * cmd_events.c - `mcpool events` and `mcpool wait`: what happens in the hub, as it happens.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/loop.h"
#include "cli/display/cli.h"
#include "cli/display/safe.h"
#include "cli/console/feed.h"
#include "cli/servers/hub_status.h"
#include "cli/verbs/verbs.h"
#include "json/value.h"
#include "json/write.h"

enum { WAIT_MS = 30000 };

static int run_events(const struct mp_verb *verb, int argc, char **argv);
static int run_wait(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_events = {
	"events",
	"[NAME...]",
	"What happened to servers since the hub started; the last 4,096 events.",
	"  --follow, -f     go on with what happens from now on, until Ctrl-C\n"
	"  --json           one JSON object a line instead of text for people\n",
	"NAME...: only these servers. doc/protocol.md, \"Events\", lists the kinds.\n"
	"example: mcpool events -f --json | jq -c 'select(.what == \"failed\")'\n",
	run_events,
	NULL,
	MP_VERB_PLAIN,
};

const struct mp_verb mp_verb_wait = {
	"wait",
	"NAME...",
	"Wait until servers of the hub are connected, or in another state.",
	"  --for STATE      connected (default), failed, ready, disabled, needs-approval, "
	"needs-auth\n"
	"  --timeout TIME   give up after this time: 10s, 500ms, 2m; the default is 30s\n",
	"It starts nothing. Exit code 6: the time ran out; stderr says why.\n"
	"example: mcpool up && mcpool wait github files --timeout 1m && ./agent\n",
	run_wait,
	NULL,
	MP_VERB_PLAIN,
};

/* --- events ---------------------------------------------------------------------------------- */

static void event_print_line(struct mp_feed *f, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	struct mp_str server = mp_feed_get_text(f, arena, "server");
	struct mp_str what = mp_feed_get_text(f, arena, "what");
	int64_t ms = 0;
	char when[16];

	mp_buf_init(&line, MP_KIB(64));
	if (mp_value_i64(&f->t, mp_value_get(&f->t, f->item, "time"), &ms) < 0)
		ms = 0;
	mp_feed_write_time(ms, when);
	if (mp_safe_add(&line, server.len ? server : MP_STR("mcpool"), MP_SAFE_LINE) == 0 &&
	    mp_buf_addf(&line, "  %-10.*s  ", MP_STR_ARGS(what)) == 0 &&
	    mp_safe_add(&line, mp_feed_get_text(f, arena, "text"), MP_SAFE_LINE) == 0)
		printf("%s  %.*s\n", when, MP_STR_ARGS(mp_buf_get(&line)));
}

static void event_print(struct mp_feed *f, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_KIB(64));
	if (!mp_feed_is_about(f, &arena, args))
		return;
	if (args->json)
		mp_feed_print_json(f);
	else
		event_print_line(f, &arena);
}

static int run_events(const struct mp_verb *verb, int argc, char **argv)
{
	return mp_feed_run(verb, argc, argv, &mp_feed_events, event_print);
}

/* --- wait ------------------------------------------------------------------------------------ */

static int64_t wait_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_state(const char *word)
{
	for (int s = 0; s < MP_STATUS_STATE_COUNT; s++)
		if (strcmp(mp_status_state_get_name((enum mp_status_state)s), word) == 0)
			return true;
	return false;
}

static int wait_give_up(const struct mp_status *s, const char *wanted)
{
	mp_cli_complain_as(MCPOOL_ETIMEDOUT, "%s is %s and not %s%s%s", s->name,
			   mp_status_state_get_name(s->state), wanted, s->error[0] ? ": " : "",
			   s->error);
	return MP_EXIT_TIMEOUT;
}

/* Called once more after each event. -1: not yet. */
static int wait_look(const struct mp_cli_args *args, const char *name, const char *wanted,
		     bool is_over)
{
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status h = {.n = 0};
	const struct mp_status *s;

	mp_hub_status_ask(&h, args, NULL);
	s = mp_hub_status_find(&h, name);
	if (!s) {
		mp_hub_status_tell_unknown(name);
		return MP_EXIT_NOT_FOUND;
	}
	if (strcmp(mp_status_state_get_name(s->state), wanted) == 0)
		return MP_EXIT_DONE;
	return is_over ? wait_give_up(s, wanted) : -1;
}

static int wait_for_one(struct mp_feed *f, const struct mp_cli_args *args, const char *name,
			int64_t until_ms)
{
	const char *wanted = args->wanted_state ? args->wanted_state : "connected";
	bool is_over = false;

	for (;;) {
		int64_t left = until_ms - wait_now_ms();
		int r = wait_look(args, name, wanted, is_over);

		if (r >= 0)
			return r;
		r = mp_feed_next(f, left > 0 ? left : 0);
		if (r < 0 && r != MCPOOL_ETIMEDOUT) {
			mp_cli_complain_as(r, "the hub has ended. `mcpool up` starts one.");
			return MP_EXIT_START;
		}
		is_over = r < 0;
	}
}

static int run_wait(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_feed_done) struct mp_feed f;
	struct mcpool_error why;
	struct mp_cli_args args;
	int64_t until_ms;
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	mp_feed_init(&f);
	if (r)
		return r - 1;
	if (args.wanted_state && !is_state(args.wanted_state)) {
		mp_cli_complain("there is no state '%s'; see `mcpool wait --help`",
				args.wanted_state);
		return MP_EXIT_USAGE;
	}
	until_ms = wait_now_ms() + (args.timeout_ms ? args.timeout_ms : WAIT_MS);
	if (mp_feed_open(&f, &mp_feed_events, 0, &why) < 0)
		return mp_feed_complain(&why);
	for (int i = 0; i < args.n_words && r == 0; i++)
		r = wait_for_one(&f, &args, args.words[i], until_ms);
	return r;
}
