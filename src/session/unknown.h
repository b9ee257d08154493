/*
 * unknown.h - why there is none of a name.
 */
#ifndef MP_SESSION_UNKNOWN_H
#define MP_SESSION_UNKNOWN_H

#include "session/request.h"

/* candidates: how many it could have meant. */
void mp_session_refuse_unknown(struct mp_request *e, struct mp_str name, size_t candidates);

#endif
