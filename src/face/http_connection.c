/*
 * http_connection.c - one accepted connection: requests come, answers go, in order.
 * A request is handed to its handler when it is whole; while that one works, what comes behind is
 * kept, up to a limit, and looked at when the answer is complete. A client that hangs up meanwhile
 * is gone: whoever half-closes does not wait for answers.
 */
#include "face/http_connection.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "face/http_held.h"

/* Behind a request that is served so much is kept; then the client has to wait. */
#define MAX_REST MP_KIB(64)
/* A body that is not wanted is read up to this size, so that the connection can be used on. */
#define MAX_DISCARDED MP_KIB(64)
/* With so many bytes unsent the next request waits: a client that does not read asks for no more.
 */
#define MAX_UNSENT MP_KIB(64)

enum state {
#define X(name, word, meaning) name,
	MP_HTTP_CONNECTION_STATES(X)
#undef X
		STATES
};
enum event {
#define X(name, meaning) name,
	MP_HTTP_CONNECTION_EVENTS(X)
#undef X
		EVENTS,
	QUIET
};

static const char *const state_names[] = {
#define X(name, word, meaning) word,
	MP_HTTP_CONNECTION_STATES(X)
#undef X
};

typedef enum event (*action)(struct mp_http_connection *c);
static enum event serve(struct mp_http_connection *c);
static enum event welcome_body(struct mp_http_connection *c);
static enum event go_on(struct mp_http_connection *c);
static enum event part(struct mp_http_connection *c);
static enum event part_if_flushed(struct mp_http_connection *c);
static enum event hang_up(struct mp_http_connection *c);
static enum event abandon(struct mp_http_connection *c);
static enum event say_late(struct mp_http_connection *c);
static enum event check_body(struct mp_http_connection *c);
static enum event look_again(struct mp_http_connection *c);
static enum event tell_quiet(struct mp_http_connection *c);

enum { NOWHERE, TO, STAY };
struct step {
	int how;
	enum state to;
	action act;
};

static const struct step steps[STATES][EVENTS] = {
	[IDLE] = {[BEGUN] = {TO, HEAD, NULL},
		  [ENDED] = {TO, LEAVING, part},
		  [FLUSHED] = {STAY, 0, go_on},
		  [LATE] = {STAY, 0, look_again},
		  [BROKEN] = {TO, GONE, hang_up},
		  [DROP] = {TO, GONE, hang_up}},
	[HEAD] = {[HEADED] = {TO, BODY, welcome_body},
		  [WHOLE] = {TO, SERVED, serve},
		  [SAID] = {TO, LEAVING, part},
		  [ENDED] = {TO, LEAVING, part},
		  [FLUSHED] = {STAY, 0, NULL},
		  [LATE] = {STAY, 0, say_late},
		  [BROKEN] = {TO, GONE, hang_up},
		  [DROP] = {TO, GONE, hang_up}},
	[BODY] = {[WHOLE] = {TO, SERVED, serve},
		  [SAID] = {TO, LEAVING, part},
		  [ENDED] = {TO, GONE, hang_up},
		  [FLUSHED] = {STAY, 0, NULL},
		  [LATE] = {STAY, 0, check_body},
		  [BROKEN] = {TO, GONE, hang_up},
		  [DROP] = {TO, GONE, hang_up}},
	[SERVED] = {[ANSWERED] = {TO, IDLE, go_on},
		    [SAID] = {TO, LEAVING, part},
		    [UPGRADED] = {TO, TUNNEL, go_on},
		    [ENDED] = {TO, GONE, abandon},
		    [FLUSHED] = {STAY, 0, NULL},
		    [LATE] = {STAY, 0, tell_quiet},
		    [BROKEN] = {TO, GONE, abandon},
		    [DROP] = {TO, GONE, abandon}},
	[TUNNEL] = {[SAID] = {TO, LEAVING, part},
		    [ENDED] = {TO, GONE, abandon},
		    [FLUSHED] = {STAY, 0, NULL},
		    [LATE] = {STAY, 0, tell_quiet},
		    [BROKEN] = {TO, GONE, abandon},
		    [DROP] = {TO, GONE, abandon}},
	[LEAVING] = {[ENDED] = {STAY, 0, part_if_flushed},
		     [FLUSHED] = {STAY, 0, part},
		     [LATE] = {STAY, 0, look_again},
		     [BROKEN] = {TO, GONE, hang_up},
		     [DROP] = {TO, GONE, hang_up}},
	[GONE] = {[ENDED] = {STAY, 0, NULL},
		  [FLUSHED] = {STAY, 0, NULL},
		  [LATE] = {STAY, 0, NULL},
		  [BROKEN] = {STAY, 0, NULL},
		  [DROP] = {STAY, 0, NULL}},
};

