/*
 * input_required.h - server requests during calls of modern agents: the agent gets "input required"
 * and retries.
 */
#ifndef MP_SESSION_INPUT_REQUIRED_H
#define MP_SESSION_INPUT_REQUIRED_H

#include "session/request.h"

/* A retry with answers to the server requests of a parked call. False: refused. */
bool mp_session_resume(struct mp_request *e, const struct mp_message *m);
/* The requestState is not one that we issued. */
void mp_session_refuse_state(struct mp_request *e);
/* Keeps the params of the request, in case it is parked. */
int mp_request_note_params(struct mp_request *e, const struct mp_message *m) MP_MUST;

#endif
