/*
 * subscriptions.c - subscriptions of sessions: to changes of lists, and of single resources.
 * Legacy sessions are notified on any open stream, modern ones on the streams they opened for it.
 */
#include "session/subscriptions.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/pool_client.h"
#include "session/scope.h"

/* A resource that a session subscribed to. */
struct subscription {
	struct mp_link link;             /* in its session's subscriptions */
	char *server, *uri, *public_uri; /* owned */
	bool is_asked;                   /* by resources/subscribe */
	unsigned listeners;              /* listening requests that have it */
};

/* A subscription of a listening request. */
struct subscribed {
	struct mp_link link; /* in the request's uris */
	struct subscription *to;
};

static struct subscription *subscription_of(struct mp_link *link)
{
	return mp_container_of(link, struct subscription, link);
}

/* --- single resources ------------------------------------------------------------------------ */

static struct subscription *subscriptions_find(struct mp_session *s, const char *server,
					       struct mp_str uri)
{
	MP_LIST_EACH(&s->subscriptions, link) {
		struct subscription *sub = subscription_of(link);

		if (strcmp(sub->server, server) == 0 && mp_str_eq(mp_str_of(sub->uri), uri))
			return sub;
	}
	return NULL;
}

static void subscriptions_drop(struct mp_session *s, struct subscription *sub)
{
	if (sub->is_asked || sub->listeners)
		return;
	mp_pool_client_unsubscribe(s->workspace, sub->server, s->id, mp_str_of(sub->uri));
	mp_list_remove(&s->subscriptions, &sub->link);
	mp_free(sub->server);
	mp_free(sub->uri);
	mp_free(sub->public_uri);
	mp_free(sub);
}

void mp_session_drop_subscriptions(struct mp_session *s)
{
	MP_LIST_WALK(&s->subscriptions, link) {
		struct subscription *sub = subscription_of(link);

		sub->is_asked = false;
		subscriptions_drop(s, sub);
	}
}

/* An existing one, or a new one; NULL and an error. */
static struct subscription *subscriptions_subscribe(struct mp_session *s, struct mp_str public_uri,
						    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_index *index = mp_scope_get_index(s->scope);
	struct subscription *sub;
	struct mp_str uri;
	const char *server;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	server = index ? mp_index_find_resource(index, public_uri, &arena, &uri) : NULL;
	if (!server) {
		(void)mp_fail(reterr, MCPOOL_ENOENT, "no server has this resource");
		return NULL;
	}
	sub = subscriptions_find(s, server, uri);
	if (sub)
		return sub;
	if (s->subscriptions.len >= MP_LIMIT_SUBSCRIPTIONS) {
		(void)mp_fail(reterr, MCPOOL_ELIMIT, "there are %d subscriptions already",
			      MP_LIMIT_SUBSCRIPTIONS);
		return NULL;
	}
	if (mp_pool_client_subscribe(s->workspace, server, s->id, uri, reterr) < 0)
		return NULL;
	sub = mp_alloc(sizeof(*sub));
	sub->server = mp_dup(server);
	sub->uri = mp_session_keep(uri);
	sub->public_uri = mp_session_keep(public_uri);
	mp_list_append(&s->subscriptions, &sub->link);
	return sub;
}

static struct subscription *find_public(struct mp_session *s, struct mp_str uri)
{
	MP_LIST_EACH(&s->subscriptions, link)
		if (mp_str_eq(mp_str_of(subscription_of(link)->public_uri), uri))
			return subscription_of(link);
	return NULL;
}

/* Succeeds also if it is no longer listed or was never subscribed. */
static void subscriptions_unsubscribe(struct mp_request *e, struct mp_str uri)
{
	struct subscription *sub = find_public(e->session, uri);

	if (sub) {
		sub->is_asked = false;
		subscriptions_drop(e->session, sub);
	}
	mp_request_result(e, MP_STR("{}"));
}

void mp_session_answer_subscribe(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_session *s = e->session;
	struct subscription *sub;
	struct mcpool_error why;
	struct mp_str uri;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (mp_value_text(m->tape, m->subject, &arena, &uri) < 0 || !uri.len) {
		mp_request_refuse(e, -32602, 200, "params.uri is not a string");
		return;
	}
	if (e->method == MP_METHOD_RESOURCES_UNSUBSCRIBE) {
		subscriptions_unsubscribe(e, uri);
		return;
	}
	sub = subscriptions_subscribe(s, uri, &why);
	if (!sub) {
		mp_request_refuse(e, why.code == MCPOOL_ENOENT ? -32002 : why.rpc_code, 200, "%s",
				  why.message);
		return;
	}
	sub->is_asked = true;
	mp_request_result(e, MP_STR("{}"));
}

