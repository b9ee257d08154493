/*
 * workspaces.h - all workspaces of a hub. Sessions of one project share a workspace if the
 * variables that its servers refer to have the same values, so that a session costs little
 * (doc/design.md 4).
 */
#ifndef MP_WORKSPACES_H
#define MP_WORKSPACES_H

#include "base/base.h"
#include "base/events.h"
#include "base/list.h"
#include "base/loop.h"
#include "config/values/set.h"
#include "hub/workspace_watch.h"
#include "json/write.h"
#include "pool/gate.h"
#include "pool/pool.h"
#include "session/sessions.h"

struct mp_workspaces_options {
	struct mp_loop *loop;
	struct mp_events *events;
	struct mp_config_request request; /* of the hub's own workspace; its pointers stay valid */
	struct mp_config_set *set;        /* already loaded; referenced. NULL: load it */
	bool one_shot;                    /* files are not watched */
	/* Of the hub's own workspace: see mp_hub_hooks. */
	void (*ready)(void *u, const struct mcpool_error *error);
	void (*reloaded)(void *u, const struct mcpool_error *error);
	void *u;
};

struct mp_workspaces;

/* Loads the configuration of the hub's own workspace. */
struct mp_workspaces *mp_workspaces_new(const struct mp_workspaces_options *options);
/* All users must be freed. Accepts NULL, returns NULL. */
struct mp_workspaces *mp_workspaces_free(struct mp_workspaces *all);
/* files: the file watcher; NULL: none. All are borrowed. */
void mp_workspaces_start(struct mp_workspaces *all, struct mp_pool *pool,
			 struct mp_sessions *sessions, struct mp_config_watch *files);
/* Read the configuration of all of them again. */
void mp_workspaces_reload(struct mp_workspaces *all);
/*
 * Compare the approvals with those used when the configurations were loaded; after a change reload
 * all. Called for each new session and control call, and before each start: a revocation takes
 * effect even if no message reported it.
 */
void mp_workspaces_compare_approvals(struct mp_workspaces *all);
/* A problem that the user should fix; NULL: none. */
const char *mp_workspaces_get_problem(const struct mp_workspaces *all);
/* Stop watching files, and start nothing for new users. */
void mp_workspaces_stop(struct mp_workspaces *all);
/*
 * Switch a server as mp_workspace_toggle() does, in all workspaces of that folder: agents of one
 * project may have different environments, and those that come later follow.
 */
int mp_workspaces_toggle(struct mp_workspaces *all, struct mp_workspace *w, const char *name,
			 enum mp_toggle toggle, struct mcpool_error *reterr) MP_MUST;
size_t mp_workspaces_count(const struct mp_workspaces *all); /* the hub's own included */
/*
 * What this event told, as JSON (reload_changes.h); empty: nothing, or its workspace changed again.
 */
struct mp_str mp_workspaces_get_changes(const struct mp_workspaces *all, uint64_t event);
/* An array of the last changes of each workspace, those that fit this many bytes. */
void mp_workspaces_write_changes(const struct mp_workspaces *all, size_t room, struct mp_writer *w);
const struct mp_workspace_watch *mp_workspaces_get_own(const struct mp_workspaces *all);

/* --- users ----------------------------------------------------------------------------------- */

struct mp_workspace_user; /* a session or control peer that uses a workspace */

struct mp_workspace_request {
	const char *cwd;     /* NULL: the hub's own workspace, env and profile are ignored */
	char *const *env;    /* "NAME=value", ends in NULL; copied if needed */
	const char *profile; /* NULL: as configured */
	/* More files that the session names; strict: instead of all others. Not trusted. */
	const char *const *files;
	size_t n_files;
	bool strict;
	const char *who; /* process with this environment, for messages; NULL: unknown */
	/* Start no server for it; include file changes made before now. */
	bool starts_nothing;
};

/* workspace: ready, valid until the user is freed; NULL on error. */
typedef void (*mp_workspace_user_fn)(void *u, struct mp_workspace *workspace,
				     const struct mcpool_error *error);

/*
 * Find or create the workspace; fn is called once from the loop, unless the user is freed first.
 * MCPOOL_ECLOSED: the hub is stopping; MCPOOL_ELIMIT: too many workspaces; MCPOOL_ENOENT: cwd is
 * not an absolute path of a folder; MCPOOL_EINVAL: unknown profile.
 */
int mp_workspaces_join(struct mp_workspaces *all, const struct mp_workspace_request *request,
		       mp_workspace_user_fn fn, void *u, struct mp_workspace_user **ret_user,
		       struct mcpool_error *reterr) MP_MUST;
/* An unused workspace is closed after a while. Accepts NULL, returns NULL. */
struct mp_workspace_user *mp_workspace_user_free(struct mp_workspace_user *user);

/* --- private, and for the test --------------------------------------------------------------- */

struct mp_hub_workspace {
	struct mp_workspace_watch watch;
	struct mp_link link; /* in all->list */
	struct mp_workspaces *all;
	struct mp_list users;
	struct mp_gate *gate;   /* open while its eager servers start */
	bool is_started;        /* its eager servers were started */
	struct mp_timer unused; /* runs while it has no users; never for the hub's own */
};

struct mp_workspaces {
	struct mp_workspaces_options o;
	struct mp_workspace_watch_options shared;
	struct mp_sessions *sessions;
	struct mp_hub_workspace *own; /* owned, like all in the list */
	struct mp_list list;          /* the hub's own first */
	int64_t approvals_mark; /* state of the approvals when the configurations were loaded */
	bool is_store_lost;
	bool is_stopping;
};

#endif
