/*
 * serve_call.c - `serve --call TOOL`: one call as soon as the gate opens.
 * The tool may be of a deferred server, which is then waited for (A46). An unknown tool is waited
 * for while a server is still starting.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/verbs/serve.h"
#include "json/write.h"
#include "session/failed_call.h"
#include "config/values/filter.h"
#include "session/names.h"

struct mp_serve_call {
	struct mp_serve *serve;
	struct mp_observer observer;
	bool is_watching;
	struct mp_pool_call call;
	struct mp_buf params;
	char *server, *tool; /* owned; needed, like the params, until the call is at rest */
	bool is_over;
};

int mp_serve_read_call(struct mp_serve *s)
{
	const char *given = s->args->args;
	struct mcpool_error why;

	if (given && !s->args->call) {
		mp_cli_complain("--args belongs to --call. See `mcpool serve --help`.");
		return MP_EXIT_USAGE;
	}
	if (!s->args->call)
		return MP_EXIT_DONE;
	if (mp_typed_build(MP_STR(""), mp_str_of(given ? given : "{}"), NULL, 0, &s->call_arguments,
			   &why) == 0)
		return MP_EXIT_DONE;
	mp_cli_complain("%s", why.message);
	return MP_EXIT_USAGE;
}

/* --- the result ------------------------------------------------------------------------------ */

static void write_error(struct mp_writer *w, const struct mcpool_error *e,
			const struct mp_pool_answer *a)
{
	struct mp_failed_call f = {.why = e, .outcome = MP_OUTCOME_REFUSED};

	if (a)
		f = mp_failed_call_of(a, MP_STR(""));
	mp_write_key(w, MP_STR("error"));
	mp_write_begin_object(w);
	mp_write_member_i64(w, "code", e->rpc_code);
	mp_write_member_text(w, "message", mp_str_of(e->message));
	mp_write_key(w, MP_STR("data"));
	mp_write_begin_object(w);
	mp_failed_call_write(w, &f);
	mp_write_end_object(w);
	mp_write_end_object(w);
}

static void write_message(struct mp_writer *w, const struct mp_message *m)
{
	if (m->kind == MP_MESSAGE_RESULT)
		mp_write_member_raw(w, "result", mp_value_source(m->tape, m->result));
	else
		mp_write_member_raw(w, "error", mp_value_source(m->tape, m->error));
}

static void serve_call_print(struct mp_serve_call *call, const struct mcpool_error *error,
			     const struct mp_pool_answer *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "call", mp_str_of(call->serve->args->call));
	if (a && a->message)
		write_message(&w, a->message);
	else
		write_error(&w, error, a);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_serve_print(call->serve, mp_buf_get(&text));
	call->is_over = true;
}

static void serve_call_answered(struct mp_pool_call *c, const struct mp_pool_answer *a)
{
	serve_call_print(mp_container_of(c, struct mp_serve_call, call), a->error, a);
}

/* --- finding the tool ------------------------------------------------------------------------ */

static int add_tools(struct mp_names *names, struct mp_workspace *v, size_t i, bool hidden)
{
	const struct mp_entry *e = mp_workspace_get_entry(v, i);
	struct mp_server_catalog *catalog = mp_workspace_get_catalog(v, i, 0);
	const struct mp_catalog_list *tools =
		catalog ? &catalog->lists[MP_CATALOG_TOOL]->list : NULL;
	int r = 0;

	for (size_t k = 0; tools && k < tools->n && r >= 0; k++) {
		if (mp_filter_lets_pass(&e->tools_allowed, &e->tools_denied,
					tools->items[k].name) == hidden)
			continue;
		r = mp_names_add(names, mp_str_of(e->name), tools->items[k].name, NULL);
		if (r == MCPOOL_EEXIST)
			r = 0; /* the server lists it twice; the first one counts */
	}
	mp_server_catalog_unref(catalog);
	return r;
}

/* hidden: the tools that toolsAllowed and toolsDenied exclude, instead of the others (U20) */
static struct mp_names *serve_call_gather(struct mp_workspace *v, bool hidden)
{
	struct mp_names *names =
		mp_names_new((enum mp_naming)mp_workspace_get_set(v)->settings.naming);
	int r = 0;

	for (size_t i = 0; i < mp_workspace_count(v) && r == 0; i++)
		r = add_tools(names, v, i, hidden);
	if (r == 0)
		r = mp_names_finish(names);
	return r < 0 ? mp_names_free(names) : names;
}

