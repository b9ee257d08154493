/*
 * oversize.c - a result above result.maxBytes: its beginning, its end, and where all of it is
 * stored.
 */
#include "session/oversize.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"
#include "session/text.h"
#include "store/results.h"

enum { MOST_NOTES = 16 }; /* binary blocks stored one by one; the others are in the whole result */

struct oversize {
	const struct mp_oversize_options *o;
	struct mp_str result;
	struct mp_tape t;
	struct mp_arena arena;
	struct mp_buf text;  /* what is shown */
	struct mp_buf notes; /* where binary blocks are */
	bool is_error;
	bool is_cut; /* the text is, and says where all of it is */
	struct mcpool_error *why;
};

static void oversize_done(struct oversize *v)
{
	mp_tape_done(&v->t);
	mp_arena_done(&v->arena);
	mp_buf_done(&v->text);
	mp_buf_done(&v->notes);
}

static int oversize_init(struct oversize *v, struct mp_str result,
			 const struct mp_oversize_options *o, struct mcpool_error *reterr)
{
	v->o = o;
	v->result = result;
	v->is_error = v->is_cut = false;
	v->why = reterr;
	*reterr = (struct mcpool_error){0};
	mp_tape_init(&v->t, 0);
	mp_arena_init(&v->arena, MP_LIMIT_ARENA);
	mp_buf_init(&v->text, 2 * MP_LIMIT_MESSAGE);
	mp_buf_init(&v->notes, MP_KIB(64));
	return mp_tape_parse(&v->t, result, NULL);
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* A block that is not text. */
struct binary {
	const char *kind;
	struct mp_str mime, base64;
};

static struct mp_str text_of(struct oversize *v, mp_value object, const char *key)
{
	struct mp_str text;

	if (mp_value_text(&v->t, mp_value_get(&v->t, object, key), &v->arena, &text) < 0)
		return MP_STR("");
	return text;
}

static bool binary_read(struct oversize *v, mp_value block, struct binary *ret)
{
	struct mp_str type = text_of(v, block, "type");
	bool is_resource = mp_str_eq(type, MP_STR("resource"));
	mp_value from = is_resource ? mp_value_get(&v->t, block, "resource") : block;

	if (!is_resource && !mp_str_eq(type, MP_STR("image")) && !mp_str_eq(type, MP_STR("audio")))
		return false;
	ret->kind = is_resource ? "resource" : type.p[0] == 'i' ? "image" : "audio";
	ret->mime = text_of(v, from, "mimeType");
	ret->base64 = text_of(v, from, is_resource ? "blob" : "data");
	if (!ret->mime.len)
		ret->mime = MP_STR("application/octet-stream");
	return ret->base64.len;
}

static bool is_oversize(struct oversize *v)
{
	size_t bytes =
		mp_value_source(&v->t, mp_value_get(&v->t, MP_ROOT, "structuredContent")).len;

	MP_VALUE_EACH(&v->t, mp_value_get(&v->t, MP_ROOT, "content"), block) {
		struct binary b;

		if (binary_read(v, block, &b))
			bytes += b.base64.len;
		else
			bytes += mp_value_source(&v->t, block).len;
		if (bytes > v->o->max)
			return true;
	}
	return bytes > v->o->max;
}

/* --- storing --------------------------------------------------------------------------------- */

/* [image image/png, 70 bytes, stored: mcpool://results/ID] */
static int store_binary(struct oversize *v, const struct binary *b)
{
	char uri[MP_RESULT_URI];
	int r = mp_results_keep(b->base64, b->mime, uri, v->why);

	if (r < 0)
		return r == MCPOOL_ENOMEM ? r : 0; /* it is not stored */
	return mp_buf_addf(&v->notes, "\n[%s %.*s, %zu bytes, stored: %s]", b->kind,
			   MP_STR_ARGS(b->mime), mp_text_get_decoded_size(b->base64), uri);
}

/* Shortens the text to what the options say. */
static int write_text(struct oversize *v, bool has_prefix)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf all;
	char uri[MP_RESULT_URI] = "";
	struct mp_str text;
	int r;

	mp_buf_init(&all, 2 * MP_LIMIT_MESSAGE);
	r = mp_text_project(v->result, v->o->join, &all, &v->is_error);
	if (r < 0)
		return r;
	text = mp_buf_get(&all);
	if (v->is_error && !has_prefix)
		text = (struct mp_str){text.p + sizeof("Error: ") - 1,
				       text.len - (sizeof("Error: ") - 1)};
	v->is_cut = text.len > v->o->max;
	if (v->is_cut && mp_results_keep(v->result, MP_STR(""), uri, v->why) < 0)
		uri[0] = '\0';
	return mp_text_shorten(text, v->o->max, mp_str_of(uri), &v->text);
}

