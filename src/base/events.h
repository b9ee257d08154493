/*
 * events.h - every transition, numbered.
 * Where the board merges, the ring keeps each step: `events`, history and the log read it. A reader
 * holds the number it wants next; one that is too late learns how many it missed.
 */
#ifndef MP_EVENTS_H
#define MP_EVENTS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/loop.h"

enum mp_event_kind {
#define E(kind, name, level, words) MP_EVENT_##kind,
#include "base/events.def"
#undef E
};

struct mp_event {
	uint64_t number; /* 1, 2, 3, ... without gaps */
	int64_t wall_ms;
	int64_t mono_us;
	mp_id id; /* the object it happened to */
	enum mp_event_kind kind;
	const char *what; /* the name of the kind: "up", "backoff", ...; static */
	char text[MP_LIMIT_EVENT_TEXT];
};

struct mp_events {
	struct mp_loop *loop;
	struct mp_event *ring; /* owned; MP_LIMIT_EVENT_RING of them */
	uint64_t last;         /* number of the newest, 0 before the first */
	uint64_t told;         /* listeners know up to here */
	struct mp_buf clean;   /* the text of the newest, redacted and not yet cut */
	struct mp_list listeners;
	struct mp_hook hook;
};

void mp_events_init(struct mp_events *events, struct mp_loop *loop);
void mp_events_done(struct mp_events *events);

/* Record one, secrets as dots. Returns its number. */
uint64_t mp_event(struct mp_events *events, mp_id id, enum mp_event_kind kind, const char *format,
		  ...) MP_PRINTF(4, 5);

/*
 * The event with number *cursor, or the oldest kept if that one is gone; *cursor then names the one
 * behind it and *ret_missed counts those gone. NULL when there is none yet. Begin with *cursor 1
 * for all, last + 1 for news only. Valid until the next mp_event().
 */
const struct mp_event *mp_events_read(const struct mp_events *events, uint64_t *cursor,
				      uint64_t *ret_missed);

/* Called at the end of a turn that recorded an event. May unsubscribe during the call. */
struct mp_event_listener {
	struct mp_link link;
	void (*fn)(void *u);
	void *u;
};
void mp_event_listener_join(struct mp_events *events, struct mp_event_listener *l,
			    void (*fn)(void *u), void *u);
void mp_event_listener_leave(struct mp_events *events, struct mp_event_listener *l);

#endif
