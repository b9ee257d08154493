/*
 * reach_own.c - to the servers of one command by a hub of its own.
 */
#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/forms.h"
#include "cli/inproc.h"
#include "cli/reach_parts.h"

struct own {
	struct mp_reach *r;
	struct mp_inproc *hub;
	struct mp_pool_call call; /* what Ctrl-C cancels */
	struct mp_arena texts;    /* of the call */
	struct mp_timer pause;
	bool is_pausing;
	struct mp_forms forms; /* ids are the pool's, of questions */
};

/* --- looking --------------------------------------------------------------------------------- */

static void take(void *u)
{
	struct own *own = u;
	struct mp_status_list *servers;
	int r = mp_status_list_take(mp_inproc_get_view(own->hub), MP_INPROC_SESSION, NULL, true,
				    &servers);

	if (r == 0) {
		mp_reach_looked(own->r, servers);
		return;
	}
	mp_cli_complain("%s", mcpool_error_text(r));
	mp_inproc_finish(own->hub, MP_EXIT_START);
}

static void look(void *w, const struct mp_reach_look *look)
{
	struct own *own = w;
	bool all = look->start == MP_REACH_START_ALL;

	if (look->start == MP_REACH_START_NONE)
		take(own);
	else
		mp_inproc_open_gate(own->hub, all ? MP_GATE_DUE_ALL : MP_GATE_DUE_UNKNOWN,
				    look->only, look->max_ms, take, own);
}

/* --- calling --------------------------------------------------------------------------------- */

/* What it wrote to stderr last, by now or before it failed. */
static const char *get_tail(struct own *own, size_t at, const struct mp_status *s,
			    struct mp_buf *out)
{
	struct mp_workspace *v = mp_inproc_get_view(own->hub);

	if (mp_workspace_get_tail(v, at, MP_INPROC_SESSION, MP_REACH_TAIL_LINES, out) < 0)
		mp_buf_clear(out);
	if (out->len == 0 && mp_buf_add_str(out, mp_str_of(s->tail)) < 0)
		mp_buf_clear(out);
	return mp_buf_terminate(out) == 0 ? out->data : "";
}

/* Where it stands, if there is no result. */
static void tell(struct own *own, const struct mp_pool_answer *a)
{
	struct mp_workspace *v = mp_inproc_get_view(own->hub);
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	ptrdiff_t at = mp_workspace_find(v, a->server);
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_status status;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_buf_init(&tail, 2 * MP_LIMIT_STDERR_RING);
	if (at < 0 || (a->message && a->message->kind == MP_MESSAGE_RESULT)) {
		mp_reach_answered(own->r, a, NULL);
		return;
	}
	mp_status_take(v, (size_t)at, MP_INPROC_SESSION, &arena, &status);
	status.tail = get_tail(own, (size_t)at, &status, &tail);
	mp_reach_answered(own->r, a, &status);
}

static void answered(struct mp_pool_call *c, const struct mp_pool_answer *a)
{
	struct own *own = mp_container_of(c, struct own, call);

	mp_forms_drop_all(&own->forms);
	tell(own, a);
}

static void progressed(struct mp_pool_call *c, const struct mp_message *m)
{
	struct own *own = mp_container_of(c, struct own, call);

	mp_progress_line_show_progress(mp_inproc_get_line(own->hub), m);
}

static int call(void *w, const struct mp_pool_call_options *rq, struct mcpool_error *reterr)
{
	struct own *own = w;
	struct mp_pool_call_options ours = *rq;
	int r;

	mp_arena_reset(&own->texts);
	ours.session = MP_INPROC_SESSION;
	ours.server = mp_arena_dup(&own->texts, mp_str_of(rq->server));
	ours.tool.p = mp_arena_dup(&own->texts, rq->tool);
	ours.call.params.p = mp_arena_dup(&own->texts, rq->call.params);
	ours.call.capabilities.p = mp_arena_dup(&own->texts, rq->call.capabilities);
	r = mp_arena_get_error(&own->texts);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	return mp_pool_call_start(mp_inproc_get_view(own->hub), &own->call, &ours, reterr);
}

