/*
 * desk.h - what one-shot verbs have a running hub do for them: mcpool/look, which says where the
 * servers of a workspace stand after some were started, and mcpool/call, a call as if of their own
 * pool. Everything is theirs alone: who leaves takes its calls and its private servers along.
 */
#ifndef MP_DESK_H
#define MP_DESK_H

#include "base/base.h"
#include "base/str.h"
#include "hub/hub.h"
#include "json/value.h"
#include "rpc/message.h"

struct mp_desk;

/* workspace: borrowed, outlives it. say: one message; from the loop, or from within what follows.
 */
struct mp_desk *mp_desk_new(struct mp_hub *hub, struct mp_workspace *workspace,
			    void (*say)(void *u, struct mp_str text), void *u);
struct mp_desk *mp_desk_free(struct mp_desk *d); /* accepts NULL, returns NULL */

/*
 * {servers: [NAME...], only: [NAME...], start: "none"|"unknown"|"all", fresh, offers, maxMs}: start
 * those (of `only`, where it is there), and those that are up already list anew if fresh; when each
 * is live or failed, or after so long, the answer is a roster (roster.h) of servers, or of all. id:
 * of the request, JSON as written.
 */
int mp_desk_look(struct mp_desk *d, struct mp_str id, const struct mp_tape *t, mp_value params,
		 struct mcpool_error *reterr) MP_MUST;
/*
 * {server, method, tool, params, timeoutMs, capabilities}; the answer is {outcome: "answered",
 * result|error}, or why there is none and where the server stands. notifications/progress have the
 * id as their token. capabilities: what the peer can be asked meanwhile, an object as of an MCP
 * client; elicitation/create of forms comes as a request where it has them, and nothing else does.
 * MCPOOL_ECLOSED: the hub is about to leave, nothing was sent.
 */
int mp_desk_call(struct mp_desk *d, struct mp_str id, const struct mp_tape *t, mp_value params,
		 struct mcpool_error *reterr) MP_MUST;
/* What the peer answered to a request that it got during a call. */
void mp_desk_take_reply(struct mp_desk *d, const struct mp_message *m);
/* Nobody wants the answer any more: it comes, and says so. */
void mp_desk_cancel(struct mp_desk *d, struct mp_str id);

#endif
