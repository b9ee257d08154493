/*
 * http_held.c - bytes that the hub keeps for HTTP connections.
 * The rate is measured in windows: at the end of one the client has taken all that waited at its
 * beginning, or as much as the slowest permitted client. So progress extends the time, but a client
 * that takes a byte now and then does not keep megabytes for hours (attack-S11).
 */
#include "http/http_service.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

static const struct mp_log http_log = {"http"};

/* After this much was kept, free memory is returned to the system when almost nothing is. */
#define TRIM_ABOVE MP_MIB(16)
#define TRIM_BELOW MP_MIB(1)
enum { TRIM_MS = 1000 };

static void begin_window(struct mp_http_connection *c, size_t unsent)
{
	c->slow_due_ms = mp_loop_now_ms(c->service->loop) + MP_HTTP_TAKE_MS;
	c->slow_sent = mp_conn_get_sent(c->conn);
	c->slow_owed = unsent;
	mp_list_append(&c->service->slow, &c->slow);
}

static void end_window(struct mp_http_connection *c)
{
	if (mp_list_linked(&c->slow))
		mp_list_remove(&c->service->slow, &c->slow);
}

/* All bytes that count for this connection. */
static void http_held_count(struct mp_http_connection *c, size_t held)
{
	struct mp_http_service *s = c->service;

	s->held += held - c->held;
	c->held = held;
	if (s->held > s->held_most)
		s->held_most = s->held;
	if (s->held_most > TRIM_ABOVE && s->held < TRIM_BELOW && !mp_timer_is_running(&s->trim))
		mp_timer_start(&s->trim, TRIM_MS);
}

/* NULL: nothing is kept for any connection that is not lost already. */
static struct mp_http_connection *find_stalled(struct mp_http_service *s)
{
	struct mp_http_connection *found = NULL;

	MP_LIST_EACH(&s->connections, link) {
		struct mp_http_connection *c =
			mp_container_of(link, struct mp_http_connection, link);

		if (c->held && !c->lost && (!found || c->moved_ms < found->moved_ms))
			found = c;
	}
	return found;
}

/* A lost connection ends from the loop: its handler may be on the stack, or in a list above. */
static void make_room(struct mp_http_service *s)
{
	struct mp_http_connection *c;

	while (s->held > MP_LIMIT_HTTP_HELD && (c = find_stalled(s))) {
		if (mp_http_service_may_warn(s, &s->warned_held_ms))
			mp_log_warn(&http_log,
				    "more than %zu MiB are kept for all clients; those that "
				    "do not take their answers are dropped",
				    MP_LIMIT_HTTP_HELD >> 20);
		mp_http_connection_lose(c);
		http_held_count(c, 0);
	}
}

void mp_http_held_note(struct mp_http_connection *c)
{
	size_t unsent = mp_conn_get_waiting(c->conn);

	if (c->lost)
		return;
	c->moved_ms = mp_loop_now_ms(c->service->loop);
	if (!unsent)
		end_window(c);
	else if (!mp_list_linked(&c->slow))
		begin_window(c, unsent);
	if (mp_list_linked(&c->slow))
		mp_http_service_arm(c->service, c->slow_due_ms);
	http_held_count(c, unsent + (c->in ? mp_inbound_get_gathered(c->in) : 0));
	make_room(c->service);
}

void mp_http_held_forget(struct mp_http_connection *c)
{
	end_window(c);
	http_held_count(c, 0);
}

static bool is_too_slow(const struct mp_http_connection *c)
{
	uint64_t least = MP_LIMIT_HTTP_RATE * (MP_HTTP_TAKE_MS / 1000);

	if (least > c->slow_owed)
		least = c->slow_owed;
	return mp_conn_get_sent(c->conn) - c->slow_sent < least;
}

int64_t mp_http_held_check(struct mp_http_service *s, int64_t now_ms)
{
	struct mp_link *first;

	while ((first = mp_list_first(&s->slow))) {
		struct mp_http_connection *c =
			mp_container_of(first, struct mp_http_connection, slow);

		if (c->slow_due_ms > now_ms)
			return c->slow_due_ms;
		end_window(c);
		if (is_too_slow(c))
			mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_DROP);
		else
			begin_window(c, mp_conn_get_waiting(c->conn));
	}
	return INT64_MAX;
}
