/*
 * pool.h - all running servers: maps name and launch key to one shared instance.
 * A workspace is one folder and environment with the servers it sees. In a workspace a name means
 * one entry, and an entry that may run has a launch key. Workspaces with the same name and key
 * share one instance. Calls go through pool_call.h, starts through gate.h.
 */
#ifndef MP_POOL_H
#define MP_POOL_H

#include "base/base.h"
#include "base/dirty.h"
#include "base/events.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "client/era_cache.h"
#include "config/values/set.h"
#include "pool/server_catalog.h"
#include "pool/queue.h"
#include "pool/stats.h"
#include "pool/totals.h"
#include "pool/launch_ops.h"
#include "rpc/era.h"
#include "store/db.h"

struct mp_call_log;
struct mp_notifications;
struct mp_config_watch;
struct mp_pins_batch;
struct mp_pool;
struct mp_workspace;

struct mp_pool_options {
	struct mp_loop *loop;
	struct mp_db *db;          /* catalogs and eras; borrowed, may be NULL */
	struct mp_board *board;    /* current values; borrowed */
	struct mp_events *events;  /* receives every transition; borrowed */
	struct mp_call_log *calls; /* receives every call that ended; borrowed; may be NULL */
	const struct mp_identity *me;
	const struct mp_launch_ops *launch_ops;
	void *launch_ops_u;
	/* Receives what servers say by themselves; borrowed; may be NULL. */
	struct mp_notifications *said;
	size_t init_concurrency; /* concurrent starts; 0: unlimited, except for remote servers */
	bool one_shot; /* one attempt per start, for a command that reports the failure and exits */
	/*
	 * With one_shot: kinds of lists that are not fetched, as bits. All other lists are then
	 * mandatory. 0: fetch all; only tools/list is mandatory.
	 */
	unsigned skipped_lists;
	/*
	 * A start found that approvals changed after its configuration was loaded. The start uses
	 * the current approvals. May be NULL.
	 */
	void (*on_approvals_changed)(void *u);
	void *u;
	mp_id session_base; /* ids of sessions are above it; different for each hub */
	/* With one_shot: the capabilities declared to legacy servers; empty: none. Static. */
	struct mp_str capabilities;
};

/* What changed in an instance, on the board. */
enum {
	MP_SERVER_STATE = 1 << 0,
	MP_SERVER_CATALOG = 1 << 1, /* its lists */
	MP_SERVER_CALLS = 1 << 2,   /* counts, latencies, queue */
	MP_SERVER_GONE = 1 << 3,    /* the last change of this id */
};

struct mp_pool *mp_pool_new(const struct mp_pool_options *options);
/*
 * Ends all restart loops and stops all servers in parallel. Waiting and later calls are refused.
 * stopped() runs from the loop when all are down.
 */
void mp_pool_stop(struct mp_pool *p, void (*stopped)(void *u), void *u);
/* Immediately. Close the workspaces first. Accepts NULL, returns NULL. */
struct mp_pool *mp_pool_free(struct mp_pool *p);
/* Starts that lack a file are tried again when it appears. Outlives the pool. */
void mp_pool_set_files(struct mp_pool *p, struct mp_config_watch *files);
/* The network may have returned: remote servers that wait for their next attempt are tried now. */
void mp_pool_note_network(struct mp_pool *p);
/* WWW-Authenticate of a server of this name that waits for a login; empty: none. */
struct mp_str mp_pool_find_challenge(struct mp_pool *p, const char *server);
/* The credential of a server of this name came or went. */
void mp_pool_note_login(struct mp_pool *p, const char *server, bool has_token);
/*
 * A session has ended: cancels its calls and stops its private servers (E65), unless another
 * session borrows them.
 */
void mp_pool_end_session(struct mp_pool *p, mp_id session);
/* The session whose private servers it uses: its own id, or that of the first of its family. */
mp_id mp_pool_client_get_home(const struct mp_pool *p, mp_id session);
struct mp_loop *mp_pool_get_loop(const struct mp_pool *p);
struct mp_events *mp_pool_get_events(const struct mp_pool *p);
size_t mp_pool_count_instances(const struct mp_pool *p);
/* Calls are spans of ours: sessions give servers our span as the parent of theirs. */
void mp_pool_set_tracing(struct mp_pool *p, bool is_tracing);
bool mp_pool_is_tracing(const struct mp_pool *p);
/*
 * Add what the servers of each name have counted; what instances that are gone have counted stays,
 * so that no counter goes back.
 */
