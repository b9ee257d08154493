/*
 * cmd_use.c - `mcpool call` and `mcpool prompt`: with the server after `--`, or with the configured
 * server that has the named item; only that one is started.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/display/answer.h"
#include "cli/display/media.h"
#include "cli/servers/command.h"
#include "cli/display/forms.h"
#include "cli/servers/outcome.h"
#include "cli/servers/seek.h"
#include "cli/servers/task_call.h"
#include "cli/verbs/verbs.h"
#include "session/task_tools.h"
#include "session/text.h"

struct job {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	enum mp_catalog_kind kind; /* tools or prompts */
	struct mp_str given;       /* arguments of a tool */
	struct mp_reach *reach;
	const char *server; /* the one being called */
	struct mp_seek seek;
	struct mp_outcome_teller teller;
	struct mp_task_call task;
};

static bool is_call(const struct job *job)
{
	return job->kind == MP_CATALOG_TOOL;
}

static enum mp_method_id get_method(const struct job *job)
{
	return is_call(job) ? MP_METHOD_TOOLS_CALL : MP_METHOD_PROMPTS_GET;
}

/* A shared server gets no client capabilities; most servers then answer with a protocol error. */
static void hint_mode(const struct job *job, struct mp_str result)
{
	const struct mp_status_list *servers = mp_reach_get_servers(job->reach);
	const struct mp_status *status = mp_status_list_find(servers, job->server);

	if (status && status->withheld.n && mp_str_find(result, MP_STR("elicitation"), 0) >= 0)
		mp_cli_complain("a shared server cannot ask for user input; \"mode\": \"session\" "
				"in the entry of \"%s\" allows it",
				job->server);
}

static int cmd_use_save(const struct job *job, struct mp_str result)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	bool is_error = false;
	int r;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	r = mp_text_project(result, job->c->set->settings.result.join, &text, &is_error);
	if (r < 0)
		return r;
	if (!is_error)
		return mp_media_save(result, mp_buf_get(&text), job->args->save);
	mp_print_text(mp_buf_get(&text));
	putchar('\n');
	return MP_EXIT_TOOL_ERROR;
}

static int cmd_use_print(struct mp_str result, struct mp_str json, void *u)
{
	const struct job *job = u;
	int exit_code;

	if (is_call(job)) {
		if (job->args->save)
			return cmd_use_save(job, result);
		exit_code = mp_print_result(result, json, &job->c->set->settings.result);
		if (exit_code >= 0 && !json.len)
			mp_media_show(result);
		if (exit_code == MP_EXIT_TOOL_ERROR && mp_answer_is_possible())
			hint_mode(job, result);
		return exit_code;
	}
	if (!json.len)
		return mp_cmd_print_messages(result);
	mp_print_json(json);
	return MP_EXIT_DONE;
}

static int write_params(const struct job *job, const struct mp_tool *what, struct mp_buf *out,
			struct mcpool_error *reterr)
{
	return is_call(job) ? mp_cmd_write_call(job->args, job->given, what->item, out, reterr)
			    : mp_cmd_write_prompt(job->args, what->item->name, out, reterr);
}

static int64_t get_timeout(const struct job *job)
{
	if (job->args->timeout_ms || (is_call(job) && !job->args->command))
		return job->args->timeout_ms;
	return is_call(job) ? job->c->set->entries[0]->tuning.tool_timeout_ms
			    : MP_LIMIT_ONE_SHOT_MS;
}

static int cmd_use_start(struct job *job, const struct mp_tool *what, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_pool_call_options rq = {
		.server = what->server->name,
		.call.method = get_method(job),
		.tool = is_call(job) ? what->item->name : MP_STR(""),
		.call.timeout_ms = get_timeout(job),
	};
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	r = write_params(job, what, &params, reterr);
	if (r < 0)
		return r;
	rq.call.params = mp_buf_get(&params);
	job->server = what->server->name;
	job->teller = (struct mp_outcome_teller){
		.reach = job->reach,
		.args = job->args,
		.method = mp_method_get(rq.call.method)->name,
		.provider = what->server->provider,
		.key = is_call(job) ? "tool" : "prompt",
		.name = what->item->name,
		.join = is_call(job) ? job->c->set->settings.result.join : NULL,
		.timeout_ms = rq.call.timeout_ms,
		.print = cmd_use_print,
		.u = job};
	if (is_call(job) && mp_task_is_required(what->item->json))
		return mp_task_call_start(&job->task, &job->teller, &rq, reterr);
	return mp_reach_call(job->reach, &rq, mp_outcome_tell, &job->teller, reterr);
}

static void cmd_use_sought(void *u)
{
	struct job *job = u;
	const struct mp_tool *what = job->seek.found ? job->seek.found->u : NULL;
	struct mcpool_error why;

	if (!what) {
		mp_reach_finish(job->reach, mp_seek_complain(&job->seek));
	} else if (cmd_use_start(job, what, &why) < 0) {
		mp_cli_complain_as(why.code, "%s: %s: %s", what->server->name,
				   mp_method_get(get_method(job))->name, why.message);
		mp_reach_finish(job->reach, mp_cli_exit_code(&why));
	}
}

/* The server after `--` has started or failed. */
static void cmd_use_started(void *u)
{
	struct job *job = u;
	const struct mp_status *status = mp_command_get_row(job->reach);
	const struct mp_catalog_list *l = status ? &status->catalog->lists[job->kind]->list : NULL;
	struct mp_tool what = {.server = status, .is_live = true};
	struct mcpool_error why;

	if (!status)
		return;
	what.item = mp_catalog_find(l, mp_str_of(job->args->words[0]));
	if (!what.item)
		mp_command_fail_missing(job->reach, l, job->args->words[0]);
	else if (cmd_use_start(job, &what, &why) < 0)
		mp_command_fail(job->reach, mp_method_get(get_method(job))->name, &why);
}

static void cmd_use_begin(struct mp_reach *r, void *u)
{
	struct job *job = u;

	job->reach = r;
	if (job->args->command) {
		mp_command_start(r, cmd_use_started, job);
		return;
	}
	mp_seek_done(&job->seek);
	job->seek = (struct mp_seek){.c = job->c,
				     .kind = job->kind,
				     .name = mp_str_of(job->args->words[0]),
				     .max_ms = MP_LIMIT_ONE_SHOT_MS,
				     .call = job->args,
				     .fn = cmd_use_sought,
				     .u = job};
	mp_seek_start(&job->seek, r);
}

static int cmd_use_use(const struct mp_cli_args *args, enum mp_catalog_kind kind,
		       struct mp_str given)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_reach_options options = {.c = &c, .args = args};
	struct job job = {.c = &c, .args = args, .kind = kind, .given = given};
	int r = args->command ? mp_command_load(&c, args, &kind, 1, &options)
			      : mp_configured_load_all(&c, args);

	if (r)
		return r;
	mp_configured_tell(&c, true);
	if (is_call(&job))
		options.tool = mp_str_of(args->words[0]);
	if (is_call(&job) && mp_answer_is_possible())
		options.capabilities = MP_STR(MP_FORMS_CAPABILITIES);
	r = mp_reach_run(&options, cmd_use_begin, &job);
	mp_seek_done(&job.seek);
	mp_task_call_done(&job.task);
	return r;
}

int mp_cmd_use_tool(const struct mp_cli_args *args, struct mp_str given)
{
	return cmd_use_use(args, MP_CATALOG_TOOL, given);
}

int mp_cmd_use_prompt(const struct mp_cli_args *args)
{
	return cmd_use_use(args, MP_CATALOG_PROMPT, MP_STR(""));
}
