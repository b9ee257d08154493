/*
 * workspace_watch.h - keeps one workspace up to date: watches its configuration files and applies a
 * change as a difference. For workspaces.c, which embeds it.
 */
#ifndef MP_WORKSPACE_WATCH_H
#define MP_WORKSPACE_WATCH_H

#include "base/base.h"
#include "base/buf.h"
#include "base/events.h"
#include "base/loop.h"
#include "config/values/set.h"
#include "pool/pool.h"

struct mp_remote_sources;
struct mp_config_watch;
struct mp_follower;
struct mp_workspace_watch;

/* Shared by all workspaces of a hub; borrowed. */
struct mp_workspace_watch_options {
	struct mp_loop *loop;
	struct mp_events *events;
	struct mp_pool *pool;          /* NULL before the start */
	struct mp_config_watch *files; /* NULL: files cannot or need not be watched */
	bool one_shot;                 /* nothing is watched or kept for the next hub */
	/* The servers are known and may be started; error: loading failed. Called once. */
	void (*ready)(struct mp_workspace_watch *w, const struct mcpool_error *error);
	/* The files changed and were read again; error: nothing changed. */
	void (*reloaded)(struct mp_workspace_watch *w, const struct mcpool_error *error);
};

struct mp_workspace_watch {
	const struct mp_workspace_watch_options *o;
	struct mp_config_request request; /* borrowed, or own_* */
	char *own_cwd, *own_profile;      /* owned; NULL: the request's are borrowed */
	char **own_env;
	char **own_asked;             /* ends in NULL */
	const char *label;            /* prefix of event texts; "" for the hub's own */
	struct mp_config_set *set;    /* the last one loaded; a reference */
	struct mp_config_set *before; /* the set that was told last; a reference; NULL: none */
	struct mp_follower *follower;
	struct mp_remote_sources *remote_sources; /* NULL: none are configured */
	struct mp_workspace *workspace;           /* NULL before the start */
	struct mp_task refused_task;              /* a reload that changes nothing */
	struct mcpool_error refused;              /* the reason */
	struct mp_buf
		changes; /* the last ones, as JSON (reload_changes.h); empty: none are known */
	uint64_t changes_event; /* number of the event that told them; 0: there were none */
	bool is_ready;          /* and ready() was called */
	bool is_broken;         /* it could not be created */
	bool is_reloading;      /* files were read, the workspace is being updated */
};

/* set: already loaded, referenced; NULL: load it. The request is borrowed. */
void mp_workspace_watch_init(struct mp_workspace_watch *w,
			     const struct mp_workspace_watch_options *o,
			     const struct mp_config_request *request, struct mp_config_set *set);
void mp_workspace_watch_done(struct mp_workspace_watch *w);
/* Copy what the request borrowed. */
void mp_workspace_watch_own_request(struct mp_workspace_watch *w);
/* ready() follows. */
void mp_workspace_watch_start(struct mp_workspace_watch *w);
/* Read the files again; reloaded() follows. Before the start: nothing. */
void mp_workspace_watch_reload(struct mp_workspace_watch *w);
/* Stop watching files. */
void mp_workspace_watch_stop(struct mp_workspace_watch *w);

#endif
