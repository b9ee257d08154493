/*
 * tasks.h - calls that continue after their answer.
 */
#ifndef MP_SESSION_TASKS_H
#define MP_SESSION_TASKS_H

#include "json/write.h"
#include "session/request.h"

void mp_session_answer_task(struct mp_request *e, const struct mp_message *m);
void mp_session_drop_tasks(struct mp_session *s);
/* Names the task that a call became, in request.task. */
void mp_task_note(struct mp_request *e, const struct mp_message *m);
int mp_task_write_result(const struct mp_request *e, const struct mp_message *m,
			 struct mp_buf *out) MP_MUST;
/* Writes `_meta` of a task's result, with our name of the task. */
void mp_task_write_meta(const struct mp_request *e, const struct mp_message *m, mp_value meta,
			struct mp_writer *w);

#endif
