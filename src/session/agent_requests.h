/*
 * agent_requests.h - one question of a server on its way to an agent; for agent_requests.c and
 * input_required.c.
 */
#ifndef MP_AGENT_REQUESTS_H
#define MP_AGENT_REQUESTS_H

#include "session/parts.h"

struct mp_agent_request {
	struct mp_link link; /* in its session's queries, or those of a parked request */
	mp_id pool_id;       /* as the pool knows it */
	uint64_t number;     /* what the agent knows it by */
	mp_id stream;        /* where it was asked */
	enum mp_method_id method;
	char *params; /* owned; NULL once it was asked */
};

void mp_agent_request_drop(struct mp_list *list, struct mp_agent_request *q);
/* The agent gets its question as an answer and is to come back; q is the request's then. */
void mp_request_park(struct mp_request *e, struct mp_agent_request *q);

#endif
