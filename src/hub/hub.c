/*
 * hub.c - owns everything below it; start, reload, drain.
 */
#include "hub/hub.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "auth/accounts.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "files/follow.h"
#include "hub/audit.h"
#include "hub/election.h"
#include "hub/network.h"
#include "hub/spans.h"
#include "hub/workspaces.h"
#include "pool/launch_plan.h"
#include "process/environment.h"
#include "store/digest.h"
#include "store/local_key.h"

static const struct mp_log hub_log = {"hub"};

/* A stop waits so long for tokens that are being renewed; servers have as long to end. */
enum { RENEWAL_MS = 3000, RENEWAL_LOOK_MS = 20 };

struct mp_hub_private {
	struct mp_hub_options o;
	const struct mp_hub_hooks *hooks;
	void *u;
	struct mp_launch_planner *planner;
	struct mp_config_watch *watch;
	struct mp_audit *audit;     /* NULL: there is no store */
	struct mp_spans *spans;     /* NULL: no collector is configured */
	struct mp_network *network; /* NULL: changes are not noticed */
	bool is_stopping;
	struct mp_timer patience; /* of a drain */
	struct mp_timer renewals; /* of a stop: looks again whether tokens are saved */
	int64_t stop_by_ms;
	void (*drained)(void *u); /* NULL: already called, or not wanted */
	void *drained_u;
};

/* --- files ----------------------------------------------------------------------------------- */

/* If files cannot be watched, everything else still works. */
static void begin_to_watch(struct mp_hub *hub)
{
	struct mcpool_error why;

	if (hub->p->o.one_shot || hub->p->watch)
		return;
	if (mp_config_watch_new(hub->loop, &hub->p->watch, &why) < 0)
		mp_log_warn(&hub_log, "changes of files will not be noticed: %s", why.message);
}

static void network_changed(void *u)
{
	struct mp_hub *hub = u;

	mp_pool_note_network(hub->pool);
}

/* A container may forbid it. Then time alone brings remote servers back. */
static void begin_to_watch_network(struct mp_hub *hub)
{
	struct mcpool_error why;

	if (hub->p->o.one_shot || hub->p->network)
		return;
	if (mp_network_new(hub->loop, network_changed, hub, &hub->p->network, &why) < 0)
		mp_log_write(&hub_log, MP_LEVEL_VRB, "%s", why.message);
}

struct mp_account *mp_hub_find_account(struct mp_hub *hub, const char *server)
{
	struct mp_account *a =
		mp_accounts_find(mp_launch_planner_get_accounts(hub->p->planner), server);
	struct mp_str challenge = mp_pool_find_challenge(hub->pool, server);

	if (a && challenge.len)
		mp_account_note_challenge(a, challenge);
	return a;
}

struct mp_config_watch *mp_hub_get_watch(struct mp_hub *hub)
{
	return hub->p->watch;
}

/* --- start, reload, stop --------------------------------------------------------------------- */

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct mp_hub *hub = u;

	hub->p->hooks->ready(hub->p->u, error);
}

static void is_reloaded(void *u, const struct mcpool_error *error)
{
	struct mp_hub *hub = u;

	if (hub->p->hooks->reloaded)
		hub->p->hooks->reloaded(hub->p->u, error);
}

void mp_hub_open_launcher(struct mp_hub *hub)
{
	mp_launch_planner_open_launcher(hub->p->planner);
}

void mp_hub_start(struct mp_hub *hub)
{
	begin_to_watch(hub);
	begin_to_watch_network(hub);
	mp_pool_set_files(hub->pool, hub->p->watch);
	mp_workspaces_start(hub->workspaces, hub->pool, hub->sessions, hub->p->watch);
	hub->workspace = mp_workspaces_get_own(hub->workspaces)->workspace;
}

void mp_hub_reload(struct mp_hub *hub)
{
	mp_workspaces_reload(hub->workspaces);
}

static void tell_drained(void *u)
{
	struct mp_hub *hub = u;
	void (*drained)(void *u) = hub->p->drained;

	mp_timer_stop(&hub->p->patience);
	hub->p->drained = NULL;
	if (drained)
		drained(hub->p->drained_u);
}

void mp_hub_drain(struct mp_hub *hub, int64_t max_ms, void (*drained)(void *u), void *u)
{
	bool is_first = !mp_timer_is_running(&hub->p->patience);

	hub->p->drained = drained;
	hub->p->drained_u = u;
	mp_timer_start(&hub->p->patience, max_ms);
	if (is_first)
		mp_sessions_drain(hub->sessions, tell_drained, hub);
}

/*
 * Wait for a token that is being renewed: the issuer has used up the old refresh token, and the
 * user would have to log in again; and for the last spans.
 */
