/*
 * curl_socket.h - a connection made by curl, for another protocol than HTTP.
 * Names, proxies, TLS, zones and words for failures are those of an exchange. Bytes are queued and
 * leave at the end of the turn.
 */
#ifndef MP_CURL_SOCKET_H
#define MP_CURL_SOCKET_H

#include "base/base.h"
#include "base/buf.h"
#include "net/http_request.h"

struct mp_http_client;
struct mp_curl_multi;
struct mp_curl_socket;

/* All from the loop, never from within a function of this file. Any function may be called. */
struct mp_curl_socket_hooks {
	void (*connected)(void *u);
	void (*data)(void *u, struct mp_str bytes); /* valid during the call */
	/* The kernel has so many bytes in all; before what comes back for them is told. */
	void (*written)(void *u, uint64_t total);
	/* The last word: no connection, or no more. how is never MP_HTTP_OK. */
	void (*ended)(void *u, enum mp_http_end how, const struct mcpool_error *err);
};

/*
 * To the place of request->url; its headers are checked, but nothing is sent. At most so many bytes
 * wait to be sent. Errors as of mp_http_start(). A client that goes takes its plain_sockets along,
 * silently.
 */
int mp_curl_socket_open(struct mp_http_client *c, const struct mp_http_request *request,
			size_t max_queued, const struct mp_curl_socket_hooks *hooks, void *u,
			struct mp_curl_socket **ret_socket, struct mcpool_error *reterr) MP_MUST;
/* Closes the connection. Takes effect at the end of the turn; no hook is called any more. */
struct mp_curl_socket *mp_curl_socket_free(struct mp_curl_socket *w);

/* What is added to this buf is sent after the call of mp_curl_socket_push(). */
struct mp_buf *mp_curl_socket_get_out(struct mp_curl_socket *w);
void mp_curl_socket_push(struct mp_curl_socket *w);
/* All bytes that were ever added: the place of the next one, as `written` counts. */
uint64_t mp_curl_socket_get_place(const struct mp_curl_socket *w);
/* Those that are still here. */
size_t mp_curl_socket_get_queued(const struct mp_curl_socket *w);

/* The multi's end: none of its plain_sockets can be used any more. */
void mp_curl_socket_cut_all(struct mp_curl_multi *multi);

#endif
