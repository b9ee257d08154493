/*
 * subscriptions.c - subscriptions to changes of resources.
 * A topic is one resource of one instance with its subscribers. The server is asked once for all of
 * them, and again in each of its lives. A legacy server gets one request per topic. A modern server
 * gets all topics in the stream that also reports list changes.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/pool_client.h"
#include "pool/workspace.h"

enum { SUBSCRIBE_MS = 30000 };

struct topic {
	struct mp_link link; /* in the instance's topics */
	struct mp_instance *in;
	struct mp_list subscriptions; /* one per session and workspace */
	struct mp_grave grave;
	size_t len;
	char uri[];
};

struct subscription {
	struct mp_link of_topic, of_client;
	struct topic *topic;
	struct mp_pool_client *client;
	struct mp_workspace *workspace;
	unsigned count; /* how often it was subscribed */
	struct mp_grave grave;
	char server[];
};

static struct topic *topic_of(struct mp_link *link)
{
	return mp_container_of(link, struct topic, link);
}

static struct subscription *of_topic(struct mp_link *link)
{
	return mp_container_of(link, struct subscription, of_topic);
}

static struct subscription *of_client(struct mp_link *link)
{
	return mp_container_of(link, struct subscription, of_client);
}

static struct mp_str uri_of(const struct topic *t)
{
	return (struct mp_str){t->uri, t->len};
}

/* --- the server ------------------------------------------------------------------------------ */

static const struct mp_hello *hello_of(struct mp_instance *in)
{
	return mp_upstream_get_hello(mp_keeper_get_upstream(in->k));
}

/* A refusal of the server is ignored. */
static void ask_legacy(const struct topic *t, enum mp_method_id method)
{
	struct mp_call_options o = {.method = method, .timeout_ms = SUBSCRIBE_MS};
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_writer w;
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &params, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "uri", uri_of(t));
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	o.params = mp_buf_get(&params);
	if (r == 0)
		r = mp_upstream_call_and_forget(mp_keeper_get_upstream(t->in->k), &o);
	if (r < 0)
		mp_log_verbose(&t->in->log, "%s: %s", mp_method_get(method)->name,
			       mcpool_error_text(r));
}

/* All topics at once, at the end of the turn. */
static void ask_modern(void *u)
{
	struct mp_instance *in = u;
	struct mp_str *uris;
	size_t n = 0;

	if (!in->catalog.refresh)
		return; /* it is starting; mp_subscriptions_renew() sends it in the next life */
	uris = mp_try_alloc((in->topics.list.len + 1) * sizeof(*uris));
	if (!uris)
		return;
	MP_LIST_EACH(&in->topics.list, link)
		uris[n++] = uri_of(topic_of(link));
	mp_refresh_listen_to(in->catalog.refresh, uris, n);
	mp_free(uris);
}

static void subscriptions_ask(const struct topic *t, enum mp_method_id method)
{
	struct mp_instance *in = t->in;

	if (!mp_instance_is_up(in) || !(hello_of(in)->offers & MP_OFFERS_SUBSCRIBE))
		return;
	if (hello_of(in)->era == MP_ERA_LEGACY)
		ask_legacy(t, method);
	else if (!mp_list_linked(&in->topics.task.link))
		mp_loop_post(in->pool->o.loop, &in->topics.task);
}

void mp_subscriptions_renew(struct mp_instance *in)
{
	MP_LIST_EACH(&in->topics.list, link)
		subscriptions_ask(topic_of(link), MP_METHOD_RESOURCES_SUBSCRIBE);
}

/* A subscriber's hook may unsubscribe or leave. */
static void tell_all(struct topic *t, const struct mp_message *m)
{
	MP_LIST_WALK(&t->subscriptions, link) {
		const struct mp_pool_client *client = of_topic(link)->client;

		if (client->hooks.hear)
			client->hooks.hear(client->u, of_topic(link)->server, NULL, m);
	}
}

