/*
 * pool_calls.c - how calls are made, and what happens to many of them at once: a server that moved,
 * a session that ended, a pool that goes.
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/spares.h"
#include "pool/pool_call_parts.h"

/* --- one of them ----------------------------------------------------------------------------- */

static void deadline_passed(void *u)
{
	mp_pool_call_advance(u, MP_POOL_CALL_ON_DEADLINE);
}

static void patience_lost(void *u)
{
	mp_pool_call_advance(u, MP_POOL_CALL_ON_PATIENCE);
}

static char *copy_text(char **at, struct mp_str s)
{
	char *p = *at;

	if (s.len)
		memcpy(p, s.p, s.len);
	p[s.len] = '\0';
	*at += s.len + 1;
	return p;
}

static struct mp_str copy_str(char **at, struct mp_str s)
{
	return (struct mp_str){copy_text(at, s), s.len};
}

static struct mp_pool_call *pool_call_new(struct mp_view *v, const struct mp_pool_call_options *rq)
{
	struct mp_pool *pool = mp_view_get_pool(v);
	size_t texts = strlen(rq->server) + rq->tool.len + rq->params.len + rq->meta.len +
		       rq->capabilities.len + 5;
	size_t size = sizeof(struct mp_pool_call) + texts;
	struct mp_pool_call *l = size > MP_SPARES_MOST
					 ? mp_try_alloc(size)
					 : mp_spares_take(mp_loop_get_spares(pool->o.loop), size);
	char *at;

	if (!l)
		return NULL;
	*l = (struct mp_pool_call){
		.size = size,
		.view = v,
		.pool = pool,
		.session = rq->session,
		.caller = rq->caller ? rq->caller : rq->session,
		.method = rq->method,
		.on_progress = rq->on_progress,
		.log_level = rq->log_level,
		.keeps_rounds = rq->keeps_rounds,
		.takes_tasks = rq->takes_tasks,
	};
	at = l->text;
	l->server = copy_text(&at, mp_str_of(rq->server));
	l->tool = copy_str(&at, rq->tool);
	l->params = copy_str(&at, rq->params);
	l->meta = copy_str(&at, rq->meta);
	l->capabilities = copy_str(&at, rq->capabilities);
	mp_timer_init(&l->deadline, l->pool->o.loop, deadline_passed, l);
	mp_timer_init(&l->patience, l->pool->o.loop, patience_lost, l);
	mp_call_init(&l->call, l->pool->o.loop, &mp_pool_call_call_hooks);
	mp_task_init(&l->task, mp_pool_call_tell_later, l);
	l->id = mp_ids_add(&l->pool->ids, l);
	l->asked_ms = mp_loop_now_ms(l->pool->o.loop);
	return l;
}

/* A server that cannot be had is an answer like any other, unless there is none of that name. */
static void refuse(struct mp_pool_call *l, const struct mcpool_error *why)
{
	ptrdiff_t i = mp_view_find(l->view, l->server);

	mp_pool_call_refuse(l, why->code, MP_OUTCOME_NOT_SENT, "%s", why->message);
	l->why->fault = why->fault;
	if (i >= 0)
		l->transport = mp_kind_get_name(mp_view_get_entry(l->view, (size_t)i)->kind);
}

static void move_in(struct mp_pool_call *l, struct mp_instance *in, const struct mcpool_error *why)
{
	l->in = in;
	mp_list_append(mp_pool_call_get_list(l), &l->link);
	if (in)
		mp_instance_note_use(in);
	else
		refuse(l, why);
}

void mp_pool_call_find_server(struct mp_pool_call *l)
{
	struct mcpool_error why;

	move_in(l, mp_view_get_instance(l->view, l->server, l->session, &why), &why);
}

static void set_deadline(struct mp_pool_call *l, int64_t timeout_ms)
{
	const struct mp_tuning *t = &l->in->e->tuning;
	int64_t first;

	l->timeout_ms = timeout_ms ? timeout_ms : t->tool_timeout_ms;
	l->max_total_ms = t->max_total_ms > l->timeout_ms ? t->max_total_ms : l->timeout_ms;
	first = t->timeout_order == MP_TIMEOUT_TRANSPORT ? mp_pool_call_pad(l->timeout_ms)
							 : l->timeout_ms;
	if (first > 0)
		mp_timer_start(&l->deadline, first);
}

static int begin(struct mp_view *v, const struct mp_pool_call_options *rq, bool is_held,
		 mp_pool_call_fn fn, void *u, mp_id *ret_call, struct mcpool_error *reterr)
{
	ptrdiff_t seat = mp_view_find(v, rq->server);
	MP_UNSET struct mcpool_error why;
	struct mp_pool_call *l;

	if (seat < 0)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no server '%s'", rq->server);
	l = pool_call_new(v, rq);
	if (!l)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	l->fn = fn;
	l->u = u;
	l->is_held = is_held;
	if (ret_call)
		*ret_call = l->id;
	move_in(l, mp_view_get_instance_at(v, (size_t)seat, l->session, &why), &why);
	if (l->in && !is_held)
		set_deadline(l, rq->timeout_ms);
	mp_pool_call_advance(l, MP_POOL_CALL_ON_ASK);
	return 0;
}

int mp_pool_call_start(struct mp_view *v, const struct mp_pool_call_options *rq, mp_pool_call_fn fn,
		       void *u, mp_id *ret_call, struct mcpool_error *reterr)
{
	return begin(v, rq, false, fn, u, ret_call, reterr);
}

