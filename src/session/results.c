/*
 * results.c - a server's result in the agent's era.
 * Most results are passed unchanged. Members that only one era has are added or removed, and URIs
 * are wrapped.
 */
#include "session/results.h"

#include <stdio.h>

#include "base/limits.h"
#include "session/scope.h"
#include "session/tasks.h"

/* --- URIs ------------------------------------------------------------------------------------ */

struct rewriting {
	struct mp_writer *w;
	const struct mp_tape *t;
	const struct mp_index *index;
	const struct mp_request *e;
	struct mp_arena arena;
};

/* Members that belong to the tool are not changed. */
static bool is_private(const struct mp_tape *t, mp_value key)
{
	return mp_value_text_is(t, key, MP_STR("structuredContent")) ||
	       mp_value_text_is(t, key, MP_STR("_meta"));
}

static void results_rewrite(struct rewriting *r, mp_value v);

/* A URI that the agent requested in the server's form is returned in that form. */
static bool is_as_asked(const struct mp_request *e, struct mp_str uri)
{
	return e->method == MP_METHOD_RESOURCES_READ && !e->is_wrapped &&
	       mp_str_eq(uri, mp_str_of(e->target));
}

static void rewrite_uri(struct rewriting *r, mp_value v)
{
	struct mp_str uri;

	if (mp_value_text(r->t, v, &r->arena, &uri) < 0 || is_as_asked(r->e, uri))
		mp_write_raw(r->w, mp_value_source(r->t, v));
	else
		mp_write_text(r->w,
			      mp_index_get_public_uri(r->index, r->e->server, uri, &r->arena));
}

static void rewrite_object(struct rewriting *r, mp_value v)
{
	mp_write_begin_object(r->w);
	MP_VALUE_EACH(r->t, v, key) {
		mp_value inner = mp_value_of(key);

		mp_write_raw_key(r->w, mp_value_source(r->t, key));
		if (is_private(r->t, key))
			mp_write_raw(r->w, mp_value_source(r->t, inner));
		else if (mp_value_text_is(r->t, key, MP_STR("uri")) &&
			 mp_value_is(r->t, inner, MP_TAPE_STRING))
			rewrite_uri(r, inner);
		else
			results_rewrite(r, inner);
	}
	mp_write_end_object(r->w);
}

static void results_rewrite(struct rewriting *r, mp_value v) /* depth limited by JSON, 128 */
{
	if (mp_value_is(r->t, v, MP_TAPE_OBJECT)) {
		rewrite_object(r, v);
	} else if (mp_value_is(r->t, v, MP_TAPE_ARRAY)) {
		mp_write_begin_array(r->w);
		MP_VALUE_EACH(r->t, v, item)
			results_rewrite(r, item);
		mp_write_end_array(r->w);
	} else {
		mp_write_raw(r->w, mp_value_source(r->t, v));
	}
}

/* Writes a member of a result with its URIs as the agent knows them. */
static void write_rewritten(struct mp_writer *w, const struct mp_request *e,
			    const struct mp_message *m, mp_value v)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct rewriting r = {w, &t, e->session->scope->index, e, {0}};

	mp_tape_init(&t, 0);
	mp_arena_init(&r.arena, MP_LIMIT_ARENA);
	if (mp_era_open(m, v, &t) < 0)
		mp_write_raw(w, mp_value_source(m->tape, v));
	else
		results_rewrite(&r, MP_ROOT);
	mp_arena_done(&r.arena);
}

/* --- results --------------------------------------------------------------------------------- */

static bool is_modern_member(const struct mp_tape *t, mp_value key)
{
	return mp_value_text_is(t, key, MP_STR("resultType")) ||
	       mp_value_text_is(t, key, MP_STR("ttlMs")) ||
	       mp_value_text_is(t, key, MP_STR("cacheScope"));
}

static bool is_odd_content(const struct mp_tape *t, mp_value key)
{
	return mp_value_text_is(t, key, MP_STR("structuredContent")) &&
	       !mp_value_is(t, mp_value_of(key), MP_TAPE_OBJECT);
}

