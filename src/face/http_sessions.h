/*
 * http_sessions.h - HTTP sessions of revisions up to 2025-11-25, as their test sees them.
 */
#ifndef MP_HTTP_SESSIONS_H
#define MP_HTTP_SESSIONS_H

#include "base/base.h"

#define MP_HTTP_SESSION_STATES(X)                                 \
	X(BUSY, "busy", "a client listens on one of its streams") \
	X(IDLE, "idle", "nobody does; it ends when that lasts")   \
	X(ENDED, "ended", "its id means nothing any more")

#define MP_HTTP_SESSION_EVENTS(X)                                          \
	X(HEARD, "a client listens, where none did")                       \
	X(UNHEARD, "the last one does not any more")                       \
	X(USED, "a message came")                                          \
	X(EXPIRED, "it was idle for too long, or another needs its place") \
	X(DELETED, "its client, or the hub, ends it")

enum mp_http_session_state {
#define X(name, word, meaning) MP_HTTP_SESSION_##name,
	MP_HTTP_SESSION_STATES(X)
#undef X
		MP_HTTP_SESSION_STATE_COUNT
};
enum mp_http_session_event {
#define X(name, meaning) MP_HTTP_SESSION_ON_##name,
	MP_HTTP_SESSION_EVENTS(X)
#undef X
		MP_HTTP_SESSION_EVENT_COUNT
};

/* For the test of the table. False: there is no such cell. */
bool mp_http_session_look_up(enum mp_http_session_state s, enum mp_http_session_event ev,
			     enum mp_http_session_state *ret_to);

/* How long what was said is kept for a client that may not have heard it. */
#define MP_HTTP_FINISHED_MS 60000
enum { MP_HTTP_FINISHED = 64 }; /* streams of all sessions that are kept, beside that */

#endif
