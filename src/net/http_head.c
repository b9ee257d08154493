/*
 * http_head.c - status and headers of an answer, gathered line by line, with a ceiling.
 * After an interim answer (1xx) it starts again; trailers are dropped, but counted.
 */
#include "net/http_head.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

struct mp_str mp_http_head_find(const struct mp_http_head *head, struct mp_str name)
{
	for (size_t i = 0; i < head->n_headers; i++)
		if (mp_str_eq_nocase(head->headers[i].name, name))
			return head->headers[i].value;
	return (struct mp_str){NULL, 0};
}

bool mp_http_head_has_type(const struct mp_http_head *head, struct mp_str type)
{
	struct mp_str value = mp_http_head_find(head, MP_STR("Content-Type"));
	ptrdiff_t end = mp_str_find(value, MP_STR(";"), 0);

	if (end >= 0)
		value.len = (size_t)end;
	return mp_str_eq_nocase(mp_str_trim(value), type);
}

void mp_http_reader_init(struct mp_http_reader *r)
{
	*r = (struct mp_http_reader){.status = 0};
	mp_buf_init(&r->block, MP_LIMIT_HEADER_BLOCK);
}

void mp_http_reader_done(struct mp_http_reader *r)
{
	mp_buf_done(&r->block);
	r->headers = mp_free(r->headers);
}

/* "HTTP/1.1 200 OK", "HTTP/2 200" */
static void http_head_begin(struct mp_http_reader *r, struct mp_str line)
{
	ptrdiff_t blank = mp_str_find(line, MP_STR(" "), 0);
	int64_t status = 0;

	if (blank < 0 || line.len < (size_t)blank + 4 ||
	    mp_str_to_i64((struct mp_str){line.p + blank + 1, 3}, &status) < 0)
		status = 0;
	r->status = (int)status;
	mp_buf_clear(&r->block);
}

/* Names and values, where they lie now that the block does not grow any more. */
static int index_block(struct mp_http_reader *r)
{
	struct mp_str rest = mp_buf_get(&r->block);
	size_t n = 0;

	for (size_t i = 0; i < rest.len; i++)
		n += rest.p[i] == '\n';
	r->headers = mp_try_alloc((n ? n : 1) * sizeof(*r->headers));
	if (!r->headers)
		return MCPOOL_ENOMEM;
	while (rest.len) {
		size_t len = (size_t)((char *)memchr(rest.p, '\n', rest.len) - rest.p);
		const char *colon = memchr(rest.p, ':', len);
		size_t name = (size_t)(colon - rest.p);

		r->headers[r->n_headers++] = (struct mp_http_header){
			.name = {rest.p, name},
			.value = mp_str_trim((struct mp_str){colon + 1, len - name - 1}),
		};
		rest = (struct mp_str){rest.p + len + 1, rest.len - len - 1};
	}
	return 0;
}

static int http_head_finish(struct mp_http_reader *r)
{
	int status = r->status, i;

	if (status >= 100 && status < 200 && status != 101)
		return 0; /* the answer is still to come */
	i = index_block(r);
	if (i < 0)
		return i;
	r->complete = true;
	return 1;
}

/* A line without a colon, or with a blank before it, is none. */
static int http_head_keep(struct mp_http_reader *r, struct mp_str line)
{
	const char *colon = memchr(line.p, ':', line.len);
	int e;

	if (!colon || colon == line.p || colon[-1] == ' ' || colon[-1] == '\t' ||
	    memchr(line.p, '\n', line.len))
		return 0;
	e = mp_buf_add_str(&r->block, line);
	return e < 0 ? e : mp_buf_add_char(&r->block, '\n');
}

int mp_http_reader_add(struct mp_http_reader *r, struct mp_str line)
{
	r->seen += line.len;
	if (r->seen > MP_LIMIT_HEADER_BLOCK)
		return MCPOOL_ELIMIT;
	while (line.len && (line.p[line.len - 1] == '\n' || line.p[line.len - 1] == '\r'))
		line.len--;
	if (r->complete)
		return 0;
	if (line.len == 0)
		return http_head_finish(r);
	if (mp_str_starts(line, MP_STR("HTTP/"))) {
		http_head_begin(r, line);
		return 0;
	}
	return http_head_keep(r, line);
}

struct mp_http_head mp_http_reader_get(const struct mp_http_reader *r)
{
	return (struct mp_http_head){
		.status = r->status,
		.headers = r->headers,
		.n_headers = r->n_headers,
	};
}
