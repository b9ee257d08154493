/*
 * bind.c - tables that map objects to structs, both ways.
 * Reading walks the object's keys, not the table's rows, so that unknown and repeated keys are seen
 * and problems come in the order of the text.
 */
#include "json/bind.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"

struct binding {
	const struct mp_tape *t;
	struct mp_arena *arena;
	mp_bind_problem_fn fn;
	void *u;
	struct mcpool_error *reterr;
};

static void *bind_at(void *into, size_t offset)
{
	return (char *)into + offset;
}

static const void *at_const(const void *from, size_t offset)
{
	return (const char *)from + offset;
}

/* The row a key belongs to, where its present bit is: for an alias, the row it spells. */
static size_t home_row(const struct mp_bind_table *table, size_t row)
{
	while (row > 0 && table->fields[row].alias)
		row--;
	return row;
}

/* Report the problem; without a callback it is an error. 0: go on. */
static int MP_PRINTF(4, 5) bind_problem(struct binding *b, enum mp_bind_problem_kind kind,
					mp_value where, const char *format, ...)
{
	char message[256];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(message, sizeof(message), format, args); /* cut is fine */
	va_end(args);
	if (b->fn) {
		b->fn(&(struct mp_bind_problem){kind, where, message}, b->u);
		return 0;
	}
	if (kind == MP_BIND_UNKNOWN)
		return 0;
	return mp_fail(b->reterr, kind == MP_BIND_TYPE ? MCPOOL_ETYPE : MCPOOL_EINVAL, "%s",
		       message);
}

static int wrong_type(struct binding *b, mp_value key, const char *expected)
{
	struct mp_str name = mp_value_source(b->t, key);

	return bind_problem(b, MP_BIND_TYPE, key, "%.*s must be %s, but is %s", MP_STR_ARGS(name),
			    expected, mp_value_describe(b->t, mp_value_of(key)));
}

/* The arena is full, or the system refused memory. */
static int no_room(struct binding *b, int code)
{
	return mp_fail(b->reterr, code, "%s", mcpool_error_text(code));
}

/* A NUL-terminated string without inner NUL, from the arena. 0: it is not such a string. */
static int read_text(struct binding *b, mp_value v, const char **ret_text)
{
	struct mp_str s;
	char *copy;
	int r;

	r = mp_value_text(b->t, v, b->arena, &s);
	if (r < 0 && r != MCPOOL_ETYPE)
		return no_room(b, r);
	if (r < 0 || memchr(s.p, '\0', s.len))
		return 0;
	copy = mp_arena_dup(b->arena, s);
	if (!copy)
		return no_room(b, mp_arena_get_error(b->arena));
	*ret_text = copy;
	return 1;
}

static int keep_i64(struct binding *b, const struct mp_bind_field *f, mp_value key, int64_t value,
		    int r, int64_t *into)
{
	if (r < 0 || ((f->min || f->max) && (value < f->min || value > f->max)))
		return bind_problem(b, MP_BIND_RANGE, key, "\"%s\" must be from %lld to %lld",
				    f->key, (long long)(f->min || f->max ? f->min : INT64_MIN),
				    (long long)(f->min || f->max ? f->max : INT64_MAX));
	*into = value;
	return 1;
}

static int read_i64(struct binding *b, const struct mp_bind_field *f, mp_value key, int64_t *into)
{
	int64_t value = 0;
	int r = mp_value_i64(b->t, mp_value_of(key), &value);

	if (r == MCPOOL_ETYPE)
		return wrong_type(b, key, "a whole number");
	return keep_i64(b, f, key, value, r, into);
}

int mp_bind_read_ms(const struct mp_tape *t, mp_value v, int64_t *ret_ms)
{
	struct mp_str text = mp_value_source(t, v); /* no unit or digit is ever escaped */

	if (!mp_value_is(t, v, MP_TAPE_STRING))
		return mp_value_i64(t, v, ret_ms);
	if (text.len < 2)
		return MCPOOL_ETYPE;
	return mp_str_to_ms((struct mp_str){text.p + 1, text.len - 2}, ret_ms) < 0 ? MCPOOL_ETYPE
										   : 0;
}

static int read_ms(struct binding *b, const struct mp_bind_field *f, mp_value key, int64_t *into)
{
	int64_t value = 0;
	int r = mp_bind_read_ms(b->t, mp_value_of(key), &value);

	if (r == MCPOOL_ETYPE)
		return wrong_type(b, key,
				  "a whole number of milliseconds or a time such as \"30s\"");
	return keep_i64(b, f, key, value, r, into);
}

