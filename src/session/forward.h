/*
 * forward.h - forwards requests to a server and returns the results.
 */
#ifndef MP_SESSION_FORWARD_H
#define MP_SESSION_FORWARD_H

#include "session/request.h"

void mp_session_forward(struct mp_request *e, const struct mp_message *m);

#endif
