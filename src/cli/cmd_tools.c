/*
 * cmd_tools.c - `mcpool tools -- COMMAND`: what tools one server has; offers.c has those of all.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/offers.h"
#include "cli/verbs.h"

struct job {
	const struct mp_cli_args *args;
	struct mp_catalog_list tools;
};

/* A member of the server's own text, or nothing. */
static void copy_member(struct mp_writer *w, const struct mp_tape *t, const char *key)
{
	mp_value v = mp_value_get(t, MP_ROOT, key);

	if (v == MP_NONE)
		return;
	mp_write_key(w, mp_str_of(key));
	mp_write_value(w, t, v);
}

void mp_cmd_write_tool(struct mp_writer *w, struct mp_str public_name, const char *server,
		       const char *provider, const struct mp_catalog_item *item, bool is_live)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	char label[MP_LIMIT_NAME + 64];

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, item->json, NULL) < 0)
		return; /* it was read once; only memory can be short */
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", public_name);
	mp_write_member_text(w, "server", mp_str_of(server));
	mp_write_member_text(w, "tool", item->name);
	if (provider) /* where it comes from, in one line (A43) */
		snprintf(label, sizeof(label), "mcp:%s via %s", server, provider);
	else
		snprintf(label, sizeof(label), "mcp:%.*s", MP_STR_ARGS(item->name));
	mp_write_member_text(w, "label", mp_str_of(label));
	mp_write_member_text(w, "title", item->title);
	mp_write_member_text(w, "description", item->description);
	copy_member(w, &t, "inputSchema");
	copy_member(w, &t, "outputSchema");
	copy_member(w, &t, "annotations");
	mp_write_member_text(w, "state", mp_str_of(is_live ? "live" : "deferred"));
	mp_write_end_object(w);
}

static void print_as_json(const char *server, const struct mp_catalog_list *tools)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, (size_t)4 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("tools"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < tools->n; i++)
		mp_cmd_write_tool(&w, tools->items[i].name, server, NULL, &tools->items[i], true);
	mp_write_end_array(&w);
	mp_write_key(&w, MP_STR("errors"));
	mp_write_begin_array(&w);
	mp_print_write_errors(&w, server, tools);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static bool has_titles(const struct mp_catalog_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].title.len)
			return true;
	return false;
}

void mp_cmd_print_list(const struct mp_catalog_list *l)
{
	struct mp_table_row *rows = mp_alloc((l->n + 1) * sizeof(*rows));
	bool titles = has_titles(l);

	for (size_t i = 0; i < l->n; i++) {
		rows[i].cells[0] = l->items[i].name;
		rows[i].cells[1] = titles ? l->items[i].title : l->items[i].description;
		rows[i].cells[2] = l->items[i].description;
	}
	if (titles)
		mp_print_items(rows, l->n);
	else
		mp_print_table(rows, l->n, 2);
	mp_free(rows);
}

void mp_cmd_print_schema(const struct mp_catalog_item *item)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, item->json, NULL) == 0)
		mp_print_json(mp_value_source(&t, mp_value_get(&t, MP_ROOT, "inputSchema")));
}

static void print_schema(const struct job *job, struct mp_oneshot *o)
{
	const struct mp_catalog_item *item =
		mp_catalog_find(&job->tools, mp_str_of(job->args->schema));

	if (item)
		mp_cmd_print_schema(item);
	else
		mp_cmd_fail_missing(o, &job->tools, job->args->schema);
}

static void got_tools(struct mp_oneshot *o, void *u)
{
	struct job *job = u;
	const char *server = mp_oneshot_get_name(o);

	if (job->args->schema) {
		print_schema(job, o);
	} else if (job->args->json) {
		print_as_json(server, &job->tools);
	} else {
		mp_print_problems(server, &job->tools);
		mp_cmd_print_list(&job->tools);
		if (job->tools.n == 0)
			fprintf(stderr, "%s has no tools.\n", server);
	}
	mp_oneshot_finish(o, MP_EXIT_DONE); /* unless it has failed */
}

static void begin(struct mp_oneshot *o, void *u)
{
	struct job *job = u;

	mp_oneshot_fetch(o, &job->tools, got_tools, job);
}

bool mp_cmd_has_words(const struct mp_cli_args *args)
{
	if (args->n_words)
		mp_cli_complain("this is one argument too many: '%s'. See `mcpool %s --help`.",
				args->words[0], args->verb->name);
	return args->n_words > 0;
}

int mp_cmd_tools(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct job job = {.args = &args};
	struct mp_offers all = {.args = &args, .kinds = {MP_CATALOG_TOOL}, .n_kinds = 1};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	if (r)
		return r - 1;
	if (!args.command)
		return mp_offers_run(&all);
	if (mp_cli_lacks_command(&args))
		return MP_EXIT_USAGE;
	if (mp_cmd_has_words(&args))
		return MP_EXIT_USAGE;
	mp_catalog_list_init(&job.tools, MP_CATALOG_TOOL);
	r = mp_oneshot_run(&args, begin, &job);
	mp_catalog_list_done(&job.tools);
	return r;
}
