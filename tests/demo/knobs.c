/*
 * knobs.c - how the demo server misbehaves: environment variables MCPOOL_DEMO_*, for tests.
 * One row per knob. A misspelled knob is refused, because a test that turns nothing proves nothing.
 */
#include "demo/knobs.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/str.h"

#define PREFIX "MCPOOL_DEMO_"

enum kind {
	FLAG,   /* 1 or 0 */
	COUNT,  /* a number */
	TIME,   /* milliseconds, or `forever` */
	STARTS, /* N for the first N, or FROM-TO */
	CHOICE, /* one of a few words */
	PATH,
};

static const char *const probes[] = {"ok", "die", "silent", NULL};
static const char *const eras[] = {"both", "legacy", "modern", NULL};

#define AT(field) offsetof(struct mp_demo_knobs, field)

static const struct knob {
	const char *name;
	enum kind kind;
	size_t at;
	const char *value; /* as --help shows it */
	const char *meaning;
	int64_t max;                /* of a COUNT */
	const char *const *choices; /* of a CHOICE, in the order of its enum */
} knobs[] = {
	{"ERA", CHOICE, AT(era), "both|legacy|modern", "revisions it speaks", 0, eras},
	{"PROBE", CHOICE, AT(probe), "ok|die|silent",
	 "die: exits unless initialize comes first; silent: never answers server/discover", 0,
	 probes},
	{"SLOW_START", TIME, AT(slow_start_ms), "MS", "reads nothing for so long after its start",
	 0, NULL},
	{"HANG", TIME, AT(hang_ms), "MS|forever", "answers initialize and server/discover so late",
	 0, NULL},
	{"FAIL_STARTS", STARTS, AT(fail_from), "N|FROM-TO",
	 "these starts end with exit code 1; the first is 1; needs STATE", 0, NULL},
	{"STATE", PATH, AT(state), "FILE", "grows by one byte with each start", 0, NULL},
	{"TOOLS", COUNT, AT(tools), "N", "so many tools more: tool_1, tool_2, ...", 20000, NULL},
	{"PAGE", COUNT, AT(page), "N",
	 "tools/list in pages of N; the cursor of the second one is \"\"", INT32_MAX, NULL},
	{"LIST_DELAY", TIME, AT(list_delay_ms), "MS|forever", "answers lists so late", 0, NULL},
	{"HANG_CALLS", FLAG, AT(hang_calls), "1", "runs tools, and never answers", 0, NULL},
	{"BLOCK", TIME, AT(block_ms), "MS|forever",
	 "each tool call blocks the whole server so long", 0, NULL},
	{"MUTE", FLAG, AT(mute), "1", "answers nothing at all after a tool call, and reads on", 0,
	 NULL},
	{"FROM_CALL", COUNT, AT(from_call), "N",
	 "HANG_CALLS, BLOCK and MUTE begin with the Nth tool call", INT64_MAX, NULL},
	{"JITTER", COUNT, AT(jitter_ms), "MS", "answers each tool call after up to so long",
	 INT32_MAX, NULL},
	{"OUT_OF_ORDER", FLAG, AT(out_of_order), "1",
	 "of two tool calls answers the second first; a lone one after 200 ms", 0, NULL},
	{"CHANGE_AFTER", COUNT, AT(change_after_ms), "MS",
	 "so long after its first message it does what the tool `change` does", INT32_MAX, NULL},
	{"LEDGER", PATH, AT(ledger), "FILE",
	 "one line per tool call, synced before it runs: PID ID TOOL ARGUMENTS", 0, NULL},
	{"ENDS", PATH, AT(ends), "FILE",
	 "one line per tool call that is answered or cancelled: PID ID end HOW; may be LEDGER", 0,
	 NULL},
	{"FLOOD_STDOUT", COUNT, AT(flood_stdout), "BYTES",
	 "lines that are no JSON before the first answer", INT64_MAX, NULL},
	{"FLOOD_STDERR", COUNT, AT(flood_stderr), "BYTES", "lines on stderr at its start",
	 INT64_MAX, NULL},
	{"FORK", COUNT, AT(fork), "N",
	 "grandchildren in sessions of their own, deaf to SIGTERM; they stay five minutes", 64,
	 NULL},
	{"EXIT_AFTER", COUNT, AT(exit_after), "N", "exits when N tool calls are answered",
	 INT64_MAX, NULL},
	{"EXIT_IDLE", COUNT, AT(exit_idle_ms), "MS",
	 "exits when no message came for so long and nothing is under way", INT32_MAX, NULL},
	{"EXIT_DELAY", TIME, AT(exit_delay_ms), "MS|forever", "takes so long to exit", 0, NULL},
	{"IGNORE_TERM", FLAG, AT(ignore_term), "1", "lives on after SIGTERM", 0, NULL},
	{"IGNORE_EOF", FLAG, AT(ignore_eof), "1",
	 "lives on after stdin has ended, for five minutes", 0, NULL},
};

