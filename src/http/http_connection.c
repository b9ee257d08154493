/*
 * http_connection.c - one accepted connection: requests and answers, in order.
 * A complete request is passed to its handler. Bytes that follow are kept, up to a limit, until the
 * answer is complete. A client that closes or half-closes meanwhile is gone.
 */
#include "http/http_service.h"

#include "base/limits.h"
#include "base/mem.h"

/* Behind a request that is served so much is kept; then the client has to wait. */
#define MAX_REST MP_KIB(64)
/* A body that is not wanted is read up to this size, so that the connection can be used on. */
#define MAX_DISCARDED MP_KIB(64)
/* With so many bytes unsent the next request waits: a client that does not read asks for no more.
 */
#define MAX_UNSENT MP_KIB(64)

MP_MACHINE_TYPES(http_connection, struct mp_http_connection, enum mp_http_connection_event,
		 MP_HTTP_CONNECTION_STATES, MP_HTTP_CONNECTION_EVENTS);
static http_connection_action http_connection_serve, welcome_body, stop_reading, judge_again, go_on,
	http_connection_part, part_if_flushed, hang_up, http_connection_abandon, say_late,
	check_body, look_again, tell_quiet;

#define AT(state)      [MP_HTTP_CONNECTION_##state]
#define TO(state, act) MP_TO(MP_HTTP_CONNECTION_##state, act)
#define ON(event)      [MP_HTTP_CONNECTION_ON_##event]

MP_MACHINE_STEPS(http_connection) = {
	AT(IDLE) = {ON(BEGUN) = TO(HEAD, NULL), ON(ENDED) = TO(LEAVING, http_connection_part),
		    ON(FLUSHED) = MP_DO(go_on), ON(LATE) = MP_DO(look_again),
		    ON(BROKEN) = TO(GONE, hang_up), ON(DROP) = TO(GONE, hang_up)},
	AT(HEAD) = {ON(HEADED) = TO(BODY, welcome_body), ON(DEFERRED) = TO(WAITING, stop_reading),
		    ON(WHOLE) = TO(SERVED, http_connection_serve),
		    ON(SAID) = TO(LEAVING, http_connection_part),
		    ON(ENDED) = TO(LEAVING, http_connection_part), ON(FLUSHED) = MP_STAY,
		    ON(LATE) = MP_DO(say_late), ON(BROKEN) = TO(GONE, hang_up),
		    ON(DROP) = TO(GONE, hang_up)},
	AT(BODY) = {ON(WHOLE) = TO(SERVED, http_connection_serve),
		    ON(SAID) = TO(LEAVING, http_connection_part), ON(ENDED) = TO(GONE, hang_up),
		    ON(FLUSHED) = MP_STAY, ON(LATE) = MP_DO(check_body),
		    ON(BROKEN) = TO(GONE, hang_up), ON(DROP) = TO(GONE, hang_up)},
	AT(WAITING) = {ON(JUDGED) = TO(HEAD, judge_again),
		       ON(SAID) = TO(LEAVING, http_connection_part), ON(ENDED) = TO(GONE, hang_up),
		       ON(FLUSHED) = MP_STAY, ON(LATE) = MP_DO(say_late),
		       ON(BROKEN) = TO(GONE, hang_up), ON(DROP) = TO(GONE, hang_up)},
	AT(SERVED) = {ON(ANSWERED) = TO(IDLE, go_on), ON(SAID) = TO(LEAVING, http_connection_part),
		      ON(UPGRADED) = TO(TUNNEL, go_on),
		      ON(ENDED) = TO(GONE, http_connection_abandon), ON(FLUSHED) = MP_STAY,
		      ON(LATE) = MP_DO(tell_quiet), ON(BROKEN) = TO(GONE, http_connection_abandon),
		      ON(DROP) = TO(GONE, http_connection_abandon)},
	AT(TUNNEL) = {ON(SAID) = TO(LEAVING, http_connection_part),
		      ON(ENDED) = TO(GONE, http_connection_abandon), ON(FLUSHED) = MP_STAY,
		      ON(LATE) = MP_DO(tell_quiet), ON(BROKEN) = TO(GONE, http_connection_abandon),
		      ON(DROP) = TO(GONE, http_connection_abandon)},
	AT(LEAVING) = {ON(ENDED) = MP_DO(part_if_flushed),
		       ON(FLUSHED) = MP_DO(http_connection_part), ON(LATE) = MP_DO(look_again),
		       ON(BROKEN) = TO(GONE, hang_up), ON(DROP) = TO(GONE, hang_up)},
	AT(GONE) = {ON(ENDED) = MP_STAY, ON(FLUSHED) = MP_STAY, ON(LATE) = MP_STAY,
		    ON(BROKEN) = MP_STAY, ON(DROP) = MP_STAY},
};

