/*
 * oneshot.c - one server for one command: start it, speak with it, stop it.
 * Whatever happens is said once, with the server's name, the stage, the cause and its last words.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/cli.h"
#include "cli/failure.h"
#include "cli/interrupt.h"
#include "cli/line.h"
#include "pool/dialer.h"
#include "process/environment.h"

struct mp_oneshot {
	const struct mp_cli_args *args;
	char name[64];
	struct mp_loop *loop;
	struct mp_dialer *dialer;
	struct mp_upstream *up;
	char **env;
	struct mp_buf log_file;
	mp_oneshot_fn fn;
	void *u;
	mp_id call;    /* what Ctrl-C cancels; 0: none */
	int exit_code; /* -1: not yet known */
	struct mp_line line;
	struct mp_timer blink;
	struct mp_interrupt interrupt;

	struct mp_catalog_list *list; /* being fetched */
	mp_oneshot_fn list_fn;
	void *list_u;
};

const struct mp_identity mp_cli_identity = {
	.name = "mcpool",
	.title = "mcpool",
	.version = MCPOOL_VERSION,
	.capabilities = {"{}", 2},
};

/* --- lines that come and go ------------------------------------------------------------------ */

struct mp_line *mp_oneshot_get_line(struct mp_oneshot *o)
{
	return &o->line;
}

static void say_starting(void *u)
{
	struct mp_oneshot *o = u;
	char text[120];

	snprintf(text, sizeof(text), "starting %s ...", o->name);
	mp_line_show(&o->line, mp_str_of(text));
}

/* --- endings --------------------------------------------------------------------------------- */

void mp_oneshot_finish(struct mp_oneshot *o, int exit_code)
{
	mp_timer_stop(&o->blink);
	mp_line_clear(&o->line);
	if (o->exit_code < 0)
		o->exit_code = o->interrupt.happened ? MP_EXIT_INTERRUPTED : exit_code;
	mp_upstream_close(o->up);
}

static void print_failed_lists(struct mp_oneshot *o, const struct mcpool_error *why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	for (const char *const *list = o->args->verb->json_lists; *list; list++)
		mp_write_member_raw(&w, *list, MP_STR("[]"));
	mp_write_key(&w, MP_STR("errors"));
	mp_write_begin_array(&w);
	mp_print_write_error(&w, o->name, why->message);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* What clients of the hub are told of it (CONTRACTS, "Errors"). */
static int public_code(int code)
{
	switch (code) {
	case MCPOOL_ETIMEDOUT:
		return MCPOOL_ECALL_TIMEOUT;
	case MCPOOL_ECLOSED:
	case MCPOOL_ESYSTEM:
	case MCPOOL_EPERM:
		return MCPOOL_EUNAVAILABLE;
	default:
		return code;
	}
}

static void print_error(struct mp_oneshot *o, const struct mcpool_error *why,
			enum mp_outcome outcome)
{
	struct mcpool_error public;
	struct mp_failure failure = {.server = o->name, .why = &public, .outcome = outcome};

	(void)mp_fail(&public, public_code(why->code), "MCP error: %s", why->message);
	/* Whatever else happened would happen again, or may have happened already. */
	failure.retryable = public.code == MCPOOL_EUNAVAILABLE;
	mp_failure_print(&failure);
}

/*
 * --json has one object for every failure: a list with its errors, the server's own error as it
 * wrote it, or one as the hub has it.
 */
static void print_failure(struct mp_oneshot *o, const struct mcpool_error *why,
			  enum mp_outcome outcome, struct mp_str error)
{
	if (error.len)
		mp_failure_print_error(error);
	else if (o->args->verb->json_lists)
		print_failed_lists(o, why);
	else
		print_error(o, why, outcome);
}

static void fail(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why,
		 enum mp_outcome outcome, struct mp_str error)
{
	struct mcpool_error full;

	(void)mp_fail(&full, why->code, "%s%s%s", stage, stage[0] ? ": " : "", why->message);
	if (o->exit_code < 0 && !o->interrupt.happened) {
		mp_line_clear(&o->line);
		mp_cli_complain("%s: %s", o->name, full.message);
		if (why->code != MCPOOL_EINVAL && why->code != MCPOOL_ENOENT) /* the user's doing */
			mp_print_last_words(o->up);
		if (o->args->json)
			print_failure(o, &full, outcome, error);
	}
	mp_oneshot_finish(o, mp_cli_exit_code(why));
}

void mp_oneshot_fail(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why)
{
	fail(o, stage, why, MP_OUTCOME_NOT_SENT, MP_STR(""));
}

void mp_oneshot_refuse(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why)
{
	fail(o, stage, why, MP_OUTCOME_REFUSED, MP_STR(""));
}

bool mp_oneshot_is_bad(struct mp_oneshot *o, const char *stage, const struct mp_answer *answer)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mcpool_error why;
	struct mp_str words;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_line_clear(&o->line); /* what is printed next stands where the progress stood */
	if (answer->outcome != MP_OUTCOME_ANSWERED) {
		fail(o, stage, answer->error, answer->outcome, MP_STR(""));
		return true;
	}
	if (answer->message->kind == MP_MESSAGE_RESULT)
		return false;
	words = mp_error_read_words(answer->message, &arena);
	(void)mp_fail(&why, MCPOOL_EPROTO, "%.*s (%lld)", MP_STR_ARGS(words),
		      (long long)mp_error_read_code(answer->message));
	fail(o, stage, &why, MP_OUTCOME_ANSWERED,
	     mp_value_source(answer->message->tape, answer->message->error));
	return true;
}