void mp_session_renew_subscriptions(struct mp_session *s)
{
	MP_LIST_EACH(&s->subscriptions, link) {
		const struct subscription *sub = subscription_of(link);
		struct mp_str uri = mp_str_of(sub->uri);
		struct mcpool_error why;

		if (!mp_pool_client_is_subscribed(s->workspace, sub->server, s->id, uri) &&
		    mp_pool_client_subscribe(s->workspace, sub->server, s->id, uri, &why) < 0)
			continue; /* still not available; retried at the next list change */
	}
}

/* --- notifying ------------------------------------------------------------------------------- */

static void write_tag(struct mp_writer *w, const struct mp_request *e)
{
	mp_write_key(w, MP_STR("_meta"));
	mp_write_begin_object(w);
	mp_write_member_raw(w, "io.modelcontextprotocol/subscriptionId", mp_str_of(e->their_id));
	mp_write_end_object(w);
}

/* Writes params of a notification on a stream opened for it; uri may be NULL. */
static int write_tagged(struct mp_buf *out, const struct mp_request *e, enum mp_method_id method,
			const char *uri)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_writer w;
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &params, NULL);
	mp_write_begin_object(&w);
	if (uri)
		mp_write_member_text(&w, "uri", mp_str_of(uri));
	if (e)
		write_tag(&w, e);
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	mp_buf_clear(out);
	return r < 0 ? r
		     : mp_message_notify(out, method,
					 !e && !uri ? MP_STR("") : mp_buf_get(&params));
}

static void subscriptions_notify(struct mp_session *s, struct mp_request *e,
				 enum mp_method_id method, const char *uri)
{
	struct mp_buf *out = &s->sessions->out;

	if (write_tagged(out, e, method, uri) == 0)
		mp_session_send(s, e ? e->stream : 0, mp_buf_get(out));
}

static const struct {
	enum mp_method_id method;
	unsigned kinds;
} news[] = {
	{MP_METHOD_TOOLS_CHANGED, 1u << MP_CATALOG_TOOL},
	{MP_METHOD_PROMPTS_CHANGED, 1u << MP_CATALOG_PROMPT},
	{MP_METHOD_RESOURCES_CHANGED, 1u << MP_CATALOG_RESOURCE | 1u << MP_CATALOG_TEMPLATE},
};

static bool listens(const struct mp_request *e, unsigned kinds)
{
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		if (e->state == MP_REQUEST_LISTENING && e->wants_list[kind] && (kinds & 1u << kind))
			return true;
	return false;
}

/* A legacy session that never fetched that list has nothing outdated. */
void mp_session_tell_changed(struct mp_session *s, unsigned kinds)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(news); i++) {
		unsigned these = kinds & news[i].kinds;

		if (these && s->is_open && (s->lists_seen & news[i].kinds))
			subscriptions_notify(s, NULL, news[i].method, NULL);
		MP_LIST_EACH(&s->requests, link) {
			struct mp_request *e = mp_container_of(link, struct mp_request, link);

			if (these && listens(e, these))
				subscriptions_notify(s, e, news[i].method, NULL);
		}
	}
}

static bool subscriptions_has(const struct mp_request *e, const struct subscription *sub)
{
	MP_LIST_EACH(&e->uris, link)
		if (mp_container_of(link, struct subscribed, link)->to == sub)
			return true;
	return false;
}

void mp_session_tell_updated(struct mp_session *s, const char *server, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct subscription *sub = NULL;
	struct mp_str uri;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (mp_value_text(m->tape, m->subject, &arena, &uri) == 0)
		sub = subscriptions_find(s, server, uri);
	if (!sub)
		return;
	if (sub->is_asked)
		subscriptions_notify(s, NULL, MP_METHOD_RESOURCE_UPDATED, sub->public_uri);
	MP_LIST_EACH(&s->requests, link) {
		struct mp_request *e = mp_container_of(link, struct mp_request, link);

		if (subscriptions_has(e, sub))
			subscriptions_notify(s, e, MP_METHOD_RESOURCE_UPDATED, sub->public_uri);
	}
}

/* --- listening ------------------------------------------------------------------------------- */