bool mp_http_connection_has_step(enum mp_http_connection_state state,
				 enum mp_http_connection_event ev)
{
	return steps[state][ev].how != NOWHERE;
}

/* --- deadlines ------------------------------------------------------------------------------ */

/* A last answer that is still being taken has as long as any; a goodbye has not. */
static enum mp_http_watch get_watch(const struct mp_http_connection *c)
{
	switch ((enum state)c->state) {
	case IDLE:
		return MP_WATCH_IDLE;
	case HEAD:
		return MP_WATCH_HEAD;
	case BODY:
		return MP_WATCH_BODY;
	case SERVED:
	case TUNNEL:
		return MP_WATCH_QUIET;
	case LEAVING:
		return mp_wire_get_waiting(c->wire) ? MP_WATCH_QUIET : MP_WATCH_LEAVE;
	default:
		return MP_WATCH_NONE;
	}
}

/* The state may have changed several times; what counts is where it is now. */
static void rewatch(struct mp_http_connection *c)
{
	enum mp_http_watch kind = get_watch(c);

	if (kind != c->watch_kind)
		mp_http_service_watch(c, kind);
}

static void advance(struct mp_http_connection *c, enum event ev)
{
	while (ev != QUIET) {
		const struct step *s = &steps[c->state][ev];

		mp_check(s->how != NOWHERE);
		if (s->how == TO) {
			mp_log_trace(NULL, "http: %s -> %s", state_names[c->state],
				     state_names[s->to]);
			c->state = (enum mp_http_connection_state)s->to;
		}
		ev = s->act ? s->act(c) : QUIET;
	}
	if (!c->driving)
		rewatch(c);
}

void mp_http_connection_advance(struct mp_http_connection *c, enum mp_http_connection_event ev)
{
	advance(c, (enum event)ev);
}

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
		.is_head = mp_inbound_get_verb(c->in) == MP_VERB_HEAD,
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
	static const struct mp_refusal why = {413, "nothing here takes a body of this size", NULL};

	if (mp_inbound_get_length(c->in) > MAX_DISCARDED) {
		c->x.keeps_alive = false;
		mp_exchange_refuse(&c->x, &why);
	} else {
		mp_inbound_discard(c->in);
	}
}

