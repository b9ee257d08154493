/*
 * listing.c - pages of lists: all servers' items under public names, sorted. Items are unchanged
 * except where the agent's era differs.
 */
#include "session/listing.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "session/clients.h"
#include "session/opening.h"
#include "session/scope.h"
#include "session/stored.h"

enum { PATIENCE_MS = 10000 }; /* for agents that list only once */
#define PAGE_BYTES MP_MIB(8)

static const struct mp_str param_header = {"x-mcp-header", 12};

static const struct kind {
	enum mp_method_id method;
	const char *list, *name;
} kinds[] = {
#define X(kind, method, list, name, offer) [MP_CATALOG_##kind] = {MP_METHOD_##method, list, name},
	MP_CATALOG_KINDS(X)
#undef X
};

/* --- one item -------------------------------------------------------------------------------- */

/* Where output schemas must be objects, others are wrapped in one (mcp-spec 4.2). */
static void write_output_schema(struct mp_writer *w, const struct mp_tape *t, mp_value v)
{
	mp_write_begin_object(w);
	mp_write_raw_members(w, MP_STR("\"type\":\"object\",\"required\":[\"result\"]"));
	mp_write_key(w, MP_STR("properties"));
	mp_write_begin_object(w);
	mp_write_member_raw(w, "result", mp_value_source(t, v));
	mp_write_end_object(w);
	mp_write_end_object(w);
}

static bool is_object_schema(const struct mp_tape *t, mp_value v)
{
	return mp_value_text_is(t, mp_value_get(t, v, "type"), MP_STR("object"));
}

/*
 * mcpool itself repeats arguments in headers for servers that want that. The annotation is removed,
 * because an agent that sees it must do the same (mcp-spec 4.2).
 */
static void write_without_param_headers(struct mp_writer *w, const struct mp_tape *t, mp_value v)
{
	if (mp_value_is(t, v, MP_TAPE_OBJECT)) {
		mp_write_begin_object(w);
		MP_VALUE_EACH(t, v, key) {
			if (mp_value_text_is(t, key, param_header))
				continue;
			mp_write_raw_key(w, mp_value_source(t, key));
			write_without_param_headers(
				w, t, mp_value_of(key)); /* limited by the JSON depth */
		}
		mp_write_end_object(w);
	} else {
		mp_write_raw(w, mp_value_source(t, v));
	}
}

static bool write_schema(struct mp_writer *w, struct mp_str schema)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_str_find(schema, param_header, 0) < 0 || mp_tape_parse(&t, schema, NULL) < 0)
		return false;
	write_without_param_headers(w, &t, MP_ROOT);
	return true;
}

/* An object schema without properties gets empty ones (B48). */
static void write_input_schema(struct mp_writer *w, const struct mp_tape *t, mp_value v)
{
	if (!is_object_schema(t, v) || mp_value_get(t, v, "properties") != MP_NONE) {
		if (!write_schema(w, mp_value_source(t, v)))
			mp_write_raw(w, mp_value_source(t, v));
		return;
	}
	mp_write_begin_object(w);
	MP_VALUE_EACH(t, v, key) {
		mp_write_raw_key(w, mp_value_source(t, key));
		mp_write_raw(w, mp_value_source(t, mp_value_of(key)));
	}
	mp_write_member_raw(w, "properties", MP_STR("{}"));
	mp_write_end_object(w);
}

/* Members that this agent does not get. */
static bool is_hidden(const struct mp_request *e, const struct mp_tape *t, mp_value key,
		      const struct mp_index_item *item, enum mp_catalog_kind kind)
{
	if (kind != MP_CATALOG_TOOL)
		return false;
	if (mp_value_text_is(t, key, MP_STR("execution")))
		return e->era == MP_ERA_MODERN; /* that era has no such tasks */
	return mp_value_text_is(t, key, MP_STR("outputSchema")) &&
	       mp_stored_has_limit(e->session->workspace, item);
}

static void write_member(struct mp_writer *w, const struct mp_tape *t, mp_value key,
			 const struct mp_index_item *item, enum mp_catalog_kind kind,
			 enum mp_era era)
{
	mp_value v = mp_value_of(key);
	bool is_tool = kind == MP_CATALOG_TOOL;

	mp_write_raw_key(w, mp_value_source(t, key));
	if (mp_value_text_is(t, key, mp_str_of(kinds[kind].name)))
		mp_write_text(w, item->public_name);
	else if (is_tool && mp_value_text_is(t, key, MP_STR("inputSchema")))
		write_input_schema(w, t, v);
	else if (is_tool && era == MP_ERA_LEGACY && item->era == MP_ERA_MODERN &&
		 mp_value_text_is(t, key, MP_STR("outputSchema")) && !is_object_schema(t, v))
		write_output_schema(w, t, v);
	else
		mp_write_raw(w, mp_value_source(t, v));
}

static int write_item(const struct mp_request *e, struct mp_writer *w, struct mp_tape *t,
		      const struct mp_index_item *item, enum mp_catalog_kind kind)
{
	int r = mp_tape_parse(t, item->source->json, NULL);

	if (r < 0)
		return r;
	mp_write_begin_object(w);
	MP_VALUE_EACH(t, MP_ROOT, key)
		if (!is_hidden(e, t, key, item, kind))
			write_member(w, t, key, item, kind, e->era);
	mp_write_end_object(w);
	return 0;
}

