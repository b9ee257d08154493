/*
 * task_tools.c - tools that must be run as tasks, and the tasks that calls become.
 */
#include "session/task_tools.h"

#include "base/error.h"
#include "rpc/era.h"

mp_value mp_task_find_id(const struct mp_tape *t)
{
	mp_value task = mp_value_get(t, MP_ROOT, "task");

	if (mp_value_is(t, task, MP_TAPE_OBJECT))
		return mp_value_get(t, task, "taskId");
	if (mp_value_text_is(t, mp_value_get(t, MP_ROOT, "resultType"), MP_STR("task")))
		return mp_value_get(t, MP_ROOT, "taskId");
	return MP_NONE;
}

bool mp_task_is_required(struct mp_str tool)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	t.keep_depth = 2;
	return mp_str_find(tool, MP_STR("\"taskSupport\""), 0) >= 0 &&
	       mp_tape_parse(&t, tool, NULL) == 0 &&
	       mp_value_text_is(
		       &t, mp_value_get(&t, mp_value_get(&t, MP_ROOT, "execution"), "taskSupport"),
		       MP_STR("required"));
}

int mp_task_read_id(const struct mp_message *m, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_writer w;
	int r;

	mp_tape_init(&t, 0);
	r = mp_era_open(m, m->result, &t);
	if (r < 0)
		return r;
	if (!mp_value_is(&t, mp_task_find_id(&t), MP_TAPE_STRING))
		return MCPOOL_EPROTO;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "taskId", mp_value_source(&t, mp_task_find_id(&t)));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}