static void is_stopped(void *u)
{
	struct mp_hub *hub = u;
	struct mp_hub_private *p = hub->p;

	if ((mp_accounts_are_at_rest(mp_launch_planner_get_accounts(p->planner)) &&
	     mp_spans_finish(p->spans)) ||
	    mp_loop_now_ms(hub->loop) >= p->stop_by_ms)
		p->hooks->stopped(p->u);
	else
		mp_timer_start(&p->renewals, RENEWAL_LOOK_MS);
}

void mp_hub_stop(struct mp_hub *hub)
{
	if (hub->p->is_stopping)
		return;
	hub->p->is_stopping = true;
	hub->p->stop_by_ms = mp_loop_now_ms(hub->loop) + RENEWAL_MS;
	mp_workspaces_stop(hub->workspaces);
	mp_pool_stop(hub->pool, is_stopped, hub);
}

/* --- life ------------------------------------------------------------------------------------ */

static struct mp_workspaces *make_workspaces(struct mp_hub *hub)
{
	struct mp_workspaces_options options = {
		.loop = hub->loop,
		.events = &hub->events,
		.request = hub->p->o.request,
		.set = hub->p->o.set,
		.one_shot = hub->p->o.one_shot,
		.ready = is_ready,
		.reloaded = is_reloaded,
		.u = hub,
	};

	return mp_workspaces_new(&options);
}

static void compare_approvals(void *u)
{
	struct mp_hub *hub = u;

	mp_workspaces_compare_approvals(hub->workspaces);
}

static struct mp_pool *make_pool(struct mp_hub *hub)
{
	struct mp_pool_options options = {
		.loop = hub->loop,
		.db = hub->p->o.request.db,
		.board = &hub->board,
		.events = &hub->events,
		.calls = &hub->calls,
		.said = &hub->said,
		.me = hub->p->o.me,
		.launch_ops = &mp_launch_planner_ops,
		.launch_ops_u = hub->p->planner,
		.init_concurrency = (size_t)mp_workspaces_get_own(hub->workspaces)
					    ->set->settings.init_concurrency,
		.one_shot = hub->p->o.one_shot,
		.skipped_lists = hub->p->o.skipped_lists,
		.capabilities = hub->p->o.capabilities,
		/* An id of an earlier hub names no session of this one. */
		.session_base = (mp_id)getpid() * 100000,
		.on_approvals_changed = compare_approvals,
		.u = hub,
	};

	return mp_pool_new(&options);
}

static void login_changed(void *u, const char *server, bool has_token)
{
	struct mp_hub *hub = u;

	mp_pool_note_login(hub->pool, server, has_token);
}

static struct mp_account *find_account(void *u, const char *server)
{
	return mp_hub_find_account(u, server);
}

static struct mp_sessions *make_sessions(struct mp_hub *hub)
{
	struct mp_sessions_options options = {
		.pool = hub->pool,
		.board = &hub->board,
		.me = hub->p->o.me,
		.db = hub->p->o.request.db,
		.on_session = compare_approvals,
		.find_account = find_account,
		.u = hub,
	};

	return mp_sessions_new(&options);
}

/* Without a hub place, no server can be a client of this hub. */
static void mark_servers(struct mp_hub *hub)
{
	char text[sizeof(MP_ENVIRONMENT_HUB) + sizeof(((struct mp_hub_place *)NULL)->socket) + 1];
	struct mp_hub_place place;

	if (mp_hub_place_find(&place, NULL) < 0)
		return;
	snprintf(text, sizeof(text), MP_ENVIRONMENT_HUB "=%s", place.socket);
	mp_launch_planner_mark(hub->p->planner, text);
}

/* Launch keys that are compared only within this process need no secret. */
static int make_planner(struct mp_hub *hub, struct mcpool_error *reterr)
{
	static const unsigned char no_key[MP_LOCAL_KEY_SIZE];
	struct mp_hub_private *p = hub->p;
	int r;

	if (p->o.set && p->o.set->is_typed) {
		p->planner = mp_launch_planner_make(hub->loop, p->o.exe, no_key);
		return 0;
	}
	r = mp_launch_planner_new(hub->loop, p->o.exe, &p->planner, reterr);
	if (r == 0)
		mark_servers(hub);
	return r;
}

