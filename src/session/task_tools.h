/*
 * task_tools.h - tools that must be run as tasks, and the tasks that calls become.
 */
#ifndef MP_TASK_TOOLS_H
#define MP_TASK_TOOLS_H

#include "base/buf.h"
#include "rpc/message.h"

/* The id of the task that a call became; MP_NONE: not a task. t is the result's own tape. */
mp_value mp_task_find_id(const struct mp_tape *t);
bool mp_task_is_required(struct mp_str tool); /* the tool's JSON */
/* {"taskId": ...} of the answer to such a call, with the server's id. MCPOOL_EPROTO: no task. */
int mp_task_read_id(const struct mp_message *m, struct mp_buf *out) MP_MUST;

#endif
