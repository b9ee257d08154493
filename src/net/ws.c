/*
 * ws.c - a WebSocket client: connect, upgrade, text messages, close.
 * curl_socket.c moves the bytes, ws_upgrade.c upgrades, ws_frames.c has the frames; this file has
 * the states.
 */
#include "net/ws.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "base/redact.h"
#include "net/curl_options.h"
#include "net/curl_socket.h"
#include "net/ws_frames.h"
#include "net/ws_upgrade.h"

#define WS_STATES(X)                                                       \
	X(DIALING, "dialing", "there is no connection yet")                \
	X(ASKING, "asking", "the upgrade was asked for")                   \
	X(OPEN, "open", "messages may flow")                               \
	X(LEAVING, "leaving", "we sent a close frame and wait for theirs") \
	X(PARTING, "parting", "all is said, the other side is to hang up") \
	X(OVER, "over", "nothing is left but to say so")

#define WS_EVENTS(X)                                                     \
	X(CONNECTED, "connected", "there is a connection")               \
	X(ACCEPTED, "accepted", "the upgrade was answered as it should") \
	X(REFUSED, "refused", "it was answered otherwise")               \
	X(GOODBYE, "goodbye", "the other side leaves")                   \
	X(FAULT, "fault", "the other side broke the rules")              \
	X(BROKEN, "broken", "the connection is gone, or never came")     \
	X(CLOSE, "close", "we are to leave")                             \
	X(LATE, "late", "what was waited for did not come")

MP_MACHINE_ENUM(ws_state, WS_STATES);
MP_MACHINE_ENUM(ws_event, WS_EVENTS);

/* What may wait for a peer that does not read: one message of the largest size, and some. */
#define MAX_QUEUED (MP_LIMIT_MESSAGE + MP_MIB(1))
/* And room for pong and close frames. */
#define MAX_QUEUED_ALL (MAX_QUEUED + MP_KIB(64))
/* With more than this in the queue only the last ping is answered (RFC 6455, 5.5.3). */
#define PONG_AT MP_KIB(16)

struct mp_ws {
	struct mp_loop *loop;
	enum ws_state state;
	const struct mp_ws_hooks *hooks;
	void *u;
	struct mp_curl_socket *socket; /* owned; NULL: closed */
	struct mp_ws_upgrade upgrade;
	struct mp_buf request; /* until there is a connection to send it on */
	struct mp_ws_frames frames;
	struct mp_ws_event goodbye; /* theirs; its reason is valid while it is told */
	struct mp_timer limit;      /* for the upgrade, for silence, for a close frame */
	int64_t last_ms;            /* when the last byte came */
	bool owes_pong;
	char pong[MP_WS_CONTROL];
	size_t pong_len;
	bool asked; /* to close: `over` has no reason */
	struct mcpool_error why;
	struct mp_task over;
	struct mp_grave grave;
	char place[MP_HTTP_PLACE];
};

MP_MACHINE_TYPES(ws, struct mp_ws, enum ws_event, WS_STATES, WS_EVENTS);
static ws_action ws_ask, ws_welcome, return_goodbye, ws_complain, say_goodbye, ws_finish;

MP_MACHINE_STEPS(ws) = {
	[DIALING] = {[CONNECTED] = MP_TO(ASKING, ws_ask),
		     [BROKEN] = MP_TO(OVER, ws_finish),
		     [CLOSE] = MP_TO(OVER, ws_finish)},
	[ASKING] = {[ACCEPTED] = MP_TO(OPEN, ws_welcome),
		    [REFUSED] = MP_TO(OVER, ws_finish),
		    [BROKEN] = MP_TO(OVER, ws_finish),
		    [CLOSE] = MP_TO(OVER, ws_finish),
		    [LATE] = MP_TO(OVER, ws_finish)},
	[OPEN] = {[GOODBYE] = MP_TO(PARTING, return_goodbye),
		  [FAULT] = MP_TO(PARTING, ws_complain),
		  [BROKEN] = MP_TO(OVER, ws_finish),
		  [CLOSE] = MP_TO(LEAVING, say_goodbye),
		  [LATE] = MP_TO(OVER, ws_finish)},
	[LEAVING] = {[GOODBYE] = MP_TO(OVER, ws_finish),
		     [FAULT] = MP_TO(OVER, ws_finish),
		     [BROKEN] = MP_TO(OVER, ws_finish),
		     [CLOSE] = MP_STAY,
		     [LATE] = MP_TO(OVER, ws_finish)},
	[PARTING] = {[BROKEN] = MP_TO(OVER, ws_finish),
		     [CLOSE] = MP_STAY,
		     [LATE] = MP_TO(OVER, ws_finish)},
	[OVER] = {[CLOSE] = MP_STAY},
};

