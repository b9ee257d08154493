/*
 * http_service.h - what all HTTP connections of a face share, and how a request is answered.
 * The user of the service judges heads and serves requests, through hooks. A request and its answer
 * are an exchange; a connection has one at a time, so pipelined requests are answered in order.
 */
#ifndef MP_HTTP_SERVICE_H
#define MP_HTTP_SERVICE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "http/http_date.h"
#include "http/inbound.h"
#include "http/conn.h"

/* How long a connection may take for what it is at. */
enum {
	MP_HTTP_HEAD_MS = 10000,  /* from its first byte, or from accept, to a whole head */
	MP_HTTP_BODY_MS = 30000,  /* for a body, or for so much of it as MP_LIMIT_HTTP_RATE asks */
	MP_HTTP_TAKE_MS = 30000,  /* the same for unsent bytes that a client is to take */
	MP_HTTP_IDLE_MS = 60000,  /* between two requests */
	MP_HTTP_QUIET_MS = 15000, /* after so long without a byte of ours the handler is told */
	MP_HTTP_LEAVE_MS = 2000,  /* for the last answer to be taken */
};
#define MP_HTTP_CONNECTIONS (MP_LIMIT_SESSIONS + 1024) /* of one service */

struct mp_exchange;
struct mp_http_connection;
struct mp_route;

/* How a request was admitted; made by admit.c only. */
struct mp_http_admission {
	const struct mp_route *route; /* for which it was judged; NULL: not at all */
	const char *principal;        /* whose it is; borrowed from the judge; NULL: unknown */
	mp_id holder;                 /* of the token it came with, for the judge; 0: none */
	bool is_by_address;           /* admitted for where it comes from, without a token */
};

struct mp_http_refusal {
	int status;          /* 0: none */
	const char *words;   /* static */
	const char *headers; /* lines of the answer's head, each with its CR LF; static or NULL */
};

struct mp_exchange_hooks {
	/* Nothing was written for MP_HTTP_QUIET_MS; may be NULL. */
	void (*quiet)(void *u);
	/* The client left before the answer was complete. The last call; the exchange is gone. */
	void (*gone)(void *u);
	/* What the client says behind its request, once the exchange is a tunnel. */
	void (*bytes)(void *u, struct mp_str bytes);
	/* All bytes of a tunnel are out; may be NULL. */
	void (*taken)(void *u);
};

struct mp_exchange {
	struct mp_inbound *in; /* while it is judged and served; NULL afterwards */
	struct mp_http_admission
		admission;              /* see routes.c, which checks it before a handler runs */
	struct mp_http_refusal refusal; /* of the judge */
	bool is_deferred;               /* the judge cannot tell yet; see judge_again() */
	const struct mp_exchange_hooks *hooks; /* of the handler; may be set in serve() */
	void *u;
	mp_id id;                  /* for the handler's use */
	bool is_head, is_old;      /* HEAD; HTTP/1.0 */
	bool keeps_alive;          /* after the answer */
	bool is_stream, is_tunnel; /* its answer's head is out */
};

struct mp_http_hooks_of_service {
	/*
	 * The head is there; may set refusal, and must set admission otherwise. Or sets
	 * is_deferred: then nothing more is read until it is judged again.
	 */
	void (*judge)(void *u, struct mp_exchange *x);
	/* The request is whole and was not refused: answer it, now or later. */
	void (*serve)(void *u, struct mp_exchange *x);
};

enum mp_http_watch {
	MP_WATCH_HEAD,
	MP_WATCH_BODY,
	MP_WATCH_IDLE,
	MP_WATCH_QUIET,
	MP_WATCH_LEAVE,
	MP_WATCHES,
	MP_WATCH_NONE = MP_WATCHES,
};

struct mp_http_service {
	struct mp_loop *loop; /* borrowed */
	const struct mp_http_hooks_of_service *hooks;
	void *u;
	struct mp_list connections;
	struct mp_list unadmitted; /* those that never showed the token, oldest first */
	size_t max_unadmitted;
	int64_t warned_full_ms, warned_held_ms; /* when it was last said; 0: never */
	struct mp_list slow;                    /* those with unsent bytes, by when they are due */
	size_t held, held_most; /* bytes kept for all; the most since memory was last trimmed */
	struct mp_timer trim;
	struct mp_list watched[MP_WATCHES]; /* by when they are due: each list has one duration */
	struct mp_timer tick;               /* for the first of all of them */
	struct mp_list spare;               /* inbounds for the next requests */
	struct mp_buf scratch;              /* an event while it is written */
	struct mp_http_date date;
	bool draining;
	void (*empty)(void *u); /* after draining began: no connection is left */
};

void mp_http_service_init(struct mp_http_service *s, struct mp_loop *loop,
			  const struct mp_http_hooks_of_service *hooks, void *u);
/* All connections are closed at once; their handlers are told. */
void mp_http_service_done(struct mp_http_service *s);
/* Serve a new connection. The conn is taken. */
void mp_http_service_take(struct mp_http_service *s, struct mp_conn *conn);
/* Idle connections go now, others when they have been answered. */
void mp_http_service_drain(struct mp_http_service *s, void (*empty)(void *u));

