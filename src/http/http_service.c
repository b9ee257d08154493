/*
 * http_service.c - what all HTTP connections of a face share: their deadlines, spare requests, and
 * how many there may be.
 * Each kind of deadline has one duration, so a list in order of arrival is in order of time, and
 * one timer serves all.
 */
#include "http/http_service.h"

#include <sys/resource.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

static const struct mp_log http_log = {"http"};

enum { SPARE_INBOUNDS = 64, TICK_MS = 250 };
#define WARN_AGAIN_MS MP_SECONDS(60)

/* --- deadlines ------------------------------------------------------------------------------ */

static const int64_t durations[MP_WATCHES] = {
	[MP_WATCH_HEAD] = MP_HTTP_HEAD_MS,   [MP_WATCH_BODY] = MP_HTTP_BODY_MS,
	[MP_WATCH_IDLE] = MP_HTTP_IDLE_MS,   [MP_WATCH_QUIET] = MP_HTTP_QUIET_MS,
	[MP_WATCH_LEAVE] = MP_HTTP_LEAVE_MS,
};

static void unwatch(struct mp_http_connection *c)
{
	if (c->watch_kind != MP_WATCH_NONE)
		mp_list_remove(&c->service->watched[c->watch_kind], &c->watch);
	c->watch_kind = MP_WATCH_NONE;
}

/* One timer for all, not more often than it has to and a little late. */
void mp_http_service_arm(struct mp_http_service *s, int64_t due_ms)
{
	int64_t left = due_ms - mp_loop_now_ms(s->loop);

	if (mp_timer_is_running(&s->tick) && s->tick.due_ms <= due_ms + TICK_MS)
		return;
	mp_timer_start(&s->tick, (left > 0 ? left : 0) + TICK_MS);
}

void mp_http_service_watch(struct mp_http_connection *c, enum mp_http_watch kind)
{
	unwatch(c);
	if (kind == MP_WATCH_NONE)
		return;
	c->watch_kind = kind;
	c->due_ms = mp_loop_now_ms(c->service->loop) + durations[kind];
	mp_list_append(&c->service->watched[kind], &c->watch);
	mp_http_service_arm(c->service, c->due_ms);
}

static void http_service_tick(void *u)
{
	struct mp_http_service *s = u;
	int64_t now = mp_loop_now_ms(s->loop), next = mp_http_held_check(s, now);

	for (size_t i = 0; i < MP_WATCHES; i++) {
		struct mp_link *first;

		while ((first = mp_list_first(&s->watched[i]))) {
			struct mp_http_connection *c =
				mp_container_of(first, struct mp_http_connection, watch);

			if (c->due_ms > now) {
				next = c->due_ms < next ? c->due_ms : next;
				break;
			}
			mp_http_service_watch(
				c, (enum mp_http_watch)i); /* from the front to the end */
			mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_LATE);
		}
	}
	if (next != INT64_MAX)
		mp_http_service_arm(s, next);
}

/* --- spare requests ------------------------------------------------------------------------- */

struct mp_inbound *mp_http_service_take_inbound(struct mp_http_service *s)
{
	struct mp_link *link = mp_list_pop(&s->spare);

	return link ? mp_inbound_of(link) : mp_inbound_new();
}

void mp_http_service_give_inbound(struct mp_http_service *s, struct mp_inbound *in)
{
	if (!in)
		return;
	if (s->spare.len >= SPARE_INBOUNDS) {
		mp_inbound_free(in);
		return;
	}
	mp_inbound_reset(in);
	mp_list_append(&s->spare, mp_inbound_get_link(in));
}

/* --- how many there may be ------------------------------------------------------------------ */

/* Descriptors are for agents and servers, too: no more than a quarter of them. */
static size_t get_max_unadmitted(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur / 4 >= MP_LIMIT_UNADMITTED)
		return MP_LIMIT_UNADMITTED;
	return files.rlim_cur / 4 ? files.rlim_cur / 4 : 1;
}

bool mp_http_service_may_warn(struct mp_http_service *s, int64_t *last_ms)
{
	int64_t now = mp_loop_now_ms(s->loop);

	if (*last_ms && now - *last_ms < WARN_AGAIN_MS)
		return false;
	*last_ms = now ? now : 1;
	return true;
}

