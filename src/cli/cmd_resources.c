/*
 * cmd_resources.c - `mcpool resources` and `mcpool read`, of one server behind --; of all of them
 * they are offers.c and cmd_read_configured.c.
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
	struct mp_catalog_list resources, templates;
};

void mp_cmd_write_list(struct mp_writer *w, const char *key, const struct mp_catalog_list *l)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < l->n; i++)
		mp_write_raw(w, l->items[i].json);
	mp_write_end_array(w);
}

static void print_as_json(const struct job *job, const char *server)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, (size_t)4 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_cmd_write_list(&w, "resources", &job->resources);
	mp_cmd_write_list(&w, "resourceTemplates", &job->templates);
	mp_write_key(&w, MP_STR("errors"));
	mp_write_begin_array(&w);
	mp_print_write_errors(&w, server, &job->resources);
	mp_print_write_errors(&w, server, &job->templates);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static void got_templates(struct mp_oneshot *o, void *u)
{
	struct job *job = u;
	const char *server = mp_oneshot_get_name(o);

	if (job->args->json) {
		print_as_json(job, server);
	} else {
		mp_print_problems(server, &job->resources);
		mp_print_problems(server, &job->templates);
		mp_cmd_print_list(&job->resources);
		mp_cmd_print_list(&job->templates);
		if (job->resources.n + job->templates.n == 0)
			fprintf(stderr, "%s has no resources.\n", server);
	}
	mp_oneshot_finish(o, MP_EXIT_DONE);
}

static void got_resources(struct mp_oneshot *o, void *u)
{
	struct job *job = u;

	mp_oneshot_fetch(o, &job->templates, got_templates, job);
}

static void begin_list(struct mp_oneshot *o, void *u)
{
	struct job *job = u;

	mp_oneshot_fetch(o, &job->resources, got_resources, job);
}

int mp_cmd_resources(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct job job = {.args = &args};
	struct mp_offers all = {
		.args = &args, .kinds = {MP_CATALOG_RESOURCE, MP_CATALOG_TEMPLATE}, .n_kinds = 2};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	if (r)
		return r - 1;
	if (!args.command)
		return mp_offers_run(&all);
	if (mp_cli_lacks_command(&args) || mp_cmd_has_words(&args))
		return MP_EXIT_USAGE;
	mp_catalog_list_init(&job.resources, MP_CATALOG_RESOURCE);
	mp_catalog_list_init(&job.templates, MP_CATALOG_TEMPLATE);
	r = mp_oneshot_run(&args, begin_list, &job);
	mp_catalog_list_done(&job.resources);
	mp_catalog_list_done(&job.templates);
	return r;
}

/* --- read ------------------------------------------------------------------------------------ */

int mp_cmd_print_contents(struct mp_str result)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value contents;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, result, NULL);
	if (r < 0)
		return r;
	contents = mp_value_get(&t, MP_ROOT, "contents");
	if (!mp_value_is(&t, contents, MP_TAPE_ARRAY))
		return MCPOOL_EPROTO;
	MP_VALUE_EACH(&t, contents, v)
		if (r == 0)
			r = mp_print_resource(&t, v);
	return r;
}

int mp_cmd_write_read(struct mp_str uri, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "uri", uri);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static void was_read(const struct mp_answer *answer, void *u)
{
	struct job *job = u;

	mp_oneshot_show(job->oneshot, "resources/read", answer, mp_cmd_print_contents);
}

static void begin_read(struct mp_oneshot *o, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct job *job = u;
	struct mp_call_options options = {
		.method = MP_METHOD_RESOURCES_READ,
		.timeout_ms = mp_oneshot_get_timeout(o, MP_LIMIT_ONE_SHOT_MS),
	};
	struct mcpool_error why;
	int r;

	job->oneshot = o;
	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	r = mp_cmd_write_read(mp_str_of(job->args->words[0]), &params);
	options.params = mp_buf_get(&params);
	if (r == 0)
		r = mp_oneshot_call(o, &options, was_read, job);
	if (r < 0) {
		(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
		mp_oneshot_fail(o, "resources/read", &why);
	}
}

int mp_cmd_read(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct job job = {.args = &args};
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	if (r)
		return r - 1;
	if (!args.command)
		return mp_cmd_read_configured(&args);
	return mp_cli_lacks_command(&args) ? MP_EXIT_USAGE
					   : mp_oneshot_run(&args, begin_read, &job);
}
