/*
 * trace.h - W3C trace context: which trace a call belongs to, and which span of it is its parent.
 * It travels in `_meta` (traceparent, tracestate, baggage), and in headers of HTTP clients.
 */
#ifndef MP_TRACE_H
#define MP_TRACE_H

#include "base/base.h"
#include "base/str.h"

enum { MP_TRACE_ID = 16, MP_SPAN_ID = 8, MP_TRACE_PARENT = 56 }; /* the last with its NUL */

struct mp_trace {
	unsigned char id[MP_TRACE_ID];
	unsigned char parent[MP_SPAN_ID]; /* span of the caller; all zero: none */
	unsigned char span[MP_SPAN_ID];   /* ours; all zero: none */
	bool is_unsampled;                /* the caller does not record this trace */
};

/* As they came; empty: none. */
struct mp_trace_texts {
	struct mp_str parent, state, baggage;
};

/*
 * A traceparent: sets id, parent and is_unsampled. False: it is none, and another trace is to
 * begin (W3C Trace Context, 3.2).
 */
bool mp_trace_parse(struct mp_str text, struct mp_trace *ret);
/* A trace of our own. */
void mp_trace_begin(struct mp_trace *ret);
/* A span of ours in it. */
void mp_trace_enter(struct mp_trace *t);
bool mp_trace_has_span(const struct mp_trace *t);
/* The traceparent for those that our span calls. */
void mp_trace_write(const struct mp_trace *t, char ret_text[MP_TRACE_PARENT]);
/* Lower-case digits; ret_text has 2 * n + 1 bytes. */
void mp_trace_write_id(const unsigned char *id, size_t n, char *ret_text);

#endif
