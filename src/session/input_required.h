/*
 * input_required.h - calls of modern agents at servers that ask: the agent gets "input required"
 * and comes back.
 */
#ifndef MP_SESSION_INPUT_REQUIRED_H
#define MP_SESSION_INPUT_REQUIRED_H

#include "session/request.h"

/* The agent came back with answers to what a request was parked for. False: refused. */
bool mp_session_resume(struct mp_request *e, const struct mp_message *m);
/* What it brought is nothing that was given out. */
void mp_session_refuse_state(struct mp_request *e);
/* What the request asks for, in case it is parked. */
int mp_request_note_params(struct mp_request *e, const struct mp_message *m) MP_MUST;

#endif
