/*
 * http_connection.h - one accepted connection: requests come, answers go, in order.
 */
#ifndef MP_HTTP_CONNECTION_H
#define MP_HTTP_CONNECTION_H

#include "base/base.h"
#include "base/machine.h"
#include "face/http_service.h"

#define MP_HTTP_CONNECTION_STATES(X)                                                          \
	X(MP_HTTP_CONNECTION_IDLE, "idle", "between two requests")                            \
	X(MP_HTTP_CONNECTION_HEAD, "head", "a request's head is coming")                      \
	X(MP_HTTP_CONNECTION_BODY, "body", "its body is coming")                              \
	X(MP_HTTP_CONNECTION_SERVED, "served", "the request is its handler's, which answers") \
	X(MP_HTTP_CONNECTION_TUNNEL, "tunnel", "the bytes are the handler's")                 \
	X(MP_HTTP_CONNECTION_LEAVING, "leaving",                                              \
	  "the last answer is on its way, nothing is heard")                                  \
	X(MP_HTTP_CONNECTION_GONE, "gone", "closed, freed when the turn ends")

#define MP_HTTP_CONNECTION_EVENTS(X)                                                              \
	X(MP_HTTP_CONNECTION_ON_BEGUN, "begun", "the first byte of a request")                    \
	X(MP_HTTP_CONNECTION_ON_HEADED, "headed", "its head is there, a body is to come")         \
	X(MP_HTTP_CONNECTION_ON_WHOLE, "whole", "all of it is there")                             \
	X(MP_HTTP_CONNECTION_ON_ANSWERED, "answered",                                             \
	  "the answer is complete, another request may come")                                     \
	X(MP_HTTP_CONNECTION_ON_SAID, "said", "the answer is complete, and it is the last")       \
	X(MP_HTTP_CONNECTION_ON_UPGRADED, "upgraded", "the handler takes the bytes from here on") \
	X(MP_HTTP_CONNECTION_ON_ENDED, "ended", "the client will send nothing more")              \
	X(MP_HTTP_CONNECTION_ON_FLUSHED, "flushed", "all that was written is out")                \
	X(MP_HTTP_CONNECTION_ON_LATE, "late", "the time of this state is over")                   \
	X(MP_HTTP_CONNECTION_ON_BROKEN, "broken", "nothing can be read or written")               \
	X(MP_HTTP_CONNECTION_ON_DROP, "drop", "it is to go at once")

MP_MACHINE_ENUM(mp_http_connection_state, MP_HTTP_CONNECTION_STATES,
		MP_HTTP_CONNECTION_STATE_COUNT);
MP_MACHINE_ENUM(mp_http_connection_event, MP_HTTP_CONNECTION_EVENTS,
		MP_HTTP_CONNECTION_EVENT_COUNT);

struct mp_http_connection {
	struct mp_link link;  /* in service->connections */
	struct mp_link watch; /* in service->watched[watch_kind] */
	int64_t due_ms;
	struct mp_link unadmitted; /* in service->unadmitted, until it shows the token */

	/* http_held.c: what is kept for this connection */
	size_t held;
	int64_t moved_ms;     /* when bytes were last written, taken or received */
	struct mp_link slow;  /* in service->slow, while bytes are unsent */
	int64_t slow_due_ms;  /* end of the window; at its beginning: */
	uint64_t slow_sent;   /* bytes taken so far */
	size_t slow_owed;     /* bytes unsent */
	uint64_t body_before; /* bytes of the body when they were last looked at */

	struct mp_http_service *service;
	struct mp_conn *conn;  /* owned; NULL: closed */
	struct mp_inbound *in; /* owned; NULL: nothing of a request is here */
	struct mp_buf rest;    /* what came behind the request that is served, or unsent */
	struct mp_exchange x;
	enum mp_http_connection_state state;
	enum mp_http_watch watch_kind;
	size_t ignored;       /* bytes that came behind the last answer */
	bool driving;         /* bytes are being looked at */
	bool serving;         /* the handler is on the stack */
	bool ended;           /* the client said so */
	bool lost;            /* it was found out while its handler was on the stack */
	struct mp_task go_on; /* with rest */
	struct mp_grave grave;
};

/* From now on it lives by itself. The conn is taken. */
void mp_http_connection_open(struct mp_http_service *s, struct mp_conn *conn);

void mp_http_connection_advance(struct mp_http_connection *c, enum mp_http_connection_event ev);

static inline struct mp_http_connection *mp_http_connection_of(struct mp_exchange *x)
{
	return mp_container_of(x, struct mp_http_connection, x);
}

/* It is of no use any more, which its handler learns from the loop. */
void mp_http_connection_lose(struct mp_http_connection *c);
/* Pieces on their way out; false: the connection is lost. */
bool mp_http_connection_write(struct mp_http_connection *c, const struct mp_str *pieces, size_t n);

#endif
