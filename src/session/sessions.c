/*
 * sessions.c - all sessions of a hub, and their shared state.
 */
#include "session/sessions.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/held_names.h"

#define KEEP_AT_MOST MP_KIB(256)
enum { MAX_TOLD = 1000 }; /* maximum of logged name collisions per run of the hub */

static void parked_too_long(void *u)
{
	mp_session_expire_parked(u);
}

static void tell_drained(void *u)
{
	struct mp_sessions *l = u;

	if (l->drained)
		l->drained(l->drained_u);
}

void mp_sessions_look_if_drained(struct mp_sessions *l)
{
	if (l->is_draining && l->open == 0 && !mp_list_linked(&l->drained_task.link))
		mp_loop_post(l->loop, &l->drained_task);
}

bool mp_sessions_begin_call(struct mp_sessions *l)
{
	if (l->is_draining)
		return false;
	l->open++;
	return true;
}

void mp_sessions_end_call(struct mp_sessions *l)
{
	mp_check(l->open > 0);
	l->open--;
	mp_sessions_look_if_drained(l);
}

struct mp_sessions *mp_sessions_new(const struct mp_sessions_options *o)
{
	struct mp_sessions *l = mp_alloc(sizeof(*l));

	l->o = *o;
	l->loop = mp_pool_get_loop(o->pool);
	mp_list_init(&l->list);
	mp_list_init(&l->scopes);
	mp_map_init(&l->noted, (size_t)4 * MP_LIMIT_WORKSPACES);
	mp_map_init(&l->told, MAX_TOLD);
	if (o->db)
		mp_held_begin_run(o->db);
	mp_list_init(&l->parked);
	mp_request_state_make_key(&l->state_key);
	/*
	 * A bridge that outlives the hub must not take an answer for an old request as one for a
	 * new one.
	 */
	memcpy(&l->first_agent_request, l->state_key.bytes, 4);
	l->first_agent_request <<= 20; /* JSON numbers have 53 bits */
	mp_message_tape_init(&l->tape);
	mp_message_tape_init(&l->batch_tape);
	mp_buf_init(&l->out, 2 * MP_LIMIT_MESSAGE);
	mp_buf_init(&l->scratch, 2 * MP_LIMIT_MESSAGE);
	mp_buf_init(&l->texts.params, MP_LIMIT_MESSAGE);
	mp_buf_init(&l->texts.meta, MP_LIMIT_MESSAGE);
	mp_buf_init(&l->texts.value, MP_LIMIT_MESSAGE);
	mp_buf_init(&l->said, MP_KIB(4));
	mp_task_init(&l->drained_task, tell_drained, l);
	mp_timer_init(&l->parked_timer, l->loop, parked_too_long, l);
	mp_observer_join(o->board, &l->observer, mp_scope_note_changes, l);
	return l;
}

void mp_sessions_set_page_answerer(struct mp_sessions *l, const struct mp_page_answerer *pages)
{
	l->pages = pages ? *pages : (struct mp_page_answerer){.ask = NULL};
}

struct mp_sessions *mp_sessions_free(struct mp_sessions *l)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	if (!l)
		return NULL;
	mp_check(l->list.len == 0);
	mp_observer_leave(l->o.board, &l->observer);
	mp_loop_unpost(l->loop, &l->drained_task);
	mp_timer_stop(&l->parked_timer);
	while ((e = mp_map_next(&l->noted, &cursor)))
		mp_free(e->value);
	mp_map_done(&l->noted);
	mp_map_done(&l->told);
	mp_tape_done(&l->tape);
	mp_tape_done(&l->batch_tape);
	mp_buf_done(&l->out);
	mp_buf_done(&l->scratch);
	mp_buf_done(&l->texts.params);
	mp_buf_done(&l->texts.meta);
	mp_buf_done(&l->texts.value);
	mp_buf_done(&l->said);
	mp_wipe(&l->state_key, sizeof(l->state_key));
	return mp_free(l);
}

void mp_sessions_tidy(struct mp_sessions *l)
{
	mp_buf_shrink(&l->out, KEEP_AT_MOST);
	mp_buf_shrink(&l->scratch, KEEP_AT_MOST);
	mp_buf_shrink(&l->texts.params, KEEP_AT_MOST);
	mp_buf_shrink(&l->texts.meta, KEEP_AT_MOST);
	mp_buf_shrink(&l->texts.value, KEEP_AT_MOST);
}

size_t mp_sessions_count(const struct mp_sessions *l)
{
	return l->list.len;
}