static bool has_uris(const struct mp_request *e, const struct mp_message *m)
{
	const struct mp_index *s = e->session->scope->index;

	return s && s->has_foreign_uris &&
	       mp_str_find(mp_value_source(m->tape, m->result), MP_STR("\"uri\""), 0) >= 0;
}

/* Legacy agents accept objects only (mcp-spec 4.2). */
static void write_odd_content(struct mp_writer *w, const struct mp_tape *t, mp_value v)
{
	mp_write_begin_object(w);
	mp_write_member_raw(w, "result", mp_value_source(t, v));
	mp_write_end_object(w);
}

/* Older agents read the text, so one is added. */
static void write_content(struct mp_writer *w, const struct mp_tape *t, mp_value odd)
{
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("text"));
	mp_write_member_text(w, "text", mp_value_source(t, odd));
	mp_write_end_object(w);
	mp_write_end_array(w);
}

static mp_value find_odd(const struct mp_tape *t, mp_value result)
{
	mp_value v = mp_value_get(t, result, "structuredContent");

	return v == MP_NONE || mp_value_is(t, v, MP_TAPE_OBJECT) ? MP_NONE : v;
}

static void write_member(struct mp_writer *w, const struct mp_request *e,
			 const struct mp_message *m, mp_value key)
{
	const struct mp_tape *t = m->tape;
	mp_value v = mp_value_of(key);
	mp_value odd = e->era == MP_ERA_LEGACY ? find_odd(t, m->result) : MP_NONE;

	if (e->era == MP_ERA_LEGACY && is_modern_member(t, key))
		return;
	mp_write_raw_key(w, mp_value_source(t, key));
	if (e->era == MP_ERA_LEGACY && is_odd_content(t, key))
		write_odd_content(w, t, v);
	else if (odd != MP_NONE && mp_value_text_is(t, key, MP_STR("content")) &&
		 mp_value_count(t, v) == 0)
		write_content(w, t, odd);
	else if (e->task[0] && mp_value_text_is(t, key, MP_STR("_meta")) &&
		 mp_value_is(t, v, MP_TAPE_OBJECT))
		mp_task_write_meta(e, m, v, w);
	else if (has_uris(e, m) && !is_private(t, key) &&
		 (mp_value_is(t, v, MP_TAPE_OBJECT) || mp_value_is(t, v, MP_TAPE_ARRAY)))
		write_rewritten(w, e, m, v);
	else
		mp_write_raw(w, mp_value_source(t, v));
}

static bool passes_as_it_is(const struct mp_request *e, const struct mp_message *m)
{
	bool is_modern = mp_value_get(m->tape, m->result, "resultType") != MP_NONE;

	if (!mp_value_is(m->tape, m->result, MP_TAPE_OBJECT))
		return true;
	if (has_uris(e, m) || e->task[0] || find_odd(m->tape, m->result) != MP_NONE)
		return false;
	return is_modern == (e->era == MP_ERA_MODERN);
}

static bool is_cacheable(const struct mp_request *e)
{
	return e->method == MP_METHOD_RESOURCES_READ;
}

static int write_translated(const struct mp_request *e, const struct mp_message *m,
			    struct mp_buf *out)
{
	const struct mp_tape *t = m->tape;
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (e->era == MP_ERA_MODERN && mp_value_get(t, m->result, "resultType") == MP_NONE) {
		mp_write_raw_members(&w, MP_STR("\"resultType\":\"complete\""));
		if (is_cacheable(e))
			mp_write_raw_members(&w, MP_STR("\"ttlMs\":0,\"cacheScope\":\"private\""));
	}
	MP_VALUE_EACH(t, m->result, key)
		write_member(&w, e, m, key);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_result_write(const struct mp_request *e, const struct mp_message *m, struct mp_buf *room,
		    struct mp_str *ret_json)
{
	bool is_about_task = e->task[0] && e->method != MP_METHOD_TASKS_RESULT &&
			     mp_value_is(m->tape, m->result, MP_TAPE_OBJECT);
	int r;

