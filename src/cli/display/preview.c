/*
 * preview.c - shows an entry as it would be written to a file.
 * Each text is checked by itself: only a secret is masked, never the word after one.
 */
#include "cli/display/preview.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/redact.h"
#include "cli/display/safe.h"
#include "json/tape.h"
#include "json/write.h"

struct preview {
	const struct mp_tape *t;
	struct mp_writer w;
	struct mp_arena arena;
};

/* `${NAME}` or `${NAME:-}`, maybe after a word such as Bearer: a reference, not a secret. */
static bool is_placeholder(struct mp_str text)
{
	ptrdiff_t at = mp_str_find(text, MP_STR("${"), 0);
	struct mp_str name;

	if (at < 0 || text.len < 4 || text.p[text.len - 1] != '}')
		return false;
	if (at > 0 && (at > 8 || memchr(text.p, ' ', text.len) != text.p + at - 1))
		return false;
	name = (struct mp_str){text.p + at + 2, text.len - (size_t)at - 3};
	if (name.len > 2 && memcmp(name.p + name.len - 2, ":-", 2) == 0)
		name.len -= 2;
	for (size_t i = 0; i < name.len; i++)
		if (strchr(":-{}$ ", name.p[i]))
			return false;
	return name.len > 0;
}

static void write_text(struct preview *p, struct mp_str text, bool secret)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf clean;

	mp_buf_init(&clean, MP_LIMIT_CONFIG_FILE * 4);
	if (is_placeholder(text) || mp_str_starts(text, MP_STR("!")))
		mp_write_text(&p->w, text);
	else if (secret || mp_redact(text, false, &clean) < 0)
		mp_write_text(&p->w, MP_STR("•••"));
	else
		mp_write_text(&p->w, mp_buf_get(&clean));
}

static struct mp_str preview_read(struct preview *p, mp_value v)
{
	struct mp_str text;

	return mp_value_text(p->t, v, &p->arena, &text) == 0 ? text : MP_STR("");
}

static void preview_write(struct preview *p, mp_value v, bool secret);

/* `--token` masks the next word; `-e TOKEN` of docker does not. */
static void write_list(struct preview *p, mp_value list)
{
	bool secret = false;

	mp_write_begin_array(&p->w);
	MP_VALUE_EACH(p->t, list, v) {
		struct mp_str word = {"", 0};

		preview_write(p, v, secret);
		if (mp_value_is(p->t, v, MP_TAPE_STRING))
			word = preview_read(p, v);
		secret = mp_str_starts(word, MP_STR("-")) && mp_redact_is_secret_name(word);
	}
	mp_write_end_array(&p->w);
}

static void preview_write(struct preview *p, mp_value v, bool secret)
{
	if (mp_value_is(p->t, v, MP_TAPE_OBJECT)) {
		mp_write_begin_object(&p->w);
		MP_VALUE_EACH(p->t, v, key) {
			mp_write_raw_key(&p->w, mp_value_source(p->t, key));
			preview_write(p, mp_value_of(key),
				      mp_redact_is_secret_name(preview_read(p, key)));
		}
		mp_write_end_object(&p->w);
	} else if (mp_value_is(p->t, v, MP_TAPE_ARRAY)) {
		write_list(p, v);
	} else if (mp_value_is(p->t, v, MP_TAPE_STRING)) {
		write_text(p, preview_read(p, v), secret);
	} else {
		mp_write_value(&p->w, p->t, v);
	}
}

int mp_preview_add(struct mp_str json, bool secret, struct mp_buf *out)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct preview p = {.t = &t};
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, json, NULL);
	if (r < 0)
		return r;
	mp_arena_init(&p.arena, MP_LIMIT_ARENA);
	mp_write_init(&p.w, out, NULL);
	preview_write(&p, MP_ROOT, secret);
	r = mp_write_finish(&p.w);
	mp_arena_done(&p.arena);
	return r;
}

void mp_preview_print(struct mp_str json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, safe;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct preview p = {.t = &t};

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE * 8);
	mp_buf_init(&safe, MP_LIMIT_CONFIG_FILE * 16);
	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, json, NULL) < 0)
		return;
	mp_arena_init(&p.arena, MP_LIMIT_ARENA);
	mp_write_init(&p.w, &text, "  ");
	p.w.margin = MP_STR("  ");
	preview_write(&p, MP_ROOT, false);
	if (mp_write_finish(&p.w) == 0 && mp_safe_add(&safe, mp_buf_get(&text), MP_SAFE_TEXT) == 0)
		fprintf(stderr, "  %.*s\n", MP_STR_ARGS(mp_buf_get(&safe)));
	mp_arena_done(&p.arena);
}