/* The judge knows more: ask it again about all requests that it deferred. */
void mp_http_service_judge_again(struct mp_http_service *s);
/* The last request of this connection was admitted, or refused for its credentials. */
void mp_http_service_note_admission(struct mp_http_connection *c, bool is_admitted);
/* Once a minute. */
bool mp_http_service_may_warn(struct mp_http_service *s, int64_t *last_ms);
/* The timer of the service is to fire at due_ms, or soon after. */
void mp_http_service_arm(struct mp_http_service *s, int64_t due_ms);
/* For connections: be told LATE when the time of that kind is over; NONE: not any more. */
void mp_http_service_watch(struct mp_http_connection *c, enum mp_http_watch kind);
/* And requests, used again. */
struct mp_inbound *mp_http_service_take_inbound(struct mp_http_service *s);
void mp_http_service_give_inbound(struct mp_http_service *s, struct mp_inbound *in);

/* --- answering ------------------------------------------------------------------------------ */

struct mp_http_answer {
	int status;
	const char *type;    /* NULL: there is no body */
	const char *headers; /* lines, each with its CR LF; may be NULL */
	struct mp_str body;  /* copied, as far as it cannot be written at once */
};

/* Each of these ends the exchange, which is not to be touched afterwards; gone() is not called. */
void mp_exchange_answer(struct mp_exchange *x, const struct mp_http_answer *a);
/* A status with an error object as its body. */
void mp_exchange_refuse(struct mp_exchange *x, const struct mp_http_refusal *why);
void mp_exchange_end(struct mp_exchange *x); /* a stream or tunnel */
/* Without another word. */
void mp_exchange_cut(struct mp_exchange *x);

/*
 * An event stream instead of one body. Where writing fails, the client is gone, which is told at
 * the end of the turn; nothing is to be done about it here.
 */
void mp_exchange_begin_stream(struct mp_exchange *x, const char *headers);
void mp_exchange_event(struct mp_exchange *x, struct mp_str type, struct mp_str id,
		       struct mp_str data);
void mp_exchange_retry(struct mp_exchange *x, int64_t ms);
void mp_exchange_comment(struct mp_exchange *x);
/* From now on bytes pass as they are; what came behind the request is told soon. */
void mp_exchange_begin_tunnel(struct mp_exchange *x, const char *headers);
void mp_exchange_write(struct mp_exchange *x, struct mp_str bytes);
/* Bytes of its connection that the client has not taken. */
size_t mp_exchange_get_unsent(struct mp_exchange *x);

/* --- for the files of the service alone: http_connection.c, http_answer.c, http_held.c ----------
 */

#define MP_HTTP_CONNECTION_STATES(X)                                                          \
	X(MP_HTTP_CONNECTION_IDLE, "idle", "between two requests")                            \
	X(MP_HTTP_CONNECTION_HEAD, "head", "a request's head is coming")                      \
	X(MP_HTTP_CONNECTION_BODY, "body", "its body is coming")                              \
	X(MP_HTTP_CONNECTION_WAITING, "waiting", "its judge needs time, nothing is read")     \
	X(MP_HTTP_CONNECTION_SERVED, "served", "the request is its handler's, which answers") \
	X(MP_HTTP_CONNECTION_TUNNEL, "tunnel", "the bytes are the handler's")                 \
	X(MP_HTTP_CONNECTION_LEAVING, "leaving",                                              \
	  "the last answer is on its way, nothing is heard")                                  \
	X(MP_HTTP_CONNECTION_GONE, "gone", "closed, freed when the turn ends")

#define MP_HTTP_CONNECTION_EVENTS(X)                                                              \
	X(MP_HTTP_CONNECTION_ON_BEGUN, "begun", "the first byte of a request")                    \
	X(MP_HTTP_CONNECTION_ON_HEADED, "headed", "its head is there, a body is to come")         \
	X(MP_HTTP_CONNECTION_ON_DEFERRED, "deferred", "its judge cannot tell yet")                \
	X(MP_HTTP_CONNECTION_ON_JUDGED, "judged", "its judge knows more now")                     \
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

/*
 * http_held.c: bytes that are kept for connections: request bodies that are not complete and
 * answers that were not taken. All together have a ceiling; a client that takes its answer more
 * slowly than MP_LIMIT_HTTP_RATE is dropped.
 */

/*
 * Call it after bytes of this connection moved: written, taken, or received. Over the ceiling the
 * connection whose bytes did not move for longest is lost, which may be this one.
 */
void mp_http_held_note(struct mp_http_connection *c);
/* The connection closes: nothing is kept for it. */
void mp_http_held_forget(struct mp_http_connection *c);
/* Drop clients that were too slow. Returns when to look again; INT64_MAX: none has bytes to take.
 */
int64_t mp_http_held_check(struct mp_http_service *s, int64_t now_ms);

#endif
