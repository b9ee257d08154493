/*
 * heap_pool_call.h - pool calls on the heap that free themselves when they end; for tests,
 * benchmarks and their drivers. They are known by an id, which may be cancelled at any time.
 */
#ifndef HEAP_POOL_CALL_H
#define HEAP_POOL_CALL_H

#include <string.h>

#include "base/mem.h"
#include "heap_call.h"
#include "pool/pool_call.h"

typedef void (*heap_pool_call_fn)(const struct mp_pool_answer *answer, void *u);

struct heap_pool_call {
	struct mp_link link; /* in heap_pool_calls */
	struct mp_pool_call call;
	mp_id id;
	bool is_told; /* acquired: what follows is the end of that */
	heap_pool_call_fn fn;
	void (*on_progress)(const struct mp_message *m, void *u); /* may be NULL */
	void *u;
	char *server, *tool, *params, *meta, *capabilities; /* owned; what the call borrows */
};

/* One of each in a program, whatever files include this. */
__attribute__((weak)) struct mp_list heap_pool_calls;
__attribute__((weak)) mp_id heap_pool_call_last;

static inline char *heap_pool_call_copy(struct mp_str s)
{
	char *p = mp_alloc(s.len + 1);

	if (s.len)
		memcpy(p, s.p, s.len);
	return p;
}

static inline void heap_pool_call_free(struct heap_pool_call *h)
{
	mp_pool_call_done(&h->call);
	mp_list_remove(&heap_pool_calls, &h->link);
	mp_free(h->server);
	mp_free(h->tool);
	mp_free(h->params);
	mp_free(h->meta);
	mp_free(h->capabilities);
	mp_free(h);
}

static inline void heap_pool_call_answered(struct mp_pool_call *c,
					   const struct mp_pool_answer *answer)
{
	struct heap_pool_call *h = mp_container_of(c, struct heap_pool_call, call);
	heap_pool_call_fn fn = h->is_told ? NULL : h->fn;
	struct mp_pool_answer copy = *answer;
	char *server = h->server;
	void *u = h->u;

	h->server = NULL;
	heap_pool_call_free(h);
	if (fn)
		fn(&copy, u);
	mp_free(server);
}

static inline void heap_pool_call_progressed(struct mp_pool_call *c, const struct mp_message *m)
{
	struct heap_pool_call *h = mp_container_of(c, struct heap_pool_call, call);

	if (h->on_progress)
		h->on_progress(m, h->u);
}

static inline void heap_pool_call_acquired(struct mp_pool_call *c)
{
	struct heap_pool_call *h = mp_container_of(c, struct heap_pool_call, call);
	struct mp_pool_answer answer = {.outcome = MP_OUTCOME_ANSWERED, .server = h->server};

	h->is_told = true;
	if (h->fn)
		h->fn(&answer, h->u);
}

static inline struct heap_pool_call *heap_pool_call_new(struct mp_workspace *v,
							heap_pool_call_fn fn, void *u,
							mp_id *ret_call)
{
	static const struct mp_pool_call_hooks hooks = {
		heap_pool_call_answered, heap_pool_call_progressed, heap_pool_call_acquired};
	struct heap_pool_call *h = mp_alloc(sizeof(*h));

	if (!heap_pool_calls.head.next)
		mp_list_init(&heap_pool_calls);
	h->id = ++heap_pool_call_last;
	h->fn = fn;
	h->u = u;
	mp_pool_call_init(&h->call, mp_pool_get_loop(mp_workspace_get_pool(v)), &hooks);
	mp_list_append(&heap_pool_calls, &h->link);
	if (ret_call)
		*ret_call = h->id;
	return h;
}

/* What rq points to is copied. */
static inline int heap_pool_call_with(struct mp_workspace *v, const struct mp_pool_call_options *rq,
				      heap_pool_call_fn fn,
				      void (*on_progress)(const struct mp_message *m, void *u),
				      void *u, mp_id *ret_call, struct mcpool_error *reterr)
{
	struct heap_pool_call *h = heap_pool_call_new(v, fn, u, ret_call);
	struct mp_pool_call_options o = *rq;
	int r;

	h->on_progress = on_progress;
	o.server = h->server = mp_dup(rq->server);
	o.tool.p = h->tool = heap_pool_call_copy(rq->tool);
	o.call.params.p = h->params = heap_pool_call_copy(rq->call.params);
	o.call.name = heap_call_find_name(o.call.method, o.call.params);
	o.call.foreign.p = h->meta = heap_pool_call_copy(rq->call.foreign);
	o.call.capabilities.p = h->capabilities = heap_pool_call_copy(rq->call.capabilities);
	r = mp_pool_call_start(v, &h->call, &o, reterr);
	if (r < 0)
		heap_pool_call_free(h);
	return r;
}

static inline int heap_pool_call(struct mp_workspace *v, const struct mp_pool_call_options *rq,
				 heap_pool_call_fn fn, void *u, mp_id *ret_call,
				 struct mcpool_error *reterr)
{
	return heap_pool_call_with(v, rq, fn, NULL, u, ret_call, reterr);
}

static inline int heap_pool_acquire(struct mp_workspace *v, const char *server, mp_id session,
				    heap_pool_call_fn fn, void *u, mp_id *ret_call,
				    struct mcpool_error *reterr)
{
	struct heap_pool_call *h = heap_pool_call_new(v, fn, u, ret_call);
	int r;

	h->server = mp_dup(server);
	r = mp_pool_call_acquire(v, &h->call, h->server, session, reterr);
	if (r < 0)
		heap_pool_call_free(h);
	return r;
}

static inline struct heap_pool_call *heap_pool_call_find(mp_id call)
{
	if (heap_pool_calls.head.next)
		MP_LIST_EACH(&heap_pool_calls, link) {
			struct heap_pool_call *h =
				mp_container_of(link, struct heap_pool_call, link);

			if (h->id == call)
				return h;
		}
	return NULL;
}

/* 0: of none. */
static inline mp_id heap_pool_call_get_id(const struct mp_pool_call *c)
{
	return c ? mp_container_of(c, const struct heap_pool_call, call)->id : 0;
}

/* Nothing where it has ended. */
static inline void heap_pool_cancel(mp_id call)
{
	struct heap_pool_call *h = heap_pool_call_find(call);

	if (h)
		mp_pool_call_cancel(&h->call);
}

#endif
