/*
 * scope.c - state shared by sessions with the same workspace and filters.
 */
#include "session/scope.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/values/filter.h"
#include "pool/status.h"
#include "pool/usage.h"
#include "session/request.h"
#include "session/sessions.h"

/* --- filters --------------------------------------------------------------------------------- */

static struct mp_bind_list copy_list(const char *const *items, size_t n)
{
	struct mp_bind_list list = {mp_alloc((n + 1) * sizeof(char *)), n};

	for (size_t i = 0; i < n; i++)
		list.items[i] = mp_dup(items[i]);
	return list;
}

static void free_list(struct mp_bind_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		mp_free((char *)list->items[i]);
	mp_free(list->items);
}

static bool is_same_list(const struct mp_bind_list *a, const char *const *items, size_t n)
{
	if (a->n != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(a->items[i], items[i]) != 0)
			return false;
	return true;
}

bool mp_scope_shows(const struct mp_scope *s, const char *server)
{
	const struct mp_bind_list none = {0};

	return mp_filter_lets_pass(&s->servers, &none, mp_str_of(server));
}

/* --- index ----------------------------------------------------------------------------------- */

static unsigned scope_compare(const struct mp_index *a, const struct mp_index *b)
{
	unsigned differ = 0;

	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		if (memcmp(a->digest[kind], b->digest[kind], MP_DIGEST_SIZE) != 0)
			differ |= 1u << kind;
	return differ;
}

/* Log each name once, because sessions come and go. */
static void tell_collision(struct mp_scope *s, const struct mp_name *n)
{
	struct mp_pool *pool = mp_workspace_get_pool(s->workspace);
	struct mp_map *told = &s->sessions->told;
	MP_CLEANUP(mp_buf_done) struct mp_buf server;
	mp_id instance = 0;
	ptrdiff_t i;

	mp_buf_init(&server, MP_LIMIT_MESSAGE);
	if (mp_map_has(told, n->public_name) || mp_map_set(told, n->public_name, s->sessions) < 0 ||
	    mp_buf_add_str(&server, n->server) < 0 || mp_buf_terminate(&server) < 0)
		return;
	i = mp_workspace_find(s->workspace, server.data);
	if (i >= 0)
		instance = mp_workspace_get_instance_id(s->workspace, (size_t)i, s->session);
	mp_event(mp_pool_get_events(pool), instance, MP_EVENT_NAME_COLLISION,
		 "'%.*s' of server '%.*s' is called %.*s", MP_STR_ARGS(n->name),
		 MP_STR_ARGS(n->server), MP_STR_ARGS(n->public_name));
}

static void tell_collisions(struct mp_scope *s, const struct mp_names *names)
{
	for (size_t i = 0; i < mp_names_count(names); i++)
		if (mp_names_get(names, i)->collides)
			tell_collision(s, mp_names_get(names, i));
}

static void scope_reindex(struct mp_scope *s)
{
	struct mp_index *now, *was = s->index;
	struct mp_index_options o = {
		.workspace = s->workspace,
		.session = s->session,
		.style = mp_scope_get_naming(s),
		.servers = &s->servers,
		.tools = &s->tools,
		.before = was,
		.db = s->sessions->o.db,
		.noted = &s->sessions->noted,
	};
	unsigned differ;

	if (mp_index_take(&o, &now) < 0)
		return; /* the old index is better than none */
	s->index = now;
	tell_collisions(s, now->tools);
	tell_collisions(s, now->prompts);
	differ = was ? scope_compare(was, now) : 0;
	mp_index_unref(was);
	if (!differ)
		return;
	MP_LIST_WALK(&s->users, link) {
		struct mp_session *session = mp_container_of(link, struct mp_session, scope_link);

		mp_session_renew_subscriptions(session);
		mp_session_tell_changed(session, differ);
	}
}

struct mp_index *mp_scope_get_index(struct mp_scope *s)
{
	if (!s->index)
		scope_reindex(s);
	return s->index;
}

