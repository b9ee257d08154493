/*
 * pool_client.h - a session as the pool and its servers see it: requests and notifications of
 * servers reach the session they are attributed to. Never a guess: a server request that cannot be
 * attributed to one session is refused and counted (mcp_no_owner).
 */
#ifndef MP_POOL_CLIENT_H
#define MP_POOL_CLIENT_H

#include "base/base.h"
#include "pool/pool.h"
#include "rpc/message.h"

struct mp_instance;
struct mp_pool_call;

/* A server request: elicitation/create, sampling/createMessage, roots/list. */
struct mp_pool_server_request {
	mp_id id;                  /* answer it by this; given out once in the pool */
	struct mp_pool_call *call; /* it belongs to; NULL: the server is this session's own */
	const char *server;        /* who asks */
	enum mp_method_id method;
	struct mp_str
		params; /* an object as the server wrote it, valid during the call; or empty */
};

/* Called from the loop. Any of them may be NULL. */
struct mp_pool_client_hooks {
	/* Answer with mp_pool_client_reply() or mp_pool_client_decline(), at once or later. NULL:
	 * declined. */
	void (*request)(void *u, const struct mp_pool_server_request *rq);
	/* Nobody waits for that answer any more. */
	void (*withdraw)(void *u, mp_id request);
	/*
	 * A notification that is for this session: notifications/message (call: during which
	 * one, NULL: none), resources/updated of what it subscribed to, elicitation/complete,
	 * tasks/status.
	 */
	void (*hear)(void *u, const char *server, struct mp_pool_call *call,
		     const struct mp_message *m);
};

/* A session's id, for calls, and from now on what servers say to it. */
mp_id mp_pool_client_join(struct mp_pool *p, const struct mp_pool_client_hooks *hooks, void *u);
/* It is over: as mp_pool_end_session(), its subscriptions end, its server requests are declined. */
void mp_pool_client_leave(struct mp_pool *p, mp_id session);

/* result: an object. Too late, or twice: nothing happens. */
void mp_pool_client_reply(struct mp_pool *p, mp_id request, struct mp_str result);
/* code: what a legacy server is told, as -32601; a modern one's call ends with these words. */
void mp_pool_client_decline(struct mp_pool *p, mp_id request, int code, struct mp_str words);

/*
 * Hear of changes of one resource; counted per session, asked of the server once, and again after
 * each restart. MCPOOL_ENOENT: no such server; MCPOOL_EINVAL: it is up and does not offer that.
 */
int mp_pool_client_subscribe(struct mp_workspace *v, const char *server, mp_id session,
			     struct mp_str uri, struct mcpool_error *reterr) MP_MUST;
/* A server that was switched off or taken out of the files took its subscriptions along. */
bool mp_pool_client_is_subscribed(struct mp_workspace *v, const char *server, mp_id session,
				  struct mp_str uri);
void mp_pool_client_unsubscribe(struct mp_workspace *v, const char *server, mp_id session,
				struct mp_str uri);
/*
 * What this session wants to hear of servers' logs: a level of MCP, static; NULL: as they like.
 * Legacy servers are told the most verbose of all sessions that they serve.
 */
void mp_pool_client_set_level(struct mp_workspace *v, mp_id session, const char *level);
/* Its list of roots changed: servers that are its own, and were told that it has roots, hear it. */
void mp_pool_client_tell_roots_changed(struct mp_workspace *v, mp_id session);

/* --- for the files of pool/ alone ------------------------------------------------------------ */

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
/* A notification that is not about lists. False: no client heard it. */
bool mp_pool_client_hear(struct mp_instance *in, const struct mp_message *m);

/* instance_requests.c: it leaves, and its server requests are declined. */
void mp_instance_requests_leave(struct mp_pool_client *client);
/* subscriptions.c: tell those that subscribed to this resource. False: there are none. */
bool mp_subscriptions_tell(struct mp_instance *in, const struct mp_message *m);
void mp_subscriptions_leave(struct mp_pool_client *client);

#endif
