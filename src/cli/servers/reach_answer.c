/*
 * reach_answer.c - converts the result of mcpool/call into a pool answer.
 */
#include "cli/servers/reach_answer.h"

#include <limits.h>

#include "base/error.h"
#include "base/limits.h"

enum {
#define X(name, word) HAS_##name,
	MCPOOL_FAULTS(X)
#undef X
		FAULTS
};

void mp_reach_answer_init(struct mp_reach_answer *a)
{
	*a = (struct mp_reach_answer){.has_status = false};
	mp_arena_init(&a->arena, MP_LIMIT_ARENA);
}

void mp_reach_answer_done(struct mp_reach_answer *a)
{
	mp_arena_done(&a->arena);
}

static int64_t get_number(const struct mp_tape *t, mp_value object, const char *key)
{
	int64_t n;

	return mp_value_i64(t, mp_value_get(t, object, key), &n) < 0 ? 0 : n;
}

static bool get_bool(const struct mp_tape *t, mp_value object, const char *key)
{
	bool b;

	return mp_value_bool(t, mp_value_get(t, object, key), &b) == 0 && b;
}

static struct mp_str get_text(struct mp_reach_answer *a, const struct mp_tape *t, mp_value object,
			      const char *key)
{
	struct mp_str text;

	if (mp_value_text(t, mp_value_get(t, object, key), &a->arena, &text) < 0)
		return MP_STR("");
	return text;
}

static void read_error(struct mp_reach_answer *a, const struct mp_tape *t, mp_value object,
		       struct mcpool_error *ret)
{
	int64_t code = get_number(t, object, "code"), fault;

	(void)mp_fail(ret, code < 0 && code > INT_MIN ? (int)code : MCPOOL_EPROTO, "%.*s",
		      MP_STR_ARGS(get_text(a, t, object, "message")));
	ret->rpc_code = (int)get_number(t, object, "rpcCode");
	fault = get_number(t, object, "fault");
	ret->fault = fault > 0 && fault < FAULTS ? (int)fault : 0;
}

static enum mp_outcome read_outcome(const struct mp_tape *t, mp_value v)
{
	for (int o = MP_OUTCOME_ANSWERED; o <= MP_OUTCOME_CANCELLED; o++)
		if (mp_value_text_is(t, v, mp_str_of(mp_outcome_get_name((enum mp_outcome)o))))
			return (enum mp_outcome)o;
	return MP_OUTCOME_UNKNOWN;
}

static void read_message(struct mp_reach_answer *a, const struct mp_tape *t, mp_value result)
{
	mp_value theirs = mp_value_get(t, result, "result");

	mp_message_clear(&a->theirs, t);
	a->theirs.kind = theirs == MP_NONE ? MP_MESSAGE_ERROR : MP_MESSAGE_RESULT;
	a->theirs.result = theirs;
	a->theirs.error = mp_value_get(t, result, "error");
	a->answer.message = &a->theirs;
}

static void read_failure(struct mp_reach_answer *a, const struct mp_tape *t, mp_value result)
{
	mp_value cause = mp_value_get(t, result, "cause");

	read_error(a, t, result, &a->why);
	a->answer.error = &a->why;
	if (cause != MP_NONE) {
		read_error(a, t, cause, &a->cause);
		a->answer.cause = &a->cause;
	}
	a->answer.attempt = (unsigned)get_number(t, result, "attempt");
	a->answer.next_at_ms = get_number(t, result, "nextAt");
	a->answer.tail = get_text(a, t, result, "stderr");
	a->answer.retryable = get_bool(t, result, "retryable");
	a->answer.was_up = get_bool(t, result, "wasUp");
	a->answer.was_out = get_bool(t, result, "wasOut");
}

void mp_reach_answer_read(struct mp_reach_answer *a, const struct mp_message *m, const char *server)
{
	const struct mp_tape *t = m->tape;
	mp_value status = mp_value_get(t, m->result, "status");

	a->answer.server = server;
	a->answer.took_us = get_number(t, m->result, "tookUs");
	a->answer.outcome = read_outcome(t, mp_value_get(t, m->result, "outcome"));
	if (a->answer.outcome == MP_OUTCOME_ANSWERED)
		read_message(a, t, m->result);
	else
		read_failure(a, t, m->result);
	a->has_status =
		status != MP_NONE && mp_status_read(t, status, &a->arena, &a->status, NULL) == 0;
	if (a->has_status) {
		a->answer.environment = a->status.environment;
		a->answer.transport = a->status.transport;
	}
}
