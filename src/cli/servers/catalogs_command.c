/*
 * catalogs_command.c - lists the catalog of the server after `-- COMMAND`, in its order and with
 * its names.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/servers/command.h"
#include "cli/servers/catalogs.h"
#include "cli/servers/tool_json.h"

static const char *const members[] = {
#define X(name, method, list, key, capability) [MP_CATALOG_##name] = list,
	MP_CATALOG_KINDS(X)
#undef X
};

static bool has_titles(const struct mp_catalog_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->items[i].title.len)
			return true;
	return false;
}

/* Name, title and description of each item, in columns. */
static void list_print(const struct mp_catalog_list *l)
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

/* Tools as in all lists of tools, other items as the server wrote them. */
static void list_write(const struct mp_catalog_list *l, const char *server, struct mp_writer *w)
{
	mp_write_key(w, mp_str_of(members[l->kind]));
	mp_write_begin_array(w);
	for (size_t i = 0; i < l->n; i++) {
		if (l->kind == MP_CATALOG_TOOL)
			mp_tool_json_write(w, l->items[i].name, server, NULL, &l->items[i], true);
		else
			mp_write_raw(w, l->items[i].json);
	}
	mp_write_end_array(w);
}

static const struct mp_catalog_list *get_list(const struct mp_catalogs *o,
					      const struct mp_status *status, size_t i)
{
	return &status->catalog->lists[o->kinds[i]]->list;
}

static void print_as_json(const struct mp_catalogs *o, const struct mp_status *status)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, (size_t)4 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	for (size_t i = 0; i < o->n_kinds; i++)
		list_write(get_list(o, status, i), status->name, &w);
	mp_write_key(&w, MP_STR("errors"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < o->n_kinds; i++)
		mp_print_write_errors(&w, status->name, get_list(o, status, i));
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static void print_as_tables(const struct mp_catalogs *o, const struct mp_status *status)
{
	size_t n = 0;

	for (size_t i = 0; i < o->n_kinds; i++)
		mp_print_problems(status->name, get_list(o, status, i));
	for (size_t i = 0; i < o->n_kinds; i++) {
		list_print(get_list(o, status, i));
		n += get_list(o, status, i)->n;
	}
	if (n == 0)
		fprintf(stderr, "%s has no %s.\n", status->name, members[o->kinds[0]]);
}

static void print_schema(const struct mp_catalogs *o, const struct mp_status *status)
{
	const struct mp_catalog_list *l = get_list(o, status, 0);
	const struct mp_catalog_item *item = mp_catalog_find(l, mp_str_of(o->args->schema));

	if (item)
		mp_tool_json_print_schema(item);
	else
		mp_command_fail_missing(o->reach, l, o->args->schema);
}

void mp_catalogs_command_show(void *u)
{
	struct mp_catalogs *o = u;
	const struct mp_status *status = mp_command_get_row(o->reach);

	if (!status)
		return;
	mp_progress_line_clear(mp_reach_get_line(o->reach));
	if (o->args->schema)
		print_schema(o, status);
	else if (o->args->json)
		print_as_json(o, status);
	else
		print_as_tables(o, status);
	mp_reach_finish(o->reach, MP_EXIT_DONE); /* unless it has failed */
}
