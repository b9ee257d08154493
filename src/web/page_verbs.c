/*
 * page_verbs.c - verbs that a page runs: a list of names, and no option that names files.
 */
#include "web/page_verbs.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "json/bind.h"
#include "json/write.h"
#include "pool/pool.h"
#include "rpc/message.h"
#include "web/verb_run.h"

enum { AT_ONCE = 32, MAX_MS = 120000, MAX_ARGS = 512 };

/* What the page has buttons for. Not: serve, stdio, up, down, and what only shows. */
static const char *const verbs[] = {
	"add", "add-json", "config", "connect", "disable", "doctor", "edit", "enable", "explain",
	"get", "import",   "list",   "logs",    "remove",  "secret", "test", "trust",  "untrust",
};

struct verb_job {
	struct mp_link link;
	struct mp_page_verbs *all;
	struct mp_verb_run *run;
	char *id; /* of its request, JSON; owned */
};

struct verb_params {
	const char *verb, *input;
	struct mp_bind_list args;
	bool stream;
	uint64_t present;
};

#define PARAM(kind, key, field, ...) MP_BIND(struct verb_params, kind, key, field, __VA_ARGS__)
static const struct mp_bind_field param_fields[] = {
	PARAM(TEXT, "verb", verb, .required = true),
	PARAM(LIST, "args", args),
	PARAM(TEXT, "input", input),
	PARAM(BOOL, "stream", stream),
};
static const struct mp_bind_table param_table = {param_fields, MP_ARRAY_LEN(param_fields),
						 offsetof(struct verb_params, present)};

static void verb_job_drop(struct verb_job *j)
{
	mp_list_remove(&j->all->open, &j->link);
	--*j->all->n_all;
	mp_free(j->id);
	mp_free(j);
}

/* --- answers --------------------------------------------------------------------------------- */

static void verb_job_line(void *u, struct mp_str line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct verb_job *j = u;
	struct mp_writer w;

	mp_buf_init(&out, 8 * MP_LIMIT_VERB_OUTPUT);
	mp_write_init(&w, &out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "jsonrpc", MP_STR("2.0"));
	mp_write_member_text(&w, "method", MP_STR("mcpool/verb/line"));
	mp_write_key(&w, MP_STR("params"));
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "id", mp_str_of(j->id));
	mp_write_member_text(&w, "line", line);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		j->all->say(j->all->u, mp_buf_get(&out));
}

static void verb_job_done(void *u, int code, struct mp_str text, struct mp_str err)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result, out;
	struct verb_job *j = u;
	struct mp_page_verbs *all = j->all;
	struct mp_writer w;

	mp_buf_init(&result, 8 * MP_LIMIT_VERB_OUTPUT);
	mp_buf_init(&out, 9 * MP_LIMIT_VERB_OUTPUT);
	mp_write_init(&w, &result, NULL);
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "exit", code);
	mp_write_member_text(&w, "stdout", text);
	mp_write_member_text(&w, "stderr", err);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0 &&
	    mp_message_result(&out, mp_str_of(j->id), mp_buf_get(&result)) == 0)
		all->say(all->u, mp_buf_get(&out));
	verb_job_drop(j);
}

/* --- requests -------------------------------------------------------------------------------- */

static bool verb_is_known(const char *verb)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(verbs); i++)
		if (strcmp(verbs[i], verb) == 0)
			return true;
	return false;
}

/* Servers of a file that is named are approved by that: only a shell may do so. */
static bool arg_names_files(const char *arg)
{
	return strncmp(arg, "--config", 8) == 0 || strcmp(arg, "--strict-config") == 0;
}

/* A project's file may call a server `--yes`: that word is then neither a name nor an option. */
static bool arg_is_a_server(const struct mp_page_verbs *vs, const char *arg)
{
	return arg[0] == '-' && vs->workspace && mp_workspace_find(vs->workspace, arg) >= 0;
}

