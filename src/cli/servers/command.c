/*
 * command.c - the server after `-- COMMAND`: its set, and messages about its failures.
 * A failure is reported once, with the server's name, the stage, the cause and its last stderr
 * lines.
 */
#include "cli/servers/command.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/display/failure.h"
#include "config/read/load.h"
#include "session/failed_call.h"

/* Each stage of a start has its own timeout. */
#define LONGEST_WAIT_MS ((int64_t)24 * 3600 * 1000)

/* --- its set --------------------------------------------------------------------------------- */

/* Name it after its command or its host. */
static void command_name(char *const *command, char *out, size_t size)
{
	bool is_remote = !command[1] && mp_entry_is_address(command[0]);
	const char *host = is_remote ? strstr(command[0], "//") : NULL;
	size_t n = host ? strcspn(host + 2, "/?#") : 0;
	const char *at = host ? memrchr(host + 2, '@', n) : NULL;

	if (at) { /* hide the user name; a password may contain another @ */
		n -= (size_t)(at + 1 - (host + 2));
		host = at - 1;
	}
	if (host)
		snprintf(out, size, "%.*s", (int)n, host + 2);
	else
		mp_cli_name_command(command, out, size);
}

int mp_command_load(struct mp_configured *c, const struct mp_cli_args *args,
		    const enum mp_catalog_kind *kinds, size_t n_kinds,
		    struct mp_reach_options *ret_options)
{
	char name[64];

	*c = (struct mp_configured){.cwd = "."};
	command_name(args->command, name, sizeof(name));
	c->set = mp_config_make_typed(name, args->command);
	if (!c->set) {
		mp_cli_complain("%s", mcpool_error_text(MCPOOL_ENOMEM));
		return MP_EXIT_START;
	}
	ret_options->tool = MP_STR(""); /* set by a call */
	ret_options->start_timeout_ms = args->timeout_ms ? args->timeout_ms : MP_LIMIT_ONE_SHOT_MS;
	ret_options->skipped_lists = (1U << MP_CATALOG_COUNT) - 1;
	for (size_t i = 0; i < n_kinds; i++)
		ret_options->skipped_lists &= ~(1U << kinds[i]);
	return MP_EXIT_DONE;
}

static const struct mp_entry *command_get_entry(const struct mp_reach *r)
{
	return mp_reach_get_options(r)->c->set->entries[0];
}

const char *mp_command_get_name(const struct mp_reach *r)
{
	return command_get_entry(r)->name;
}

/* --- messages -------------------------------------------------------------------------------- */

struct failure {
	const char *stage; /* "tools/call"; "": the message names it */
	const struct mcpool_error *why;
	enum mp_outcome outcome;
	bool was_ready;                 /* the server was ready before */
	struct mp_str tail;             /* its last stderr lines */
	const struct mp_message *error; /* the server's own error; or NULL */
};

/* The code that clients of the hub get (doc/protocol.md, "Errors"). */
static int get_public_code(int code)
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

static void failure_make_public(const struct failure *f, const char *name, struct mcpool_error *ret)
{
	(void)mp_fail_because(ret, get_public_code(f->why->code), f->why,
			      "MCP error: server '%s': %s%s%s", name, f->stage,
			      f->stage[0] ? ": " : "", f->why->message);
}

static struct mp_failed_call failure_describe(const struct failure *f, const struct mp_reach *r,
					      const struct mcpool_error *public)
{
	const struct mp_entry *e = command_get_entry(r);

	return (struct mp_failed_call){
		.server = e->name,
		.tool = mp_reach_get_options(r)->tool,
		.transport = mp_kind_get_name(e->kind),
		.why = public,
		.outcome = f->outcome,
		.was_up = f->was_ready,
		.was_out = f->was_ready && f->outcome != MP_OUTCOME_NOT_SENT,
		/*
		 * Other failures would happen again, or the call may have taken effect; a command
		 * that cannot be run fails again too.
		 */
		.retryable = public->code == MCPOOL_EUNAVAILABLE && public->fault,
		.tail = mp_failed_call_get_last_lines(f->tail),
	};
}

static bool failure_is_misuse(const struct failure *f)
{
	return !f->error && (f->why->code == MCPOOL_EINVAL || f->why->code == MCPOOL_ENOENT);
}

