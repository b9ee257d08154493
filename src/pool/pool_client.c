/*
 * pool_client.c - sessions as clients of servers: join, leave, notifications.
 */
#include "pool/pool_client.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "pool/pool_call.h"
#include "pool/attribution.h"
#include "pool/workspace.h"
#include "rpc/loglevel.h"

enum {
	SET_LEVEL_MS = 10000,
	LOG_LINES = 20, /* lines per server and LOG_EVERY_MS in our own log */
	LOG_EVERY_MS = 10000,
};

/* --- join ------------------------------------------------------------------------------------ */

static struct mp_pool_client *client_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_pool_client, link);
}

struct mp_pool_client *mp_pool_client_find(const struct mp_pool *p, mp_id session)
{
	return mp_ids_get(&p->clients, session);
}

mp_id mp_pool_client_join(struct mp_pool *p, const struct mp_pool_client_hooks *hooks, void *u)
{
	struct mp_pool_client *client = mp_alloc(sizeof(*client));

	*client = (struct mp_pool_client){.pool = p, .hooks = *hooks, .u = u, .level = -1};
	mp_list_init(&client->requests);
	mp_list_init(&client->withdrawn);
	mp_list_init(&client->subscriptions);
	mp_map_init(&client->toggles, MP_LIMIT_SERVERS);
	client->id = client->home = mp_ids_add(&p->clients, client);
	mp_list_append(&p->client_list, &client->link);
	return client->id;
}

/* --- families -------------------------------------------------------------------------------- */

void mp_pool_client_borrow(struct mp_pool *p, mp_id session, mp_id parent)
{
	struct mp_pool_client *client = mp_pool_client_find(p, session);

	if (client && mp_pool_client_find(p, parent))
		client->home = mp_pool_client_get_home(p, parent);
}

mp_id mp_pool_client_get_home(const struct mp_pool *p, mp_id session)
{
	const struct mp_pool_client *client = mp_pool_client_find(p, session);

	return client ? client->home : session;
}

bool mp_pool_client_has_member(const struct mp_pool *p, mp_id home)
{
	MP_LIST_EACH(&p->client_list, link)
		if (client_of(link)->home == home)
			return true;
	return false;
}

mp_id mp_pool_client_find_for(const struct mp_instance *in)
{
	mp_id only = 0;

	if (!in->is_borrowed || mp_pool_client_find(in->pool, in->session))
		return in->session;
	MP_LIST_EACH(&in->pool->client_list, link) {
		if (client_of(link)->home != in->session)
			continue;
		if (only)
			return 0;
		only = client_of(link)->id;
	}
	return only;
}

/* --- leave ----------------------------------------------------------------------------------- */

static void free_client(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct mp_pool_client, grave));
}

/* The client gets no events of its own leaving, and may be on the stack. */
static void pool_client_drop(struct mp_pool_client *client)
{
	client->hooks = (struct mp_pool_client_hooks){0};
	mp_instance_requests_leave(client);
	mp_subscriptions_leave(client);
	mp_toggles_leave(client);
	mp_ids_remove(&client->pool->clients, client->id);
	mp_list_remove(&client->pool->client_list, &client->link);
	mp_loop_bury(client->pool->o.loop, &client->grave, free_client);
}

static void tell_levels(struct mp_pool *p)
{
	MP_LIST_EACH(&p->instances, link)
		mp_pool_client_tell_level(mp_container_of(link, struct mp_instance, link));
}

void mp_pool_client_leave(struct mp_pool *p, mp_id session)
{
	struct mp_pool_client *client = mp_pool_client_find(p, session);
	bool had_level = client && client->level >= 0;
	mp_id home = mp_pool_client_get_home(p, session);

	if (client)
		pool_client_drop(client);
	mp_pool_end_session(p, session);
	if (home != session)
		mp_instances_end_private(p, home);
	if (had_level)
		tell_levels(p);
}

void mp_pool_client_drop_all(struct mp_pool *p)
{
	struct mp_link *link;

	while ((link = mp_list_first(&p->client_list)))
		pool_client_drop(client_of(link));
}

/* --- notifications --------------------------------------------------------------------------- */

static bool is_modern(struct mp_instance *in)
{
	return mp_upstream_get_hello(mp_keeper_get_upstream(in->k))->era == MP_ERA_MODERN;
}

/* Levels below warning are verbose output. The number of lines is limited. */
static void log_message(struct mp_instance *in, const struct mp_message *m, int severity)
{
	mp_value data = mp_value_get(m->tape, m->params, "data");
	struct mp_str text = mp_value_source(m->tape, data);
	enum mp_level level = severity >= MP_LOGLEVEL_WARNING ? MP_LEVEL_INF : MP_LEVEL_VRB;
	int64_t now = mp_loop_now_ms(in->pool->o.loop);

	if (now - in->logging.counted_ms >= LOG_EVERY_MS) {
		in->logging.counted_ms = now;
		in->logging.lines = 0;
	}
	if (++in->logging.lines > LOG_LINES || !mp_log_wants(level))
		return;
	if (text.len > 400)
		text.len = 400;
	mp_log_write(&in->log, level, "says (%s): %.*s",
		     severity < 0 ? "no level" : mp_loglevel_get_name((enum mp_loglevel)severity),
		     MP_STR_ARGS(text));
}

