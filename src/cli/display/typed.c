/*
 * typed.c - converts key=value words into JSON arguments, typed by the tool's schema.
 */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/display/cli.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

#define TYPES(X)                                             \
	X(STRING, "string", "text")                          \
	X(INTEGER, "integer", "a whole number")              \
	X(NUMBER, "number", "a number")                      \
	X(BOOLEAN, "boolean", "true or false")               \
	X(ARRAY, "array", "a JSON list, as '[1,2]'")         \
	X(OBJECT, "object", "a JSON object, as '{\"a\":1}'") \
	X(NUL, "null", "null")

enum type {
#define X(name, word, example) name,
	TYPES(X)
#undef X
		TYPE_COUNT
};
static const char *const type_words[] = {
#define X(name, word, example) word,
	TYPES(X)
#undef X
};
static const char *const type_examples[] = {
#define X(name, word, example) example,
	TYPES(X)
#undef X
};

static unsigned bit_of(const struct mp_tape *t, mp_value v)
{
	for (int i = 0; i < TYPE_COUNT; i++)
		if (mp_value_text_is(t, v, mp_str_of(type_words[i])))
			return 1u << i;
	return 0;
}

/* The types that a property allows, as bits; 0: not specified. */
static unsigned read_types(const struct mp_tape *t, mp_value schema, int depth)
{
	static const char *const unions[] = {"anyOf", "oneOf", "allOf"};
	mp_value type = mp_value_get(t, schema, "type");
	unsigned types = 0;

	if (mp_value_is(t, type, MP_TAPE_STRING))
		return bit_of(t, type);
	if (mp_value_is(t, type, MP_TAPE_ARRAY)) {
		MP_VALUE_EACH(t, type, v)
			types |= bit_of(t, v);
		return types;
	}
	for (size_t i = 0; i < MP_ARRAY_LEN(unions) && depth < 4; i++) {
		mp_value list = mp_value_get(t, schema, unions[i]);

		if (mp_value_is(t, list, MP_TAPE_ARRAY))
			MP_VALUE_EACH(t, list, v)
				types |= read_types(t, v, depth + 1);
	}
	return types;
}

static unsigned type_of_json(struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	const struct mp_tape_node *node;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, text, NULL) < 0)
		return 0;
	node = mp_value_node(&t, MP_ROOT);
	switch ((enum mp_tape_type)node->type) {
	case MP_TAPE_NULL:
		return 1u << NUL;
	case MP_TAPE_FALSE:
	case MP_TAPE_TRUE:
		return 1u << BOOLEAN;
	case MP_TAPE_NUMBER:
		return node->flags & MP_TAPE_WHOLE ? 1u << INTEGER | 1u << NUMBER : 1u << NUMBER;
	case MP_TAPE_ARRAY:
		return 1u << ARRAY;
	case MP_TAPE_OBJECT:
		return 1u << OBJECT;
	case MP_TAPE_STRING:
		return 0; /* quotes are part of the text, unless written with := */
	}
	return 0;
}

static bool is_json(struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	return mp_tape_parse(&t, text, NULL) == 0;
}

static int typed_refuse(struct mp_str key, struct mp_str value, unsigned types,
			struct mcpool_error *reterr)
{
	for (int i = 0; i < TYPE_COUNT; i++)
		if (types & 1u << i)
			return mp_fail(reterr, MCPOOL_EINVAL, "'%.*s' takes %s, not '%.*s'",
				       MP_STR_ARGS(key), type_examples[i], MP_STR_ARGS(value));
	return mp_fail(reterr, MCPOOL_EINVAL, "'%.*s' cannot be '%.*s'", MP_STR_ARGS(key),
		       MP_STR_ARGS(value));
}

/*
 * A value that parses as one of the allowed types gets that type; text stays text wherever text is
 * allowed. Without a schema, numbers, booleans, lists and objects are recognised by their form.
 */
static int write_typed(struct mp_writer *w, struct mp_str key, struct mp_str value, unsigned types,
		       struct mcpool_error *reterr)
{
	unsigned looks = type_of_json(value);

