/*
 * websocket.h - a WebSocket as a transport: one message per text frame, subprotocol `mcp`.
 */
#ifndef MP_WEBSOCKET_H
#define MP_WEBSOCKET_H

#include "base/loop.h"
#include "transport/destination.h"
#include "transport/transport.h"

/*
 * The destination is copied, the client is borrowed. opened() is called when the server has
 * accepted the upgrade; close() sends a close frame and waits a second for the peer's.
 * MCPOOL_ENOMEM.
 */
int mp_websocket_new(struct mp_loop *loop, struct mp_http_client *client,
		     const struct mp_destination *destination, struct mp_transport **ret_transport,
		     struct mcpool_error *reterr) MP_MUST;

#endif
