/*
 * workspaces.h - all workspaces of a hub: what the agents of each project see. Sessions of one
 * project with the same values of what its servers refer to share a workspace, so that a session
 * costs next to nothing (DESIGN 4, "Whose environment, whose folder").
 */
#ifndef MP_WORKSPACES_H
#define MP_WORKSPACES_H

#include "base/base.h"
#include "hub/hub.h"

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
 * is no absolute path, or not of a folder; MCPOOL_EINVAL: there is no such profile.
 */
int mp_workspaces_join(struct mp_hub *hub, const struct mp_workspace_request *request,
		       mp_workspace_user_fn fn, void *u, struct mp_workspace_user **ret_user,
		       struct mcpool_error *reterr) MP_MUST;
/* A workspace that nobody uses is closed after a while. Accepts NULL, returns NULL. */
struct mp_workspace_user *mp_workspace_user_free(struct mp_workspace_user *user);

size_t mp_workspaces_count(const struct mp_hub *hub); /* the hub's own included */

/* --- for hub.c --- */

struct mp_workspace_watch;
void mp_workspaces_reload(struct mp_hub *hub); /* all of them */
void mp_workspaces_stop(struct mp_hub *hub);   /* no change is noticed any more */
void mp_workspaces_free(struct mp_hub *hub);   /* all but the hub's own; users must be gone */
/* A reload is over: tell those that waited for it. */
void mp_workspaces_note_reloaded(struct mp_workspace_watch *w);
/* The hub's own workspace is ready, or is not to be had. */
void mp_workspaces_tell(struct mp_workspace_watch *w, const struct mcpool_error *error);

#endif
