/*
 * post.h - one message on its way as a POST of its own, where the answer comes elsewhere.
 * It is taken, denied or broken off, and says so once. What that means for a request is its owner's
 * to know (sse_legacy.c).
 */
#ifndef MP_POST_H
#define MP_POST_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "net/http_client.h"
#include "transport/destination.h"
#include "transport/refusal.h"

#define MP_POST_STATES(X)                                                    \
	X(MP_POST_HELD, "held", "not on its way yet")                        \
	X(MP_POST_GOING, "going", "on its way, no answer has begun")         \
	X(MP_POST_TAKEN, "taken", "the answer is yes; the rest is not read") \
	X(MP_POST_DENIED, "denied", "the answer is no; what it says is")     \
	X(MP_POST_OVER, "over", "the last state")

MP_MACHINE_ENUM(mp_post_state, MP_POST_STATES);

struct mp_post;

enum mp_post_end {
	MP_POST_WAS_TAKEN,
	MP_POST_WAS_DENIED, /* see refusal */
	MP_POST_WAS_BROKEN, /* see how and why */
};

/* From the loop. Either may free the post. */
struct mp_post_hooks {
	void (*sent)(void *u, struct mp_post *p); /* the kernel has all of it */
	void (*done)(void *u, struct mp_post *p, enum mp_post_end end); /* once */
};

struct mp_post {
	struct mp_loop *loop;
	struct mp_http_client *client; /* borrowed */
	const struct mp_post_hooks *hooks;
	void *u;
	enum mp_post_state state;
	mp_id exchange;     /* 0: none */
	struct mp_buf text; /* until it is on its way */
	size_t size;        /* of the text */
	char *id;           /* of the request, as written, owned; NULL: it is none */
	bool was_sent;
	size_t unread; /* bytes of a yes that were thrown away */
	struct mp_refusal refusal;
	enum mp_http_end how;
	struct mcpool_error why;
	struct mp_grave grave;
	/* The owner's (outbox.c). */
	struct mp_link link;
	struct mp_list *list; /* which it is in */
	bool is_counted;      /* among the bytes that are not sent */
	bool is_told;         /* that it was sent */
	bool goes_first;      /* what follows waits until it has arrived */
};

/* Copies both; id empty: no request. MCPOOL_ENOMEM. */
int mp_post_new(struct mp_loop *loop, struct mp_http_client *client, struct mp_str text,
		struct mp_str id, const struct mp_post_hooks *hooks, void *u,
		struct mp_post **ret_post) MP_MUST;
/* At any time, also from its hooks; cut off if it is on its way. */
struct mp_post *mp_post_free(struct mp_post *p);

/*
 * To that address, with what the destination carries; the address came from a server in that zone.
 * On failure the hooks stay silent, and free is all that is left.
 */
int mp_post_go(struct mp_post *p, const struct mp_destination *d, const char *url,
	       enum mp_zone from, struct mcpool_error *reterr) MP_MUST;

#endif
