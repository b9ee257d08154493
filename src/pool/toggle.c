/*
 * toggle.c - servers switched on or off without changing a file (C20): in one workspace, or by one
 * session for itself.
 */
#include <string.h>

#include "base/error.h"
#include "pool/pool_client.h"
#include "pool/workspace.h"

/* --- states ---------------------------------------------------------------------------------- */

static enum mp_toggle toggle_get(const struct mp_map *toggles, const char *name)
{
	return (enum mp_toggle)(uintptr_t)mp_map_get(toggles, mp_str_of(name));
}

enum mp_toggle mp_workspace_entry_get_toggle(const struct mp_workspace *w, size_t i)
{
	return toggle_get(&w->toggles, mp_workspace_get_entry(w, i)->name);
}

enum mp_toggle mp_workspace_entry_get_own_toggle(const struct mp_workspace *w, size_t i,
						 mp_id session)
{
	const struct mp_pool_client *client = mp_pool_client_find(w->pool, session);

	if (!client || client->toggles.len == 0)
		return MP_TOGGLE_NONE;
	return toggle_get(&client->toggles, mp_workspace_get_entry(w, i)->name);
}

enum mp_status_state mp_workspace_entry_get_state(const struct mp_workspace *w, size_t i,
						  mp_id session)
{
	enum mp_toggle own = mp_workspace_entry_get_own_toggle(w, i, session);

	if (own == MP_TOGGLE_NONE)
		return w->entries[i].state;
	return mp_config_get_state(w->config->set, mp_workspace_get_entry(w, i), own);
}

static bool is_wanted_by_one(const struct mp_workspace *w, size_t i, const struct mp_workspace *by)
{
	MP_LIST_EACH(&w->pool->client_list, link) {
		const struct mp_pool_client *client =
			mp_container_of(link, struct mp_pool_client, link);

		if (client->workspace == by && client->toggles.len > 0 &&
		    mp_workspace_entry_get_state(w, i, client->id) == MP_STATUS_READY)
			return true;
	}
	return false;
}

void mp_workspace_entry_set_state(struct mp_workspace *w, size_t i, const struct mp_workspace *by)
{
	const struct mp_entry *e = mp_workspace_get_entry(w, i);

	w->entries[i].state =
		mp_config_get_state(w->config->set, e, toggle_get(&by->toggles, e->name));
	w->entries[i].is_wanted =
		w->entries[i].state == MP_STATUS_READY || is_wanted_by_one(w, i, by);
}

bool mp_workspace_has_toggles(const struct mp_workspace *w, mp_id session)
{
	const struct mp_pool_client *client = mp_pool_client_find(w->pool, session);

	return client && client->toggles.len > 0;
}

/* --- switching ------------------------------------------------------------------------------- */

/* Does the session of a private instance, or one that borrows it, have this server on? */
static bool is_wanted_at(const struct mp_workspace *w, size_t i, mp_id home)
{
	if (!mp_pool_client_has_member(w->pool, home))
		return mp_workspace_entry_get_state(w, i, home) == MP_STATUS_READY;
	MP_LIST_EACH(&w->pool->client_list, link) {
		const struct mp_pool_client *client =
			mp_container_of(link, struct mp_pool_client, link);

		if (client->home == home &&
		    mp_workspace_entry_get_state(w, i, client->id) == MP_STATUS_READY)
			return true;
	}
	return false;
}

/* Stops the private instances of sessions that have this server off. */
static void dismiss_private(struct mp_workspace *w, size_t i)
{
	const char *name = mp_workspace_get_entry(w, i)->name;

	MP_LIST_WALK(&w->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		if (in->session && in->config == w->config && strcmp(in->e->name, name) == 0 &&
		    !is_wanted_at(w, i, in->session))
			mp_instance_leave(in);
	}
}

