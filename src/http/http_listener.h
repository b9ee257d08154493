/*
 * http_listener.h - the listening socket of the HTTP face, with or without TLS.
 */
#ifndef MP_HTTP_LISTENER_H
#define MP_HTTP_LISTENER_H

#include <sys/socket.h>

#include "base/base.h"
#include "base/loop.h"
#include "http/conn.h"

struct mp_http_listener;

struct mp_http_listener_options {
	struct mp_loop *loop;
	const char *listen;     /* "127.0.0.1:7717", "[::1]:0", "7717" */
	int fd;                 /* listens already, taken; 0 and less: none */
	const char *cert, *key; /* NULL: no TLS */
	void (*arrived)(void *u, struct mp_conn *conn); /* which is taken */
	void *u;
};

/* It listens when this returns, and accepts once mp_http_listener_open() was called. */
int mp_http_listener_new(const struct mp_http_listener_options *o,
			 struct mp_http_listener **ret_listener,
			 struct mcpool_error *reterr) MP_MUST;
void mp_http_listener_open(struct mp_http_listener *p);
/* No connection is accepted any more. */
void mp_http_listener_close(struct mp_http_listener *p);
struct mp_http_listener *mp_http_listener_free(
	struct mp_http_listener *p); /* accepts NULL, returns NULL */

const struct sockaddr *mp_http_listener_get_address(const struct mp_http_listener *p);

#endif
