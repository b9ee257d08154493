/*
 * cmd_prompts.c - `mcpool prompts` and `mcpool prompt`, of one server behind --; of all of them
 * they are offers.c and cmd_use_configured.c.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/cli.h"
#include "cli/offers.h"
#include "cli/verbs.h"

struct job {
	const struct mp_cli_args *args;
	struct mp_oneshot *oneshot;
	struct mp_catalog_list prompts;
};

static void print_as_json(const struct job *job, const char *server)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, (size_t)4 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_cmd_write_list(&w, "prompts", &job->prompts);
	mp_write_key(&w, MP_STR("errors"));
	mp_write_begin_array(&w);
	mp_print_write_errors(&w, server, &job->prompts);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static void got_prompts(struct mp_oneshot *o, void *u)
{
	struct job *job = u;
	const char *server = mp_oneshot_get_name(o);

	if (job->args->json) {
		print_as_json(job, server);
	} else {
		mp_print_problems(server, &job->prompts);
		mp_cmd_print_list(&job->prompts);
		if (job->prompts.n == 0)
			fprintf(stderr, "%s has no prompts.\n", server);
	}
	mp_oneshot_finish(o, MP_EXIT_DONE);
}

static void begin_list(struct mp_oneshot *o, void *u)
{
	struct job *job = u;

	mp_oneshot_fetch(o, &job->prompts, got_prompts, job);
}

static int run(const struct mp_cli_args *args, mp_oneshot_fn fn)
{
	struct job job = {.args = args};
	int r;

	if (mp_cli_lacks_command(args))
		return MP_EXIT_USAGE;
	mp_catalog_list_init(&job.prompts, MP_CATALOG_PROMPT);
	r = mp_oneshot_run(args, fn, &job);
	mp_catalog_list_done(&job.prompts);
	return r;
}

int mp_cmd_prompts(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct mp_offers all = {.args = &args, .kinds = {MP_CATALOG_PROMPT}, .n_kinds = 1};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	if (r)
		return r - 1;
	if (!args.command)
		return mp_offers_run(&all);
	return mp_cmd_has_words(&args) ? MP_EXIT_USAGE : run(&args, begin_list);
}

/* --- prompt ---------------------------------------------------------------------------------- */

int mp_cmd_print_messages(struct mp_str result)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value messages;
	size_t n = 0;
	int r;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	r = mp_tape_parse(&t, result, NULL);
	if (r < 0)
		return r;
	messages = mp_value_get(&t, MP_ROOT, "messages");
	if (!mp_value_is(&t, messages, MP_TAPE_ARRAY))
		return MCPOOL_EPROTO;
	MP_VALUE_EACH(&t, messages, v) {
		struct mp_str role;

		if (mp_value_text(&t, mp_value_get(&t, v, "role"), &arena, &role) < 0)
			role = MP_STR("?");
		if (n++)
			putchar('\n');
		mp_print_text(role);
		puts(":");
		mp_print_content(&t, mp_value_get(&t, v, "content"), true);
		putchar('\n');
	}
	return 0;
}

static void got_prompt(const struct mp_answer *answer, void *u)
{
	struct job *job = u;

	mp_oneshot_show(job->oneshot, "prompts/get", answer, mp_cmd_print_messages);
}

/* The arguments of a prompt are texts, all of them. */
int mp_cmd_write_prompt(const struct mp_cli_args *args, struct mp_str name, struct mp_buf *out,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf arguments;
	struct mp_writer w;
	int r;

	mp_buf_init(&arguments, MP_LIMIT_MESSAGE);
	r = mp_typed_build(MP_STR("{\"additionalProperties\":{\"type\":\"string\"}}"), MP_STR(""),
			   args->words + 1, args->n_words - 1, &arguments, reterr);
	if (r < 0)
		return r;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", name);
	mp_write_member_raw(&w, "arguments", mp_buf_get(&arguments));
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

static void ask(struct mp_oneshot *o, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct job *job = u;
	struct mp_call_options options = {
		.method = MP_METHOD_PROMPTS_GET,
		.timeout_ms = mp_oneshot_get_timeout(o, MP_LIMIT_ONE_SHOT_MS),
	};
	const char *name = job->args->words[0];
	struct mcpool_error why;
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	job->oneshot = o;
	if (!mp_catalog_find(&job->prompts, mp_str_of(name))) {
		mp_cmd_fail_missing(o, &job->prompts, name);
		return;
	}
	r = mp_cmd_write_prompt(job->args, mp_str_of(name), &params, &why);
	options.params = mp_buf_get(&params);
	if (r == 0) {
		r = mp_oneshot_call(o, &options, got_prompt, job);
		if (r < 0)
			(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
	}
	if (r < 0)
		mp_oneshot_fail(o, "prompts/get", &why);
}

static void begin_prompt(struct mp_oneshot *o, void *u)
{
	struct job *job = u;

	mp_oneshot_fetch(o, &job->prompts, ask, job);
}

int mp_cmd_prompt(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	if (r)
		return r - 1;
	return args.command ? run(&args, begin_prompt) : mp_cmd_prompt_configured(&args);
}