static void judge(struct mp_http_connection *c)
{
	bool is_admitted;

	begin_exchange(c);
	c->service->hooks->judge(c->service->u, &c->x);
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

static void complain(struct mp_http_connection *c)
{
	struct mp_inbound_fault fault = mp_inbound_get_fault(c->in);

	begin_exchange(c);
	c->x.keeps_alive = false;
	c->x.is_head = false;
	mp_exchange_refuse(&c->x, &(struct mp_refusal){fault.status, fault.words, NULL});
}

static enum event serve(struct mp_http_connection *c)
{
	c->serving = true;
	if (c->x.refusal.status)
		mp_exchange_refuse(&c->x, &c->x.refusal);
	else
		c->service->hooks->serve(c->service->u, &c->x);
	c->serving = false;
	give_back_inbound(c);
	return QUIET;
}

static enum event welcome_body(struct mp_http_connection *c)
{
	static const struct mp_str line = MP_STR("HTTP/1.1 100 Continue\r\n\r\n");

	c->body_before = 0;
	if (mp_inbound_wants_continue(c->in) && !mp_http_connection_write(c, &line, 1))
		return DROP;
	return QUIET;
}

/* One piece of a request; *bytes is what is left. */
static void read_piece(struct mp_http_connection *c, struct mp_str *bytes)
{
	enum mp_inbound_news news;
	size_t used;

	if (c->state == (enum mp_http_connection_state)IDLE) {
		c->in = mp_http_service_take_inbound(c->service);
		advance(c, BEGUN);
	}
	news = mp_inbound_feed(c->in, *bytes, &used);
	*bytes = (struct mp_str){bytes->p + used, bytes->len - used};
	if (news == MP_INBOUND_BAD) {
		complain(c);
	} else if (news == MP_INBOUND_WHOLE) {
		advance(c, WHOLE);
	} else if (news == MP_INBOUND_HEAD) {
		judge(c);
		if (c->state != (enum mp_http_connection_state)HEAD)
			return;
		if (mp_inbound_get_length(c->in))
			advance(c, HEADED);
		else if (!bytes->len) /* it is whole, which nothing but this would tell */
			read_piece(c, bytes);
	}
}

static bool is_reading(const struct mp_http_connection *c)
{
	return c->state <= (enum mp_http_connection_state)BODY;
}

/* Too much is unsent for another request. */
static bool has_to_wait(const struct mp_http_connection *c)
{
	return c->state == (enum mp_http_connection_state)IDLE &&
	       mp_wire_get_waiting(c->wire) > MAX_UNSENT;
}

/* What cannot be looked at yet. */
static void keep_rest(struct mp_http_connection *c, struct mp_str bytes)
{
	bool waits = c->state == (enum mp_http_connection_state)IDLE;

	if ((c->state != (enum mp_http_connection_state)SERVED && !waits) || !bytes.len)
		return;
	if (mp_buf_add_str(&c->rest, bytes) < 0) {
		advance(c, DROP);
		return;
	}
	if (c->rest.len >= MAX_REST || waits)
		mp_wire_read_on(c->wire, false);
}

static void drive(struct mp_http_connection *c, struct mp_str bytes)
{
	c->driving = true;
	while (bytes.len && is_reading(c) && !has_to_wait(c))
		read_piece(c, &bytes);
	if (bytes.len && c->state == (enum mp_http_connection_state)TUNNEL && !c->rest.len) {
		c->x.hooks->bytes(c->x.u, bytes);
		bytes.len = 0;
	}
	c->driving = false;
	keep_rest(c, bytes);
	rewatch(c);
	if (c->wire && (c->held || c->state == (enum mp_http_connection_state)BODY))
		mp_http_held_note(c);
}

/* A client that goes on with a refused body hears the answer, and costs no more time (attack-S1).
 */
static void ignore(struct mp_http_connection *c, size_t n)
{
	c->ignored += n;
	if (c->ignored > MAX_DISCARDED)
		mp_wire_read_on(c->wire, false);
}

/* --- what happens on the wire ---------------------------------------------------------------- */

static void wire_bytes(void *u, struct mp_str bytes)
{
	struct mp_http_connection *c = u;

	if (c->rest.len && c->state < (enum mp_http_connection_state)LEAVING) {
		if (mp_buf_add_str(&c->rest, bytes) < 0)
			advance(c, DROP);
		else if (c->rest.len >= MAX_REST)
			mp_wire_read_on(c->wire, false);
		return;
	}
	if (c->state == (enum mp_http_connection_state)LEAVING)
		ignore(c, bytes.len);
	else
		drive(c, bytes);
}

static void wire_taken(void *u)
{
	struct mp_http_connection *c = u;

	mp_http_held_note(c);
	if (!mp_wire_get_waiting(c->wire))
		advance(c, FLUSHED);
}

static void wire_ended(void *u)
{
	struct mp_http_connection *c = u;

	c->ended = true;
	advance(c, ENDED);
}

static void wire_broken(void *u)
{
	advance(u, BROKEN);
}

static const struct mp_wire_hooks wire_hooks = {wire_bytes, wire_taken, wire_ended, wire_broken};

static void post(struct mp_http_connection *c)
{
	if (!mp_list_linked(&c->go_on.link))
		mp_loop_post(c->service->loop, &c->go_on);
}

void mp_http_connection_lose(struct mp_http_connection *c)
{
	c->lost = true;
	if (c->state != (enum mp_http_connection_state)GONE)
		post(c);
}

bool mp_http_connection_write(struct mp_http_connection *c, const struct mp_str *pieces, size_t n)
{
	if (!c->wire || c->lost)
		return false;
	if (mp_wire_write(c->wire, pieces, n) == 0) {
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
static enum event go_on(struct mp_http_connection *c)
{
	if (c->state == (enum mp_http_connection_state)IDLE)
		c->x.hooks = NULL;
	if (c->rest.len)
		post(c);
	if (c->service->draining && c->state == (enum mp_http_connection_state)IDLE)
		return ENDED;
	return QUIET;
}

static void go_on_now(void *u)
{
	struct mp_http_connection *c = u;
	MP_CLEANUP(mp_buf_done) struct mp_buf rest = c->rest;

	mp_buf_init(&c->rest, SIZE_MAX / 2);
	if (c->lost) {
		advance(c, BROKEN);
		return;
	}
	if (c->state >= (enum mp_http_connection_state)LEAVING)
		return;
	mp_wire_read_on(c->wire, true);
	drive(c, mp_buf_get(&rest));
}

/* The last answer is out, or about to be: the client sees the end, and has a moment to go. */
static enum event part(struct mp_http_connection *c)
{
	c->x.hooks = NULL;
	mp_buf_clear(&c->rest);
	if (!c->wire)
		return DROP;
	mp_wire_read_on(c->wire, true);
	if (mp_wire_get_waiting(c->wire))
		return QUIET;
	mp_wire_shut(c->wire);
	return c->ended || c->lost ? DROP : QUIET;
}

static enum event part_if_flushed(struct mp_http_connection *c)
{
	return mp_wire_get_waiting(c->wire) ? QUIET : DROP;
}

static void bury(struct mp_grave *grave)
{
	struct mp_http_connection *c = mp_container_of(grave, struct mp_http_connection, grave);

	mp_inbound_free(c->in);
	mp_buf_done(&c->rest);
	mp_free(c);
}

static enum event hang_up(struct mp_http_connection *c)
{
	struct mp_http_service *s = c->service;

	mp_http_service_watch(c, MP_WATCH_NONE);
	mp_http_service_note_admission(c, true); /* so that it is not in the list */
	mp_http_held_forget(c);
	c->wire = mp_wire_close(c->wire);
	mp_loop_unpost(s->loop, &c->go_on);
	mp_list_remove(&s->connections, &c->link);
	if (!c->serving)
		give_back_inbound(c);
	mp_loop_bury(s->loop, &c->grave, bury);
	if (s->draining && !s->connections.len && s->empty)
		s->empty(s->u);
	return QUIET;
}

static enum event abandon(struct mp_http_connection *c)
{
	const struct mp_exchange_hooks *hooks = MP_TAKE(c->x.hooks);

	if (hooks)
		hooks->gone(c->x.u);
	return hang_up(c);
}

static enum event say_late(struct mp_http_connection *c)
{
	begin_exchange(c);
	c->x.keeps_alive = false;
	mp_exchange_refuse(&c->x, &(struct mp_refusal){408, "the request took too long", NULL});
	return QUIET;
}

/* It may take long, if it is long: each piece does not extend the time (attack-S8). */
static enum event check_body(struct mp_http_connection *c)
{
	uint64_t received = mp_inbound_get_received(c->in);
	bool is_too_slow =
		received - c->body_before < MP_LIMIT_HTTP_RATE * (MP_HTTP_BODY_MS / 1000);

	c->body_before = received;
	return is_too_slow ? say_late(c) : QUIET;
}

/* Between two requests, or after the last: http_held.c watches what is still on its way. */
static enum event look_again(struct mp_http_connection *c)
{
	return mp_wire_get_waiting(c->wire) ? QUIET : DROP;
}

static enum event tell_quiet(struct mp_http_connection *c)
{
	if (!mp_wire_get_waiting(c->wire) && c->x.hooks && c->x.hooks->quiet)
		c->x.hooks->quiet(c->x.u);
	return QUIET;
}

/* --- life ----------------------------------------------------------------------------------- */

void mp_http_connection_open(struct mp_http_service *s, struct mp_wire *wire)
{
	struct mp_http_connection *c = mp_alloc(sizeof(*c));

	c->service = s;
	c->wire = wire;
	c->watch_kind = MP_WATCH_NONE;
	mp_buf_init(&c->rest, SIZE_MAX / 2);
	mp_task_init(&c->go_on, go_on_now, c);
	mp_list_append(&s->connections, &c->link);
	mp_list_append(&s->unadmitted, &c->unadmitted);
	mp_wire_set_hooks(wire, &wire_hooks, c);
	mp_http_service_watch(c, MP_WATCH_HEAD); /* whoever comes has something to say */
}
