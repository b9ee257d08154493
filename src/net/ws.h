/*
 * ws.h - a WebSocket client: connect, upgrade, text messages, close.
 * Binary messages are refused, compression is not offered, redirects are not followed. A silent
 * peer is pinged; one that stays silent is gone.
 */
#ifndef MP_WS_H
#define MP_WS_H

#include "base/base.h"
#include "net/http_client.h"

enum {
	MP_WS_UPGRADE_MS = 10000, /* for the answer to the upgrade */
	MP_WS_PING_MS = 10000,    /* of silence, then a ping */
	MP_WS_DEAD_MS = 25000,    /* of silence, then it is over */
	MP_WS_CLOSE_MS = 1000,    /* for the peer's close frame */
};

struct mp_ws;

/* All from the loop, never from within a function of this file. Any function may be called. */
struct mp_ws_hooks {
	void (*opened)(void *u);
	void (*message)(void *u, struct mp_str text); /* valid during the call, valid UTF-8 */
	void (*written)(void *u, uint64_t total);     /* see mp_ws_send() */
	/* The last word, unless it is freed before. NULL: we left. */
	void (*over)(void *u, const struct mcpool_error *why);
};

/* Errors as of mp_http_start(); the url begins with http or https. */
int mp_ws_open(struct mp_http_client *c, const struct mp_http_request *request,
	       const struct mp_ws_hooks *hooks, void *u, struct mp_ws **ret_ws,
	       struct mcpool_error *reterr) MP_MUST;
/*
 * One message in pieces, copied; it leaves at the end of this turn at the latest. *ret_at is the
 * place of its first byte, to be compared with what `written` tells. MCPOOL_ECLOSED, MCPOOL_ELIMIT
 * (the peer does not read), MCPOOL_ENOMEM.
 */
int mp_ws_send(struct mp_ws *ws, const struct mp_str *pieces, size_t n, uint64_t *ret_at) MP_MUST;
/* Send a close frame and wait briefly for the peer's; only `over` follows. */
void mp_ws_close(struct mp_ws *ws);
/* Closes at once. No hook is called any more. */
struct mp_ws *mp_ws_free(struct mp_ws *ws);

/* What the server wants to see before it lets us in (WWW-Authenticate); empty: it did not say. */
struct mp_str mp_ws_get_challenge(const struct mp_ws *ws);
/* A word, for logs and tests. */
const char *mp_ws_get_state(const struct mp_ws *ws);

#endif