/* --- deadlines ------------------------------------------------------------------------------ */

/* The client has the usual time to take the last answer; a connection without one has less. */
static enum mp_http_watch get_watch(const struct mp_http_connection *c)
{
	switch (c->state) {
	case MP_HTTP_CONNECTION_IDLE:
		return MP_WATCH_IDLE;
	case MP_HTTP_CONNECTION_HEAD:
	case MP_HTTP_CONNECTION_WAITING:
		return MP_WATCH_HEAD;
	case MP_HTTP_CONNECTION_BODY:
		return MP_WATCH_BODY;
	case MP_HTTP_CONNECTION_SERVED:
	case MP_HTTP_CONNECTION_TUNNEL:
		return MP_WATCH_QUIET;
	case MP_HTTP_CONNECTION_LEAVING:
		return mp_conn_get_waiting(c->conn) ? MP_WATCH_QUIET : MP_WATCH_LEAVE;
	default:
		return MP_WATCH_NONE;
	}
}

/* The state may have changed several times; what counts is where it is now. */
static void http_connection_rewatch(struct mp_http_connection *c)
{
	enum mp_http_watch kind = get_watch(c);

	if (kind != c->watch_kind)
		mp_http_service_watch(c, kind);
}

static void http_connection_settled(struct mp_http_connection *c,
				    enum mp_http_connection_state from)
{
	(void)from;
	if (!c->driving)
		http_connection_rewatch(c);
}

MP_SHARED_MACHINE(http_connection, struct mp_http_connection, .settled = http_connection_settled)

/* --- requests ------------------------------------------------------------------------------- */

static void give_back_inbound(struct mp_http_connection *c)
{
	c->x.in = NULL;
	mp_http_service_give_inbound(c->service, MP_TAKE(c->in));
}

static void begin_exchange(struct mp_http_connection *c)
{
	bool keeps = mp_inbound_keeps_alive(c->in) && !mp_inbound_is_old(c->in);

	c->x = (struct mp_exchange){
		.in = c->in,
		.is_head = mp_inbound_get_verb(c->in) == MP_HTTP_METHOD_HEAD,
		.is_old = mp_inbound_is_old(c->in),
		.keeps_alive = keeps && !c->service->draining,
	};
}

/* A body that is not wanted is read if it is small; else this is the end of the connection. */
static void refuse_at_head(struct mp_http_connection *c)
{
	if (!mp_inbound_wants_continue(c->in) && mp_inbound_get_length(c->in) <= MAX_DISCARDED) {
		mp_inbound_discard(c->in);
		return;
	}
	c->x.keeps_alive = false;
	mp_exchange_refuse(&c->x, &c->x.refusal);
}

/* Of a request without a token no body is kept: no handler of such a route reads it (attack-S1). */
static void refuse_body(struct mp_http_connection *c)
{
	static const struct mp_http_refusal why = {413, "nothing here takes a body of this size",
						   NULL};

	if (mp_inbound_get_length(c->in) > MAX_DISCARDED) {
		c->x.keeps_alive = false;
		mp_exchange_refuse(&c->x, &why);
	} else {
		mp_inbound_discard(c->in);
	}
}

static void http_connection_judge(struct mp_http_connection *c)
{
	bool is_admitted;

	begin_exchange(c);
	c->service->hooks->judge(c->service->u, &c->x);
	if (c->x.is_deferred) {
		mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_DEFERRED);
		return;
	}
	is_admitted = c->x.admission.principal != NULL;
	if (is_admitted || c->x.refusal.status)
		mp_http_service_note_admission(c, is_admitted);
	if (c->x.refusal.status) {
		refuse_at_head(c);
		return;
	}
	mp_check(c->x.admission.route);
	if (!is_admitted)
		refuse_body(c);
}

