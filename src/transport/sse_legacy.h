/*
 * sse_legacy.h - HTTP+SSE as revision 2024-11-05 has it: one stream of events from the server,
 * which begins by naming the place where messages are posted.
 */
#ifndef MP_SSE_LEGACY_H
#define MP_SSE_LEGACY_H

#include "base/loop.h"
#include "net/http_client.h"
#include "transport/destination.h"
#include "transport/transport.h"

#define MP_SSE_LEGACY_STATES(X)                                              \
	X(IDLE, "idle", "not started")                                       \
	X(DIALING, "dialing", "the stream was asked for")                    \
	X(DENIED, "denied", "the answer is no; what it says is being read")  \
	X(WAITING, "waiting", "the stream is there, the place is not known") \
	X(OPEN, "open", "messages may flow")                                 \
	X(OVER, "over", "ended was told")                                    \
	X(CLOSED, "closed", "the last state")

#define MP_SSE_LEGACY_EVENTS(X)                                  \
	X(START, "begin")                                        \
	X(MOVED, "the stream is at another place of the server") \
	X(STREAM, "an answer began, which is a stream")          \
	X(NO, "an answer began, which is none")                  \
	X(PLACE, "the place for messages was named")             \
	X(FAILED, "no more of it; why is written down")          \
	X(CLOSE, "hang up")                                      \
	X(FREED, "its owner lets go of it")

enum mp_sse_legacy_state {
#define X(name, word, meaning) MP_SSE_LEGACY_##name,
	MP_SSE_LEGACY_STATES(X)
#undef X
		MP_SSE_LEGACY_STATE_COUNT
};
enum mp_sse_legacy_event {
#define X(name, meaning) MP_SSE_LEGACY_ON_##name,
	MP_SSE_LEGACY_EVENTS(X)
#undef X
		MP_SSE_LEGACY_EVENT_COUNT
};

/*
 * ended() before opened(): MCPOOL_ENOENT or MCPOOL_EPROTO where no such stream is, so that another
 * transport may be tried; the other codes say nothing about that.
 */
int mp_sse_legacy_new(struct mp_loop *loop, struct mp_http_client *client,
		      const struct mp_destination *destination, struct mp_transport **ret,
		      struct mcpool_error *reterr) MP_MUST;

/* For its test: what the table says. False: an empty cell. */
bool mp_sse_legacy_look_up(enum mp_sse_legacy_state s, enum mp_sse_legacy_event ev,
			   enum mp_sse_legacy_state *ret_to);

#endif
