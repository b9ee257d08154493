/*
 * sessions.c - all sessions of a hub, and what they share.
 */
#include "session/sessions.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "session/parts.h"
#include "store/held_names.h"

#define KEEP_AT_MOST MP_KIB(256)
enum { MAX_TOLD = 1000 }; /* collisions of names in one run of the hub */

/* A server's lists may differ, or it is another server now. */
static void changed(const struct mp_change *changes, size_t n, void *u)
{
	struct mp_sessions *l = u;

	for (size_t i = 0; i < n; i++) {
		if (!(changes[i].fields & (MP_SERVER_OFFER | MP_SERVER_STATE | MP_SERVER_GONE)))
			continue;
		MP_LIST_EACH(&l->scopes, link) {
			struct mp_scope *s = mp_container_of(link, struct mp_scope, link);
			bool is_offer = changes[i].fields & (MP_SERVER_OFFER | MP_SERVER_GONE);

			/* A server that fails asks for no names: those that waited are free. */
			if (is_offer || s->waiting.len || (s->index && s->index->has_late))
				mp_scope_touch(s);
		}
	}
}

void mp_sessions_note_workspace(struct mp_sessions *l, const struct mp_workspace *v)
{
	MP_LIST_WALK(&l->scopes, link) {
		struct mp_scope *s = mp_container_of(link, struct mp_scope, link);

		if (s->workspace != v)
			continue;
		mp_scope_touch(s);
		mp_scope_divide(s);
	}
}

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
	/* A bridge that outlives us must not take the answer to an old question for a new one's. */
	memcpy(&l->first_agent_request, l->state_key.bytes, 4);
	l->first_agent_request <<= 20; /* JSON has 53 bits for them */
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
	mp_observer_join(o->board, &l->observer, changed, l);
	return l;
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

void mp_sessions_walk(struct mp_sessions *l, void (*fn)(void *u, const struct mp_session_info *s),
		      void *u)
{
	MP_LIST_EACH(&l->list, link) {
		struct mp_session_info info;

		mp_session_get_info(mp_container_of(link, struct mp_session, link), &info);
		fn(u, &info);
	}
}

/* Who listens is told that this is the end; the others get their answers. */
static void end_listeners(struct mp_session *s)
{
	MP_LIST_WALK(&s->requests, link) {
		struct mp_request *e = mp_container_of(link, struct mp_request, link);

		if (e->state == MP_REQUEST_LISTENING)
			mp_session_end_listening(e);
	}
}

/* Who was sent away with a question cannot come back: its request would be refused. */
static void drop_parked(struct mp_sessions *l)
{
	struct mp_link *link;

	while ((link = mp_list_first(&l->parked)))
		mp_request_advance(mp_container_of(link, struct mp_request, link),
				   MP_REQUEST_ON_DROP);
}

void mp_sessions_drain(struct mp_sessions *l, void (*fn)(void *u), void *u)
{
	l->is_draining = true;
	l->drained = fn;
	l->drained_u = u;
	MP_LIST_WALK(&l->list, link)
		end_listeners(mp_container_of(link, struct mp_session, link));
	drop_parked(l);
	mp_sessions_look_if_drained(l);
}
