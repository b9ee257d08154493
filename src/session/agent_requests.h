/*
 * agent_requests.h - server requests on their way to an agent, and its answers.
 */
#ifndef MP_AGENT_REQUESTS_H
#define MP_AGENT_REQUESTS_H

#include "pool/pool_client.h"
#include "session/request.h"

struct mp_agent_request {
	struct mp_link link; /* in its session's queries, or those of a parked request */
	mp_id pool_id;       /* as the pool knows it */
	uint64_t number;     /* what the agent knows it by */
	mp_id stream;        /* where it was asked */
	enum mp_method_id method;
	char *params; /* owned; NULL once it was asked */
};

void mp_agent_request_drop(struct mp_list *list, struct mp_agent_request *q);
/* input_required.c: the agent gets its question as an answer and is to come back; q is the
 * request's then. */
void mp_request_park(struct mp_request *e, struct mp_agent_request *q);

extern const struct mp_pool_client_hooks mp_session_pool_client_hooks;
/* An answer of the agent to one of them. */
void mp_session_take_reply(struct mp_session *s, const struct mp_message *m);

#endif
