/*
 * diff_keys.c - which keys make two sets differ: of an entry, and of the settings. Never a value.
 */
#include <string.h>

#include "base/limits.h"
#include "config/values/diff.h"
#include "config/values/effective.h"

/* Members of an object that are compared one by one; of a larger one only its own key is named. */
enum { MOST_MEMBERS = 256 };

struct keys {
	struct mp_tape before, after;
	struct mp_arena arena; /* of names */
	mp_diff_key_fn fn;
	void *u;
	const char *prefix; /* "env", or NULL: at the top */
	size_t n;
	int error;
};

static void keys_init(struct keys *k, mp_diff_key_fn fn, void *u)
{
	*k = (struct keys){.fn = fn, .u = u};
	mp_tape_init(&k->before, 0);
	mp_tape_init(&k->after, 0);
	mp_arena_init(&k->arena, MP_LIMIT_ARENA);
}

static void keys_done(struct keys *k)
{
	mp_tape_done(&k->before);
	mp_tape_done(&k->after);
	mp_arena_done(&k->arena);
}

static void keys_say(struct keys *k, struct mp_str key)
{
	k->n++;
	k->fn(k->u, k->prefix ? mp_str_of(k->prefix) : key, k->prefix ? key : MP_STR(""));
}

/* --- two objects ----------------------------------------------------------------------------- */

static void compare_objects(struct keys *k, mp_value before, mp_value after);

static bool is_object_or_nothing(const struct mp_tape *t, mp_value v)
{
	return v == MP_NONE ||
	       (mp_value_is(t, v, MP_TAPE_OBJECT) && mp_value_count(t, v) <= MOST_MEMBERS);
}

/* Of a map the members are named, as env.TOKEN; deeper ones are not. */
static void compare_member(struct keys *k, struct mp_str key, mp_value before, mp_value after)
{
	size_t n = k->n;
	bool same = false;

	if (before != MP_NONE && after != MP_NONE)
		k->error = mp_value_equal(&k->before, before, &k->after, after, &same);
	if (k->error < 0 || same)
		return;
	if (!k->prefix && is_object_or_nothing(&k->before, before) &&
	    is_object_or_nothing(&k->after, after)) {
		k->prefix = mp_arena_dup(&k->arena, key);
		if (!k->prefix) {
			k->error = mp_arena_get_error(&k->arena);
			return;
		}
		compare_objects(k, before, after);
		k->prefix = NULL;
	}
	if (k->n == n && k->error == 0)
		keys_say(k, key);
}

/* Those of the new one in its order, then those that are gone. */
static void compare_objects(struct keys *k, mp_value before, mp_value after)
{
	struct mp_str name;

	MP_VALUE_EACH(&k->after, after, key) {
		k->error = mp_value_text(&k->after, key, &k->arena, &name);
		if (k->error == 0)
			compare_member(k, name, mp_value_get_str(&k->before, before, name),
				       mp_value_of(key));
		if (k->error < 0)
			return;
	}
	MP_VALUE_EACH(&k->before, before, key) {
		k->error = mp_value_text(&k->before, key, &k->arena, &name);
		if (k->error == 0 && mp_value_get_str(&k->after, after, name) == MP_NONE)
			compare_member(k, name, mp_value_of(key), MP_NONE);
		if (k->error < 0)
			return;
	}
}

static int keys_parse(struct keys *k, struct mp_str before, struct mp_str after)
{
	int r = mp_tape_parse(&k->before, before, NULL);

	return r < 0 ? r : mp_tape_parse(&k->after, after, NULL);
}

/* --- what holds ------------------------------------------------------------------------------ */

/* As one object of dotted keys. */
struct flat {
	struct mp_buf text;
	struct mp_writer w;
};

static void flat_init(struct flat *f)
{
	mp_buf_init(&f->text, MP_LIMIT_ARENA);
	mp_write_init(&f->w, &f->text, NULL);
	mp_write_begin_object(&f->w);
}

static void flat_done(struct flat *f)
{
	mp_buf_done(&f->text);
}

static void flat_add(void *u, const char *key, struct mp_str json, const char *from)
{
	struct flat *f = u;

	(void)from;
	mp_write_member_raw(&f->w, key, json);
}

static int flat_end(struct flat *f, int r)
{
	mp_write_end_object(&f->w);
	return r < 0 ? r : mp_write_finish(&f->w);
}

