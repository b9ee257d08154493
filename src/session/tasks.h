/*
 * tasks.h - tools that can only be run as tasks.
 */
#ifndef MP_SESSION_TASKS_H
#define MP_SESSION_TASKS_H

#include "base/buf.h"
#include "rpc/message.h"

bool mp_task_is_required(struct mp_str tool); /* the tool's JSON */
/* {"taskId": ...} of the answer to such a call, as the server calls it. MCPOOL_EPROTO: no task. */
int mp_task_read_id(const struct mp_message *m, struct mp_buf *out) MP_MUST;

#endif
