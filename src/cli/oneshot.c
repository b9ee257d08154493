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
#include "cli/answer.h"
#include "cli/cli.h"
#include "cli/failure.h"
#include "cli/forms.h"
#include "cli/interrupt.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "pool/dialer.h"
#include "process/environment.h"

enum { LAST_WORDS = 10 }; /* lines */

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
	bool is_ready;       /* it was */
	struct mp_call call; /* what Ctrl-C cancels */
	struct mp_buf params;
	void (*call_fn)(const struct mp_answer *answer, void *u);
	void *call_u;
	int exit_code; /* -1: not yet known */
	struct mp_progress_line line;
	struct mp_timer blink;
	int64_t began_ms;
	struct mp_interrupt interrupt;
	struct mp_answerer answerer;
	struct mp_forms forms;

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

/* --- what it is ------------------------------------------------------------------------------ */

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

/* --- lines that come and go ------------------------------------------------------------------ */

struct mp_progress_line *mp_oneshot_get_line(struct mp_oneshot *o)
{
	return &o->line;
}

static void say_starting(void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	struct mp_oneshot *o = u;

	mp_buf_init(&tail, MP_LIMIT_STDERR_RING * 2);
	if (!o->up || mp_upstream_get_tail(o->up, 1, &tail) < 0)
		mp_buf_clear(&tail);
	mp_progress_line_show_start(&o->line, o->name, 0, mp_loop_now_ms(o->loop) - o->began_ms,
				    is_remote(o) ? NULL : o->args->command[0], mp_buf_get(&tail));
	mp_timer_start(&o->blink, MP_TICK_MS);
}

/* --- endings --------------------------------------------------------------------------------- */

void mp_oneshot_finish(struct mp_oneshot *o, int exit_code)
{
	mp_timer_stop(&o->blink);
	mp_forms_drop_all(&o->forms);
	mp_progress_line_clear(&o->line);
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
	case MCPOOL_EIO:
	case MCPOOL_ESYSTEM:
	case MCPOOL_EPERM:
		return MCPOOL_EUNAVAILABLE;
	default:
		return code;
	}
}

static struct mp_failed_call describe(const struct mp_oneshot *o, const struct mcpool_error *why,
				      enum mp_outcome outcome)
{
	bool is_call = o->args->verb->run == mp_cmd_call;

	return (struct mp_failed_call){
		.server = o->name,
		.tool = is_call ? mp_str_of(o->args->words[0]) : MP_STR(""),
		.transport = mp_kind_get_name(kind_of(o)),
		.why = why,
		.outcome = outcome,
		.was_up = o->is_ready,
		.was_out = o->is_ready && outcome != MP_OUTCOME_NOT_SENT,
		/*
		 * Whatever else happened would happen again, or may have happened already; so would
		 * a command that cannot be run.
		 */
		.retryable = why->code == MCPOOL_EUNAVAILABLE && why->fault,
	};
}

static void make_public(const struct mp_oneshot *o, const char *stage,
			const struct mcpool_error *why, struct mcpool_error *ret)
{
	(void)mp_fail_because(ret, public_code(why->code), why, "MCP error: server '%s': %s%s%s",
			      o->name, stage, stage[0] ? ": " : "", why->message);
}

/* As clients of the hub are told, and as people are (U23). */
static void tell_failure(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why,
			 enum mp_outcome outcome, const struct mp_message *error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	struct mcpool_error public;
	struct mp_failed_call f;

	mp_buf_init(&tail, MP_LIMIT_STDERR_RING * 2);
	make_public(o, stage, why, &public);
	f = describe(o, &public, outcome);
	if (mp_upstream_get_tail(o->up, LAST_WORDS, &tail) == 0)
		f.tail = mp_buf_get(&tail);
	if (error)
		mp_failure_tell_error(&f, error, o->args->json);
	else
		mp_failure_tell(&f, o->args->json);
}

/* A list that there is not; with its errors as JSON. */
static void tell_failed_lists(struct mp_oneshot *o, const char *stage,
			      const struct mcpool_error *why)
{
	struct mcpool_error full;

	(void)mp_fail(&full, why->code, "%s%s%s", stage, stage[0] ? ": " : "", why->message);
	mp_cli_complain("%s: %s", o->name, full.message);
	if (why->code != MCPOOL_EINVAL && why->code != MCPOOL_ENOENT)
		mp_print_last_words(o->up);
	if (o->args->json)
		print_failed_lists(o, &full);
}

/* What the user did says it all in a line. */
static void tell_misuse(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why,
			enum mp_outcome outcome)
{
	struct mcpool_error public;
	struct mp_failed_call f;

	mp_cli_complain("%s: %s%s%s", o->name, stage, stage[0] ? ": " : "", why->message);
	make_public(o, stage, why, &public);
	f = describe(o, &public, outcome);
	if (o->args->json)
		mp_failure_print(&f);
}

/* error: of the server itself; or NULL. */
static void fail(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why,
		 enum mp_outcome outcome, const struct mp_message *error)
{
	bool is_misuse = !error && (why->code == MCPOOL_EINVAL || why->code == MCPOOL_ENOENT);

	if (o->exit_code < 0 && !o->interrupt.happened) {
		mp_progress_line_clear(&o->line);
		if (o->args->verb->json_lists)
			tell_failed_lists(o, stage, why);
		else if (is_misuse)
			tell_misuse(o, stage, why, outcome);
		else
			tell_failure(o, stage, why, outcome, error);
	}
	mp_oneshot_finish(o, mp_cli_exit_code(why));
}

void mp_oneshot_fail(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why)
{
	fail(o, stage, why, MP_OUTCOME_NOT_SENT, NULL);
}

