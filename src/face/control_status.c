/*
 * control_status.c - mcpool/status: the hub now, or servers once they have settled.
 */
#include "face/control_status.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "hub/workspaces.h"
#include "json/bind.h"
#include "pool/status.h"
#include "pool/usage.h"
#include "session/scope.h"
#include "session/sessions.h"
#include "session/session.h"

/* --- the hub at this moment ------------------------------------------------------------------ */

static void usage_write(struct mp_writer *w, const char *key, const struct mp_tree_usage *u)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_object(w);
	mp_write_member_i64(w, "processes", u->processes);
	mp_write_member_i64(w, "memory", u->memory);
	mp_write_member_i64(w, "cpuUs", u->cpu_us);
	mp_write_end_object(w);
}

/* As measured last; null before the first time. */
static void usages_write(struct mp_writer *w, const struct mp_usage *usage,
			 const struct mp_usage_sum *sum)
{
	struct mp_tree_usage own = mp_usage_get_own(usage);

	mp_write_key(w, MP_STR("usage"));
	if (own.processes == 0) {
		mp_write_null(w);
		return;
	}
	mp_write_begin_object(w);
	mp_write_member_i64(w, "measuredAt", mp_usage_get_time(usage));
	usage_write(w, "hub", &own);
	usage_write(w, "servers", &sum->servers);
	mp_write_key(w, MP_STR("saved"));
	mp_write_begin_object(w);
	mp_write_member_i64(w, "processes", sum->saved_processes);
	mp_write_member_i64(w, "memory", sum->saved_memory);
	mp_write_end_object(w);
	mp_write_end_object(w);
}

void mp_control_status_write_hub(struct mp_writer *w, const struct mp_control_peer *p,
				 void (*describe)(void *u, struct mp_writer *w))
{
	struct mp_hub *hub = p->hub;
	const char *problem = mp_workspaces_get_problem(hub->workspaces);
	struct mp_usage_sum sum;

	mp_scopes_count_users(hub->sessions);
	sum = mp_usage_sum_up(hub->usage);
	mp_write_member_i64(w, "pid", (int64_t)getpid());
	mp_write_member_text(w, "version", mp_str_of(mcpool_version()));
	mp_write_member_i64(w, "uptimeMs", mp_loop_now_ms(hub->loop) - hub->began_ms);
	mp_write_member_i64(w, "views", (int64_t)mp_workspaces_count(hub->workspaces));
	mp_write_member_i64(w, "sessionCount", (int64_t)mp_sessions_count(hub->sessions));
	mp_write_member_i64(w, "serverCount", (int64_t)mp_pool_count_instances(hub->pool));
	mp_write_member_i64(w, "callsLastMinute", sum.calls_last_minute);
	usages_write(w, hub->usage, &sum);
	if (getenv("PATH")) /* where it finds the commands of servers that it starts by itself */
		mp_write_member_text(w, "path", mp_str_of(getenv("PATH")));
	mp_write_member_text(w, "projectTrust",
			     mp_workspace_get_set(hub->workspace)->trusts_projects
				     ? MP_STR("always")
				     : MP_STR("ask"));
	if (problem)
		mp_write_member_text(w, "problem", mp_str_of(problem));
	if (describe)
		describe(p->u, w);
}

static void servers_write(struct mp_writer *w, struct mp_workspace *workspace)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *problem = mp_workspace_get_problem(workspace);

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_write_key(w, MP_STR("problem"));
	if (problem)
		mp_write_text(w, mp_str_of(problem));
	else
		mp_write_null(w);
	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	mp_workspace_begin_peeks(workspace);
	for (size_t i = 0; i < mp_workspace_count(workspace); i++) {
		struct mp_status s;

		mp_arena_reset(&arena);
		mp_status_take(workspace, i, 0, &arena, &s);
		mp_status_write(w, &s, MP_STATUS_HUB);
	}
	mp_workspace_end_peeks(workspace);
	mp_write_end_array(w);
}

