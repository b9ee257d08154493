/*
 * value.h - reading values off a tape.
 * A value is a node's index. MP_NONE means that there is none, and every question about MP_NONE is
 * answered "no", so look-ups can be chained and checked once at the end.
 */
#ifndef MP_VALUE_H
#define MP_VALUE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"
#include "json/tape.h"

typedef uint32_t mp_value; /* index of a node */

#define MP_NONE UINT32_MAX
#define MP_ROOT ((mp_value)0)

static inline const struct mp_tape_node *mp_value_node(const struct mp_tape *t, mp_value v)
{
	return v < t->n ? &t->nodes[v] : NULL;
}

static inline bool mp_value_is(const struct mp_tape *t, mp_value v, enum mp_tape_type type)
{
	return v < t->n && t->nodes[v].type == type;
}

/* "an object", "a string", ...; "nothing" for MP_NONE. A static string. */
const char *mp_value_describe(const struct mp_tape *t, mp_value v);

/* The value as written in the source, quotes and brackets included; empty for MP_NONE. */
struct mp_str mp_value_source(const struct mp_tape *t, mp_value v);

/* The member of an object by its exact name; of several the last, as other parsers do. */
static inline mp_value mp_value_get(const struct mp_tape *t, mp_value object, const char *key);
static inline mp_value mp_value_get_str(const struct mp_tape *t, mp_value object,
					struct mp_str key);
/* The same, but the key: for its position. */
mp_value mp_value_get_key(const struct mp_tape *t, mp_value object, struct mp_str key);

/* Several members in one go: values[i] is that of keys[i], MP_NONE where it is not there. */
void mp_value_get_all(const struct mp_tape *t, mp_value object, const struct mp_str *keys, size_t n,
		      mp_value *values);

/*
 * The first value inside, and the one behind v on the same level; MP_NONE at the end. In an object
 * these are keys, and the value of a key is mp_value_of(key). Nothing is inside a folded one.
 */
mp_value mp_value_first(const struct mp_tape *t, mp_value array_or_object);
mp_value mp_value_next(const struct mp_tape *t, mp_value parent, mp_value v);
static inline mp_value mp_value_of(mp_value key)
{
	return key == MP_NONE ? MP_NONE : key + 1;
}
static inline mp_value mp_value_get_str(const struct mp_tape *t, mp_value object, struct mp_str key)
{
	return mp_value_of(mp_value_get_key(t, object, key));
}
static inline mp_value mp_value_get(const struct mp_tape *t, mp_value object, const char *key)
{
	return mp_value_get_str(t, object, mp_str_of(key));
}
/* Elements of an array, members of an object, 0 of anything else. */
size_t mp_value_count(const struct mp_tape *t, mp_value v);

/* for each element of an array, or each key of an object */
#define MP_VALUE_EACH(t, parent, v)                                     \
	for (mp_value v = mp_value_first((t), (parent)); v != MP_NONE;  \
	     v = mp_value_is((t), (parent), MP_TAPE_OBJECT)             \
			 ? mp_value_next((t), (parent), mp_value_of(v)) \
			 : mp_value_next((t), (parent), v))

/*
 * The text of a string, escapes resolved. Without escapes it points into the source, else into the
 * arena. A lone surrogate becomes U+FFFD. MCPOOL_ETYPE, MCPOOL_ELIMIT (the arena's), MCPOOL_ENOMEM.
 */
int mp_value_text(const struct mp_tape *t, mp_value v, struct mp_arena *arena,
		  struct mp_str *ret_text) MP_MUST;
/* Is it a string with exactly this text? Takes no memory. */
bool mp_value_text_is(const struct mp_tape *t, mp_value v, struct mp_str text);
/* Does its text begin with this? */
bool mp_value_text_starts(const struct mp_tape *t, mp_value v, struct mp_str text);

/* MCPOOL_ETYPE for another type or a number with a fraction, MCPOOL_ELIMIT when it does not fit. */
int mp_value_i64(const struct mp_tape *t, mp_value v, int64_t *ret_value) MP_MUST;
int mp_value_u64(const struct mp_tape *t, mp_value v, uint64_t *ret_value) MP_MUST;
int mp_value_f64(const struct mp_tape *t, mp_value v, double *ret_value) MP_MUST;
int mp_value_bool(const struct mp_tape *t, mp_value v, bool *ret_value) MP_MUST;

/*
 * A key that occurs twice in this object, escapes resolved (V43): the second of them, or MP_NONE.
 * MCPOOL_ELIMIT for an object of more than MP_LIMIT_JSON_MEMBERS, MCPOOL_ENOMEM.
 */
int mp_value_find_duplicate(const struct mp_tape *t, mp_value object, mp_value *ret_key) MP_MUST;

/*
 * Do both say the same? Numbers by their spelling, strings by their text, objects in any order of
 * keys. Objects with a key twice are equal only to those with the same keys in the same order.
 * Folded values equal nothing. MCPOOL_ELIMIT, MCPOOL_ENOMEM as above.
 */
int mp_value_equal(const struct mp_tape *a, mp_value x, const struct mp_tape *b, mp_value y,
		   bool *ret_equal) MP_MUST;

#endif
