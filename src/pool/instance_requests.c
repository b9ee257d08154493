/*
 * instance_requests.c - server requests, until they are answered, declined or withdrawn.
 * Each is answered at most once. The client is told when its answer is no longer needed.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "pool/instance.h"
#include "pool/pool_call.h"
#include "pool/attribution.h"
#include "pool/pool_client.h"

enum { METHOD_NOT_FOUND = -32601, DECLINED = -1 };

struct server_request {
	struct mp_link of_client, of_instance;
	struct mp_pool *pool;
	mp_id id;
	struct mp_pool_call *call; /* the call it belongs to; NULL: unknown */
	struct mp_pool_client *client;
	struct mp_instance *in;
	mp_id upstream_id; /* as the upstream knows it */
	struct mp_timer timer;
	struct mp_task task; /* reports the withdrawal */
	struct mp_grave grave;
};

static struct server_request *request_of_client(struct mp_link *link)
{
	return mp_container_of(link, struct server_request, of_client);
}

static struct server_request *request_of_instance(struct mp_link *link)
{
	return mp_container_of(link, struct server_request, of_instance);
}

/* --- the calls they belong to ---------------------------------------------------------------- */

static bool is_about(const struct server_request *a, const struct mp_pool_call *l)
{
	return a->call ? a->call == l : a->client->id == l->session;
}

/* A server request of this call is open. */
static bool has_request(const struct mp_pool_call *l)
{
	MP_LIST_EACH(&l->in->requests.list, link)
		if (is_about(request_of_instance(link), l))
			return true;
	return false;
}

/* While a server request is open, the tool's timeout is paused (up to maxTotal). */
static void instance_requests_reckon(struct mp_instance *in, mp_id session)
{
	MP_LIST_EACH(&in->calls[MP_POOL_CALL_OUT], link) {
		struct mp_pool_call *l = mp_container_of(link, struct mp_pool_call, link);

		if (l->session == session)
			mp_pool_call_pause(l, has_request(l));
	}
}

/* --- endings --------------------------------------------------------------------------------- */

static void free_request(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct server_request, grave));
}

/* Removes it from all lists. */
static void instance_requests_close(struct server_request *a)
{
	mp_timer_stop(&a->timer);
	mp_ids_remove(&a->pool->server_requests, a->id);
	mp_list_remove(&a->client->requests, &a->of_client);
	mp_list_remove(&a->in->requests.list, &a->of_instance);
	instance_requests_reckon(a->in, a->client->id);
}

static void instance_requests_bury(struct server_request *a)
{
	mp_loop_bury(a->pool->o.loop, &a->grave, free_request);
}

static void tell_withdrawn(void *u)
{
	struct server_request *a = u;

	mp_list_remove(&a->client->withdrawn, &a->of_client);
	instance_requests_bury(a);
	if (a->client->hooks.withdraw)
		a->client->hooks.withdraw(a->client->u, a->id);
}

/* The server may be stopping now and the hook may do anything, so the hook runs later. */
static void withdraw_later(struct server_request *a)
{
	mp_list_append(&a->client->withdrawn, &a->of_client);
	mp_task_init(&a->task, tell_withdrawn, a);
	mp_loop_post(a->pool->o.loop, &a->task);
}

/* The client has left and gets no withdrawals. */
static void forget_withdrawn(struct mp_pool_client *client)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&client->withdrawn))) {
		mp_loop_unpost(client->pool->o.loop, &request_of_client(link)->task);
		instance_requests_bury(request_of_client(link));
	}
}

/* is_told: the client still has to be told. */
static void instance_requests_decline(struct server_request *a, int code, struct mp_str words,
				      bool is_told)
{
	struct mp_upstream *up = mp_keeper_get_upstream(a->in->k);
	mp_id request = a->upstream_id;

	instance_requests_close(a);
	if (is_told)
		withdraw_later(a);
	else
		instance_requests_bury(a);
	if (up)
		mp_upstream_decline(up, request, code, words);
}

static void was_not_answered(void *u)
{
	instance_requests_decline(u, DECLINED, MP_STR("the question was not answered in time"),
				  true);
}

/* Declining one may end others, so each search starts from the beginning. */
static struct server_request *find_of_call(const struct mp_instance *in,
					   const struct mp_pool_call *call)
{
	MP_LIST_EACH(&in->requests.list, link)
		if (request_of_instance(link)->call == call)
			return request_of_instance(link);
	return NULL;
}

static struct server_request *find_request(const struct mp_instance *in, mp_id request)
{
	MP_LIST_EACH(&in->requests.list, link)
		if (request_of_instance(link)->upstream_id == request)
			return request_of_instance(link);
	return NULL;
}