/* In the form that clients of the hub get, and as text (U23). Usage errors take one line. */
static void failure_tell_call(const struct failure *f, const struct mp_reach *r)
{
	bool json = mp_reach_get_options(r)->args->json;
	const char *name = mp_command_get_name(r);
	struct mcpool_error public;
	struct mp_failed_call call;

	failure_make_public(f, name, &public);
	call = failure_describe(f, r, &public);
	if (f->error) {
		mp_failure_tell_error(&call, f->error, json);
	} else if (!failure_is_misuse(f)) {
		mp_failure_tell(&call, json);
	} else {
		mp_cli_complain("%s: %s%s%s", name, f->stage, f->stage[0] ? ": " : "",
				f->why->message);
		call.tail = MP_STR("");
		if (json)
			mp_failure_print(&call);
	}
}

static void print_empty_lists(const struct mp_reach *r, const struct mcpool_error *why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	for (const char *const *list = mp_reach_get_options(r)->args->verb->json_lists; *list;
	     list++)
		mp_write_member_raw(&w, *list, MP_STR("[]"));
	mp_write_key(&w, MP_STR("errors"));
	mp_write_begin_array(&w);
	mp_print_write_error(&w, mp_command_get_name(r), why->message);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* A list that could not be fetched; with its errors as JSON. */
static void failure_tell_lists(const struct failure *f, const struct mp_reach *r)
{
	struct mcpool_error full;

	(void)mp_fail(&full, f->why->code, "%s%s%s", f->stage, f->stage[0] ? ": " : "",
		      f->why->message);
	mp_cli_complain("%s: %s", mp_command_get_name(r), full.message);
	if (!failure_is_misuse(f))
		mp_print_tail(mp_failed_call_get_last_lines(f->tail));
	if (mp_reach_get_options(r)->args->json)
		print_empty_lists(r, &full);
}

/* Returns the exit code. */
static int failure_tell(const struct failure *f, struct mp_reach *r)
{
	mp_progress_line_clear(mp_reach_get_line(r));
	if (mp_reach_is_interrupted(r))
		return MP_EXIT_INTERRUPTED;
	if (mp_reach_get_options(r)->args->verb->json_lists)
		failure_tell_lists(f, r);
	else
		failure_tell_call(f, r);
	return mp_cli_exit_code(f->why);
}

void mp_command_fail(struct mp_reach *r, const char *stage, const struct mcpool_error *why)
{
	struct failure f = {
		.stage = stage, .why = why, .outcome = MP_OUTCOME_NOT_SENT, .was_ready = true};

	mp_reach_finish(r, failure_tell(&f, r));
}

/* The length of the common prefix, and whether one name contains the other. */
static size_t get_likeness(struct mp_str a, struct mp_str b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && (a.p[n] | 32) == (b.p[n] | 32))
		n++;
	if (n < 2 && mp_str_find(a, b, 0) < 0 && mp_str_find(b, a, 0) < 0)
		return 0;
	return n + 1;
}

static const struct mp_catalog_item *find_alike(const struct mp_catalog_list *l, struct mp_str name)
{
	const struct mp_catalog_item *best = NULL;
	size_t score = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t like = get_likeness(l->items[i].name, name);

		if (like > score) {
			score = like;
			best = &l->items[i];
		}
	}
	return best;
}

void mp_command_fail_missing(struct mp_reach *r, const struct mp_catalog_list *l, const char *name)
{
	const char *what = l->kind == MP_CATALOG_TOOL ? "tool" : "prompt";
	const struct mp_catalog_item *best = find_alike(l, mp_str_of(name));
	struct mcpool_error why;

	if (best)
		(void)mp_fail(&why, MCPOOL_ENOENT, "it has no %s '%s'. Did you mean '%.*s'?", what,
			      name, MP_STR_ARGS(best->name));
	else
		(void)mp_fail(&why, MCPOOL_ENOENT,
			      "it has no %s '%s'. `mcpool %ss` lists the %zu it has.", what, name,
			      what, l->n);
	mp_command_fail(r, "", &why);
}

/* --- its start ------------------------------------------------------------------------------- */

void mp_command_start(struct mp_reach *r, void (*fn)(void *u), void *u)
{
	static const struct mp_reach_look all = {.start = MP_REACH_START_ALL,
						 .max_ms = LONGEST_WAIT_MS};

	mp_reach_look(r, &all, fn, u);
}

