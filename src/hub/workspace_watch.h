/*
 * workspace_watch.h - keeps one workspace up to date: its configuration files are watched, and a
 * change is applied as a difference. For hub.c and workspaces.c.
 */
#ifndef MP_WORKSPACE_WATCH_H
#define MP_WORKSPACE_WATCH_H

#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "config/values/set.h"
#include "hub/hub.h"
#include "pool/gate.h"

struct mp_follower;
struct mp_catalogues;

struct mp_workspace_watch_hooks {
	/* The servers are known and may be started; error: they could not be found. Once. */
	void (*ready)(void *u, const struct mcpool_error *error);
	/* The files changed and were read again; error: as it was. May be NULL. */
	void (*reloaded)(void *u, const struct mcpool_error *error);
};

struct mp_workspace_watch {
	struct mp_link link; /* in the hub's watches */
	struct mp_hub *hub;
	struct mp_config_request request; /* borrowed, or own_* */
	char *own_cwd, *own_profile;      /* owned; NULL: the request's are borrowed */
	char **own_env;
	const char *label; /* before the words of events; "" for the hub's own */
	const struct mp_workspace_watch_hooks *hooks;
	void *u;
	struct mp_config_set *set;    /* the last one that was read; a reference */
	struct mp_config_set *before; /* what held before the reload under way; a reference */
	struct mp_follower *follower;
	struct mp_catalogues *catalogues; /* NULL: it has none */
	struct mp_workspace *workspace;   /* NULL before the start */
	struct mp_task refused_task;      /* a reload that changes nothing */
	struct mcpool_error refused;      /* why */
	bool is_ready;                    /* and said so */
	bool is_broken;                   /* it could not be made */
	bool is_reloading;                /* files were read, and the workspace follows */

	/* workspaces.c */
	struct mp_list users; /* those who use it */
	struct mp_gate *gate; /* its eager servers are being started */
	bool is_started;      /* they were */
	struct mp_timer rest; /* nobody uses it */
};

/* set: loaded already, referenced; NULL: to be loaded. The request is borrowed. */
struct mp_workspace_watch *mp_workspace_watch_new(struct mp_hub *hub,
						  const struct mp_config_request *request,
						  struct mp_config_set *set,
						  const struct mp_workspace_watch_hooks *hooks,
						  void *u);
/* From now on it has copies of what the request borrowed. */
void mp_workspace_watch_own_request(struct mp_workspace_watch *w);
/* ready() follows. */
void mp_workspace_watch_start(struct mp_workspace_watch *w);
/* Read the files again; reloaded() follows. Before the start: nothing. */
void mp_workspace_watch_reload(struct mp_workspace_watch *w);
/* No change is noticed any more. */
void mp_workspace_watch_stop(struct mp_workspace_watch *w);
/* Accepts NULL, returns NULL. */
struct mp_workspace_watch *mp_workspace_watch_free(struct mp_workspace_watch *w);

bool mp_hub_is_one_shot(const struct mp_hub *hub);
/* What follows files for all of them; NULL: that cannot be, or need not. */
struct mp_config_watch *mp_hub_get_watch(struct mp_hub *hub);
bool mp_hub_is_stopping(const struct mp_hub *hub);

#endif
