/*
 * keeper_events.c - records the steps of a keeper in the event ring.
 */
#include "pool/keeper.h"

#include <stdio.h>

#include "pool/cause.h"

enum { TRIGGER_BYTES = 64 };

static const enum mp_event_kind kinds[] = {
	[MP_KEEPER_DOWN] = MP_EVENT_DOWN,
	[MP_KEEPER_PREPARING] = MP_EVENT_PREPARING,
	[MP_KEEPER_STARTING] = MP_EVENT_STARTING,
	[MP_KEEPER_LISTING] = MP_EVENT_LISTING,
	[MP_KEEPER_UP] = MP_EVENT_UP,
	[MP_KEEPER_CHECKING] = MP_EVENT_CHECKING,
	[MP_KEEPER_CLEARING] = MP_EVENT_CLEARING,
	[MP_KEEPER_BACKOFF] = MP_EVENT_BACKOFF,
	[MP_KEEPER_FAILED] = MP_EVENT_FAILED,
	[MP_KEEPER_BARRED] = MP_EVENT_BARRED,
	[MP_KEEPER_STOPPING] = MP_EVENT_STOPPING,
	[MP_KEEPER_RENEWING] = MP_EVENT_RENEWING,
};

static double ms_of(int64_t us)
{
	return (double)us / 1000;
}

/* The duration of each stage of a start; or that a suspected server answered its probe. */
static void record_up(const struct mp_keeper_facts *f, enum mp_keeper_state from,
		      struct mp_events *events, mp_id id)
{
	const struct mp_keeper_times *t = &f->times;
	enum mp_event_kind kind = kinds[f->state];

	if (from == MP_KEEPER_CHECKING)
		mp_event(events, id, kind, "the probe was answered");
	else
		mp_event(events, id, kind,
			 "prepare %.1f ms, spawn %.1f ms, handshake %.1f ms, lists %.1f ms",
			 ms_of(t->prepare_us), ms_of(t->spawn_us), ms_of(t->handshake_us),
			 ms_of(t->list_us));
}

/* "start-failed after 12 ms: ", or the trigger alone for a server that was up (E55). */
static const char *write_trigger(const struct mp_keeper_facts *f, char out[TRIGGER_BYTES])
{
	if (f->failed_after_us < 0)
		snprintf(out, TRIGGER_BYTES, "%s: ", f->trigger);
	else
		snprintf(out, TRIGGER_BYTES, "%s after %lld ms: ", f->trigger,
			 (long long)f->failed_after_us / 1000);
	return out;
}

/* The same where no line about clearing away came before. */
static const char *write_start(const struct mp_keeper_facts *f, enum mp_keeper_state from,
			       char out[TRIGGER_BYTES])
{
	return from == MP_KEEPER_PREPARING && f->failed_after_us >= 0 ? write_trigger(f, out) : "";
}

/* Includes the last stderr line, which often is the cause. */
static void record_trouble(const struct mp_keeper_facts *f, struct mp_events *events, mp_id id)
{
	struct mp_str words = mp_cause_get_line(f->tail);
	char trigger[TRIGGER_BYTES];

	mp_event(events, id, kinds[f->state], "%s%s%s%.*s%s", write_trigger(f, trigger),
		 f->why.message, words.len ? " (" : "", MP_STR_ARGS(words), words.len ? ")" : "");
}

static void record_attempt(const struct mp_keeper_facts *f, struct mp_events *events, mp_id id)
{
	enum mp_event_kind kind = kinds[f->state];

	if (f->attempt > 0)
		mp_event(events, id, kind, "attempt %u", f->attempt);
	else
		mp_event(events, id, kind, "%s", "");
}

static void record_end(const struct mp_keeper_facts *f, enum mp_keeper_state from,
		       struct mp_events *events, mp_id id)
{
	char room[TRIGGER_BYTES];
	const char *start = write_start(f, from, room);

	if (f->next_ms > 0)
		mp_event(events, id, kinds[f->state],
			 "%s%s; tried again in %lld s or when it changes", start, f->why.message,
			 (long long)(f->next_ms - f->since_ms + 999) / 1000);
	else
		mp_event(events, id, kinds[f->state], "%s%s", start, f->why.message);
}

static void record_rest(const struct mp_keeper_facts *f, enum mp_keeper_state from,
			struct mp_events *events, mp_id id)
{
	char room[TRIGGER_BYTES];

	mp_event(events, id, kinds[f->state], "attempt %u in %lld ms: %s%s", f->attempt,
		 (long long)(f->next_ms - f->since_ms), write_start(f, from, room), f->why.message);
}

void mp_keeper_record(const struct mp_keeper_facts *f, enum mp_keeper_state from,
		      struct mp_events *events, mp_id id)
{
	enum mp_event_kind kind = kinds[f->state];

	switch (f->state) {
	case MP_KEEPER_PREPARING:
		record_attempt(f, events, id);
		break;
	case MP_KEEPER_UP:
		record_up(f, from, events, id);
		break;
	case MP_KEEPER_CHECKING:
		mp_event(events, id, kind, "%s", f->suspicion);
		break;
	case MP_KEEPER_CLEARING:
		record_trouble(f, events, id);
		break;
	case MP_KEEPER_BACKOFF:
		record_rest(f, from, events, id);
		break;
	case MP_KEEPER_FAILED:
		record_end(f, from, events, id);
		break;
	case MP_KEEPER_BARRED:
		mp_event(events, id, kind, "%s", f->why.message);
		break;
	case MP_KEEPER_RENEWING:
		mp_event(events, id, kind, "%s", f->renewal ? f->renewal : "");
		break;
	case MP_KEEPER_DOWN:
	case MP_KEEPER_STARTING:
	case MP_KEEPER_LISTING:
	case MP_KEEPER_STOPPING:
	case MP_KEEPER_STATE_COUNT:
		mp_event(events, id, kind, "%s", "");
		break;
	}
}