static void http_service_warn(struct mp_http_service *s, const char *what)
{
	if (mp_http_service_may_warn(s, &s->warned_full_ms))
		mp_log_warn(&http_log, "%s: %zu connections, %zu of them without a token", what,
			    s->connections.len, s->unadmitted.len);
}

/* False: there is none that never showed the token. */
static bool drop_unadmitted(struct mp_http_service *s)
{
	struct mp_link *oldest = mp_list_first(&s->unadmitted);

	if (!oldest)
		return false;
	http_service_warn(s, "the oldest connections without a token are closed to make room");
	mp_http_connection_advance(mp_container_of(oldest, struct mp_http_connection, unadmitted),
				   MP_HTTP_CONNECTION_ON_DROP);
	return true;
}

static bool drop_idle(struct mp_http_service *s)
{
	struct mp_link *idle = mp_list_first(&s->watched[MP_WATCH_IDLE]);

	if (idle)
		mp_http_connection_advance(mp_container_of(idle, struct mp_http_connection, watch),
					   MP_HTTP_CONNECTION_ON_DROP);
	else
		http_service_warn(s, "a connection is refused, and all others are busy");
	return idle != NULL;
}

/* For one more. Clients without a token have a share of their own and go first (attack-S8). */
static bool make_room(struct mp_http_service *s)
{
	if (s->unadmitted.len >= s->max_unadmitted)
		(void)drop_unadmitted(s); /* there is one */
	return s->connections.len < MP_HTTP_CONNECTIONS || drop_unadmitted(s) || drop_idle(s);
}

void mp_http_service_note_admission(struct mp_http_connection *c, bool is_admitted)
{
	struct mp_list *list = &c->service->unadmitted;

	if (is_admitted && mp_list_linked(&c->unadmitted))
		mp_list_remove(list, &c->unadmitted);
	else if (!is_admitted && !mp_list_linked(&c->unadmitted))
		mp_list_append(list, &c->unadmitted);
}

/* --- life ----------------------------------------------------------------------------------- */

static void trim(void *u)
{
	((struct mp_http_service *)u)->held_most = 0;
	mp_mem_trim();
}

void mp_http_service_init(struct mp_http_service *s, struct mp_loop *loop,
			  const struct mp_http_hooks_of_service *hooks, void *u)
{
	*s = (struct mp_http_service){.loop = loop, .hooks = hooks, .u = u};
	mp_list_init(&s->connections);
	mp_list_init(&s->unadmitted);
	mp_list_init(&s->slow);
	s->max_unadmitted = get_max_unadmitted();
	mp_list_init(&s->spare);
	for (size_t i = 0; i < MP_WATCHES; i++)
		mp_list_init(&s->watched[i]);
	mp_timer_init(&s->tick, loop, http_service_tick, s);
	mp_timer_init(&s->trim, loop, trim, s);
	mp_buf_init(&s->scratch, MP_LIMIT_MESSAGE + MP_MIB(4));
}

void mp_http_service_done(struct mp_http_service *s)
{
	struct mp_link *link;

	s->empty = NULL;
	while ((link = mp_list_first(&s->connections)))
		mp_http_connection_advance(mp_container_of(link, struct mp_http_connection, link),
					   MP_HTTP_CONNECTION_ON_DROP);
	mp_timer_stop(&s->tick);
	mp_timer_stop(&s->trim);
	while ((link = mp_list_pop(&s->spare)))
		mp_inbound_free(mp_inbound_of(link));
	mp_buf_done(&s->scratch);
}

void mp_http_service_take(struct mp_http_service *s, struct mp_conn *conn)
{
	if (!s->draining && make_room(s))
		mp_http_connection_open(s, conn);
	else
		mp_conn_close(conn);
}

void mp_http_service_drain(struct mp_http_service *s, void (*empty)(void *u))
{
	s->draining = true;
	MP_LIST_WALK(&s->connections, link) {
		struct mp_http_connection *c =
			mp_container_of(link, struct mp_http_connection, link);

		c->x.keeps_alive = false;
		if (c->state == MP_HTTP_CONNECTION_IDLE)
			mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_ENDED);
	}
	s->empty = empty;
	if (!s->connections.len && empty)
		empty(s->u);
}
