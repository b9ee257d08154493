/*
 * pool_calls.c - starts calls, and changes many calls at once: when a server moves, a session ends
 * or the pool is freed.
 */
#include "base/error.h"
#include "base/mem.h"
#include "pool/call_log.h"
#include "pool/pool_call.h"
#include "pool/workspace.h"

/* --- one call -------------------------------------------------------------------------------- */

void mp_pool_call_init(struct mp_pool_call *c, struct mp_loop *loop,
		       const struct mp_pool_call_hooks *hooks)
{
	*c = (struct mp_pool_call){.hooks = hooks};
	mp_call_init(&c->call, loop, &mp_pool_call_wire_hooks);
}

static void wake_up(struct mp_pool_call *c)
{
	MP_UNPOISON(&c->call.link, &c->call + 1);
	MP_UNPOISON(&c->link, c + 1);
}

void mp_pool_call_done(struct mp_pool_call *c)
{
	wake_up(c);
	mp_check(c->state == MP_POOL_CALL_REST && !mp_list_linked(&c->link));
	mp_call_done(&c->call);
}

bool mp_pool_call_is_at_rest(const struct mp_pool_call *c)
{
	return c->state == MP_POOL_CALL_REST;
}

static void set_up(struct mp_pool_call *c, struct mp_workspace *v,
		   const struct mp_pool_call_options *o)
{
	mp_check(c->state == MP_POOL_CALL_REST);
	wake_up(c);
	c->workspace = v;
	c->pool = mp_workspace_get_pool(v);
	c->in = NULL;
	c->server = o->server;
	c->trace = o->trace;
	c->tool = o->tool;
	c->session = o->session;
	c->client = mp_call_client_ref(o->client);
	c->caller = o->caller ? o->caller : o->session;
	c->is_held = c->was_out = c->was_up = c->retryable = c->is_paused = false;
	c->retry_ms = 0;
	c->returns = c->attempt = 0;
	c->timeout_ms = c->max_total_ms = c->sent_us = c->took_us = c->hub_us = 0;
	c->deadline_ms = c->patience_ms = INT64_MAX;
	c->asked_us = mp_loop_now_us(c->pool->o.loop);
	c->ticket = (struct mp_ticket){0};
	c->message = NULL;
	c->transport = NULL;
	c->call.o = o->call;
}

/* An unavailable server is an ordinary failed answer, unless the name is unknown. */
static void refuse(struct mp_pool_call *c, const struct mcpool_error *why)
{
	ptrdiff_t i = mp_workspace_find(c->workspace, c->server);

	mp_pool_call_refuse(c, why->code, MP_OUTCOME_NOT_SENT, "%s", why->message);
	c->why->fault = why->fault;
	if (i >= 0)
		c->transport =
			mp_kind_get_name(mp_workspace_get_entry(c->workspace, (size_t)i)->kind);
}

static void move_in(struct mp_pool_call *c, struct mp_instance *in, const struct mcpool_error *why)
{
	c->in = in;
	if (!in)
		refuse(c, why);
}

void mp_pool_call_find_server(struct mp_pool_call *c)
{
	struct mcpool_error why;

	move_in(c, mp_workspace_get_instance(c->workspace, c->server, c->session, &why), &why);
	mp_list_append(mp_pool_call_get_list(c), &c->link);
	if (c->in)
		mp_instance_note_use(c->in);
}

static void set_limits(struct mp_pool_call *c)
{
	const struct mp_tuning *t = &c->in->e->tuning;
	int64_t first;

	c->timeout_ms = c->call.o.timeout_ms ? c->call.o.timeout_ms : t->tool_timeout_ms;
	c->max_total_ms = t->max_total_ms > c->timeout_ms ? t->max_total_ms : c->timeout_ms;
	first = t->timeout_order == MP_TIMEOUT_TRANSPORT ? mp_pool_call_pad(c->timeout_ms)
							 : c->timeout_ms;
	if (first > 0)
		mp_pool_call_set_deadline(c, first);
}

static int pool_calls_begin(struct mp_workspace *v, struct mp_pool_call *c,
			    const struct mp_pool_call_options *o, bool is_held,
			    struct mcpool_error *reterr)
{
	ptrdiff_t at = mp_workspace_find(v, o->server);
	MP_UNSET struct mcpool_error why;

