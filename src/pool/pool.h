/*
 * pool.h - what does run, and who shares it: name + launch key to the one instance.
 *
 * A workspace is the configuration as somebody sees it. In a workspace a name means one entry, and
 * an entry that may run has a launch key; whoever has the same name and key uses the same instance,
 * whatever workspace they come from. Calls go through calls (pool_call.h), starts through the gate
 * (gate.h).
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
#include "pool/launch_ops.h"
#include "rpc/era.h"
#include "store/db.h"

struct mp_pins_batch;
struct mp_pool;
struct mp_workspace;

struct mp_pool_options {
	struct mp_loop *loop;
	struct mp_db *db;         /* definitions and eras; borrowed, may be NULL */
	struct mp_board *board;   /* present values; borrowed */
	struct mp_events *events; /* every transition; borrowed */
	const struct mp_identity *me;
	const struct mp_launch_ops *launch_ops;
	void *launch_ops_u;
	size_t init_concurrency; /* starts at once; 0: no limit but for remote servers */
	bool one_shot;           /* one try per start: whoever waits wants to know, and leaves */
	/*
	 * Of one_shot: kinds of lists that are not asked for, as bits. Then each of the others must
	 * be had. 0: all are asked for, and only tools/list must be had.
	 */
	unsigned skipped_lists;
	/*
	 * A start found that approvals changed since its configuration was loaded. The start itself
	 * goes by the approvals of now. May be NULL.
	 */
	void (*on_approvals_changed)(void *u);
	void *u;
	/* Of one_shot: what legacy servers may ask its only session; empty: nothing. Static. */
	struct mp_str capabilities;
};

/* What differs of an instance, on the board. */
enum {
	MP_SERVER_STATE = 1 << 0,
	MP_SERVER_CATALOG = 1 << 1, /* its lists */
	MP_SERVER_CALLS = 1 << 2,   /* counts, latencies, queue */
	MP_SERVER_GONE = 1 << 3,    /* the last word about this id */
};

struct mp_pool *mp_pool_new(const struct mp_pool_options *options);
/*
 * All loops end, all servers are asked to leave, in parallel; what waits is refused, and so is
 * whatever comes later. stopped() follows from the loop when nothing is left.
 */
void mp_pool_stop(struct mp_pool *p, void (*stopped)(void *u), void *u);
/* At once. Views must be closed. Accepts NULL, returns NULL. */
struct mp_pool *mp_pool_free(struct mp_pool *p);
/* A session is over: its calls are given back, its private servers go (E65). */
void mp_pool_end_session(struct mp_pool *p, mp_id session);
struct mp_loop *mp_pool_get_loop(const struct mp_pool *p);
struct mp_events *mp_pool_get_events(const struct mp_pool *p);
size_t mp_pool_count_instances(const struct mp_pool *p);
/* What the server with this id (of an event, or on the board) is called; NULL: it is gone. */
const char *mp_pool_get_name(const struct mp_pool *p, mp_id instance);
/* Is it reached over a network? False for one that is gone. */
bool mp_pool_is_remote(const struct mp_pool *p, mp_id instance);

/* --- workspaces
 * ----------------------------------------------------------------------------------- */

/* error: the workspace could not be made or changed, and is as it was. */
typedef void (*mp_workspace_fn)(struct mp_workspace *v, const struct mcpool_error *error, void *u);

/* set is referenced, env copied. Empty until ready() was called, from the loop. */
struct mp_workspace *mp_workspace_open(struct mp_pool *p, struct mp_config_set *set,
				       char *const *env, mp_workspace_fn ready, void *u);
/* What is wrong with its files as a whole, "FILE:LINE: why"; NULL: nothing. Copied. */
void mp_workspace_set_problem(struct mp_workspace *v, const char *words);
const char *mp_workspace_get_problem(const struct mp_workspace *v); /* NULL: nothing */
/* Whose environment that is, for people; without it: the hub's own. */
void mp_workspace_set_who(struct mp_workspace *v, const char *who);
/*
 * Another set takes its place: what is unchanged notices nothing, what changed is drained and
 * replaced, what is new and eager is started (U33, C18). done() is called from the loop; when
 * another reload comes meanwhile, only the last one's is.
 */
void mp_workspace_reload(struct mp_workspace *v, struct mp_config_set *set, mp_workspace_fn done,
			 void *u);
/* What it shared lives on (D13). Calls of this workspace must be over. */
struct mp_workspace *mp_workspace_close(struct mp_workspace *v);

struct mp_pool *mp_workspace_get_pool(const struct mp_workspace *v);
struct mp_config_set *mp_workspace_get_set(const struct mp_workspace *v); /* borrowed */
/* Its servers: entries that have their name, in order of precedence; indices change on reload. */
size_t mp_workspace_count(const struct mp_workspace *v);
const struct mp_entry *mp_workspace_get_entry(const struct mp_workspace *v, size_t i);
/* -1: there is none of that name. */
ptrdiff_t mp_workspace_find(const struct mp_workspace *v, const char *name);
/* By the id on the board and in events; -1: none of these. */
ptrdiff_t mp_workspace_find_id(const struct mp_workspace *v, mp_id instance);

