/*
 * instance.h - one server of the pool: its keeper, what it offers, who waits for it. Known outside
 * of pool/ by id only.
 */
#ifndef MP_INSTANCE_H
#define MP_INSTANCE_H

#include "base/base.h"
#include "pool/keeper.h"
#include "pool/pool.h"
#include "pool/pool_call_state.h"
#include "pool/queue.h"
#include "pool/refresh.h"
#include "pool/workspace_config.h"

struct mp_pool_call;

/* Each of its parts is used by the file it names, and read by few others. */
struct mp_instance {
	struct mp_link link; /* in instances or leaving */
	struct mp_pool *pool;
	mp_id id;
	struct mp_node node;
	struct mp_log log;
	struct mp_workspace_config *config; /* for the next start; a reference */
	const struct mp_entry *e;           /* of the config's set */
	mp_id session;                      /* whose it is, in mode session; 0: everybody's */
	unsigned char key[MP_DIGEST_SIZE];  /* launch key */
	struct mp_buf map_key;              /* name, launch key, scope: what it is found by */
	struct mp_keeper *k;
	struct mp_list calls[MP_POOL_CALL_STATE_COUNT];
	struct mp_task wake_task; /* whoever waits looks again */
	struct mp_queue *queue;   /* its own line; made with the first call */
	struct mp_stats stats;
	unsigned n_entries; /* workspaces that mean it */
	struct {
		struct mp_launch_plan *plan; /* of the present try */
		struct mp_ticket ticket;     /* a place among the starts */
		struct mp_task failed_task;  /* a stage could not even be begun */
		struct mcpool_error failed;  /* why */
		struct mp_timer patience;    /* the first start is to be over by then (E31) */
		int64_t marked_ms; /* when the first start was given up by those who waited; -1: not
				    */
		struct mp_workspace_config
			*config;      /* of the last one; a reference; NULL: none yet */
		char environment[96]; /* whose that had, for people; "": none yet */
	} start;
	struct {
		bool is_visit; /* started only to see what it offers: leaves when nobody wants it */
		bool is_leaving;
		struct mp_timer idle;  /* residency */
		struct mp_timer drain; /* calls may finish until then */
		struct mp_task vanish; /* nothing is left of it, and it may be on the stack */
	} stay;
	struct {                                       /* instance_catalog.c */
		struct mp_server_catalog_fetch *fetch; /* its lists, on their way */
		struct mp_refresh *refresh;            /* while it is up */
		struct mp_server_catalog *last;        /* as last seen live; NULL: not yet */
		struct mp_timer forget;                /* what it offered, once it has left */
		void (*on_unheard)(void *u, struct mp_str text); /* for tests; NULL */
		void *on_unheard_u;
	} catalog;
	struct mp_pinned *pins; /* pins.c; owned; NULL: not looked at yet */
	struct {                /* instance_requests.c */
		struct mp_answerer answerer;
		struct mp_list list; /* server requests that are with a client */
	} requests;
	struct {                     /* subscriptions.c */
		struct mp_list list; /* resources whose changes somebody wants to hear of */
		struct mp_task task; /* tells a modern server which */
	} topics;
	struct {                        /* attribution.c */
		struct mp_list ids;     /* whose an id is that it speaks of later */
		mp_id doubt_caller;     /* whose call was given up last; 0: several' */
		int64_t doubt_until_ms; /* what it says until then may be about that one */
	} attribution;
	struct {                    /* pool_client.c */
		int told;           /* the level its log was set to, in this life; -1: none */
		int64_t counted_ms; /* when the lines that it may log were last counted anew */
		unsigned lines;
	} logging;
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
/* instance_catalog.c: its half of an instance's life, and of the keeper's hooks. */
void mp_instance_init_catalog(struct mp_instance *in);
void mp_instance_done_catalog(struct mp_instance *in);
void mp_instance_ask_lists(void *u);
void mp_instance_let_go(void *u);
void mp_instance_hear(void *u, const struct mp_message *m);
void mp_instance_forget_catalog_soon(struct mp_instance *in);

/* pool_calls.c: look again at everybody who waits for this server. */
void mp_pool_call_wake_all(struct mp_instance *in);
/* pool_calls.c: those that were not sent ask their workspace again; it may know a successor. */
void mp_pool_call_move_all(struct mp_instance *in);
/* pool_calls.c: cancel those of this session, 0: of all. */
void mp_pool_call_cancel_all(struct mp_instance *in, mp_id session);
/* pool_calls.c: end and free them all, now. */
void mp_pool_call_drop_all(struct mp_instance *in);

/* instance_requests.c */
void mp_instance_requests_init(struct mp_instance *in);
/* The instance's answerer; NULL: clients are never asked. */
const struct mp_answerer *mp_instance_requests_get_answerer(struct mp_instance *in);

/* subscriptions.c */
void mp_subscriptions_init(struct mp_instance *in);
void mp_subscriptions_done(struct mp_instance *in);
/* Another life of the server is up, and knows of none. */
void mp_subscriptions_renew(struct mp_instance *in);

/* attribution.c: a new life of the server begins. */
void mp_attribution_forget(struct mp_instance *in);
/*
 * A call that the server has was given up. In mode serial somebody else is served now, and what the
 * server says in the next moments may still be about that one.
 */
void mp_attribution_note_given_up(const struct mp_pool_call *c);
/* Ids of elicitations and tasks in an answer that goes to this session. */
void mp_attribution_note_answer(struct mp_instance *in, mp_id session, const struct mp_message *m);

/* pool_client.c: the most verbose level of those it serves, where it has not been told. */
void mp_pool_client_tell_level(struct mp_instance *in);

#endif