void mp_control_status_write_session(struct mp_writer *w, const struct mp_session_info *s)
{
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("id"));
	mp_write_u64(w, s->id);
	mp_write_key(w, MP_STR("parent"));
	if (s->home != s->id)
		mp_write_u64(w, s->home);
	else
		mp_write_null(w);
	mp_write_member_text(w, "way", mp_str_of(s->way));
	mp_write_member_text(w, "principal", mp_str_of(s->principal));
	mp_write_key(w, MP_STR("pid"));
	if (s->pid > 0)
		mp_write_i64(w, s->pid);
	else
		mp_write_null(w);
	mp_write_member_text(w, "client", mp_str_of(s->client));
	mp_write_member_text(w, "clientVersion", mp_str_of(s->client_version));
	mp_write_member_text(w, "protocol", mp_str_of(s->protocol));
	mp_write_member_text(w, "root", mp_str_of(s->root));
	mp_write_member_i64(w, "since", s->since_ms);
	mp_write_member_i64(w, "last", s->last_ms);
	mp_write_member_i64(w, "open", (int64_t)s->open);
	mp_write_key(w, MP_STR("received"));
	mp_write_u64(w, s->received);
	mp_write_key(w, MP_STR("answered"));
	mp_write_u64(w, s->answered);
	mp_write_member_i64(w, "servers", (int64_t)s->servers);
	mp_write_key(w, MP_STR("calls"));
	mp_write_u64(w, s->calls);
	mp_write_member_i64(w, "callsLastMinute", s->calls_last_minute);
	mp_write_end_object(w);
}

static void session_write(void *u, const struct mp_session_info *s)
{
	mp_control_status_write_session(u, s);
}

void mp_control_status_write(struct mp_writer *w, const struct mp_control_peer *p,
			     void (*describe)(void *u, struct mp_writer *w))
{
	mp_write_key(w, MP_STR("hub"));
	mp_write_begin_object(w);
	mp_control_status_write_hub(w, p, describe);
	mp_write_end_object(w);
	servers_write(w, p->workspace);
	mp_write_key(w, MP_STR("sessions"));
	mp_write_begin_array(w);
	mp_sessions_walk(p->hub->sessions, session_write, w);
	mp_write_end_array(w);
}

void mp_control_status_write_event(struct mp_writer *w, struct mp_hub *hub,
				   const struct mp_event *e, uint64_t missed)
{
	const char *name = mp_pool_get_name(hub->pool, e->id);
	struct mp_str changes = MP_STR("");

	if (e->kind == MP_EVENT_RELOADED && hub->workspaces)
		changes = mp_workspaces_get_changes(hub->workspaces, e->number);
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("number"));
	mp_write_u64(w, e->number);
	mp_write_member_i64(w, "time", e->wall_ms);
	mp_write_key(w, MP_STR("server"));
	if (name)
		mp_write_text(w, mp_str_of(name));
	else
		mp_write_null(w);
	mp_write_key(w, MP_STR("instance"));
	mp_write_u64(w, e->id);
	mp_write_member_text(w, "what", mp_str_of(e->what));
	mp_write_member_text(w, "text", mp_str_of(e->text));
	if (changes.len)
		mp_write_member_raw(w, "changes", changes);
	if (missed) {
		mp_write_key(w, MP_STR("missed"));
		mp_write_u64(w, missed);
	}
	mp_write_end_object(w);
}

/* --- servers once they have settled ---------------------------------------------------------- */

enum { START_NONE, START_UNKNOWN, START_ALL };
static const char *const starts[] = {"none", "unknown", "all", NULL};

/* An open request. */
struct wait {
	struct mp_link link;
	struct mp_control_peer *peer;
	char *id; /* owned */
	struct mp_arena arena;
	struct mp_bind_list servers; /* servers in the answer; empty: all */
	struct mp_bind_list only;    /* which of these to start and wait for; empty: all */
	const char **awaited;        /* their names, in the arena; a reload changes indexes */
	size_t n_awaited, pending;   /* pending: index of one that was pending at the last check */
	int start;
	bool fresh, catalogs;
	int64_t max_ms;
	uint64_t present;
	struct mp_watcher watcher;
	struct mp_timer timer;
	struct mp_task task; /* check again; many transitions in a turn cause one check */
	struct mp_list *list;
	struct mp_grave grave;
};