/* --- waiting --------------------------------------------------------------------------------- */

static struct mp_request *request_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_request, wait_link);
}

static bool is_late(struct mp_scope *s, size_t i)
{
	return mp_scope_shows(s, mp_workspace_get_entry(s->workspace, i)->name) &&
	       mp_gate_is_unknown(s->workspace, i, s->session);
}

bool mp_scope_is_ready(struct mp_scope *s, bool patiently)
{
	if (s->gate)
		return false;
	for (size_t i = 0; patiently && i < mp_workspace_count(s->workspace); i++)
		if (is_late(s, i))
			return false;
	return true;
}

/* An attempt is going on, not the pause before the next one. */
static bool is_starting(struct mp_scope *s, size_t i)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_status status;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (mp_gate_get_place(s->workspace, i, s->session) != MP_PLACE_LATE)
		return false;
	mp_status_take(s->workspace, i, s->session, &arena, &status);
	return status.next_at_ms < 0;
}

bool mp_scope_is_starting(struct mp_scope *s, struct mp_str name)
{
	for (size_t i = 0; i < mp_workspace_count(s->workspace); i++) {
		const char *server = mp_workspace_get_entry(s->workspace, i)->name;

		if (mp_str_find(name, mp_str_of(server), 0) >= 0 && mp_scope_shows(s, server) &&
		    is_starting(s, i))
			return true;
	}
	return false;
}

int64_t mp_scope_get_max_wait(const struct mp_scope *s)
{
	int64_t ms = mp_workspace_get_set(s->workspace)->settings.startup.max_wait_ms;

	return ms == 0 ? INT32_MAX : ms;
}

void mp_scope_add_waiting(struct mp_request *e)
{
	mp_list_append(&e->session->scope->waiting, &e->wait_link);
}

void mp_scope_remove_waiting(struct mp_request *e)
{
	mp_list_remove(&e->session->scope->waiting, &e->wait_link);
}

/* All requests share the timer; it may have been started for an earlier one. */
void mp_scope_arm(struct mp_request *e)
{
	struct mp_scope *s = e->session->scope;
	int64_t now = mp_loop_now_ms(s->sessions->loop);

	if (e->patience_ms > now &&
	    (!mp_timer_is_running(&s->timer) || s->timer.due_ms > e->patience_ms))
		mp_timer_start(&s->timer, e->patience_ms - now);
}

static void wake(struct mp_scope *s)
{
	MP_LIST_WALK(&s->waiting, link)
		mp_session_look_again(request_of(link));
}

static void look_again(void *u)
{
	struct mp_scope *s = u;

	s->refs++; /* a callback may end the session */
	if (s->index)
		scope_reindex(s);
	wake(s);
	mp_scope_unref(s);
}

void mp_scope_touch(struct mp_scope *s)
{
	mp_loop_unpost(s->sessions->loop, &s->task);
	mp_loop_post(s->sessions->loop, &s->task);
}

static void gate_is_open(void *u)
{
	struct mp_scope *s = u;

	s->gate = mp_gate_free(s->gate);
	mp_scope_touch(s);
}

static void open_gate(struct mp_scope *s)
{
	const struct mp_startup *startup = &mp_workspace_get_set(s->workspace)->settings.startup;
	size_t n = mp_workspace_count(s->workspace);
	struct mp_gate_options o = {
		.session = s->session,
		.due = MP_GATE_DUE_EAGER,
		.window_ms = startup->window_ms,
		.uncached = startup->uncached,
		.max_wait_ms = startup->max_wait_ms,
	};

	if (s->servers.n) {
		s->only = mp_alloc(n + 1);
		for (size_t i = 0; i < n; i++)
			s->only[i] =
				mp_scope_shows(s, mp_workspace_get_entry(s->workspace, i)->name);
	}
	o.only = s->only;
	s->gate = mp_gate_open(s->workspace, &o, gate_is_open, s);
}

