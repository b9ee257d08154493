/*
 * gate.c - the start window: live, failed, deferred or late (U8).
 */
#include "pool/gate.h"

#include "base/machine.h"
#include "base/mem.h"

#define GATE_STATES(X)                                               \
	X(CLOSED, "closed", "not begun")                             \
	X(WINDOW, "window", "everybody may still make it")           \
	X(WAITING, "waiting", "only those count that must be there") \
	X(OPEN, "open", "told")

#define GATE_EVENTS(X)                                                \
	X(BEGIN, "begin", "start what is due")                        \
	X(STEP, "step", "a server made a step")                       \
	X(TIMER, "timer", "the window, or the longest wait, is over") \
	X(ENOUGH, "enough", "no server is left to wait for")          \
	X(MORE, "more", "somebody is")

MP_MACHINE_ENUM(gate_state, GATE_STATES);
MP_MACHINE_ENUM(gate_event, GATE_EVENTS);

struct mp_gate {
	struct mp_workspace *workspace;
	struct mp_pool *pool;
	struct mp_loop *loop;
	struct mp_gate_options o;
	enum gate_state state;
	struct mp_timer timer;
	struct mp_watcher watcher;
	struct mp_task look_task; /* coalesces all steps of a turn into one check */
	struct mp_task tell_task;
	mp_gate_fn fn;
	void *u;
};

MP_MACHINE_TYPES(gate, struct mp_gate, enum gate_event, GATE_STATES, GATE_EVENTS);
static gate_action start_all, look_at_all, look_at_needed, go_on, gate_tell;

MP_MACHINE_STEPS(gate) = {
	[CLOSED] = {[BEGIN] = MP_TO(WINDOW, start_all)},
	[WINDOW] = {[STEP] = MP_DO(look_at_all),
		    [ENOUGH] = MP_TO(OPEN, gate_tell),
		    [MORE] = MP_STAY,
		    [TIMER] = MP_TO(WAITING, go_on)},
	[WAITING] = {[STEP] = MP_DO(look_at_needed),
		     [ENOUGH] = MP_TO(OPEN, gate_tell),
		     [MORE] = MP_STAY,
		     [TIMER] = MP_TO(OPEN, gate_tell)},
	[OPEN] = {[STEP] = MP_STAY},
};

MP_MACHINE(gate, struct mp_gate)

/* --- the place of each server ---------------------------------------------------------------- */

enum mp_gate_place mp_gate_get_place(struct mp_workspace *w, size_t i, mp_id session)
{
	enum mp_status_state state = mp_workspace_get_state(w, i, session);

