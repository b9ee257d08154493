/*
 * workspace_catalog.c - the catalogs of a workspace's servers: live or stored.
 */
#include "pool/pool.h"

#include <string.h>

#include "pool/workspace.h"

/* A catalog expires without a change of the store. */
enum { PEEKS_MS = 60000 };

/* NULL: there is no store, or the entry may not run. */
static struct mp_db *workspace_get_store(const struct mp_workspace *w, size_t i, mp_id session,
					 struct mp_stored_catalog_key *ret)
{
	const struct mp_key *key = mp_workspace_entry_get_key(w, i);

	*ret = (struct mp_stored_catalog_key){mp_workspace_get_entry(w, i)->name,
					      {(const char *)key->bytes, sizeof(key->bytes)}};
	if (mp_workspace_entry_get_state(w, i, session) != MP_STATUS_READY || !key->is_known)
		return NULL;
	return w->pool->o.db;
}

struct mp_server_catalog *mp_workspace_get_catalog(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);
	struct mp_stored_catalog_key key;
	struct mp_log log;
	struct mp_db *db;

	if (in && in->catalog.last)
		return mp_server_catalog_ref(in->catalog.last);
	db = workspace_get_store(w, i, session, &key);
	if (!db)
		return NULL;
	mp_settings_name_server(&w->config->set->settings, key.name, 0, &log);
	return mp_server_catalog_load(db, &key, mp_loop_wall_now_ms(w->pool->o.loop), &log);
}

void mp_workspace_begin_peeks(struct mp_workspace *w)
{
	int64_t now = mp_loop_now_ms(w->pool->o.loop), mark = 0;

	w->peeks.is_open = w->pool->o.db && mp_db_get_mark(w->pool->o.db, &mark, NULL) == 0;
	if (w->peeks.round == 0 || mark != w->peeks.mark || now >= w->peeks.until_ms) {
		w->peeks.round++;
		w->peeks.mark = mark;
		w->peeks.until_ms = now + PEEKS_MS;
	}
}

void mp_workspace_end_peeks(struct mp_workspace *w)
{
	w->peeks.is_open = false;
}

bool mp_workspace_peek_catalog(struct mp_workspace *w, size_t i, mp_id session,
			       struct mp_stored_catalog *ret)
{
	struct mp_workspace_entry *e = &w->entries[i];
	struct mp_stored_catalog_key key;
	struct mp_db *db = workspace_get_store(w, i, session, &key);

	if (!db)
		return false;
	if (!w->peeks.is_open || e->peek.round != w->peeks.round ||
	    memcmp(e->peek.key, key.launch_key.p, sizeof(e->peek.key)) != 0) {
		e->peek.has_any =
			mp_stored_catalog_peek(db, &key, mp_loop_wall_now_ms(w->pool->o.loop),
					       &e->peek.counts) > 0;
		e->peek.round = w->peeks.is_open ? w->peeks.round : 0;
		memcpy(e->peek.key, key.launch_key.p, sizeof(e->peek.key));
	}
	*ret = e->peek.counts;
	return e->peek.has_any;
}

bool mp_workspace_is_remembered(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_stored_catalog d;

	return mp_workspace_peek_catalog(w, i, session, &d);
}

bool mp_workspace_has_catalog(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	return (in && in->catalog.last) || mp_workspace_is_remembered(w, i, session);
}

void mp_workspace_refresh(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	for (int kind = 0; in && in->catalog.refresh && kind < MP_CATALOG_COUNT; kind++)
		mp_refresh_again(in->catalog.refresh, (enum mp_catalog_kind)kind);
}

bool mp_workspace_is_refreshing(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	return in && in->catalog.refresh && !mp_refresh_is_quiet(in->catalog.refresh);
}
