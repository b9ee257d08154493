/*
 * outcome.c - reports the result of one request to a configured server.
 */
#include "cli/servers/outcome.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/servers/command.h"
#include "cli/servers/diagnosis.h"
#include "cli/display/failure.h"
#include "session/text.h"

/* The server was not up during the call: report why (B65). False: it was up. */
static bool blame_start(const struct mp_pool_answer *a, const struct mp_status *status,
			struct mcpool_error *why, int *ret_exit_code)
{
	struct mp_diagnosis f;

	if (!status ||
	    (a->error->code != MCPOOL_EUNAVAILABLE && a->error->code != MCPOOL_ERESTART_FAILED &&
	     a->error->code != MCPOOL_ERESTARTING))
		return false;
	mp_diagnosis_read(status, 0, &f);
	if (status->state != MP_STATUS_FAILED || status->starts == 0)
		return false;
	(void)mp_fail_because(why, a->error->code, a->error,
			      "MCP error: Failed to connect to \"%s\": %s", f.status->name,
			      f.message);
	*ret_exit_code = f.exit_code;
	return true;
}

static int get_exit_code(const struct mp_pool_answer *a)
{
	/* A missing command is not a missing tool. */
	if (a->error->code == MCPOOL_ENOENT || a->error->code == MCPOOL_EINVAL)
		return MP_EXIT_START;
	return mp_cli_exit_code(a->error);
}

/* Resources and prompts are not tools: an error about one must not point to a schema. */
static struct mp_str teller_get_tool(const struct mp_outcome_teller *t)
{
	return strcmp(t->method, "tools/call") == 0 ? t->name : MP_STR("");
}

static int tell_failure(const struct mp_outcome_teller *t, const struct mp_pool_answer *a,
			const struct mp_status *status)
{
	struct mp_failed_call f = mp_failed_call_of(a, teller_get_tool(t));
	struct mcpool_error why;
	int exit_code = get_exit_code(a);

	if (blame_start(a, status, &why, &exit_code))
		f.why = &why;
	mp_failure_tell(&f, t->args->json);
	return exit_code;
}

/* The server's own error, unchanged. */
static int tell_error(const struct mp_outcome_teller *t, const struct mp_pool_answer *a)
{
	const struct mp_status *status =
		mp_status_list_find(mp_reach_get_servers(t->reach), a->server);
	struct mp_failed_call f = {
		.server = a->server,
		.is_configured = true,
		.tool = teller_get_tool(t),
		.transport = status ? status->transport : NULL,
		.took_us = a->took_us,
	};

	mp_failure_tell_error(&f, a->message, t->args->json);
	return MP_EXIT_PROTOCOL;
}

/* The members of a tool's result that --json has as they are; all others are its extras. */
static bool is_common(const struct mp_tape *t, mp_value key)
{
	static const char *const keys[] = {"content", "structuredContent", "isError", "_meta"};

	for (size_t i = 0; i < MP_ARRAY_LEN(keys); i++)
		if (mp_value_text_is(t, key, mp_str_of(keys[i])))
			return true;
	return false;
}

enum { COMMON = 1, EXTRAS = 2 };

static void add_members(struct mp_writer *w, const struct mp_message *m, int which)
{
	MP_VALUE_EACH(m->tape, m->result, key) {
		if (!(which & (is_common(m->tape, key) ? COMMON : EXTRAS)))
			continue;
		mp_write_raw_key(w, mp_value_source(m->tape, key));
		mp_write_raw(w, mp_value_source(m->tape, mp_value_of(key)));
	}
}

/* The record of a tool call (E26); no member of the server's can pass for one of ours. */
static int add_record(struct mp_writer *w, const char *join, const struct mp_pool_answer *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	bool is_error = false;
	int r;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	r = mp_text_project(mp_value_source(a->message->tape, a->message->result), join, &text,
			    &is_error);
	if (r < 0)
		return r;
	mp_write_member_bool(w, "ok", !is_error);
	mp_write_member_text(w, "result", mp_buf_get(&text));
	mp_write_key(w, MP_STR("latencyMs"));
	mp_write_f64(w, (double)a->took_us / 1000);
	mp_write_member_text(w, "kind", MP_STR("mcp"));
	mp_write_member_text(w, "namespace", mp_str_of(a->server));
	add_members(w, a->message, COMMON);
	mp_write_key(w, MP_STR("extras"));
	mp_write_begin_object(w);
	add_members(w, a->message, EXTRAS);
	mp_write_end_object(w);
	return 0;
}

/* The result, and its server (B51). */
static int add_origin(const struct mp_outcome_teller *t, const struct mp_pool_answer *a,
		      struct mp_buf *out)
{
	struct mp_writer w;
	int r;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "server", mp_str_of(a->server));
	if (t->key)
		mp_write_member_text(&w, t->key, t->name);
	if (t->provider)
		mp_write_member_text(&w, "provider", mp_str_of(t->provider));
	if (t->join) {
		r = add_record(&w, t->join, a);
		if (r < 0)
			return r;
	} else {
		add_members(&w, a->message, COMMON | EXTRAS);
	}
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int tell_result(const struct mp_outcome_teller *t, const struct mp_pool_answer *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str result = mp_value_source(a->message->tape, a->message->result);
	struct mp_str json = t->args->json ? result : MP_STR("");
	int r;

	mp_buf_init(&text, 4 * MP_LIMIT_MESSAGE);
	if (t->args->json && !t->args->command && add_origin(t, a, &text) == 0)
		json = mp_buf_get(&text);
	r = t->print(result, json, t->u);
	if (r >= 0)
		return r;
	if (t->args->command)
		return mp_command_refuse_result(t->reach, t->method, r);
	mp_cli_complain("%s: %s: %s", a->server, t->method,
			r == MCPOOL_EPROTO ? "the answer cannot be shown"
					   : "the result is too large to show");
	return MP_EXIT_PROTOCOL;
}

void mp_outcome_tell(const struct mp_pool_answer *a, const struct mp_status *status, void *u)
{
	struct mp_outcome_teller *t = u;
	int exit_code;

	if (mp_reach_is_interrupted(t->reach))
		exit_code = MP_EXIT_INTERRUPTED;
	else if (a->message && a->message->kind == MP_MESSAGE_RESULT)
		exit_code = tell_result(t, a);
	else if (t->args->command)
		exit_code = mp_command_tell_failure(
			t->reach, (struct mp_command_request){t->method, t->timeout_ms}, a, status);
	else if (a->outcome != MP_OUTCOME_ANSWERED)
		exit_code = tell_failure(t, a, status);
	else
		exit_code = tell_error(t, a);
	mp_reach_finish(t->reach, exit_code);
}
