/*
 * unknown.h - explains why a name was not found.
 */
#ifndef MP_SESSION_UNKNOWN_H
#define MP_SESSION_UNKNOWN_H

#include "session/request.h"

/* candidates: the number of possible matches. */
void mp_session_refuse_unknown(struct mp_request *e, struct mp_str name, size_t candidates);

#endif