void mp_oneshot_refuse(struct mp_oneshot *o, const char *stage, const struct mcpool_error *why)
{
	fail(o, stage, why, MP_OUTCOME_REFUSED, NULL);
}

bool mp_oneshot_is_bad(struct mp_oneshot *o, const char *stage, const struct mp_answer *answer)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mcpool_error why;
	struct mp_str words;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_progress_line_clear(&o->line); /* what is printed next stands where the progress stood */
	if (answer->outcome != MP_OUTCOME_ANSWERED) {
		fail(o, stage, answer->error, answer->outcome, NULL);
		return true;
	}
	if (answer->message->kind == MP_MESSAGE_RESULT)
		return false;
	words = mp_error_read_words(answer->message, &arena);
	(void)mp_fail(&why, MCPOOL_EPROTO, "%.*s (%lld)", MP_STR_ARGS(words),
		      (long long)mp_error_read_code(answer->message));
	fail(o, stage, &why, MP_OUTCOME_ANSWERED, answer->message);
	return true;
}

void mp_oneshot_show(struct mp_oneshot *o, const char *stage, const struct mp_answer *answer,
		     int (*print)(struct mp_str result))
{
	struct mcpool_error why;
	struct mp_str result;
	int r = 0;

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

/* --- what the server asks --------------------------------------------------------------------- */

/* A person at the terminal of `mcpool call` answers forms; nothing else was declared. */
static const struct mp_identity identity_with_person = {
	.name = "mcpool",
	.title = "mcpool",
	.version = MCPOOL_VERSION,
	.capabilities = {MP_FORMS_CAPABILITIES, sizeof(MP_FORMS_CAPABILITIES) - 1},
};

/* The call's own time does not run meanwhile. */
static void asked(void *u, const struct mp_server_request *rq)
{
	struct mp_oneshot *o = u;

	if (rq->method != MP_METHOD_ELICIT) {
		mp_upstream_decline(o->up, rq->id, -32601,
				    mp_server_request_get_refusal(rq->method));
		return;
	}
	mp_call_pause(&o->call, true);
	mp_forms_add(&o->forms, rq->id, o->name, rq->params);
}

static void filled(void *u, uint64_t id, struct mp_str result)
{
	struct mp_oneshot *o = u;

	if (o->exit_code >= 0)
		return;
	mp_call_pause(&o->call, false);
	if (result.len)
		mp_upstream_reply(o->up, id, result);
	else
		mp_upstream_decline(o->up, id, -32601, mp_str_of(mp_forms_refusal));
}

static void withdrawn(void *u, mp_id request)
{
	struct mp_oneshot *o = u;

	mp_forms_drop(&o->forms, request);
}

static bool has_person(const struct mp_oneshot *o)
{
	return o->args->verb->run == mp_cmd_call && mp_answer_is_possible();
}

/* --- from the upstream ----------------------------------------------------------------------- */

static void ready(void *u)
{
	struct mp_oneshot *o = u;

	o->is_ready = true;
	mp_timer_stop(&o->blink);
	mp_progress_line_clear(&o->line);
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

	mp_forms_drop_all(&o->forms);
	if (!mp_call_is_at_rest(&o->call))
		mp_peer_cancel(&o->call);
	else
		mp_oneshot_finish(o, MP_EXIT_INTERRUPTED);
	mp_progress_line_show(&o->line, MP_STR("cancelling ..."));
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

static void call_answered(struct mp_call *c, const struct mp_answer *answer)
{
	struct mp_oneshot *o = mp_container_of(c, struct mp_oneshot, call);

	o->call_fn(answer, o->call_u);
}

static void call_progressed(struct mp_call *c, const struct mp_message *m)
{
	mp_progress_line_show_progress(&mp_container_of(c, struct mp_oneshot, call)->line, m);
}

int mp_oneshot_call(struct mp_oneshot *o, const struct mp_call_options *options,
		    void (*fn)(const struct mp_answer *answer, void *u), void *u)
{
	static const struct mp_call_hooks hooks = {.answered = call_answered};
	static const struct mp_call_hooks tool_hooks = {.answered = call_answered,
							.progress = call_progressed};
	bool is_tool = options->method == MP_METHOD_TOOLS_CALL;
	struct mp_call_options kept = *options;
	int r = mp_buf_add_str(&o->params, options->params);

	if (r < 0)
		return r;
	kept.params = mp_buf_get(&o->params);
	o->call_fn = fn;
	o->call_u = u;
	mp_call_init(&o->call, o->loop, is_tool ? &tool_hooks : &hooks);
	return mp_upstream_call(o->up, &o->call, &kept);
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
	mp_buf_init(&o->params, MP_LIMIT_MESSAGE);
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
		.me = has_person(o) ? &identity_with_person : &mp_cli_identity,
		.answerer = has_person(o) ? &o->answerer : NULL,
		.eras = o->args->era,
		.timeout_ms = mp_oneshot_get_timeout(o, MP_LIMIT_ONE_SHOT_MS),
		.dial = dial,
		.dial_u = o,
	};
	int r = mp_loop_new(&o->loop);

	o->answerer = (struct mp_answerer){.ask = asked, .withdraw = withdrawn, .u = o};
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	mp_forms_init(&o->forms, o->loop, &o->line, filled, o);
	o->dialer = mp_dialer_new(o->loop, NULL);
	o->began_ms = mp_loop_now_ms(o->loop);
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
	mp_progress_line_clear(&o.line);
	o.up = mp_upstream_free(o.up);
	o.dialer = mp_dialer_free(o.dialer);
	mp_environment_free(o.env);
	mp_buf_done(&o.log_file);
	mp_buf_done(&o.params);
	o.loop = mp_loop_free(o.loop);
	return mp_print_finish(o.exit_code);
}
