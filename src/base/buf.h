/*
 * buf.h - growing bytes with a ceiling given at init.
 * For everything whose size a peer decides. Adding returns 0, MCPOOL_ELIMIT past the ceiling or
 * MCPOOL_ENOMEM; after a failure the contents are what they were before the call.
 */
#ifndef MP_BUF_H
#define MP_BUF_H

#include <stdarg.h>
#include <string.h>

#include "base/base.h"
#include "base/str.h"

struct mp_buf {
	char *data; /* owned; NULL while nothing was reserved */
	size_t len;
	size_t cap;
	size_t ceiling; /* len never exceeds this */
};

void mp_buf_init(struct mp_buf *b, size_t ceiling);
void mp_buf_done(struct mp_buf *b);

/* Empty; a block of more than `keep` bytes is given back. */
void mp_buf_shrink(struct mp_buf *b, size_t keep);

/* Room for n more bytes behind len, to be written by the caller, who then raises len. */
int mp_buf_reserve(struct mp_buf *b, size_t n) MP_MUST;
int mp_buf_addf(struct mp_buf *b, const char *format, ...) MP_PRINTF(2, 3) MP_MUST;
int mp_buf_addv(struct mp_buf *b, const char *format, va_list args) MP_PRINTF(2, 0) MP_MUST;
/* Replace `gone` bytes at `at` by s, which must not lie inside b. */
int mp_buf_splice(struct mp_buf *b, size_t at, size_t gone, struct mp_str s) MP_MUST;
/* A NUL behind the last byte, not counted in len, so that data is a C string. */
int mp_buf_terminate(struct mp_buf *b) MP_MUST;
/* Drop n bytes at the front. Moves the rest: call it once per read, not once per line. */
void mp_buf_consume(struct mp_buf *b, size_t n);
/*
 * The bytes, now the caller's to mp_free(); the buf is empty again. NULL if nothing was ever
 * reserved; an emptied buf still hands over its block, with *ret_len 0.
 */
char *mp_buf_take(struct mp_buf *b, size_t *ret_len);

static inline int MP_MUST mp_buf_add(struct mp_buf *b, const void *bytes, size_t n)
{
	int r;

	if (MP_UNLIKELY(n > b->cap - b->len)) {
		r = mp_buf_reserve(b, n);
		if (r < 0)
			return r;
	}
	if (n) /* data may still be NULL */
		memcpy(b->data + b->len, bytes, n);
	b->len += n;
	return 0;
}

static inline int MP_MUST mp_buf_add_str(struct mp_buf *b, struct mp_str s)
{
	return mp_buf_add(b, s.p, s.len);
}

static inline int MP_MUST mp_buf_add_char(struct mp_buf *b, char c)
{
	return mp_buf_add(b, &c, 1);
}

/* All of them, or nothing. */
int mp_buf_add_pieces(struct mp_buf *b, const struct mp_str *pieces, size_t n) MP_MUST;

static inline void mp_buf_clear(struct mp_buf *b)
{
	b->len = 0;
}

static inline struct mp_str mp_buf_get(const struct mp_buf *b)
{
	return (struct mp_str){b->data, b->len};
}

#endif
