/*
 * status_state.h - every state that displays show of a server, with its words (doc/protocol.md,
 * "States on display"). mp_config_get_state() says which of them the files alone lead to;
 * pool/status.c adds what runs.
 */
#ifndef MP_STATUS_STATE_H
#define MP_STATUS_STATE_H

#include "base/base.h"

/* In the order of summaries: name, word of all displays, word of seed 000 (A28), meaning. */
#define MP_STATUS_STATES(X)                                                                      \
	X(CONNECTED, "connected", "connected", "calls may flow")                                 \
	X(PENDING, "pending", "connecting", "being started")                                     \
	X(FAILED, "failed", "disconnected", "did not start, has ended, or its entry is invalid") \
	X(NEEDS_APPROVAL, "needs-approval", "disconnected", "waits for `mcpool trust`")          \
	X(NEEDS_AUTH, "needs-auth", "disconnected", "waits for a login")                         \
	X(READY, "ready", "disconnected", "approved; starts when it is called")                  \
	X(DISABLED, "disabled", "disconnected", "switched off")                                  \
	X(SHADOWED, "shadowed", "disconnected", "hidden by an entry of higher precedence")

enum mp_status_state {
#define X(name, word, connection, meaning) MP_STATUS_##name,
	MP_STATUS_STATES(X)
#undef X
		MP_STATUS_STATE_COUNT
};
const char *mp_status_state_get_name(enum mp_status_state s); /* "needs-auth" */
/* connected, connecting or disconnected (A28) */
const char *mp_status_state_get_connection(enum mp_status_state s);

#endif
