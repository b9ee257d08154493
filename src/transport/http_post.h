/*
 * http_post.h - one POST of one message and its response, a document or an event stream. A broken
 * stream with an event id is resumed with GET. A standing stream is a post without a message. The
 * owner decides what an end means and whether the post goes on (streamable.c, outbox.c).
 */
#ifndef MP_HTTP_POST_H
#define MP_HTTP_POST_H

#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "net/http_client.h"
#include "net/http_fields.h"
#include "net/sse.h"
#include "net/refusal.h"

#define MP_HTTP_POST_STATES(X)                                                           \
	X(MP_HTTP_POST_READY, "ready", "nothing is under way")                           \
	X(MP_HTTP_POST_GOING, "going", "the request is on its way, no answer has begun") \
	X(MP_HTTP_POST_READING, "reading", "the answer is one document")                 \
	X(MP_HTTP_POST_HEARING, "hearing", "the answer is a stream of events")           \
	X(MP_HTTP_POST_DENIED, "denied", "the answer is no; what it says is being read") \
	X(MP_HTTP_POST_RESTING, "resting", "waits before it goes back for the rest")     \
	X(MP_HTTP_POST_OVER, "over", "the last state")

MP_MACHINE_ENUM(mp_http_post_state, MP_HTTP_POST_STATES, MP_HTTP_POST_STATE_COUNT);

struct mp_http_post;
struct mp_outgoing;

/* How an exchange of a post ended. */
struct mp_http_post_end {
	enum mp_http_post_state stage; /* GOING, READING, HEARING or DENIED: how far it had come */
	enum mp_http_end how;          /* MP_HTTP_OK: the answer is complete */
	const struct mp_http_head *head; /* DENIED: status and headers; valid during the call */
	struct mp_str body;              /* READING, DENIED: as far as it came */
	struct mcpool_error why;         /* unless how is MP_HTTP_OK */
};

/*
 * Called from the loop. Any of them may free the post or its owner. request and ended must be
 * there.
 */
struct mp_http_post_hooks {
	/* What the next exchange is: where it goes and what it carries. goes_back: a GET. */
	int (*request)(void *u, struct mp_http_post *t, bool goes_back,
		       struct mp_http_request *ret);
	void (*sent)(void *u, struct mp_http_post *t); /* it cannot be taken back any more */
	void (*head)(void *u, struct mp_http_post *t,
		     const struct mp_http_head *head); /* of a 2xx */
	void (*event)(void *u, struct mp_http_post *t, const struct mp_sse_event *event);
	/* The exchange is over: mp_http_post_go, back or free decides what comes. */
	void (*ended)(void *u, struct mp_http_post *t, const struct mp_http_post_end *end);
	/* The answer to the message comes elsewhere: a 2xx says all, and what follows it is read a
	 * little, for the sake of the connection, and dropped. Its stage is READING. */
	bool is_one_way;
};

struct mp_http_post {
	struct mp_link link; /* the owner's */
	struct mp_loop *loop;
	struct mp_http_client *client; /* borrowed */
	const struct mp_http_post_hooks *hooks;
	void *u;
	enum mp_http_post_state state;
	mp_id exchange;     /* 0: none */
	bool goes_back;     /* this exchange is a GET */
	bool was_sent;      /* this exchange; or a stream of it was heard before */
	bool was_heard;     /* a stream of it was */
	struct mp_buf body; /* of the request; as long as it may be needed */
	/* Of the request, too; its owner makes them once, and they serve each time it goes. */
	struct mp_http_fields headers;
	struct mp_buf answer; /* a document */
	int status;           /* of the answer; 0: none has begun */
	struct mp_refusal refusal;
	size_t unread; /* bytes that were dropped; see is_one_way */
	struct mp_sse sse;
	bool has_sse;
	struct mp_timer timer;
	unsigned tries;           /* exchanges that brought nothing since one did */
	int64_t heard_at_ms;      /* when the present stream began */
	struct mcpool_error *why; /* of a start that failed; owned */
	struct mp_task failed;    /* tells it */
	struct mp_grave grave;
	/* The owner's. */
	char *id;   /* of the request, as written; NULL: not a request; freed with it */
	int method; /* enum mp_method_id */
	int hops;   /* redirects that were followed */
	bool is_modern;
	bool is_answered;
	/* Of outbox.c, too. */
	struct mp_list *list; /* which it is in */
	size_t size;          /* of the body */
	bool is_counted;      /* among the bytes that are not sent */
	bool is_told;         /* that it was sent */
	bool goes_first;      /* what follows waits until it has arrived */
};

/* message: copied; NULL: the post has none and only goes back. */
int mp_http_post_new(struct mp_loop *loop, struct mp_http_client *client,
		     const struct mp_outgoing *message, const struct mp_http_post_hooks *hooks,
		     void *u, struct mp_http_post **ret_post) MP_MUST;
/* At any time, also from its hooks; an exchange under way is cut. */
struct mp_http_post *mp_http_post_free(struct mp_http_post *t);

/* Begin; or, from ended(), the same request again. */
void mp_http_post_go(struct mp_http_post *t);
/* Begin, where the caller is told at once that it cannot: then ended() stays silent, and free is
 * all that is left. It cannot go a second time. */
int mp_http_post_try(struct mp_http_post *t, struct mcpool_error *reterr) MP_MUST;
/* From ended(), or instead of going: after a while go back for what is left of the stream. */
void mp_http_post_back(struct mp_http_post *t, int64_t delay_ms);
/* What was asked for is there, or it is not wanted any more: wait a little for the end of it, so
 * that the connection can be used again, then cut it; ended() is told MP_HTTP_OK. */
void mp_http_post_linger(struct mp_http_post *t);
/* What to go on from; empty: there is nothing. And how long the server wants us to wait; -1. */
struct mp_str mp_http_post_get_last_id(const struct mp_http_post *t);
int64_t mp_http_post_get_retry_ms(const struct mp_http_post *t);

#endif