static int read_f64(struct binding *b, const struct mp_bind_field *f, mp_value key, double *into)
{
	double value;
	int r = mp_value_f64(b->t, mp_value_of(key), &value);

	if (r == MCPOOL_ENOMEM)
		return no_room(b, r);
	if (r < 0)
		return wrong_type(b, key, "a number");
	if (!isfinite(value)) /* it could not be written back */
		return bind_problem(b, MP_BIND_RANGE, key, "\"%s\" is too large a number", f->key);
	*into = value;
	return 1;
}

static int read_choice(struct binding *b, const struct mp_bind_field *f, mp_value key, int *into)
{
	char list[160] = "";
	size_t len = 0;

	if (!mp_value_is(b->t, mp_value_of(key), MP_TAPE_STRING))
		return wrong_type(b, key, "a string");
	for (int i = 0; f->choices[i]; i++) {
		if (mp_value_text_is(b->t, mp_value_of(key), mp_str_of(f->choices[i]))) {
			*into = i;
			return 1;
		}
		if (len < sizeof(list))
			len += (size_t)snprintf(list + len, sizeof(list) - len, "%s\"%s\"",
						i ? ", " : "", f->choices[i]);
	}
	return bind_problem(b, MP_BIND_NO_CHOICE, key, "\"%s\" must be one of %s", f->key, list);
}

static int read_list(struct binding *b, mp_value key, struct mp_bind_list *into)
{
	mp_value array = mp_value_of(key);
	struct mp_bind_list list = {NULL, 0};

	if (!mp_value_is(b->t, array, MP_TAPE_ARRAY))
		return wrong_type(b, key, "an array of strings");
	list.items = mp_arena_alloc_array(b->arena, mp_value_count(b->t, array), sizeof(char *));
	if (!list.items)
		return no_room(b, mp_arena_get_error(b->arena));
	MP_VALUE_EACH(b->t, array, v) {
		int r = read_text(b, v, &list.items[list.n]);

		if (r < 0)
			return r;
		if (r == 0)
			return wrong_type(b, key, "an array of strings only, without NUL");
		list.n++;
	}
	*into = list;
	return 1;
}

/* One pair, in the place of an earlier one with the same key if `places` knows of it. */
static int put_pair(struct binding *b, struct mp_bind_map *map, struct mp_map *places,
		    struct mp_bind_pair pair)
{
	struct mp_str key = mp_str_of(pair.key);
	struct mp_bind_pair *before = mp_map_get(places, key);
	int r;

	if (before) {
		*before = pair;
		return 0;
	}
	map->items[map->n] = pair;
	r = mp_map_set(places, key, &map->items[map->n]);
	if (r < 0)
		return no_room(b, r);
	map->n++;
	return 0;
}

static int read_pairs(struct binding *b, mp_value key, struct mp_bind_map *map,
		      struct mp_map *places)
{
	MP_VALUE_EACH(b->t, mp_value_of(key), k) {
		struct mp_bind_pair pair = {NULL, NULL};
		size_t before = map->n;
		int r;

		r = read_text(b, k, &pair.key);
		if (r > 0)
			r = read_text(b, mp_value_of(k), &pair.value);
		if (r == 0)
			return wrong_type(b, key, "an object of strings only, without NUL");
		if (r > 0)
			r = put_pair(b, map, places, pair);
		if (r == 0 && map->n == before)
			r = bind_problem(b, MP_BIND_TWICE, k,
					 "%.*s occurs twice; the last one counts",
					 MP_STR_ARGS(mp_value_source(b->t, k)));
		if (r < 0)
			return r;
	}
	return 1;
}

static int read_map(struct binding *b, mp_value key, struct mp_bind_map *into)
{
	mp_value object = mp_value_of(key);
	size_t n = mp_value_count(b->t, object);
	struct mp_bind_map map = {NULL, 0};
	struct mp_map places;
	int r;

	if (!mp_value_is(b->t, object, MP_TAPE_OBJECT))
		return wrong_type(b, key, "an object of strings");
	map.items = mp_arena_alloc_array(b->arena, n, sizeof(*map.items));
	if (!map.items)
		return no_room(b, mp_arena_get_error(b->arena));
	mp_map_init(&places, n);
	r = read_pairs(b, key, &map, &places);
	mp_map_done(&places);
	if (r > 0)
		*into = map;
	return r;
}

static int read_object(struct binding *b, const struct mp_bind_table *table, mp_value object,
		       void *into);

