/*
 * control_listen.c - mcpool/events, mcpool/calls and mcpool/notifications: told as it happens.
 * Nothing is kept for a peer that does not read: the rings of the hub have the newest, with their
 * numbers.
 */
#include "face/control_listen.h"

#include "base/error.h"
#include "base/limits.h"
#include "face/control_status.h"
#include "hub/hub.h"

/* More is not queued for a peer that does not read; it learns how many it missed. */
enum { HELD_BYTES = 256 << 10 };

void mp_control_listen_init(struct mp_control_listen *l, struct mp_control_peer *peer)
{
	*l = (struct mp_control_listen){.peer = peer};
}

void mp_control_listen_done(struct mp_control_listen *l)
{
	if (l->has_events)
		mp_event_listener_leave(&l->peer->hub->events, &l->events);
	if (l->has_calls)
		mp_call_listener_leave(&l->peer->hub->calls, &l->calls);
	if (l->has_said)
		mp_notification_listener_leave(&l->peer->hub->said, &l->said);
}

static bool listen_is_held(struct mp_control_listen *l)
{
	if (l->peer->get_queued && l->peer->get_queued(l->peer->u) > HELD_BYTES)
		l->is_held = true;
	return l->is_held;
}

static void notification_begin(struct mp_writer *w, struct mp_buf *out, struct mp_str method)
{
	mp_write_init(w, out, NULL);
	mp_write_begin_object(w);
	mp_write_member_text(w, "jsonrpc", MP_STR("2.0"));
	mp_write_member_text(w, "method", method);
	mp_write_key(w, MP_STR("params"));
}

static void notification_send(struct mp_control_listen *l, struct mp_writer *w, struct mp_buf *out)
{
	mp_write_end_object(w);
	if (mp_write_finish(w) == 0)
		l->peer->say(l->peer->u, mp_buf_get(out));
}

/* The number of the first that is wanted. */
static int read_since(const struct mp_tape *t, mp_value params, uint64_t last, const char *what,
		      uint64_t *ret_next, struct mcpool_error *reterr)
{
	mp_value since = mp_value_get(t, params, "since");

	*ret_next = last + 1;
	if (since != MP_NONE && (mp_value_u64(t, since, ret_next) < 0 || *ret_next > last + 1))
		return mp_fail(reterr, MCPOOL_EINVAL, "`since` must be the number of %s", what);
	if (*ret_next == 0)
		*ret_next = 1;
	return 0;
}

static int last_write(struct mp_buf *out, uint64_t last)
{
	return mp_buf_addf(out, "{\"last\":%llu}", (unsigned long long)last);
}

/* --- events ---------------------------------------------------------------------------------- */

static void event_send(struct mp_control_listen *l, const struct mp_event *e, uint64_t missed)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_KIB(64) + MP_LIMIT_RELOAD_CHANGES);
	notification_begin(&w, &out, MP_STR("mcpool/event"));
	mp_control_status_write_event(&w, l->peer->hub, e, missed);
	notification_send(l, &w, &out);
}

static void events_send(void *u)
{
	struct mp_control_listen *l = u;
	const struct mp_event *e;
	uint64_t missed;

	while (!listen_is_held(l) &&
	       (e = mp_events_read(&l->peer->hub->events, &l->next_event, &missed)))
		event_send(l, e, missed);
}

int mp_control_listen_events(struct mp_control_listen *l, const struct mp_tape *t, mp_value params,
			     struct mp_buf *out, struct mcpool_error *reterr)
{
	struct mp_events *events = &l->peer->hub->events;
	int r = read_since(t, params, events->last, "an event", &l->next_event, reterr);

	if (r < 0)
		return r;
	if (!l->has_events)
		mp_event_listener_join(events, &l->events, events_send, l);
	l->has_events = true;
	return last_write(out, events->last);
}

/* --- calls ----------------------------------------------------------------------------------- */

static void call_send(struct mp_control_listen *l, const struct mp_call_record *r, uint64_t missed)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_LIMIT_MESSAGE);
	notification_begin(&w, &out, MP_STR("mcpool/calls/record"));
	mp_call_record_write(&w, r, missed);
	notification_send(l, &w, &out);
}

static void calls_send(void *u)
{
	struct mp_control_listen *l = u;
	const struct mp_call_record *r;
	uint64_t missed;

	while (!listen_is_held(l) &&
	       (r = mp_call_log_read(&l->peer->hub->calls, &l->next_call, &missed)))
		call_send(l, r, missed);
}

int mp_control_listen_calls(struct mp_control_listen *l, const struct mp_tape *t, mp_value params,
			    struct mp_buf *out, struct mcpool_error *reterr)
{
	struct mp_call_log *calls = &l->peer->hub->calls;
	int r = read_since(t, params, calls->last, "a call", &l->next_call, reterr);

	if (r < 0)
		return r;
	if (!l->has_calls)
		mp_call_listener_join(calls, &l->calls, calls_send, l);
	l->has_calls = true;
	return last_write(out, calls->last);
}

/* --- notifications --------------------------------------------------------------------------- */

static void said_send_one(struct mp_control_listen *l, const struct mp_notification *one,
			  uint64_t missed)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_KIB(64));
	notification_begin(&w, &out, MP_STR("mcpool/notifications/record"));
	mp_notification_write(&w, one, missed);
	notification_send(l, &w, &out);
}

static void said_send(void *u)
{
	struct mp_control_listen *l = u;
	const struct mp_notification *one;
	uint64_t missed;

	while (!listen_is_held(l) &&
	       (one = mp_notifications_read(&l->peer->hub->said, &l->next_said, &missed)))
		said_send_one(l, one, missed);
}

int mp_control_listen_notifications(struct mp_control_listen *l, const struct mp_tape *t,
				    mp_value params, struct mp_buf *out,
				    struct mcpool_error *reterr)
{
	struct mp_notifications *said = &l->peer->hub->said;
	int r = read_since(t, params, said->last, "a notification", &l->next_said, reterr);

	if (r < 0)
		return r;
	if (!l->has_said)
		mp_notification_listener_join(said, &l->said, said_send, l);
	l->has_said = true;
	return last_write(out, said->last);
}

void mp_control_listen_tell(struct mp_control_listen *l)
{
	if (l->has_events)
		events_send(l);
	if (l->has_calls)
		calls_send(l);
	if (l->has_said)
		said_send(l);
}

void mp_control_listen_resume(struct mp_control_listen *l)
{
	if (!l->is_held)
		return;
	l->is_held = false;
	mp_control_listen_tell(l);
}
