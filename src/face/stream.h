/*
 * stream.h - messages of one legacy POST, or of the standing GET of a session: sent to a connected
 * client, or kept in a ring until it reconnects (Last-Event-ID).
 */
#ifndef MP_STREAM_H
#define MP_STREAM_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/machine.h"
#include "http/http_service.h"
#include "base/random_id.h"
#include "session/session.h"

#define MP_STREAM_STATES(X)                                                                   \
	X(MP_STREAM_WAITING, "waiting", "a POST whose answer may come alone")                 \
	X(MP_STREAM_FLOWING, "flowing", "events go out as they come")                         \
	X(MP_STREAM_LOOSE, "loose", "no listener; messages are kept")                         \
	X(MP_STREAM_FINISHED, "finished", "complete, and kept for a listener that missed it") \
	X(MP_STREAM_UNHEARD, "unheard",                                                       \
	  "who asked left before there was anything to come back to")                         \
	X(MP_STREAM_OVER, "over", "nothing will come, and nothing is kept")

MP_MACHINE_ENUM(mp_stream_state, MP_STREAM_STATES, MP_STREAM_STATE_COUNT);

enum { MP_STREAM_KEPT = 256 };           /* events of one ring */
#define MP_STREAM_KEPT_BYTES MP_KIB(512) /* of all events; the last one is always kept */

struct mp_stream;

struct mp_stream_hooks {
	/* A client connected or disconnected. */
	void (*heard)(void *u, struct mp_stream *s, bool is_heard);
	/* All messages are sent and no client is connected: kept until mp_stream_end(). */
	void (*finished)(void *u, struct mp_stream *s);
	/* The last call, from any function below: the stream is freed at the end of the turn. */
	void (*over)(void *u, struct mp_stream *s);
};

struct mp_stream {
	struct mp_link link;      /* in its session */
	struct mp_link kept_link; /* in the list of finished streams */
	int64_t kept_since_ms;
	mp_id id; /* id in the session; 0: no request */
	enum mp_stream_state state;
	struct mp_loop *loop;
	const struct mp_stream_hooks *hooks;
	void *u;
	const char *headers;           /* of its responses; borrowed; may be NULL */
	struct mp_exchange *x;         /* the connected client; NULL: none */
	char name[MP_RANDOM_ID + 1];   /* prefix of event ids; "" before the first */
	bool primes;                   /* the client accepts events without data */
	uint64_t last;                 /* number of the newest event */
	uint64_t from;                 /* JOINED: replay the events after this number */
	const struct mp_delivery *now; /* MESSAGE, LAST */
	struct mp_list ring;
	size_t ring_bytes;
	struct mp_grave grave;
};

/* For a POST: waits for its answer. */
struct mp_stream *mp_stream_new(struct mp_loop *loop, const struct mp_stream_hooks *hooks, void *u,
				struct mp_exchange *x);
/* For a GET: starts without a client. */
struct mp_stream *mp_stream_new_standing(struct mp_loop *loop, const struct mp_stream_hooks *hooks,
					 void *u);

void mp_stream_deliver(struct mp_stream *s, const struct mp_delivery *d);
/* A client reconnects and wants the events after `from`; only if mp_stream_may_join(). */
void mp_stream_join(struct mp_stream *s, struct mp_exchange *x, uint64_t from);
bool mp_stream_may_join(const struct mp_stream *s);
/* Detach the client, which is answered in another way; as if it had disconnected. */
struct mp_exchange *mp_stream_release(struct mp_stream *s);
void mp_stream_end(struct mp_stream *s);

/* Parse "0123...-7": stream name and event number. */
bool mp_stream_parse_id(struct mp_str text, struct mp_str *ret_name, uint64_t *ret_number);

#endif
