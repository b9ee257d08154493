/*
 * health_text.c - the health of a server as lines: why it does not work and what to type, the
 * limits and the schedule in force, what its probes found, its last changes (E75, E76).
 */
#include "cli/servers/health_text.h"

#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "base/limits.h"
#include "json/value.h"

struct health {
	struct mp_tape t;
	struct mp_arena arena;
	struct mp_buf line;
	mp_health_fn print; /* NULL: nothing is printed */
};

static void health_done(struct health *h)
{
	mp_tape_done(&h->t);
	mp_arena_done(&h->arena);
	mp_buf_done(&h->line);
}

static int health_init(struct health *h, struct mp_str json, mp_health_fn print)
{
	h->print = print;
	mp_tape_init(&h->t, 0);
	mp_arena_init(&h->arena, MP_LIMIT_ARENA);
	mp_buf_init(&h->line, MP_KIB(64));
	return mp_tape_parse(&h->t, json, NULL);
}

static struct mp_str health_text(struct health *h, mp_value object, const char *key)
{
	struct mp_str text;

	if (mp_value_text(&h->t, mp_value_get(&h->t, object, key), &h->arena, &text) < 0)
		return MP_STR("");
	return text;
}

/* -1: there is none. */
static int64_t health_number(struct health *h, mp_value object, const char *key)
{
	int64_t n;

	return mp_value_i64(&h->t, mp_value_get(&h->t, object, key), &n) < 0 ? -1 : n;
}

/* Print the line that was gathered. */
static void health_say(struct health *h, const char *title, int r)
{
	if (r == 0)
		h->print(title, mp_buf_get(&h->line));
	mp_buf_clear(&h->line);
}

static int add_seconds(struct mp_buf *out, const char *before, int64_t ms, const char *after)
{
	return ms < 0 ? 0 : mp_buf_addf(out, "%s%g s%s", before, (double)ms / 1000, after);
}

static int add_time(struct mp_buf *out, bool has_date, int64_t wall_ms)
{
	time_t at = (time_t)(wall_ms / 1000);
	char text[32];
	struct tm tm;

	if (!localtime_r(&at, &tm) ||
	    strftime(text, sizeof(text), has_date ? "%F %T" : "%T", &tm) == 0)
		return 0;
	return mp_buf_add_str(out, mp_str_of(text));
}

static void print_limits(struct health *h)
{
	mp_value limits = mp_value_get(&h->t, MP_ROOT, "limits");
	int r = add_seconds(&h->line, "", health_number(h, limits, "startMs"), " to start");

	if (r == 0)
		r = add_seconds(&h->line, ", ", health_number(h, limits, "callMs"), " for a call");
	if (r == 0)
		r = add_seconds(&h->line, ", ", health_number(h, limits, "totalMs"),
				" with all its progress");
	health_say(h, "limits", r);
}

static void print_schedule(struct health *h)
{
	mp_value restart = mp_value_get(&h->t, MP_ROOT, "restart");
	mp_value delays = mp_value_get(&h->t, restart, "delaysMs");
	const char *between = ": restarted after ";
	int r = mp_buf_add_str(&h->line, health_text(h, restart, "mode"));

	MP_VALUE_EACH(&h->t, delays, one) {
		int64_t ms;

		if (r == 0 && mp_value_i64(&h->t, one, &ms) == 0)
			r = mp_buf_addf(&h->line, "%s%g", between, (double)ms / 1000);
		between = ", ";
	}
	if (r == 0)
		r = add_seconds(&h->line, " s; starts over once it has run for ",
				health_number(h, restart, "stableMs"), "");
	health_say(h, "schedule", r);
}

