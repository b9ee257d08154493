/*
 * control_call.h - mcpool/call: one request to one server for a control peer, and the requests of
 * the server meanwhile (doc/protocol.md, "Control messages"). When the connection ends, its calls
 * are cancelled and its private servers stop.
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
	struct mp_server_requests requests; /* not answered by the peer yet */
};

/* Registers the peer with the pool: peer->session. */
void mp_control_calls_init(struct mp_control_calls *cs, struct mp_control_peer *peer);
void mp_control_calls_done(struct mp_control_calls *cs);

/*
 * {server, method, tool, params, timeoutMs, capabilities}; the answer is {outcome: "answered",
 * result|error}, or the reason why there is none, with the server's status. notifications/progress
 * use the id as their token. capabilities: as of an MCP client; the peer gets elicitation/create of
 * forms as a request if it declares them, and no other request. MCPOOL_ECLOSED: the hub is shutting
 * down, nothing was sent.
 */
int mp_control_calls_ask(struct mp_control_calls *cs, struct mp_str id, const struct mp_tape *t,
			 mp_value params, struct mcpool_error *reterr) MP_MUST;
/* The peer's answer to a request that it got during a call. */
void mp_control_calls_take_reply(struct mp_control_calls *cs, const struct mp_message *m);
/* Cancel a request; its answer still follows and says so. */
void mp_control_calls_cancel(struct mp_control_calls *cs, struct mp_str id);

#endif
