/*
 * stream.h - where the messages of one legacy POST go, or those of no request in particular: to a
 * client that listens, or into a ring until it comes back (Last-Event-ID).
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

#define MP_STREAM_STATES(X)                                                                    \
	X(MP_STREAM_WAITING, "waiting", "a POST whose answer may come alone")                  \
	X(MP_STREAM_FLOWING, "flowing", "events go out as they come")                          \
	X(MP_STREAM_LOOSE, "loose", "nobody listens; what comes is kept")                      \
	X(MP_STREAM_FINISHED, "finished", "all is said, and kept for whoever did not hear it") \
	X(MP_STREAM_UNHEARD, "unheard",                                                        \
	  "who asked left before there was anything to come back to")                          \
	X(MP_STREAM_OVER, "over", "nothing will come, and nothing is kept")

MP_MACHINE_ENUM(mp_stream_state, MP_STREAM_STATES, MP_STREAM_STATE_COUNT);

enum { MP_STREAM_KEPT = 256 }; /* events of one ring */
#define MP_STREAM_KEPT_BYTES                                                 \
	MP_KIB(512) /* all of them, but for the last one, which always stays \
		     */

struct mp_stream;

struct mp_stream_hooks {
	/* Somebody listens from now on, or does not any more. */
	void (*heard)(void *u, struct mp_stream *s, bool is_heard);
	/* All is said and nobody listens: it is kept until mp_stream_end(). */
	void (*finished)(void *u, struct mp_stream *s);
	/* The last call, from any function below: it is freed when the turn ends. */
	void (*over)(void *u, struct mp_stream *s);
};

struct mp_stream {
	struct mp_link link;      /* its session's */
	struct mp_link kept_link; /* among those that are finished */
	int64_t kept_since_ms;
	mp_id id; /* as the session knows it; 0: of no request */
	enum mp_stream_state state;
	struct mp_loop *loop;
	const struct mp_stream_hooks *hooks;
	void *u;
	const char *headers;   /* of its answers; borrowed; may be NULL */
	struct mp_exchange *x; /* who listens; NULL: nobody */
	char name[MP_RANDOM_ID +
		  1];  /* before the number of an event; "" as long as there is none */
	bool primes;   /* the client knows events without data */
	uint64_t last; /* number of the newest event */
	uint64_t from; /* JOINED: what comes behind this number is wanted */
	const struct mp_delivery *now; /* MESSAGE, LAST */
	struct mp_list ring;
	size_t ring_bytes;
	struct mp_grave grave;
};

/* Of a POST: it waits for its answer. */
struct mp_stream *mp_stream_new(struct mp_loop *loop, const struct mp_stream_hooks *hooks, void *u,
				struct mp_exchange *x);
/* Of no request: it begins loose. */
struct mp_stream *mp_stream_new_standing(struct mp_loop *loop, const struct mp_stream_hooks *hooks,
					 void *u);

void mp_stream_deliver(struct mp_stream *s, const struct mp_delivery *d);
/* The client comes for what is behind that number; only where mp_stream_may_join(). */
void mp_stream_join(struct mp_stream *s, struct mp_exchange *x, uint64_t from);
bool mp_stream_may_join(const struct mp_stream *s);
/* Take its client away: it is answered in another way. As if it had left. */
struct mp_exchange *mp_stream_release(struct mp_stream *s);
void mp_stream_end(struct mp_stream *s);

/* "0123...-7": which stream, and which event? */
bool mp_stream_parse_id(struct mp_str text, struct mp_str *ret_name, uint64_t *ret_number);

#endif
