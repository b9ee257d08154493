/*
 * nearest_session.h - the session of the agent that a process was started by.
 */
#ifndef MP_NEAREST_SESSION_H
#define MP_NEAREST_SESSION_H

#include "base/base.h"
#include "base/ids.h"

struct mp_sessions;

/*
 * Walks from the parent of pid upwards to the first process that has started a bridge other than
 * pid, and returns its oldest session; 0: none.
 */
mp_id mp_nearest_session_find(const struct mp_sessions *sessions, int pid);

#endif