static void http_connection_complain(struct mp_http_connection *c)
{
	struct mp_inbound_fault fault = mp_inbound_get_fault(c->in);

	begin_exchange(c);
	c->x.keeps_alive = false;
	c->x.is_head = false;
	mp_exchange_refuse(&c->x, &(struct mp_http_refusal){fault.status, fault.words, NULL});
}

static enum mp_http_connection_event http_connection_serve(struct mp_http_connection *c)
{
	c->serving = true;
	if (c->x.refusal.status)
		mp_exchange_refuse(&c->x, &c->x.refusal);
	else
		c->service->hooks->serve(c->service->u, &c->x);
	c->serving = false;
	give_back_inbound(c);
	return MP_QUIET;
}

static enum mp_http_connection_event welcome_body(struct mp_http_connection *c)
{
	static const struct mp_str line = MP_STR("HTTP/1.1 100 Continue\r\n\r\n");

	c->body_before = 0;
	if (mp_inbound_wants_continue(c->in) && !mp_http_connection_write(c, &line, 1))
		return MP_HTTP_CONNECTION_ON_DROP;
	return MP_QUIET;
}

/* One piece of a request; *bytes is what is left. */
static void read_piece(struct mp_http_connection *c, struct mp_str *bytes)
{
	enum mp_inbound_news news;
	size_t used;

	if (c->state == MP_HTTP_CONNECTION_IDLE) {
		c->in = mp_http_service_take_inbound(c->service);
		mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_BEGUN);
	}
	news = mp_inbound_feed(c->in, *bytes, &used);
	*bytes = (struct mp_str){bytes->p + used, bytes->len - used};
	if (news == MP_INBOUND_BAD) {
		http_connection_complain(c);
	} else if (news == MP_INBOUND_WHOLE) {
		mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_WHOLE);
	} else if (news == MP_INBOUND_HEAD) {
		http_connection_judge(c);
		if (c->state != MP_HTTP_CONNECTION_HEAD)
			return;
		if (mp_inbound_get_length(c->in))
			mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_HEADED);
		else if (!bytes->len) /* it is whole, which nothing but this would tell */
			read_piece(c, bytes);
	}
}

static bool is_reading(const struct mp_http_connection *c)
{
	return c->state <= MP_HTTP_CONNECTION_BODY;
}

/* Too much is unsent for another request. */
static bool has_to_wait(const struct mp_http_connection *c)
{
	return c->state == MP_HTTP_CONNECTION_IDLE && mp_conn_get_waiting(c->conn) > MAX_UNSENT;
}

/* What cannot be looked at yet. */
static void keep_rest(struct mp_http_connection *c, struct mp_str bytes)
{
	bool waits = c->state == MP_HTTP_CONNECTION_IDLE || c->state == MP_HTTP_CONNECTION_WAITING;

	if ((c->state != MP_HTTP_CONNECTION_SERVED && !waits) || !bytes.len)
		return;
	if (mp_buf_add_str(&c->rest, bytes) < 0) {
		mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_DROP);
		return;
	}
	if (c->rest.len >= MAX_REST || waits)
		mp_conn_read_on(c->conn, false);
}

static void http_connection_drive(struct mp_http_connection *c, struct mp_str bytes)
{
	c->driving = true;
	while (bytes.len && is_reading(c) && !has_to_wait(c))
		read_piece(c, &bytes);
	if (bytes.len && c->state == MP_HTTP_CONNECTION_TUNNEL && !c->rest.len) {
		c->x.hooks->bytes(c->x.u, bytes);
		bytes.len = 0;
	}
	c->driving = false;
	keep_rest(c, bytes);
	http_connection_rewatch(c);
	if (c->conn && (c->held || c->state == MP_HTTP_CONNECTION_BODY))
		mp_http_held_note(c);
}

/* A client that goes on with a refused body hears the answer, and costs no more time (attack-S1).
 */
static void http_connection_ignore(struct mp_http_connection *c, size_t n)
{
	c->ignored += n;
	if (c->ignored > MAX_DISCARDED)
		mp_conn_read_on(c->conn, false);
}

/* --- what happens on the conn ---------------------------------------------------------------- */

