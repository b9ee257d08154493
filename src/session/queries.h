/*
 * queries.h - one question of a server on its way to an agent; for queries.c and parked.c.
 */
#ifndef MP_QUERIES_H
#define MP_QUERIES_H

#include "session/parts.h"

struct mp_query {
	struct mp_link link; /* in its session's queries, or those of a parked request */
	mp_id question;      /* of the pool */
	uint64_t number;     /* what the agent knows it by */
	mp_id stream;        /* where it was asked */
	enum mp_method_id method;
	char *params; /* owned; NULL once it was asked */
};

void mp_query_drop(struct mp_list *list, struct mp_query *q);
/* The agent gets its question as an answer and is to come back; q is the request's then. */
void mp_request_park(struct mp_request *e, struct mp_query *q);

#endif
