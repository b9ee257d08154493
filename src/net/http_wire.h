/*
 * http_wire.h - a connection that curl made, for whoever speaks something else over it.
 * Names, proxies, TLS, zones and words for failures are those of an exchange. Bytes are queued and
 * leave at the end of the turn.
 */
#ifndef MP_HTTP_WIRE_H
#define MP_HTTP_WIRE_H

#include "base/base.h"
#include "base/buf.h"
#include "net/http_request.h"

struct mp_http_client;
struct mp_http_drive;
struct mp_http_wire;

/* All from the loop, never from within a function of this file. Any function may be called. */
struct mp_http_wire_hooks {
	void (*connected)(void *u);
	void (*data)(void *u, struct mp_str bytes); /* valid during the call */
	/* The kernel has so many bytes in all; before what comes back for them is told. */
	void (*written)(void *u, uint64_t total);
	/* The last word: no connection, or no more. how is never MP_HTTP_OK. */
	void (*ended)(void *u, enum mp_http_end how, const struct mcpool_error *err);
};

/*
 * To the place of request->url; its headers are checked, but nothing is sent. At most so many bytes
 * wait to be sent. Errors as of mp_http_start(). A client that goes takes its wires along,
 * silently.
 */
int mp_http_wire_open(struct mp_http_client *c, const struct mp_http_request *request,
		      size_t max_queued, const struct mp_http_wire_hooks *hooks, void *u,
		      struct mp_http_wire **ret_wire, struct mcpool_error *reterr) MP_MUST;
/* Closes the connection. Takes effect at the end of the turn; no hook is called any more. */
struct mp_http_wire *mp_http_wire_free(struct mp_http_wire *w);

/* What is added to this buf is sent after the call of mp_http_wire_push(). */
struct mp_buf *mp_http_wire_get_out(struct mp_http_wire *w);
void mp_http_wire_push(struct mp_http_wire *w);
/* All bytes that were ever added: the place of the next one, as `written` counts. */
uint64_t mp_http_wire_get_place(const struct mp_http_wire *w);
/* Those that are still here. */
size_t mp_http_wire_get_queued(const struct mp_http_wire *w);

/* The drive's end: none of its wires can be used any more. */
void mp_http_wire_cut_all(struct mp_http_drive *drive);

#endif
