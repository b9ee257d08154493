/*
 * call.h - one request of ours on a wire, from its sending to its one ending.
 * The caller owns the memory and embeds the call in its own object. A call is at rest before its
 * hook runs, so the hook may start it again or free it; nothing touches it afterwards. Each sending
 * has an id of its own on the wire: the first one, one with the requested input, a retry.
 */
#ifndef MP_CALL_H
#define MP_CALL_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "rpc/message.h"

#define MP_CALL_STATES(X)                                                                  \
	X(MP_CALL_REST, "at rest", "not sent, or it has ended and the hook was called")    \
	X(MP_CALL_QUEUED, "queued", "no byte of it is with the peer")                      \
	X(MP_CALL_WRITTEN, "written", "the peer has at least its first byte")              \
	X(MP_CALL_ASKED, "asked", "the answer was requests to us, which are being served") \
	X(MP_CALL_RETRYING, "retrying", "refused; sent again once the cause is removed")   \
	X(MP_CALL_ENDING, "ending", "it is over; the hook runs when the turn ends")

#define MP_CALL_EVENTS(X)                                                                   \
	X(MP_CALL_ON_SEND, "send", "the message was handed to the transport")               \
	X(MP_CALL_ON_SENT, "sent", "its first byte is out")                                 \
	X(MP_CALL_ON_ANSWER, "answer", "an answer arrived")                                 \
	X(MP_CALL_ON_COMPLETE, "complete", "the answer is the last one")                    \
	X(MP_CALL_ON_ASK, "ask", "the answer needs input: requests, or a state to return")  \
	X(MP_CALL_ON_RESUME, "resume", "all requests are answered")                         \
	X(MP_CALL_ON_SPOILED, "spoiled", "the answer is an error that may be put right")    \
	X(MP_CALL_ON_RETRY, "retry", "the cause is removed; send it again")                 \
	X(MP_CALL_ON_GARBLED, "garbled", "an answer arrived that cannot be used")           \
	X(MP_CALL_ON_PROGRESS, "progress", "a progress notification arrived")               \
	X(MP_CALL_ON_TIMEOUT, "timeout", "its time is up")                                  \
	X(MP_CALL_ON_CANCEL, "cancel", "the answer is no longer wanted")                    \
	X(MP_CALL_ON_LOST, "lost", "no answer will come: the conversation or stream ended") \
	X(MP_CALL_ON_UNTAKEN, "untaken", "the peer says that it did not take it")           \
	X(MP_CALL_ON_FAIL, "fail", "it cannot go on; the reason is noted")                  \
	X(MP_CALL_ON_TELL, "tell", "the turn has ended")

enum mp_call_state {
#define X(name, word, meaning) name,
	MP_CALL_STATES(X)
#undef X
		MP_CALL_STATE_COUNT
};

enum mp_call_event {
#define X(name, word, meaning) name,
	MP_CALL_EVENTS(X)
#undef X
		MP_CALL_EVENT_COUNT
};

/* How a call of ours ended; see doc/protocol.md, "Errors". */
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
struct mp_peer;

struct mp_answer {
	enum mp_outcome outcome;
	const struct mp_message *message; /* ANSWERED: result or error, valid during the hook */
	const struct mcpool_error *error; /* otherwise: why; valid during the hook */
};

struct mp_call_hooks {
	/* The one ending. The call is at rest. */
	void (*answered)(struct mp_call *c, const struct mp_answer *answer);
	/* A notifications/progress; its params are on the message. NULL: it is not asked for. */
	void (*progress)(struct mp_call *c, const struct mp_message *m);
	/* The time set with mp_call_set_due() is up. NULL: the call times out. */
	void (*due)(struct mp_call *c);
};

/* What to call and how. The texts are borrowed until the call is at rest. */
struct mp_call_options {
	enum mp_method_id method;
	struct mp_str params;       /* an object without _meta, or empty */
	struct mp_str name;         /* what it is about, as params has it, as text; or empty */
	struct mp_str meta;         /* by era_modern.c: what _meta says; empty: see peer.h */
	struct mp_str foreign;      /* an object: what else it says (trace keys); or empty */
	struct mp_str capabilities; /* an object: what the client can be asked; empty: our own */
	const char *log_level;      /* what a modern server may log; static; NULL: our own */
	bool keeps_input_required;  /* "input required" is handed on as the result that it is */
	bool takes_tasks;           /* a tool's result may be a task */
	int64_t timeout_ms;         /* without a word from the peer; 0: none */
	int64_t max_total_ms;       /* progress does not extend beyond; 0: no extension */
};

struct mp_call {
	enum mp_call_state state;
	const struct mp_call_hooks *hooks;
	void (*expire)(struct mp_call *c); /* limit_ms is reached; set by the peer */
	struct mp_timer timer;             /* for the earlier of the next two */
	int64_t due_ms;                    /* of the caller, on the loop's clock; INT64_MAX: none */
	int64_t limit_ms;                  /* of the options or of the input; INT64_MAX: none */

	/* From here on only while it is not at rest. */
	struct mp_link link; /* in the peer's list of this state */
	struct mp_peer *peer;
	mp_id id; /* of the last sending */
	struct mp_call_options o;
	int64_t since_ms;  /* when it was sent */
	int64_t last_ms;   /* progress extends limit_ms up to this moment */
	uint64_t at;       /* place of its first byte in all that was sent */
	double progressed; /* the last progress; it only grows */
	bool has_progressed, is_paused, was_retried;
	unsigned n_inputs;
	struct mp_call_input *input; /* owned; NULL: the server has not asked */
	struct mp_task task;         /* RESUME or TELL at the end of the turn */
	enum mp_outcome outcome;
	const struct mp_message *message; /* the answer on hand; borrowed */
	struct mcpool_error *why;         /* of an ending without an answer; owned */
};

void mp_call_init(struct mp_call *c, struct mp_loop *loop, const struct mp_call_hooks *hooks);
/* It must be at rest, with no timer running. */
void mp_call_done(struct mp_call *c);

bool mp_call_is_at_rest(const struct mp_call *c);
/* The caller's own limit; at rest, too. INT64_MAX: none. */
void mp_call_set_due(struct mp_call *c, int64_t due_ms);
/* While it is paused, only max_total_ms of the options counts. */
void mp_call_pause(struct mp_call *c, bool paused);

/* For the files of the conversation. How and why it ends, before the event that ends it. */
void mp_call_fail(struct mp_call *c, enum mp_outcome outcome, int code, const char *format, ...)
	MP_PRINTF(4, 5);
/* What its loss means: NOT_SENT, or UNKNOWN once the server has asked for input. */
enum mp_outcome mp_call_get_loss(const struct mp_call *c);
/* The time of a sending begins. */
void mp_call_start_limit(struct mp_call *c);
/* A sign of life: the time begins again, up to max_total_ms. */
void mp_call_extend_limit(struct mp_call *c);
/* Its own limit from now on: so long, or INT64_MAX for none. */
void mp_call_set_limit(struct mp_call *c, int64_t ms);
/* Which of its limits it has run into. */
double mp_call_get_limit_s(const struct mp_call *c);

#endif