void mp_pool_sum_up(struct mp_pool *p, struct mp_totals *to);
/* The name of the server with this id (of an event, or on the board); NULL: it no longer exists. */
const char *mp_pool_get_name(const struct mp_pool *p, mp_id instance);
/* Is the server reached over a network? False if it no longer exists. */
bool mp_pool_is_remote(const struct mp_pool *p, mp_id instance);
/* Its state on display; ready if it no longer exists. */
enum mp_status_state mp_pool_get_state(const struct mp_pool *p, mp_id instance);
/* How log lines about the server begin; NULL: it no longer exists. */
const struct mp_log *mp_pool_get_log(const struct mp_pool *p, mp_id instance);
/* The settings that hold for the server; NULL: it no longer exists. */
const struct mp_settings *mp_pool_get_settings(const struct mp_pool *p, mp_id instance);

/* --- workspaces
 * ----------------------------------------------------------------------------------- */

/* error: the workspace could not be made or changed, and is unchanged. */
typedef void (*mp_workspace_fn)(struct mp_workspace *v, const struct mcpool_error *error, void *u);

/* set is referenced, env copied. Empty until ready() was called, from the loop. */
struct mp_workspace *mp_workspace_open(struct mp_pool *p, struct mp_config_set *set,
				       char *const *env, mp_workspace_fn ready, void *u);
/* An error in its files as a whole, "FILE:LINE: why"; NULL: none. Copied. */
void mp_workspace_set_problem(struct mp_workspace *v, const char *words);
const char *mp_workspace_get_problem(const struct mp_workspace *v); /* NULL: none */
/* Display name of the environment; default: the hub's own. */
void mp_workspace_set_who(struct mp_workspace *v, const char *who);
/*
 * Replaces the set. Unchanged servers continue, changed servers are drained and replaced, new eager
 * servers are started (U33, C18). done() is called from the loop; of several reloads at the same
 * time, only for the last.
 */
void mp_workspace_reload(struct mp_workspace *v, struct mp_config_set *set, mp_workspace_fn done,
			 void *u);
/* Shared instances continue (D13). Calls of this workspace must be over. */
struct mp_workspace *mp_workspace_close(struct mp_workspace *v);

struct mp_pool *mp_workspace_get_pool(const struct mp_workspace *v);
struct mp_config_set *mp_workspace_get_set(const struct mp_workspace *v); /* borrowed */
/* Its servers: entries that own their name, in order of precedence. Indices change on reload. */
size_t mp_workspace_count(const struct mp_workspace *v);
const struct mp_entry *mp_workspace_get_entry(const struct mp_workspace *v, size_t i);
/* -1: not found. */
ptrdiff_t mp_workspace_find(const struct mp_workspace *v, const char *name);
/* By the id on the board and in events; -1: not found. */
ptrdiff_t mp_workspace_find_id(const struct mp_workspace *v, mp_id instance);

/*
 * Switch a server on or off without changing a file (C20), or restore what the files say: for all
 * sessions of this workspace until it is closed (session: 0), or for one session until it ends,
 * which is stronger. Off: it is drained and stopped, unless others use it. On: it is started even
 * if its entry is disabled, but not against the deny list (U3). MCPOOL_ENOENT: no such server or
 * session; MCPOOL_ELIMIT, MCPOOL_ENOMEM.
 */
int mp_workspace_toggle(struct mp_workspace *v, const char *name, mp_id session,
			enum mp_toggle toggle, struct mcpool_error *reterr) MP_MUST;
enum mp_toggle mp_workspace_entry_get_toggle(const struct mp_workspace *w, size_t i);
/* Switch it here as it is switched there, without an event. */
void mp_workspace_follow_toggle(struct mp_workspace *w, const struct mp_workspace *from,
				const char *name);
/* This session has switched servers for itself. */
bool mp_workspace_has_toggles(const struct mp_workspace *v, mp_id session);
/* The server has this tool, but it is left out because it changed after the approval (V38). */
bool mp_workspace_is_frozen(struct mp_workspace *v, size_t i, mp_id session, struct mp_str tool);

/*
 * The parameter session of the following functions selects the private server of a session (mode
 * session), and counts what it switched for itself.
 */

/* The catalog: live, the last one, or the stored one. A reference; NULL: none is known. */
struct mp_server_catalog *mp_workspace_get_catalog(struct mp_workspace *v, size_t i, mp_id session);
/* The store has a catalog. */
bool mp_workspace_is_remembered(struct mp_workspace *v, size_t i, mp_id session);
/*
 * Between these, as for one status of all servers, the store is asked for a server's catalog only
 * if something in it has changed since it was asked last.
 */
void mp_workspace_begin_peeks(struct mp_workspace *v);
void mp_workspace_end_peeks(struct mp_workspace *v);
/* Live, the last one, or the stored one. */
bool mp_workspace_has_catalog(struct mp_workspace *v, size_t i, mp_id session);

