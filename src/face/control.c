/*
 * control.c - control calls of the command line to a running hub.
 */
#include "face/control.h"

#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/similar.h"
#include "face/control_call.h"
#include "face/control_listen.h"
#include "face/control_login.h"
#include "face/control_status.h"
#include "face/control_usage.h"
#include "face/control_watch.h"
#include "face/nearest_session.h"
#include "hub/workspaces.h"
#include "rpc/message.h"
#include "session/sessions.h"

enum {
	MAX_OPEN = 64,             /* requests of one connection */
	NOTICED_BYTES = 48 * 1024, /* of changes in the answer to a reload */
};

struct mp_control {
	struct mp_control_peer peer;
	const struct mp_control_hooks *hooks;
	bool is_joined; /* registered with the pool: the following members are in use */
	struct mp_control_statuses statuses;
	struct mp_control_calls calls;
	struct mp_control_logins logins;
	struct mp_tape tape;
	struct mp_control_listen listen;
	struct mp_control_usages usages;
	struct mp_control_watch watch;
};

/* The current request; its result is written to out. */
struct order {
	struct mp_control *c;
	struct mp_str id;
	const struct mp_tape *t;
	mp_value params;
	struct mp_buf *out;
	struct mcpool_error why;
};

/* --- status ---------------------------------------------------------------------------------- */

static int answer_nothing(struct order *o)
{
	return mp_buf_add_str(o->out, MP_STR("{}"));
}

/* The answer follows. */
enum { LATER = 1 };

/* Register with the pool only when the peer waits for servers or calls them. */
static void control_join(struct mp_control *c)
{
	if (c->is_joined)
		return;
	mp_control_calls_init(&c->calls, &c->peer);
	mp_control_statuses_init(&c->statuses, &c->peer);
	mp_control_logins_init(&c->logins, &c->peer);
	c->is_joined = true;
}

/*
 * Without parameters: the status of the hub now. With usage: the same with new measurements. With
 * servers: their status once they have settled.
 */
static int tell_status(struct order *o)
{
	bool usage = false;
	struct mp_writer w;
	int r;

	if (mp_value_bool(o->t, mp_value_get(o->t, o->params, "usage"), &usage) == 0 && usage) {
		r = mp_control_usages_ask(&o->c->usages, o->id, &o->why);
		return r < 0 ? r : LATER;
	}
	if (mp_value_count(o->t, o->params) > 0) {
		control_join(o->c);
		r = mp_control_statuses_ask(&o->c->statuses, o->id, o->t, o->params, &o->why);
		return r < 0 ? r : LATER;
	}
	mp_write_init(&w, o->out, NULL);
	mp_write_begin_object(&w);
	mp_control_status_write(&w, &o->c->peer, o->c->hooks->describe);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int control_call(struct order *o)
{
	int r;

	control_join(o->c);
	r = mp_control_calls_ask(&o->c->calls, o->id, o->t, o->params, &o->why);
	return r < 0 ? r : LATER;
}

static void control_hear(struct mp_control *c, const struct mp_message *m)
{
	mp_value id;

	id = mp_value_get(m->tape, m->params, "requestId");
	if (m->kind == MP_MESSAGE_NOTIFICATION && m->method == MP_METHOD_CANCELLED &&
	    c->hooks->cancel)
		c->hooks->cancel(c->peer.u, mp_value_source(m->tape, id));
	if (m->kind != MP_MESSAGE_NOTIFICATION && c->hooks->reply)
		c->hooks->reply(c->peer.u, m);
	if (!c->is_joined)
		return;
	if (m->kind != MP_MESSAGE_NOTIFICATION)
		mp_control_calls_take_reply(&c->calls, m);
	else if (m->method == MP_METHOD_CANCELLED)
		mp_control_calls_cancel(&c->calls, mp_value_source(m->tape, id));
}

/* --- servers --------------------------------------------------------------------------------- */

/* Find the server called `name` in this workspace; "all" is handled by the caller. */
static int fail_unknown(struct order *o, const struct mp_workspace *workspace, const char *name)
{
	size_t n = mp_workspace_count(workspace);
	const char **names = mp_alloc((n + 1) * sizeof(*names)), *like;

	for (size_t i = 0; i < n; i++)
		names[i] = mp_workspace_get_entry(workspace, i)->name;
	like = mp_similar_find(name, names, n);
	mp_free(names);
	return mp_fail(&o->why, MCPOOL_ENOENT, "Server \"%s\" not found%s%s%s", name,
		       like ? ". Did you mean \"" : "", like ? like : "", like ? "\"?" : "");
}

static int find_server(struct order *o, const struct mp_workspace *workspace, size_t *ret_at)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str name;
	char text[MP_LIMIT_NAME + 1];
	ptrdiff_t at;

	mp_arena_init(&arena, MP_KIB(64));
	if (mp_value_text(o->t, mp_value_get(o->t, o->params, "name"), &arena, &name) < 0 ||
	    name.len == 0 || name.len > MP_LIMIT_NAME || memchr(name.p, '\0', name.len))
		return mp_fail(&o->why, MCPOOL_EINVAL, "`name` must be the name of a server");
	memcpy(text, name.p, name.len);
	text[name.len] = '\0';
	at = mp_workspace_find(workspace, text);
	if (at < 0)
		return fail_unknown(o, workspace, text);
	*ret_at = (size_t)at;
	return 0;
}