static int keys_compare(struct keys *k, const struct flat *before, const struct flat *after)
{
	int r = keys_parse(k, mp_buf_get(&before->text), mp_buf_get(&after->text));

	if (r == 0)
		compare_objects(k, MP_ROOT, MP_ROOT);
	return r < 0 ? r : k->error;
}

int mp_diff_each_setting(const struct mp_settings *before, const struct mp_settings *after,
			 mp_diff_key_fn fn, void *u)
{
	MP_CLEANUP(flat_done) struct flat a, b;
	MP_CLEANUP(keys_done) struct keys k;
	int r;

	flat_init(&a);
	flat_init(&b);
	keys_init(&k, fn, u);
	r = flat_end(&a, mp_effective_each_setting(before, flat_add, &a));
	if (r == 0)
		r = flat_end(&b, mp_effective_each_setting(after, flat_add, &b));
	return r < 0 ? r : keys_compare(&k, &a, &b);
}

/* --- entries --------------------------------------------------------------------------------- */

static bool is_known_key(const struct mp_tape *t, mp_value key)
{
	for (size_t i = 0; i < mp_entry_table.n; i++)
		if (mp_value_text_is(t, key, mp_str_of(mp_entry_table.fields[i].key)))
			return true;
	return false;
}

/* Keys that no table knows: they mean nothing here, but the entry is another one. */
static void compare_unknown(struct keys *k)
{
	struct mp_str name;

	if (!is_object_or_nothing(&k->before, MP_ROOT) || !is_object_or_nothing(&k->after, MP_ROOT))
		return;
	for (int side = 0; side < 2; side++) {
		const struct mp_tape *t = side ? &k->before : &k->after;

		MP_VALUE_EACH(t, MP_ROOT, key) {
			mp_value before, after;

			if (is_known_key(t, key))
				continue;
			k->error = mp_value_text(t, key, &k->arena, &name);
			if (k->error < 0)
				return;
			before = mp_value_get_str(&k->before, MP_ROOT, name);
			after = mp_value_get_str(&k->after, MP_ROOT, name);
			if (!side || after == MP_NONE)
				compare_member(k, name, before, after);
			if (k->error < 0)
				return;
		}
	}
}

static int keys_compare_unknown(struct keys *k, const struct mp_entry *a, const struct mp_entry *b)
{
	int r = 0;

	if (!a->canonical.len || !b->canonical.len || mp_str_eq(a->canonical, b->canonical))
		return 0;
	r = keys_parse(k, a->canonical, b->canonical);
	if (r == 0)
		compare_unknown(k);
	return r < 0 ? r : k->error;
}

static bool is_same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same_list(const struct mp_bind_list *a, const struct mp_bind_list *b)
{
	for (size_t i = 0; a->n == b->n && i < a->n; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return a->n == b->n;
}

/* Differences outside of its keys, in brackets. */
static void say_others(struct keys *k, const struct mp_entry *a, const struct mp_entry *b)
{
	size_t n = k->n;

	if (!is_same(a->origin.real, b->origin.real) || !is_same(a->origin.root, b->origin.root) ||
	    !is_same(a->origin.tool, b->origin.tool))
		keys_say(k, MP_STR("(file)"));
	if (!is_same(a->scripts, b->scripts))
		keys_say(k, MP_STR("(script)"));
	if (n == 0 && !is_same_list(&a->tools_denied, &b->tools_denied))
		keys_say(k, MP_STR("(deny)"));
	if (k->n == 0 && !is_same(a->invalid, b->invalid))
		keys_say(k, MP_STR("(validity)"));
	if (k->n == 0 && !mp_str_eq(a->canonical, b->canonical))
		keys_say(k, MP_STR("(entry)"));
}

int mp_diff_each_key(const struct mp_entry *before, const struct mp_entry *after, mp_diff_key_fn fn,
		     void *u)
{
	MP_CLEANUP(flat_done) struct flat a, b;
	MP_CLEANUP(keys_done) struct keys k;
	int r;

	flat_init(&a);
	flat_init(&b);
	keys_init(&k, fn, u);
	r = flat_end(&a, mp_effective_each(before, flat_add, &a));
	if (r == 0)
		r = flat_end(&b, mp_effective_each(after, flat_add, &b));
	if (r == 0)
		r = keys_compare(&k, &a, &b);
	if (r == 0)
		r = keys_compare_unknown(&k, before, after);
	if (r == 0)
		say_others(&k, before, after);
	return r;
}