static int read_nested(struct binding *b, const struct mp_bind_field *f, mp_value key, void *into)
{
	int r;

	if (!mp_value_is(b->t, mp_value_of(key), MP_TAPE_OBJECT))
		return wrong_type(b, key, "an object");
	r = read_object(b, f->table, mp_value_of(key), into);
	return r < 0 ? r : 1;
}

/*
 * A copy without comments, because it may be written as JSON, and because the struct may outlive
 * the text.
 */
static int read_raw(struct binding *b, mp_value v, struct mp_str *into)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf plain;
	struct mp_writer w;
	char *copy;
	int r;

	mp_buf_init(&plain, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &plain, NULL);
	mp_write_value(&w, b->t, v);
	r = mp_write_finish(&w);
	if (r < 0)
		return no_room(b, r);
	copy = mp_arena_dup(b->arena, mp_buf_get(&plain));
	if (!copy)
		return no_room(b, mp_arena_get_error(b->arena));
	*into = (struct mp_str){copy, plain.len};
	return 1;
}

static void set_null(const struct mp_bind_field *f, void *into)
{
	if (f->type == MP_BIND_TEXT)
		*(const char **)into = "";
	else
		*(int64_t *)into = -1;
}

/* 1: the field has its value. 0: a problem was told. */
static int read_field(struct binding *b, const struct mp_bind_field *f, mp_value key, void *into)
{
	int r;

	if (f->null && mp_value_is(b->t, mp_value_of(key), MP_TAPE_NULL)) {
		set_null(f, into);
		return 1;
	}
	switch (f->type) {
	case MP_BIND_BOOL:
		r = mp_value_bool(b->t, mp_value_of(key), into);
		return r < 0 ? wrong_type(b, key, "true or false") : 1;
	case MP_BIND_I64:
		return read_i64(b, f, key, into);
	case MP_BIND_MS:
		return read_ms(b, f, key, into);
	case MP_BIND_F64:
		return read_f64(b, f, key, into);
	case MP_BIND_TEXT:
		r = read_text(b, mp_value_of(key), into);
		return r == 0 ? wrong_type(b, key, "a string without NUL") : r;
	case MP_BIND_CHOICE:
		return read_choice(b, f, key, into);
	case MP_BIND_LIST:
		return read_list(b, key, into);
	case MP_BIND_MAP:
		return read_map(b, key, into);
	case MP_BIND_OBJECT:
		return read_nested(b, f, key, into);
	case MP_BIND_RAW:
		return read_raw(b, mp_value_of(key), into);
	}
	return 0;
}

/* from: where to begin; keys that were written from a table come in its order. table->n: none. */
static size_t find_row(const struct mp_bind_table *table, const struct mp_tape *t, mp_value key,
		       size_t from)
{
	for (size_t n = 0; n < table->n; n++) {
		size_t row = (from + n) % table->n;

		if (mp_value_text_is(t, key, mp_str_of(table->fields[row].key)))
			return row;
	}
	return table->n;
}

/* The last key of each row: the one that counts. */
static void find_last(const struct binding *b, const struct mp_bind_table *table, mp_value object,
		      mp_value last[64])
{
	size_t next = 0;

	for (size_t row = 0; row < table->n; row++)
		last[row] = MP_NONE;
	MP_VALUE_EACH(b->t, object, key) {
		size_t row = find_row(table, b->t, key, next);

		if (row < table->n) {
			last[home_row(table, row)] = key;
			next = row + 1;
		}
	}
}

static int read_key(struct binding *b, const struct mp_bind_table *table, mp_value key, void *into,
		    const mp_value last[64], uint64_t *seen, size_t *next)
{
	size_t row = find_row(table, b->t, key, *next);
	struct mp_str name = mp_value_source(b->t, key);
	uint64_t bit, before;
	int r = 0;

	if (row == table->n)
		return bind_problem(b, MP_BIND_UNKNOWN, key, "%.*s is not a key that is known here",
				    MP_STR_ARGS(name));
	*next = row + 1;
	bit = (uint64_t)1 << home_row(table, row);
	before = *seen & bit;
	*seen |= bit;
	if (last[home_row(table, row)] != key)
		return 0; /* nothing of it reaches the struct, not even a part */
	if (before)
		r = bind_problem(b, MP_BIND_TWICE, key,
				 "%.*s was given before; the last one counts", MP_STR_ARGS(name));
	if (r < 0)
		return r;
	r = read_field(b, &table->fields[row], key, bind_at(into, table->fields[row].offset));
	if (r > 0)
		*(uint64_t *)bind_at(into, table->present) |= bit;
	return r;
}

