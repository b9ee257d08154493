/*
 * text.c - the result of a call as text.
 */
#include "session/text.h"

#include "base/arena.h"
#include "base/limits.h"
#include "json/tape.h"
#include "json/value.h"

struct projection {
	const struct mp_tape *t;
	struct mp_buf *out;
	struct mp_arena arena;
	const char *join;
	size_t n;          /* blocks added */
	bool says_content; /* a text block equals the structured content */
	mp_value structured;
};

static struct mp_str text_of(struct projection *p, mp_value object, const char *key)
{
	struct mp_str text;

	if (mp_value_text(p->t, mp_value_get(p->t, object, key), &p->arena, &text) < 0)
		return MP_STR("");
	return text;
}

size_t mp_text_get_decoded_size(struct mp_str base64)
{
	while (base64.len && base64.p[base64.len - 1] == '=')
		base64.len--;
	return base64.len * 3 / 4;
}

/* [image image/png, 70 bytes] */
static int text_describe(struct projection *p, const char *what, struct mp_str which, size_t bytes)
{
	int r = mp_buf_addf(p->out, "[%s %.*s", what, MP_STR_ARGS(which));

	if (r == 0 && bytes)
		r = mp_buf_addf(p->out, ", %zu bytes", bytes);
	return r < 0 ? r : mp_buf_add_char(p->out, ']');
}

static int add_resource(struct projection *p, mp_value resource)
{
	struct mp_str uri = text_of(p, resource, "uri");
	mp_value text = mp_value_get(p->t, resource, "text");
	int r;

	if (!mp_value_is(p->t, text, MP_TAPE_STRING))
		return text_describe(p, "resource", uri,
				     mp_text_get_decoded_size(text_of(p, resource, "blob")));
	r = mp_buf_addf(p->out, "[Resource: %.*s]\n", MP_STR_ARGS(uri));
	return r < 0 ? r : mp_buf_add_str(p->out, text_of(p, resource, "text"));
}

/* Many tools return one value as text and again as a named member. */
static mp_value get_only_member(const struct mp_tape *t, mp_value v)
{
	return mp_value_is(t, v, MP_TAPE_OBJECT) && mp_value_count(t, v) == 1
		       ? mp_value_of(mp_value_first(t, v))
		       : v;
}

/* Does this text equal the structured content or its only member, except for white space? */
static bool says_content(struct projection *p, struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value only = get_only_member(p->t, p->structured);
	bool equal = false;

	mp_tape_init(&t, 0);
	if (p->structured == MP_NONE)
		return false;
	if (mp_value_text_is(p->t, only, text))
		return true;
	if (mp_tape_parse(&t, text, NULL) < 0)
		return false;
	return (mp_value_equal(&t, MP_ROOT, p->t, p->structured, &equal) == 0 && equal) ||
	       (mp_value_equal(&t, MP_ROOT, p->t, only, &equal) == 0 && equal);
}

static int add_block(struct projection *p, mp_value block)
{
	struct mp_str type = text_of(p, block, "type");

	if (mp_str_eq(type, MP_STR("text"))) {
		struct mp_str text = text_of(p, block, "text");

		p->says_content = p->says_content || says_content(p, text);
		return mp_buf_add_str(p->out, text);
	}
	if (mp_str_eq(type, MP_STR("resource")))
		return add_resource(p, mp_value_get(p->t, block, "resource"));
	if (mp_str_eq(type, MP_STR("resource_link")))
		return text_describe(p, "resource", text_of(p, block, "uri"), 0);
	if (mp_str_eq(type, MP_STR("image")) || mp_str_eq(type, MP_STR("audio")))
		return text_describe(p, type.p[0] == 'i' ? "image" : "audio",
				     text_of(p, block, "mimeType"),
				     mp_text_get_decoded_size(text_of(p, block, "data")));
	return text_describe(p, "content of type", type, 0);
}

int mp_text_add_block(const struct mp_tape *t, mp_value block, struct mp_buf *out)
{
	struct projection p = {.t = t, .out = out, .join = "", .structured = MP_NONE};
	int r;

	mp_arena_init(&p.arena, MP_LIMIT_ARENA);
	r = add_block(&p, block);
	mp_arena_done(&p.arena);
	return r;
}

static int add_blocks(struct projection *p)
{
	int r = 0;

	MP_VALUE_EACH(p->t, mp_value_get(p->t, MP_ROOT, "content"), block) {
		if (r == 0 && p->n++)
			r = mp_buf_addf(p->out, "%s", p->join);
		if (r == 0)
			r = add_block(p, block);
	}
	return r;
}

static int add_structured(struct projection *p)
{
	struct mp_str json = mp_value_source(p->t, p->structured);
	int r;

	if (p->structured == MP_NONE || p->says_content)
		return 0;
	if (p->n == 0)
		return mp_buf_add_str(p->out, json);
	r = mp_buf_addf(p->out, "\n\n```json\n");
	if (r == 0)
		r = mp_buf_add_str(p->out, json);
	return r < 0 ? r : mp_buf_addf(p->out, "\n```");
}

int mp_text_project(struct mp_str result, const char *join, struct mp_buf *out, bool *ret_is_error)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct projection p = {.t = &t, .out = out, .join = join};
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, result, NULL);
	if (r < 0)
		return r;
	mp_arena_init(&p.arena, MP_LIMIT_ARENA);
	p.structured = mp_value_get(&t, MP_ROOT, "structuredContent");
	*ret_is_error = mp_value_is(&t, mp_value_get(&t, MP_ROOT, "isError"), MP_TAPE_TRUE);
	if (*ret_is_error)
		r = mp_buf_addf(out, "Error: ");
	if (r == 0)
		r = add_blocks(&p);
	if (r == 0)
		r = add_structured(&p);
	mp_arena_done(&p.arena);
	return r;
}

/* --- shortening ------------------------------------------------------------------------------ */

int mp_text_shorten(struct mp_str text, size_t max, struct mp_str handle, struct mp_buf *out)
{
	size_t head, tail;
	int r;

	if (text.len <= max)
		return mp_buf_add_str(out, text);
	head = mp_utf8_cut(text.p, max / 2);
	tail = text.len - max / 2;
	while (tail < text.len && mp_utf8_is_tail(text.p[tail]))
		tail++;
	r = mp_buf_add(out, text.p, head);
	if (r == 0)
		r = mp_buf_addf(
			out,
			"\n[\xc2\xb7\xc2\xb7\xc2\xb7TRUNCATED %zu bytes\xc2\xb7\xc2\xb7\xc2\xb7]",
			tail - head);
	if (r == 0 && handle.len)
		r = mp_buf_addf(out, "\n[all of it: %.*s]", MP_STR_ARGS(handle));
	if (r == 0)
		r = mp_buf_add_char(out, '\n');
	return r < 0 ? r : mp_buf_add(out, text.p + tail, text.len - tail);
}
