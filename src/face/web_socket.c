/*
 * web_socket.c - /ws: one message per text frame, in both directions; one session per connection.
 * An idle peer gets pings.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "face/http_face.h"
#include "net/ws_frames.h"
#include "net/ws_upgrade.h"

/* A peer that answers no ping for this long is disconnected. */
#define SILENCE_MS ((int64_t)3 * MP_HTTP_QUIET_MS)
#define VERSION    "Sec-WebSocket-Version: 13\r\n"

struct socket {
	struct mp_link link; /* in the face */
	struct mp_http_face *face;
	struct mp_session *session; /* owned; NULL: closed */
	struct mp_exchange *x;      /* NULL: closed */
	struct mp_ws_frames frames;
	int64_t heard_ms;
	bool is_leaving; /* the hub drains: close after the last answer */
	struct mp_task leave;
	struct mp_grave grave;
};

static void web_socket_bury(struct mp_grave *grave)
{
	struct socket *s = mp_container_of(grave, struct socket, grave);

	mp_ws_frames_done(&s->frames);
	mp_free(s);
}

/* --- writing -------------------------------------------------------------------------------- */

static void write_frame(struct socket *s, enum mp_ws_kind kind, struct mp_str payload)
{
	struct mp_buf *out = &s->face->service.scratch;

	mp_buf_clear(out);
	if (mp_ws_frames_write(&s->frames, kind, payload, out) < 0)
		mp_http_connection_lose(mp_http_connection_of(s->x));
	else
		mp_exchange_write(s->x, mp_buf_get(out));
	mp_buf_shrink(out, MP_KIB(64));
}

/* Its frames may be on the stack, so free it at the end of the turn. */
static void web_socket_forget(struct socket *s)
{
	s->x = NULL;
	s->session = mp_session_free(s->session);
	mp_loop_unpost(s->face->loop, &s->leave);
	mp_list_remove(&s->face->sockets, &s->link);
	mp_loop_bury(s->face->loop, &s->grave, web_socket_bury);
}

static void say_goodbye(struct socket *s, int code)
{
	char bytes[2] = {(char)(code >> 8), (char)code};
	struct mp_exchange *x = s->x;

	write_frame(s, MP_WS_CLOSE,
		    (struct mp_str){bytes, code == MP_WS_NO_CODE ? 0 : sizeof(bytes)});
	web_socket_forget(s);
	mp_exchange_end(x);
}

static void web_socket_deliver(void *u, const struct mp_delivery *d)
{
	struct socket *s = u;

	if (s->x && d->text.len)
		write_frame(s, MP_WS_TEXT, d->text);
	if (s->is_leaving && !mp_list_linked(&s->leave.link))
		mp_loop_post(s->face->loop, &s->leave);
}

/* --- reading -------------------------------------------------------------------------------- */

static void leave_if_done(void *u)
{
	struct socket *s = u;
	struct mp_session_info info;

	if (!s->is_leaving || !s->x)
		return;
	mp_session_get_info(s->session, &info);
	if (!info.open)
		say_goodbye(s, MP_WS_GOING_AWAY);
}

static void take_event(struct socket *s, const struct mp_ws_event *e)
{
	switch (e->kind) {
	case MP_WS_TEXT:
		(void)mp_session_receive_text(s->session, e->payload,
					      0); /* errors are sent as answers too */
		break;
	case MP_WS_PING:
		write_frame(s, MP_WS_PONG, e->payload);
		break;
	case MP_WS_PONG:
		break;
	case MP_WS_CLOSE:
		say_goodbye(s, e->code);
		break;
	}
}

static void take_bytes(void *u, struct mp_str bytes)
{
	struct socket *s = u;
	struct mp_ws_event e;
	int r = 1;

	s->heard_ms = mp_loop_now_ms(s->face->loop);
	mp_ws_frames_feed(&s->frames, bytes);
	while (s->x && (r = mp_ws_frames_next(&s->frames, &e)) > 0)
		take_event(s, &e);
	if (s->x && r < 0)
		say_goodbye(s, (int)s->frames.fault.code);
	leave_if_done(s);
}

static void quiet(void *u)
{
	struct socket *s = u;
	struct mp_exchange *x = s->x;

	if (mp_loop_now_ms(s->face->loop) - s->heard_ms < SILENCE_MS) {
		write_frame(s, MP_WS_PING, MP_STR(""));
		return;
	}
	web_socket_forget(s);
	mp_exchange_cut(x);
}

static void gone(void *u)
{
	web_socket_forget(u);
}

