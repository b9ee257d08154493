/*
 * trial.c - configured servers started together, their tools listed, all stopped again.
 * Values are resolved on workers, because a command that gives one may take its time; nobody waits
 * for anybody else (A4). What fails says so once, with its name, and the others go on.
 */
#include "cli/trial.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "config/resolve.h"
#include "process/environment.h"
#include "process/stdio.h"
#include "store/eras.h"

extern char **environ;

struct trials;

struct trial {
	struct trials *all;
	const struct mp_entry *e;
	struct mp_resolved resolved;
	struct mp_buf warnings; /* from the worker; lines */
	int resolve_result;
	struct mcpool_error why;
	char **env;
	struct mp_buf log_file;
	struct mp_verdicts verdicts;
	struct mp_upstream *up;
	struct mp_catalog_list tools;
	int64_t began_ms, ready_ms, listed_ms;
	bool told;
	int exit_code;
};

struct trials {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	struct mp_loop *loop;
	struct mp_launcher *launcher;
	struct mp_commands *commands;
	unsigned char local_key[MP_DIGEST_SIZE];
	struct trial *list;
	size_t n, open; /* open: not yet gone */
};

static struct mp_str launch_key(const struct trial *t)
{
	return (struct mp_str){(const char *)t->resolved.launch_key, MP_DIGEST_SIZE};
}

/* --- endings --------------------------------------------------------------------------------- */

static void leave(struct trial *t)
{
	if (--t->all->open == 0)
		mp_loop_stop(t->all->loop);
}

static void tell_success(struct trial *t)
{
	t->told = true;
	t->exit_code = MP_EXIT_DONE;
	if (t->all->args->json)
		return;
	printf("%s: works, %zu tool%s (started in %lld ms, listed in %lld ms)\n", t->e->name,
	       t->tools.n, t->tools.n == 1 ? "" : "s", (long long)(t->ready_ms - t->began_ms),
	       (long long)(t->listed_ms - t->ready_ms));
	fflush(stdout);
}

static int64_t timeout_of(const struct trial *t)
{
	return t->all->args->timeout_ms ? t->all->args->timeout_ms : t->e->tuning.timeout_ms;
}

static void tell_failure(struct trial *t, const struct mcpool_error *why, int exit_code)
{
	if (t->told)
		return;
	t->told = true;
	t->why = *why;
	t->exit_code = exit_code;
	if (t->all->args->json)
		return;
	mp_cli_complain("Failed to connect to \"%s\": %s", t->e->name, why->message);
	if (exit_code == MP_EXIT_TIMEOUT)
		mp_cli_complain("A server that starts slowly needs a larger %s (now %lld ms).",
				t->all->args->timeout_ms ? "--timeout" : "\"timeout\"",
				(long long)timeout_of(t));
	if (t->up)
		mp_print_last_words(t->up);
}

/* --- from the upstream ----------------------------------------------------------------------- */

static void listed(struct mp_catalog_list *l, const struct mcpool_error *error, void *u)
{
	struct trial *t = u;

	(void)l;
	t->listed_ms = mp_configured_now();
	if (error)
		tell_failure(t, error, mp_cli_exit_code(error));
	else
		tell_success(t);
	mp_upstream_close(t->up);
}

