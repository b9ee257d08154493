/*
 * trace.c - W3C trace context.
 */
#include "rpc/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/random_id.h"

/* "00-" 32 digits "-" 16 digits "-" 2 digits */
enum { ID_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, LEN = 55 };

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; /* upper case is not allowed */
}

static bool read_bytes(const char *text, unsigned char *ret, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		ret[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
	static const unsigned char zero[MP_TRACE_ID];

	return memcmp(bytes, zero, n) == 0;
}

/* Versions to come may say more behind another dash. */
static bool has_form(struct mp_str text, unsigned char *ret_version)
{
	if (text.len < LEN || !read_bytes(text.p, ret_version, 1) || *ret_version == 0xff)
		return false;
	if (text.p[ID_AT - 1] != '-' || text.p[PARENT_AT - 1] != '-' || text.p[FLAGS_AT - 1] != '-')
		return false;
	return text.len == LEN || (*ret_version > 0 && text.p[LEN] == '-');
}

bool mp_trace_parse(struct mp_str text, struct mp_trace *ret)
{
	unsigned char version, flags;

	*ret = (struct mp_trace){.is_unsampled = false};
	if (!has_form(text, &version) || !read_bytes(text.p + ID_AT, ret->id, MP_TRACE_ID) ||
	    !read_bytes(text.p + PARENT_AT, ret->parent, MP_SPAN_ID) ||
	    !read_bytes(text.p + FLAGS_AT, &flags, 1) || is_zero(ret->id, MP_TRACE_ID) ||
	    is_zero(ret->parent, MP_SPAN_ID)) {
		*ret = (struct mp_trace){.is_unsampled = false};
		return false;
	}
	ret->is_unsampled = !(flags & 1);
	return true;
}

/* An id of zeros is not valid. */
static void make_id(unsigned char *id, size_t n)
{
	do
		mp_random_fill(id, n);
	while (is_zero(id, n));
}

void mp_trace_begin(struct mp_trace *ret)
{
	*ret = (struct mp_trace){.is_unsampled = false};
	make_id(ret->id, MP_TRACE_ID);
}

void mp_trace_enter(struct mp_trace *t)
{
	make_id(t->span, MP_SPAN_ID);
}

bool mp_trace_has_span(const struct mp_trace *t)
{
	return !is_zero(t->span, MP_SPAN_ID);
}

void mp_trace_write_id(const unsigned char *id, size_t n, char *ret_text)
{
	for (size_t i = 0; i < n; i++)
		snprintf(ret_text + 2 * i, 3, "%02x", id[i]);
}

void mp_trace_write(const struct mp_trace *t, char ret_text[MP_TRACE_PARENT])
{
	char id[2 * MP_TRACE_ID + 1], span[2 * MP_SPAN_ID + 1];

	mp_trace_write_id(t->id, MP_TRACE_ID, id);
	mp_trace_write_id(t->span, MP_SPAN_ID, span);
	snprintf(ret_text, MP_TRACE_PARENT, "00-%s-%s-%02x", id, span, t->is_unsampled ? 0 : 1);
}