static void conn_bytes(void *u, struct mp_str bytes)
{
	struct mp_http_connection *c = u;

	if (c->rest.len && c->state < MP_HTTP_CONNECTION_LEAVING) {
		if (mp_buf_add_str(&c->rest, bytes) < 0)
			mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_DROP);
		else if (c->rest.len >= MAX_REST)
			mp_conn_read_on(c->conn, false);
		return;
	}
	if (c->state == MP_HTTP_CONNECTION_LEAVING)
		http_connection_ignore(c, bytes.len);
	else
		http_connection_drive(c, bytes);
}

static void conn_taken(void *u)
{
	struct mp_http_connection *c = u;

	bool is_tunnel = c->state == MP_HTTP_CONNECTION_TUNNEL;

	mp_http_held_note(c);
	if (mp_conn_get_waiting(c->conn))
		return;
	mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_FLUSHED);
	if (is_tunnel && c->state == MP_HTTP_CONNECTION_TUNNEL && c->x.hooks->taken)
		c->x.hooks->taken(c->x.u);
}

static void conn_ended(void *u)
{
	struct mp_http_connection *c = u;

	c->ended = true;
	mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_ENDED);
}

static void conn_broken(void *u)
{
	mp_http_connection_advance(u, MP_HTTP_CONNECTION_ON_BROKEN);
}

static const struct mp_conn_hooks conn_hooks = {conn_bytes, conn_taken, conn_ended, conn_broken};

static void http_connection_post(struct mp_http_connection *c)
{
	if (!mp_list_linked(&c->go_on.link))
		mp_loop_post(c->service->loop, &c->go_on);
}

void mp_http_connection_lose(struct mp_http_connection *c)
{
	c->lost = true;
	if (c->state != MP_HTTP_CONNECTION_GONE)
		http_connection_post(c);
}

bool mp_http_connection_write(struct mp_http_connection *c, const struct mp_str *pieces, size_t n)
{
	if (!c->conn || c->lost)
		return false;
	if (mp_conn_write(c->conn, pieces, n) == 0) {
		mp_http_held_note(c);
		if (c->watch_kind == MP_WATCH_QUIET)
			mp_http_service_watch(c, MP_WATCH_QUIET);
		return true;
	}
	mp_http_connection_lose(c);
	return false;
}

/* --- actions -------------------------------------------------------------------------------- */

/* After an answer, or for a tunnel: with what came meanwhile, but not on the answerer's stack. */
static enum mp_http_connection_event go_on(struct mp_http_connection *c)
{
	if (c->state == MP_HTTP_CONNECTION_IDLE)
		c->x.hooks = NULL;
	if (c->rest.len)
		http_connection_post(c);
	if (c->service->draining && c->state == MP_HTTP_CONNECTION_IDLE)
		return MP_HTTP_CONNECTION_ON_ENDED;
	return MP_QUIET;
}

static void go_on_now(void *u)
{
	struct mp_http_connection *c = u;
	MP_CLEANUP(mp_buf_done) struct mp_buf rest = c->rest;

	mp_buf_init(&c->rest, SIZE_MAX / 2);
	if (c->lost) {
		mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_BROKEN);
		return;
	}
	if (c->state >= MP_HTTP_CONNECTION_LEAVING)
		return;
	mp_conn_read_on(c->conn, true);
	http_connection_drive(c, mp_buf_get(&rest));
}

/* Of a request whose token is not known to be valid, no more is kept than came with its head. */
static enum mp_http_connection_event stop_reading(struct mp_http_connection *c)
{
	mp_conn_read_on(c->conn, false);
	return MP_QUIET;
}

/* As after the head came, with what came behind it. */
static enum mp_http_connection_event judge_again(struct mp_http_connection *c)
{
	struct mp_str none = MP_STR("");

	mp_conn_read_on(c->conn, true);
	http_connection_judge(c);
	if (c->state == MP_HTTP_CONNECTION_HEAD && mp_inbound_get_length(c->in))
		mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_HEADED);
	else if (c->state == MP_HTTP_CONNECTION_HEAD && !c->rest.len)
		read_piece(c, &none);
	if (c->rest.len && is_reading(c))
		http_connection_post(c);
	return MP_QUIET;
}

void mp_http_service_judge_again(struct mp_http_service *s)
{
	MP_LIST_WALK(&s->connections, link) {
		struct mp_http_connection *c =
			mp_container_of(link, struct mp_http_connection, link);

		if (c->state == MP_HTTP_CONNECTION_WAITING)
			mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_JUDGED);
	}
}

