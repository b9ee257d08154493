/*
 * canonical.c - one text for all spellings of a value.
 * Two entries that mean the same have the same canonical form, and two that do not have not; so
 * white space, comments and the order of keys do not ask for a new approval, and nothing else is
 * overlooked.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "files/document.h"
#include "json/write.h"

struct member {
	struct mp_str key; /* escapes resolved */
	mp_value value;
};

struct canonical {
	const struct mp_tape *t;
	struct mp_writer w;
	struct mp_arena arena;
	struct mcpool_error *reterr;
};

static int add_value(struct canonical *c, mp_value v);

static int by_key(const void *a, const void *b)
{
	return mp_str_compare(((const struct member *)a)->key, ((const struct member *)b)->key);
}

static int fail_twice(struct canonical *c, struct mp_str key)
{
	return mp_fail(c->reterr, MCPOOL_EINVAL, "the key \"%.*s\" occurs twice", MP_STR_ARGS(key));
}

static int collect_members(struct canonical *c, mp_value object, struct member *members)
{
	size_t n = 0;
	int r;

	MP_VALUE_EACH(c->t, object, key) {
		r = mp_value_text(c->t, key, &c->arena, &members[n].key);
		if (r < 0)
			return r;
		members[n++].value = mp_value_of(key);
	}
	return 0;
}

static int add_object(struct canonical *c, mp_value object)
{
	size_t n = mp_value_count(c->t, object);
	struct member *members = mp_arena_alloc_array(&c->arena, n + 1, sizeof(*members));
	int r;

	if (!members)
		return mp_arena_get_error(&c->arena);
	r = collect_members(c, object, members);
	if (r < 0)
		return r;
	qsort(members, n, sizeof(*members), by_key);
	mp_write_begin_object(&c->w);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && mp_str_eq(members[i].key, members[i - 1].key))
			return fail_twice(c, members[i].key);
		mp_write_key(&c->w, members[i].key);
		r = add_value(c, members[i].value);
		if (r < 0)
			return r;
	}
	mp_write_end_object(&c->w);
	return 0;
}

static int add_array(struct canonical *c, mp_value array)
{
	mp_write_begin_array(&c->w);
	MP_VALUE_EACH(c->t, array, v) {
		int r = add_value(c, v);

		if (r < 0)
			return r;
	}
	mp_write_end_array(&c->w);
	return 0;
}

static int add_value(struct canonical *c, mp_value v)
{
	const struct mp_tape_node *node = mp_value_node(c->t, v);
	struct mp_str text;
	int r;

	mp_check(node);
	switch ((enum mp_tape_type)node->type) {
	case MP_TAPE_OBJECT:
		return add_object(c, v);
	case MP_TAPE_ARRAY:
		return add_array(c, v);
	case MP_TAPE_STRING:
		r = mp_value_text(c->t, v, &c->arena, &text);
		if (r == 0)
			mp_write_text(&c->w, text);
		return r;
	case MP_TAPE_NULL:
	case MP_TAPE_FALSE:
	case MP_TAPE_TRUE:
	case MP_TAPE_NUMBER:
		mp_write_raw(&c->w, mp_value_source(c->t, v));
	}
	return 0;
}

int mp_canonical_add(const struct mp_tape *t, mp_value v, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	struct canonical c = {.t = t, .reterr = reterr};
	size_t start = out->len;
	int r;

	mp_arena_init(&c.arena, MP_LIMIT_ARENA);
	mp_write_init(&c.w, out, NULL);
	r = add_value(&c, v);
	mp_arena_done(&c.arena);
	if (r == 0)
		r = mp_write_finish(&c.w);
	if (r < 0)
		out->len = start;
	if (r < 0 && r != MCPOOL_EINVAL)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	return r;
}