/* --- life ------------------------------------------------------------------------------------ */

static bool has_private_servers(struct mp_workspace *v)
{
	for (size_t i = 0; i < mp_workspace_count(v); i++)
		if (mp_workspace_get_entry(v, i)->tuning.mode == MP_MODE_SESSION)
			return true;
	return false;
}

/* The scope of a session is its own if what it sees is. */
static mp_id scope_get_whose(struct mp_workspace *v, bool has_private, mp_id session)
{
	return has_private || mp_workspace_has_toggles(v, session) ? session : 0;
}

static int get_naming(const struct mp_narrowing *n)
{
	return n->naming ? mp_naming_find(mp_str_of(n->naming)) : -1;
}

enum mp_naming mp_scope_get_naming(const struct mp_scope *s)
{
	return (enum mp_naming)(
		s->naming >= 0 ? s->naming : mp_workspace_get_set(s->workspace)->settings.naming);
}

static struct mp_scope *find(struct mp_sessions *l, struct mp_workspace *v,
			     const struct mp_narrowing *n, mp_id session)
{
	MP_LIST_EACH(&l->scopes, link) {
		struct mp_scope *s = mp_container_of(link, struct mp_scope, link);

		if (s->workspace == v && s->session == session && s->naming == get_naming(n) &&
		    is_same_list(&s->servers, n->servers, n->n_servers) &&
		    is_same_list(&s->tools, n->tools, n->n_tools))
			return s;
	}
	return NULL;
}

struct mp_scope *mp_scope_get(struct mp_sessions *l, struct mp_workspace *v,
			      const struct mp_narrowing *n, mp_id session)
{
	mp_id whose = scope_get_whose(v, has_private_servers(v), session);
	struct mp_scope *s = find(l, v, n, whose);

	if (s) {
		s->refs++;
		return s;
	}
	s = mp_alloc(sizeof(*s));
	s->refs = 1;
	s->sessions = l;
	s->workspace = v;
	s->session = whose;
	s->servers = copy_list(n->servers, n->n_servers);
	s->tools = copy_list(n->tools, n->n_tools);
	s->naming = get_naming(n);
	mp_list_init(&s->users);
	mp_list_init(&s->waiting);
	mp_task_init(&s->task, look_again, s);
	mp_timer_init(&s->timer, l->loop, look_again, s);
	mp_list_append(&l->scopes, &s->link);
	open_gate(s);
	return s;
}

struct mp_scope *mp_scope_unref(struct mp_scope *s)
{
	if (!s || --s->refs > 0)
		return NULL;
	mp_loop_unpost(s->sessions->loop, &s->task);
	mp_timer_stop(&s->timer);
	mp_gate_free(s->gate);
	mp_free(s->only);
	mp_list_remove(&s->sessions->scopes, &s->link);
	mp_index_unref(s->index);
	free_list(&s->servers);
	free_list(&s->tools);
	return mp_free(s);
}

/* Its requests wait there. Its last list is compared with the next one, or with the one there. */
static void move_session(struct mp_session *session, struct mp_scope *from)
{
	struct mp_narrowing n = {
		.servers = from->servers.items,
		.n_servers = from->servers.n,
		.tools = from->tools.items,
		.n_tools = from->tools.n,
		.naming =
			from->naming < 0 ? NULL : mp_naming_get_word((enum mp_naming)from->naming),
	};
	struct mp_scope *to = mp_scope_get(from->sessions, from->workspace, &n, session->id);

	if (!to->index && from->index) {
		to->index = from->index;
		to->index->refs++;
	}
	MP_LIST_WALK(&from->waiting, link) {
		if (request_of(link)->session != session)
			continue;
		mp_list_remove(&from->waiting, link);
		mp_list_append(&to->waiting, link);
	}
	mp_list_remove(&from->users, &session->scope_link);
	mp_list_append(&to->users, &session->scope_link);
	session->scope = to;
	if (to->index && from->index)
		mp_session_tell_changed(session, scope_compare(from->index, to->index));
	mp_scope_touch(to);
	mp_scope_unref(from);
}

