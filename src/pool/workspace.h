/*
 * workspace.h - what a workspace consists of; for files of pool/ only.
 */
#ifndef MP_WORKSPACE_H
#define MP_WORKSPACE_H

#include "pool/instance.h"

/* An entry that has its name. */
struct mp_workspace_entry {
	size_t entry; /* its place in the set */
	enum mp_toggle toggle;
	mp_id instance; /* 0: none yet, or each session has its own */
};

struct mp_arrival;

struct mp_workspace {
	struct mp_link link; /* in the pool's workspaces */
	struct mp_pool *pool;
	char **env;                         /* owned */
	char *problem;                      /* with its files; owned; NULL: none */
	char *who;                          /* whose that is; owned; NULL: the hub's own */
	struct mp_workspace_config *config; /* what holds; has its keys. NULL: nothing yet */
	struct mp_workspace_entry *entries; /* owned */
	size_t n;
	struct mp_map by_name;      /* to its place in entries + 1 */
	struct mp_map toggles;      /* names that were switched, to an mp_toggle */
	struct mp_arrival *arrival; /* the last one under way */
};

/* workspace.c: this workspace no longer means that instance. */
void mp_workspace_entry_give_up(struct mp_workspace *w, size_t i);
/* workspace_catalog.c: what the store has of a server; false: nothing. */
bool mp_workspace_peek_catalog(struct mp_workspace *w, size_t i, struct mp_definition *ret);
/* The instance for this name and session, made if need be; NULL and why. */
struct mp_instance *mp_workspace_get_instance(struct mp_workspace *w, const char *name,
					      mp_id session, struct mcpool_error *reterr);
struct mp_instance *mp_workspace_get_instance_at(struct mp_workspace *w, size_t i, mp_id session,
						 struct mcpool_error *reterr);
/* subscriptions.c: the workspace means other instances than before; or it goes. */
void mp_subscriptions_resettle(struct mp_workspace *w);
void mp_subscriptions_drop(struct mp_workspace *w);
/* toggle.c: how a server of this name was switched. */
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