static int add_notes(struct oversize *v, size_t n_binary)
{
	char uri[MP_RESULT_URI];
	int r = mp_buf_add_str(&v->text, mp_buf_get(&v->notes));

	if (r == 0 && n_binary > MOST_NOTES && !v->is_cut &&
	    mp_results_keep(v->result, MP_STR(""), uri, v->why) == 0)
		r = mp_buf_addf(&v->text, "\n[all of it: %s]", uri);
	return r;
}

/* Is there room for it beside the text? */
static bool binary_fits(const struct binary *b, size_t *room, bool is_shown)
{
	if (b->base64.len > *room)
		return false;
	if (is_shown)
		*room -= b->base64.len;
	return true;
}

/* Stores what is binary and does not fit. */
static int store_rest(struct oversize *v, size_t room, bool is_shown)
{
	struct binary b;
	size_t n = 0;
	int r = 0;

	MP_VALUE_EACH(&v->t, mp_value_get(&v->t, MP_ROOT, "content"), block)
		if (r == 0 && binary_read(v, block, &b) && !binary_fits(&b, &room, is_shown) &&
		    n++ < MOST_NOTES)
			r = store_binary(v, &b);
	return r < 0 ? r : add_notes(v, n);
}

int mp_oversize_write_text(struct mp_str result, const struct mp_oversize_options *o,
			   struct mp_buf *out, bool *ret_is_error, struct mcpool_error *reterr)
{
	MP_CLEANUP(oversize_done) struct oversize v;
	int r = oversize_init(&v, result, o, reterr);

	if (r == 0)
		r = write_text(&v, true);
	if (r == 0)
		r = store_rest(&v, o->max, false);
	*ret_is_error = v.is_error;
	return r < 0 ? r : mp_buf_add_str(out, mp_buf_get(&v.text));
}

/* --- a result for an agent ------------------------------------------------------------------- */

static void write_content(struct oversize *v, struct mp_writer *w, size_t room)
{
	struct binary b;

	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("text"));
	mp_write_member_text(w, "text", mp_buf_get(&v->text));
	mp_write_end_object(w);
	MP_VALUE_EACH(&v->t, mp_value_get(&v->t, MP_ROOT, "content"), block)
		if (binary_read(v, block, &b) && binary_fits(&b, &room, true))
			mp_write_raw(w, mp_value_source(&v->t, block));
	mp_write_end_array(w);
}

static int write_result(struct oversize *v, size_t room, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	MP_VALUE_EACH(&v->t, MP_ROOT, key) {
		if (mp_value_text_is(&v->t, key, MP_STR("structuredContent")))
			continue;
		mp_write_raw_key(&w, mp_value_source(&v->t, key));
		if (mp_value_text_is(&v->t, key, MP_STR("content")))
			write_content(v, &w, room);
		else
			mp_write_raw(&w, mp_value_source(&v->t, mp_value_of(key)));
	}
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_oversize_write_result(struct mp_str result, const struct mp_oversize_options *o,
			     struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(oversize_done) struct oversize v;
	size_t room;
	int r = oversize_init(&v, result, o, reterr);

	if (r < 0 || !mp_value_is(&v.t, mp_value_get(&v.t, MP_ROOT, "content"), MP_TAPE_ARRAY) ||
	    !is_oversize(&v))
		return r;
	r = write_text(&v, false);
	if (r < 0)
		return r;
	room = o->max > v.text.len ? o->max - v.text.len : 0;
	r = store_rest(&v, room, true);
	return r < 0 ? r : write_result(&v, room, out);
}