#define WAIT(kind, key, field, ...) MP_BIND(struct wait, kind, key, field, __VA_ARGS__)
static const struct mp_bind_field wait_fields[] = {
	WAIT(LIST, "servers", servers),
	WAIT(LIST, "only", only),
	WAIT(CHOICE, "start", start, .choices = starts),
	WAIT(BOOL, "fresh", fresh),
	WAIT(BOOL, "catalogs", catalogs),
	WAIT(I64, "maxMs", max_ms, .min = 0, .max = MP_SECONDS(86400)),
};
static const struct mp_bind_table wait_table = {wait_fields, MP_ARRAY_LEN(wait_fields),
						offsetof(struct wait, present)};

static bool list_has(const struct mp_bind_list *names, const char *name)
{
	for (size_t k = 0; k < names->n; k++)
		if (strcmp(names->items[k], name) == 0)
			return true;
	return names->n == 0;
}

static bool wait_is_about(const struct wait *wt, size_t i)
{
	return list_has(&wt->servers, mp_workspace_get_entry(wt->peer->workspace, i)->name);
}

/* Is server i to be started and waited for? */
static bool wait_is_for(const struct wait *wt, size_t i)
{
	struct mp_workspace *w = wt->peer->workspace;

	if (!wait_is_about(wt, i) || !list_has(&wt->only, mp_workspace_get_entry(w, i)->name))
		return false;
	return wt->start == START_ALL ||
	       (wt->start == START_UNKNOWN && !mp_workspace_is_remembered(w, i, wt->peer->session));
}

/* A list of all servers does not retry failed ones. */
static void wait_start_server(struct wait *wt, size_t i)
{
	struct mp_workspace *w = wt->peer->workspace;
	mp_id session = wt->peer->session;
	enum mp_status_state state = mp_workspace_get_state(w, i, session);
	bool is_lazy = mp_workspace_get_entry(w, i)->tuning.start == MP_START_LAZY;

	if (state == MP_STATUS_CONNECTED && wt->fresh)
		mp_workspace_refresh(w, i, session);
	else if (state != MP_STATUS_CONNECTED &&
		 (state != MP_STATUS_FAILED || wt->start == START_ALL))
		mp_workspace_start_server(w, i, session, is_lazy);
}

static int wait_start_servers(struct wait *wt)
{
	struct mp_workspace *w = wt->peer->workspace;
	size_t n = mp_workspace_count(w);

	wt->awaited = mp_arena_alloc_array(&wt->arena, n + 1, sizeof(char *));
	for (size_t i = 0; wt->awaited && i < n; i++) {
		const char *name = mp_workspace_get_entry(w, i)->name;

		if (!wait_is_for(wt, i))
			continue;
		wt->awaited[wt->n_awaited] = mp_arena_dup(&wt->arena, mp_str_of(name));
		if (!wt->awaited[wt->n_awaited])
			break;
		wt->n_awaited++;
		wait_start_server(wt, i);
	}
	return mp_arena_get_error(&wt->arena);
}

static bool wait_is_pending(const struct wait *wt, size_t k)
{
	struct mp_workspace *w = wt->peer->workspace;
	mp_id session = wt->peer->session;
	ptrdiff_t at = mp_workspace_find(w, wt->awaited[k]);

	return at >= 0 && (mp_workspace_get_state(w, (size_t)at, session) == MP_STATUS_PENDING ||
			   mp_workspace_is_refreshing(w, (size_t)at, session));
}

/* Called at each transition of each server. Check first the one that was pending last time. */
static bool wait_is_over(struct wait *wt)
{
	for (size_t n = 0; n < wt->n_awaited; n++) {
		size_t k = (wt->pending + n) % wt->n_awaited;

		if (!wait_is_pending(wt, k))
			continue;
		wt->pending = k;
		return false;
	}
	return true;
}

static void wait_freed(struct mp_grave *grave)
{
	struct wait *wt = mp_container_of(grave, struct wait, grave);

	mp_arena_done(&wt->arena);
	mp_free(wt->id);
	mp_free(wt);
}

