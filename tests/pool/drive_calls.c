/*
 * drive_calls.c - sessions that number their calls, and somebody who kills the server meanwhile.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "drive.h"
#include "json/value.h"
#include "../unit/heap_pool_call.h"
#include "pool/status.h"

enum {
	ABORT_WITHIN_MS = 20,
	KILL_WITHIN_MS = 4,
	BREATH_MS = 5,
	SLOW_MS = 3000000,
	BESIDE_MS = 1000
};

static int64_t roll(struct drive *d, int64_t sides)
{
	d->dice ^= d->dice << 13;
	d->dice ^= d->dice >> 7;
	d->dice ^= d->dice << 17;
	return (int64_t)(d->dice % (uint64_t)sides);
}

static bool happens(struct drive *d, int64_t of_1000)
{
	return of_1000 > 0 && roll(d, 1000) < of_1000;
}

/* --- kills ----------------------------------------------------------------------------------- */

static bool was_killed(const struct drive *d, const struct life *life)
{
	for (int64_t i = 0; i < d->kills; i++)
		if (d->killed[i].instance == life->instance && d->killed[i].starts == life->starts)
			return true;
	return false;
}

/* Of a server that is up; one that is not is looked at again a moment later. */
static void kill_one(void *u)
{
	struct drive *d = u;
	struct session *s = &d->sessions[roll(d, d->o.sessions)];
	struct mp_arena texts;
	struct mp_status status;
	struct life life;

	mp_arena_init(&texts, MP_MIB(1));
	mp_status_take(s->workspace, (size_t)mp_workspace_find(s->workspace, d->o.server), s->id,
		       &texts, &status);
	mp_arena_done(&texts); /* numbers are all that is used */
	life = (struct life){status.instance, (uint64_t)status.starts};
	if (status.state != MP_STATUS_CONNECTED || status.pid <= 0 || was_killed(d, &life)) {
		mp_timer_start(&d->timer, 1);
		return;
	}
	kill((pid_t)status.pid, SIGKILL);
	d->killed[d->kills++] = life;
	s->killed++;
}

static void think_of_killing(struct drive *d)
{
	if (d->kills < d->o.kills && d->ended >= d->kill_at[d->kills] &&
	    !mp_timer_is_running(&d->timer))
		mp_timer_start(&d->timer, roll(d, KILL_WITHIN_MS));
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void plan_kills(struct drive *d)
{
	size_t n = (size_t)d->o.kills + 1;

	d->kill_at = mp_alloc(n * sizeof(*d->kill_at));
	d->killed = mp_alloc(n * sizeof(*d->killed));
	for (int64_t i = 0; i < d->o.kills; i++)
		d->kill_at[i] = roll(d, d->o.calls * 95 / 100);
	qsort(d->kill_at, (size_t)d->o.kills, sizeof(*d->kill_at), compare);
	mp_timer_init(&d->timer, d->hub->loop, kill_one, d);
}

/* --- calls ----------------------------------------------------------------------------------- */

static void ask(struct session *s);

/* The text of the first piece of content; "" where there is none. */
static void print_payload(struct drive *d, const struct mp_message *m)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value text;
	struct mp_str source;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, mp_value_source(m->tape, m->result), NULL) < 0)
		return;
	text = mp_value_first(&t, mp_value_get(&t, MP_ROOT, "content"));
	source = mp_value_source(&t, mp_value_get(&t, text, "text"));
	if (source.len > 2)
		fprintf(d->results, " %.*s", (int)source.len - 2, source.p + 1);
}

/* The last calls are for after the last kill, however slow the machine is. */
static bool is_too_early(const struct drive *d)
{
	return d->kills < d->o.kills && d->asked >= d->o.calls - d->o.calls / 20;
}

static void ask_next(void *u)
{
	struct call *c = u;
	struct drive *d = c->s->d;

	if (d->asked >= d->o.calls)
		return;
	if (!is_too_early(d)) {
		ask(c->s);
		return;
	}
	think_of_killing(d);
	mp_timer_init(&c->timer, d->hub->loop, ask_next, c);
	mp_timer_start(&c->timer, 1);
}

/* A refused caller waits a moment, or a server that is down would use up all calls. */
static void go_on(struct call *c, enum mp_outcome outcome)
{
	struct drive *d = c->s->d;

	if (d->ended == d->o.calls) {
		drive_over(d);
	} else if (outcome == MP_OUTCOME_NOT_SENT || outcome == MP_OUTCOME_REFUSED) {
		mp_timer_init(&c->timer, d->hub->loop, ask_next, c);
		mp_timer_start(&c->timer, BREATH_MS);
	} else {
		ask_next(c);
	}
}