/* The list that was requested when it ended; "" if its message says so. */
static const char *get_list_stage(const struct mp_reach *r, const struct mp_status *status)
{
	unsigned skipped = mp_reach_get_options(r)->skipped_lists;
	const char *first = "";

	for (int kind = MP_CATALOG_COUNT - 1; kind >= 0; kind--) {
		const char *method = mp_catalog_get_method((enum mp_catalog_kind)kind);

		if (strncmp(status->message, method, strlen(method)) == 0)
			return "";
		if (!(skipped & 1U << kind))
			first = method;
	}
	return first;
}

/* A missing command is not a missing tool. */
static int command_tell_start(struct mp_reach *r, const struct mp_status *status)
{
	struct mcpool_error why;
	int code = status->code ? (int)status->code : MCPOOL_EUNAVAILABLE;
	struct failure f = {.stage = (status->handshake_us >= 0) ? get_list_stage(r, status) : "",
			    .why = &why,
			    .outcome = MP_OUTCOME_NOT_SENT,
			    .was_ready = (status->handshake_us >= 0),
			    .tail = mp_str_of(status->tail)};

	if (!(status->handshake_us >= 0) && (code == MCPOOL_ENOENT || code == MCPOOL_EINVAL))
		code = MCPOOL_EUNAVAILABLE;
	(void)mp_fail(&why, code, "%s", status->message);
	why.fault = (int)status->fault;
	return failure_tell(&f, r);
}

const struct mp_status *mp_command_get_row(struct mp_reach *r)
{
	const struct mp_status *status = &mp_reach_get_servers(r)->items[0];

	if (status->state == MP_STATUS_CONNECTED && status->catalog)
		return status;
	mp_reach_finish(r, command_tell_start(r, status));
	return NULL;
}

/* --- the result of a call -------------------------------------------------------------------- */

/* The cause as the upstream reports it. */
static void read_cause(int64_t timeout_ms, const struct mp_pool_answer *a,
		       const struct mp_status *status, struct mcpool_error *ret)
{
	*ret = a->cause ? *a->cause : *a->error;
	if (a->outcome == MP_OUTCOME_TIMEOUT) {
		(void)mp_fail(ret, MCPOOL_ECALL_TIMEOUT, "no answer within %g s",
			      (double)timeout_ms / 1000);
	} else if (!a->cause && status && status->code) { /* it exited before */
		(void)mp_fail(ret, (int)status->code, "%s", status->message);
		ret->fault = (int)status->fault;
	}
}

/* The server's own error, unchanged. */
static int tell_error(struct mp_reach *r, const char *method, const struct mp_message *message,
		      const char *tail)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mcpool_error why;
	struct failure f = {.stage = method,
			    .why = &why,
			    .outcome = MP_OUTCOME_ANSWERED,
			    .was_ready = true,
			    .tail = mp_str_of(tail),
			    .error = message};

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	(void)mp_fail(&why, MCPOOL_EPROTO, "%.*s (%lld)",
		      MP_STR_ARGS(mp_error_read_words(message, &arena)),
		      (long long)mp_error_read_code(message));
	return failure_tell(&f, r);
}

int mp_command_tell_failure(struct mp_reach *r, struct mp_command_request rq,
			    const struct mp_pool_answer *a, const struct mp_status *status)
{
	struct mcpool_error why;
	struct failure f = {.stage = rq.method,
			    .why = &why,
			    .outcome = a->outcome,
			    .was_ready = true,
			    .tail = mp_str_of(status ? status->tail : "")};

	if (a->outcome == MP_OUTCOME_ANSWERED)
		return tell_error(r, rq.method, a->message, status ? status->tail : "");
	read_cause(rq.timeout_ms, a, status, &why);
	return failure_tell(&f, r);
}

int mp_command_refuse_result(struct mp_reach *r, const char *method, int code)
{
	struct mcpool_error why;
	struct failure f = {
		.stage = method, .why = &why, .outcome = MP_OUTCOME_REFUSED, .was_ready = true};

	if (strcmp(method, "tools/call") == 0)
		(void)mp_fail(&why, code, "the result is too large to show");
	else
		(void)mp_fail(&why, code, "the answer cannot be shown: %s",
			      mcpool_error_text(code));
	return failure_tell(&f, r);
}