static bool is_about_all(struct order *o)
{
	bool all = false;

	return mp_value_bool(o->t, mp_value_get(o->t, o->params, "all"), &all) == 0 && all;
}

/* A server that cannot be reconnected gets an error in the result; the others are reconnected. */
static int reconnect_all(struct order *o)
{
	struct mcpool_error why;
	struct mp_writer w;

	mp_write_init(&w, o->out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("servers"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < mp_workspace_count(o->c->peer.workspace); i++) {
		mp_write_begin_object(&w);
		mp_write_member_text(
			&w, "name",
			mp_str_of(mp_workspace_get_entry(o->c->peer.workspace, i)->name));
		if (mp_workspace_reconnect(o->c->peer.workspace, i, 0, &why) < 0)
			mp_write_member_text(&w, "error", mp_str_of(why.message));
		mp_write_end_object(&w);
	}
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int control_reconnect(struct order *o)
{
	size_t at = 0;
	int r;

	if (is_about_all(o))
		return reconnect_all(o);
	r = find_server(o, o->c->peer.workspace, &at);
	if (r == 0)
		r = mp_workspace_reconnect(o->c->peer.workspace, at, 0, &o->why);
	return r < 0 ? r : answer_nothing(o);
}

static int control_start(struct order *o)
{
	size_t at = 0;
	int r = find_server(o, o->c->peer.workspace, &at);

	if (r < 0)
		return r;
	mp_workspace_start_server(o->c->peer.workspace, at, 0, false);
	return answer_nothing(o);
}

static int find_name(struct order *o, const char **ret_name)
{
	size_t at = 0;
	int r = find_server(o, o->c->peer.workspace, &at);

	control_join(o->c);
	if (r == 0)
		*ret_name = mp_workspace_get_entry(o->c->peer.workspace, at)->name;
	return r;
}

static int control_login(struct order *o)
{
	const char *name;
	int r = find_name(o, &name);

	if (r == 0)
		r = mp_control_logins_begin(&o->c->logins, o->id, name, &o->why);
	return r < 0 ? r : LATER;
}

static int control_paste(struct order *o)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *name;
	char *url = NULL;
	struct mp_str text;
	int r = find_name(o, &name);

	mp_arena_init(&arena, MP_KIB(256));
	if (r == 0 && mp_value_text(o->t, mp_value_get(o->t, o->params, "url"), &arena, &text) == 0)
		url = mp_arena_dup(&arena, text);
	if (r == 0 && !url)
		r = mp_fail(&o->why, MCPOOL_EINVAL, "`url` must be an address");
	if (r == 0)
		r = mp_control_logins_paste(&o->c->logins, name, url, &o->why);
	return r < 0 ? r : answer_nothing(o);
}

static int control_logout(struct order *o)
{
	const char *name;
	int r = find_name(o, &name);

	if (r == 0)
		r = mp_control_logins_leave(&o->c->logins, o->id, name, &o->why);
	return r < 0 ? r : LATER;
}

/* The `session` of a request: its id, or "auto"; 0: not given. */
static int find_session(struct order *o, mp_id *ret_session)
{
	mp_value v = mp_value_get(o->t, o->params, "session");

	*ret_session = 0;
	if (v == MP_NONE)
		return 0;
	if (mp_value_text_is(o->t, v, MP_STR("auto"))) {
		*ret_session = mp_nearest_session_find(o->c->peer.hub->sessions, o->c->peer.pid);
		if (*ret_session == 0)
			return mp_fail(&o->why, MCPOOL_ENOENT,
				       "no agent with a session has started this command");
		return 0;
	}
	if (mp_value_u64(o->t, v, ret_session) < 0 || *ret_session == 0)
		return mp_fail(&o->why, MCPOOL_EINVAL,
			       "`session` must be the id of a session or \"auto\"");
	return 0;
}

/* For all agents of this workspace or for one session, without changing a file (C20). */
static int control_toggle(struct order *o, enum mp_toggle to)
{
	struct mp_sessions *sessions = o->c->peer.hub->sessions;
	struct mp_workspace *workspace = o->c->peer.workspace;
	const char *name = NULL;
	mp_id session;
	size_t at = 0;
	int r = find_session(o, &session);

	if (r == 0 && session)
		workspace = mp_sessions_get_workspace(sessions, session);
	if (r == 0 && !workspace)
		r = mp_fail(&o->why, MCPOOL_ENOENT,
			    "there is no session %llu; `mcpool status --json` lists them",
			    (unsigned long long)session);
	if (r == 0)
		r = find_server(o, workspace, &at);
	if (r == 0)
		name = mp_workspace_get_entry(workspace, at)->name;
	if (r == 0 && session)
		r = mp_workspace_toggle(workspace, name, session, to, &o->why);
	else if (r == 0)
		r = mp_workspaces_toggle(o->c->peer.hub->workspaces, workspace, name, to, &o->why);
	if (r < 0)
		return r;
	mp_sessions_note_workspace(sessions, workspace);
	return answer_nothing(o);
}

static int control_enable(struct order *o)
{
	return control_toggle(o, MP_TOGGLE_ON);
}

static int control_disable(struct order *o)
{
	return control_toggle(o, MP_TOGGLE_OFF);
}

/* Back to the configured value. */
static int leave_to_files(struct order *o)
{
	return control_toggle(o, MP_TOGGLE_NONE);
}

/* --- what happens ---------------------------------------------------------------------------- */

static int control_listen_events(struct order *o)
{
	return mp_control_listen_events(&o->c->listen, o->t, o->params, o->out, &o->why);
}

static int control_listen_calls(struct order *o)
{
	return mp_control_listen_calls(&o->c->listen, o->t, o->params, o->out, &o->why);
}

static int control_listen_notifications(struct order *o)
{
	return mp_control_listen_notifications(&o->c->listen, o->t, o->params, o->out, &o->why);
}

static int control_watch(struct order *o)
{
	return mp_control_watch_begin(&o->c->watch, o->out);
}

static int control_tell_history(struct order *o)
{
	return mp_control_watch_history(&o->c->peer, o->t, o->params, o->out, &o->why);
}

/* --- the hub --------------------------------------------------------------------------------- */

/*
 * The result is reported as one event per workspace. Mostly a file was noticed before anybody asks,
 * and then nothing changes any more: `noticed` has what changed last.
 */
static int control_reload(struct order *o)
{
	const struct mp_workspaces *all = o->c->peer.hub->workspaces;
	struct mp_writer w;

	mp_hub_reload(o->c->peer.hub);
	mp_write_init(&w, o->out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("views"));
	mp_write_u64(&w, mp_workspaces_count(all));
	mp_write_key(&w, MP_STR("noticed"));
	mp_workspaces_write_changes(all, NOTICED_BYTES, &w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int open_dashboard(struct order *o)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf url;
	struct mp_writer w;
	int r;

	mp_buf_init(&url, MP_KIB(4));
	if (!o->c->hooks->open_dashboard)
		return mp_fail(&o->why, MCPOOL_EPERM, "this is not done here");
	r = o->c->hooks->open_dashboard(o->c->peer.u, &url, &o->why);
	if (r < 0)
		return r;
	mp_write_init(&w, o->out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "url", mp_buf_get(&url));
	mp_write_end_object(&w);
	mp_wipe(url.data, url.len);
	return mp_write_finish(&w);
}

static int shut_down(struct order *o)
{
	bool drain = true, replace = false;
	mp_value v = mp_value_get(o->t, o->params, "drain");
	mp_value w = mp_value_get(o->t, o->params, "replace");

	if ((v != MP_NONE && mp_value_bool(o->t, v, &drain) < 0) ||
	    (w != MP_NONE && mp_value_bool(o->t, w, &replace) < 0))
		return mp_fail(&o->why, MCPOOL_EINVAL,
			       "`drain` and `replace` must be true or false");
	if (!o->c->hooks->stop(o->c->peer.u, drain, replace))
		return mp_fail(&o->why, MCPOOL_EPERM,
			       "this hub was started with options of its own and "
			       "must be restarted by hand");
	return mp_buf_addf(o->out, "{\"pid\":%ld}", (long)getpid());
}

/* --- orders ---------------------------------------------------------------------------------- */

static const struct {
	const char *method;
	int (*act)(struct order *o);
} orders[] = {
	{"mcpool/status", tell_status},
	{"mcpool/server/reconnect", control_reconnect},
	{"mcpool/server/enable", control_enable},
	{"mcpool/server/disable", control_disable},
	{"mcpool/server/default", leave_to_files},
	{"mcpool/server/start", control_start},
	{"mcpool/events", control_listen_events},
	{"mcpool/calls", control_listen_calls},
	{"mcpool/notifications", control_listen_notifications},
	{"mcpool/watch", control_watch},
	{"mcpool/history", control_tell_history},
	{"mcpool/call", control_call},
	{"mcpool/login", control_login},
	{"mcpool/login/paste", control_paste},
	{"mcpool/logout", control_logout},
	{"mcpool/reload", control_reload},
	{"mcpool/dashboard", open_dashboard},
	{"mcpool/shutdown", shut_down},
};

static int control_obey(struct order *o, mp_value method)
{
	int r = MCPOOL_ENOENT;

	for (size_t i = 0; i < MP_ARRAY_LEN(orders); i++)
		if (mp_value_text_is(o->t, method, mp_str_of(orders[i].method)))
			return orders[i].act(o);
	if (o->c->hooks->take)
		r = o->c->hooks->take(o->c->peer.u, o->id, o->t, method, o->params, &o->why);
	if (r != MCPOOL_ENOENT)
		return r < 0 ? r : LATER;
	(void)mp_fail(&o->why, MCPOOL_ENOENT, "there is no such method here");
	o->why.rpc_code = -32601;
	return MCPOOL_ENOENT;
}

void mp_control_receive(struct mp_control *c, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct order o = {.c = c, .t = &c->tape, .out = &result};
	struct mp_message m;
	int r;

	mp_buf_init(&result, MP_LIMIT_MESSAGE);
	r = mp_message_scan(&c->tape, text, &m, &o.why);
	if (r == 0 && m.kind != MP_MESSAGE_REQUEST) {
		control_hear(c, &m);
		return;
	}
	o.id = m.id;
	o.params = m.params;
	mp_workspaces_compare_approvals(c->peer.hub->workspaces);
	if (r == 0)
		r = control_obey(&o, m.method_name);
	if (r < 0 && o.why.code)
		mp_control_peer_refuse(&c->peer, m.id, &o.why);
	else if (r != LATER)
		mp_control_peer_answer(&c->peer, m.id, &result, r);
	mp_control_listen_tell(&c->listen); /* what is from before the request */
}

void mp_control_flushed(struct mp_control *c)
{
	mp_control_listen_resume(&c->listen);
	mp_control_watch_resume(&c->watch);
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_control *mp_control_new(struct mp_hub *hub, struct mp_workspace *workspace,
				  const struct mp_control_hooks *hooks, void *u)
{
	struct mp_control *c = mp_alloc(sizeof(*c));

	c->peer = (struct mp_control_peer){.hub = hub,
					   .workspace = workspace,
					   .say = hooks->say,
					   .get_queued = hooks->get_queued,
					   .u = u,
					   .max_open = MAX_OPEN,
					   .max_result = MP_LIMIT_MESSAGE};
	c->hooks = hooks;
	mp_control_listen_init(&c->listen, &c->peer);
	mp_control_usages_init(&c->usages, &c->peer, hooks->describe);
	mp_control_watch_init(&c->watch, &c->peer, hooks->describe);
	mp_tape_init(&c->tape, 0);
	return c;
}

void mp_control_set_pid(struct mp_control *c, int pid)
{
	c->peer.pid = pid;
}

void mp_control_set_limits(struct mp_control *c, size_t max_open, size_t max_result)
{
	c->peer.max_open = max_open;
	c->peer.max_result = max_result;
}

struct mp_control *mp_control_free(struct mp_control *c)
{
	if (!c)
		return NULL;
	mp_control_watch_done(&c->watch);
	mp_control_usages_done(&c->usages);
	mp_control_listen_done(&c->listen);
	if (c->is_joined) {
		mp_control_logins_done(&c->logins);
		mp_control_statuses_done(&c->statuses);
		mp_control_calls_done(&c->calls);
	}
	mp_tape_done(&c->tape);
	return mp_free(c);
}