void mp_oneshot_show(struct mp_oneshot *o, const char *stage, const struct mp_answer *answer,
		     int (*print)(struct mp_str result))
{
	struct mcpool_error why;
	struct mp_str result;
	int r = 0;

	o->call = 0;
	if (mp_oneshot_is_bad(o, stage, answer))
		return;
	result = mp_value_source(answer->message->tape, answer->message->result);
	if (o->args->json)
		mp_print_json(result);
	else
		r = print(result);
	if (r < 0) {
		(void)mp_fail(&why, r, "the answer cannot be shown: %s", mcpool_error_text(r));
		mp_oneshot_refuse(o, stage, &why);
	} else {
		mp_oneshot_finish(o, MP_EXIT_DONE);
	}
}

/* --- from the upstream ----------------------------------------------------------------------- */

static void ready(void *u)
{
	struct mp_oneshot *o = u;

	mp_timer_stop(&o->blink);
	mp_line_clear(&o->line);
	o->fn(o, o->u);
}

/* It never got ready, or it is gone. A command that is not there is no missing tool. */
static void ended(void *u, const struct mcpool_error *why)
{
	struct mcpool_error copy = *why;

	if (copy.code == MCPOOL_ENOENT || copy.code == MCPOOL_EINVAL)
		copy.code = MCPOOL_EUNAVAILABLE;
	mp_oneshot_fail(u, "", &copy);
}

static void closed_all(void *u)
{
	struct mp_oneshot *o = u;

	mp_loop_stop(o->loop);
}

static void closed(void *u)
{
	struct mp_oneshot *o = u;

	mp_interrupt_close(&o->interrupt, closed_all);
}

static const struct mp_upstream_hooks upstream_hooks = {
	.ready = ready,
	.ended = ended,
	.closed = closed,
};

/* Ctrl-C: the server is told to stop its work, then to leave. */
static void interrupted(void *u)
{
	struct mp_oneshot *o = u;

	mp_line_clear(&o->line);
	if (o->call)
		mp_upstream_cancel(o->up, o->call);
	else
		mp_oneshot_finish(o, MP_EXIT_INTERRUPTED);
}

/* An address stands for itself. */
static bool is_remote(const struct mp_oneshot *o)
{
	return !o->args->command[1] && mp_entry_is_address(o->args->command[0]);
}

static enum mp_kind kind_of(const struct mp_oneshot *o)
{
	if (!is_remote(o))
		return MP_KIND_STDIO;
	return o->args->command[0][0] == 'w' ? MP_KIND_WEBSOCKET : MP_KIND_HTTP;
}

static int dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct mp_oneshot *o = u;
	struct mp_resolved resolved = {
		.kind = kind_of(o),
		.argv = (char **)o->args->command,
		.url = o->args->command[0],
	};
	struct mp_dial dial = {
		.resolved = &resolved,
		.environment = o->env,
		.log_file = o->log_file.len ? o->log_file.data : NULL,
		.name = o->name,
	};

	return mp_dialer_dial(o->dialer, &dial, ret, reterr);
}

/* --- what the verbs use ---------------------------------------------------------------------- */

