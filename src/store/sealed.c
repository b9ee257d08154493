/*
 * sealed.c - an entry's JSON without its literal secrets.
 */
#include "store/sealed.h"

#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/redact.h"
#include "json/write.h"
#include "store/digest.h"
#include "store/local_key.h"

#define DOTS "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"

enum { HASH_SHOWN = 16 }; /* hex digits: tells two values apart, and fits on a line */

struct sealing {
	const struct mp_tape *t;
	const unsigned char *key; /* NULL: for people */
	struct mp_arena arena;
	struct mp_writer w;
};

/* What a value is called, and where it is. */
struct place {
	struct mp_str name;
	bool in_headers;
	bool is_value; /* the word before it is an option such as --token */
};

static bool has_any(struct mp_str s, const char *bytes)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] && strchr(bytes, s.p[i]))
			return true;
	return false;
}

/* Nothing in it is looked up or run by us. */
static bool is_literal(struct mp_str value)
{
	return value.len && !(value.p[0] && strchr("!/.~", value.p[0])) && !has_any(value, "${");
}

bool mp_sealed_is_hidden(struct mp_str name, struct mp_str value, bool is_header)
{
	return mp_redact_is_secret_name(name) && is_literal(value) &&
	       (is_header || !has_any(value, " \t\r\n\v\f"));
}

/* --- one value ------------------------------------------------------------------------------ */

static void sealed_hash(const struct sealing *s, struct mp_str value,
			char hex[2 * MP_DIGEST_SIZE + 1])
{
	unsigned char digest[MP_DIGEST_SIZE];
	struct mp_digest *d =
		mp_digest_new_keyed((struct mp_str){(const char *)s->key, MP_LOCAL_KEY_SIZE});

	mp_digest_add(d, MP_STR("mcpool sealed 1"));
	mp_digest_add(d, value);
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	hex[HASH_SHOWN] = '\0';
}

static bool is_secret(const struct sealing *s, const struct place *p, struct mp_str value)
{
	if (mp_sealed_is_hidden(p->name, value, p->in_headers))
		return true;
	return s->key && is_literal(value) && (p->in_headers || p->is_value);
}

/* What is left to see of a value: dots, or a text with dots in it. */
static int add_string(struct sealing *s, const struct place *p, struct mp_str value)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char hex[2 * MP_DIGEST_SIZE + 1];
	bool hidden = is_secret(s, p, value);
	int r;

	mp_buf_init(&text, MP_LIMIT_DB_VALUE);
	if (hidden)
		r = mp_buf_add_str(&text, MP_STR(DOTS));
	else
		r = s->key ? mp_redact(value, false, &text) : mp_buf_add_str(&text, value);
	if (r == 0 && s->key && !mp_str_eq(mp_buf_get(&text), value)) {
		sealed_hash(s, value, hex);
		r = mp_buf_addf(&text, " [%s]", hex);
	}
	if (r == 0)
		mp_write_text(&s->w, mp_buf_get(&text));
	return r;
}

/* --- the whole ------------------------------------------------------------------------------ */

static int add_value(struct sealing *s, mp_value v, struct place p);

static int add_object(struct sealing *s, mp_value object, struct place p)
{
	int r = 0;

	mp_write_begin_object(&s->w);
	MP_VALUE_EACH(s->t, object, key) {
		struct place below = {.in_headers = p.in_headers};

		r = mp_value_text(s->t, key, &s->arena, &below.name);
		if (r < 0)
			return r;
		below.in_headers |= mp_str_eq(below.name, MP_STR("headers")) ||
				    mp_str_eq(below.name, MP_STR("http_headers"));
		mp_write_key(&s->w, below.name);
		r = add_value(s, mp_value_of(key), below);
		if (r < 0)
			return r;
	}
	mp_write_end_object(&s->w);
	return 0;
}

static int add_array(struct sealing *s, mp_value array, struct place p)
{
	struct mp_str word;
	int r = 0;

	p.is_value = false;
	mp_write_begin_array(&s->w);
	MP_VALUE_EACH(s->t, array, v) {
		r = add_value(s, v, p);
		if (r < 0)
			return r;
		p.is_value = mp_value_is(s->t, v, MP_TAPE_STRING) &&
			     mp_value_text(s->t, v, &s->arena, &word) == 0 && word.len &&
			     word.p[0] == '-' && mp_redact_is_secret_name(word);
	}
	mp_write_end_array(&s->w);
	return 0;
}

static int add_value(struct sealing *s, mp_value v, struct place p)
{
	struct mp_str text;
	int r;

	if (mp_value_is(s->t, v, MP_TAPE_OBJECT))
		return add_object(s, v, p);
	if (mp_value_is(s->t, v, MP_TAPE_ARRAY))
		return add_array(s, v, p);
	if (!mp_value_is(s->t, v, MP_TAPE_STRING)) {
		mp_write_raw(&s->w, mp_value_source(s->t, v));
		return 0;
	}
	r = mp_value_text(s->t, v, &s->arena, &text);
	return r < 0 ? r : add_string(s, &p, text);
}

int mp_sealed_add(struct mp_str json, const unsigned char *key, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct sealing s = {.t = &t, .key = key};
	size_t start = out->len;
	int r;

	mp_tape_init(&t, 0);
	mp_arena_init(&s.arena, MP_LIMIT_ARENA);
	mp_write_init(&s.w, out, NULL);
	r = mp_tape_parse(&t, json, NULL);
	if (r == 0)
		r = add_value(&s, MP_ROOT, (struct place){.in_headers = false});
	if (r == 0)
		r = mp_write_finish(&s.w);
	mp_arena_done(&s.arena);
	if (r < 0)
		out->len = start;
	return r;
}
