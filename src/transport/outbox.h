/*
 * outbox.h - messages that leave as POSTs of their own: how many, in which order, and which of them
 * need not leave at all.
 */
#ifndef MP_OUTBOX_H
#define MP_OUTBOX_H

#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "net/http_client.h"
#include "transport/http_post.h"

enum { MP_OUTBOX_POSTS = 1024 }; /* on their way or held */

/* From the loop, except request. Any of them may end the outbox. */
struct mp_outbox_hooks {
	/* Where it goes and what it carries; as of mp_http_post_hooks. */
	int (*request)(void *u, struct mp_http_post *p, struct mp_http_request *ret);
	void (*sent)(void *u, struct mp_str id); /* a request is out */
	/* What became of it: broken off (GOING), taken (READING) or refused (DENIED), whatever
	 * happened behind that; p->id tells whose. Freed afterwards. */
	void (*done)(void *u, struct mp_http_post *p, const struct mp_http_post_end *end);
};

struct mp_outbox {
	struct mp_loop *loop;
	struct mp_http_client *client; /* borrowed */
	const struct mp_outbox_hooks *hooks;
	void *u;
	struct mp_list going;       /* owned, as are the held ones */
	struct mp_list held;        /* behind `first`, which they must not overtake */
	struct mp_http_post *first; /* in going; NULL: everything may go */
	size_t unsent;              /* bytes of all that the kernel does not have */
};

void mp_outbox_init(struct mp_outbox *o, struct mp_loop *loop, struct mp_http_client *client,
		    const struct mp_outbox_hooks *hooks, void *u);
/* Everything is dropped, without a word; also from a hook. */
void mp_outbox_cut(struct mp_outbox *o);

/* As mp_transport_impl.send. */
int mp_outbox_send(struct mp_outbox *o, const struct mp_outgoing *m) MP_MUST;
/* This request was answered, so it is out, whatever we know. */
void mp_outbox_note_sent(struct mp_outbox *o, struct mp_str id);
/* It is out; call this before the request is told what became of it. */
void mp_outbox_tell_sent(struct mp_outbox *o, struct mp_http_post *p);

#endif