void mp_scope_divide(struct mp_scope *s)
{
	bool has_private = has_private_servers(s->workspace);

	s->refs++; /* the last session may leave it */
	MP_LIST_WALK(&s->users, link) {
		struct mp_session *session = mp_container_of(link, struct mp_session, scope_link);

		if (scope_get_whose(s->workspace, has_private, session->id) != s->session)
			move_session(session, s);
	}
	mp_scope_unref(s);
}

/* --- all scopes ------------------------------------------------------------------------------ */

/* A server's lists may have changed, or the server was replaced. */
void mp_scope_note_changes(const struct mp_change *changes, size_t n, void *u)
{
	struct mp_sessions *l = u;

	for (size_t i = 0; i < n; i++) {
		if (!(changes[i].fields & (MP_SERVER_CATALOG | MP_SERVER_STATE | MP_SERVER_GONE)))
			continue;
		MP_LIST_EACH(&l->scopes, link) {
			struct mp_scope *s = mp_container_of(link, struct mp_scope, link);
			bool is_offer = changes[i].fields & (MP_SERVER_CATALOG | MP_SERVER_GONE);

			/* A failed server wants no names, so names reserved for it are free. */
			if (is_offer || s->waiting.len || (s->index && s->index->has_late))
				mp_scope_touch(s);
		}
	}
}

/* A private server that was never started for this session, and would be if it opened now */
static bool is_new(struct mp_scope *s, size_t i)
{
	const struct mp_entry *e = mp_workspace_get_entry(s->workspace, i);

	return e->tuning.mode == MP_MODE_SESSION && mp_scope_shows(s, e->name) &&
	       mp_workspace_get_state(s->workspace, i, s->session) == MP_STATUS_READY &&
	       mp_workspace_get_instance_id(s->workspace, i, s->session) == 0 &&
	       (e->tuning.start == MP_START_EAGER ||
		!mp_workspace_is_remembered(s->workspace, i, s->session));
}

/* Private servers that a reload brought or changed start for the sessions that are open (A51). */
static void start_news(struct mp_scope *s)
{
	for (size_t i = 0; s->session && i < mp_workspace_count(s->workspace); i++)
		if (is_new(s, i))
			mp_workspace_start_server(
				s->workspace, i, s->session,
				mp_workspace_get_entry(s->workspace, i)->tuning.start ==
					MP_START_LAZY);
}

void mp_sessions_note_workspace(struct mp_sessions *l, const struct mp_workspace *v)
{
	MP_LIST_WALK(&l->scopes, link) {
		struct mp_scope *s = mp_container_of(link, struct mp_scope, link);

		if (s->workspace != v)
			continue;
		start_news(s);
		mp_scope_touch(s);
		mp_scope_divide(s);
	}
}

/* --- users ----------------------------------------------------------------------------------- */

static void scope_count_users(struct mp_scope *s)
{
	struct mp_workspace *w = s->workspace;

	s->n_servers = 0;
	for (size_t i = 0; i < mp_workspace_count(w); i++) {
		enum mp_status_state state = mp_workspace_get_state(w, i, s->session);

		if (!mp_scope_shows(s, mp_workspace_get_entry(w, i)->name) ||
		    state == MP_STATUS_DISABLED || state == MP_STATUS_NEEDS_APPROVAL)
			continue;
		s->n_servers++;
		mp_usage_add_sessions(mp_workspace_get_pool(w),
				      mp_workspace_get_instance_id(w, i, s->session), s->users.len);
	}
}

/* Sessions of one scope see the same. */
void mp_scopes_count_users(struct mp_sessions *l)
{
	mp_usage_clear_sessions(l->o.pool);
	MP_LIST_EACH(&l->scopes, link)
		scope_count_users(mp_container_of(link, struct mp_scope, link));
}