	*ret_json = mp_value_source(m->tape, m->result);
	if (!is_about_task && passes_as_it_is(e, m))
		return 0;
	r = is_about_task ? mp_task_write_result(e, m, room) : write_translated(e, m, room);
	*ret_json = mp_buf_get(room);
	return r;
}

/* --- errors ---------------------------------------------------------------------------------- */

static int64_t translate_code(const struct mp_request *e, int64_t code)
{
	bool is_read = e->method == MP_METHOD_RESOURCES_READ;

	if (is_read && e->era == MP_ERA_MODERN && code == -32002)
		return -32602;
	if (code == -32020 || code == -32022) /* about our request, not the agent's */
		return -32603;
	if (code == -32042 && e->era == MP_ERA_MODERN)
		return -32603;
	return code;
}

/* The error for an unknown resource names the resource (SEP-2164). */
static void write_error_data(struct mp_writer *w, const struct mp_request *e,
			     const struct mp_message *m)
{
	mp_value data = mp_value_get(m->tape, m->error, "data");

	if (data != MP_NONE) {
		mp_write_member_raw(w, "data", mp_value_source(m->tape, data));
	} else if (e->method == MP_METHOD_RESOURCES_READ && e->target) {
		mp_write_key(w, MP_STR("data"));
		mp_write_begin_object(w);
		mp_write_member_text(w, "uri", mp_str_of(e->target));
		mp_write_end_object(w);
	}
}

/* -32042: the user must visit a URL. Modern agents get that as a server request. */
static int write_url_questions(const struct mp_message *m, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_writer w;
	mp_value list;
	unsigned n = 0;

	mp_tape_init(&t, 0);
	if (mp_era_open(m, m->error, &t) < 0)
		return MCPOOL_ENOMEM;
	list = mp_value_get(&t, mp_value_get(&t, MP_ROOT, "data"), "elicitations");
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_raw_members(&w, MP_STR("\"resultType\":\"input_required\""));
	mp_write_key(&w, MP_STR("inputRequests"));
	mp_write_begin_object(&w);
	MP_VALUE_EACH(&t, list, v) {
		char key[16];

		if (!mp_value_is(&t, v, MP_TAPE_OBJECT))
			continue;
		snprintf(key, sizeof(key), "url%u", ++n);
		mp_write_key(&w, mp_str_of(key));
		mp_write_begin_object(&w);
		mp_write_member_text(&w, "method", MP_STR("elicitation/create"));
		mp_write_key(&w, MP_STR("params"));
		mp_write_begin_object(&w);
		MP_VALUE_EACH(&t, v, k) {
			if (mp_value_text_is(&t, k, MP_STR("elicitationId")))
				continue; /* not in that era */
			mp_write_raw_key(&w, mp_value_source(&t, k));
			mp_write_raw(&w, mp_value_source(&t, mp_value_of(k)));
		}
		mp_write_end_object(&w);
		mp_write_end_object(&w);
	}
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_result_write_error(const struct mp_request *e, const struct mp_message *m,
			  struct mp_buf *out, bool *ret_is_error, int *ret_status)
{
	int64_t was = mp_error_read_code(m), code = translate_code(e, was);
	struct mp_writer w;

	*ret_is_error = true;
	*ret_status = code == -32021 ? 400 : 200;
	if (was == -32042 && e->era == MP_ERA_MODERN && (e->can & MP_CAN_ELICIT_URL)) {
		*ret_is_error = false;
		return write_url_questions(m, out);
	}
	if (code == was && e->method != MP_METHOD_RESOURCES_READ)
		return mp_buf_add_str(out, mp_value_source(m->tape, m->error));
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", code);
	MP_VALUE_EACH(m->tape, m->error, key) {
		if (mp_value_text_is(m->tape, key, MP_STR("code")) ||
		    mp_value_text_is(m->tape, key, MP_STR("data")))
			continue;
		mp_write_raw_key(&w, mp_value_source(m->tape, key));
		mp_write_raw(&w, mp_value_source(m->tape, mp_value_of(key)));
	}
	write_error_data(&w, e, m);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}
