/*
 * instance.h - one server of the pool: its keeper, its catalog, its waiting calls.
 * Code outside of pool/ knows it by id only.
 */
#ifndef MP_INSTANCE_H
#define MP_INSTANCE_H

#include "base/base.h"
#include "pool/keeper.h"
#include "pool/notifications.h"
#include "pool/pool.h"
#include "pool/pool_call_state.h"
#include "pool/queue.h"
#include "pool/refresh.h"
#include "pool/workspace_config.h"
#include "process/tree.h"

struct mp_pool_call;

/* Each part names the file that uses it; few other files read it. */
struct mp_instance {
	struct mp_link link; /* in the pool's list `instances` or `leaving` */
	struct mp_pool *pool;
	mp_id id;
	struct mp_node node;
	struct mp_log log;
	struct mp_workspace_config *config; /* for the next start; counted reference */
	const struct mp_entry *e;           /* of the config's set */
	mp_id session;                      /* owner session in mode session; 0: shared */
	bool is_borrowed;                   /* another session of its family has used it */
	unsigned char key[MP_DIGEST_SIZE];  /* launch key */
	struct mp_buf map_key;              /* lookup key: name, launch key, scope */
	struct mp_keeper *k;
	struct mp_list calls[MP_POOL_CALL_STATE_COUNT];
	struct mp_task wake_task; /* wakes waiting calls */
	struct mp_queue *queue;   /* its own queue; made with the first call */
	struct mp_stats stats;
	unsigned n_entries; /* number of workspace entries that refer to it */
	struct {
		struct mp_launch_plan *plan;  /* of the current attempt */
		struct mp_ticket ticket;      /* a slot among the starts */
		struct mp_task failed_task;   /* reports a stage that could not begin */
		struct mcpool_error failed;   /* why */
		struct mp_follower *follower; /* of the files that a failed start lacks; or NULL */
		struct mp_timer patience;     /* limit for the first start (E31) */
		int64_t marked_ms;  /* when waiting calls gave up the first start; -1: not */
		bool is_timing_out; /* the calls that waited are being told now */
		struct mp_workspace_config
			*config;      /* of the last start; counted reference; NULL: none yet */
		char environment[96]; /* display name of that environment; "": none yet */
	} start;
	struct {
		bool is_visit; /* started only to read its catalog; stops when it is unused */
		bool is_leaving;
		struct mp_timer idle;  /* idle timeout */
		struct mp_timer drain; /* limit for calls to finish */
		struct mp_task vanish; /* frees it later, because it may be on the stack */
	} stay;
	struct {                                       /* instance_catalog.c */
		struct mp_server_catalog_fetch *fetch; /* the fetch in progress */
		struct mp_refresh *refresh;            /* while it is up */
		struct mp_server_catalog *last;        /* as last fetched; NULL: not yet */
		struct mp_timer forget; /* drops the catalog from memory after the stop */
		void (*on_unheard)(void *u, struct mp_str text); /* for tests; NULL */
		void *on_unheard_u;
	} catalog;
	struct mp_pinned *pins; /* pins.c; owned; NULL: not loaded yet */
	struct {                /* instance_requests.c */
		struct mp_answerer answerer;
		struct mp_list list; /* server requests that a client has */
	} requests;
	struct {                     /* subscriptions.c */
		struct mp_list list; /* resources with subscribers */
		struct mp_task task; /* sends the subscriptions to a modern server */
	} topics;
	struct {                        /* attribution.c */
		struct mp_list ids;     /* ids and the sessions they belong to */
		mp_id doubt_caller;     /* caller of the last abandoned call; 0: several */
		int64_t doubt_until_ms; /* until then, messages may still belong to that caller */
	} attribution;
	struct {                           /* usage.c */
		pid_t pid;                 /* the process that was measured; 0: none */
		struct mp_tree_usage used; /* by it and its descendants */
		size_t sessions;           /* that see it */
	} usage;
	struct {                    /* pool_client.c */
		int told;           /* log level sent in this life; -1: none */
		int64_t counted_ms; /* when the log line counter was last reset */
		unsigned lines;
	} logging;
	struct mp_notification_source said; /* notifications.c */
};

/* Makes an instance and adds it to the pool. Does not start it. */
struct mp_instance *mp_instance_new(struct mp_pool *p, struct mp_workspace_config *config,
				    size_t entry, mp_id session);
struct mp_instance *mp_instance_free(struct mp_instance *in); /* at once */
/* The instance for this entry and session; NULL: none yet. */
struct mp_instance *mp_instance_find(struct mp_pool *p, const struct mp_workspace_config *config,
				     size_t entry, mp_id session);
