/*
 * workspace.h - the parts of a workspace; private to pool/.
 */
#ifndef MP_WORKSPACE_H
#define MP_WORKSPACE_H

#include "pool/instance.h"

/* An entry that owns its name. */
struct mp_workspace_entry {
	size_t entry; /* its index in the set */
	enum mp_toggle toggle;
	mp_id instance; /* 0: none yet, or one per session */
};

struct mp_arrival;

struct mp_workspace {
	struct mp_link link; /* in the pool's workspaces */
	struct mp_pool *pool;
	char **env;                         /* owned */
	char *problem;                      /* an error in its files; owned; NULL: none */
	char *who;                          /* display name of env; owned; NULL: the hub's own */
	struct mp_workspace_config *config; /* current, with keys; NULL: none yet */
	struct mp_workspace_entry *entries; /* owned */
	size_t n;
	struct mp_map by_name;      /* to its index in entries + 1 */
	struct mp_map toggles;      /* names switched on or off, to an mp_toggle */
	struct mp_arrival *arrival; /* the last one in progress */
};

/* workspace.c: this workspace no longer refers to that instance. */
void mp_workspace_entry_give_up(struct mp_workspace *w, size_t i);
/* workspace_catalog.c: the stored catalog of a server; false: none. */
bool mp_workspace_peek_catalog(struct mp_workspace *w, size_t i, struct mp_definition *ret);
/* The instance for this name and session, made if necessary; NULL and an error. */
struct mp_instance *mp_workspace_get_instance(struct mp_workspace *w, const char *name,
					      mp_id session, struct mcpool_error *reterr);
struct mp_instance *mp_workspace_get_instance_at(struct mp_workspace *w, size_t i, mp_id session,
						 struct mcpool_error *reterr);
/* subscriptions.c: the workspace refers to other instances than before, or is closed. */
void mp_subscriptions_resettle(struct mp_workspace *w);
void mp_subscriptions_drop(struct mp_workspace *w);
/* toggle.c: whether a server of this name was switched. */
enum mp_toggle mp_toggle_recall(const struct mp_workspace *w, const char *name);

static inline enum mp_status_state mp_workspace_entry_get_state(const struct mp_workspace *w,
								size_t i)
{
	return mp_config_get_state(w->config->set, mp_workspace_get_entry(w, i),
				   w->entries[i].toggle);
}

static inline const struct mp_key *mp_workspace_entry_get_key(const struct mp_workspace *w,
							      size_t i)
{
	return &w->config->keys->of[w->entries[i].entry];
}

static inline struct mp_instance *mp_workspace_entry_get_instance(const struct mp_workspace *w,
								  size_t i, mp_id session)
{
	struct mp_instance *in = mp_ids_get(&w->pool->ids, w->entries[i].instance);

	if (in || !mp_workspace_entry_get_key(w, i)->is_known ||
	    mp_workspace_entry_get_state(w, i) != MP_STATUS_READY)
		return in;
	return mp_instance_find(w->pool, w->config, w->entries[i].entry, session);
}

#endif
