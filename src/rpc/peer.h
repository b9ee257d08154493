/*
 * peer.h - one conversation: ids, deadlines, cancellation, progress.
 * Sits on any transport through its hooks. Every call of ours ends exactly once; every request of
 * theirs is answered at most once; what cannot be attributed is dropped and counted.
 */
#ifndef MP_PEER_H
#define MP_PEER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "json/tape.h"
#include "rpc/call.h"
#include "rpc/message.h"

struct mp_peer_hooks {
	/* Hand one message to the transport; as mp_transport_impl.send. */
	int (*send)(void *u, struct mp_str text, uint64_t *ret_at);
	/*
	 * A request of theirs: answer with mp_peer_reply() or mp_peer_refuse(), now or later. NULL:
	 * all but ping are refused.
	 */
	void (*request)(void *u, mp_id call, const struct mp_message *m);
	/* They no longer want that answer (or can no longer get it). */
	void (*withdrawn)(void *u, mp_id call);
	void (*notification)(void *u, const struct mp_message *m);
};

struct mp_peer_counts {
	uint64_t noise;        /* lines that are no JSON-RPC at all (P29) */
	char noise_sample[64]; /* how the first of them begins */
	uint64_t garbled;      /* messages that could not be read */
	uint64_t strays;       /* answers and progress that belong to no open call */
	uint64_t refused;      /* requests we do not answer, or not twice */
	uint64_t undelivered;  /* our answers they did not take */
};

struct mp_peer {
	struct mp_loop *loop;
	const struct mp_peer_hooks *hooks; /* borrowed */
	void *u;
	bool answers; /* requests of theirs are answered; there are none in the modern era */
	struct mp_tape tape, batch_tape;
	struct mp_ids calls;                          /* ours and theirs, owned */
	struct mp_list in_state[MP_CALL_STATE_COUNT]; /* the same by state */
	struct mp_map theirs;                         /* by the id they chose */
	struct mp_buf out;                            /* the message being written */
	struct mp_str reply;                          /* the answer on its way */
	const struct mp_message *arriving;            /* the message on hand */
	bool lost;
	struct mp_peer_counts counts;
};

void mp_peer_init(struct mp_peer *p, struct mp_loop *loop, const struct mp_peer_hooks *hooks,
		  void *u);
/* Open calls are forgotten without a word: call mp_peer_lost() first. Not from one of its hooks. */
void mp_peer_done(struct mp_peer *p);

struct mp_request {
	enum mp_method_id method;
	struct mp_str params;             /* an object without _meta, or empty */
	const struct mp_message *forward; /* instead: a request to send on as it is */
	struct mp_str subject;            /* with forward: instead of its name or uri; JSON */
	struct mp_str meta;               /* an object: what _meta says on this hop; or empty */
	struct mp_str foreign;            /* an object: what else it says (trace keys); or empty */
	struct mp_str capabilities; /* an object, for mp_upstream_call(): see there; or empty */
	const char *log_level;      /* the same; static; NULL: none */
	bool keeps_rounds;          /* for mp_rounds_call(): see there */
	bool takes_tasks;           /* the same */
	int64_t timeout_ms;         /* without a word from them; 0: none */
	int64_t max_total_ms;       /* progress does not extend beyond; 0: no extension */
	mp_progress_fn on_progress; /* NULL: progress is not asked for */
};

/*
 * Start a call. A negative return means that fn stays silent; else it runs once, from the loop.
 * MCPOOL_ECLOSED, MCPOOL_ETOO_LARGE, MCPOOL_ELIMIT (the peer does not read), MCPOOL_ENOMEM.
 */
int mp_peer_call(struct mp_peer *p, const struct mp_request *rq, mp_answer_fn fn, void *u,
		 mp_id *ret_call) MP_MUST;
/* Nobody wants the answer any more: the other side is told, fn hears CANCELLED. */
void mp_peer_cancel(struct mp_peer *p, mp_id call);
/* While it is paused, only max_total_ms counts. */
void mp_peer_pause(struct mp_peer *p, mp_id call, bool paused);
int mp_peer_notify(struct mp_peer *p, enum mp_method_id method, struct mp_str params) MP_MUST;

/* Answer a request of theirs; nothing happens if they no longer want it. */
void mp_peer_reply(struct mp_peer *p, mp_id call, struct mp_str result);
void mp_peer_refuse(struct mp_peer *p, mp_id call, int code, struct mp_str words);

/* From the transport. */
void mp_peer_receive(struct mp_peer *p, struct mp_str text);
void mp_peer_receive_oversize(struct mp_peer *p, struct mp_str head, struct mp_str tail);
void mp_peer_written(struct mp_peer *p, uint64_t total);
/* Where requests go their own ways: this one is with them; this one ends, by LOST or UNTAKEN, or by
 * GARBLED for an answer that cannot be used. An id that is no open call of ours is no mistake. */
void mp_peer_sent(struct mp_peer *p, struct mp_str id);
void mp_peer_lose(struct mp_peer *p, struct mp_str id, enum mp_call_event how,
		  const struct mcpool_error *why);
bool mp_peer_is_open(struct mp_peer *p, struct mp_str id); /* a call of ours that waits */
/* The conversation is over: every open call ends before this returns, with why in its words. */
void mp_peer_lost(struct mp_peer *p, const struct mcpool_error *why);

#endif
