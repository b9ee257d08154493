/*
 * connection.c - what a server's entry leads to, as a text that can be compared.
 */
#include "config/values/entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct mp_bind_pair *)a)->key, ((const struct mp_bind_pair *)b)->key);
}

/* In the order of the keys, because the order of a file says nothing. */
static void write_map(struct mp_writer *w, const struct mp_bind_map *map)
{
	MP_CLEANUP(mp_freep) struct mp_bind_pair *pairs = NULL;

	pairs = mp_try_alloc((map->n + 1) * sizeof(*pairs));
	if (!pairs) {
		w->error = w->error ? w->error : MCPOOL_ENOMEM;
		return;
	}
	if (map->n)
		memcpy(pairs, map->items, map->n * sizeof(*pairs));
	qsort(pairs, map->n, sizeof(*pairs), by_key);
	mp_write_begin_object(w);
	for (size_t i = 0; i < map->n; i++)
		mp_write_member_text(w, pairs[i].key, mp_str_of(pairs[i].value));
	mp_write_end_object(w);
}

static void write_argv(struct mp_writer *w, const struct mp_entry *e)
{
	mp_write_begin_array(w);
	for (size_t i = 0; i < e->argc; i++)
		mp_write_text(w, mp_str_of(e->argv[i]));
	mp_write_end_array(w);
}

void mp_entry_write_endpoint(struct mp_writer *w, const struct mp_entry *e)
{
	if (e->kind == MP_KIND_STDIO)
		write_argv(w, e);
	else
		mp_write_text(w, mp_str_of(e->address));
}

/* What tells two connections apart (O12), as it is written. */
void mp_entry_write_connection(struct mp_writer *w, const struct mp_entry *e)
{
	mp_write_begin_array(w);
	mp_write_text(w, mp_str_of(mp_kind_get_name(e->kind)));
	mp_entry_write_endpoint(w, e);
	write_map(w, &e->env);
	write_map(w, &e->headers);
	write_map(w, &e->env_headers);
	write_map(w, &e->tls);
	mp_write_text(w, mp_str_of(e->cwd));
	mp_write_text(w, mp_str_of(e->bearer_variable));
	mp_write_text(w, mp_str_of(e->headers_helper));
	mp_write_text(w, mp_str_of(e->env_file));
	mp_write_text(w, mp_str_of(e->id_format));
	mp_write_text(w, e->auth_json);
	mp_write_text(w, e->oauth_json);
	for (size_t i = 0; i < e->env_vars.n; i++)
		mp_write_text(w, mp_str_of(e->env_vars.items[i]));
	mp_write_text(w, mp_str_of(e->origin.plugin_root)); /* ${CLAUDE_PLUGIN_ROOT} is its own */
	mp_write_end_array(w);
}