/* The configuration changed but this server did not. It continues with the new entry. */
void mp_instance_adopt(struct mp_instance *in, struct mp_workspace_config *config, size_t entry);
/*
 * A session needs the server. If it is down, it is started with that session's environment. If the
 * last attempt failed with another environment, it is retried at once.
 */
void mp_instance_follow(struct mp_instance *in, struct mp_workspace_config *config, size_t entry);
/* Drain, stop and free it. It can no longer be found. */
void mp_instance_leave(struct mp_instance *in);
/* An attempt failed with the environment of another session: one with that of the last follows. */
bool mp_instance_will_retry(const struct mp_instance *in);
void mp_instance_start(struct mp_instance *in, bool only_a_visit);
/* Close the current connection and open a new one (C19). Clears a failed first start. */
int mp_instance_renew(struct mp_instance *in, struct mcpool_error *reterr) MP_MUST;

/* Something changed that may have made its start fail: if it waits for that, try now. */
void mp_instance_retry(struct mp_instance *in);

bool mp_instance_is_up(struct mp_instance *in); /* a call could be written now */
/* The profile netdata has messages and restarts of its own (seeds 002 and 003). */
bool mp_instance_is_netdata(const struct mp_instance *in);
/* The first start has failed for the calls that wait for it (E29, E36). */
bool mp_instance_is_marked(const struct mp_instance *in);
size_t mp_instance_count_calls(const struct mp_instance *in);
/* The queue for a call of this tool. */
struct mp_queue *mp_instance_get_queue(struct mp_instance *in, struct mp_str tool);
size_t mp_instance_get_line(const struct mp_instance *in, struct mp_str tool);
/* A call came or ended. A leaving instance without calls stops at the end of the turn. */
void mp_instance_note_use(struct mp_instance *in);
void mp_instance_note_end(struct mp_instance *in);
/* For tests: notifications that belong to no session; fn NULL: dropped. */
void mp_instance_listen(struct mp_instance *in, void (*fn)(void *u, struct mp_str text), void *u);
/* In this turn: wake waiting calls, and check whether a leaving instance can stop. */
void mp_instance_wake_soon(struct mp_instance *in);
void mp_instance_touch(struct mp_instance *in, uint32_t fields);
struct mp_stored_catalog_key mp_instance_get_definition_key(const struct mp_instance *in);

/* instance.c, for instance_catalog.c: a stage could not begin; reported later. */
void mp_instance_note_not_begun(struct mp_instance *in, const char *stage, int r);
/* instance_catalog.c: the catalog part of an instance and of the keeper's hooks. */
void mp_instance_init_catalog(struct mp_instance *in);
void mp_instance_done_catalog(struct mp_instance *in);
void mp_instance_ask_lists(void *u);
void mp_instance_let_go(void *u);
void mp_instance_hear(void *u, const struct mp_message *m);
void mp_instance_forget_catalog_soon(struct mp_instance *in);

/* pool_calls.c: wake all calls that wait for this server. */
void mp_pool_call_wake_all(struct mp_instance *in);
/* pool_calls.c: calls that were not sent look up their server again; there may be a successor. */
void mp_pool_call_move_all(struct mp_instance *in);
/* pool_calls.c: cancel the calls of this session; 0: of all. */
void mp_pool_call_cancel_all(struct mp_instance *in, mp_id session);
/* pool_calls.c: end and free all calls now. */
void mp_pool_call_drop_all(struct mp_instance *in);

/* instance_requests.c */
void mp_instance_requests_init(struct mp_instance *in);
/* The instance's answerer; NULL: server requests are never forwarded. */
const struct mp_answerer *mp_instance_requests_get_answerer(struct mp_instance *in);

/* subscriptions.c */
void mp_subscriptions_init(struct mp_instance *in);
void mp_subscriptions_done(struct mp_instance *in);
/* A new life of the server is up and has no subscriptions. */
void mp_subscriptions_renew(struct mp_instance *in);

/* attribution.c: a new life of the server begins. */
void mp_attribution_forget(struct mp_instance *in);
/*
 * A call at the server was abandoned. In mode serial another session is served now, and messages
 * that follow may still belong to the abandoned call.
 */
void mp_attribution_note_given_up(const struct mp_pool_call *c);
/* Records the ids of elicitations and tasks in an answer to this session. */
void mp_attribution_note_answer(struct mp_instance *in, mp_id session, const struct mp_message *m);

/* pool_client.c: sends the most verbose level of the sessions it serves, if it changed. */
void mp_pool_client_tell_level(struct mp_instance *in);
/*
 * For a message of a private server that belongs to no call: the session it was started for, or the
 * only one that is left of its family; 0: neither.
 */
mp_id mp_pool_client_find_for(const struct mp_instance *in);

#endif