/*
 * Switch a server on or off for this workspace, without touching a file (C20), or leave it to the
 * files again. Off: it is drained and stopped, unless others have it, too; on: it is started, also
 * where its entry says no, but not against the deny list (U3). Holds until the workspace is closed.
 * MCPOOL_ENOENT: there is none of that name; MCPOOL_ELIMIT, MCPOOL_ENOMEM.
 */
int mp_workspace_toggle(struct mp_workspace *v, const char *name, enum mp_toggle toggle,
			struct mcpool_error *reterr) MP_MUST;
/* The server has it, and it is left out because it changed after the approval (V38). */
bool mp_workspace_is_frozen(struct mp_workspace *v, size_t i, mp_id session, struct mp_str tool);

/*
 * In what follows session says for whom, where each has a server of its own (mode session); it does
 * not matter for others.
 */

/* What it offers: live, as it was last, or remembered. A reference; NULL: nothing is known. */
struct mp_server_catalog *mp_workspace_get_catalog(struct mp_workspace *v, size_t i, mp_id session);
bool mp_workspace_is_remembered(struct mp_workspace *v, size_t i); /* the store knows it */
/* Live, as it was last, or remembered. */
bool mp_workspace_has_catalog(struct mp_workspace *v, size_t i, mp_id session);

/* Start it, as if somebody had asked for it; only_a_visit: only to see what it offers. */
void mp_workspace_start_server(struct mp_workspace *v, size_t i, mp_id session, bool only_a_visit);
/* Have the lists of one that is up fetched again; watchers hear when that is done. */
void mp_workspace_refresh(struct mp_workspace *v, size_t i, mp_id session);
bool mp_workspace_is_refreshing(struct mp_workspace *v, size_t i, mp_id session);
/* End the present connection and begin a new one (C19). 0, or why that cannot be. */
int mp_workspace_reconnect(struct mp_workspace *v, size_t i, mp_id session,
			   struct mcpool_error *reterr) MP_MUST;

/* --- what is to be seen (U7, U31) ------------------------------------------------------------ */

/* The state alone of status.h, which needs no look into the store. */
enum mp_status_state mp_workspace_get_state(struct mp_workspace *v, size_t i, mp_id session);
/* Its id on the board and in events; 0: none yet. */
mp_id mp_workspace_get_instance_id(struct mp_workspace *v, size_t i, mp_id session);
/* NULL: no call has ended yet. */
const struct mp_stats *mp_workspace_get_stats(struct mp_workspace *v, size_t i, mp_id session);
/* What it has written to stderr until now, also while it starts. MCPOOL_ELIMIT, MCPOOL_ENOMEM. */
int mp_workspace_get_tail(struct mp_workspace *v, size_t i, mp_id session, size_t lines,
			  struct mp_buf *out) MP_MUST;

/* Told of every step of every instance, at once; for whoever cannot wait for the board. */
struct mp_watcher {
	struct mp_link link;
	void (*fn)(void *u, mp_id instance);
	void *u;
};
void mp_watcher_join(struct mp_pool *p, struct mp_watcher *w, void (*fn)(void *u, mp_id instance),
		     void *u);
void mp_watcher_leave(struct mp_pool *p, struct mp_watcher *w);

/* --- for the files of pool/ alone ------------------------------------------------------------ */

struct mp_pool {
	struct mp_pool_options o;
	struct mp_ids ids;        /* of instances */
	struct mp_list instances; /* those that may be found, owned */
	struct mp_list leaving;   /* those that drain, owned */
	struct mp_list homeless;  /* calls that no instance has, to be told so */
	struct mp_map by_key;
	struct mp_list workspaces;     /* borrowed */
	struct mp_ids clients;         /* sessions, as servers see them */
	struct mp_list client_list;    /* the same, owned */
	struct mp_ids server_requests; /* that are with them */
	struct mp_list watchers;
	struct mp_map queues;    /* named ones, owned */
	struct mp_queue *starts; /* initConcurrency */
	struct mp_queue *dials;  /* of remote servers: the same, or the line of their default */
	struct mp_era_cache era_cache;
	struct mp_jump_hook jump;
	struct mp_timer wake_timer;
	size_t to_wake; /* instances still to be probed after a suspend */
	struct mp_timer stop_timer;
	struct mp_timer trim_timer; /* memory of servers that left */
	bool is_stopping;
	void (*stopped)(void *u);
	void *stopped_u;
	struct mp_task stopped_task;
};

/* pool.c */
void mp_pool_tell_watchers(struct mp_pool *p, mp_id instance);
void mp_pool_note_up(struct mp_pool *p); /* what a start needed is free again */
/* NULL: there are too many. */
struct mp_queue *mp_pool_get_queue(struct mp_pool *p, const struct mp_settings *s,
				   struct mp_str name);

/* instances.c: all of them. */
void mp_instances_init(struct mp_pool *p);
void mp_instances_done(struct mp_pool *p); /* at once */
void mp_pool_note_gone(struct mp_pool *p); /* an instance is down or gone: is that all? */

/* What is above the pool and ends with it. pool_calls.c: calls without an instance. */
void mp_pool_call_drop_homeless(struct mp_pool *p);
void mp_pool_client_drop_all(struct mp_pool *p); /* pool_client.c */
/* workspace.c: what any workspace has configured keeps its pins, however many others there are. */
void mp_workspace_note_used_pins(struct mp_pool *p, struct mp_pins_batch *b);

#endif