/* The last answer is written: shut down our side and give the client a moment to close. */
static enum mp_http_connection_event http_connection_part(struct mp_http_connection *c)
{
	c->x.hooks = NULL;
	mp_buf_clear(&c->rest);
	if (!c->conn)
		return MP_HTTP_CONNECTION_ON_DROP;
	mp_conn_read_on(c->conn, true);
	if (mp_conn_get_waiting(c->conn))
		return MP_QUIET;
	mp_conn_shut(c->conn);
	return c->ended || c->lost ? MP_HTTP_CONNECTION_ON_DROP : MP_QUIET;
}

static enum mp_http_connection_event part_if_flushed(struct mp_http_connection *c)
{
	return mp_conn_get_waiting(c->conn) ? MP_QUIET : MP_HTTP_CONNECTION_ON_DROP;
}

static void http_connection_bury(struct mp_grave *grave)
{
	struct mp_http_connection *c = mp_container_of(grave, struct mp_http_connection, grave);

	mp_inbound_free(c->in);
	mp_buf_done(&c->rest);
	mp_free(c);
}

static enum mp_http_connection_event hang_up(struct mp_http_connection *c)
{
	struct mp_http_service *s = c->service;

	mp_http_service_watch(c, MP_WATCH_NONE);
	mp_http_service_note_admission(c, true); /* so that it is not in the list */
	mp_http_held_forget(c);
	c->conn = mp_conn_close(c->conn);
	mp_loop_unpost(s->loop, &c->go_on);
	mp_list_remove(&s->connections, &c->link);
	if (!c->serving)
		give_back_inbound(c);
	mp_loop_bury(s->loop, &c->grave, http_connection_bury);
	if (s->draining && !s->connections.len && s->empty)
		s->empty(s->u);
	return MP_QUIET;
}

static enum mp_http_connection_event http_connection_abandon(struct mp_http_connection *c)
{
	const struct mp_exchange_hooks *hooks = MP_TAKE(c->x.hooks);

	if (hooks)
		hooks->gone(c->x.u);
	return hang_up(c);
}

static enum mp_http_connection_event say_late(struct mp_http_connection *c)
{
	begin_exchange(c);
	c->x.keeps_alive = false;
	mp_exchange_refuse(&c->x,
			   &(struct mp_http_refusal){408, "the request took too long", NULL});
	return MP_QUIET;
}

/* It may take long, if it is long: each piece does not extend the time (attack-S8). */
static enum mp_http_connection_event check_body(struct mp_http_connection *c)
{
	uint64_t received = mp_inbound_get_received(c->in);
	bool is_too_slow =
		received - c->body_before < MP_LIMIT_HTTP_RATE * (MP_HTTP_BODY_MS / 1000);

	c->body_before = received;
	return is_too_slow ? say_late(c) : MP_QUIET;
}

/* Between two requests, or after the last: http_held.c watches what is still on its way. */
static enum mp_http_connection_event look_again(struct mp_http_connection *c)
{
	return mp_conn_get_waiting(c->conn) ? MP_QUIET : MP_HTTP_CONNECTION_ON_DROP;
}

static enum mp_http_connection_event tell_quiet(struct mp_http_connection *c)
{
	if (!mp_conn_get_waiting(c->conn) && c->x.hooks && c->x.hooks->quiet)
		c->x.hooks->quiet(c->x.u);
	return MP_QUIET;
}

/* --- life ----------------------------------------------------------------------------------- */

void mp_http_connection_open(struct mp_http_service *s, struct mp_conn *conn)
{
	struct mp_http_connection *c = mp_alloc(sizeof(*c));

	c->service = s;
	c->conn = conn;
	c->watch_kind = MP_WATCH_NONE;
	mp_buf_init(&c->rest, SIZE_MAX / 2);
	mp_task_init(&c->go_on, go_on_now, c);
	mp_list_append(&s->connections, &c->link);
	mp_list_append(&s->unadmitted, &c->unadmitted);
	mp_conn_set_hooks(conn, &conn_hooks, c);
	mp_http_service_watch(c, MP_WATCH_HEAD); /* a new client sends at once */
}
