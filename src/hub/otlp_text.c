/*
 * otlp_text.c - spans of calls as OTLP has them in JSON.
 */
#include "hub/otlp_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/redact.h"
#include "json/write.h"

enum {
	KIND_SERVER = 2,
	STATUS_UNSET = 0,
	STATUS_ERROR = 2,
	FLAGS_ROOT = 0x101,      /* sampled; whether the parent is remote is known */
	FLAGS_OF_REMOTE = 0x301, /* and it is */
};

/* --- pieces ---------------------------------------------------------------------------------- */

static void otlp_write_attribute(struct mp_writer *w, const char *key, struct mp_str value)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "key", mp_str_of(key));
	mp_write_key(w, MP_STR("value"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "stringValue", value);
	mp_write_end_object(w);
	mp_write_end_object(w);
}

static void otlp_write_id(struct mp_writer *w, const char *key, const unsigned char *id, size_t n)
{
	char text[2 * MP_TRACE_ID + 1];

	mp_trace_write_id(id, n, text);
	mp_write_member_text(w, key, mp_str_of(text));
}

static void otlp_write_time(struct mp_writer *w, const char *key, int64_t us)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRId64 "000", us);
	mp_write_member_text(w, key, mp_str_of(text));
}

static void otlp_write_empty(struct mp_writer *w, const char *list, const char *dropped)
{
	mp_write_member_raw(w, list, MP_STR("[]"));
	mp_write_member_i64(w, dropped, 0);
}

/* --- a span ---------------------------------------------------------------------------------- */

/* What the name of a call's subject is called; NULL: it has none. */
static const char *get_subject_key(enum mp_method_id method)
{
	switch (method) {
	case MP_METHOD_TOOLS_CALL:
		return "gen_ai.tool.name";
	case MP_METHOD_PROMPTS_GET:
		return "gen_ai.prompt.name";
	case MP_METHOD_RESOURCES_READ:
		return "mcp.resource.uri";
	default:
		return NULL;
	}
}

/* Why it failed; NULL: it did not. */
static const char *get_error_type(const struct mp_call_row *row, const struct mp_call_record *r)
{
	if (r->outcome == MP_OUTCOME_ANSWERED && !r->is_error && !r->is_tool_error)
		return NULL;
	return row->code ? row->code : r->is_tool_error ? "tool_error" : row->outcome;
}

static void otlp_write_attributes(struct mp_writer *w, const struct mp_call_record *r,
				  const struct mp_call_row *row, struct mp_str subject)
{
	const char *key = get_subject_key(r->method), *error = get_error_type(row, r);
	char session[24];

	snprintf(session, sizeof(session), "%" PRIu64, row->session);
	mp_write_key(w, MP_STR("attributes"));
	mp_write_begin_array(w);
	otlp_write_attribute(w, "mcp.method.name", mp_str_of(row->method));
	otlp_write_attribute(w, "mcp.session.id", mp_str_of(session));
	if (key && subject.len)
		otlp_write_attribute(w, key, subject);
	otlp_write_attribute(w, "mcpool.server", mp_str_of(row->server));
	otlp_write_attribute(w, "mcpool.outcome", mp_str_of(row->outcome));
	if (error)
		otlp_write_attribute(w, "error.type", mp_str_of(error));
	mp_write_end_array(w);
	mp_write_member_i64(w, "droppedAttributesCount", 0);
}

static void otlp_write_status(struct mp_writer *w, const char *error)
{
	mp_write_key(w, MP_STR("status"));
	mp_write_begin_object(w);
	mp_write_member_i64(w, "code", error ? STATUS_ERROR : STATUS_UNSET);
	if (error)
		mp_write_member_text(w, "message", mp_str_of(error));
	mp_write_end_object(w);
}

static bool otlp_write_context(struct mp_writer *w, const struct mp_call_record *r)
{
	static const unsigned char none[MP_SPAN_ID];
	struct mp_trace trace = r->trace;
	bool has_parent = memcmp(trace.parent, none, sizeof(none)) != 0;

	if (!mp_trace_has_span(&trace)) {
		mp_trace_begin(&trace);
		mp_trace_enter(&trace);
	}
	otlp_write_id(w, "traceId", trace.id, MP_TRACE_ID);
	otlp_write_id(w, "spanId", trace.span, MP_SPAN_ID);
	if (has_parent)
		otlp_write_id(w, "parentSpanId", trace.parent, MP_SPAN_ID);
	return has_parent;
}

static void otlp_write_name(struct mp_writer *w, const char *method, struct mp_str subject)
{
	char name[MP_LIMIT_NAME * 2];

	snprintf(name, sizeof(name), "%s%s%.*s", method, subject.len ? " " : "",
		 MP_STR_ARGS(subject));
	mp_write_member_text(w, "name", mp_str_of(name)); /* half a character is replaced */
}

int mp_otlp_add_span(struct mp_buf *out, const struct mp_call_record *r)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf subject;
	int64_t end_us = r->wall_ms * 1000;
	struct mp_call_row row;
	struct mp_writer w;
	bool has_parent;
	int error;

	mp_buf_init(&subject, MP_MIB(1));
	mp_call_record_describe(r, &row);
	error = mp_redact(mp_str_of(row.tool), false, &subject);
	if (error < 0)
		return error;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	has_parent = otlp_write_context(&w, r);
	otlp_write_name(&w, row.method, mp_buf_get(&subject));
	mp_write_member_i64(&w, "kind", KIND_SERVER);
	otlp_write_time(&w, "startTimeUnixNano", end_us - r->queue_us - r->took_us);
	otlp_write_time(&w, "endTimeUnixNano", end_us);
	otlp_write_attributes(&w, r, &row, mp_buf_get(&subject));
	otlp_write_empty(&w, "events", "droppedEventsCount");
	otlp_write_status(&w, get_error_type(&row, r));
	otlp_write_empty(&w, "links", "droppedLinksCount");
	mp_write_member_i64(&w, "flags", has_parent ? FLAGS_OF_REMOTE : FLAGS_ROOT);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* --- a request ------------------------------------------------------------------------------- */

static void otlp_write_resource(struct mp_writer *w, const char *service)
{
	mp_write_key(w, MP_STR("resource"));
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("attributes"));
	mp_write_begin_array(w);
	otlp_write_attribute(w, "service.name", mp_str_of(service));
	otlp_write_attribute(w, "service.version", mp_str_of(mcpool_version()));
	mp_write_end_array(w);
	mp_write_member_i64(w, "droppedAttributesCount", 0);
	mp_write_end_object(w);
}

int mp_otlp_write_request(struct mp_buf *out, const char *service, struct mp_str spans)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("resourceSpans"));
	mp_write_begin_array(&w);
	mp_write_begin_object(&w);
	otlp_write_resource(&w, service);
	mp_write_key(&w, MP_STR("scopeSpans"));
	mp_write_begin_array(&w);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("scope"));
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", MP_STR("mcpool"));
	mp_write_member_text(&w, "version", mp_str_of(mcpool_version()));
	mp_write_end_object(&w);
	mp_write_key(&w, MP_STR("spans"));
	mp_write_begin_array(&w);
	mp_write_raw(&w, spans);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}