/* Hashes of arguments are keyed, so that short ones cannot be found by trying. */
static int open_calls(struct mp_hub *hub, struct mcpool_error *reterr)
{
	unsigned char local[MP_LOCAL_KEY_SIZE] = {0}, out[MP_DIGEST_SIZE];
	bool is_typed = hub->p->o.set && hub->p->o.set->is_typed;
	int r = is_typed ? 0 : mp_local_key_get(local, reterr);
	struct mp_digest *d;
	uint64_t key[2];

	if (r < 0)
		return r;
	d = mp_digest_new_keyed((struct mp_str){(const char *)local, sizeof(local)});
	mp_wipe(local, sizeof(local));
	mp_digest_add(d, MP_STR("arguments of calls"));
	mp_digest_finish(d, out);
	memcpy(key, out, sizeof(key));
	mp_call_log_init(&hub->calls, hub->loop, key);
	return 0;
}

static const struct mp_audit_settings *get_audit_settings(void *u)
{
	struct mp_hub *hub = u;

	return hub->workspace ? &mp_workspace_get_set(hub->workspace)->settings.audit : NULL;
}

/* What was typed for one command leaves nothing behind. */
static void open_audit(struct mp_hub *hub)
{
	const struct mp_audit_options options = {
		.loop = hub->loop,
		.calls = &hub->calls,
		.db = hub->p->o.request.db,
		.get_settings = get_audit_settings,
		.u = hub,
	};

	if (options.db && !(hub->p->o.set && hub->p->o.set->is_typed))
		hub->p->audit = mp_audit_new(&options);
}

/* A hub that serves one command has no time to send them. */
static void open_spans(struct mp_hub *hub)
{
	const struct mp_settings *settings = &mp_workspaces_get_own(hub->workspaces)->set->settings;
	struct mcpool_error why;

	if (hub->p->o.one_shot || !settings->otlp.endpoint)
		return;
	if (mp_spans_new(hub->loop, &hub->calls, &settings->otlp, &hub->p->spans, &why) == 0)
		mp_pool_set_tracing(hub->pool, true);
	else
		mp_log_warn(&hub_log, "no spans are sent: %s", why.message);
}

static int open_parts(struct mp_hub *hub, struct mcpool_error *reterr)
{
	int r = mp_loop_new(&hub->loop);

	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	mp_board_init(&hub->board, hub->loop);
	mp_events_init(&hub->events, hub->loop);
	mp_notifications_init(&hub->said, hub->loop);
	r = open_calls(hub, reterr);
	return r < 0 ? r : make_planner(hub, reterr);
}

int mp_hub_new(const struct mp_hub_options *options, const struct mp_hub_hooks *hooks, void *u,
	       struct mp_hub **ret_hub, struct mcpool_error *reterr)
{
	struct mp_hub *hub = mp_alloc(sizeof(*hub));
	int r;

	hub->p = mp_alloc(sizeof(*hub->p));
	hub->p->o = *options;
	hub->p->hooks = hooks;
	hub->p->u = u;
	r = open_parts(hub, reterr);
	if (r < 0) {
		mp_hub_free(hub);
		return r;
	}
	open_audit(hub);
	hub->workspaces = make_workspaces(hub);
	hub->pool = make_pool(hub);
	hub->usage = mp_usage_new(hub->pool);
	mp_traffic_init(&hub->traffic, hub->pool, &hub->events, &hub->calls);
	open_spans(hub);
	mp_accounts_set_hook(mp_launch_planner_get_accounts(hub->p->planner), login_changed, hub);
	hub->sessions = make_sessions(hub);
	hub->began_ms = mp_loop_now_ms(hub->loop);
	mp_timer_init(&hub->p->patience, hub->loop, tell_drained, hub);
	mp_timer_init(&hub->p->renewals, hub->loop, is_stopped, hub);
	*ret_hub = hub;
	return 0;
}

struct mp_hub *mp_hub_free(struct mp_hub *hub)
{
	struct mp_hub_private *p = hub ? hub->p : NULL;

	if (!hub)
		return NULL;
	if (hub->sessions) {
		mp_timer_stop(&p->patience);
		mp_timer_stop(&p->renewals);
	}
	hub->sessions = mp_sessions_free(hub->sessions);
	hub->workspaces = mp_workspaces_free(hub->workspaces);
	hub->workspace = NULL;
	mp_network_free(p->network);
	mp_usage_free(hub->usage);
	if (hub->pool)
		mp_traffic_done(&hub->traffic);
	mp_pool_free(hub->pool);
	mp_config_watch_close(p->watch);
	mp_launch_planner_free(p->planner);
	mp_audit_free(p->audit);
	mp_spans_free(p->spans);
	if (hub->calls.loop)
		mp_call_log_done(&hub->calls);
	if (hub->loop) {
		mp_notifications_done(&hub->said);
		mp_events_done(&hub->events);
		mp_board_done(&hub->board);
	}
	mp_loop_free(hub->loop);
	mp_free(p);
	return mp_free(hub);
}
