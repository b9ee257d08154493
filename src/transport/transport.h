/*
 * transport.h - messages in, messages out: one interface, several implementations.
 * A transport carries texts of whole messages. Its user sets hooks and u before start.
 */
#ifndef MP_TRANSPORT_H
#define MP_TRANSPORT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_transport;
struct mp_outgoing;
struct mp_http_fields;

/* What became of one request where the conversation as a whole goes on. */
enum mp_unanswered {
	MP_UNANSWERED_NOT_TAKEN, /* the server did not take it: it did not happen */
	MP_UNANSWERED_UNKNOWN,   /* it may have happened: the way back broke */
	MP_UNANSWERED_UNUSABLE,  /* it was answered, with nothing that can be used */
};

/* What is peculiar about a transport; set before opened(). */
enum {
	/*
	 * Each request is answered or lost by itself, so silence says nothing about eras; and what
	 * a server says about it comes on a stream of its own (see during).
	 */
	MP_TRANSPORT_PER_REQUEST = 1 << 0,
	/* Only servers of the legacy era are reached this way. */
	MP_TRANSPORT_LEGACY = 1 << 1,
};

/*
 * What a transport tells. All are called from the loop, never from within start or send (but see
 * param_headers), and any of them may be NULL. The order is: opened, then messages, then ended,
 * then closed. A transport that never opens goes straight to ended. After close() only exited
 * and closed come.
 */
struct mp_transport_hooks {
	void (*opened)(void *u); /* messages may flow */
	/* One message; the text is valid during the call. */
	void (*message)(void *u, struct mp_str text);
	/* A message that was too large to keep: its first and its last bytes. */
	void (*oversize)(void *u, struct mp_str head, struct mp_str tail);
	/* The peer has been given this many bytes in all; see ret_at of send. */
	void (*written)(void *u, uint64_t total);
	/*
	 * Where requests go their own ways instead (ids as they were written): this one can no
	 * longer be taken back; this one will not be answered.
	 */
	void (*sent)(void *u, struct mp_str id);
	void (*lost)(void *u, struct mp_str id, enum mp_unanswered how,
		     const struct mcpool_error *why);
	bool (*is_open)(void *u, struct mp_str id); /* is a call waiting for its answer? */
	/* Something broke that may mean that the server is gone; a few words, static. */
	void (*doubt)(void *u, const char *why);
	/*
	 * HTTP: add what this request has in headers beside the usual ones (x-mcp-header). The only
	 * hook that is called within send: it tells nothing.
	 */
	int (*param_headers)(void *u, const struct mp_outgoing *o, struct mp_http_fields *fields);
	/*
	 * The server's process ended: "exited with code 0", "was killed by SIGKILL". Also while
	 * closing, before closed(); the receiver frees nothing.
	 */
	void (*exited)(void *u, int pid, const char *how);
	/* No more messages will come, and none can be sent. */
	void (*ended)(void *u, const struct mcpool_error *why);
	/* The last word: everything is shut down; mp_transport_free() may follow. */
	void (*closed)(void *u);
};

struct mp_transport_impl {
	const char *name; /* "stdio", "http" */
	int (*start)(struct mp_transport *t, struct mcpool_error *reterr) MP_MUST;
	/*
	 * Take one message (rpc/outgoing.h): it is copied and goes out at the end of this turn at
	 * the latest. *ret_at is the place of its first byte in all that is sent, to be compared
	 * with what written() tells. MCPOOL_ECLOSED, MCPOOL_ELIMIT (the peer does not read),
	 * MCPOOL_ENOMEM.
	 */
	int (*send)(struct mp_transport *t, const struct mp_outgoing *o, uint64_t *ret_at) MP_MUST;
	/* Begin to close, in order; closed() follows. Calling it again does nothing. */
	void (*close)(struct mp_transport *t);
	/* Free it, shutting down at once what is still open. */
	void (*destroy)(struct mp_transport *t);
	/* The last lines the server wrote beside the protocol, redacted; NULL: there are none. */
	int (*get_tail)(struct mp_transport *t, size_t lines, struct mp_buf *out);
	/* What the server wants to see before it lets us in (WWW-Authenticate); NULL: cannot be. */
	struct mp_str (*get_challenge)(const struct mp_transport *t);
	/* Of the server's process, 0 before it runs; NULL: there is none. */
	int (*get_pid)(const struct mp_transport *t);
};

/* The beginning of every implementation's struct. */
struct mp_transport {
	const struct mp_transport_impl *impl;
	const struct mp_transport_hooks *hooks; /* borrowed; static in practice */
	void *u;                                /* for the hooks */
	unsigned traits;                        /* MP_TRANSPORT_* */
	/* While message() runs: the id of the request on whose stream it came; empty: of none. */
	struct mp_str during;
};

static inline struct mp_transport *mp_transport_free(struct mp_transport *t)
{
	if (t)
		t->impl->destroy(t);
	return NULL;
}

#endif
