/*
 * events.c - every transition, numbered.
 * A ring of fixed-size records. Nothing here merges or drops on its own: the oldest record makes
 * room for the newest, and readers can tell by the numbers.
 */
#include "base/events.h"

#include <stdarg.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/redact.h"
#include "base/str.h"

enum { RAW_TEXT = 1024 }; /* before it is redacted and cut */

static void at_turn_end(void *u)
{
	struct mp_events *events = u;

	if (events->told == events->last)
		return;
	events->told = events->last;
	MP_LIST_WALK(&events->listeners, link) {
		struct mp_event_listener *l = mp_container_of(link, struct mp_event_listener, link);

		l->fn(l->u);
	}
}

void mp_events_init(struct mp_events *events, struct mp_loop *loop)
{
	*events = (struct mp_events){.loop = loop};
	events->ring = mp_alloc(MP_LIMIT_EVENT_RING * sizeof(*events->ring));
	mp_buf_init(&events->clean, (size_t)8 * RAW_TEXT); /* an escaped byte takes four */
	mp_list_init(&events->listeners);
	mp_loop_at_turn_end(loop, &events->hook, at_turn_end, events);
}

void mp_events_done(struct mp_events *events)
{
	mp_check(events->listeners.len == 0);
	mp_loop_forget_turn_end(events->loop, &events->hook);
	mp_buf_done(&events->clean);
	events->ring = mp_free(events->ring);
}

static void MP_PRINTF(2, 3) copy_text(struct mp_event *e, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)mp_str_format(e->text, sizeof(e->text), format, args); /* cut is fine */
	va_end(args);
}

/* Redacted before it is cut, because the event goes to displays as it is. */
static void MP_PRINTF(3, 0)
	write_text(struct mp_events *events, struct mp_event *e, const char *format, va_list args)
{
	char raw[RAW_TEXT];
	bool whole = mp_str_format(raw, sizeof(raw), format, args);

	mp_buf_clear(&events->clean);
	if (mp_redact(mp_str_of(raw), !whole, &events->clean) < 0 ||
	    mp_buf_terminate(&events->clean) < 0)
		copy_text(e, "%s", "(memory did not suffice to redact this)");
	else
		copy_text(e, "%s", events->clean.data);
}

static const char *const names[] = {
#define E(kind, name, level, words) [MP_EVENT_##kind] = name,
#include "base/events.def"
#undef E
};

uint64_t mp_event(struct mp_events *events, mp_id id, enum mp_event_kind kind, const char *format,
		  ...)
{
	struct mp_event *e = &events->ring[events->last % MP_LIMIT_EVENT_RING];
	va_list args;

	e->number = ++events->last;
	e->wall_ms = mp_loop_wall_now_ms(events->loop);
	e->mono_us = mp_loop_now_us(events->loop);
	e->id = id;
	e->kind = kind;
	e->what = names[kind];
	va_start(args, format);
	write_text(events, e, format, args);
	va_end(args);
	mp_loop_nudge(events->loop); /* it may come from a hook, or from outside of a turn */
	return e->number;
}

const struct mp_event *mp_events_read(const struct mp_events *events, uint64_t *cursor,
				      uint64_t *ret_missed)
{
	uint64_t oldest =
		events->last > MP_LIMIT_EVENT_RING ? events->last - MP_LIMIT_EVENT_RING + 1 : 1;

	*ret_missed = *cursor < oldest ? oldest - *cursor : 0;
	*cursor += *ret_missed;
	if (*cursor > events->last)
		return NULL;
	return &events->ring[((*cursor)++ - 1) % MP_LIMIT_EVENT_RING];
}

void mp_event_listener_join(struct mp_events *events, struct mp_event_listener *l,
			    void (*fn)(void *u), void *u)
{
	*l = (struct mp_event_listener){.fn = fn, .u = u};
	mp_list_append(&events->listeners, &l->link);
}

void mp_event_listener_leave(struct mp_events *events, struct mp_event_listener *l)
{
	mp_list_remove(&events->listeners, &l->link);
}
