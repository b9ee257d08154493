/*
 * rounds.h - one request and the rounds of questions it takes (2026-07-28).
 * A modern server may answer "input required": the questions are put to an answerer, and the same
 * request goes out again with the answers, until the result is complete. In the legacy era
 * questions come as requests of their own; see mp_peer_hooks.request.
 */
#ifndef MP_ROUNDS_H
#define MP_ROUNDS_H

#include "rpc/era.h"
#include "rpc/peer.h"

/* A question of the server: elicitation/create, sampling/createMessage or roots/list. */
struct mp_question {
	mp_id call;   /* the call it is one of; of a legacy server: the question itself */
	size_t place; /* among the questions of this round */
	/* The call of ours that it belongs to: the same, or the one on whose stream it came; 0. */
	mp_id origin;
	enum mp_method_id method;
	struct mp_str
		params; /* an object as the server wrote it; valid during the call; or empty */
};

/* What the server is told where nothing here can answer it. Static. */
struct mp_str mp_question_get_refusal(enum mp_method_id method);

/* Whoever can answer: a person at a terminal, an agent, a test. */
struct mp_answerer {
	/* Answer with mp_rounds_answer(), at once or later. */
	void (*ask)(void *u, const struct mp_question *q);
	/* The call is over: nobody waits for the answers to its questions any more. */
	void (*withdraw)(void *u, mp_id call);
	void *u;
};

enum { MP_ROUNDS_MAX = 16, MP_ROUNDS_QUESTIONS = 64 };

/* All calls of one conversation that may take rounds. */
struct mp_rounds {
	struct mp_peer *peer;               /* borrowed */
	const struct mp_answerer *answerer; /* borrowed; NULL: questions end the call */
	/*
	 * An error that may be mended: true where that has begun, and mp_rounds_mended() follows;
	 * asked once for each call. May be NULL.
	 */
	bool (*mend)(void *u, enum mp_method_id method, const struct mp_message *error);
	void *mend_u;
	struct mp_ids calls; /* owned */
	struct mp_list open;
	bool losing; /* mp_rounds_lost() is at work */
};

void mp_rounds_init(struct mp_rounds *rs, struct mp_peer *peer, const struct mp_answerer *answerer);
/* Open calls are forgotten without a word; lose peer and rounds first. */
void mp_rounds_done(struct mp_rounds *rs);

/*
 * As mp_peer_call(); fn gets the complete result of the last round. What rq points to is copied,
 * rq->forward is not for this. keeps_rounds: whoever calls asks the questions and sends the answers
 * as a call of its own; fn gets "input required" as the result that it is. takes_tasks: whoever
 * calls declared the extension, so a tool's result may be a task.
 */
int mp_rounds_call(struct mp_rounds *rs, const struct mp_request *rq, mp_answer_fn fn, void *u,
		   mp_id *ret_call) MP_MUST;
/* The conversation is over: calls whose questions are open end. For the others see the peer. */
void mp_rounds_lost(struct mp_rounds *rs, const struct mcpool_error *why);
/* What waited for that goes out again, with new ids. */
void mp_rounds_mended(struct mp_rounds *rs);
void mp_rounds_cancel(struct mp_rounds *rs, mp_id call);
/* result: an object; empty: declined, which ends the call. Too late or twice: nothing happens. */
void mp_rounds_answer(struct mp_rounds *rs, mp_id call, size_t place, struct mp_str result);
/* Declined in these words. */
void mp_rounds_decline(struct mp_rounds *rs, mp_id call, size_t place, struct mp_str words);
/* The call that is with the peer as this one; 0: none. */
mp_id mp_rounds_find(const struct mp_rounds *rs, mp_id of_peer);

#endif
