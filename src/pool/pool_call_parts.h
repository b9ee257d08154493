/*
 * pool_call_parts.h - what a call is made of; for pool_call.c, which has its machine, and
 * pool_calls.c, which makes, moves and ends them.
 */
#ifndef MP_POOL_CALL_PARTS_H
#define MP_POOL_CALL_PARTS_H

#include "pool/instance.h"
#include "pool/pool_call.h"

struct mp_pool_call {
	size_t size;         /* of its memory */
	struct mp_link link; /* in its instance's list of this state, or in the pool's homeless */
	struct mp_view *view;
	struct mp_pool *pool;   /* NULL: it is buried */
	struct mp_instance *in; /* NULL: none could be had */
	enum mp_pool_call_state state;
	mp_id id, session;
	mp_id caller;     /* who takes turns; the session, or one of those it speaks for */
	bool is_held;     /* acquired, with no call */
	bool is_told;     /* fn has run */
	bool was_out;     /* the server has, or had, the request of this try */
	bool was_up;      /* the server was there when it was refused */
	int retry_ms;     /* the server wants to be left alone for this long; 0: it did not say */
	unsigned returns; /* how often a server that is up did not take it */
	enum mp_method_id method;
	int64_t timeout_ms, max_total_ms;
	struct mp_ticket ticket; /* for a slot */
	struct mp_call call;
	int64_t asked_ms, sent_us, took_us;
	struct mp_timer deadline, patience;
	bool is_paused;  /* the deadline is the latest there is */
	int64_t left_ms; /* what was left of it when it was paused */
	void (*on_progress)(const struct mp_message *m, void *u);
	mp_pool_call_fn fn;
	void *u;
	struct mp_task task; /* tells what must not be told from within */
	struct mp_grave grave;
	enum mp_outcome outcome;
	const struct mp_message *message; /* the answer on its way; borrowed */
	struct mcpool_error *why;         /* owned; of an ending without an answer */
	bool retryable;
	unsigned attempt;
	struct mp_str tool;               /* in text */
	struct mp_str params;             /* in text */
	struct mp_str meta, capabilities; /* in text */
	const char *log_level;            /* static; NULL: none */
	bool keeps_rounds, takes_tasks;
	char *server;          /* in text */
	const char *transport; /* of one that no instance could be had for; static; or NULL */
	char text[];
};

/* pool_call.c */
extern const struct mp_call_hooks mp_pool_call_call_hooks;
struct mp_pool_call *mp_pool_call_of_call(struct mp_call *c); /* NULL: it is not a call's */
void mp_pool_call_advance(struct mp_pool_call *l, enum mp_pool_call_event ev);
/* Note why it cannot be; REFUSE is the event that follows. */
void mp_pool_call_refuse(struct mp_pool_call *l, int code, enum mp_outcome outcome,
			 const char *format, ...) MP_PRINTF(4, 5);
void mp_pool_call_tell(struct mp_pool_call *l); /* the one answer */
void mp_pool_call_tell_later(void *u);          /* what its task does */
void mp_pool_call_bury(struct mp_grave *grave);
/* The tool's own deadline decides; the transport's limit comes behind it (D9, U16). */
int64_t mp_pool_call_pad(int64_t ms);
void mp_pool_call_find_another(struct mp_pool_call *l); /* its instance leaves, or is no good */
struct mp_list *mp_pool_call_get_list(struct mp_pool_call *l); /* where it stands */

/* A question that belongs to it is being thought about: its time does not run (up to maxTotal). */
void mp_pool_call_pause(struct mp_pool_call *l, bool paused);

/* pool_calls.c: find the instance that its view has for it now. */
void mp_pool_call_find_server(struct mp_pool_call *l);
/*
 * pool_calls.c: one too many waits for this server. The last of the caller who has most of them; l
 * itself where nobody has two more than its caller had without it.
 */
struct mp_pool_call *mp_pool_call_find_greediest(struct mp_instance *in, struct mp_pool_call *l);

#endif
