/*
 * instance.h - one server of the pool: its keeper, what it offers, who waits for it. Known outside
 * of pool/ by id only.
 */
#ifndef MP_INSTANCE_H
#define MP_INSTANCE_H

#include "base/base.h"
#include "base/map.h"
#include "client/verdicts.h"
#include "pool/keeper.h"
#include "pool/pool_call.h"
#include "pool/pool.h"
#include "pool/queue.h"
#include "pool/refresh.h"

/* From where a server is wanted: a configuration and an environment. Shared by count. */
struct mp_workspace_config {
	unsigned refs;
	struct mp_config_set *set;
	char **env;
	char *who;            /* whose environment that is; NULL: the hub's own */
	struct mp_keys *keys; /* NULL until they are known */
};
struct mp_workspace_config *mp_workspace_config_ref(struct mp_workspace_config *s);
struct mp_workspace_config *mp_workspace_config_unref(struct mp_workspace_config *s);

struct mp_pool {
	struct mp_pool_options o;
	struct mp_ids ids;        /* of instances */
	struct mp_list instances; /* those that may be found, owned */
	struct mp_list leaving;   /* those that drain, owned */
	struct mp_list homeless;  /* calls that no instance has, to be told so */
	struct mp_map by_key;
	struct mp_list workspaces; /* borrowed */
	struct mp_ids clients;
	struct mp_list client_list;    /* the same, owned */
	struct mp_ids server_requests; /* that are with them */
	struct mp_list watchers;
	struct mp_map queues;    /* named ones, owned */
	struct mp_queue *starts; /* initConcurrency */
	struct mp_queue *dials;  /* of remote servers: the same, or the line of their default */
	struct mp_verdicts verdicts;
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

struct mp_instance {
	struct mp_link link; /* in instances or leaving */
	struct mp_pool *pool;
	mp_id id;
	struct mp_node node;
	struct mp_log log;
	struct mp_workspace_config *config;  /* for the next start; a reference */
	struct mp_workspace_config *started; /* of the last start; a reference, NULL: none yet */
	char environment[96];                /* whose that had, for people; "": none yet */
	const struct mp_entry *e;            /* of the config's set */
	unsigned char key[MP_DIGEST_SIZE];
	struct mp_buf map_key; /* name, launch key, scope: what it is found by */
	mp_id session;         /* whose it is, in mode session; 0: everybody's */
	struct mp_keeper *k;
	struct mp_plan *plan;                            /* of the present try */
	struct mp_ticket start;                          /* a place among the starts */
	struct mp_offer_fetch *fetch;                    /* its lists, on their way */
	struct mp_refresh *refresh;                      /* while it is up */
	struct mp_offer *offer;                          /* as last seen live; NULL: not yet */
	struct mp_task wake_task;                        /* whoever waits looks again */
	struct mp_task not_begun_task;                   /* a stage could not even be begun */
	struct mcpool_error not_begun;                   /* why */
	void (*on_unheard)(void *u, struct mp_str text); /* for tests; NULL */
	void *on_unheard_u;
	struct mp_list calls[MP_POOL_CALL_STATE_COUNT];
	struct mp_pinned *pins;      /* owned; NULL: not looked at yet */
	struct mp_answerer answerer; /* of its questions */
	struct mp_list requests;     /* of the server, that are with a client */
	struct mp_list topics;       /* resources whose changes somebody wants to hear of */
	struct mp_task topics_task;  /* tells a modern server which */
	struct mp_list memos;        /* whose an id is that it speaks of later; see attribution.c */
	mp_id doubt_caller;          /* whose call was given up last; 0: several' */
	int64_t doubt_until_ms;      /* what it says until then may be about that one */
	int told_level;              /* of its log, in this life; -1: none */
	int64_t logged_ms;           /* when the lines that it may log were last counted anew */
	unsigned logged;
	struct mp_stats stats;
	struct mp_queue *queue;        /* its own line; made with the first call */
	struct mp_timer acquire_timer; /* the first start is to be over by then (E31) */
	struct mp_timer idle_timer;    /* residency */
	struct mp_timer drain_timer;
	struct mp_timer forget_timer; /* what it offered, once it has left */
	int64_t marked_ms;  /* when the first start was given up by those who waited; -1: not */
	unsigned n_entries; /* workspaces that mean it */
	bool is_leaving;
	bool is_visit; /* started only to see what it offers: leaves when nobody wants it */
	struct mp_task vanish_task; /* nothing is left of it, and it may be on the stack */
};

/* Made and entered into the pool, not yet started. */
struct mp_instance *mp_instance_new(struct mp_pool *p, struct mp_workspace_config *config,
				    size_t entry, mp_id session);
struct mp_instance *mp_instance_free(struct mp_instance *in); /* at once */
/* The one that serves this entry for that session; NULL: none yet. */
struct mp_instance *mp_instance_find(struct mp_pool *p, const struct mp_workspace_config *config,
				     size_t entry, mp_id session);
/* The configuration changed, and this server did not: it goes on as the new entry has it. */
void mp_instance_adopt(struct mp_instance *in, struct mp_workspace_config *config, size_t entry);
/*
 * A session wants it. While it is down it is started with that session's environment; if the last
 * try failed with another one, it is tried again at once.
 */
void mp_instance_follow(struct mp_instance *in, struct mp_workspace_config *config, size_t entry);
/* Drain, stop and vanish: nobody finds it any more. */
void mp_instance_leave(struct mp_instance *in);
void mp_instance_start(struct mp_instance *in, bool only_a_visit);
/* End the present connection and begin a new one (C19); a failed first start is forgotten. */
int mp_instance_renew(struct mp_instance *in, struct mcpool_error *reterr) MP_MUST;

bool mp_instance_is_up(struct mp_instance *in); /* a call could be written now */
/* Its first start has failed, as far as those are concerned who wait for it (E29, E36). */
bool mp_instance_is_marked(const struct mp_instance *in);
size_t mp_instance_count_calls(const struct mp_instance *in);
/* The line for a call of this tool. */
struct mp_queue *mp_instance_get_queue(struct mp_instance *in, struct mp_str tool);
size_t mp_instance_get_line(const struct mp_instance *in, struct mp_str tool);
/* A call came; or went, which stops an instance that leaves when the turn ends. */
void mp_instance_note_use(struct mp_instance *in);
void mp_instance_note_end(struct mp_instance *in);
/* For tests: notifications that belong to no session; fn NULL: dropped. */
void mp_instance_listen(struct mp_instance *in, void (*fn)(void *u, struct mp_str text), void *u);
/* In this turn: whoever waits looks again, and so does one that leaves. */
void mp_instance_wake_soon(struct mp_instance *in);
void mp_instance_touch(struct mp_instance *in, uint32_t fields);
struct mp_definition_key mp_instance_get_definition_key(const struct mp_instance *in);

/* instance.c, for the other half: a stage could not even be begun; told later. */
void mp_instance_note_not_begun(struct mp_instance *in, const char *stage, int r);
/* instance_offer.c: its half of an instance's life, and of the keeper's hooks. */
void mp_instance_init_offer(struct mp_instance *in);
void mp_instance_done_offer(struct mp_instance *in);
void mp_instance_ask_lists(void *u);
void mp_instance_let_go(void *u);
void mp_instance_hear(void *u, const struct mp_message *m);
void mp_instance_forget_offer_soon(struct mp_instance *in);

/* pool_call.c: look again at everybody who waits for this server. */
void mp_pool_call_wake_all(struct mp_instance *in);
/* pool_call.c: those that were not sent ask their workspace again; it may know a successor. */
void mp_pool_call_move_all(struct mp_instance *in);
/* pool_call.c: cancel those of this session, 0: of all. */
void mp_pool_call_cancel_all(struct mp_instance *in, mp_id session);
/* pool_call.c: end and free them all, now. */
void mp_pool_call_drop_all(struct mp_instance *in);
void mp_pool_call_drop_homeless(struct mp_pool *p);
/* workspace.c: the instance for this name and session, made if need be; NULL and why. */
struct mp_instance *mp_workspace_get_instance(struct mp_workspace *v, const char *name,
					      mp_id session, struct mcpool_error *reterr);
struct mp_instance *mp_workspace_get_instance_at(struct mp_workspace *v, size_t i, mp_id session,
						 struct mcpool_error *reterr);
/* pool.c */
void mp_pool_tell_watchers(struct mp_pool *p, mp_id instance);
void mp_pool_note_gone(struct mp_pool *p); /* an instance is down or gone: is that all? */
void mp_pool_note_up(struct mp_pool *p);   /* and what a start needed is free again */
/* NULL: there are too many. */
struct mp_queue *mp_pool_get_queue(struct mp_pool *p, const struct mp_settings *s,
				   struct mp_str name);

#endif