void mp_demo_knobs_print(FILE *out)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(knobs); i++)
		fprintf(out, "  " PREFIX "%s=%s\n      %s\n", knobs[i].name, knobs[i].value,
			knobs[i].meaning);
}

static bool read_number(struct mp_str s, int64_t max, int64_t *ret)
{
	int64_t n;

	if (mp_str_to_i64(s, &n) < 0 || n < 0 || n > max)
		return false;
	*ret = n;
	return true;
}

static bool read_starts(struct mp_str s, int64_t *from, int64_t *to)
{
	ptrdiff_t dash = mp_str_find(s, MP_STR("-"), 0);

	if (dash < 0) {
		*from = 1;
		return read_number(s, INT32_MAX, to);
	}
	return read_number((struct mp_str){s.p, (size_t)dash}, INT32_MAX, from) &&
	       read_number((struct mp_str){s.p + dash + 1, s.len - (size_t)dash - 1}, INT32_MAX,
			   to);
}

static bool read_choice(struct mp_str s, const char *const *choices, int64_t *ret)
{
	for (int64_t i = 0; choices[i]; i++) {
		if (!mp_str_eq(s, mp_str_of(choices[i])))
			continue;
		*ret = i;
		return true;
	}
	return false;
}

static bool turn(const struct knob *knob, const char *text, struct mp_demo_knobs *k)
{
	void *field = (char *)k + knob->at;
	struct mp_str s = mp_str_of(text);

	switch (knob->kind) {
	case FLAG:
		return read_number(s, 1, field);
	case COUNT:
		return read_number(s, knob->max, field);
	case TIME:
		if (mp_str_eq(s, MP_STR("forever"))) {
			*(int64_t *)field = MP_DEMO_FOREVER;
			return true;
		}
		return read_number(s, INT32_MAX, field);
	case STARTS:
		return read_starts(s, &k->fail_from, &k->fail_to);
	case CHOICE:
		return read_choice(s, knob->choices, field);
	case PATH:
		*(const char **)field = text;
		return s.len > 0;
	}
	return false;
}

static const struct knob *find(struct mp_str name)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(knobs); i++)
		if (mp_str_eq(name, mp_str_of(knobs[i].name)))
			return &knobs[i];
	return NULL;
}

int mp_demo_knobs_read(struct mp_demo_knobs *ret_knobs, struct mcpool_error *reterr)
{
	struct mp_demo_knobs k = {0};

	for (char **e = environ; e && *e; e++) {
		struct mp_str name = mp_str_of(*e);
		ptrdiff_t equals = mp_str_find(name, MP_STR("="), 0);
		const struct knob *knob;

		if (!mp_str_starts(name, MP_STR(PREFIX)) || equals < 0)
			continue;
		name = (struct mp_str){*e + strlen(PREFIX), (size_t)equals - strlen(PREFIX)};
		knob = find(name);
		if (!knob)
			return mp_fail(reterr, MCPOOL_EINVAL, "there is no knob " PREFIX "%.*s",
				       MP_STR_ARGS(name));
		if (!turn(knob, *e + equals + 1, &k))
			return mp_fail(reterr, MCPOOL_EINVAL, PREFIX "%s is %s, not '%s'",
				       knob->name, knob->value, *e + equals + 1);
	}
	if (k.fail_to && !k.state)
		return mp_fail(reterr, MCPOOL_EINVAL, PREFIX "FAIL_STARTS needs " PREFIX "STATE");
	*ret_knobs = k;
	return 0;
}
