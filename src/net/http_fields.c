/*
 * http_fields.c - header lines of a request, gathered one by one.
 * The text may move while it grows, so only lengths are kept, and made views at the end.
 */
#include "net/http_fields.h"

#include "base/limits.h"
#include "base/mem.h"

enum { FIRST = 16 };

void mp_http_fields_init(struct mp_http_fields *f)
{
	*f = (struct mp_http_fields){.n = 0};
	mp_buf_init(&f->text, MP_LIMIT_HEADER_BLOCK);
}

void mp_http_fields_done(struct mp_http_fields *f)
{
	mp_buf_done(&f->text);
	f->headers = mp_free(f->headers);
	f->n = f->cap = 0;
}

void mp_http_fields_clear(struct mp_http_fields *f)
{
	mp_buf_clear(&f->text);
	f->n = 0;
}

static int http_fields_resize(struct mp_http_fields *f, size_t cap)
{
	struct mp_http_header *more = mp_try_alloc(cap * sizeof(*more));

	if (!more)
		return MCPOOL_ENOMEM;
	if (f->n)
		memcpy(more, f->headers, f->n * sizeof(*more));
	mp_free(f->headers);
	f->headers = more;
	f->cap = cap;
	return 0;
}

static int grow(struct mp_http_fields *f)
{
	return http_fields_resize(f, f->cap ? 2 * f->cap : FIRST);
}

/* Without memory it stays as it is. */
void mp_http_fields_shrink(struct mp_http_fields *f)
{
	struct mp_buf text;

	if (f->n == 0 || http_fields_resize(f, f->n) < 0)
		return;
	mp_buf_init(&text, MP_LIMIT_HEADER_BLOCK);
	if (mp_buf_add_str(&text, mp_buf_get(&f->text)) < 0)
		return;
	mp_buf_done(&f->text);
	f->text = text;
}

int mp_http_fields_add(struct mp_http_fields *f, struct mp_str name, struct mp_str value)
{
	size_t before = f->text.len;
	int r = f->n == f->cap ? grow(f) : 0;

	if (r == 0)
		r = mp_buf_add_str(&f->text, name);
	if (r == 0)
		r = mp_buf_add_str(&f->text, value);
	if (r < 0) {
		f->text.len = before;
		return r;
	}
	f->headers[f->n++] = (struct mp_http_header){{NULL, name.len}, {NULL, value.len}};
	return 0;
}

/* Would it arrive as it is, and not be taken for something else? */
static bool is_plain(struct mp_str s)
{
	static const struct mp_str marker = {"=?base64?", 9};

	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < 0x20 || s.p[i] > 0x7e)
			return false;
	return mp_str_trim(s).len == s.len && s.len > 0 && !mp_str_starts(s, marker);
}

static int add_base64(struct mp_buf *out, struct mp_str s)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	int r = 0;

	for (size_t i = 0; i < s.len && r == 0; i += 3) {
		size_t left = s.len - i;
		unsigned a = (unsigned char)s.p[i], b = left > 1 ? (unsigned char)s.p[i + 1] : 0,
			 c = left > 2 ? (unsigned char)s.p[i + 2] : 0;
		char four[4] = {digits[a >> 2], digits[(a & 3) << 4 | b >> 4],
				left > 1 ? digits[(b & 15) << 2 | c >> 6] : '=',
				left > 2 ? digits[c & 63] : '='};

		r = mp_buf_add(out, four, 4);
	}
	return r;
}

int mp_http_fields_add_text(struct mp_http_fields *f, struct mp_str name, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf coded;
	int r;

	mp_buf_init(&coded, MP_LIMIT_HEADER_BLOCK);
	if (is_plain(text))
		return mp_http_fields_add(f, name, text);
	r = mp_buf_add_str(&coded, MP_STR("=?base64?"));
	if (r == 0)
		r = add_base64(&coded, text);
	if (r == 0)
		r = mp_buf_add_str(&coded, MP_STR("?="));
	return r < 0 ? r : mp_http_fields_add(f, name, mp_buf_get(&coded));
}

const struct mp_http_header *mp_http_fields_get(const struct mp_http_fields *f, size_t *ret_n)
{
	const char *p = f->text.data;

	for (size_t i = 0; i < f->n; i++) {
		f->headers[i].name.p = p;
		p += f->headers[i].name.len;
		f->headers[i].value.p = p;
		p += f->headers[i].value.len;
	}
	*ret_n = f->n;
	return f->headers;
}
