/*
 * workspace.h - the parts of a workspace; private to pool/.
 */
#ifndef MP_WORKSPACE_H
#define MP_WORKSPACE_H

#include "pool/instance.h"

/* An entry that owns its name. */
struct mp_workspace_entry {
	size_t entry;               /* its index in the set */
	enum mp_status_state state; /* what the files and the toggle lead to */
	bool is_wanted;             /* ready, or switched on by a session for itself */
	mp_id instance;             /* 0: none yet, or one per session */
	struct {                    /* workspace_catalog.c: what the store said last */
		uint64_t round;     /* in which it was asked; 0: never */
		unsigned char key[MP_DIGEST_SIZE];
		bool has_any;
		struct mp_stored_catalog counts; /* no texts */
	} peek;
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
	struct {                    /* workspace_retry.c */
		struct mp_timer timer;
		struct mp_backoff backoff;
	} retry;
	struct {                  /* workspace_catalog.c */
		bool is_open;     /* the entries' peeks of this round may be used */
		uint64_t round;   /* another one after each change of the store */
		int64_t mark;     /* of the store */
		int64_t until_ms; /* when the round ends in any case */
	} peeks;
};

/* workspace.c: this workspace no longer refers to that instance. */
void mp_workspace_entry_give_up(struct mp_workspace *w, size_t i);
/* workspace.c: finds the keys of the current set again; values may be available now. */
void mp_workspace_identify_again(struct mp_workspace *w);
/* workspace_retry.c: does that by the schedule while values are missing. */
void mp_workspace_retry_init(struct mp_workspace *w);
void mp_workspace_retry_soon(struct mp_workspace *w);
/* Values that were missing are available, to judge by these keys of the same set. */
bool mp_workspace_retry_has_news(const struct mp_workspace *w, const struct mp_keys *keys);
/* workspace_catalog.c: the stored catalog of a server; false: none. */
bool mp_workspace_peek_catalog(struct mp_workspace *w, size_t i, mp_id session,
			       struct mp_stored_catalog *ret);
/* The instance for this name and session, made if necessary; NULL and an error. */
struct mp_instance *mp_workspace_get_instance(struct mp_workspace *w, const char *name,
					      mp_id session, struct mcpool_error *reterr);
struct mp_instance *mp_workspace_get_instance_at(struct mp_workspace *w, size_t i, mp_id session,
						 struct mcpool_error *reterr);
/* subscriptions.c: the workspace refers to other instances than before, or is closed. */
void mp_subscriptions_resettle(struct mp_workspace *w);
void mp_subscriptions_drop(struct mp_workspace *w);
/* toggle.c: set the state of an entry; `by` is the workspace whose toggles count. */
void mp_workspace_entry_set_state(struct mp_workspace *w, size_t i, const struct mp_workspace *by);
/* Its state for this session, which may have switched it for itself; 0: for the workspace. */
enum mp_status_state mp_workspace_entry_get_state(const struct mp_workspace *w, size_t i,
						  mp_id session);
/* What was switched for the folder. */
/* What this session switched for itself. */
enum mp_toggle mp_workspace_entry_get_own_toggle(const struct mp_workspace *w, size_t i,
						 mp_id session);

static inline const struct mp_key *mp_workspace_entry_get_key(const struct mp_workspace *w,
							      size_t i)
{
	return &w->config->keys->of[w->entries[i].entry];
}

static inline struct mp_instance *mp_workspace_entry_get_instance(const struct mp_workspace *w,
								  size_t i, mp_id session)
{
	struct mp_instance *in;

	if (mp_workspace_entry_get_state(w, i, session) != MP_STATUS_READY)
		return NULL;
	in = mp_ids_get(&w->pool->ids, w->entries[i].instance);
	if (in || !mp_workspace_entry_get_key(w, i)->is_known)
		return in;
	return mp_instance_find(w->pool, w->config, w->entries[i].entry,
				mp_pool_client_get_home(w->pool, session));
}

#endif
