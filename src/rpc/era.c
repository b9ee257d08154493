/*
 * era.c - what both eras say alike: capabilities, implementations, errors.
 */
#include "rpc/era.h"

/* Messages are scanned without their depths; what must be read whole is parsed once more. */
int mp_era_open(const struct mp_message *m, mp_value v, struct mp_tape *t)
{
	mp_tape_init(t, 0);
	return mp_tape_parse(t, mp_value_source(m->tape, v), NULL);
}

void mp_era_write_implementation(struct mp_writer *w, const struct mp_identity *me)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(me->name));
	if (me->title)
		mp_write_member_text(w, "title", mp_str_of(me->title));
	mp_write_member_text(w, "version", mp_str_of(me->version));
	mp_write_end_object(w);
}

static bool is_true(const struct mp_tape *t, mp_value object, const char *key)
{
	return mp_value_is(t, mp_value_get(t, object, key), MP_TAPE_TRUE);
}

unsigned mp_era_read_offers(const struct mp_tape *t, mp_value capabilities)
{
	static const struct {
		const char *capability, *flag; /* flag NULL: being there is enough */
		unsigned offer;
	} rows[] = {
		{"tools", NULL, MP_OFFERS_TOOLS},
		{"tools", "listChanged", MP_OFFERS_TOOLS_CHANGES},
		{"prompts", NULL, MP_OFFERS_PROMPTS},
		{"prompts", "listChanged", MP_OFFERS_PROMPTS_CHANGES},
		{"resources", NULL, MP_OFFERS_RESOURCES},
		{"resources", "listChanged", MP_OFFERS_RESOURCES_CHANGES},
		{"resources", "subscribe", MP_OFFERS_SUBSCRIBE},
		{"completions", NULL, MP_OFFERS_COMPLETIONS},
		{"logging", NULL, MP_OFFERS_LOGGING},
	};
	unsigned offers = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		mp_value v = mp_value_get(t, capabilities, rows[i].capability);

		if (mp_value_is(t, v, MP_TAPE_OBJECT) &&
		    (!rows[i].flag || is_true(t, v, rows[i].flag)))
			offers |= rows[i].offer;
	}
	return offers;
}

/* A string member in the arena; empty where there is none. */
int mp_era_read_text(const struct mp_tape *t, mp_value object, const char *key,
		     struct mp_arena *arena, struct mp_str *ret_text)
{
	mp_value v = mp_value_get(t, object, key);
	struct mp_str text;
	char *copy;
	int r;

	*ret_text = MP_STR("");
	if (!mp_value_is(t, v, MP_TAPE_STRING))
		return 0;
	r = mp_value_text(t, v, arena, &text);
	if (r < 0)
		return r;
	copy = mp_arena_dup(arena, text);
	if (!copy)
		return mp_arena_get_error(arena);
	*ret_text = (struct mp_str){copy, text.len};
	return 0;
}

int mp_era_read_implementation(const struct mp_tape *t, mp_value v, struct mp_arena *arena,
			       struct mp_hello *hello)
{
	int r = mp_era_read_text(t, v, "name", arena, &hello->name);

	if (r == 0)
		r = mp_era_read_text(t, v, "title", arena, &hello->title);
	if (r == 0)
		r = mp_era_read_text(t, v, "version", arena, &hello->server_version);
	return r;
}

int64_t mp_error_read_code(const struct mp_message *m)
{
	int64_t code;

	if (mp_value_i64(m->tape, mp_value_get(m->tape, m->error, "code"), &code) < 0)
		return 0;
	return code;
}

struct mp_str mp_error_read_words(const struct mp_message *m, struct mp_arena *arena)
{
	struct mp_str words;

	if (mp_era_read_text(m->tape, m->error, "message", arena, &words) < 0)
		return MP_STR("");
	return words;
}