/* The level of this session; for a modern server, the level of the call. */
static bool pool_client_wants(struct mp_instance *in, const struct mp_pool_client *client,
			      const struct mp_pool_call *call, int severity)
{
	int level = client->level;

	if (is_modern(in)) {
		if (!call || !call->call.o.log_level)
			return false;
		level = mp_loglevel_find(mp_str_of(call->call.o.log_level));
	}
	return severity < 0 || severity >= level;
}

static void pool_client_tell(struct mp_instance *in, const struct mp_pool_client *client,
			     struct mp_pool_call *call, const struct mp_message *m)
{
	if (client->hooks.hear)
		client->hooks.hear(client->u, in->e->name, call, m);
}

static bool hear_log(struct mp_instance *in, const struct mp_message *m)
{
	mp_value level = mp_value_get(m->tape, m->params, "level");
	struct mp_call *origin;
	bool has_origin = mp_upstream_get_origin(mp_keeper_get_upstream(in->k), &origin);
	struct mp_pool_client *client = NULL;
	struct mp_attribution to;
	int severity = -1;

	for (int i = 0; i < MP_LOGLEVELS; i++)
		if (mp_value_text_is(m->tape, level,
				     mp_str_of(mp_loglevel_get_name((enum mp_loglevel)i))))
			severity = i;
	if (mp_attribution_find(in, has_origin, origin, &to))
		client = mp_pool_client_find(in->pool, to.session);
	if (!client || !client->hooks.hear) {
		log_message(in, m, severity);
		return false;
	}
	if (pool_client_wants(in, client, to.call, severity))
		pool_client_tell(in, client, to.call, m);
	return true;
}

/* Sent after the call, so the id selects the session. A private server of one needs no id. */
static bool hear_by_id(struct mp_instance *in, const struct mp_message *m, const char *key)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value id = mp_value_get(m->tape, m->params, key);
	struct mp_pool_client *client = NULL;
	struct mp_str text;

	mp_arena_init(&arena, MP_KIB(16));
	if ((in->e->tuning.mode != MP_MODE_SESSION || in->is_borrowed) &&
	    mp_value_is(m->tape, id, MP_TAPE_STRING) &&
	    mp_value_text(m->tape, id, &arena, &text) == 0)
		client = mp_pool_client_find(in->pool, mp_attribution_find_id(in, text));
	else if (in->e->tuning.mode == MP_MODE_SESSION)
		client = mp_pool_client_find(in->pool, in->session);
	if (client)
		pool_client_tell(in, client, NULL, m);
	else
		in->stats.unheard++;
	return true;
}

bool mp_pool_client_hear(struct mp_instance *in, const struct mp_message *m)
{
	switch (m->method) {
	case MP_METHOD_MESSAGE:
		return hear_log(in, m);
	case MP_METHOD_RESOURCE_UPDATED:
		return mp_subscriptions_tell(in, m);
	case MP_METHOD_ELICITED:
		return hear_by_id(in, m, "elicitationId");
	case MP_METHOD_TASK_STATUS:
	case MP_METHOD_TASK_NEWS:
		return hear_by_id(in, m, "taskId");
	default:
		return false;
	}
}

/* --- log levels ------------------------------------------------------------------------------ */

static bool is_served(const struct mp_instance *in, const struct mp_pool_client *client)
{
	if (in->session)
		return in->session == client->home;
	return client->workspace && mp_workspace_find_id(client->workspace, in->id) >= 0;
}

static int find_most_verbose(const struct mp_instance *in)
{
	int most = -1;

	MP_LIST_EACH(&in->pool->client_list, link) {
		const struct mp_pool_client *client = client_of(link);

		if (client->level >= 0 && is_served(in, client) &&
		    (most < 0 || client->level < most))
			most = client->level;
	}
	return most;
}

/* A server that refuses keeps its own level. */
void mp_pool_client_tell_level(struct mp_instance *in)
{
	struct mp_call_options o = {.method = MP_METHOD_SET_LEVEL, .timeout_ms = SET_LEVEL_MS};
	struct mp_upstream *up = mp_keeper_get_upstream(in->k);
	int level = find_most_verbose(in);
	char params[40];
	int n;

	if (level < 0 || level == in->logging.told || !mp_instance_is_up(in) || is_modern(in) ||
	    !(mp_upstream_get_hello(up)->offers & MP_OFFERS_LOGGING))
		return;
	n = snprintf(params, sizeof(params), "{\"level\":\"%s\"}",
		     mp_loglevel_get_name((enum mp_loglevel)level));
	o.params = (struct mp_str){params, (size_t)n};
	if (mp_upstream_call_and_forget(up, &o) == 0)
		in->logging.told = level;
}

void mp_pool_client_set_level(struct mp_workspace *v, mp_id session, const char *level)
{
	struct mp_pool_client *client = mp_pool_client_find(v->pool, session);

	if (!client)
		return;
	client->workspace = v;
	client->level = level ? mp_loglevel_find(mp_str_of(level)) : -1;
	tell_levels(v->pool);
}

/* --- roots ----------------------------------------------------------------------------------- */

void mp_pool_client_tell_roots_changed(struct mp_workspace *v, mp_id session)
{
	MP_LIST_EACH(&v->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);
		struct mp_upstream *up = mp_keeper_get_upstream(in->k);

		if (in->session != session || session == 0 || !mp_instance_is_up(in) ||
		    is_modern(in))
			continue;
		if (mp_upstream_notify(up, MP_METHOD_ROOTS_CHANGED, MP_STR("")) < 0)
			mp_log_verbose(&in->log, "could not be told that roots changed");
	}
}
