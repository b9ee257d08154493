/*
 * task_call.h - a call that the server runs as a task: started, polled, fetched; cancelled when the
 * user interrupts.
 */
#ifndef MP_TASK_CALL_H
#define MP_TASK_CALL_H

#include "base/buf.h"
#include "cli/servers/outcome.h"

struct mp_task_call {
	struct mp_outcome_teller *teller; /* reports the result and ends the command */
	char *server;                     /* owned */
	struct mp_buf params;             /* {"taskId":...} */
	int64_t timeout_ms;               /* of each request; 0: as configured */
};

/* Accepts a zeroed one. */
void mp_task_call_done(struct mp_task_call *c);
/* Like mp_reach_call(); the params of rq get the task member. */
int mp_task_call_start(struct mp_task_call *c, struct mp_outcome_teller *teller,
		       const struct mp_pool_call_options *rq, struct mcpool_error *reterr) MP_MUST;

#endif
