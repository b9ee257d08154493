/*
 * peer.h - one conversation: ids, deadlines, cancellation, progress, requests of the server.
 * Works over any transport through its hooks. Every call ends exactly once; every request of the
 * peer is answered at most once; what cannot be attributed is dropped and counted.
 */
#ifndef MP_PEER_H
#define MP_PEER_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "json/tape.h"
#include "rpc/call.h"
#include "rpc/message.h"
#include "rpc/server_request.h"

struct mp_outgoing;

struct mp_peer_hooks {
	/* Hand one message to the transport; as mp_transport_impl.send. */
	int (*send)(void *u, const struct mp_outgoing *o, uint64_t *ret_at);
	/* What _meta of a modern call says on this hop, valid until the next one; may be NULL. */
	int (*write_meta)(void *u, const struct mp_call_options *o, struct mp_str *ret_meta);
	/*
	 * A request of the server: answer with mp_peer_reply() or mp_peer_refuse(), now or later.
	 * Only called where `serves` is set.
	 */
	void (*request)(void *u, const struct mp_server_request *rq);
	/* The answer to that request is no longer wanted, or can no longer be sent. */
	void (*withdrawn)(void *u, mp_id request);
	void (*notification)(void *u, const struct mp_message *m);
	/*
	 * An error that can be put right: true where that has begun, and mp_peer_retry() follows;
	 * asked once for each call, modern only. May be NULL.
	 */
	bool (*may_retry)(void *u, struct mp_call *c, const struct mp_message *error);
};

struct mp_peer_counts {
	uint64_t noise;        /* lines that are not JSON-RPC at all (P29) */
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
	bool is_modern; /* it sends no requests; results may be "input required" */
	bool serves;    /* our side can answer requests of the server */
	struct mp_tape tape, batch_tape;
	struct mp_ids calls;                          /* by the id on the wire; borrowed */
	struct mp_list in_state[MP_CALL_STATE_COUNT]; /* the same by state, without those at rest */
	struct mp_ids server_requests;                /* slots, legacy and modern */
	struct mp_list serving;                       /* the legacy ones, owned */
	struct mp_map theirs;                         /* the same by the id they chose */
	const struct mp_message *arriving;            /* the message on hand */
	bool lost;
	struct mp_peer_counts counts;
};

void mp_peer_init(struct mp_peer *p, struct mp_loop *loop, const struct mp_peer_hooks *hooks,
		  void *u);
/* Open calls come to rest without a word: use mp_peer_lost() first. Not from one of its hooks. */
void mp_peer_done(struct mp_peer *p);

/*
 * Start a call that is at rest. A negative return means that its hook stays silent; else it runs
 * once, from the loop. The result of a modern call is complete: the server's requests were answered
 * on the way, unless keeps_input_required. MCPOOL_ECLOSED, MCPOOL_ETOO_LARGE, MCPOOL_ELIMIT (the
 * peer does not read), MCPOOL_ENOMEM.
 */
int mp_peer_call(struct mp_peer *p, struct mp_call *c, const struct mp_call_options *o) MP_MUST;
/* The same where the answer does not matter; the peer owns the call. */
int mp_peer_call_and_forget(struct mp_peer *p, const struct mp_call_options *o) MP_MUST;
/* The answer is no longer wanted: the peer is told, the hook hears CANCELLED when the turn ends. */
void mp_peer_cancel(struct mp_call *c);
int mp_peer_notify(struct mp_peer *p, enum mp_method_id method, struct mp_str params) MP_MUST;
/* What waited for that is sent again, with new ids. */
void mp_peer_retry(struct mp_peer *p);

/* Answer a request of the server; nothing happens if the answer is no longer wanted. result: an
 * object; empty: declined. Declining ends the call that a modern request belongs to. */
void mp_peer_reply(struct mp_peer *p, mp_id request, struct mp_str result);
/* code: what a legacy server is told; a modern call ends with these words. */
void mp_peer_refuse(struct mp_peer *p, mp_id request, int code, struct mp_str words);

/* From the transport. */
void mp_peer_receive(struct mp_peer *p, struct mp_str text);
void mp_peer_receive_oversize(struct mp_peer *p, struct mp_str head, struct mp_str tail);
void mp_peer_written(struct mp_peer *p, uint64_t total);
/*
 * Where each request has its own exchange: this one is with the server; this one ends, by LOST,
 * UNTAKEN or, for an answer that cannot be used, GARBLED. An id of no open call is not a mistake.
 */
void mp_peer_sent(struct mp_peer *p, struct mp_str id);
void mp_peer_lose(struct mp_peer *p, struct mp_str id, enum mp_call_event how,
		  const struct mcpool_error *why);
/* The call on the wire with this id; NULL: there is none, or not any more. */
struct mp_call *mp_peer_find(const struct mp_peer *p, struct mp_str id);
/* The conversation is over: every open call ends before this returns, with why in its words. */
void mp_peer_lost(struct mp_peer *p, const struct mcpool_error *why);

/* --- for the files of the conversation alone: peer*.c and call_input.c
 * ---------------------------- */

/* peer_call.c: the only way the state of a call changes. */
void mp_call_advance(struct mp_call *c, enum mp_call_event ev);
/* Forget it without calling its hook. */
void mp_call_drop(struct mp_call *c);
/* RESUME when the turn ends: the last reply may come from within a hook. */
void mp_call_resume_later(struct mp_call *c);

/* Write and send a call: an id of its own, and its time begins. */
int mp_peer_send(struct mp_call *c, struct mp_str params) MP_MUST;
void mp_peer_tell_cancelled(struct mp_call *c, const char *reason);
/* MCPOOL_ETOO_LARGE, MCPOOL_ECLOSED, or what the transport says. */
int mp_peer_send_out(struct mp_peer *p, const struct mp_outgoing *o, uint64_t *ret_at) MP_MUST;

/* peer_serve.c */
void mp_peer_take_request(struct mp_peer *p, const struct mp_message *m);
/* They no longer want the answer to a request. */
void mp_peer_withdraw(struct mp_peer *p, struct mp_server_slot *slot);
void mp_peer_free_slot(struct mp_peer *p, struct mp_server_slot *slot); /* legacy */
void mp_peer_refuse_id(struct mp_peer *p, struct mp_str id, int code, struct mp_str words);

#endif
