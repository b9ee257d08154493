/*
 * transport.h - messages in, messages out: one interface, several implementations.
 * A transport carries text of whole messages and knows nothing of what they say. Whoever uses one
 * sets hooks and u before start.
 */
#ifndef MP_TRANSPORT_H
#define MP_TRANSPORT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_transport;

/*
 * What a transport tells. All are called from the loop, never from within start or send, and any
 * of them may be NULL. The order is: opened, then messages, then ended, then closed. A transport
 * that never opens goes straight to ended. After close() only closed comes.
 */
struct mp_transport_hooks {
	void (*opened)(void *u); /* messages may flow */
	/* One message; the text is valid during the call. */
	void (*message)(void *u, struct mp_str text);
	/* A message that was too large to keep: its first and its last bytes. */
	void (*oversize)(void *u, struct mp_str head, struct mp_str tail);
	/* The peer has been given this many bytes in all; see ret_at of send. */
	void (*written)(void *u, uint64_t total);
	/* No more messages will come, and none can be sent. */
	void (*ended)(void *u, const struct mcpool_error *why);
	/* The last word: everything is shut down; mp_transport_free() may follow. */
	void (*closed)(void *u);
};

struct mp_transport_impl {
	const char *name; /* "stdio", "memory" */
	int (*start)(struct mp_transport *t, struct mcpool_error *reterr) MP_MUST;
	/*
	 * Take one message: it is copied and goes out at the end of this turn at the latest.
	 * *ret_at is the place of its first byte in all that is sent, to be compared with what
	 * written() tells. MCPOOL_ECLOSED, MCPOOL_ELIMIT (the peer does not read), MCPOOL_ENOMEM.
	 */
	int (*send)(struct mp_transport *t, struct mp_str text, uint64_t *ret_at) MP_MUST;
	/* Begin to close, in order; closed() follows. Calling it again does nothing. */
	void (*close)(struct mp_transport *t);
	/* Free it, shutting down at once what is still open. */
	void (*destroy)(struct mp_transport *t);
	/* The last lines the server wrote beside the protocol, redacted; NULL: there are none. */
	int (*get_tail)(struct mp_transport *t, size_t lines, struct mp_buf *out);
	/* Of the server's process, 0 before it runs; NULL: there is none. */
	int (*get_pid)(const struct mp_transport *t);
};

/* The beginning of every implementation's struct. */
struct mp_transport {
	const struct mp_transport_impl *impl;
	const struct mp_transport_hooks *hooks; /* borrowed; static in practice */
	void *u;                                /* for the hooks */
};

static inline struct mp_transport *mp_transport_free(struct mp_transport *t)
{
	if (t)
		t->impl->destroy(t);
	return NULL;
}

#endif
