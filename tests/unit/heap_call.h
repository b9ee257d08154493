/*
 * heap_call.h - a call on the heap that frees itself with its answer; for tests, benchmarks and
 * fuzzers. The conversation must be lost or closed before it is freed.
 */
#ifndef HEAP_CALL_H
#define HEAP_CALL_H

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/upstream.h"

/* What params of a test says it is about; it has no escapes. Borrows params. */
static inline struct mp_str heap_call_find_name(enum mp_method_id method, struct mp_str params)
{
	const char *key = mp_method_get(method)->subject;
	char word[20];
	ptrdiff_t at, end;

	snprintf(word, sizeof(word), "\"%s\":\"", key ? key : "");
	at = key ? mp_str_find(params, mp_str_of(word), 0) : -1;
	end = at < 0 ? -1 : mp_str_find(params, MP_STR("\""), (size_t)at + strlen(word));
	if (end < 0)
		return MP_STR("");
	at += (ptrdiff_t)strlen(word);
	return (struct mp_str){params.p + at, (size_t)(end - at)};
}

typedef void (*heap_call_fn)(const struct mp_answer *answer, void *u);

struct heap_call {
	struct mp_call call;
	heap_call_fn fn;
	void *u;
};

static inline void heap_call_answered(struct mp_call *c, const struct mp_answer *answer)
{
	struct heap_call *h = mp_container_of(c, struct heap_call, call);
	heap_call_fn fn = h->fn;
	void *u = h->u;

	mp_call_done(c);
	mp_free(h);
	fn(answer, u);
}

/* *ret_call may be cancelled until fn runs; ret_call may be NULL. */
static inline int heap_call(struct mp_upstream *up, const struct mp_call_options *o,
			    heap_call_fn fn, void *u, struct mp_call **ret_call)
{
	static const struct mp_call_hooks hooks = {.answered = heap_call_answered};
	struct heap_call *h = mp_alloc(sizeof(*h));
	int r;

	h->fn = fn;
	h->u = u;
	mp_call_init(&h->call, mp_upstream_get_loop(up), &hooks);
	r = mp_upstream_call(up, &h->call, o);
	if (ret_call)
		*ret_call = r == 0 ? &h->call : NULL;
	if (r < 0)
		mp_free(h);
	return r;
}

#endif
