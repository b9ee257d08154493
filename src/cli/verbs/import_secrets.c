/*
 * import_secrets.c - tokens that another tool keeps as plain text, on their way to the secret
 * store.
 */
#include "cli/verbs/import_secrets.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/values/expand.h"
#include "config/values/secret_values.h"
#include "json/value.h"
#include "json/write.h"
#include "store/sealed.h"
#include "store/secret_records.h"

/* --- names ----------------------------------------------------------------------------------- */

/* SERVER.KEY, with what a name cannot have as _. NULL: it is too long, or there is no memory. */
static const char *secret_name(struct mp_import_secrets *s, const char *server, struct mp_str key)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(4));
	if (mp_buf_addf(&text, "%s.%.*s", server, MP_STR_ARGS(key)) < 0)
		return NULL;
	for (size_t i = 0; i < text.len; i++)
		if (!mp_expand_is_secret_name((struct mp_str){text.data + i, 1}))
			text.data[i] = '_';
	if (!mp_expand_is_secret_name(mp_buf_get(&text)))
		return NULL;
	return mp_arena_dup(&s->arena, mp_buf_get(&text));
}

/* Where the token of `Bearer TOKEN` begins; 0: all of it is the secret. */
static size_t skip_scheme(struct mp_str value)
{
	static const struct mp_str schemes[] = {MP_STR("bearer "), MP_STR("basic "),
						MP_STR("token ")};

	for (size_t i = 0; i < MP_ARRAY_LEN(schemes); i++) {
		size_t n = schemes[i].len;

		if (value.len > n && mp_str_eq_nocase((struct mp_str){value.p, n}, schemes[i]) &&
		    !memchr(value.p + n, ' ', value.len - n))
			return n;
	}
	return 0;
}

/* --- one entry ------------------------------------------------------------------------------- */

/* Writes the value of this key, or the reference that takes its place. */
static int write_value(struct mp_import_secrets *s, struct mp_writer *w, const char *server,
		       struct mp_str key, struct mp_str value, bool is_header)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	size_t from = is_header ? skip_scheme(value) : 0;
	struct mp_import_secret *item;
	const char *name, *copy;
	int r;

	mp_buf_init(&text, MP_KIB(8));
	if (!mp_sealed_is_hidden(key, value, is_header) || s->n == MP_ARRAY_LEN(s->items) ||
	    value.len - from > MP_LIMIT_SECRET_VALUE || !(name = secret_name(s, server, key))) {
		mp_write_text(w, value);
		return 0;
	}
	item = &s->items[s->n];
	copy = mp_arena_dup(&s->arena, (struct mp_str){value.p + from, value.len - from});
	item->key = mp_arena_dup(&s->arena, key);
	/* Neither a scheme nor a name has what JSON escapes. */
	r = mp_buf_addf(&text, "\"%.*s${secret:%s}\"", (int)from, value.p, name);
	if (r < 0)
		return r;
	item->reference = mp_arena_dup(&s->arena, mp_buf_get(&text));
	if (!copy || !item->key || !item->reference)
		return mp_arena_get_error(&s->arena);
	item->name = name;
	item->value = (struct mp_str){copy, value.len - from};
	item->is_header = is_header;
	s->n++;
	mp_write_raw(w, mp_buf_get(&text));
	return 0;
}

static int write_map(struct mp_import_secrets *s, struct mp_writer *w, const struct mp_tape *t,
		     mp_value map, const char *server, bool is_header)
{
	struct mp_str key, value;
	int r = 0;

	mp_write_begin_object(w);
	MP_VALUE_EACH(t, map, at) {
		r = mp_value_text(t, at, &s->arena, &key);
		if (r < 0)
			return r;
		mp_write_key(w, key);
		if (!mp_value_is(t, mp_value_of(at), MP_TAPE_STRING)) {
			mp_write_raw(w, mp_value_source(t, mp_value_of(at)));
			continue;
		}
		r = mp_value_text(t, mp_value_of(at), &s->arena, &value);
		if (r == 0)
			r = write_value(s, w, server, key, value, is_header);
		if (r < 0)
			return r;
	}
	mp_write_end_object(w);
	return r;
}

static int write_entry(struct mp_import_secrets *s, struct mp_writer *w, const struct mp_tape *t,
		       const char *server)
{
	struct mp_str key;
	int r = 0;

	mp_write_begin_object(w);
	MP_VALUE_EACH(t, MP_ROOT, at) {
		bool is_header;

		r = mp_value_text(t, at, &s->arena, &key);
		if (r < 0)
			return r;
		is_header = mp_str_eq(key, MP_STR("headers"));
		mp_write_key(w, key);
		if ((is_header || mp_str_eq(key, MP_STR("env"))) &&
		    mp_value_is(t, mp_value_of(at), MP_TAPE_OBJECT))
			r = write_map(s, w, t, mp_value_of(at), server, is_header);
		else
			mp_write_raw(w, mp_value_source(t, mp_value_of(at)));
		if (r < 0)
			return r;
	}
	mp_write_end_object(w);
	return mp_write_finish(w);
}

int mp_import_secrets_find(struct mp_import_secrets *s, const char *server, struct mp_str json)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_writer w;
	int r;

	*s = (struct mp_import_secrets){.n = 0};
	mp_arena_init(&s->arena, MP_LIMIT_ARENA);
	mp_buf_init(&s->json, MP_LIMIT_CONFIG_FILE);
	mp_tape_init(&t, 0);
	mp_write_init(&w, &s->json, NULL);
	r = mp_tape_parse(&t, json, NULL);
	if (r == 0 && !mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT))
		r = MCPOOL_EINVAL;
	return r < 0 ? r : write_entry(s, &w, &t, server);
}

/* --- saving ---------------------------------------------------------------------------------- */

static int save_one(const struct mp_import_secret *item, struct mp_secrets *store,
		    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf now;
	char path[sizeof(MP_SECRET_USER) + 128];
	int r;

	mp_buf_init(&now, MP_LIMIT_SECRET_VALUE);
	snprintf(path, sizeof(path), MP_SECRET_USER "%s", item->name);
	r = mp_secrets_get(store, path, &now, reterr);
	if (r == MCPOOL_ENOENT)
		return mp_secrets_set(store, path, item->value, reterr);
	if (r == 0 && !mp_str_eq(mp_buf_get(&now), item->value))
		return mp_fail(reterr, MCPOOL_EEXIST,
			       "there is another secret '%s' already; remove it first: mcpool "
			       "secret rm %s",
			       item->name, item->name);
	return r;
}

int mp_import_secrets_save(const struct mp_import_secrets *s, struct mp_secrets *store,
			   struct mcpool_error *reterr)
{
	int r = 0;

	for (size_t i = 0; i < s->n && r == 0; i++)
		r = save_one(&s->items[i], store, reterr);
	return r;
}

void mp_import_secrets_done(struct mp_import_secrets *s)
{
	for (size_t i = 0; i < s->n; i++)
		mp_wipe((void *)(uintptr_t)s->items[i].value.p, s->items[i].value.len);
	mp_buf_done(&s->json);
	mp_arena_done(&s->arena);
}
