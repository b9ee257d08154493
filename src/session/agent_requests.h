/*
 * agent_requests.h - server requests forwarded to an agent, and its answers.
 */
#ifndef MP_AGENT_REQUESTS_H
#define MP_AGENT_REQUESTS_H

#include "pool/pool_client.h"
#include "session/request.h"

struct mp_agent_request {
	struct mp_link link; /* in its session's agent_requests, or those of a parked request */
	mp_id pool_id;       /* its id in the pool */
	uint64_t number;     /* its id for the agent */
	mp_id stream;        /* the stream it was sent on */
	enum mp_method_id method;
	char *params; /* owned; NULL once it was sent */
};

void mp_agent_request_drop(struct mp_list *list, struct mp_agent_request *q);
/*
 * input_required.c: the agent gets the server request as its answer and must retry; the request
 * owns q then.
 */
void mp_request_park(struct mp_request *e, struct mp_agent_request *q);

extern const struct mp_pool_client_hooks mp_session_pool_client_hooks;
/* An answer of the agent to a server request. */
void mp_session_take_reply(struct mp_session *s, const struct mp_message *m);

#endif
