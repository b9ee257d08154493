/*
 * pool_client.h - a session as a client of servers: receives the server requests and notifications
 * that are attributed to it.
 * The pool never guesses: a server request that cannot be attributed to one session is refused and
 * counted (mcp_no_owner).
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
	mp_id id;                  /* for the answer; unique in the pool */
	struct mp_pool_call *call; /* its call; NULL: a private server */
	const char *server;        /* the server that sent it */
	enum mp_method_id method;
	struct mp_str params; /* an object as sent by the server, valid during the call; or empty */
};

/* Called from the loop. Any of them may be NULL. */
struct mp_pool_client_hooks {
	/*
	 * Answer with mp_pool_client_reply() or mp_pool_client_decline(), now or later. NULL:
	 * declined.
	 */
	void (*request)(void *u, const struct mp_pool_server_request *rq);
	/* The answer is no longer needed. */
	void (*withdraw)(void *u, mp_id request);
	/*
	 * A notification for this session: notifications/message (call: the call it belongs to;
	 * NULL: none), resources/updated of a subscribed resource, elicitation/complete,
	 * tasks/status.
	 */
	void (*hear)(void *u, const char *server, struct mp_pool_call *call,
		     const struct mp_message *m);
};

/* Returns a session id for calls. From now on the session gets messages of servers. */
mp_id mp_pool_client_join(struct mp_pool *p, const struct mp_pool_client_hooks *hooks, void *u);
/*
 * This session, which has made no calls yet, uses the private servers of its parent and of those
 * that the parent borrows from (A73). They stop when the last of all these sessions has left.
 */
void mp_pool_client_borrow(struct mp_pool *p, mp_id session, mp_id parent);
/*
 * The session has ended: mp_pool_end_session(), its subscriptions end, its server requests are
 * declined.
 */
void mp_pool_client_leave(struct mp_pool *p, mp_id session);

/* result: an object. A late or second answer is ignored. */
void mp_pool_client_reply(struct mp_pool *p, mp_id request, struct mp_str result);
/* code: sent to a legacy server, as -32601. A modern server's call ends with this text. */
void mp_pool_client_decline(struct mp_pool *p, mp_id request, int code, struct mp_str words);

/*
 * Subscribe to changes of one resource. Counted per session; sent to the server once, and again
 * after each restart. MCPOOL_ENOENT: no such server; MCPOOL_EINVAL: it is up and does not support
 * that.
 */
int mp_pool_client_subscribe(struct mp_workspace *v, const char *server, mp_id session,
			     struct mp_str uri, struct mcpool_error *reterr) MP_MUST;
/* False after the server was switched off or removed from the files: that ends subscriptions. */
bool mp_pool_client_is_subscribed(struct mp_workspace *v, const char *server, mp_id session,
				  struct mp_str uri);
void mp_pool_client_unsubscribe(struct mp_workspace *v, const char *server, mp_id session,
				struct mp_str uri);
/*
 * The log level of this session: a level of MCP, static; NULL: the server's default. Legacy servers
 * get the most verbose level of the sessions they serve.
 */
void mp_pool_client_set_level(struct mp_workspace *v, mp_id session, const char *level);
/* The session's roots changed: tells its private servers to which roots were declared. */
void mp_pool_client_tell_roots_changed(struct mp_workspace *v, mp_id session);

/* --- private to pool/ ------------------------------------------------------------------------ */

struct mp_pool_client {
	struct mp_link link; /* in the pool's list */
	struct mp_pool *pool;
	mp_id id;
	mp_id home; /* whose private servers it uses: its id, or that of a session which may have
		       left */
	struct mp_pool_client_hooks hooks;
	void *u;
	struct mp_workspace *workspace; /* of its log level and toggles; NULL: it set none */
	int level;                      /* log level, a severity; -1: any */
	struct mp_map toggles;          /* names it switched for itself, to an mp_toggle */
	struct mp_list requests;        /* open server requests that it has */
	struct mp_list withdrawn;       /* withdrawn server requests, to be reported */
	struct mp_list subscriptions;
	struct mp_grave grave;
};

/* pool_client.c; NULL: it has left or never joined. */
struct mp_pool_client *mp_pool_client_find(const struct mp_pool *p, mp_id session);
/* A notification that is not about lists. False: no client received it. */
bool mp_pool_client_hear(struct mp_instance *in, const struct mp_message *m);

/* instance_requests.c: the client leaves; its server requests are declined. */
void mp_instance_requests_leave(struct mp_pool_client *client);
/* subscriptions.c: tells the subscribers of this resource. False: there are none. */
bool mp_subscriptions_tell(struct mp_instance *in, const struct mp_message *m);
void mp_subscriptions_leave(struct mp_pool_client *client);
/* toggle.c: what it switched for itself ends with it. */
void mp_toggles_leave(struct mp_pool_client *client);

#endif
