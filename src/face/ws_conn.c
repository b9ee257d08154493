/*
 * ws_conn.c - one WebSocket: handshake, frames, pings, the end.
 */
#include "face/ws_conn.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "net/ws_upgrade.h"

/* A peer that answers no ping for this long is disconnected. */
#define SILENCE_MS ((int64_t)3 * MP_HTTP_QUIET_MS)
#define VERSION    "Sec-WebSocket-Version: 13\r\n"

enum { CLOSE_TEXT = 123 }; /* bytes of words, by the protocol */

/* --- writing -------------------------------------------------------------------------------- */

static void frame_write(struct mp_ws_conn *c, enum mp_ws_kind kind, struct mp_str payload)
{
	struct mp_buf *out = &c->face->service.scratch;

	mp_buf_clear(out);
	if (mp_ws_frames_write(&c->frames, kind, payload, out) < 0)
		mp_http_connection_lose(mp_http_connection_of(c->x));
	else
		mp_exchange_write(c->x, mp_buf_get(out));
	mp_buf_shrink(out, MP_KIB(64));
}

void mp_ws_conn_say(struct mp_ws_conn *c, struct mp_str text)
{
	if (c->x)
		frame_write(c, MP_WS_TEXT, text);
}

size_t mp_ws_conn_get_queued(const struct mp_ws_conn *c)
{
	return c->x ? mp_exchange_get_unsent(c->x) : 0;
}

static void close_write(struct mp_ws_conn *c, int code, const char *words)
{
	char bytes[2 + CLOSE_TEXT];
	size_t n = strnlen(words, CLOSE_TEXT);

	bytes[0] = (char)(code >> 8);
	bytes[1] = (char)code;
	memcpy(bytes + 2, words, n);
	frame_write(c, MP_WS_CLOSE, (struct mp_str){bytes, code == MP_WS_NO_CODE ? 0 : n + 2});
}

void mp_ws_conn_close(struct mp_ws_conn *c, int code, const char *words)
{
	struct mp_exchange *x = c->x;

	if (!x)
		return;
	close_write(c, code, words);
	c->x = NULL;
	mp_exchange_end(x);
}

/* --- reading -------------------------------------------------------------------------------- */

/* The peer said so, or broke the protocol. */
static void part(struct mp_ws_conn *c, int code)
{
	struct mp_exchange *x = c->x;

	close_write(c, code, "");
	c->x = NULL;
	c->hooks->closed(c->u);
	mp_exchange_end(x);
}

static void ws_conn_take_event(struct mp_ws_conn *c, const struct mp_ws_event *e)
{
	switch (e->kind) {
	case MP_WS_TEXT:
		c->hooks->text(c->u, e->payload);
		break;
	case MP_WS_PING:
		frame_write(c, MP_WS_PONG, e->payload);
		break;
	case MP_WS_PONG:
		break;
	case MP_WS_CLOSE:
		part(c, e->code);
		break;
	}
}

static void ws_conn_take_bytes(void *u, struct mp_str bytes)
{
	struct mp_ws_conn *c = u;
	struct mp_ws_event e;
	int r = 1;

	c->heard_ms = mp_loop_now_ms(c->face->loop);
	mp_ws_frames_feed(&c->frames, bytes);
	while (c->x && (r = mp_ws_frames_next(&c->frames, &e)) > 0)
		ws_conn_take_event(c, &e);
	if (c->x && r < 0)
		part(c, (int)c->frames.fault.code);
}

static void ws_conn_quiet(void *u)
{
	struct mp_ws_conn *c = u;
	struct mp_exchange *x = c->x;

	if (mp_loop_now_ms(c->face->loop) - c->heard_ms < SILENCE_MS) {
		frame_write(c, MP_WS_PING, MP_STR(""));
		return;
	}
	c->x = NULL;
	c->hooks->closed(c->u);
	mp_exchange_cut(x);
}

static void ws_conn_gone(void *u)
{
	struct mp_ws_conn *c = u;

	c->x = NULL;
	c->hooks->closed(c->u);
}

static void ws_conn_taken(void *u)
{
	struct mp_ws_conn *c = u;

	if (c->hooks->taken)
		c->hooks->taken(c->u);
}

static const struct mp_exchange_hooks exchange_hooks = {
	.quiet = ws_conn_quiet,
	.gone = ws_conn_gone,
	.bytes = ws_conn_take_bytes,
	.taken = ws_conn_taken,
};

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
static struct mp_http_refusal find_fault(const struct mp_inbound *in, const char *protocol,
					 bool must_name_it)
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
	if ((words.len || must_name_it) && !has_word(words, mp_str_of(protocol)))
		return (struct mp_http_refusal){400, "this is not the subprotocol of this address",
						NULL};
	return (struct mp_http_refusal){0, NULL, NULL};
}

bool mp_ws_conn_check(struct mp_exchange *x, const char *protocol, bool must_name_it)
{
	struct mp_http_refusal fault = find_fault(x->in, protocol, must_name_it);

	if (!fault.status)
		return true;
	mp_exchange_refuse(x, &fault);
	return false;
}

int mp_ws_conn_init(struct mp_ws_conn *c, struct mp_http_face *f, struct mp_exchange *x,
		    const struct mp_ws_conn_hooks *hooks, void *u)
{
	*c = (struct mp_ws_conn){.face = f, .x = x, .hooks = hooks, .u = u};
	return mp_ws_frames_init(&c->frames, MP_LIMIT_MESSAGE, MP_WS_SERVER);
}

void mp_ws_conn_done(struct mp_ws_conn *c)
{
	mp_ws_frames_done(&c->frames);
}

void mp_ws_conn_open(struct mp_ws_conn *c, const char *protocol)
{
	const struct mp_inbound *in = c->x->in;
	bool named = mp_inbound_get(in, MP_FIELD_SOCKET_PROTOCOL).len;
	char accept[MP_WS_ACCEPT + 1], headers[256];

	c->heard_ms = mp_loop_now_ms(c->face->loop);
	c->x->hooks = &exchange_hooks;
	c->x->u = c;
	mp_ws_upgrade_accept(mp_inbound_get(in, MP_FIELD_SOCKET_KEY), accept);
	snprintf(headers, sizeof(headers),
		 "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n"
		 "%s%s%s",
		 accept, named ? "Sec-WebSocket-Protocol: " : "", named ? protocol : "",
		 named ? "\r\n" : "");
	mp_exchange_begin_tunnel(c->x, headers);
}