void mp_request_drop_uris(struct mp_request *e)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&e->uris))) {
		struct subscribed *one = mp_container_of(link, struct subscribed, link);

		one->to->listeners--;
		subscriptions_drop(e->session, one->to);
		mp_free(one);
	}
}

static void take_uri(struct mp_request *e, const struct mp_tape *t, mp_value v)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct subscription *sub = NULL;
	struct subscribed *one;
	struct mcpool_error why;
	struct mp_str uri;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (mp_value_text(t, v, &arena, &uri) == 0 && uri.len)
		sub = subscriptions_subscribe(e->session, uri, &why);
	if (!sub || subscriptions_has(e, sub))
		return; /* not supported, and so not in the acknowledgement */
	one = mp_alloc(sizeof(*one));
	one->to = sub;
	sub->listeners++;
	mp_list_append(&e->uris, &one->link);
}

static bool is_true(const struct mp_tape *t, mp_value object, const char *key)
{
	bool yes = false;

	return mp_value_bool(t, mp_value_get(t, object, key), &yes) == 0 && yes;
}

static void take_filter(struct mp_request *e, const struct mp_tape *t)
{
	e->wants_list[MP_CATALOG_TOOL] = is_true(t, MP_ROOT, "toolsListChanged");
	e->wants_list[MP_CATALOG_PROMPT] = is_true(t, MP_ROOT, "promptsListChanged");
	e->wants_list[MP_CATALOG_RESOURCE] = e->wants_list[MP_CATALOG_TEMPLATE] =
		is_true(t, MP_ROOT, "resourcesListChanged");
	MP_VALUE_EACH(t, mp_value_get(t, MP_ROOT, "resourceSubscriptions"), v)
		take_uri(e, t, v);
}

static void write_honoured(struct mp_writer *w, const struct mp_request *e)
{
	mp_write_key(w, MP_STR("notifications"));
	mp_write_begin_object(w);
	if (e->wants_list[MP_CATALOG_TOOL])
		mp_write_member_bool(w, "toolsListChanged", true);
	if (e->wants_list[MP_CATALOG_PROMPT])
		mp_write_member_bool(w, "promptsListChanged", true);
	if (e->wants_list[MP_CATALOG_RESOURCE])
		mp_write_member_bool(w, "resourcesListChanged", true);
	if (e->uris.len) {
		mp_write_key(w, MP_STR("resourceSubscriptions"));
		mp_write_begin_array(w);
		MP_LIST_EACH(&e->uris, link)
			mp_write_text(w, mp_str_of(mp_container_of(link, struct subscribed, link)
							   ->to->public_uri));
		mp_write_end_array(w);
	}
	mp_write_end_object(w);
}

static int write_acknowledgement(const struct mp_request *e, struct mp_buf *out)
{
	struct mp_buf *params = &e->session->sessions->scratch;
	struct mp_writer w;
	int r;

	mp_buf_clear(params);
	mp_write_init(&w, params, NULL);
	mp_write_begin_object(&w);
	write_honoured(&w, e);
	write_tag(&w, e);
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	mp_buf_clear(out);
	return r < 0 ? r : mp_message_notify(out, MP_METHOD_ACKNOWLEDGED, mp_buf_get(params));
}

void mp_session_answer_listen(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_buf *out = &e->session->sessions->out;
	mp_value filter = mp_value_get(m->tape, m->params, "notifications");
	int r;

	mp_tape_init(&t, 0);
	if (!mp_value_is(m->tape, filter, MP_TAPE_OBJECT)) {
		mp_request_refuse(e, -32602, 400, "params.notifications is not an object");
		return;
	}
	r = mp_era_open(m, filter, &t);
	if (r == 0) {
		take_filter(e, &t);
		(void)mp_scope_get_index(e->session->scope); /* baseline for later ones */
		r = write_acknowledgement(e, out);
	}
	if (r < 0) {
		mp_request_give_up(e, r);
		return;
	}
	mp_request_advance(e, MP_REQUEST_ON_LISTEN);
	mp_request_tell(e, mp_buf_get(out));
}

void mp_session_end_listening(struct mp_request *e)
{
	struct mp_buf *result = &e->session->sessions->scratch;
	struct mp_writer w;

	mp_buf_clear(result);
	mp_write_init(&w, result, NULL);
	mp_write_begin_object(&w);
	mp_write_raw_members(&w, MP_STR("\"resultType\":\"complete\""));
	write_tag(&w, e);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		mp_request_give_up(e, MCPOOL_ENOMEM);
	else
		mp_request_result(e, mp_buf_get(result));
}