static void wait_close(struct wait *wt)
{
	struct mp_hub *hub = wt->peer->hub;

	mp_timer_stop(&wt->timer);
	mp_loop_unpost(hub->loop, &wt->task);
	mp_watcher_leave(hub->pool, &wt->watcher);
	mp_list_remove(wt->list, &wt->link);
	wt->peer->open--;
	mp_loop_bury(hub->loop, &wt->grave, wait_freed);
}

static int wait_write(const struct wait *wt, struct mp_buf *out)
{
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *servers = NULL;
	struct mp_workspace *w = wt->peer->workspace;
	size_t n = mp_workspace_count(w);
	bool *only = mp_alloc((n + 1) * sizeof(*only));
	struct mp_writer writer;
	unsigned with;
	int r;

	for (size_t i = 0; i < n; i++)
		only[i] = wait_is_about(wt, i);
	/* A catalog has the server's words already; of all servers they would be too much. */
	with = wt->catalogs ? MP_STATUS_CATALOG : wt->servers.n ? MP_STATUS_HELLO : 0;
	r = mp_status_list_take(w, wt->peer->session, only, with, &servers);
	mp_free(only);
	if (r < 0)
		return r;
	mp_write_init(&writer, out, NULL);
	mp_write_begin_object(&writer);
	r = mp_status_list_write(&writer, servers);
	if (r < 0)
		return r;
	mp_write_end_object(&writer);
	return mp_write_finish(&writer);
}

/* All servers have settled, or the time is up. */
static void wait_answer(void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct wait *wt = u;
	int r;

	mp_buf_init(&result, wt->peer->max_result);
	r = wait_write(wt, &result);
	mp_control_peer_answer(wt->peer, mp_str_of(wt->id), &result, r);
	wait_close(wt);
}

static void wait_compare(void *u)
{
	if (wait_is_over(u))
		wait_answer(u);
}

static void wait_moved(void *u, mp_id instance)
{
	struct wait *wt = u;

	(void)instance;
	if (!mp_list_linked(&wt->task.link))
		mp_loop_post(wt->peer->hub->loop, &wt->task);
}

static struct wait *wait_open(struct mp_control_statuses *ss, struct mp_str id)
{
	struct wait *wt = mp_alloc(sizeof(*wt));

	wt->peer = ss->peer;
	wt->list = &ss->open;
	wt->id = mp_alloc(id.len + 1);
	memcpy(wt->id, id.p, id.len);
	wt->max_ms = MP_LIMIT_ONE_SHOT_MS;
	mp_arena_init(&wt->arena, MP_LIMIT_ARENA);
	mp_timer_init(&wt->timer, wt->peer->hub->loop, wait_answer, wt);
	mp_task_init(&wt->task, wait_compare, wt);
	mp_list_append(&ss->open, &wt->link);
	wt->peer->open++;
	return wt;
}

int mp_control_statuses_ask(struct mp_control_statuses *ss, struct mp_str id,
			    const struct mp_tape *t, mp_value params, struct mcpool_error *reterr)
{
	struct mp_control_peer *p = ss->peer;
	struct wait *wt;
	int r = mp_control_peer_check(p, reterr);

	if (r < 0)
		return r;
	wt = wait_open(ss, id);
	r = mp_bind_read(&wait_table, t, params, &wt->arena, wt, NULL, NULL, reterr);
	if (r < 0) {
		wait_close(wt);
		return r;
	}
	mp_watcher_join(p->hub->pool, &wt->watcher, wait_moved, wt);
	r = wait_start_servers(wt);
	if (r < 0) {
		wait_close(wt);
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	}
	mp_timer_start(&wt->timer, wt->max_ms);
	wait_moved(wt, 0);
	return 0;
}

void mp_control_statuses_init(struct mp_control_statuses *ss, struct mp_control_peer *peer)
{
	ss->peer = peer;
	mp_list_init(&ss->open);
}

void mp_control_statuses_done(struct mp_control_statuses *ss)
{
	MP_LIST_EACH(&ss->open, link)
		wait_close(mp_container_of(link, struct wait, link));
}
