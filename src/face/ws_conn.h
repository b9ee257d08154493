/*
 * ws_conn.h - one WebSocket of the HTTP face: the handshake, text frames in both directions, pings
 * to an idle peer, the end. What the messages mean is for its owner, which embeds it.
 */
#ifndef MP_WS_CONN_H
#define MP_WS_CONN_H

#include "base/base.h"
#include "base/str.h"
#include "face/http_face.h"
#include "net/ws_frames.h"

struct mp_ws_conn_hooks {
	/* One message. The owner may close the connection. */
	void (*text)(void *u, struct mp_str text);
	/* The peer is gone: the last call. Bytes of it may be on the stack: free it later. */
	void (*closed)(void *u);
	/* All that was written is out; may be NULL. */
	void (*taken)(void *u);
};

struct mp_ws_conn {
	struct mp_http_face *face;
	struct mp_exchange *x; /* NULL: closed */
	struct mp_ws_frames frames;
	int64_t heard_ms;
	const struct mp_ws_conn_hooks *hooks;
	void *u;
};

/* Is this request the handshake of a WebSocket with this subprotocol, or with none? Otherwise it is
 * answered and false. */
bool mp_ws_conn_check(struct mp_exchange *x, const char *protocol, bool must_name_it);
/* MCPOOL_ENOMEM. Nothing is answered yet. */
int mp_ws_conn_init(struct mp_ws_conn *c, struct mp_http_face *f, struct mp_exchange *x,
		    const struct mp_ws_conn_hooks *hooks, void *u) MP_MUST;
void mp_ws_conn_done(struct mp_ws_conn *c);
/* Accept the handshake. */
void mp_ws_conn_open(struct mp_ws_conn *c, const char *protocol);

/* Nothing if it is closed. */
void mp_ws_conn_say(struct mp_ws_conn *c, struct mp_str text);
/* Bytes that the peer has not taken. */
size_t mp_ws_conn_get_queued(const struct mp_ws_conn *c);
/* With these words for the peer; static. closed() is not called. */
void mp_ws_conn_close(struct mp_ws_conn *c, int code, const char *words);

#endif