static void ws_describe(const struct mp_ws *ws, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "ws %s", ws->place);
}

MP_MACHINE(ws, struct mp_ws, .describe = ws_describe)

/* --- saying --------------------------------------------------------------------------------- */

/* Without memory for it, closing the connection must do. */
static void ws_say(struct mp_ws *ws, enum mp_ws_kind kind, struct mp_str payload)
{
	if (mp_ws_frames_write(&ws->frames, kind, payload, mp_curl_socket_get_out(ws->socket)) == 0)
		mp_curl_socket_push(ws->socket);
}

static void say_close(struct mp_ws *ws, int code)
{
	if (mp_ws_frames_write_close(&ws->frames, code, mp_curl_socket_get_out(ws->socket)) == 0)
		mp_curl_socket_push(ws->socket);
	mp_timer_start(&ws->limit, MP_WS_CLOSE_MS);
}

static enum ws_event ws_ask(struct mp_ws *ws)
{
	mp_timer_start(&ws->limit, MP_WS_UPGRADE_MS);
	if (mp_buf_add_str(mp_curl_socket_get_out(ws->socket), mp_buf_get(&ws->request)) < 0) {
		mp_fail(&ws->why, MCPOOL_ENOMEM, "no memory for a request to %s", ws->place);
		return REFUSED;
	}
	mp_buf_done(&ws->request);
	return MP_QUIET;
}

static enum ws_event ws_welcome(struct mp_ws *ws)
{
	mp_ws_upgrade_done(&ws->upgrade);
	mp_ws_upgrade_init(&ws->upgrade);
	mp_timer_start(&ws->limit, MP_WS_PING_MS);
	ws->hooks->opened(ws->u);
	return MP_QUIET;
}

static enum ws_event return_goodbye(struct mp_ws *ws)
{
	say_close(ws, ws->goodbye.code);
	return MP_QUIET;
}

static enum ws_event ws_complain(struct mp_ws *ws)
{
	say_close(ws, (int)ws->frames.fault.code);
	return MP_QUIET;
}

static enum ws_event say_goodbye(struct mp_ws *ws)
{
	say_close(ws, MP_WS_NORMAL);
	return MP_QUIET;
}

static enum ws_event ws_finish(struct mp_ws *ws)
{
	mp_timer_stop(&ws->limit);
	ws->socket = mp_curl_socket_free(ws->socket);
	mp_loop_post(ws->loop, &ws->over);
	return MP_QUIET;
}

static void tell_over(void *u)
{
	struct mp_ws *ws = u;

	ws->hooks->over(ws->u, ws->asked ? NULL : &ws->why);
}

/* --- hearing -------------------------------------------------------------------------------- */

static const char *phrase_of(int code)
{
	static const char *const phrases[] = {
		"its work is done",
		"it goes away",
		"we broke the protocol",
		"we sent what it cannot use",
		NULL,
		NULL,
		NULL,
		"we sent no UTF-8",
		"against its policy",
		"too large for it",
		"an extension is missing",
		"it failed",
		"it is restarted",
		"try again later",
		"the gateway failed",
	};
	size_t i = (size_t)code - 1000;

	return code >= 1000 && i < MP_ARRAY_LEN(phrases) ? phrases[i] : NULL;
}

/* The peer chose the reason. */
static void explain_goodbye(struct mp_ws *ws)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf reason;
	const struct mp_ws_event *bye = &ws->goodbye;
	const char *phrase = phrase_of(bye->code);

	mp_buf_init(&reason, MP_KIB(2));
	if (mp_redact(bye->payload, false, &reason) < 0)
		mp_buf_clear(&reason); /* what cannot be shown is left out */
	mp_fail(&ws->why, bye->code == 1013 ? MCPOOL_EAGAIN : MCPOOL_ECLOSED,
		"%s closed the connection", ws->place);
	if (bye->code != MP_WS_NO_CODE)
		mp_fail(&ws->why, ws->why.code, "%s closed the connection with code %d%s%s%s%s%.*s",
			ws->place, bye->code, phrase ? " (" : "", phrase ? phrase : "",
			phrase ? ")" : "", reason.len ? ": " : "",
			MP_STR_ARGS(mp_buf_get(&reason)));
	ws->why.fault = MCPOOL_FAULT_CLOSED;
}