void mp_instance_requests_end_call(struct mp_pool_call *l)
{
	struct server_request *a;

	while (l->in && (a = find_of_call(l->in, l)))
		instance_requests_decline(
			a, DECLINED, MP_STR("the call that the question belongs to is over"), true);
}

void mp_instance_requests_leave(struct mp_pool_client *client)
{
	struct mp_link *link;

	while ((link = mp_list_first(&client->requests)))
		instance_requests_decline(request_of_client(link), DECLINED,
					  MP_STR("the client has left"), false);
	forget_withdrawn(client);
}

void mp_pool_client_reply(struct mp_pool *p, mp_id request, struct mp_str result)
{
	struct server_request *a = mp_ids_get(&p->server_requests, request);
	struct mp_upstream *up = a ? mp_keeper_get_upstream(a->in->k) : NULL;

	if (!a)
		return;
	instance_requests_close(a);
	instance_requests_bury(a);
	if (up)
		mp_upstream_reply(up, a->upstream_id, result);
}

void mp_pool_client_decline(struct mp_pool *p, mp_id request, int code, struct mp_str words)
{
	struct server_request *a = mp_ids_get(&p->server_requests, request);

	if (a)
		instance_requests_decline(a, code, words, false);
}

/* --- from the server ------------------------------------------------------------------------- */

static void instance_requests_put(struct mp_instance *in, struct mp_pool_client *client,
				  struct mp_pool_call *call, const struct mp_server_request *rq)
{
	struct server_request *a = mp_alloc(sizeof(*a));
	struct mp_pool_server_request to_client = {
		.call = call, .server = in->e->name, .method = rq->method, .params = rq->params};

	*a = (struct server_request){
		.pool = in->pool, .call = call, .client = client, .in = in, .upstream_id = rq->id};
	to_client.id = a->id = mp_ids_add(&in->pool->server_requests, a);
	mp_list_append(&client->requests, &a->of_client);
	mp_list_append(&in->requests.list, &a->of_instance);
	mp_timer_init(&a->timer, in->pool->o.loop, was_not_answered, a);
	mp_timer_start(&a->timer, MP_LIMIT_PARKED_MS);
	instance_requests_reckon(in, client->id);
	client->hooks.request(client->u, &to_client); /* the hook may answer at once */
}

/* True for the first one and each power of two. */
static bool is_round(uint64_t n)
{
	return (n & (n - 1)) == 0;
}

static void instance_requests_refuse(struct mp_instance *in, const struct mp_server_request *rq)
{
	const char *method = mp_method_get(rq->method)->name;

	in->stats.no_owner++;
	mp_instance_touch(in, MP_SERVER_CALLS);
	if (is_round(in->stats.no_owner))
		mp_event(in->pool->o.events, in->id, MP_EVENT_NO_OWNER,
			 "%s belongs to no session and was refused (mcp_no_owner, %llu so far)",
			 method, (unsigned long long)in->stats.no_owner);
	mp_upstream_decline(mp_keeper_get_upstream(in->k), rq->id, METHOD_NOT_FOUND,
			    MP_STR("mcp_no_owner: this belongs to no session that mcpool knows; "
				   "with the mode serial or session it would"));
}

static void instance_requests_asked(void *u, const struct mp_server_request *rq)
{
	struct mp_instance *in = u;
	struct mp_attribution to;
	struct mp_pool_client *client;

	if (!mp_attribution_find(in, rq->has_origin, rq->origin, &to)) {
		instance_requests_refuse(in, rq);
		return;
	}
	client = mp_pool_client_find(in->pool, to.session);
	if (!client || !client->hooks.request) {
		mp_upstream_decline(mp_keeper_get_upstream(in->k), rq->id, METHOD_NOT_FOUND,
				    mp_server_request_get_refusal(rq->method));
		return;
	}
	if (rq->method == MP_METHOD_ELICIT)
		mp_attribution_note_request(in, to.session, rq->params);
	instance_requests_put(in, client, to.call, rq);
}

static void withdrawn(void *u, mp_id request)
{
	struct server_request *a = find_request(u, request);

	if (!a)
		return;
	instance_requests_close(a);
	withdraw_later(a);
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_instance_requests_init(struct mp_instance *in)
{
	mp_list_init(&in->requests.list);
	in->requests.answerer = (struct mp_answerer){
		.ask = instance_requests_asked, .withdraw = withdrawn, .u = in};
}

/* A one-shot run without a terminal cannot answer and does not declare it. */
const struct mp_answerer *mp_instance_requests_get_answerer(struct mp_instance *in)
{
	const struct mp_pool_options *o = &in->pool->o;

	return o->one_shot && !o->capabilities.len ? NULL : &in->requests.answerer;
}