static int params_check(const struct mp_page_verbs *vs, const struct verb_params *p,
			struct mcpool_error *reterr)
{
	if (!verb_is_known(p->verb))
		return mp_fail(reterr, MCPOOL_EPERM, "a page does not run `mcpool %.40s`", p->verb);
	if (p->args.n > MAX_ARGS)
		return mp_fail(reterr, MCPOOL_ELIMIT, "there are too many `args`");
	for (size_t i = 0; i < p->args.n && strcmp(p->args.items[i], "--") != 0; i++) {
		if (arg_names_files(p->args.items[i]))
			return mp_fail(reterr, MCPOOL_EPERM, "a page names no configuration files");
		if (arg_is_a_server(vs, p->args.items[i]))
			return mp_fail(reterr, MCPOOL_EPERM,
				       "a server is called like the option %.40s: rename it first",
				       p->args.items[i]);
	}
	return 0;
}

static int verb_job_start(struct verb_job *j, const struct verb_params *p, struct mp_arena *arena,
			  struct mcpool_error *reterr)
{
	char **argv = mp_arena_alloc_array(arena, p->args.n + 3, sizeof(*argv));
	struct mp_verb_run_options o = {
		.loop = j->all->loop,
		.folder = j->all->folder,
		.argv = argv,
		.input = mp_str_of(p->input ? p->input : ""),
		.max_ms = p->stream ? 0 : MAX_MS,
		.line = p->stream ? verb_job_line : NULL,
		.done = verb_job_done,
		.u = j,
	};

	if (!argv)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	argv[0] = (char *)(uintptr_t)j->all->exe;
	argv[1] = (char *)(uintptr_t)p->verb;
	for (size_t i = 0; i < p->args.n; i++)
		argv[i + 2] = (char *)(uintptr_t)p->args.items[i];
	argv[p->args.n + 2] = NULL;
	return mp_verb_run_start(&o, &j->run, reterr);
}

int mp_page_verbs_run(struct mp_page_verbs *vs, struct mp_str id, const struct mp_tape *t,
		      mp_value params, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct verb_params p = {.verb = NULL};
	struct verb_job *j;
	int r;

	mp_arena_init(&arena, MP_LIMIT_VERB_OUTPUT);
	r = mp_bind_read(&param_table, t, params, &arena, &p, NULL, NULL, reterr);
	if (r == 0)
		r = params_check(vs, &p, reterr);
	if (r == 0 && *vs->n_all >= AT_ONCE)
		r = mp_fail(reterr, MCPOOL_EAGAIN, "too many commands run at the moment");
	if (r < 0)
		return r;
	j = mp_alloc(sizeof(*j));
	*j = (struct verb_job){.all = vs, .id = mp_alloc(id.len + 1)};
	memcpy(j->id, id.p, id.len);
	mp_list_append(&vs->open, &j->link);
	++*vs->n_all;
	r = verb_job_start(j, &p, &arena, reterr);
	if (r < 0)
		verb_job_drop(j);
	return r;
}

void mp_page_verbs_cancel(struct mp_page_verbs *vs, struct mp_str id)
{
	MP_LIST_EACH(&vs->open, link) {
		struct verb_job *j = mp_container_of(link, struct verb_job, link);

		if (!mp_str_eq(mp_str_of(j->id), id))
			continue;
		mp_verb_run_end(j->run);
		return;
	}
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_page_verbs_init(struct mp_page_verbs *vs, struct mp_loop *loop, const char *exe,
			void (*say)(void *u, struct mp_str text), void *u, size_t *n_all)
{
	*vs = (struct mp_page_verbs){.loop = loop, .exe = exe, .say = say, .u = u, .n_all = n_all};
	mp_list_init(&vs->open);
}

void mp_page_verbs_done(struct mp_page_verbs *vs)
{
	struct mp_link *link;

	while ((link = mp_list_first(&vs->open))) {
		struct verb_job *j = mp_container_of(link, struct verb_job, link);

		mp_verb_run_free(j->run);
		verb_job_drop(j);
	}
}