static int add_last_probe(struct health *h, mp_value probe)
{
	bool answered = false;
	int r;

	if (health_number(h, probe, "at") < 0)
		return 0;
	(void)!mp_value_bool(&h->t, mp_value_get(&h->t, probe, "answered"), &answered);
	r = mp_buf_addf(&h->line, "; the last one at ");
	if (r == 0)
		r = add_time(&h->line, false, health_number(h, probe, "at"));
	return r < 0 ? r
		     : mp_buf_addf(&h->line, answered ? ", answered in %g ms" : ", failed in %g ms",
				   (double)health_number(h, probe, "tookUs") / 1000);
}

static void print_probe(struct health *h)
{
	mp_value probe = mp_value_get(&h->t, MP_ROOT, "probe");
	int64_t sent = health_number(h, probe, "sent"),
		every = health_number(h, probe, "intervalMs");
	int r = mp_buf_add_str(&h->line, health_text(h, probe, "kind"));

	if (sent < 0)
		r = -1; /* it has no instance */
	if (r == 0)
		r = every > 0 ? add_seconds(&h->line, " every ", every, "")
			      : mp_buf_addf(&h->line, " when in doubt");
	if (r == 0)
		r = mp_buf_addf(&h->line, ": %lld sent, %lld failed", (long long)sent,
				(long long)health_number(h, probe, "failed"));
	if (r == 0)
		r = add_last_probe(h, probe);
	health_say(h, "probe", r);
}

/* The newest last, as in `mcpool events`. */
static void print_changes(struct health *h)
{
	mp_value changes = mp_value_get(&h->t, MP_ROOT, "changes");
	const char *title = "changes";

	MP_VALUE_EACH(&h->t, changes, one) {
		struct mp_str what = health_text(h, one, "what"),
			      text = health_text(h, one, "text");
		int r = add_time(&h->line, false, health_number(h, one, "time"));

		if (r == 0)
			r = mp_buf_addf(&h->line, "  %-10.*s %.*s", MP_STR_ARGS(what),
					MP_STR_ARGS(text));
		h->line.len = r == 0 ? mp_str_trim(mp_buf_get(&h->line)).len : h->line.len;
		health_say(h, title, r);
		title = "";
	}
}

void mp_health_get_cause(struct mp_str health, struct mp_arena *arena, struct mp_cause *ret)
{
	MP_CLEANUP(health_done) struct health h;

	*ret = (struct mp_cause){.what = "", .fix = ""};
	if (health_init(&h, health, NULL) < 0)
		return;
	ret->what = mp_arena_dup(arena, health_text(&h, MP_ROOT, "cause"));
	ret->fix = mp_arena_dup(arena, health_text(&h, MP_ROOT, "fix"));
	if (health_text(&h, MP_ROOT, "variable").len)
		ret->variable = mp_arena_dup(arena, health_text(&h, MP_ROOT, "variable"));
	if (health_text(&h, MP_ROOT, "port").len)
		ret->port = mp_arena_dup(arena, health_text(&h, MP_ROOT, "port"));
	if (!ret->what || !ret->fix)
		*ret = (struct mp_cause){.what = "", .fix = ""};
}

int64_t mp_health_get_failing_since(struct mp_str health)
{
	MP_CLEANUP(health_done) struct health h;

	return health_init(&h, health, NULL) < 0 ? -1 : health_number(&h, MP_ROOT, "failingSince");
}

static void print_failing(struct health *h)
{
	int64_t since = health_number(h, MP_ROOT, "failingSince");

	if (since >= 0)
		health_say(h, "since", add_time(&h->line, true, since));
}

void mp_health_print_cause(struct mp_str health, mp_health_fn print)
{
	MP_CLEANUP(health_done) struct health h;

	if (health_init(&h, health, print) < 0)
		return;
	print("cause", health_text(&h, MP_ROOT, "cause"));
	print_failing(&h);
	print("to fix it", health_text(&h, MP_ROOT, "fix"));
}

void mp_health_print(struct mp_str health, mp_health_fn print)
{
	MP_CLEANUP(health_done) struct health h;

	if (health_init(&h, health, print) < 0)
		return;
	print_limits(&h);
	print_schedule(&h);
	print_probe(&h);
	print_changes(&h);
}