	switch (state) {
	case MP_STATUS_CONNECTED:
		return MP_PLACE_LIVE;
	case MP_STATUS_FAILED:
		return MP_PLACE_FAILED;
	case MP_STATUS_NEEDS_APPROVAL:
		return MP_PLACE_NEEDS_APPROVAL;
	case MP_STATUS_NEEDS_AUTH:
		return MP_PLACE_NEEDS_AUTH;
	case MP_STATUS_PENDING:
	case MP_STATUS_READY:
		if (mp_workspace_has_catalog(w, i, session))
			return MP_PLACE_DEFERRED;
		return state == MP_STATUS_READY ? MP_PLACE_READY : MP_PLACE_LATE;
	case MP_STATUS_DISABLED:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return MP_PLACE_DISABLED;
}

bool mp_gate_is_unknown(struct mp_workspace *w, size_t i, mp_id session)
{
	enum mp_gate_place place = mp_gate_get_place(w, i, session);

	return place == MP_PLACE_LATE || place == MP_PLACE_READY;
}

/* A start without a limit may never settle; calls do not wait for it after 60 s either (E31). */
static bool is_endless(struct mp_gate *g, size_t i)
{
	return mp_workspace_get_entry(g->workspace, i)->tuning.timeout_ms == 0 &&
	       mp_workspace_is_given_up(g->workspace, i, g->o.session);
}

static bool is_pending(struct mp_gate *g, size_t i)
{
	return mp_workspace_get_state(g->workspace, i, g->o.session) == MP_STATUS_PENDING &&
	       !is_endless(g, i);
}

/* --- steps ----------------------------------------------------------------------------------- */

static bool is_due(struct mp_gate *g, size_t i)
{
	const struct mp_entry *e = mp_workspace_get_entry(g->workspace, i);

	if (e->tuning.mode == MP_MODE_SESSION && g->o.session == 0)
		return false; /* it is started per session, and there is no session */
	if (g->o.only && !g->o.only[i])
		return false;
	switch (g->o.due) {
	case MP_GATE_DUE_ALL:
		return true;
	case MP_GATE_DUE_UNKNOWN:
		return !mp_workspace_is_remembered(g->workspace, i, g->o.session);
	case MP_GATE_DUE_EAGER:
		break;
	}
	return e->tuning.start == MP_START_EAGER ||
	       !mp_workspace_is_remembered(g->workspace, i, g->o.session);
}

static enum gate_event start_all(struct mp_gate *g)
{
	for (size_t i = 0; i < mp_workspace_count(g->workspace); i++) {
		bool is_lazy =
			mp_workspace_get_entry(g->workspace, i)->tuning.start == MP_START_LAZY;

		if (is_due(g, i))
			mp_workspace_start_server(g->workspace, i, g->o.session, is_lazy);
	}
	mp_timer_start(&g->timer, g->o.window_ms);
	return look_at_all(g);
}

static enum gate_event look_at_all(struct mp_gate *g)
{
	for (size_t i = 0; i < mp_workspace_count(g->workspace); i++)
		if (is_pending(g, i))
			return MORE;
	return ENOUGH;
}

/* Servers without a known catalog, or all servers (A38, A68). */
static enum gate_event look_at_needed(struct mp_gate *g)
{
	if (g->o.uncached == MP_UNCACHED_WAIT_ALL)
		return look_at_all(g);
	if (g->o.uncached == MP_UNCACHED_LATE)
		return ENOUGH;
	for (size_t i = 0; i < mp_workspace_count(g->workspace); i++)
		if (is_pending(g, i) && mp_gate_is_unknown(g->workspace, i, g->o.session))
			return MORE;
	return ENOUGH;
}

static enum gate_event go_on(struct mp_gate *g)
{
	int64_t left = g->o.max_wait_ms - g->o.window_ms;

	if (g->o.max_wait_ms > 0)
		mp_timer_start(&g->timer, left > 0 ? left : 0);
	return look_at_needed(g);
}

static enum gate_event gate_tell(struct mp_gate *g)
{
	mp_timer_stop(&g->timer);
	mp_watcher_leave(g->pool, &g->watcher);
	mp_loop_unpost(g->loop, &g->look_task);
	mp_loop_post(g->loop, &g->tell_task);
	return MP_QUIET;
}

/* --- interface ------------------------------------------------------------------------------- */

static void timer_fired(void *u)
{
	gate_advance(u, TIMER);
}

static void gate_look(void *u)
{
	gate_advance(u, STEP);
}

static void server_moved(void *u, mp_id instance)
{
	struct mp_gate *g = u;

	(void)instance;
	if (!mp_list_linked(&g->look_task.link))
		mp_loop_post(g->loop, &g->look_task);
}

static void told(void *u)
{
	struct mp_gate *g = u;

	g->fn(g->u);
}

struct mp_gate *mp_gate_open(struct mp_workspace *v, const struct mp_gate_options *options,
			     mp_gate_fn fn, void *u)
{
	struct mp_gate *g = mp_alloc(sizeof(*g));

	g->workspace = v;
	g->pool = mp_workspace_get_pool(v);
	g->loop = mp_pool_get_loop(g->pool);
	g->o = *options;
	g->fn = fn;
	g->u = u;
	mp_timer_init(&g->timer, g->loop, timer_fired, g);
	mp_task_init(&g->look_task, gate_look, g);
	mp_task_init(&g->tell_task, told, g);
	mp_watcher_join(g->pool, &g->watcher, server_moved, g);
	gate_advance(g, BEGIN);
	return g;
}

struct mp_gate *mp_gate_free(struct mp_gate *g)
{
	if (!g)
		return NULL;
	mp_timer_stop(&g->timer);
	mp_watcher_leave(g->pool, &g->watcher);
	mp_loop_unpost(g->loop, &g->look_task);
	mp_loop_unpost(g->loop, &g->tell_task);
	return mp_free(g);
}