static bool is_more_expected(struct mp_workspace *v)
{
	for (size_t i = 0; i < mp_workspace_count(v); i++)
		if (mp_workspace_get_state(v, i, 0) == MP_STATUS_PENDING)
			return true;
	return false;
}

static char *serve_call_copy(struct mp_str s)
{
	char *p = mp_alloc(s.len + 1);

	memcpy(p, s.p, s.len);
	return p;
}

static int serve_call_ask(struct mp_serve_call *call, const struct mp_name *name,
			  struct mcpool_error *reterr)
{
	struct mp_pool_call_options o = {.call.method = MP_METHOD_TOOLS_CALL};
	struct mp_serve *s = call->serve;
	struct mp_writer w;
	int r;

	mp_write_init(&w, &call->params, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", name->name);
	mp_write_member_raw(&w, "arguments", mp_buf_get(&s->call_arguments));
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	o.server = call->server = serve_call_copy(name->server);
	call->tool = serve_call_copy(name->name);
	o.tool = o.call.name = (struct mp_str){call->tool, name->name.len};
	o.call.params = mp_buf_get(&call->params);
	return mp_pool_call_start(s->hub->workspace, &call->call, &o, reterr);
}

static void serve_call_leave(struct mp_serve_call *call)
{
	if (call->is_watching)
		mp_observer_leave(&call->serve->hub->board, &call->observer);
	call->is_watching = false;
}

/* Why the tool cannot be called. */
static void serve_call_explain(struct mp_workspace *v, const char *wanted, size_t candidates,
			       struct mcpool_error *ret)
{
	MP_CLEANUP(mp_names_freep) struct mp_names *hidden = serve_call_gather(v, true);
	const struct mp_name *kept_out =
		hidden ? mp_names_find(hidden, mp_str_of(wanted), NULL) : NULL;

	if (candidates > 1)
		(void)mp_fail(ret, MCPOOL_ENOENT, "'%s' could be any of %zu tools", wanted,
			      candidates);
	else if (kept_out)
		(void)mp_fail(ret, MCPOOL_ENOENT,
			      "the tool '%.*s' of server \"%.*s\" is not allowed: see "
			      "toolsAllowed and toolsDenied of that server",
			      MP_STR_ARGS(kept_out->name), MP_STR_ARGS(kept_out->server));
	else
		(void)mp_fail(ret, MCPOOL_ENOENT, "there is no tool '%s' at any server", wanted);
}

/* True: the call is made, or never will be. */
static bool try_call(struct mp_serve_call *call)
{
	struct mp_workspace *v = call->serve->hub->workspace;
	MP_CLEANUP(mp_names_freep) struct mp_names *names = serve_call_gather(v, false);
	const char *wanted = call->serve->args->call;
	const struct mp_name *name;
	struct mcpool_error why = {0};
	size_t candidates = 0;

	name = names ? mp_names_find(names, mp_str_of(wanted), &candidates) : NULL;
	if (!name && names && is_more_expected(v))
		return false;
	if (!name)
		serve_call_explain(v, wanted, candidates, &why);
	else if (serve_call_ask(call, name, &why) == 0)
		return true;
	serve_call_print(call, &why, NULL);
	return true;
}

static void serve_call_changed(const struct mp_change *changes, size_t n, void *u)
{
	struct mp_serve_call *call = u;

	(void)changes;
	(void)n;
	if (try_call(call))
		serve_call_leave(call);
}

/* --- interface ------------------------------------------------------------------------------- */

void mp_serve_begin_call(struct mp_serve *s)
{
	static const struct mp_pool_call_hooks hooks = {.answered = serve_call_answered};

	if (!s->args->call)
		return;
	s->call = mp_alloc(sizeof(*s->call));
	mp_buf_init(&s->call->params, MP_LIMIT_MESSAGE);
	mp_pool_call_init(&s->call->call, s->hub->loop, &hooks);
	s->call->serve = s;
	if (try_call(s->call))
		return;
	s->call->is_watching = true;
	mp_observer_join(&s->hub->board, &s->call->observer, serve_call_changed, s->call);
}

void mp_serve_free_call(struct mp_serve *s)
{
	if (!s->call)
		return;
	mp_buf_done(&s->call->params);
	mp_free(s->call->server);
	mp_free(s->call->tool);
	s->call = mp_free(s->call);
}

void mp_serve_end_call(struct mp_serve *s)
{
	if (!s->call)
		return;
	serve_call_leave(s->call);
	if (!s->call->is_over)
		mp_pool_call_cancel(&s->call->call);
}