static void explain_fault(struct mp_ws *ws)
{
	const struct mp_ws_fault *fault = &ws->frames.fault;

	mp_fail(&ws->why, fault->error, "%s sent %s", ws->place, fault->words);
	if (fault->error != MCPOOL_ENOMEM)
		ws->why.fault = MCPOOL_FAULT_MALFORMED;
}

static void answer_ping(struct mp_ws *ws)
{
	if (!ws->owes_pong || mp_curl_socket_get_queued(ws->socket) > PONG_AT)
		return;
	ws->owes_pong = false;
	ws_say(ws, MP_WS_PONG, (struct mp_str){ws->pong, ws->pong_len});
}

static void ws_hear(struct mp_ws *ws, const struct mp_ws_event *e)
{
	if (e->kind == MP_WS_TEXT && ws->state == OPEN) {
		ws->hooks->message(ws->u, e->payload);
	} else if (e->kind == MP_WS_PING && ws->state == OPEN) {
		ws->owes_pong = true;
		ws->pong_len = e->payload.len;
		memcpy(ws->pong, e->payload.p, e->payload.len);
		answer_ping(ws);
	} else if (e->kind == MP_WS_CLOSE) {
		ws->goodbye = *e;
		explain_goodbye(ws);
		ws_advance(ws, GOODBYE);
	}
}

static bool is_hearing(const struct mp_ws *ws)
{
	return ws->state == OPEN || ws->state == LEAVING;
}

static void hear_frames(struct mp_ws *ws, struct mp_str bytes)
{
	struct mp_ws_event e;
	int r = 1;

	mp_ws_frames_feed(&ws->frames, bytes);
	while (is_hearing(ws) && (r = mp_ws_frames_next(&ws->frames, &e)) > 0)
		ws_hear(ws, &e);
	if (r < 0) {
		explain_fault(ws);
		ws_advance(ws, FAULT);
	}
}

static void hear_answer(struct mp_ws *ws, struct mp_str *bytes)
{
	int r = mp_ws_upgrade_read(&ws->upgrade, bytes);

	if (r == 0)
		return;
	if (r == MCPOOL_EPROTO)
		mp_fail(&ws->why, r, "no HTTP comes from %s", ws->place);
	else if (r < 0)
		mp_fail(&ws->why, r, "the headers of %s are too large", ws->place);
	else
		r = mp_ws_upgrade_judge(&ws->upgrade, *bytes, ws->place,
					mp_loop_wall_now_ms(ws->loop), &ws->why);
	ws_advance(ws, r < 0 ? REFUSED : ACCEPTED);
}

/* --- what the socket tells -------------------------------------------------------------------- */

static void ws_connected(void *u)
{
	ws_advance(u, CONNECTED);
}

static void data_came(void *u, struct mp_str bytes)
{
	struct mp_ws *ws = u;

	ws->last_ms = mp_loop_now_ms(ws->loop);
	if (ws->state == ASKING)
		hear_answer(ws, &bytes);
	if (is_hearing(ws))
		hear_frames(ws, bytes);
}

static void ws_written(void *u, uint64_t total)
{
	struct mp_ws *ws = u;

	if (ws->state == OPEN)
		answer_ping(ws);
	if (ws->state != ASKING && !ws->asked)
		ws->hooks->written(ws->u, total);
}

/* In PARTING there is a reason already. */
static void broken(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct mp_ws *ws = u;

	if (ws->state != PARTING)
		ws->why = *err;
	if (how == MP_HTTP_RESOLVE)
		ws->why.code = MCPOOL_EIO; /* names come back */
	ws_advance(ws, BROKEN);
}

static const struct mp_curl_socket_hooks socket_hooks = {ws_connected, data_came, ws_written,
							 broken};

/* --- time ----------------------------------------------------------------------------------- */

/* Two pings, and some time for the answer to the second. */
static void look_alive(struct mp_ws *ws)
{
	int64_t quiet_ms = mp_loop_now_ms(ws->loop) - ws->last_ms;
	int64_t left_ms = MP_WS_DEAD_MS - quiet_ms;

	if (left_ms <= 0) {
		mp_fail(&ws->why, MCPOOL_ETIMEDOUT, "nothing came from %s for %d s", ws->place,
			MP_WS_DEAD_MS / 1000);
		ws_advance(ws, LATE);
		return;
	}
	if (quiet_ms < MP_WS_PING_MS) {
		mp_timer_start(&ws->limit, MP_WS_PING_MS - quiet_ms);
		return;
	}
	ws_say(ws, MP_WS_PING, MP_STR(""));
	mp_timer_start(&ws->limit, left_ms < MP_WS_PING_MS ? left_ms : MP_WS_PING_MS);
}

