/*
 * consent_write.c - writes what the user is asked to approve as JSON.
 */
#include <string.h>

#include "cli/verbs/consent.h"

static void write_keys(struct mp_writer *w, const char *key, const struct mp_bind_map *map)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < map->n; i++)
		mp_write_text(w, mp_str_of(map->items[i].key));
	mp_write_end_array(w);
}

static void write_name(void *u, struct mp_str name)
{
	mp_write_text(u, name);
}

static void write_commands(struct mp_writer *w, const struct mp_configured *c,
			   const struct mp_entry *e, const struct mp_bind_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		if (mp_consent_is_command(c, e, map->items[i].value))
			mp_write_text(w, mp_str_of(map->items[i].value + 1));
}

static void write_lines(struct mp_writer *w, const char *key, const char *lines)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (; *lines; lines += strcspn(lines, "\n") + 1)
		mp_write_text(w, (struct mp_str){lines, strcspn(lines, "\n")});
	mp_write_end_array(w);
}

static void write_layer(struct mp_writer *w, char **layer)
{
	mp_write_key(w, MP_STR("envFile"));
	mp_write_begin_array(w);
	for (; layer && *layer; layer++)
		mp_write_text(w, (struct mp_str){*layer, strcspn(*layer, "=")});
	mp_write_end_array(w);
}

static void write_scripts(struct mp_writer *w, const char *scripts)
{
	mp_write_key(w, MP_STR("files"));
	mp_write_begin_array(w);
	while (*scripts) {
		size_t line = strcspn(scripts, "\n"), path = strcspn(scripts, "\t");

		mp_write_text(w, (struct mp_str){scripts, path < line ? path : line});
		scripts += line + (scripts[line] == '\n');
	}
	mp_write_end_array(w);
}

static void write_entry(struct mp_writer *w, const struct mp_configured *c,
			const struct mp_entry *e)
{
	if (e->argc) {
		mp_write_key(w, MP_STR("argv"));
		mp_write_begin_array(w);
		for (size_t i = 0; i < e->argc; i++)
			mp_write_text(w, mp_str_of(e->argv[i]));
		mp_write_end_array(w);
	}
	if (e->cwd)
		mp_write_member_text(w, "cwd", mp_str_of(e->cwd));
	if (e->address)
		mp_write_member_text(w, "url", mp_str_of(e->address));
	write_keys(w, "env", &e->env);
	write_keys(w, "headers", &e->headers);
	mp_write_key(w, MP_STR("commands"));
	mp_write_begin_array(w);
	write_commands(w, c, e, &e->env);
	write_commands(w, c, e, &e->headers);
	mp_write_end_array(w);
	mp_write_key(w, MP_STR("reads"));
	mp_write_begin_array(w);
	if (mp_consent_each_variable(c, e, write_name, w) < 0 && w->error == 0)
		w->error = MCPOOL_ELIMIT;
	mp_write_end_array(w);
	mp_write_key(w, MP_STR("secrets"));
	mp_write_begin_array(w);
	if (mp_consent_each_secret(e, write_name, w) < 0 && w->error == 0)
		w->error = MCPOOL_ELIMIT;
	mp_write_end_array(w);
	write_scripts(w, e->scripts);
	write_layer(w, e->env_layer);
	write_lines(w, "folders", e->folders);
	write_lines(w, "runners", e->runners);
}

static int write_change(void *u, struct mp_str path, struct mp_str before, struct mp_str now)
{
	(void)before;
	(void)now;
	mp_write_text(u, path);
	return 0;
}

/* Secrets in both are sealed or masked. */
static int write_both(void *u, struct mp_str path, struct mp_str before, struct mp_str now)
{
	struct mp_writer *w = u;

	mp_write_begin_object(w);
	mp_write_member_text(w, "path", path);
	mp_write_member_raw(w, "before", before.len ? before : MP_STR("null"));
	mp_write_member_raw(w, "now", now.len ? now : MP_STR("null"));
	mp_write_end_object(w);
	return 0;
}

static int write_script_change(void *u, struct mp_str path, struct mp_str before, struct mp_str now)
{
	struct mp_writer *w = u;

	mp_write_begin_object(w);
	mp_write_member_text(w, "file", path);
	if (before.len)
		mp_write_member_text(w, "before", before);
	if (now.len)
		mp_write_member_text(w, "now", now);
	mp_write_end_object(w);
	return 0;
}

static void write_changes(struct mp_writer *w, const struct mp_configured *c,
			  const struct mp_consent *x)
{
	int64_t last_ms = mp_consent_get_last_ms(c, x);

	mp_write_key(w, MP_STR("approvedMs"));
	if (last_ms)
		mp_write_i64(w, last_ms);
	else
		mp_write_null(w);
	mp_write_key(w, MP_STR("changes"));
	mp_write_begin_array(w);
	if (mp_consent_get_trust(x) == MP_TRUST_CHANGED &&
	    mp_consent_compare(c, x, write_both, write_script_change, w) < 0 && w->error == 0)
		w->error = MCPOOL_ELIMIT;
	mp_write_end_array(w);
}

void mp_consent_write(struct mp_writer *w, const struct mp_configured *c,
		      const struct mp_consent *x, bool waiting)
{
	char hex[2 * MP_APPROVAL_ID + 1];

	mp_approval_id_to_hex(mp_consent_get_id(x), hex);
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(mp_consent_get_name(x)));
	mp_write_member_text(w, "id", mp_str_of(hex));
	if (x->entry) {
		mp_configured_write_source(w, &x->entry->origin);
		write_entry(w, c, x->entry);
	} else {
		mp_write_member_text(w, "file", mp_str_of(x->grant->file));
		mp_write_member_i64(w, "line", x->grant->line);
		mp_write_member_raw(w, "content", mp_str_of(x->grant->content));
	}
	mp_write_key(w, MP_STR("changed"));
	mp_write_begin_array(w);
	if (waiting && mp_consent_get_trust(x) == MP_TRUST_CHANGED &&
	    mp_consent_compare(c, x, write_change, write_change, w) < 0 && w->error == 0)
		w->error = MCPOOL_ELIMIT;
	mp_write_end_array(w);
	if (waiting) {
		write_changes(w, c, x);
		mp_consent_write_risks(w, c, x);
	}
	mp_write_end_object(w);
}