bool mp_subscriptions_tell(struct mp_instance *in, const struct mp_message *m)
{
	MP_LIST_EACH(&in->topics.list, link) {
		struct topic *t = topic_of(link);

		if (!mp_value_text_is(m->tape, m->subject, uri_of(t)))
			continue;
		tell_all(t, m);
		return true;
	}
	in->stats.unheard++;
	return false;
}

/* --- topics ---------------------------------------------------------------------------------- */

static struct topic *find_topic(const struct mp_instance *in, struct mp_str uri)
{
	MP_LIST_EACH(&in->topics.list, link)
		if (mp_str_eq(uri_of(topic_of(link)), uri))
			return topic_of(link);
	return NULL;
}

static struct topic *get_topic(struct mp_instance *in, struct mp_str uri)
{
	struct topic *t = find_topic(in, uri);

	if (t || in->topics.list.len == MP_LIMIT_TOPICS_ALL)
		return t;
	t = mp_try_alloc(sizeof(*t) + uri.len);
	if (!t)
		return NULL;
	*t = (struct topic){.in = in, .len = uri.len};
	memcpy(t->uri, uri.p, uri.len);
	mp_list_init(&t->subscriptions);
	mp_list_append(&in->topics.list, &t->link);
	mp_timer_stop(&in->stay.idle); /* a server with subscribers is not idle */
	return t;
}

static void free_topic(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct topic, grave));
}

static void drop_topic(struct topic *t)
{
	struct mp_instance *in = t->in;

	mp_list_remove(&in->topics.list, &t->link);
	mp_loop_bury(in->pool->o.loop, &t->grave, free_topic);
}

static void subscriptions_join(struct topic *t, struct subscription *s)
{
	s->topic = t;
	mp_list_append(&t->subscriptions, &s->of_topic);
	if (t->subscriptions.len == 1)
		subscriptions_ask(t, MP_METHOD_RESOURCES_SUBSCRIBE);
}

static void subscriptions_part(struct subscription *s)
{
	struct topic *t = s->topic;
	struct mp_instance *in = t->in;

	mp_list_remove(&t->subscriptions, &s->of_topic);
	if (t->subscriptions.len)
		return;
	subscriptions_ask(t, MP_METHOD_RESOURCES_UNSUBSCRIBE);
	drop_topic(t);
	if (in->topics.list.len == 0)
		mp_instance_note_use(in);
}

/* --- subscriptions --------------------------------------------------------------------------- */

static void free_subscription(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct subscription, grave));
}

static void subscriptions_drop(struct subscription *s)
{
	mp_list_remove(&s->client->subscriptions, &s->of_client);
	subscriptions_part(s);
	mp_loop_bury(s->client->pool->o.loop, &s->grave, free_subscription);
}

static struct subscription *find(const struct topic *t, const struct mp_workspace *v, mp_id session)
{
	MP_LIST_EACH(&t->subscriptions, link)
		if (of_topic(link)->workspace == v && of_topic(link)->client->id == session)
			return of_topic(link);
	return NULL;
}

static int subscriptions_add(struct mp_workspace *v, const char *server,
			     struct mp_pool_client *client, struct topic *t)
{
	size_t size = strlen(server) + 1;
	struct subscription *s = find(t, v, client->id);

	if (s) {
		s->count++;
		return 0;
	}
	s = mp_try_alloc(sizeof(*s) + size);
	if (!s)
		return MCPOOL_ENOMEM;
	*s = (struct subscription){.client = client, .workspace = v, .count = 1};
	memcpy(s->server, server, size);
	mp_list_append(&client->subscriptions, &s->of_client);
	subscriptions_join(t, s);
	return 0;
}

int mp_pool_client_subscribe(struct mp_workspace *v, const char *server, mp_id session,
			     struct mp_str uri, struct mcpool_error *reterr)
{
	struct mp_pool_client *client = mp_pool_client_find(v->pool, session);
	struct mcpool_error why;
	struct mp_instance *in;
	struct topic *t;
	int r = MCPOOL_ELIMIT;