static void limit_rang(void *u)
{
	struct mp_ws *ws = u;

	if (ws->state == OPEN) {
		look_alive(ws);
		return;
	}
	if (ws->state == ASKING)
		mp_fail(&ws->why, MCPOOL_ETIMEDOUT, "no answer to the upgrade from %s within %d s",
			ws->place, MP_WS_UPGRADE_MS / 1000);
	ws_advance(ws, LATE);
}

/* --- life ----------------------------------------------------------------------------------- */

static int ws_prepare(struct mp_ws *ws, struct mp_http_client *c,
		      const struct mp_http_request *request, struct mcpool_error *reterr)
{
	int r = mp_ws_frames_init(&ws->frames, MP_LIMIT_MESSAGE, MP_WS_CLIENT);

	if (r == 0) /* which checks the request first */
		r = mp_curl_socket_open(c, request, MAX_QUEUED_ALL, &socket_hooks, ws, &ws->socket,
					reterr);
	if (r < 0)
		return r;
	r = mp_ws_upgrade_write(&ws->upgrade, request, &ws->request);
	return r < 0 ? mp_fail(reterr, r, "the upgrade of %s cannot be sent", ws->place) : 0;
}

static void free_ws(struct mp_grave *grave)
{
	struct mp_ws *ws = mp_container_of(grave, struct mp_ws, grave);

	mp_ws_upgrade_done(&ws->upgrade);
	mp_ws_frames_done(&ws->frames);
	mp_buf_done(&ws->request);
	mp_free(ws);
}

int mp_ws_open(struct mp_http_client *c, const struct mp_http_request *request,
	       const struct mp_ws_hooks *hooks, void *u, struct mp_ws **ret_ws,
	       struct mcpool_error *reterr)
{
	struct mp_ws *ws = mp_alloc(sizeof(*ws));
	int r;

	*ws = (struct mp_ws){.loop = mp_http_client_get_loop(c), .hooks = hooks, .u = u};
	mp_curl_options_place(request->url ? request->url : "", ws->place);
	mp_ws_upgrade_init(&ws->upgrade);
	mp_buf_init(&ws->request, MP_LIMIT_HEADER_BLOCK);
	mp_timer_init(&ws->limit, ws->loop, limit_rang, ws);
	mp_task_init(&ws->over, tell_over, ws);
	r = ws_prepare(ws, c, request, reterr);
	if (r < 0) {
		mp_ws_free(ws);
		return r;
	}
	*ret_ws = ws;
	return 0;
}

int mp_ws_send(struct mp_ws *ws, const struct mp_str *pieces, size_t n, uint64_t *ret_at)
{
	uint64_t at;
	size_t len = 0;
	int r;

	if (ws->state != OPEN)
		return MCPOOL_ECLOSED;
	for (size_t i = 0; i < n; i++)
		len += pieces[i].len;
	if (mp_curl_socket_get_queued(ws->socket) + len + MP_WS_HEADER > MAX_QUEUED)
		return MCPOOL_ELIMIT;
	at = mp_curl_socket_get_place(ws->socket);
	r = mp_ws_frames_write_pieces(&ws->frames, MP_WS_TEXT, pieces, n,
				      mp_curl_socket_get_out(ws->socket));
	if (r < 0)
		return r;
	mp_curl_socket_push(ws->socket);
	if (ret_at)
		*ret_at = at;
	return 0;
}

void mp_ws_close(struct mp_ws *ws)
{
	ws->asked = true;
	ws_advance(ws, CLOSE);
}

struct mp_ws *mp_ws_free(struct mp_ws *ws)
{
	if (!ws)
		return NULL;
	ws->state = OVER;
	mp_timer_stop(&ws->limit);
	mp_loop_unpost(ws->loop, &ws->over);
	ws->socket = mp_curl_socket_free(ws->socket);
	mp_loop_bury(ws->loop, &ws->grave, free_ws);
	return NULL;
}

struct mp_str mp_ws_get_challenge(const struct mp_ws *ws)
{
	struct mp_http_head head = mp_http_reader_get(&ws->upgrade.reader);

	return mp_http_head_find(&head, MP_STR("WWW-Authenticate"));
}

const char *mp_ws_get_state(const struct mp_ws *ws)
{
	return ws_states[ws->state].word;
}
