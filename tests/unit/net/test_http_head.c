/* test_http_head.c - heads line by line: interim answers, ceilings, odd lines, trailers. */
#include "test.h"

#include "base/limits.h"
#include "net/http_head.h"

static int add_all(struct mp_http_reader *r, const char *const *lines)
{
	int e = 0;

	for (size_t i = 0; lines[i] && e == 0; i++)
		e = mp_http_reader_add(r, mp_str_of(lines[i]));
	return e;
}

TEST(a_head_is_complete_at_its_empty_line)
{
	MP_CLEANUP(mp_http_reader_done) struct mp_http_reader r;
	static const char *const lines[] = {"HTTP/1.1 200 OK\r\n",
					    "Content-Type:  text/event-stream \r\n",
					    "Empty:\r\n",
					    "A: b: c\n",
					    "\r\n",
					    NULL};
	struct mp_http_head head;

	mp_http_reader_init(&r);
	CHECK_EQ(add_all(&r, lines), 1);
	head = mp_http_reader_get(&r);
	CHECK_EQ(head.status, 200);
	CHECK_EQ(head.n_headers, 3);
	CHECK_STR(mp_http_head_find(&head, MP_STR("content-TYPE")), "text/event-stream");
	CHECK_STR(mp_http_head_find(&head, MP_STR("a")), "b: c");
	CHECK_EQ(mp_http_head_find(&head, MP_STR("empty")).len, 0);
	CHECK(mp_http_head_find(&head, MP_STR("empty")).p);
	CHECK(!mp_http_head_find(&head, MP_STR("other")).p);
	CHECK_EQ(mp_http_reader_add(&r, MP_STR("Trailer: x\r\n")), 0);
	CHECK_EQ(mp_http_reader_add(&r, MP_STR("\r\n")), 0);
	CHECK_EQ(mp_http_reader_get(&r).n_headers, 3);
}

TEST(a_media_type_is_compared_without_parameters)
{
	static const struct {
		const char *value;
		bool is_stream;
	} rows[] = {
		{"text/event-stream", true},
		{"Text/Event-Stream", true},
		{"text/event-stream;charset=utf-8", true},
		{" text/event-stream ; charset=utf-8", true},
		{"text/event-stream-v2", false},
		{"text/event-strea", false},
		{"application/json; x=text/event-stream", false},
		{"", false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_http_header header = {MP_STR("content-type"), mp_str_of(rows[i].value)};
		struct mp_http_head head = {.status = 200, .headers = &header, .n_headers = 1};

		CHECK_EQ(mp_http_head_has_type(&head, MP_STR("text/event-stream")),
			 rows[i].is_stream);
		head.n_headers = 0;
		CHECK(!mp_http_head_has_type(&head, MP_STR("text/event-stream")));
	}
}

TEST(interim_answers_leave_nothing)
{
	MP_CLEANUP(mp_http_reader_done) struct mp_http_reader r;
	static const char *const lines[] = {"HTTP/1.1 103 Early\r\n",
					    "Link: x\r\n",
					    "\r\n",
					    "HTTP/2 404 \r\n",
					    "A: b\r\n",
					    "\r\n",
					    NULL};
	struct mp_http_head head;

	mp_http_reader_init(&r);
	CHECK_EQ(add_all(&r, lines), 1);
	head = mp_http_reader_get(&r);
	CHECK_EQ(head.status, 404);
	CHECK_EQ(head.n_headers, 1);
}

TEST(odd_lines_are_dropped)
{
	MP_CLEANUP(mp_http_reader_done) struct mp_http_reader r;
	static const char *const lines[] = {"HTTP/1.1\r\n",
					    "no colon\r\n",
					    ": no name\r\n",
					    "Blank : x\r\n",
					    "a\nb: c\r\n",
					    "\r\n",
					    NULL};

	mp_http_reader_init(&r);
	CHECK_EQ(add_all(&r, lines), 1);
	CHECK_EQ(mp_http_reader_get(&r).n_headers, 0);
	CHECK_EQ(mp_http_reader_get(&r).status, 0);
}

TEST(the_ceiling_counts_everything)
{
	static const char *const begins[] = {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n"};

	for (size_t i = 0; i < 2; i++) {
		MP_CLEANUP(mp_http_reader_done) struct mp_http_reader r;
		int e = 0, n = 0;

		mp_http_reader_init(&r);
		while (e == 0 && n++ < 100000) {
			if (n == 1 || i == 1)
				e = mp_http_reader_add(&r, mp_str_of(begins[i]));
			if (e == 0)
				e = mp_http_reader_add(&r, i ? MP_STR("\r\n") : MP_STR("X: 1\r\n"));
		}
		CHECK_EQ(e, MCPOOL_ELIMIT);
		CHECK(r.seen <= MP_LIMIT_HEADER_BLOCK + 100);
	}
}
