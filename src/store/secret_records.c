/*
 * secret_records.c - names and values as the sealed file holds them, once it is opened.
 */
#include "store/secret_records.h"

#include "base/limits.h"

enum { AT_NAME_LEN = 8, AT_VALUE_LEN = 10, HEAD = 14 };

bool mp_secret_records_is_name(struct mp_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] < ' ' || name.p[i] > '~')
			return false;
	return name.len > 0 && name.len <= MP_LIMIT_SECRET_NAME;
}

static uint64_t get_number(const char *p, int bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | (unsigned char)p[bytes];
	return n;
}

static void put_number(char *p, int bytes, uint64_t n)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (char)(n >> 8 * i);
}

int mp_secret_records_next(struct mp_str text, size_t *at, struct mp_secret_record *ret)
{
	size_t left = text.len - *at;
	const char *p;

	if (left == 0)
		return 0; /* of an empty text, p may be NULL */
	if (left < HEAD)
		return MCPOOL_EPARSE;
	p = text.p + *at;
	ret->saved_ms = (int64_t)get_number(p, 8);
	ret->name = (struct mp_str){p + HEAD, (size_t)get_number(p + AT_NAME_LEN, 2)};
	ret->value.len = (size_t)get_number(p + AT_VALUE_LEN, 4);
	if (left - HEAD < ret->name.len || left - HEAD - ret->name.len < ret->value.len ||
	    ret->value.len > MP_LIMIT_SECRET_VALUE || !mp_secret_records_is_name(ret->name))
		return MCPOOL_EPARSE;
	ret->value.p = ret->name.p + ret->name.len;
	*at += HEAD + ret->name.len + ret->value.len;
	return 1;
}

int mp_secret_records_check(struct mp_str text)
{
	struct mp_secret_record record;
	size_t at = 0;
	int r;

	while ((r = mp_secret_records_next(text, &at, &record)) > 0)
		;
	return r;
}

bool mp_secret_records_find(struct mp_str text, struct mp_str name, struct mp_secret_record *ret)
{
	size_t at = 0;

	while (mp_secret_records_next(text, &at, ret) > 0)
		if (mp_str_eq(ret->name, name))
			return true;
	return false;
}

static int add_record(struct mp_buf *out, const struct mp_secret_record *record)
{
	char head[HEAD];
	struct mp_str pieces[] = {{head, sizeof(head)}, record->name, record->value};

	put_number(head, 8, (uint64_t)record->saved_ms);
	put_number(head + AT_NAME_LEN, 2, record->name.len);
	put_number(head + AT_VALUE_LEN, 4, record->value.len);
	return mp_buf_add_pieces(out, pieces, MP_ARRAY_LEN(pieces));
}

int mp_secret_records_replace(struct mp_str text, struct mp_str name,
			      const struct mp_secret_record *with, struct mp_buf *out)
{
	struct mp_secret_record record;
	size_t at = 0;
	int r = mp_buf_reserve(out,
			       text.len + (with ? HEAD + with->name.len + with->value.len : 0));

	while (r == 0 && mp_secret_records_next(text, &at, &record) > 0)
		if (!mp_str_eq(record.name, name))
			r = add_record(out, &record);
	return r == 0 && with ? add_record(out, with) : r;
}
