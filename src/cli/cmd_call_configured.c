/*
 * cmd_call_configured.c - `mcpool call` among all configured servers: only the one that has the
 * tool is started.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/failure.h"
#include "cli/seek.h"
#include "cli/verbs.h"
#include "pool/lease.h"

struct job {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	struct mp_str given;
	struct mp_inproc *hub;
	struct mp_seek seek;
	mp_id lease; /* what Ctrl-C cancels; 0: none */
};

/* --- the answer ------------------------------------------------------------------------------ */

/* On stderr without the words that are for programs. */
static const char *words_of(const struct mcpool_error *why)
{
	static const char start[] = "MCP error: ";

	return strncmp(why->message, start, sizeof(start) - 1) == 0
		       ? why->message + sizeof(start) - 1
		       : why->message;
}

/* It never was up: what is to be said is why it is not (B65). False: it was. */
static bool blame_start(const struct job *job, const struct mp_lease_answer *a, int *ret_exit_code)
{
	ptrdiff_t i = mp_view_find(mp_inproc_get_view(job->hub), a->server);
	struct mp_fate f;

	if (i < 0 || a->error->code != MCPOOL_EUNAVAILABLE)
		return false;
	mp_fate_read(job->hub, (size_t)i, 0, &f);
	if (f.status.state != MP_SHOWN_FAILED || f.status.starts == 0)
		return false;
	mp_fate_complain(&f, "\"timeout\"", f.status.entry->tuning.timeout_ms);
	*ret_exit_code = f.exit_code;
	return true;
}

static int get_exit_code(const struct mp_lease_answer *a)
{
	/* A command that is not there is no missing tool. */
	if (a->error->code == MCPOOL_ENOENT || a->error->code == MCPOOL_EINVAL)
		return MP_EXIT_START;
	return mp_cli_exit_code(a->error);
}

static int tell_failure(const struct job *job, const struct mp_lease_answer *a)
{
	struct mp_failure failure = {
		.server = a->server,
		.why = a->error,
		.outcome = a->outcome,
		.attempt = a->attempt,
		.retryable = a->retryable,
		.next_at_ms = a->next_at_ms,
		.tail = a->tail,
	};
	int exit_code = get_exit_code(a);

	if (!blame_start(job, a, &exit_code)) {
		mp_cli_complain_as(a->error->code, "%s", words_of(a->error));
		mp_print_tail(a->tail);
	}
	if (job->args->json)
		mp_failure_print(&failure);
	return exit_code;
}

/* The server's own error, as it wrote it. */
static int tell_error(const struct job *job, const struct mp_lease_answer *a)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str words;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	words = mp_error_read_words(a->message, &arena);
	mp_cli_complain("%s: tools/call: %.*s (%lld)", a->server, MP_STR_ARGS(words),
			(long long)mp_error_read_code(a->message));
	if (job->args->json)
		mp_failure_print_error(mp_value_source(a->message->tape, a->message->error));
	return MP_EXIT_PROTOCOL;
}

/* The result as it is, and whose it was (B51). */
static int add_origin(const struct job *job, const struct mp_lease_answer *a, struct mp_buf *out)
{
	const char *provider = mp_inproc_get_provider(job->hub, a->server);
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "server", mp_str_of(a->server));
	if (job->seek.found)
		mp_write_member_text(&w, "tool", job->seek.found->name);
	if (provider)
		mp_write_member_text(&w, "provider", mp_str_of(provider));
	MP_VALUE_EACH(a->message->tape, a->message->result, key) {
		mp_write_raw_key(&w, mp_value_source(a->message->tape, key));
		mp_write_raw(&w, mp_value_source(a->message->tape, mp_value_of(key)));
	}
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int tell_result(const struct job *job, const struct mp_lease_answer *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str result = mp_value_source(a->message->tape, a->message->result);
	int r;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	if (job->args->json && add_origin(job, a, &text) == 0)
		result = mp_buf_get(&text);
	r = mp_print_result(result, job->args->json, &job->c->set->settings.result);

	if (r < 0) {
		mp_cli_complain("%s: tools/call: the result is too large to show", a->server);
		return MP_EXIT_PROTOCOL;
	}
	return r;
}

static void answered(const struct mp_lease_answer *answer, void *u)
{
	struct job *job = u;
	int exit_code = MP_EXIT_INTERRUPTED;

	job->lease = 0;
	mp_line_clear(mp_inproc_get_line(job->hub));
	if (mp_inproc_is_interrupted(job->hub))
		exit_code = MP_EXIT_INTERRUPTED;
	else if (answer->outcome != MP_OUTCOME_ANSWERED)
		exit_code = tell_failure(job, answer);
	else if (answer->message->kind == MP_MESSAGE_ERROR)
		exit_code = tell_error(job, answer);
	else
		exit_code = tell_result(job, answer);
	mp_inproc_finish(job->hub, exit_code);
}

static void progressed(const struct mp_message *m, void *u)
{
	struct job *job = u;

	mp_line_show_progress(mp_inproc_get_line(job->hub), m);
}

/* --- the question ---------------------------------------------------------------------------- */

static int start(struct job *job, const struct mp_tool *tool, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_lease_request rq = {
		.server = tool->server,
		.session = MP_INPROC_SESSION,
		.method = MP_METHOD_TOOLS_CALL,
		.tool = tool->item->name,
		.timeout_ms = job->args->timeout_ms,
		.on_progress = progressed,
	};
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	r = mp_cmd_write_call(job->args, job->given, tool->item, &params, reterr);
	if (r < 0)
		return r;
	rq.params = mp_buf_get(&params);
	return mp_lease_call(mp_inproc_get_view(job->hub), &rq, answered, job, &job->lease, reterr);
}

static void sought(void *u)
{
	struct job *job = u;
	const struct mp_tool *tool = job->seek.found ? job->seek.found->u : NULL;
	struct mcpool_error why;

	if (!tool) {
		mp_inproc_finish(job->hub, mp_seek_complain(&job->seek));
	} else if (start(job, tool, &why) < 0) {
		mp_cli_complain_as(why.code, "%s: tools/call: %s", tool->server, why.message);
		mp_inproc_finish(job->hub, mp_cli_exit_code(&why));
	}
}

static void begin(struct mp_inproc *p, void *u)
{
	struct job *job = u;

	job->hub = p;
	job->seek = (struct mp_seek){.c = job->c,
				     .name = mp_str_of(job->args->words[0]),
				     .max_ms = MP_LIMIT_ONE_SHOT_MS,
				     .fn = sought,
				     .u = job};
	mp_seek_start(&job->seek, p);
}

/* The server is told, and its answer to that is the end. */
static bool interrupted(struct mp_inproc *p, void *u)
{
	struct job *job = u;

	if (!job->lease)
		return false;
	mp_lease_cancel(mp_inproc_get_pool(p), job->lease);
	return true;
}

int mp_cmd_call_configured(const struct mp_cli_args *args, struct mp_str given)
{
	static const struct mp_inproc_hooks hooks = {.ready = begin, .interrupted = interrupted};
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_inproc_options options = {.c = &c, .args = args};
	struct job job = {.c = &c, .args = args, .given = given};
	int r = mp_configured_load_all(&c, args);

	if (r)
		return r;
	mp_configured_tell(&c, true);
	r = mp_inproc_run(&options, &hooks, &job);
	mp_seek_done(&job.seek);
	return r;
}