int mp_pool_call_acquire(struct mp_view *v, const char *server, mp_id session, mp_pool_call_fn fn,
			 void *u, mp_id *ret_call, struct mcpool_error *reterr)
{
	struct mp_pool_call_options rq = {.server = server, .session = session};

	return begin(v, &rq, true, fn, u, ret_call, reterr);
}

void mp_pool_call_cancel(struct mp_pool *p, mp_id call)
{
	struct mp_pool_call *l = mp_ids_get(&p->ids, call);

	if (l && l->state != MP_POOL_CALL_FRESH)
		mp_pool_call_advance(l, MP_POOL_CALL_ON_CANCEL);
}

/* --- many of them --------------------------------------------------------------------------- */

static struct mp_pool_call *pool_call_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_pool_call, link);
}

struct share {
	size_t n;
	struct mp_pool_call *last;
};

static struct share *count_one(struct mp_ids *callers, struct share *free, struct mp_pool_call *l)
{
	mp_id key = l->caller ? l->caller : UINT64_MAX; /* those of no session are one's */
	struct share *share = mp_ids_get(callers, key);

	if (!share) {
		share = free;
		mp_ids_put(callers, key, share);
	}
	share->n++;
	share->last = l;
	return share;
}

/* Only when the line is full, so there need be no books of who has how much. */
struct mp_pool_call *mp_pool_call_find_greediest(struct mp_instance *in, struct mp_pool_call *l)
{
	struct mp_list *waiting = &in->calls[MP_POOL_CALL_WAITING];
	struct share *shares = mp_alloc(waiting->len * sizeof(*shares)), *most = NULL, *its = NULL;
	struct mp_pool_call *greediest;
	struct mp_ids callers;
	size_t n = 0;

	mp_ids_init(&callers);
	MP_LIST_EACH(waiting, link) {
		struct mp_pool_call *one = pool_call_of(link);
		struct share *share;

		if (one->is_held)
			continue;
		share = count_one(&callers, &shares[n], one);
		n += share == &shares[n];
		if (!most || share->n > most->n)
			most = share;
		if (one == l)
			its = share;
	}
	greediest = its && its->n < most->n ? most->last : l;
	mp_ids_done(&callers);
	mp_free(shares);
	return greediest;
}

void mp_pool_call_wake_all(struct mp_instance *in)
{
	MP_LIST_WALK(&in->calls[MP_POOL_CALL_WAITING], link)
		mp_pool_call_advance(pool_call_of(link), MP_POOL_CALL_ON_ASK);
}

static void move(struct mp_pool_call *l)
{
	mp_queue_leave(&l->ticket);
	mp_pool_call_find_another(l);
	mp_pool_call_advance(l, l->in ? MP_POOL_CALL_ON_ASK : MP_POOL_CALL_ON_REFUSE);
}

void mp_pool_call_move_all(struct mp_instance *in)
{
	MP_LIST_WALK(&in->calls[MP_POOL_CALL_WAITING], waiting)
		move(pool_call_of(waiting));
	MP_LIST_WALK(&in->calls[MP_POOL_CALL_LINED], lined)
		move(pool_call_of(lined));
}

void mp_pool_call_cancel_all(struct mp_instance *in, mp_id session)
{
	static const enum mp_pool_call_state open[] = {MP_POOL_CALL_WAITING, MP_POOL_CALL_LINED,
						       MP_POOL_CALL_OUT, MP_POOL_CALL_HELD};

	for (size_t i = 0; i < MP_ARRAY_LEN(open); i++)
		MP_LIST_WALK(&in->calls[open[i]], link)
			if (session == 0 || pool_call_of(link)->session == session)
				mp_pool_call_advance(pool_call_of(link), MP_POOL_CALL_ON_CANCEL);
}

/*
 * Whoever has not been told is told now; the upstream is gone and owes nothing any more. It leaves
 * first of all, so that nobody who is told finds it.
 */
static void drop(struct mp_pool_call *l)
{
	struct mp_pool *p = l->pool;

	mp_loop_unpost(p->o.loop, &l->task);
	mp_queue_leave(&l->ticket);
	mp_timer_stop(&l->deadline);
	mp_timer_stop(&l->patience);
	mp_list_remove(mp_pool_call_get_list(l), &l->link);
	mp_ids_remove(&p->ids, l->id);
	mp_loop_bury(p->o.loop, &l->grave, mp_pool_call_bury);
	if (!l->is_told) {
		if (!l->why) {
			mp_pool_call_refuse(l, MCPOOL_ECLOSED, MP_OUTCOME_CANCELLED,
					    "mcpool has stopped");
			l->why->fault = MCPOOL_FAULT_CLOSED;
		}
		mp_pool_call_tell(l);
	}
	l->pool = NULL;
}

static void drop_list(struct mp_list *list)
{
	struct mp_link *link;

	while ((link = mp_list_first(list)))
		drop(pool_call_of(link));
}

void mp_pool_call_drop_all(struct mp_instance *in)
{
	for (int i = 0; i < MP_POOL_CALL_STATE_COUNT; i++)
		drop_list(&in->calls[i]);
}

void mp_pool_call_drop_homeless(struct mp_pool *p)
{
	drop_list(&p->homeless);
}
