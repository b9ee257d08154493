/*
 * reach_answer.h - converts the result of mcpool/call into a pool answer (doc/protocol.md, "Control
 * messages").
 */
#ifndef MP_REACH_ANSWER_H
#define MP_REACH_ANSWER_H

#include "base/arena.h"
#include "pool/pool_call.h"
#include "pool/status.h"
#include "rpc/message.h"

struct mp_reach_answer {
	struct mp_pool_answer answer; /* borrows from this struct and the message */
	struct mp_status status;      /* of the server, if there is no result */
	bool has_status;
	struct mp_message theirs; /* the server's answer */
	struct mcpool_error why, cause;
	struct mp_arena arena;
};

void mp_reach_answer_init(struct mp_reach_answer *a);
void mp_reach_answer_done(struct mp_reach_answer *a);
/* m: the hub's answer; server: borrowed. Missing members are unknown values. */
void mp_reach_answer_read(struct mp_reach_answer *a, const struct mp_message *m,
			  const char *server);

#endif