	if (types == 0 ? looks != 0 : (looks & types) && !(types & 1u << STRING))
		mp_write_raw(w, value);
	else if (types == 0 || types & 1u << STRING)
		mp_write_text(w, value);
	else
		return typed_refuse(key, value, types, reterr);
	return 0;
}

struct word {
	struct mp_str key, value;
	bool raw; /* := */
};

static bool typed_split(const char *text, struct word *ret)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return false;
	ret->raw = equals[-1] == ':' && equals - 1 > text;
	ret->key = (struct mp_str){text, (size_t)(equals - text) - (ret->raw ? 1 : 0)};
	ret->value = mp_str_of(equals + 1);
	return true;
}

static bool is_given_again(struct mp_str key, char *const *words, int from, int n)
{
	struct word word;

	for (int i = from; i < n; i++)
		if (typed_split(words[i], &word) && mp_str_eq(word.key, key))
			return true;
	return false;
}

static int write_given(struct mp_writer *w, const struct mp_tape *t, char *const *words, int n,
		       struct mp_arena *arena)
{
	MP_VALUE_EACH(t, MP_ROOT, key) {
		struct mp_str name;
		int r = mp_value_text(t, key, arena, &name);

		if (r < 0)
			return r;
		if (is_given_again(name, words, 0, n))
			continue;
		mp_write_raw_key(w, mp_value_source(t, key));
		mp_write_value(w, t, mp_value_of(key));
	}
	return 0;
}

static int write_word(struct mp_writer *w, const struct mp_tape *schema, char *const *words, int at,
		      int n, struct mcpool_error *reterr)
{
	mp_value property;
	struct word word;

	if (!typed_split(words[at], &word))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "invalid argument '%s': expected key=value or key:=JSON", words[at]);
	if (is_given_again(word.key, words, at + 1, n))
		return mp_fail(reterr, MCPOOL_EINVAL, "'%.*s' is given twice",
			       MP_STR_ARGS(word.key));
	if (!mp_utf8_valid(word.key) || !mp_utf8_valid(word.value))
		return mp_fail(reterr, MCPOOL_EINVAL, "an argument is not valid UTF-8");
	mp_write_key(w, word.key);
	if (word.raw) {
		if (!is_json(word.value))
			return mp_fail(reterr, MCPOOL_EINVAL, "'%.*s' is not JSON",
				       MP_STR_ARGS(word.value));
		mp_write_raw(w, word.value);
		return 0;
	}
	property = mp_value_get_str(schema, mp_value_get(schema, MP_ROOT, "properties"), word.key);
	if (property == MP_NONE)
		property = mp_value_get(schema, MP_ROOT, "additionalProperties");
	return write_typed(w, word.key, word.value, read_types(schema, property, 0), reterr);
}

/* Parse an object, or use an empty one. */
static int open_object(struct mp_tape *t, struct mp_str text, const char *what,
		       struct mcpool_error *reterr)
{
	struct mcpool_error why;
	int r;

	r = mp_tape_parse(t, text.len ? text : MP_STR("{}"), &why);
	if (r < 0)
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is not JSON: %s", what, why.message);
	if (!mp_value_is(t, MP_ROOT, MP_TAPE_OBJECT))
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is %s, not an object", what,
			       mp_value_describe(t, MP_ROOT));
	return 0;
}

