/*
 * control_call.h - mcpool/call: one request to one server for a control peer, and what the server
 * asks meanwhile (doc/protocol.md, "Control messages"). Everything ends with the connection: its
 * calls are cancelled, its private servers stop.
 */
#ifndef MP_CONTROL_CALL_H
#define MP_CONTROL_CALL_H

#include "base/base.h"
#include "base/list.h"
#include "base/str.h"
#include "face/control_peer.h"
#include "face/server_requests.h"
#include "json/value.h"
#include "rpc/message.h"

struct mp_control_calls {
	struct mp_control_peer *peer;
	struct mp_list open;
	struct mp_server_requests requests; /* that the peer has not answered */
};

/* Makes the peer known to the pool: peer->session. */
void mp_control_calls_init(struct mp_control_calls *cs, struct mp_control_peer *peer);
void mp_control_calls_done(struct mp_control_calls *cs);

/*
 * {server, method, tool, params, timeoutMs, capabilities}; the answer is {outcome: "answered",
 * result|error}, or why there is none, with the server's status. notifications/progress have the id
 * as their token. capabilities: what the peer can be asked meanwhile, an object as of an MCP
 * client; elicitation/create of forms comes as a request where it has them, and nothing else does.
 * MCPOOL_ECLOSED: the hub is about to leave, nothing was sent.
 */
int mp_control_calls_ask(struct mp_control_calls *cs, struct mp_str id, const struct mp_tape *t,
			 mp_value params, struct mcpool_error *reterr) MP_MUST;
/* What the peer answered to a request that it got during a call. */
void mp_control_calls_take_reply(struct mp_control_calls *cs, const struct mp_message *m);
/* The answer is no longer wanted: it comes, and says so. */
void mp_control_calls_cancel(struct mp_control_calls *cs, struct mp_str id);

#endif