	if (!client || uri.len == 0)
		return mp_fail(reterr, MCPOOL_EINVAL, "no listener, or no resource");
	in = mp_workspace_get_instance(v, server, session, &why);
	if (!in)
		return mp_fail(reterr, why.code, "%s", why.message);
	if (mp_instance_is_up(in) && !(hello_of(in)->offers & MP_OFFERS_SUBSCRIBE))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "server '%s' does not tell of changes of single resources", server);
	t = client->subscriptions.len < MP_LIMIT_TOPICS ? get_topic(in, uri) : NULL;
	if (t)
		r = subscriptions_add(v, server, client, t);
	if (t && t->subscriptions.len == 0)
		drop_topic(t);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	mp_instance_start(in, false);
	return 0;
}

static struct subscription *find_mine(struct mp_workspace *v, const char *server, mp_id session,
				      struct mp_str uri)
{
	struct mp_pool_client *client = mp_pool_client_find(v->pool, session);

	if (!client)
		return NULL;
	MP_LIST_EACH(&client->subscriptions, link) {
		struct subscription *s = of_client(link);

		if (s->workspace == v && strcmp(s->server, server) == 0 &&
		    mp_str_eq(uri_of(s->topic), uri))
			return s;
	}
	return NULL;
}

bool mp_pool_client_is_subscribed(struct mp_workspace *v, const char *server, mp_id session,
				  struct mp_str uri)
{
	return find_mine(v, server, session, uri);
}

void mp_pool_client_unsubscribe(struct mp_workspace *v, const char *server, mp_id session,
				struct mp_str uri)
{
	struct subscription *s = find_mine(v, server, session, uri);

	if (s && --s->count == 0)
		subscriptions_drop(s);
}

/* --- many at once ---------------------------------------------------------------------------- */

void mp_subscriptions_leave(struct mp_pool_client *client)
{
	struct mp_link *link;

	while ((link = mp_list_first(&client->subscriptions)))
		subscriptions_drop(of_client(link));
}

/* Moves it to the workspace's current instance of this server; ends it if there is none. */
static void subscriptions_resettle(struct subscription *s)
{
	struct mp_instance *in =
		mp_workspace_get_instance(s->workspace, s->server, s->client->id, NULL);
	struct topic *t;

	if (in == s->topic->in)
		return;
	t = in ? get_topic(in, uri_of(s->topic)) : NULL;
	if (!t) {
		subscriptions_drop(s);
		return;
	}
	subscriptions_part(s);
	subscriptions_join(t, s);
	mp_instance_start(in, false);
}

void mp_subscriptions_resettle(struct mp_workspace *v)
{
	MP_LIST_EACH(&v->pool->client_list, link) {
		struct mp_pool_client *client = mp_container_of(link, struct mp_pool_client, link);

		MP_LIST_EACH(&client->subscriptions, of)
			if (of_client(of)->workspace == v)
				subscriptions_resettle(of_client(of));
	}
}

void mp_subscriptions_drop(struct mp_workspace *v)
{
	MP_LIST_EACH(&v->pool->client_list, link) {
		struct mp_pool_client *client = mp_container_of(link, struct mp_pool_client, link);

		if (client->workspace == v)
			client->workspace = NULL;
		MP_LIST_EACH(&client->subscriptions, of)
			if (of_client(of)->workspace == v)
				subscriptions_drop(of_client(of));
	}
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_subscriptions_init(struct mp_instance *in)
{
	mp_list_init(&in->topics.list);
	mp_task_init(&in->topics.task, ask_modern, in);
}

/* The instance is freed with its subscriptions. */
void mp_subscriptions_done(struct mp_instance *in)
{
	MP_LIST_EACH(&in->topics.list, link) {
		struct topic *t = topic_of(link);

		MP_LIST_EACH(&t->subscriptions, of) {
			struct subscription *s = of_topic(of);

			mp_list_remove(&t->subscriptions, of);
			mp_list_remove(&s->client->subscriptions, &s->of_client);
			mp_loop_bury(in->pool->o.loop, &s->grave, free_subscription);
		}
		drop_topic(t);
	}
	mp_loop_unpost(in->pool->o.loop, &in->topics.task);
}
