/*
 * ws_upgrade.h - how a WebSocket begins: an HTTP request, and an answer that must be right.
 * Nothing is read or written here.
 */
#ifndef MP_WS_UPGRADE_H
#define MP_WS_UPGRADE_H

#include "base/base.h"
#include "base/buf.h"
#include "net/http_client.h"
#include "net/http_head.h"

enum {
	MP_WS_KEY = 24,    /* 16 random bytes as base64 */
	MP_WS_ACCEPT = 28, /* 20 bytes of SHA-1 as base64 */
};

struct mp_ws_upgrade {
	char key[MP_WS_KEY + 1];
	struct mp_http_reader reader;
	struct mp_buf line; /* the beginning of a line of the answer */
	bool begun;         /* its first line was seen */
};

void mp_ws_upgrade_init(struct mp_ws_upgrade *up);
void mp_ws_upgrade_done(struct mp_ws_upgrade *up);

/*
 * The request, with a new key and the request's headers but those that an upgrade has itself, added
 * to out. The request was checked by mp_curl_socket_open(). MCPOOL_EINVAL, MCPOOL_ENOMEM,
 * MCPOOL_ELIMIT.
 */
int mp_ws_upgrade_write(struct mp_ws_upgrade *up, const struct mp_http_request *request,
			struct mp_buf *out) MP_MUST;

/*
 * A piece of the answer; what was read of it is taken from *bytes. 1: the head is complete, and
 * *bytes lies behind it. 0: more is needed. MCPOOL_EPROTO: no HTTP; MCPOOL_ELIMIT: too much of it;
 * MCPOOL_ENOMEM.
 */
int mp_ws_upgrade_read(struct mp_ws_upgrade *up, struct mp_str *bytes) MP_MUST;

/*
 * The head is complete: is it the upgrade that was asked for? If not, the words say who answered
 * what; body: what came behind the head.
 */
int mp_ws_upgrade_judge(const struct mp_ws_upgrade *up, struct mp_str body, const char *place,
			int64_t wall_ms, struct mcpool_error *reterr) MP_MUST;

/* What a server answers to this key, of MP_WS_KEY bytes. */
void mp_ws_upgrade_accept(struct mp_str key, char accept[MP_WS_ACCEPT + 1]);

#endif