/* Start it as if it was requested; only_a_visit: only to read its catalog. */
void mp_workspace_start_server(struct mp_workspace *v, size_t i, mp_id session, bool only_a_visit);
/* Fetch the lists of a server that is up again; watchers are told when that is done. */
void mp_workspace_refresh(struct mp_workspace *v, size_t i, mp_id session);
bool mp_workspace_is_refreshing(struct mp_workspace *v, size_t i, mp_id session);
/*
 * Close the current connection and open a new one (C19); session 0: of a private server the
 * connections of all sessions. Returns 0, or an error.
 */
int mp_workspace_reconnect(struct mp_workspace *v, size_t i, mp_id session,
			   struct mcpool_error *reterr) MP_MUST;

/* --- status (U7, U31) ------------------------------------------------------------------------ */

/* Only the state of status.h; does not read the store. */
enum mp_status_state mp_workspace_get_state(struct mp_workspace *v, size_t i, mp_id session);
/* Calls that waited for its first start were refused (E31, E36). */
bool mp_workspace_is_given_up(struct mp_workspace *v, size_t i, mp_id session);
/* Its id on the board and in events; 0: none yet. */
mp_id mp_workspace_get_instance_id(struct mp_workspace *v, size_t i, mp_id session);
/* NULL: no call has ended yet. */
const struct mp_stats *mp_workspace_get_stats(struct mp_workspace *v, size_t i, mp_id session);
/* Its stderr so far, also while it starts. MCPOOL_ELIMIT, MCPOOL_ENOMEM. */
int mp_workspace_get_tail(struct mp_workspace *v, size_t i, mp_id session, size_t lines,
			  struct mp_buf *out) MP_MUST;

/* Is told of every step of every instance immediately, without waiting for the board. */
struct mp_watcher {
	struct mp_link link;
	void (*fn)(void *u, mp_id instance);
	void *u;
};
void mp_watcher_join(struct mp_pool *p, struct mp_watcher *w, void (*fn)(void *u, mp_id instance),
		     void *u);
void mp_watcher_leave(struct mp_pool *p, struct mp_watcher *w);

/* --- private to pool/ ------------------------------------------------------------------------ */

struct mp_pool {
	struct mp_pool_options o;
	struct mp_ids ids;             /* of instances */
	struct mp_config_watch *files; /* borrowed; NULL: changes of files are not noticed */
	struct mp_list instances;      /* instances that can be found, owned */
	struct mp_list leaving;        /* instances that drain, owned */
	struct mp_list homeless;       /* calls without an instance, to be refused */
	struct mp_map by_key;
	struct mp_list workspaces;     /* borrowed */
	struct mp_ids clients;         /* sessions as clients of servers */
	struct mp_list client_list;    /* the same, owned */
	struct mp_ids server_requests; /* open server requests */
	struct mp_list watchers;
	struct mp_totals gone;   /* what instances that are gone have counted */
	struct mp_map queues;    /* named queues, owned */
	struct mp_queue *starts; /* initConcurrency */
	struct mp_queue *dials;  /* of remote servers: the same queue, or their default */
	struct mp_era_cache era_cache;
	struct mp_jump_hook jump;
	struct mp_timer wake_timer;
	size_t to_wake; /* instances not yet probed after a suspend */
	struct mp_timer stop_timer;
	struct mp_timer trim_timer; /* returns memory after servers have stopped */
	bool is_stopping, is_tracing;
	void (*stopped)(void *u);
	void *stopped_u;
	struct mp_task stopped_task;
};

/* pool.c */
void mp_pool_tell_watchers(struct mp_pool *p, mp_id instance);
void mp_pool_note_up(struct mp_pool *p); /* a start has released its slot */
/* NULL: too many queues. */
struct mp_queue *mp_pool_get_queue(struct mp_pool *p, const struct mp_settings *s,
				   struct mp_str name);

/* instances.c: all instances. */
void mp_instances_init(struct mp_pool *p);
void mp_instances_done(struct mp_pool *p); /* immediately */
/* Stops the private servers of home, if no session uses them any more. */
void mp_instances_end_private(struct mp_pool *p, mp_id home);
void mp_pool_note_gone(struct mp_pool *p); /* an instance is down or freed: check whether all are */

/* Users of the pool that end with it. pool_calls.c: calls without an instance. */
void mp_pool_call_drop_homeless(struct mp_pool *p);
void mp_pool_client_drop_all(struct mp_pool *p); /* pool_client.c */
/* pool_client.c: does a session use the private servers of home? */
bool mp_pool_client_has_member(const struct mp_pool *p, mp_id home);
/* workspace.c: servers configured in a workspace keep their pins, however many others exist. */
void mp_workspace_note_used_pins(struct mp_pool *p, struct mp_pins_batch *b);

#endif
