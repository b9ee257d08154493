/*
 * task_call.c - a call that the server runs as a task: polls its state, then fetches the result.
 * Agents get the same from the hub (session/tasks.c).
 */
#include "cli/servers/task_call.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/progress_line.h"
#include "cli/servers/reach.h"
#include "session/task_tools.h"

enum { POLL_MS = 1000, LEAST_POLL_MS = 50, MOST_POLL_MS = 10000 };

static void task_call_poll(void *u);

void mp_task_call_done(struct mp_task_call *c)
{
	c->server = mp_free(c->server);
	mp_buf_done(&c->params);
}

static int task_call_ask(struct mp_task_call *c, enum mp_method_id method, mp_reach_answer_fn fn,
			 struct mcpool_error *reterr)
{
	struct mp_pool_call_options rq = {.server = c->server,
					  .call.method = method,
					  .call.params = mp_buf_get(&c->params),
					  .call.timeout_ms = c->timeout_ms};

	return mp_reach_call(c->teller->reach, &rq, fn, c, reterr);
}

static void task_call_fail(struct mp_task_call *c, const struct mcpool_error *why)
{
	mp_cli_complain_as(why->code, "%s: %s: %s", c->server, c->teller->method, why->message);
	mp_reach_finish(c->teller->reach, mp_cli_exit_code(why));
}

/* --- the end --------------------------------------------------------------------------------- */

static void task_call_tell(const struct mp_pool_answer *a, const struct mp_status *status, void *u)
{
	struct mp_task_call *c = u;

	mp_outcome_tell(a, status, c->teller);
}

/* Ignore the server's answer. */
static void cancelled(const struct mp_pool_answer *a, const struct mp_status *status, void *u)
{
	struct mp_task_call *c = u;

	(void)a;
	(void)status;
	mp_reach_finish(c->teller->reach, MP_EXIT_INTERRUPTED);
}

/* True: the user interrupted, and the task is being cancelled. */
static bool cancel_if_interrupted(struct mp_task_call *c)
{
	struct mcpool_error why;

	if (!mp_reach_is_interrupted(c->teller->reach))
		return false;
	if (task_call_ask(c, MP_METHOD_TASKS_CANCEL, cancelled, &why) < 0)
		mp_reach_finish(c->teller->reach, MP_EXIT_INTERRUPTED);
	return true;
}

static void fetched(const struct mp_pool_answer *a, const struct mp_status *status, void *u)
{
	if (!cancel_if_interrupted(u))
		task_call_tell(a, status, u);
}

static void task_call_fetch(struct mp_task_call *c)
{
	struct mcpool_error why;

	if (task_call_ask(c, MP_METHOD_TASKS_RESULT, fetched, &why) < 0)
		task_call_fail(c, &why);
}

/* --- its state ------------------------------------------------------------------------------- */

static bool is_working(const struct mp_message *m)
{
	return mp_value_text_is(m->tape, mp_value_get(m->tape, m->result, "status"),
				MP_STR("working")) ||
	       mp_value_text_is(m->tape, mp_value_get(m->tape, m->result, "status"),
				MP_STR("submitted"));
}

static void task_call_show(struct mp_task_call *c, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str words;

	mp_arena_init(&arena, MP_KIB(64));
	if (mp_value_text(m->tape, mp_value_get(m->tape, m->result, "statusMessage"), &arena,
			  &words) == 0 &&
	    words.len)
		mp_progress_line_show(mp_reach_get_line(c->teller->reach), words);
}

static int64_t get_interval(const struct mp_tape *t, mp_value task)
{
	int64_t ms = POLL_MS;

	if (mp_value_i64(t, mp_value_get(t, task, "pollInterval"), &ms) < 0)
		return POLL_MS;
	return ms < LEAST_POLL_MS ? LEAST_POLL_MS : ms > MOST_POLL_MS ? MOST_POLL_MS : ms;
}

static void task_call_polled(const struct mp_pool_answer *a, const struct mp_status *status,
			     void *u)
{
	struct mp_task_call *c = u;

	if (cancel_if_interrupted(c))
		return;
	if (a->outcome != MP_OUTCOME_ANSWERED || a->message->kind == MP_MESSAGE_ERROR) {
		task_call_tell(a, status, c);
		return;
	}
	if (!is_working(a->message)) {
		task_call_fetch(c);
		return;
	}
	task_call_show(c, a->message);
	mp_reach_wait(c->teller->reach, get_interval(a->message->tape, a->message->result),
		      task_call_poll, c);
}

static void task_call_poll(void *u)
{
	struct mp_task_call *c = u;
	struct mcpool_error why;

	if (cancel_if_interrupted(c))
		return;
	if (task_call_ask(c, MP_METHOD_TASKS_GET, task_call_polled, &why) < 0)
		task_call_fail(c, &why);
}

/* --- the beginning --------------------------------------------------------------------------- */

/* A server that answers at once did not use a task. */
static void task_call_begun(const struct mp_pool_answer *a, const struct mp_status *status, void *u)
{
	struct mp_task_call *c = u;

	if (a->outcome != MP_OUTCOME_ANSWERED || a->message->kind == MP_MESSAGE_ERROR ||
	    mp_task_read_id(a->message, &c->params) < 0)
		task_call_tell(a, status, c);
	else
		task_call_poll(c);
}

int mp_task_call_start(struct mp_task_call *c, struct mp_outcome_teller *teller,
		       const struct mp_pool_call_options *rq, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_pool_call_options ours = *rq;
	int r;

	mp_task_call_done(c);
	*c = (struct mp_task_call){
		.teller = teller, .server = mp_dup(rq->server), .timeout_ms = rq->call.timeout_ms};
	mp_buf_init(&c->params, MP_LIMIT_MESSAGE);
	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	r = mp_buf_add(&params, rq->call.params.p,
		       rq->call.params.len - 1); /* without the closing brace */
	if (r == 0)
		r = mp_buf_add_str(&params, MP_STR(",\"task\":{}}"));
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	ours.call.params = mp_buf_get(&params);
	r = mp_reach_call(teller->reach, &ours, task_call_begun, c, reterr);
	if (r == 0)
		mp_reach_await_task(teller->reach);
	return r;
}