static void ready(void *u)
{
	struct trial *t = u;
	struct mcpool_error why;
	int r;

	t->ready_ms = mp_configured_now();
	r = mp_catalog_fetch(t->up, &t->tools, timeout_of(t), listed, t, t->all->loop, NULL);
	if (r == 0)
		return;
	(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
	listed(&t->tools, &why, t);
}

/* A command that is not there is no missing tool. */
static void ended(void *u, const struct mcpool_error *why)
{
	struct trial *t = u;
	struct mcpool_error copy = *why;

	if (copy.code == MCPOOL_ENOENT || copy.code == MCPOOL_EINVAL)
		copy.code = MCPOOL_EUNAVAILABLE;
	tell_failure(t, &copy, mp_cli_exit_code(&copy));
	mp_upstream_close(t->up);
}

static void closed(void *u)
{
	leave(u);
}

static const struct mp_upstream_hooks hooks = {.ready = ready, .ended = ended, .closed = closed};

static int dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct trial *t = u;
	struct mp_launch launch = {
		.argv = (const char *const *)t->resolved.argv,
		.env = (const char *const *)t->env,
		.cwd = t->resolved.cwd,
	};

	(void)reterr;
	*ret = mp_stdio_new(t->all->launcher, &launch, t->log_file.len ? t->log_file.data : NULL);
	return 0;
}

/* --- starting -------------------------------------------------------------------------------- */

/* A name may hold what a file's name should not. */
static void note_log_file(struct trial *t)
{
	char name[MP_LIMIT_NAME + 16];

	snprintf(name, sizeof(name), "logs/%s.log", t->e->name);
	for (char *c = name + strlen("logs/"); *c; c++)
		if (*c == '/' || *c == ':' || *c == ' ')
			*c = '_';
	if (mp_path_state(name, &t->log_file) < 0)
		mp_buf_clear(&t->log_file); /* no home, no file */
}

static void recall_era(struct trial *t)
{
	int64_t now = mp_configured_now();
	enum mp_era era = mp_eras_get(t->all->c->db, launch_key(t), now);

	if (era != MP_ERA_BOTH)
		mp_verdicts_set(&t->verdicts, launch_key(t), era, now);
}

static int start(struct trial *t, struct mcpool_error *reterr)
{
	enum mp_era eras = (enum mp_era)t->e->tuning.era;
	struct mp_upstream_options options = {
		.me = &mp_cli_identity,
		.eras = t->all->args->era == MP_ERA_BOTH ? eras : t->all->args->era,
		.timeout_ms = timeout_of(t),
		.verdicts = &t->verdicts,
		.launch_key = launch_key(t),
		.dial = dial,
		.dial_u = t,
	};

	if (t->resolved.kind != MP_KIND_STDIO)
		return mp_fail(reterr, MCPOOL_EUNAVAILABLE,
			       "this version starts stdio servers only; %s ones come next",
			       mp_kind_get_name(t->resolved.kind));
	t->env = mp_environment_build((enum mp_environment)t->e->tuning.environment, environ,
				      t->resolved.env);
	recall_era(t);
	t->up = mp_upstream_new(t->all->loop, &options, &hooks, t);
	return mp_upstream_open(t->up, reterr);
}

static void warn(void *u, const char *message)
{
	struct trial *t = u;

	if (mp_buf_addf(&t->warnings, "%s\n", message) < 0)
		mp_buf_clear(&t->warnings); /* a warning is no reason to stop */
}

/* On a worker. */
static void resolve(void *u)
{
	struct trial *t = u;
	struct mp_resolve_request req = {
		.set = t->all->c->set,
		.entry = t->e,
		.env = environ,
		.commands = t->all->commands,
		.now_ms = t->began_ms,
		.on_warning = warn,
		.u = t,
	};

	memcpy(req.local_key, t->all->local_key, sizeof(req.local_key));
	t->resolve_result = mp_resolve(&req, &t->resolved, &t->why);
}

static void resolved(void *u)
{
	struct trial *t = u;
	struct mcpool_error why = t->why;
	struct mp_str words = mp_str_trim(mp_buf_get(&t->warnings));

	if (words.len)
		mp_cli_complain("%.*s", MP_STR_ARGS(words));
	if (t->resolve_result < 0) {
		tell_failure(t, &why, MP_EXIT_CONFIG);
		leave(t);
	} else if (start(t, &why) < 0) {
		tell_failure(t, &why, MP_EXIT_START);
		leave(t);
	}
}

