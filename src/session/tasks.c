/*
 * tasks.c - calls that continue after their answer.
 * Each task gets a name of ours, which only its session knows (V26) and which maps to the server
 * that has it. A tool that must be run as a task is run as one for agents without task support.
 */
#include "session/tasks.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "session/opening.h"
#include "session/task_tools.h"

struct mp_task_record {
	struct mp_link link; /* in its session's tasks, oldest first */
	char name[MP_TASK_NAME];
	char *server, *id; /* owned */
	char *state;       /* the last known state, JSON with our name; owned */
};

static struct mp_task_record *record_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_task_record, link);
}

/* --- records --------------------------------------------------------------------------------- */

static void tasks_forget(struct mp_session *s, struct mp_task_record *r)
{
	mp_list_remove(&s->tasks, &r->link);
	mp_free(r->server);
	mp_free(r->id);
	mp_free(r->state);
	mp_free(r);
}

void mp_session_drop_tasks(struct mp_session *s)
{
	struct mp_link *link;

	while ((link = mp_list_first(&s->tasks)))
		tasks_forget(s, record_of(link));
}

static struct mp_task_record *tasks_add(struct mp_session *s, const char *server, struct mp_str id)
{
	struct mp_task_record *r = mp_alloc(sizeof(*r));

	if (s->tasks.len >= MP_LIMIT_TASKS)
		tasks_forget(s, record_of(mp_list_first(&s->tasks)));
	mp_random_id_make(r->name);
	r->server = mp_dup(server);
	r->id = mp_session_keep(id);
	mp_list_append(&s->tasks, &r->link);
	return r;
}

static struct mp_task_record *tasks_find(struct mp_session *s, struct mp_str name)
{
	MP_LIST_EACH(&s->tasks, link)
		if (mp_str_eq(mp_str_of(record_of(link)->name), name))
			return record_of(link);
	return NULL;
}

/* --- results with a task --------------------------------------------------------------------- */

void mp_task_note(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str id;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (mp_era_open(m, m->result, &t) < 0 ||
	    mp_value_text(&t, mp_task_find_id(&t), &arena, &id) < 0 || !id.len)
		return;
	memcpy(e->task, tasks_add(e->session, e->server, id)->name, sizeof(e->task));
}

/* Members that may contain a task id: the result, its `task`, and related-task in `_meta`. */
static bool is_of_task(const struct mp_tape *t, mp_value key)
{
	return mp_value_text_is(t, key, MP_STR("task")) ||
	       mp_value_text_is(t, key, MP_STR("_meta")) ||
	       mp_value_text_is(t, key, MP_STR("io.modelcontextprotocol/related-task"));
}

/* Writes a result with our name of the task. */
static void write_object(struct mp_writer *w, const struct mp_tape *t, mp_value v, const char *name)
{
	mp_write_begin_object(w);
	MP_VALUE_EACH(t, v, key) {
		mp_value inner = mp_value_of(key);

		mp_write_raw_key(w, mp_value_source(t, key));
		if (mp_value_text_is(t, key, MP_STR("taskId")))
			mp_write_text(w, mp_str_of(name));
		else if (is_of_task(t, key) && mp_value_is(t, inner, MP_TAPE_OBJECT))
			write_object(w, t, inner, name); /* limited by the message depth */
		else
			mp_write_raw(w, mp_value_source(t, inner));
	}
	mp_write_end_object(w);
}

void mp_task_write_meta(const struct mp_request *e, const struct mp_message *m, mp_value meta,
			struct mp_writer *w)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_era_open(m, meta, &t) < 0)
		mp_write_raw(w, MP_STR("{}")); /* unusable */
	else
		write_object(w, &t, MP_ROOT, e->task);
}

int mp_task_write_result(const struct mp_request *e, const struct mp_message *m, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_task_record *r = tasks_find(e->session, mp_str_of(e->task));
	size_t before = out->len;
	struct mp_writer w;
	int code;

	mp_tape_init(&t, 0);
	code = mp_era_open(m, m->result, &t);
	if (code < 0)
		return code;
	mp_write_init(&w, out, NULL);
	write_object(&w, &t, MP_ROOT, e->task);
	code = mp_write_finish(&w);
	if (code == 0 && r && out->len - before <= MP_KIB(64) && /* for tasks/list */
	    mp_value_get(&t, MP_ROOT, "status") != MP_NONE) {
		mp_free(r->state);
		r->state = mp_session_keep((struct mp_str){out->data + before, out->len - before});
	}
	return code;
}

/* --- requests about tasks -------------------------------------------------------------------- */

/* The tasks of this session in their last known state. */
static void answer_list(struct mp_request *e)
{
	struct mp_buf *out = &e->session->sessions->scratch;
	struct mp_writer w;

	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("tasks"));
	mp_write_begin_array(&w);
	MP_LIST_EACH(&e->session->tasks, link)
		if (record_of(link)->state)
			mp_write_raw(&w, mp_str_of(record_of(link)->state));
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		mp_request_give_up(e, MCPOOL_ENOMEM);
	else
		mp_request_result(e, mp_buf_get(out));
}

void mp_session_answer_task(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_task_record *r = NULL;
	struct mp_str name;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (e->method == MP_METHOD_TASKS_LIST) {
		answer_list(e);
		return;
	}
	if (e->era == MP_ERA_MODERN && !(e->can & MP_CAN_TASKS)) {
		mp_session_refuse_capability(
			e, MP_STR("{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"));
		return;
	}
	if (mp_value_text(m->tape, m->subject, &arena, &name) == 0)
		r = tasks_find(e->session, name);
	if (!r) { /* a foreign task is treated like an unknown one */
		mp_request_refuse(e, -32602, 200, "there is no such task");
		return;
	}
	memcpy(e->task, r->name, sizeof(e->task));
	mp_session_send_on(e, m, r->server, mp_str_of(r->id), "taskId");
}
