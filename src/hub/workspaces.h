/*
 * workspaces.h - all workspaces of a hub: what the agents of each project see. Sessions of one
 * project with the same values of what its servers refer to share a workspace, so that a session
 * costs next to nothing (doc/design.md 4).
 */
#ifndef MP_WORKSPACES_H
#define MP_WORKSPACES_H

#include "base/base.h"
#include "base/events.h"
#include "base/list.h"
#include "base/loop.h"
#include "config/values/set.h"
#include "hub/workspace_watch.h"
#include "pool/gate.h"
#include "pool/pool.h"
#include "session/sessions.h"

struct mp_workspaces_options {
	struct mp_loop *loop;
	struct mp_events *events;
	struct mp_config_request request; /* of the hub's own workspace; what it points to stays */
	struct mp_config_set *set;        /* loaded already; referenced. NULL: to be loaded */
	bool one_shot;                    /* files are not watched */
	/* Of the hub's own workspace: see mp_hub_hooks. */
	void (*ready)(void *u, const struct mcpool_error *error);
	void (*reloaded)(void *u, const struct mcpool_error *error);
	void *u;
};

struct mp_workspaces;

/* The configuration of the hub's own workspace is loaded. */
struct mp_workspaces *mp_workspaces_new(const struct mp_workspaces_options *options);
/* Users must be gone. Accepts NULL, returns NULL. */
struct mp_workspaces *mp_workspaces_free(struct mp_workspaces *all);
/* files: what watches configuration files; NULL: nothing does. All are borrowed. */
void mp_workspaces_start(struct mp_workspaces *all, struct mp_pool *pool,
			 struct mp_sessions *sessions, struct mp_config_watch *files);
/* Read the configuration of all of them again. */
void mp_workspaces_reload(struct mp_workspaces *all);
/*
 * Compare the approvals with those that the configurations were loaded with; after a change all are
 * reloaded. For each new session and control call, and before each start: a revocation counts also
 * where no message told of it.
 */
void mp_workspaces_compare_approvals(struct mp_workspaces *all);
/* What a person should mend, in words; NULL. */
const char *mp_workspaces_get_problem(const struct mp_workspaces *all);
/* Changes are no longer noticed, and nothing is started for new users. */
void mp_workspaces_stop(struct mp_workspaces *all);
size_t mp_workspaces_count(const struct mp_workspaces *all); /* the hub's own included */
const struct mp_workspace_watch *mp_workspaces_get_own(const struct mp_workspaces *all);

/* --- users ----------------------------------------------------------------------------------- */

struct mp_workspace_user; /* a session or control peer that uses a workspace */

struct mp_workspace_request {
	const char *cwd;     /* NULL: the hub's own workspace, whatever env and profile say */
	char *const *env;    /* "NAME=value", ends in NULL; copied where it is needed */
	const char *profile; /* NULL: as the files say */
	const char *who;     /* whose environment it is, for people; NULL: unknown */
	/* No server is started for it; and what changed in files before now is in it. */
	bool starts_nothing;
};

/* workspace: ready, and there until the user is freed; NULL where there is an error. */
typedef void (*mp_workspace_user_fn)(void *u, struct mp_workspace *workspace,
				     const struct mcpool_error *error);

/*
 * Find the workspace, or make it; fn follows from the loop, once, unless the user is freed before.
 * MCPOOL_ECLOSED: the hub stops; MCPOOL_ELIMIT: there are too many workspaces; MCPOOL_ENOENT: cwd
 * is not an absolute path, or not of a folder; MCPOOL_EINVAL: there is no such profile.
 */
int mp_workspaces_join(struct mp_workspaces *all, const struct mp_workspace_request *request,
		       mp_workspace_user_fn fn, void *u, struct mp_workspace_user **ret_user,
		       struct mcpool_error *reterr) MP_MUST;
/* An unused workspace is closed after a while. Accepts NULL, returns NULL. */
struct mp_workspace_user *mp_workspace_user_free(struct mp_workspace_user *user);

/* --- private, and for its test --------------------------------------------------------------- */

struct mp_hub_workspace {
	struct mp_workspace_watch watch;
	struct mp_link link; /* in all->list */
	struct mp_workspaces *all;
	struct mp_list users;
	struct mp_gate *gate;   /* its eager servers are being started */
	bool is_started;        /* they were */
	struct mp_timer unused; /* runs while there are no users; never for the hub's own */
};

struct mp_workspaces {
	struct mp_workspaces_options o;
	struct mp_workspace_watch_options shared;
	struct mp_sessions *sessions;
	struct mp_hub_workspace *own; /* owned, as all in the list */
	struct mp_list list;          /* the hub's own first */
	int64_t approvals_mark;       /* what the configurations were loaded with */
	bool is_store_lost;
	bool is_stopping;
};

#endif