int mp_typed_build(struct mp_str schema, struct mp_str given, char *const *words, int n,
		   struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape schema_tape;
	MP_CLEANUP(mp_tape_done) struct mp_tape given_tape;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_writer w;
	int r;

	mp_tape_init(&schema_tape, 0);
	mp_tape_init(&given_tape, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	r = open_object(&schema_tape, schema, "the schema", reterr);
	if (r == 0)
		r = open_object(&given_tape, given, "--args", reterr);
	if (r < 0)
		return r;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	r = write_given(&w, &given_tape, words, n, &arena);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	for (int i = 0; i < n && r == 0; i++)
		r = write_word(&w, &schema_tape, words, i, n, reterr);
	if (r < 0)
		return r;
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

/* --- checking -------------------------------------------------------------------------------- */

struct check {
	struct mp_tape schema, given;
	mp_value properties;
	struct mp_arena arena;
	struct mp_buf text;
};

/* Add a name to the message, with a separator. Without memory the message is shorter. */
static void add_name(struct check *c, struct mp_str name, const char *before)
{
	if (mp_buf_addf(&c->text, "%s%.*s", before, MP_STR_ARGS(name)) < 0)
		mp_buf_clear(&c->text);
}

static struct mp_str read_name(struct check *c, const struct mp_tape *t, mp_value v)
{
	struct mp_str name;

	return mp_value_text(t, v, &c->arena, &name) < 0 ? MP_STR("") : name;
}

/* The first required one that is missing and has no default, or MP_NONE. */
static mp_value find_missing(struct check *c)
{
	mp_value required = mp_value_get(&c->schema, MP_ROOT, "required");

	if (!mp_value_is(&c->schema, required, MP_TAPE_ARRAY))
		return MP_NONE;
	MP_VALUE_EACH(&c->schema, required, v) {
		struct mp_str name = read_name(c, &c->schema, v);
		mp_value property = mp_value_get_str(&c->schema, c->properties, name);

		if (name.len && mp_value_get_str(&c->given, MP_ROOT, name) == MP_NONE &&
		    mp_value_get(&c->schema, property, "default") == MP_NONE)
			return v;
	}
	return MP_NONE;
}

static mp_value find_unknown(struct check *c)
{
	MP_VALUE_EACH(&c->given, MP_ROOT, key)
		if (mp_value_get_str(&c->schema, c->properties, read_name(c, &c->given, key)) ==
		    MP_NONE)
			return key;
	return MP_NONE;
}

/* The schema lists all properties and allows no others. */
static bool is_closed(const struct check *c)
{
	static const char *const more[] = {
		"patternProperties", "anyOf", "oneOf", "allOf", "$ref", "if", "then", "else",
		"dependentSchemas"};
	mp_value rest = mp_value_get(&c->schema, MP_ROOT, "additionalProperties");

	for (size_t i = 0; i < MP_ARRAY_LEN(more); i++)
		if (mp_value_get(&c->schema, MP_ROOT, more[i]) != MP_NONE)
			return false;
	return mp_value_is(&c->schema, rest, MP_TAPE_FALSE) &&
	       mp_value_is(&c->schema, c->properties, MP_TAPE_OBJECT);
}

static void explain_unknown(struct check *c, mp_value unknown)
{
	const char *before = " (";

	add_name(c, read_name(c, &c->given, unknown), c->text.len ? "; '" : "'");
	add_name(c, MP_STR(""), "' is not one of its arguments");
	MP_VALUE_EACH(&c->schema, c->properties, key) {
		add_name(c, read_name(c, &c->schema, key), before);
		before = ", ";
	}
	add_name(c, MP_STR(""), before[0] == ',' ? ")" : "");
}

static int typed_check(struct check *c, struct mcpool_error *reterr)
{
	mp_value missing, unknown;

	c->properties = mp_value_get(&c->schema, MP_ROOT, "properties");
	missing = find_missing(c);
	unknown = find_unknown(c);
	if (missing == MP_NONE && (unknown == MP_NONE || !is_closed(c)))
		return 0;
	if (missing != MP_NONE) {
		add_name(c, read_name(c, &c->schema, missing), "the tool needs '");
		add_name(c, MP_STR("'"), "");
	}
	if (unknown != MP_NONE)
		explain_unknown(c, unknown);
	return mp_fail(reterr, MCPOOL_EINVAL, "%.*s. --no-check calls it all the same.",
		       MP_STR_ARGS(mp_buf_get(&c->text)));
}

int mp_typed_check(struct mp_str schema, struct mp_str arguments, struct mcpool_error *reterr)
{
	struct check c;
	int r = 0;

	mp_tape_init(&c.schema, 0);
	mp_tape_init(&c.given, 0);
	mp_arena_init(&c.arena, MP_LIMIT_ARENA);
	mp_buf_init(&c.text, MP_KIB(64));
	if (mp_tape_parse(&c.schema, schema, NULL) == 0 &&
	    mp_tape_parse(&c.given, arguments, NULL) == 0)
		r = typed_check(&c, reterr);
	mp_buf_done(&c.text);
	mp_arena_done(&c.arena);
	mp_tape_done(&c.given);
	mp_tape_done(&c.schema);
	return r;
}
