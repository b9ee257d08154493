/*
 * fake_transport.h - the transport below a peer, played by the test: what was sent is read off one
 * by one, what the other side says is fed in, and bytes go out when the test says so.
 */
#ifndef FAKE_TRANSPORT_H
#define FAKE_TRANSPORT_H

#include "test.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/loop.h"
#include "rpc/outgoing.h"
#include "rpc/peer.h"

struct fake_transport {
	struct mp_loop *loop;
	struct mp_peer peer;
	bool has_peer;
	struct mp_buf sent; /* one message per line */
	size_t looked;      /* how far the test has read */
	uint64_t total;     /* bytes taken in all */
	int refusal;        /* what send answers instead of taking it */
};

/* For mp_peer_hooks.send; u is the wire, or begins with one. */
static inline int fake_transport_send(void *u, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct fake_transport *w = u;
	size_t before = w->sent.len;
	int r;

	if (w->refusal)
		return w->refusal;
	r = mp_buf_add_pieces(&w->sent, o->pieces, o->n_pieces);
	if (r == 0)
		r = mp_buf_add_char(&w->sent, '\n');
	if (r < 0) {
		w->sent.len = before;
		return r;
	}
	if (ret_at)
		*ret_at = w->total;
	w->total += o->len + 1;
	return 0;
}

static inline bool fake_transport_start(struct fake_transport *w, const struct mp_peer_hooks *hooks,
					void *u)
{
	mp_buf_init(&w->sent, MP_LIMIT_MESSAGE);
	if (mp_loop_new_by_hand(1000000, &w->loop) < 0)
		return false;
	mp_peer_init(&w->peer, w->loop, hooks, u);
	w->has_peer = true;
	return true;
}

static inline void fake_transport_done(struct fake_transport *w)
{
	if (w->has_peer)
		mp_peer_done(&w->peer);
	mp_buf_done(&w->sent);
	w->loop = mp_loop_free(w->loop);
}

/* The next message that was sent; empty where there is none. Valid until more is sent. */
static inline struct mp_str fake_transport_next(struct fake_transport *w)
{
	struct mp_str all = mp_buf_get(&w->sent);
	ptrdiff_t end = mp_str_find(all, MP_STR("\n"), w->looked);
	struct mp_str message = {NULL, 0};

	if (end < 0)
		return message;
	message = (struct mp_str){all.p + w->looked, (size_t)end - w->looked};
	w->looked = (size_t)end + 1;
	return message;
}

/* All that was taken is with the other side now. */
static inline void fake_transport_flush(struct fake_transport *w)
{
	mp_peer_written(&w->peer, w->total);
}

static inline void fake_transport_say(struct fake_transport *w, const char *text)
{
	mp_peer_receive(&w->peer, mp_str_of(text));
}

static inline void MP_PRINTF(2, 3)
	fake_transport_sayf(struct fake_transport *w, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fake_transport_say(w, text);
}

static inline void fake_transport_lose(struct fake_transport *w)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ECLOSED, "the server is gone");
	mp_peer_lost(&w->peer, &why);
}

/* A caller that waits for an answer, and what it got. */
struct fake_caller {
	struct mp_call part;
	mp_id call;       /* its id on the wire */
	unsigned answers; /* a second one would be a bug */
	enum mp_outcome outcome;
	int code;       /* of an ending without an answer */
	char text[512]; /* its words; else what the peer said, as written */
	unsigned progressed;
	char progress[512]; /* the params of the last progress */
	void (*then)(struct fake_caller *c);
	void (*on_progress)(struct fake_caller *c);
	void *u; /* for these two */
};

static inline void fake_copy(char *out, size_t size, struct mp_str s)
{
	snprintf(out, size, "%.*s", MP_STR_ARGS(s));
}

static inline void fake_answered(struct mp_call *part, const struct mp_answer *answer)
{
	struct fake_caller *c = mp_container_of(part, struct fake_caller, part);
	const struct mp_message *m = answer->message;

	c->answers++;
	c->outcome = answer->outcome;
	c->code = answer->error ? answer->error->code : 0;
	if (m)
		fake_copy(c->text, sizeof(c->text),
			  mp_value_source(m->tape,
					  m->kind == MP_MESSAGE_ERROR ? m->error : m->result));
	else
		fake_copy(c->text, sizeof(c->text), mp_str_of(answer->error->message));
	if (c->then)
		c->then(c);
}

static inline void fake_progressed(struct mp_call *part, const struct mp_message *m)
{
	struct fake_caller *c = mp_container_of(part, struct fake_caller, part);

	c->progressed++;
	fake_copy(c->progress, sizeof(c->progress), mp_value_source(m->tape, m->params));
	if (c->on_progress)
		c->on_progress(c);
}

/* Start a call; the caller hears of it. */
static inline int fake_start_with(struct fake_transport *w, struct fake_caller *c,
				  const struct mp_call_options *o,
				  const struct mp_call_hooks *hooks)
{
	int r;

	mp_call_init(&c->part, w->loop, hooks);
	r = mp_peer_call(&w->peer, &c->part, o);
	c->call = c->part.id;
	return r;
}

static inline int fake_start(struct fake_transport *w, struct fake_caller *c,
			     const struct mp_call_options *o)
{
	static const struct mp_call_hooks hooks = {.answered = fake_answered};

	return fake_start_with(w, c, o, &hooks);
}

/* A call of a tool that wants to hear of progress. */
static inline int fake_call(struct fake_transport *w, struct fake_caller *c, int64_t timeout_ms,
			    int64_t max_total_ms)
{
	static const struct mp_call_hooks hooks = {.answered = fake_answered,
						   .progress = fake_progressed};
	struct mp_call_options o = {
		.method = MP_METHOD_TOOLS_CALL,
		.params = MP_STR("{\"name\":\"echo\"}"),
		.timeout_ms = timeout_ms,
		.max_total_ms = max_total_ms,
	};

	return fake_start_with(w, c, &o, &hooks);
}

#endif