static int read_object(struct binding *b, const struct mp_bind_table *table, mp_value object,
		       void *into)
{
	mp_value last[64];
	uint64_t seen = 0;
	size_t next = 0;
	int r;

	mp_check(table->n <= MP_ARRAY_LEN(last));
	find_last(b, table, object, last);
	MP_VALUE_EACH(b->t, object, key) {
		r = read_key(b, table, key, into, last, &seen, &next);
		if (r < 0)
			return r;
	}
	for (size_t row = 0; row < table->n; row++) {
		if (!table->fields[row].required || (seen >> row & 1))
			continue;
		r = bind_problem(b, MP_BIND_MISSING, object, "\"%s\" is missing",
				 table->fields[row].key);
		if (r < 0)
			return r;
	}
	return 0;
}

int mp_bind_read(const struct mp_bind_table *table, const struct mp_tape *t, mp_value object,
		 struct mp_arena *arena, void *into, mp_bind_problem_fn fn, void *u,
		 struct mcpool_error *reterr)
{
	struct binding b = {t, arena, fn, u, reterr};

	if (!mp_value_is(t, object, MP_TAPE_OBJECT))
		return mp_fail(reterr, MCPOOL_ETYPE, "an object is expected, not %s",
			       mp_value_describe(t, object));
	return read_object(&b, table, object, into);
}

/* --- the other way ------------------------------------------------------------------------- */

static void write_list(const struct mp_bind_list *list, struct mp_writer *w)
{
	mp_write_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		mp_write_text(w, mp_str_of(list->items[i]));
	mp_write_end_array(w);
}

static void write_map(const struct mp_bind_map *map, struct mp_writer *w)
{
	mp_write_begin_object(w);
	for (size_t i = 0; i < map->n; i++)
		mp_write_member_text(w, map->items[i].key, mp_str_of(map->items[i].value));
	mp_write_end_object(w);
}

static bool is_null(const struct mp_bind_field *f, const void *from)
{
	if (!f->null)
		return false;
	return f->type == MP_BIND_TEXT ? !(*(const char *const *)from)[0]
				       : *(const int64_t *)from < 0;
}

static void write_field(const struct mp_bind_field *f, const void *from, struct mp_writer *w)
{
	if (is_null(f, from)) {
		mp_write_null(w);
		return;
	}
	switch (f->type) {
	case MP_BIND_BOOL:
		mp_write_bool(w, *(const bool *)from);
		break;
	case MP_BIND_I64:
	case MP_BIND_MS:
		mp_write_i64(w, *(const int64_t *)from);
		break;
	case MP_BIND_F64:
		mp_write_f64(w, *(const double *)from);
		break;
	case MP_BIND_TEXT:
		mp_write_text(w, mp_str_of(*(const char *const *)from));
		break;
	case MP_BIND_CHOICE:
		mp_write_text(w, mp_str_of(f->choices[*(const int *)from]));
		break;
	case MP_BIND_LIST:
		write_list(from, w);
		break;
	case MP_BIND_MAP:
		write_map(from, w);
		break;
	case MP_BIND_OBJECT:
		mp_bind_write(f->table, from, w);
		break;
	case MP_BIND_RAW:
		mp_write_raw(w, *(const struct mp_str *)from);
		break;
	}
}

void mp_bind_write(const struct mp_bind_table *table, const void *from, struct mp_writer *w)
{
	uint64_t present = *(const uint64_t *)at_const(from, table->present);

	mp_write_begin_object(w);
	for (size_t row = 0; row < table->n; row++) {
		const struct mp_bind_field *f = &table->fields[row];

		if (f->alias || !(present >> row & 1))
			continue;
		mp_write_key(w, mp_str_of(f->key));
		write_field(f, at_const(from, f->offset), w);
	}
	mp_write_end_object(w);
}

/* The bit of a key: that of the row it spells. */
static uint64_t bit_of(const struct mp_bind_table *table, const char *key)
{
	size_t row = 0;

	while (row < table->n && strcmp(table->fields[row].key, key) != 0)
		row++;
	mp_check(row < table->n);
	return (uint64_t)1 << (home_row(table, row) & 63);
}

bool mp_bind_is_present(const struct mp_bind_table *table, const void *from, const char *key)
{
	return (*(const uint64_t *)at_const(from, table->present) & bit_of(table, key)) != 0;
}

void mp_bind_set_present(const struct mp_bind_table *table, void *into, const char *key,
			 bool present)
{
	uint64_t *bits = bind_at(into, table->present);
	uint64_t bit = bit_of(table, key);

	*bits = present ? *bits | bit : *bits & ~bit;
}