/* --- what servers ask ------------------------------------------------------------------------ */

static void asked(void *u, const struct mp_pool_server_request *rq)
{
	struct own *own = u;

	if (rq->method == MP_METHOD_ELICIT)
		mp_forms_add(&own->forms, rq->id, rq->server, rq->params);
	else
		mp_pool_client_decline(mp_inproc_get_pool(own->hub), rq->id, -32601,
				       mp_server_request_get_refusal(rq->method));
}

static void unasked(void *u, mp_id question)
{
	struct own *own = u;

	mp_forms_drop(&own->forms, question);
}

static void filled(void *u, uint64_t id, struct mp_str result)
{
	struct own *own = u;

	if (result.len)
		mp_pool_client_reply(mp_inproc_get_pool(own->hub), id, result);
	else
		mp_pool_client_decline(mp_inproc_get_pool(own->hub), id, -32601,
				       mp_str_of(mp_forms_refusal));
}

/* --- between two calls ----------------------------------------------------------------------- */

static void go_on(void *u)
{
	struct own *own = u;

	mp_timer_stop(&own->pause);
	own->is_pausing = false;
	mp_reach_waited(own->r);
}

static void pause_for(void *w, int64_t ms)
{
	struct own *own = w;

	own->is_pausing = true;
	mp_timer_start(&own->pause, mp_inproc_is_interrupted(own->hub) ? 0 : ms);
}

/* --- life ------------------------------------------------------------------------------------ */

static void finish(void *w, int exit_code)
{
	struct own *own = w;

	mp_forms_drop_all(&own->forms);
	mp_inproc_finish(own->hub, exit_code);
}

static bool is_interrupted(const void *w)
{
	const struct own *own = w;

	return mp_inproc_is_interrupted(own->hub);
}

static struct mp_progress_line *get_line(void *w)
{
	struct own *own = w;

	return mp_inproc_get_line(own->hub);
}

static const struct mp_reach_way way = {look, call, pause_for, finish, is_interrupted, get_line};

static void ready(struct mp_inproc *p, void *u)
{
	struct own *own = u;
	struct mp_loop *loop = mp_pool_get_loop(mp_inproc_get_pool(p));

	static const struct mp_pool_call_hooks hooks = {.answered = answered,
							.progress = progressed};

	own->hub = p;
	mp_pool_call_init(&own->call, loop, &hooks);
	mp_forms_init(&own->forms, loop, mp_inproc_get_line(p), filled, own);
	mp_timer_init(&own->pause, loop, go_on, own);
	own->r->way = &way;
	own->r->w = own;
	own->r->begin(own->r, own->r->u);
}

/* The server is told, and its answer to that is the end. */
static bool interrupted(struct mp_inproc *p, void *u)
{
	struct own *own = u;

	if (own->is_pausing) {
		go_on(own);
		return true;
	}
	(void)p;
	if (mp_pool_call_is_at_rest(&own->call))
		return false;
	mp_forms_drop_all(&own->forms);
	mp_pool_call_cancel(&own->call);
	return true;
}

int mp_reach_go_alone(struct mp_reach *r)
{
	static const struct mp_inproc_hooks hooks = {
		.ready = ready, .interrupted = interrupted, .client = {asked, unasked, NULL}};
	const struct mp_reach_options *o = r->o;
	struct mp_inproc_options options = {.c = o->c,
					    .args = o->args,
					    .entries = o->entries,
					    .n = o->n,
					    .start_timeout_ms = o->start_timeout_ms,
					    .skipped_lists = o->skipped_lists,
					    .capabilities = o->capabilities};
	struct own own = {.r = r};
	int exit_code;

	mp_arena_init(&own.texts, 2 * MP_LIMIT_MESSAGE);
	exit_code = mp_inproc_run(&options, &hooks, &own);
	if (own.hub)
		mp_pool_call_done(&own.call);
	mp_arena_done(&own.texts);
	return exit_code;
}