/* An instance that a session of this workspace or another workspace uses continues. */
static void toggle_dismiss(struct mp_workspace *w, size_t i)
{
	struct mp_instance *in = mp_ids_get(&w->pool->ids, w->entries[i].instance);

	if (!w->entries[i].is_wanted) {
		mp_workspace_entry_give_up(w, i);
		if (in && in->n_entries == 0)
			mp_instance_leave(in);
	}
	dismiss_private(w, i);
}

static int toggle_keep(struct mp_map *toggles, const char *name, enum mp_toggle toggle)
{
	if (toggle != MP_TOGGLE_NONE)
		return mp_map_set(toggles, mp_str_of(name), (void *)(uintptr_t)toggle);
	mp_map_remove(toggles, mp_str_of(name));
	return 0;
}

static int toggle_keep_for(struct mp_workspace *w, const char *name, mp_id session,
			   enum mp_toggle toggle, struct mcpool_error *reterr)
{
	struct mp_pool_client *client = mp_pool_client_find(w->pool, session);
	int r;

	if (session && !client)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no session %llu",
			       (unsigned long long)session);
	r = toggle_keep(client ? &client->toggles : &w->toggles, name, toggle);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (client)
		client->workspace = w;
	return 0;
}

static void toggle_tell(struct mp_workspace *w, size_t i, mp_id session, enum mp_toggle toggle)
{
	static const char *const words[] = {"left to the files", "switched on", "switched off"};
	const char *name = mp_workspace_get_entry(w, i)->name;
	mp_id instance = w->entries[i].instance;

	if (session)
		mp_event(w->pool->o.events, instance, MP_EVENT_TOGGLED, "%s: %s for session %llu",
			 name, words[toggle], (unsigned long long)session);
	else
		mp_event(w->pool->o.events, instance, MP_EVENT_TOGGLED, "%s: %s", name,
			 words[toggle]);
}

/* tells: as an event, before what follows from it. */
static int toggle_apply(struct mp_workspace *w, const char *name, mp_id session,
			enum mp_toggle toggle, bool tells, struct mcpool_error *reterr)
{
	ptrdiff_t at = mp_workspace_find(w, name);
	size_t i = (size_t)at;
	bool was_ready;
	int r;

	if (at < 0)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no server '%s'", name);
	was_ready = mp_workspace_entry_get_state(w, i, session) == MP_STATUS_READY;
	r = toggle_keep_for(w, name, session, toggle, reterr);
	if (r < 0)
		return r;
	mp_workspace_entry_set_state(w, i, w);
	if (tells)
		toggle_tell(w, i, session, toggle);
	if (mp_workspace_entry_get_state(w, i, session) != MP_STATUS_READY)
		toggle_dismiss(w, i);
	else if (!was_ready &&
		 (session || mp_workspace_get_entry(w, i)->tuning.mode != MP_MODE_SESSION))
		mp_workspace_start_server(w, i, session, false);
	mp_subscriptions_resettle(w);
	return 0;
}

int mp_workspace_toggle(struct mp_workspace *w, const char *name, mp_id session,
			enum mp_toggle toggle, struct mcpool_error *reterr)
{
	return toggle_apply(w, name, session, toggle, true, reterr);
}

void mp_workspace_follow_toggle(struct mp_workspace *w, const struct mp_workspace *from,
				const char *name)
{
	ptrdiff_t at = mp_workspace_find(from, name);
	struct mcpool_error why;

	if (at >= 0 && mp_workspace_find(w, name) >= 0)
		(void)toggle_apply(w, name, 0, mp_workspace_entry_get_toggle(from, (size_t)at),
				   false, &why); /* without memory it stays as it is */
}

void mp_toggles_leave(struct mp_pool_client *client)
{
	struct mp_workspace *w = client->toggles.len ? client->workspace : NULL;

	mp_map_done(&client->toggles);
	mp_map_init(&client->toggles, 0);
	for (size_t i = 0; w && i < w->n; i++) {
		if (!w->entries[i].is_wanted || w->entries[i].state == MP_STATUS_READY)
			continue;
		mp_workspace_entry_set_state(w, i, w);
		toggle_dismiss(w, i);
	}
}
