/*
 * control_client.h - sends control calls to a hub and receives the answers on the loop
 * (doc/protocol.md, "Control messages"). The hub is the running one, or one in this process
 * (own_hub.h).
 */
#ifndef MP_CONTROL_CLIENT_H
#define MP_CONTROL_CLIENT_H

#include "base/base.h"
#include "base/loop.h"
#include "base/str.h"
#include "rpc/message.h"

struct mp_control_client;

/* Called from the loop. Each may free the client. */
struct mp_control_client_hooks {
	void (*request)(void *u, uint64_t id, const struct mp_message *m); /* of the hub */
	void (*notification)(void *u, const struct mp_message *m);
	void (*ended)(void *u); /* the hub has disconnected; open requests stay unanswered */
};

/* m: a result or an error, valid during the call; NULL: the answer is too large. */
typedef void (*mp_control_answer_fn)(void *u, const struct mp_message *m);

/* fd is taken; the hello is done. limit: bytes of one message of the hub. */
struct mp_control_client *mp_control_client_new(struct mp_loop *loop, int fd, size_t limit,
						const struct mp_control_client_hooks *hooks,
						void *u);
/* Open requests stay unanswered. Accepts NULL, returns NULL. */
struct mp_control_client *mp_control_client_free(struct mp_control_client *c);

/* params: an object. fn follows from the loop, once. MCPOOL_ELIMIT, MCPOOL_ENOMEM. */
int mp_control_client_ask(struct mp_control_client *c, const char *method, struct mp_str params,
			  mp_control_answer_fn fn, void *u, uint64_t *ret_id) MP_MUST;
/* Cancel a request; its answer still follows and says so. */
void mp_control_client_cancel(struct mp_control_client *c, uint64_t id);
/* Answer a request of the hub. An empty result: refuse it with this text. */
void mp_control_client_reply(struct mp_control_client *c, uint64_t id, struct mp_str result,
			     const char *refusal);

#endif
