/*
 * buf.c - growing bytes with a ceiling given at init.
 * Capacity doubles, but never past the ceiling, so the memory behind a buf is bounded by it too.
 */
#include "base/buf.h"

#include <stdio.h>

#include "base/mem.h"

enum { FIRST_CAPACITY = 256 };

void mp_buf_init(struct mp_buf *b, size_t ceiling)
{
	*b = (struct mp_buf){.ceiling = ceiling};
}

void mp_buf_done(struct mp_buf *b)
{
	mp_free(b->data);
	mp_buf_init(b, b->ceiling);
}

void mp_buf_shrink(struct mp_buf *b, size_t keep)
{
	b->len = 0;
	if (b->cap > keep)
		mp_buf_done(b);
}

static size_t next_capacity(const struct mp_buf *b, size_t needed)
{
	size_t cap = b->cap ? b->cap : FIRST_CAPACITY;

	if (cap > b->ceiling)
		cap = b->ceiling;
	while (cap < needed)
		cap = cap > b->ceiling / 2 ? b->ceiling : cap * 2;
	return cap;
}

int mp_buf_reserve(struct mp_buf *b, size_t n)
{
	size_t cap;
	char *data;

	if (n <= b->cap - b->len)
		return 0;
	if (n > b->ceiling - b->len)
		return MCPOOL_ELIMIT;
	cap = next_capacity(b, b->len + n);
	data = mp_try_realloc(b->data, cap);
	if (!data)
		return MCPOOL_ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

int mp_buf_add_pieces(struct mp_buf *b, const struct mp_str *pieces, size_t n)
{
	size_t total = 0;
	char *at;
	int r;

	for (size_t i = 0; i < n; i++)
		total += pieces[i].len; /* of memory that is there, so no sum overflows */
	if (total == 0)
		return 0; /* there may be no memory to point into */
	r = mp_buf_reserve(b, total);
	if (r < 0)
		return r;
	at = b->data + b->len;
	for (size_t i = 0; i < n; i++) {
		if (pieces[i].len)
			memcpy(at, pieces[i].p, pieces[i].len);
		at += pieces[i].len;
	}
	b->len += total;
	return 0;
}

int mp_buf_addv(struct mp_buf *b, const char *format, va_list args)
{
	va_list again;
	char text[512];
	char *large;
	int n, r;

	va_copy(again, args);
	n = vsnprintf(text, sizeof(text), format, args);
	if (n < 0) {
		r = MCPOOL_EINVAL;
	} else if ((size_t)n < sizeof(text)) {
		r = mp_buf_add(b, text, (size_t)n);
	} else if ((size_t)n > b->ceiling - b->len) {
		r = MCPOOL_ELIMIT; /* before memory is spent on text that cannot be kept */
	} else {
		large = mp_try_alloc((size_t)n + 1);
		if (!large) {
			r = MCPOOL_ENOMEM;
		} else {
			vsnprintf(large, (size_t)n + 1, format, again);
			r = mp_buf_add(b, large, (size_t)n);
			mp_free(large);
		}
	}
	va_end(again);
	return r;
}

int mp_buf_addf(struct mp_buf *b, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = mp_buf_addv(b, format, args);
	va_end(args);
	return r;
}

int mp_buf_splice(struct mp_buf *b, size_t at, size_t gone, struct mp_str s)
{
	size_t behind;
	int r;

	mp_check(at <= b->len && gone <= b->len - at);
	if (s.len > gone) {
		r = mp_buf_reserve(b, s.len - gone);
		if (r < 0)
			return r;
	}
	behind = b->len - at - gone;
	if (behind)
		memmove(b->data + at + s.len, b->data + at + gone, behind);
	if (s.len)
		memcpy(b->data + at, s.p, s.len);
	b->len = at + s.len + behind;
	return 0;
}

int mp_buf_terminate(struct mp_buf *b)
{
	int r = mp_buf_add_char(b, '\0');

	if (r == 0)
		b->len--;
	return r;
}

void mp_buf_consume(struct mp_buf *b, size_t n)
{
	mp_check(n <= b->len);
	b->len -= n;
	if (b->len)
		memmove(b->data, b->data + n, b->len);
}

char *mp_buf_take(struct mp_buf *b, size_t *ret_len)
{
	char *data = b->data;

	*ret_len = b->len;
	mp_buf_init(b, b->ceiling);
	return data;
}