/* --- cursors --------------------------------------------------------------------------------- */

/* The cursor is the last name of a page, so changes in between do not shift the next page. */
static void write_cursor(struct mp_writer *w, struct mp_str last)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	r = mp_buf_addf(&text, "after:");
	if (r == 0)
		r = mp_buf_add_str(&text, last);
	if (r == 0)
		mp_write_member_text(w, "nextCursor", mp_buf_get(&text));
}

/* The first item after the cursor; negative: not one of our cursors. */
static ptrdiff_t find_start(const struct mp_index *s, enum mp_catalog_kind kind,
			    const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value v = mp_value_get(m->tape, m->params, "cursor");
	struct mp_str text, prefix = MP_STR("after:");
	size_t low = 0, high = s->n[kind];

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (v == MP_NONE)
		return 0;
	if (mp_value_text(m->tape, v, &arena, &text) < 0 || !mp_str_starts(text, prefix))
		return -1;
	text = (struct mp_str){text.p + prefix.len, text.len - prefix.len};
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (mp_str_compare(s->items[kind][middle]->public_name, text) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return (ptrdiff_t)low;
}

/* --- one page -------------------------------------------------------------------------------- */

static int write_page(struct mp_request *e, const struct mp_index *s, enum mp_catalog_kind kind,
		      size_t start, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	size_t i = start,
	       end = s->n[kind] - start > MP_LIMIT_PAGE ? start + MP_LIMIT_PAGE : s->n[kind];
	struct mp_writer w;

	mp_tape_init(&t, 0);
	t.keep_depth = 2;
	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (e->era == MP_ERA_MODERN)
		mp_write_raw_members(&w, MP_STR("\"resultType\":\"complete\",\"ttlMs\":0,"
						"\"cacheScope\":\"private\""));
	mp_write_key(&w, mp_str_of(kinds[kind].list));
	mp_write_begin_array(&w);
	for (; i < end && out->len < PAGE_BYTES; i++) {
		int r = write_item(e, &w, &t, s->items[kind][i], kind);

		if (r < 0)
			return r;
	}
	mp_write_end_array(&w);
	if (i < s->n[kind])
		write_cursor(&w, s->items[kind][i - 1]->public_name);
	if (e->era == MP_ERA_MODERN)
		mp_session_write_server_info(&w, e->session->sessions);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static enum mp_catalog_kind get_kind(enum mp_method_id method)
{
	size_t kind = 0;

	while (kinds[kind].method != method)
		kind++;
	return (enum mp_catalog_kind)kind;
}

/*
 * An agent that lists its tools only once, right after its start, would keep an empty list. Only
 * for stdio: an HTTP client may connect at any time and list again.
 */
static bool would_be_empty(struct mp_request *e)
{
	struct mp_session *s = e->session;
	const struct mp_index *index;

	if (e->method != MP_METHOD_TOOLS_LIST || strcmp(s->way, "stdio") != 0 ||
	    (s->lists_seen & 1u << MP_CATALOG_TOOL))
		return false;
	index = mp_scope_get_index(s->scope);
	return index && index->n[MP_CATALOG_TOOL] == 0;
}

/* The longest wait for servers without a list, from the arrival of the request. */
static int64_t get_patience(const struct mp_request *e)
{
	const struct mp_session *s = e->session;
	int64_t habit = s->habit->ignores_changes && !s->lists_seen ? PATIENCE_MS : 0;
	int64_t longest = mp_scope_get_max_wait(s->scope);

	return e->is_patient && longest > habit ? longest : habit;
}

/*
 * Wait until the gate is open; for some agents, and if the list would be empty, until all servers
 * have answered.
 */
static bool must_wait(struct mp_request *e, const struct mp_message *m)
{
	struct mp_session *s = e->session;
	int64_t now = mp_loop_now_ms(s->sessions->loop);

	if (e->state == MP_REQUEST_FRESH)
		e->asked_ms = now;
	if (mp_scope_is_ready(s->scope, false) && would_be_empty(e))
		e->is_patient = true;
	e->patience_ms = e->asked_ms + get_patience(e);
	if (mp_scope_is_ready(s->scope, e->patience_ms > now))
		return false;
	mp_request_wait(e, m);
	return true;
}

void mp_session_answer_list(struct mp_request *e, const struct mp_message *m)
{
	struct mp_session *session = e->session;
	enum mp_catalog_kind kind = get_kind(e->method);
	struct mp_index *s;
	ptrdiff_t start;
	int r;

	if (must_wait(e, m))
		return;
	s = mp_scope_get_index(session->scope);
	start = s ? find_start(s, kind, m) : 0;
	if (start < 0) {
		mp_request_refuse(e, -32602, 200, "mcpool did not issue this cursor");
		return;
	}
	r = s ? write_page(e, s, kind, (size_t)start, &session->sessions->scratch) : MCPOOL_ENOMEM;
	if (r < 0) {
		mp_request_give_up(e, r);
		return;
	}
	session->lists_seen |= 1u << kind;
	mp_request_result(e, mp_buf_get(&session->sessions->scratch));
}
