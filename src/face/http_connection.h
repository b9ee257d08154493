/*
 * http_connection.h - one accepted connection: requests come, answers go, in order.
 */
#ifndef MP_HTTP_CONNECTION_H
#define MP_HTTP_CONNECTION_H

#include "base/base.h"
#include "face/http_service.h"

#define MP_HTTP_CONNECTION_STATES(X)                                             \
	X(IDLE, "idle", "between two requests")                                  \
	X(HEAD, "head", "a request's head is coming")                            \
	X(BODY, "body", "its body is coming")                                    \
	X(SERVED, "served", "the request is its handler's, which answers")       \
	X(TUNNEL, "tunnel", "the bytes are the handler's")                       \
	X(LEAVING, "leaving", "the last answer is on its way, nothing is heard") \
	X(GONE, "gone", "closed, freed when the turn ends")

#define MP_HTTP_CONNECTION_EVENTS(X)                                    \
	X(BEGUN, "the first byte of a request")                         \
	X(HEADED, "its head is there, a body is to come")               \
	X(WHOLE, "all of it is there")                                  \
	X(ANSWERED, "the answer is complete, another request may come") \
	X(SAID, "the answer is complete, and it is the last")           \
	X(UPGRADED, "the handler takes the bytes from here on")         \
	X(ENDED, "the client will send nothing more")                   \
	X(FLUSHED, "all that was written is out")                       \
	X(LATE, "the time of this state is over")                       \
	X(BROKEN, "nothing can be read or written")                     \
	X(DROP, "it is to go at once")

enum mp_http_connection_state {
#define X(name, word, meaning) MP_HTTP_CONNECTION_##name,
	MP_HTTP_CONNECTION_STATES(X)
#undef X
		MP_HTTP_CONNECTION_STATE_COUNT
};
enum mp_http_connection_event {
#define X(name, meaning) MP_HTTP_CONNECTION_ON_##name,
	MP_HTTP_CONNECTION_EVENTS(X)
#undef X
		MP_HTTP_CONNECTION_EVENT_COUNT
};

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
	struct mp_wire *wire;  /* owned; NULL: closed */
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

/* From now on it lives by itself. The wire is taken. */
void mp_http_connection_open(struct mp_http_service *s, struct mp_wire *wire);

/* For tests of the table. True: there is a cell. */
bool mp_http_connection_has_step(enum mp_http_connection_state state,
				 enum mp_http_connection_event ev);
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