struct mp_upstream *mp_oneshot_get_upstream(struct mp_oneshot *o)
{
	return o->up;
}

const char *mp_oneshot_get_name(struct mp_oneshot *o)
{
	return o->name;
}

int64_t mp_oneshot_get_timeout(struct mp_oneshot *o, int64_t otherwise_ms)
{
	return o->args->timeout_ms ? o->args->timeout_ms : otherwise_ms;
}

void mp_oneshot_set_call(struct mp_oneshot *o, mp_id call)
{
	o->call = call;
}

static void fetched(struct mp_catalog_list *l, const struct mcpool_error *error, void *u)
{
	static const char *const stages[] = {"tools/list", "prompts/list", "resources/list",
					     "resources/templates/list"};
	struct mp_oneshot *o = u;

	if (error)
		mp_oneshot_fail(o, stages[l->kind], error);
	else
		o->list_fn(o, o->list_u);
}

void mp_oneshot_fetch(struct mp_oneshot *o, struct mp_catalog_list *l, mp_oneshot_fn fn, void *u)
{
	struct mcpool_error why;
	int r;

	o->list_fn = fn;
	o->list_u = u;
	r = mp_catalog_fetch(o->up, l, mp_oneshot_get_timeout(o, MP_LIMIT_ONE_SHOT_MS), fetched, o,
			     o->loop, NULL);
	if (r < 0) {
		(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
		fetched(l, &why, o);
	}
}

/* --- the whole thing ------------------------------------------------------------------------- */

static void note_log_file(struct mp_oneshot *o)
{
	char name[96];

	mp_buf_init(&o->log_file, 4096);
	snprintf(name, sizeof(name), "logs/%s.log", o->name);
	if (mp_path_state(name, &o->log_file) < 0)
		mp_buf_clear(&o->log_file); /* no home, no file */
}

/* By its command, or by its host. */
static void name_server(struct mp_oneshot *o)
{
	const char *host = is_remote(o) ? strstr(o->args->command[0], "//") : NULL;
	size_t n = host ? strcspn(host + 2, "/?#") : 0;
	const char *at = host ? memrchr(host + 2, '@', n) : NULL;

	if (at) { /* who we are there is nobody's business; a password may hold another one */
		n -= (size_t)(at + 1 - (host + 2));
		host = at - 1;
	}
	if (host)
		snprintf(o->name, sizeof(o->name), "%.*s", (int)n, host + 2);
	else
		mp_cli_name_command(o->args->command, o->name, sizeof(o->name));
}

static int open_all(struct mp_oneshot *o, struct mcpool_error *reterr)
{
	struct mp_upstream_options options = {
		.me = &mp_cli_identity,
		.eras = o->args->era,
		.timeout_ms = mp_oneshot_get_timeout(o, MP_LIMIT_ONE_SHOT_MS),
		.dial = dial,
		.dial_u = o,
	};
	int r = mp_loop_new(&o->loop);

	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	o->dialer = mp_dialer_new(o->loop, NULL);
	mp_timer_init(&o->blink, o->loop, say_starting, o);
	mp_timer_start(&o->blink, MP_BLINK_MS);
	mp_interrupt_open(&o->interrupt, o->loop, interrupted, o);
	o->up = mp_upstream_new(o->loop, &options, &upstream_hooks, o);
	return mp_upstream_open(o->up, reterr);
}

int mp_oneshot_run(const struct mp_cli_args *args, mp_oneshot_fn fn, void *u)
{
	extern char **environ;
	struct mp_oneshot o = {.args = args, .fn = fn, .u = u, .exit_code = -1};
	struct mcpool_error why;

	mp_log_set_level(MP_LEVEL_WRN);
	name_server(&o);
	note_log_file(&o);
	o.env = mp_environment_build(MP_ENVIRONMENT_INHERIT, environ, NULL);
	if (open_all(&o, &why) < 0) {
		mp_cli_complain("%s: start: %s", o.name, why.message);
		o.exit_code = MP_EXIT_START;
	} else {
		mp_loop_run(o.loop);
	}
	o.up = mp_upstream_free(o.up);
	o.dialer = mp_dialer_free(o.dialer);
	mp_environment_free(o.env);
	mp_buf_done(&o.log_file);
	o.loop = mp_loop_free(o.loop);
	return mp_print_finish(o.exit_code);
}