static void begin(struct trial *t)
{
	struct mp_work work = {resolve, resolved, t};
	struct mcpool_error why;
	int r;

	t->began_ms = mp_configured_now();
	r = mp_loop_work(t->all->loop, &work);
	if (r == 0)
		return;
	(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
	tell_failure(t, &why, MP_EXIT_START);
	leave(t);
}

/* --- the whole thing ------------------------------------------------------------------------- */

static void write_trial(struct mp_writer *w, const struct trial *t)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(t->e->name));
	mp_write_member_bool(w, "ok", t->exit_code == MP_EXIT_DONE);
	if (t->exit_code == MP_EXIT_DONE) {
		mp_write_member_i64(w, "tools", (int64_t)t->tools.n);
		mp_write_member_i64(w, "startMs", t->ready_ms - t->began_ms);
		mp_write_member_i64(w, "listMs", t->listed_ms - t->ready_ms);
	} else {
		mp_write_member_text(w, "error", mp_str_of(t->why.message));
	}
	mp_write_end_object(w);
}

static void print_as_json(const struct trials *all)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("servers"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < all->n; i++)
		write_trial(&w, &all->list[i]);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static void trial_init(struct trial *t, struct trials *all, const struct mp_entry *e)
{
	*t = (struct trial){.all = all, .e = e, .exit_code = MP_EXIT_START};
	mp_buf_init(&t->warnings, MP_KIB(64));
	mp_buf_init(&t->log_file, 4096);
	mp_verdicts_init(&t->verdicts);
	mp_catalog_list_init(&t->tools, MP_CATALOG_TOOL);
	note_log_file(t);
}

/* What this run found out about the server's era is for the next one. */
static void trial_done(struct trial *t)
{
	int64_t now = mp_configured_now();

	if (t->up)
		mp_eras_set(t->all->c->db, launch_key(t),
			    mp_verdicts_get(&t->verdicts, launch_key(t), now), now);
	mp_upstream_free(t->up);
	mp_environment_free(t->env);
	mp_resolved_done(&t->resolved);
	mp_catalog_list_done(&t->tools);
	mp_verdicts_done(&t->verdicts);
	mp_buf_done(&t->log_file);
	mp_buf_done(&t->warnings);
}

static int open_all(struct trials *all)
{
	struct mcpool_error why;
	int r = mp_local_key_get(all->local_key, &why);

	if (r == 0) {
		r = mp_loop_new(&all->loop);
		if (r < 0)
			(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
	}
	if (r == 0)
		r = mp_launcher_new(all->loop, NULL, &all->launcher, &why);
	if (r < 0)
		mp_cli_complain("%s", why.message);
	return r;
}

static int finish(struct trials *all)
{
	int exit_code = MP_EXIT_DONE;

	if (all->args->json)
		print_as_json(all);
	for (size_t i = 0; i < all->n; i++) {
		if (exit_code == MP_EXIT_DONE)
			exit_code = all->list[i].exit_code;
		trial_done(&all->list[i]);
	}
	return exit_code;
}

int mp_trial_run(const struct mp_configured *c, const struct mp_entry *const *entries, size_t n,
		 const struct mp_cli_args *args)
{
	struct trials all = {.c = c, .args = args, .n = n, .open = n};
	int exit_code = MP_EXIT_START;

	mp_log_set_level(MP_LEVEL_WRN);
	all.commands = mp_commands_new();
	all.list = mp_alloc((n + 1) * sizeof(*all.list));
	if (open_all(&all) == 0) {
		for (size_t i = 0; i < n; i++)
			trial_init(&all.list[i], &all, entries[i]);
		for (size_t i = 0; i < n; i++)
			begin(&all.list[i]);
		if (all.open > 0)
			mp_loop_run(all.loop);
		exit_code = finish(&all);
	}
	mp_free(all.list);
	all.launcher = mp_launcher_free(all.launcher);
	mp_loop_free(all.loop);
	mp_commands_free(all.commands);
	return exit_code;
}