static void ended(const struct mp_pool_answer *answer, void *u)
{
	struct call *c = u;
	struct session *s = c->s;
	struct drive *d = s->d;

	d->twice += c->is_ended;
	c->is_ended = true;
	c->took_us = mp_loop_now_us(d->hub->loop) - c->asked_us;
	mp_timer_stop(&c->timer);
	fprintf(d->results, "%" PRIu64 "-%" PRId64 " %s", s->id, c->number,
		mp_outcome_get_name(answer->outcome));
	if (answer->message && answer->message->kind == MP_MESSAGE_RESULT)
		print_payload(d, answer->message);
	d->errors += answer->message && answer->message->kind != MP_MESSAGE_RESULT;
	fputc('\n', d->results);
	d->by_outcome[answer->outcome]++;
	d->ended++;
	think_of_killing(d);
	go_on(c, answer->outcome);
}

static void abort_call(void *u)
{
	struct call *c = u;

	heap_pool_cancel(c->call);
}

static void ask(struct session *s)
{
	struct drive *d = s->d;
	struct call *c = &d->calls[d->asked++];
	bool slow = happens(d, d->o.slow);
	struct mp_pool_call_options rq = {
		.server = d->o.server,
		.session = s->id,
		.call.method = MP_METHOD_TOOLS_CALL,
		.tool = slow ? MP_STR("sleep") : MP_STR("echo"),
		.call.timeout_ms = slow ? 1 + roll(d, d->o.limit) : 0,
	};
	struct mcpool_error why;
	char slept[40] = "";

	*c = (struct call){.s = s, .number = s->asked++, .asked_us = mp_loop_now_us(d->hub->loop)};
	mp_timer_init(&c->timer, d->hub->loop, abort_call, c);
	if (slow)
		snprintf(slept, sizeof(slept), "\"ms\":%d,", SLOW_MS);
	snprintf(d->params, d->params_size,
		 "{\"name\":\"%s\",\"arguments\":{%s\"%s\":\"%" PRIu64 "-%" PRId64
		 "\",\"pad\":\"%0*d\"}}",
		 rq.tool.p, slept, slow ? "tag" : "message", s->id, c->number, (int)d->o.pad, 0);
	rq.call.params = mp_str_of(d->params);
	fprintf(d->all_asked, "%" PRIu64 "-%" PRId64 "\n", s->id, c->number);
	if (heap_pool_call(s->workspace, &rq, ended, c, &c->call, &why) < 0)
		drive_die("a call was not taken: %s", why.message);
	if (happens(d, d->o.aborts))
		mp_timer_start(&c->timer, roll(d, ABORT_WITHIN_MS));
}

/* --- another server -------------------------------------------------------------------------- */

static void beside_ended(const struct mp_pool_answer *answer, void *u)
{
	struct drive *d = u;

	d->beside++;
	if (!d->is_over)
		mp_timer_start(&d->beside_timer,
			       answer->outcome == MP_OUTCOME_ANSWERED ? 0 : BREATH_MS);
}

/* One call at a time, whatever becomes of it. */
static void ask_beside(void *u)
{
	struct drive *d = u;
	struct mp_pool_call_options rq = {
		.server = d->o.beside,
		.session = (mp_id)d->o.sessions + 1,
		.call.method = MP_METHOD_TOOLS_CALL,
		.tool = MP_STR("echo"),
		.call.params = MP_STR("{\"name\":\"echo\",\"arguments\":{\"message\":\"beside\"}}"),
		.call.timeout_ms = BESIDE_MS,
	};
	struct mcpool_error why;

	if (heap_pool_call(d->hub->workspace, &rq, beside_ended, d, NULL, &why) < 0)
		drive_die("%s: %s", d->o.beside, why.message);
}

void drive_calls(struct drive *d)
{
	d->dice = (uint64_t)d->o.seed * 0x9e3779b97f4a7c15u + 1;
	d->sessions = mp_alloc((size_t)d->o.sessions * sizeof(*d->sessions));
	d->calls = mp_alloc((size_t)d->o.calls * sizeof(*d->calls));
	d->params_size = (size_t)d->o.pad + 200;
	d->params = mp_alloc(d->params_size);
	plan_kills(d);
	d->began_us = mp_loop_now_us(d->hub->loop);
	mp_timer_init(&d->beside_timer, d->hub->loop, ask_beside, d);
	if (d->o.beside)
		mp_timer_start(&d->beside_timer, 0);
	for (int64_t i = 0; i < d->o.sessions; i++)
		d->sessions[i] =
			(struct session){.d = d,
					 .id = (mp_id)i + 1,
					 .workspace = d->workspaces[(size_t)i % d->n_workspaces]};
	for (int64_t k = 0; k < d->o.flight; k++)
		for (int64_t i = 0; i < d->o.sessions && d->asked < d->o.calls; i++)
			ask(&d->sessions[i]);
}
