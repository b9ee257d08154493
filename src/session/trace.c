/*
 * trace.c - the trace context of a request on its way to a server.
 */
#include "session/trace.h"

#include "base/error.h"
#include "base/limits.h"
#include "json/value.h"
#include "json/write.h"

/* W3C asks to pass so much on, and has no limit for what newer versions say in a traceparent. */
enum { PARENT_MOST = 512, STATE_MOST = 512, BAGGAGE_MOST = 8192 };

/* Plain text as the formats have it; what else came is dropped. */
static bool is_plain(struct mp_str text, size_t most)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] < ' ' || text.p[i] > '~')
			return false;
	return text.len > 0 && text.len <= most;
}

static int trace_write_headers(const struct mp_trace_texts *headers, struct mp_buf *out)
{
	struct mp_trace trace;
	struct mp_writer w;
	bool is_traced =
		is_plain(headers->parent, PARENT_MOST) && mp_trace_parse(headers->parent, &trace);

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (is_traced)
		mp_write_member_text(&w, "traceparent", headers->parent);
	if (is_traced && is_plain(headers->state, STATE_MOST))
		mp_write_member_text(&w, "tracestate", headers->state);
	if (is_plain(headers->baggage, BAGGAGE_MOST))
		mp_write_member_text(&w, "baggage", headers->baggage);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

void mp_request_keep_trace(struct mp_request *e, const struct mp_trace_texts *headers)
{
	struct mp_buf text;

	if ((!headers->parent.len && !headers->baggage.len) ||
	    !mp_method_get(e->method)->reaches_server)
		return;
	mp_buf_init(&text, MP_KIB(32));
	if (trace_write_headers(headers, &text) == 0 && text.len > 2) /* not {} */
		e->trace = mp_request_keep(e, mp_buf_get(&text));
	mp_buf_done(&text);
}

/* Copy the members, but for those of `but`. */
static void trace_copy(struct mp_writer *w, const struct mp_tape *t, const char *but_one,
		       const char *but_another)
{
	MP_VALUE_EACH(t, MP_ROOT, key) {
		if ((but_one && mp_value_text_is(t, key, mp_str_of(but_one))) ||
		    (but_another && mp_value_text_is(t, key, mp_str_of(but_another))))
			continue;
		mp_write_raw_key(w, mp_value_source(t, key));
		mp_write_raw(w, mp_value_source(t, mp_value_of(key)));
	}
}

static bool trace_has(const struct mp_tape *t, const char *key)
{
	return mp_value_get(t, MP_ROOT, key) != MP_NONE;
}

/* The headers' members beside the agent's own; its own context counts. */
static int trace_add_headers(struct mp_request *e, struct mp_tape *t, struct mp_buf *meta)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_tape_done) struct mp_tape headers;
	bool has_own = trace_has(t, "traceparent"), has_baggage = trace_has(t, "baggage");
	struct mp_writer w;
	int r;

	mp_tape_init(&headers, 0);
	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	r = mp_tape_parse(&headers, mp_str_of(e->trace), NULL);
	if (r < 0)
		return r;
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	trace_copy(&w, t, NULL, NULL);
	MP_VALUE_EACH(&headers, MP_ROOT, key) {
		bool is_baggage = mp_value_text_is(&headers, key, MP_STR("baggage"));

		if (is_baggage ? has_baggage : has_own || trace_has(t, "tracestate"))
			continue;
		mp_write_raw_key(&w, mp_value_source(&headers, key));
		mp_write_raw(&w, mp_value_source(&headers, mp_value_of(key)));
	}
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	mp_buf_clear(meta);
	if (r == 0)
		r = mp_buf_add_str(meta, mp_buf_get(&text));
	return r < 0 ? r : mp_tape_parse(t, mp_buf_get(meta), NULL);
}

/* False: the caller does not record it, and everything stays as it is. */
static bool trace_enter(const struct mp_tape *t, bool *ret_is_new, struct mp_trace *ret)
{
	mp_value v = mp_value_get(t, MP_ROOT, "traceparent");
	struct mp_str text = v == MP_NONE ? MP_STR("") : mp_value_source(t, v);

	if (text.len >= 2) /* without its quotes; one with escapes is none */
		text = (struct mp_str){text.p + 1, text.len - 2};
	*ret_is_new = !mp_trace_parse(text, ret);
	if (*ret_is_new)
		mp_trace_begin(ret);
	if (ret->is_unsampled)
		return false;
	mp_trace_enter(ret);
	return true;
}

/* Our span instead of the caller's. What vendors say in tracestate belongs to its trace. */
static int trace_replace(const struct mp_tape *t, bool is_new, const struct mp_trace *trace,
			 struct mp_buf *meta)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char parent[MP_TRACE_PARENT];
	struct mp_writer w;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_trace_write(trace, parent);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	trace_copy(&w, t, "traceparent", is_new ? "tracestate" : NULL);
	mp_write_member_text(&w, "traceparent", mp_str_of(parent));
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	mp_buf_clear(meta);
	return r < 0 ? r : mp_buf_add_str(meta, mp_buf_get(&text));
}

static int request_rewrite(struct mp_request *e, bool is_tracing, struct mp_buf *meta,
			   struct mp_trace *ret)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	bool is_new;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, meta->len ? mp_buf_get(meta) : MP_STR("{}"), NULL);
	if (r == 0 && e->trace)
		r = trace_add_headers(e, &t, meta);
	if (r < 0 || !is_tracing || !trace_enter(&t, &is_new, ret))
		return r;
	return trace_replace(&t, is_new, ret, meta);
}

int mp_request_trace(struct mp_request *e, struct mp_buf *meta, struct mp_trace *ret)
{
	bool is_tracing = mp_pool_is_tracing(e->session->sessions->o.pool);

	*ret = (struct mp_trace){.is_unsampled = !is_tracing};
	return is_tracing || e->trace ? request_rewrite(e, is_tracing, meta, ret) : 0;
}