static const struct mp_session_hooks session_hooks = {web_socket_deliver};
static const struct mp_exchange_hooks exchange_hooks = {quiet, gone, take_bytes};

/* --- the handshake -------------------------------------------------------------------------- */

/* Does a comma-separated list contain this word? */
static bool has_word(struct mp_str list, struct mp_str word)
{
	while (list.len) {
		const char *end = memchr(list.p, ',', list.len);
		size_t n = end ? (size_t)(end - list.p) : list.len;

		if (mp_str_eq_nocase(mp_str_trim((struct mp_str){list.p, n}), word))
			return true;
		n += end != NULL;
		list = (struct mp_str){list.p + n, list.len - n};
	}
	return false;
}

/* Status 0: the request is valid. */
static struct mp_http_refusal find_fault(const struct mp_inbound *in)
{
	struct mp_str words = mp_inbound_get(in, MP_FIELD_SOCKET_PROTOCOL);

	if (!mp_inbound_wants_upgrade(in) ||
	    !has_word(mp_inbound_get(in, MP_FIELD_UPGRADE), MP_STR("websocket")))
		return (struct mp_http_refusal){426, "this is for WebSockets",
						"Upgrade: websocket\r\nConnection: Upgrade\r\n"};
	/* A body would be read as frames (attack-S17). */
	if (mp_inbound_get(in, MP_FIELD_CONTENT_LENGTH).p ||
	    mp_inbound_get(in, MP_FIELD_TRANSFER_ENCODING).p)
		return (struct mp_http_refusal){400, "a WebSocket handshake has no body", NULL};
	if (!mp_str_eq(mp_inbound_get(in, MP_FIELD_SOCKET_VERSION), MP_STR("13")))
		return (struct mp_http_refusal){426, "the version of WebSockets is 13", VERSION};
	if (mp_inbound_get(in, MP_FIELD_SOCKET_KEY).len != MP_WS_KEY)
		return (struct mp_http_refusal){400, "Sec-WebSocket-Key is not 16 bytes", NULL};
	if (words.len && !has_word(words, MP_STR("mcp")))
		return (struct mp_http_refusal){400, "the subprotocol is mcp", NULL};
	return (struct mp_http_refusal){0, NULL, NULL};
}

static void accept_it(struct socket *s, const struct mp_inbound *in)
{
	bool named = mp_inbound_get(in, MP_FIELD_SOCKET_PROTOCOL).len;
	char accept[MP_WS_ACCEPT + 1], headers[256];

	mp_ws_upgrade_accept(mp_inbound_get(in, MP_FIELD_SOCKET_KEY), accept);
	snprintf(headers, sizeof(headers),
		 "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s",
		 accept, named ? "Sec-WebSocket-Protocol: mcp\r\n" : "");
	mp_exchange_begin_tunnel(s->x, headers);
}

void mp_web_socket_serve(struct mp_http_face *f, struct mp_exchange *x)
{
	struct mp_http_refusal fault = find_fault(x->in);
	struct socket *s;
	int r;

	if (fault.status) {
		mp_exchange_refuse(x, &fault);
		return;
	}
	s = mp_alloc(sizeof(*s));
	s->face = f;
	r = mp_ws_frames_init(&s->frames, MP_LIMIT_MESSAGE, MP_WS_SERVER);
	if (r == 0)
		r = mp_http_face_open_session(f, x, "ws", MP_SESSION_ONE_STREAM, &session_hooks, s,
					      &s->session);
	if (r < 0) {
		mp_ws_frames_done(&s->frames);
		mp_free(s);
		mp_http_face_refuse_session(x, r);
		return;
	}
	s->heard_ms = mp_loop_now_ms(f->loop);
	mp_task_init(&s->leave, leave_if_done, s);
	s->x = x;
	x->hooks = &exchange_hooks;
	x->u = s;
	mp_list_append(&f->sockets, &s->link);
	accept_it(s, x->in);
}

/* --- the end -------------------------------------------------------------------------------- */

void mp_web_socket_drain(struct mp_http_face *f)
{
	MP_LIST_WALK(&f->sockets, link) {
		struct socket *s = mp_container_of(link, struct socket, link);

		s->is_leaving = true;
		leave_if_done(s);
	}
}

void mp_web_socket_done(struct mp_http_face *f)
{
	struct mp_link *link;

	while ((link = mp_list_first(&f->sockets))) {
		struct socket *s = mp_container_of(link, struct socket, link);

		say_goodbye(s, MP_WS_GOING_AWAY);
	}
}