	if (at < 0)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no server '%s'", o->server);
	set_up(c, v, o);
	c->is_held = is_held;
	move_in(c, mp_workspace_get_instance_at(v, (size_t)at, c->session, &why), &why);
	if (c->in && !is_held)
		set_limits(c);
	mp_pool_call_advance(c, MP_POOL_CALL_ON_ASK);
	return 0;
}

int mp_pool_call_start(struct mp_workspace *v, struct mp_pool_call *c,
		       const struct mp_pool_call_options *o, struct mcpool_error *reterr)
{
	return pool_calls_begin(v, c, o, false, reterr);
}

int mp_pool_call_acquire(struct mp_workspace *v, struct mp_pool_call *c, const char *server,
			 mp_id session, struct mcpool_error *reterr)
{
	struct mp_pool_call_options o = {.server = server, .session = session};

	return pool_calls_begin(v, c, &o, true, reterr);
}

void mp_pool_call_cancel(struct mp_pool_call *c)
{
	mp_pool_call_advance(c, MP_POOL_CALL_ON_CANCEL);
}

/* --- many at once --------------------------------------------------------------------------- */

static struct mp_pool_call *pool_call_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_pool_call, link);
}

struct share {
	size_t n;
	struct mp_pool_call *last;
};

static struct share *count_one(struct mp_ids *callers, struct share *free, struct mp_pool_call *c)
{
	mp_id key = c->caller ? c->caller : UINT64_MAX; /* no session: one caller */
	struct share *share = mp_ids_get(callers, key);

	if (!share) {
		share = free;
		mp_ids_put(callers, key, share);
	}
	share->n++;
	share->last = c;
	return share;
}

/* Runs only when the line is full, so no counters per caller are kept. */
struct mp_pool_call *mp_pool_call_find_greediest(struct mp_instance *in, struct mp_pool_call *c)
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
		if (one == c)
			its = share;
	}
	greediest = its && its->n < most->n ? most->last : c;
	mp_ids_done(&callers);
	mp_free(shares);
	return greediest;
}

void mp_pool_call_wake_all(struct mp_instance *in)
{
	MP_LIST_WALK(&in->calls[MP_POOL_CALL_WAITING], link)
		mp_pool_call_advance(pool_call_of(link), MP_POOL_CALL_ON_ASK);
}

static void move(struct mp_pool_call *c)
{
	mp_queue_leave(&c->ticket);
	mp_pool_call_find_another(c);
	mp_pool_call_advance(c, c->in ? MP_POOL_CALL_ON_ASK : MP_POOL_CALL_ON_REFUSE);
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

static void drop_list(struct mp_list *list)
{
	struct mp_link *link;

	while ((link = mp_list_first(list)))
		mp_pool_call_drop(pool_call_of(link));
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

/* --- displays -------------------------------------------------------------------------------- */

static void open_call_tell(const struct mp_pool_call *c,
			   void (*fn)(void *u, const struct mp_open_call *c), void *u)
{
	const struct mp_call_options *o = &c->call.o;
	struct mp_open_call r = {
		.session = c->session,
		.client = c->client ? c->client->name : "",
		.server = c->server,
		.method = o->method,
		.subject = o->name,
		.since_us = c->asked_us,
		.sent_us = c->state == MP_POOL_CALL_OUT ? c->sent_us : 0,
	};

	if (!c->is_held)
		fn(u, &r);
}

static void open_calls_walk(const struct mp_list *instances,
			    void (*fn)(void *u, const struct mp_open_call *c), void *u)
{
	static const enum mp_pool_call_state states[] = {MP_POOL_CALL_WAITING, MP_POOL_CALL_LINED,
							 MP_POOL_CALL_OUT};

	MP_LIST_EACH(instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		for (size_t i = 0; i < MP_ARRAY_LEN(states); i++)
			MP_LIST_EACH(&in->calls[states[i]], at)
				open_call_tell(mp_container_of(at, struct mp_pool_call, link), fn,
					       u);
	}
}

void mp_pool_call_walk(const struct mp_pool *p, void (*fn)(void *u, const struct mp_open_call *c),
		       void *u)
{
	open_calls_walk(&p->instances, fn, u);
	open_calls_walk(&p->leaving, fn, u);
}
