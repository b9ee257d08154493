/*
 * pool_client_parts.h - what clients, their questions and their subscriptions are made of; for the
 * files of pool/ that tell them.
 */
#ifndef MP_POOL_CLIENT_PARTS_H
#define MP_POOL_CLIENT_PARTS_H

#include "pool/instance.h"
#include "pool/pool_client.h"

struct mp_pool_call;

struct mp_pool_client {
	struct mp_link link; /* in the pool's list */
	struct mp_pool *pool;
	mp_id id;
	struct mp_pool_client_hooks hooks;
	void *u;
	struct mp_workspace *workspace; /* for which its level was set; NULL: it was not */
	int level;                /* what it wants to hear of logs, a severity; -1: anything */
	struct mp_list requests;  /* of servers, that it has */
	struct mp_list withdrawn; /* that it had, and will be told so */
	struct mp_list subscriptions;
	struct mp_grave grave;
};

/* pool_client.c; NULL: it has left, or never was one. */
struct mp_pool_client *mp_pool_client_find(struct mp_pool *p, mp_id session);
void mp_pool_client_drop_all(struct mp_pool *p);
/* A notification that is not about lists. False: nobody heard it. */
bool mp_pool_client_hear(struct mp_instance *in, const struct mp_message *m);
/* The most verbose level of those whom it serves, where it has not been told. */
void mp_pool_client_tell_level(struct mp_instance *in);

/* instance_requests.c: a server's questions, from when they are asked until they are answered. */
void mp_instance_requests_init(struct mp_instance *in);
/* The instance's answerer; NULL: nobody is ever asked. */
const struct mp_answerer *mp_instance_requests_get_answerer(struct mp_instance *in);
/* The call is over, and so are its questions. */
void mp_instance_requests_end_call(struct mp_pool_call *l);
/* It leaves: whatever it was asked is declined. */
void mp_instance_requests_leave(struct mp_pool_client *client);

/* subscriptions.c: to changes of single resources. */
void mp_topics_init(struct mp_instance *in);
void mp_topics_done(struct mp_instance *in);
/* Another life of the server is up, and knows of none. */
void mp_topics_renew(struct mp_instance *in);
/* Tell whoever wanted to know. False: nobody. */
bool mp_topics_tell(struct mp_instance *in, const struct mp_message *m);
void mp_subscriptions_leave(struct mp_pool_client *client);
/* The workspace means other instances than before; or it goes. */
void mp_subscriptions_resettle(struct mp_workspace *v);
void mp_subscriptions_drop(struct mp_workspace *v);

#endif
