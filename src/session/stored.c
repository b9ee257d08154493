/*
 * stored.c - results that agents get shortened, and all of them, when an agent reads one.
 */
#include "session/stored.h"

#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/oversize.h"
#include "session/scope.h"
#include "session/unknown.h"
#include "store/results.h"

/* --- the limit ------------------------------------------------------------------------------- */

static const struct mp_result_settings *get_settings(const struct mp_workspace *v)
{
	return &mp_workspace_get_set(v)->settings.result;
}

/* What `toolResults` says; -1: nothing. */
static int64_t get_own_limit(const struct mp_workspace *v, const char *server, struct mp_str tool)
{
	ptrdiff_t i = mp_workspace_find(v, server);

	return i < 0 ? -1
		     : mp_entry_get_result_limit(mp_workspace_get_entry(v, (size_t)i), tool, -1);
}

bool mp_stored_has_limit(const struct mp_workspace *v, const struct mp_index_item *tool)
{
	return get_settings(v)->sessions && get_own_limit(v, tool->server, tool->source->name) > 0;
}

static bool has_output_schema(const struct mp_catalog_item *tool)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	t.keep_depth = 2;
	return mp_tape_parse(&t, tool->json, NULL) < 0 ||
	       mp_value_get(&t, MP_ROOT, "outputSchema") != MP_NONE;
}

/* Clients refuse a result without structuredContent if the tool has an outputSchema. */
static bool needs_structure(const struct mp_request *e, const struct mp_message *m)
{
	const struct mp_index *s = e->session->scope->index;

	for (size_t i = 0; e->target && e->server && s && i < s->n[MP_CATALOG_TOOL]; i++) {
		const struct mp_index_item *tool = s->items[MP_CATALOG_TOOL][i];

		if (strcmp(tool->server, e->server) == 0 &&
		    mp_str_eq(tool->source->name, mp_str_of(e->target)))
			return has_output_schema(tool->source);
	}
	return mp_value_get(m->tape, m->result, "structuredContent") != MP_NONE;
}

/* 0: none. */
static int64_t get_limit(const struct mp_request *e, const struct mp_message *m, size_t bytes)
{
	const struct mp_workspace *v = e->session->workspace;
	const struct mp_result_settings *o = get_settings(v);
	int64_t own = -1;

	if (!o->sessions ||
	    (e->method != MP_METHOD_TOOLS_CALL && e->method != MP_METHOD_TASKS_RESULT))
		return 0;
	if (e->method == MP_METHOD_TOOLS_CALL && e->server && e->target)
		own = get_own_limit(v, e->server, mp_str_of(e->target));
	if (own >= 0)
		return own;
	return bytes > (size_t)o->max_bytes && !needs_structure(e, m) ? o->max_bytes : 0;
}

/* --- shortening ------------------------------------------------------------------------------ */

/* One result at a worker. */
struct mp_shortening {
	struct mp_request *request; /* NULL: it has ended */
	struct mp_oversize_options o;
	char *join; /* owned */
	struct mp_buf whole, out;
	int r;
	struct mcpool_error why; /* it could not be stored */
};

static void shortening_free(struct mp_shortening *s)
{
	mp_buf_done(&s->whole);
	mp_buf_done(&s->out);
	mp_free(s->join);
	mp_free(s);
}

static void shortening_run(void *u)
{
	struct mp_shortening *s = u;

	s->r = mp_oversize_write_result(mp_buf_get(&s->whole), &s->o, &s->out, &s->why);
}

/* The agent gets its head and tail in any case. */
static void shortening_tell(const struct mp_shortening *s, struct mp_session *session)
{
	struct mp_log log;

	if (s->why.code == 0 || session->sessions->told_unstored)
		return;
	session->sessions->told_unstored = true;
	mp_log_init(&log, "session %llu", (unsigned long long)session->id);
	mp_log_warn(&log, "a long result is not stored: %s", s->why.message);
}

static void shortening_end(void *u)
{
	struct mp_shortening *s = u;
	struct mp_request *e = s->request;

	if (e) {
		e->shortening = NULL;
		shortening_tell(s, e->session);
		if (s->r < 0 && e->state != MP_REQUEST_PARKED)
			mp_request_give_up(e, s->r);
		else
			mp_session_take_result(e, mp_buf_get(s->out.len ? &s->out : &s->whole));
	}
	shortening_free(s);
}

void mp_request_abandon_shortening(struct mp_request *e)
{
	e->shortening->request = NULL;
	e->shortening = NULL;
}

static struct mp_shortening *shortening_new(struct mp_request *e, struct mp_str json, int64_t max)
{
	struct mp_shortening *s = mp_alloc(sizeof(*s));

	s->request = e;
	s->join = mp_dup(get_settings(e->session->workspace)->join);
	s->o = (struct mp_oversize_options){(size_t)max, s->join};
	mp_buf_init(&s->whole, 2 * MP_LIMIT_MESSAGE);
	mp_buf_init(&s->out, 2 * MP_LIMIT_MESSAGE);
	if (mp_buf_add_str(&s->whole, json) == 0)
		return s;
	shortening_free(s);
	return NULL;
}

bool mp_stored_shorten(struct mp_request *e, const struct mp_message *m, struct mp_str json)
{
	int64_t max = get_limit(e, m, json.len);
	struct mp_shortening *s;
	struct mp_work work = {shortening_run, shortening_end, NULL};

	if (max == 0 || json.len <= (size_t)max)
		return false;
	s = work.u = shortening_new(e, json, max);
	if (!s || mp_loop_work(e->loop, &work) < 0) {
		if (s)
			shortening_free(s);
		return false; /* all of it is better than nothing */
	}
	e->shortening = s;
	if (e->agent_requests.len) /* its call has ended */
		mp_session_drop_agent_requests(&e->agent_requests, e->session->sessions->o.pool);
	return true;
}

/* --- reading --------------------------------------------------------------------------------- */

static int write_contents(enum mp_era era, struct mp_str uri, struct mp_str content,
			  const char *mime, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (era == MP_ERA_MODERN)
		mp_write_raw_members(&w, MP_STR("\"resultType\":\"complete\",\"ttlMs\":0,"
						"\"cacheScope\":\"private\""));
	mp_write_key(&w, MP_STR("contents"));
	mp_write_begin_array(&w);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "uri", uri);
	mp_write_member_text(&w, "mimeType", mp_str_of(mime[0] ? mime : "application/json"));
	mp_write_member_text(&w, mime[0] ? "blob" : "text", content);
	mp_write_end_object(&w);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* Every user of the hub may read it; its name cannot be guessed. */
void mp_stored_answer(struct mp_request *e, struct mp_str uri)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf content;
	struct mp_buf *out = &e->session->sessions->scratch;
	char mime[MP_RESULT_MIME];
	struct mcpool_error why;

	mp_buf_init(&content, 2 * MP_LIMIT_MESSAGE);
	if (mp_results_read(uri, &content, mime, &why) < 0) {
		mp_session_refuse_unknown(e, uri, 0);
		return;
	}
	mp_buf_clear(out);
	if (write_contents(e->era, uri, mp_buf_get(&content), mime, out) < 0)
		mp_request_give_up(e, MCPOOL_ENOMEM);
	else
		mp_request_result(e, mp_buf_get(out));
}
