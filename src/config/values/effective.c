/*
 * effective.c - what holds for an entry in the end, key by key, and who said so.
 * The tables that read the keys also write them, so that a new key shows up here by itself.
 */
#include "config/values/effective.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"

/* Is this row one of those that settings and entries share, which always have a value? */
static bool is_tuning(const char *key)
{
	static const struct mp_bind_field rows[] = {MP_TUNING_ROWS(struct mp_entry)};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].key, key) == 0)
			return strcmp(key, "shared") != 0; /* mode says it */
	return false;
}

static void effective_visit(const struct mp_provenance *p, const struct mp_tape *t, mp_value object,
			    const char *prefix, mp_effective_fn fn, void *u)
{
	MP_VALUE_EACH(t, object, key) {
		struct mp_str name = mp_value_source(t, key);
		mp_value v = mp_value_of(key);
		const char *from;
		char full[96], inner[98];

		snprintf(full, sizeof(full), "%s%.*s", prefix, (int)name.len - 2, name.p + 1);
		from = mp_provenance_get(p, full);
		if (!from && mp_value_is(t, v, MP_TAPE_OBJECT)) {
			snprintf(inner, sizeof(inner), "%s.", full);
			effective_visit(p, t, v, inner, fn, u);
			continue;
		}
		fn(u, full, mp_value_source(t, v), from ? from : "default");
	}
}

/* Write what is present to JSON, then walk it. */
static int effective_each(const struct mp_bind_table *table, const void *from,
			  const struct mp_provenance *p, mp_effective_fn fn, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_writer w;
	int r;

	mp_buf_init(&text, MP_LIMIT_ARENA);
	mp_tape_init(&t, 0);
	mp_write_init(&w, &text, NULL);
	mp_bind_write(table, from, &w);
	r = mp_write_finish(&w);
	if (r == 0)
		r = mp_tape_parse(&t, mp_buf_get(&text), NULL);
	if (r == 0)
		effective_visit(p, &t, MP_ROOT, "", fn, u);
	return r;
}

static uint64_t effective_whole(const struct mp_bind_table *table)
{
	return UINT64_MAX >> (64 - table->n);
}

static uint64_t all_rows(const struct mp_bind_table *table, uint64_t present)
{
	for (size_t i = 0; i < table->n; i++) {
		if (is_tuning(table->fields[i].key))
			present |= UINT64_C(1) << i;
		else if (strcmp(table->fields[i].key, "shared") == 0)
			present &= ~(UINT64_C(1) << i);
	}
	return present;
}

int mp_effective_each(const struct mp_entry *e, mp_effective_fn fn, void *u)
{
	struct mp_entry copy = *e;

	copy.present = all_rows(&mp_entry_table, copy.present);
	copy.tuning.restart.present = effective_whole(&mp_restart_table);
	return effective_each(&mp_entry_table, &copy, &e->provenance, fn, u);
}

int mp_effective_each_setting(const struct mp_settings *s, mp_effective_fn fn, void *u)
{
	struct mp_settings copy = *s;

	copy.present = all_rows(&mp_settings_table, effective_whole(&mp_settings_table));
	copy.tuning.restart.present = effective_whole(&mp_restart_table);
	copy.startup.present = copy.result.present = copy.log.present = UINT64_MAX;
	/* In the order of its keys: there may be no name and no TLS at all. */
	copy.http.present = (copy.http.listen ? 1u : 0) | (copy.http.name ? 2u : 0) |
			    (copy.http.tls_json.len ? 4u : 0) |
			    (copy.http.oauth_json.len ? 8u : 0) |
			    (copy.http.metrics_from.n ? 16u : 0);
	return effective_each(&mp_settings_table, &copy, &s->provenance, fn, u);
}

struct adding {
	struct mp_buf *out;
	int error;
};

static void add_pair(void *u, const char *key, struct mp_str json, const char *from)
{
	struct adding *a = u;

	(void)from;
	if (a->error == 0)
		a->error = mp_buf_addf(a->out, "%s=%.*s\n", key, MP_STR_ARGS(json));
}

int mp_effective_add(const struct mp_entry *e, struct mp_buf *out)
{
	struct adding a = {out, 0};
	int r = mp_effective_each(e, add_pair, &a);

	return r < 0 ? r : a.error;
}
