/*
 * call.h - one request in flight, in either direction, and its exactly one ending.
 * The call knows its state, its deadline and who waits for it. Whoever owns it (peer.c) keeps the
 * lists, writes the messages and counts.
 */
#ifndef MP_CALL_H
#define MP_CALL_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "rpc/message.h"

#define MP_CALL_STATES(X)                                                                     \
	X(MP_CALL_QUEUED, "queued", "ours; no byte of it is with the peer")                   \
	X(MP_CALL_WRITTEN, "written", "ours; the peer has at least its first byte")           \
	X(MP_CALL_SERVING, "serving", "the peer's; somebody on our side works on the answer") \
	X(MP_CALL_ENDED, "ended", "answered, given up or withdrawn; the last state")

#define MP_CALL_EVENTS(X)                                                         \
	X(MP_CALL_ON_SENT, "sent", "its first byte went out")                     \
	X(MP_CALL_ON_ANSWER, "answer",                                            \
	  "the answer is there: the peer's to ours, or ours to theirs")           \
	X(MP_CALL_ON_GARBLED, "garbled", "its answer came and cannot be read")    \
	X(MP_CALL_ON_PROGRESS, "progress", "word that it goes on")                \
	X(MP_CALL_ON_DEADLINE, "deadline", "the time is up")                      \
	X(MP_CALL_ON_CANCEL, "cancel", "whoever asked no longer wants to know")   \
	X(MP_CALL_ON_LOST, "lost",                                                \
	  "no answer will come: the conversation is over, or its way back broke") \
	X(MP_CALL_ON_UNTAKEN, "untaken", "the peer says that it did not take it")

MP_MACHINE_ENUM(mp_call_state, MP_CALL_STATES, MP_CALL_STATE_COUNT);
MP_MACHINE_ENUM(mp_call_event, MP_CALL_EVENTS, MP_CALL_EVENT_COUNT);

/* How a call of ours ended; see "Errors" in CONTRACTS. */
enum mp_outcome {
	MP_OUTCOME_ANSWERED, /* by a result or an error of the peer */
	MP_OUTCOME_NOT_SENT, /* nothing of it was written: it did not happen */
	MP_OUTCOME_UNKNOWN,  /* written, then the peer was lost: it may have happened */
	MP_OUTCOME_REFUSED,  /* the answer cannot be used */
	MP_OUTCOME_TIMEOUT,
	MP_OUTCOME_CANCELLED,
};
const char *mp_outcome_get_name(enum mp_outcome o); /* "not_sent" */

struct mp_call;

struct mp_answer {
	enum mp_outcome outcome;
	const struct mp_message *message; /* ANSWERED: result or error, valid during the callback */
	const struct mcpool_error *error; /* otherwise: why */
};
typedef void (*mp_answer_fn)(const struct mp_answer *answer, void *u);
/* A notifications/progress for this call; its params are on the message. */
typedef void (*mp_progress_fn)(const struct mp_message *m, void *u);

struct mp_call_owner {
	void (*moved)(struct mp_call *c, enum mp_call_state from);
	/* Tell the peer that the answer is no longer wanted. */
	void (*tell_cancelled)(struct mp_call *c, const char *reason);
	/* A call of ours ended: the one answer to whoever asked. */
	void (*deliver)(struct mp_call *c, enum mp_outcome outcome);
	void (*progress)(struct mp_call *c);
	/* A call of theirs: write our answer, or tell our side to stop. */
	void (*reply)(struct mp_call *c);
	void (*withdraw)(struct mp_call *c);
	/* An event that came too early or too late; it changed nothing. */
	void (*stray)(struct mp_call *c);
};

struct mp_call {
	struct mp_link link; /* in the owner's list of its state */
	enum mp_call_state state;
	const struct mp_call_owner *owner;
	void *owner_u;
	mp_id id; /* given out once; also what the peer sees of ours */
	enum mp_method_id method;
	struct mp_timer timer;
	int64_t patience_ms; /* progress buys this much more time */
	int64_t since_ms;    /* when its time began to count */
	int64_t last_ms;     /* but never beyond this moment */
	uint64_t at;         /* ours: place of its first byte in all that was sent */
	bool is_paused;      /* its patience does not run */
	double progressed;   /* ours: the last progress told; it only grows */
	bool has_progressed;
	mp_answer_fn fn;
	mp_progress_fn on_progress; /* may be NULL */
	void *u;
	char *their_id;           /* theirs: as they wrote it; owned */
	struct mp_task task;      /* delivers what must not be told at once */
	struct mcpool_error *why; /* of an ending without an answer; owned */
};

/* Ours, not yet sent: QUEUED. Theirs, just read: SERVING. Both without a deadline. */
void mp_call_init(struct mp_call *c, struct mp_loop *loop, enum mp_call_state state,
		  const struct mp_call_owner *owner, void *owner_u);
void mp_call_done(struct mp_call *c); /* but for `why`, which may just be told */
/* End it when nothing was heard for this long, and at the latest after max_total_ms. */
void mp_call_set_deadline(struct mp_call *c, int64_t patience_ms, int64_t max_total_ms);
/* A person thinks: only the latest moment counts, until that is over and patience begins anew. */
void mp_call_pause(struct mp_call *c, bool paused);
/* The only way its state changes. */
void mp_call_advance(struct mp_call *c, enum mp_call_event ev);

#endif
