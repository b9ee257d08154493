/*
 * server_requests.h - requests of servers that the peer of one control connection answers while its
 * mcpool/call is open. Each goes out as an ordinary JSON-RPC request with the server's params, byte
 * for byte; which requests the peer accepts is decided by the caller (control_call.c).
 */
#ifndef MP_SERVER_REQUESTS_H
#define MP_SERVER_REQUESTS_H

#include "base/list.h"
#include "base/str.h"
#include "pool/pool_client.h"

struct mp_server_requests {
	struct mp_pool *pool; /* borrowed */
	void (*say)(void *u, struct mp_str text);
	void *u;
	struct mp_list open;
	uint64_t last_id;
};

void mp_server_requests_init(struct mp_server_requests *rs, struct mp_pool *pool,
			     void (*say)(void *u, struct mp_str text), void *u);
/* The peer leaves, and nothing else does: what is open is declined. */
void mp_server_requests_decline(struct mp_server_requests *rs);
/* Does not inform the pool: its session leaves, which declines the open requests. */
void mp_server_requests_done(struct mp_server_requests *rs);
void mp_server_requests_send(struct mp_server_requests *rs,
			     const struct mp_pool_server_request *rq);
/* The server cancelled the request: send notifications/cancelled to the peer. */
void mp_server_requests_withdraw(struct mp_server_requests *rs, mp_id question);
/* A result or error of the peer; ignored if its id names no open request. */
void mp_server_requests_answer(struct mp_server_requests *rs, const struct mp_message *m);

#endif
