/*
 * test_http_status.c - what a status means, and header lines of a request.
 */
#include "net/http_status.h"

#include <stdio.h>

#include "net/http_fields.h"
#include "test.h"

static struct mp_http_head head_of(int status, const char *name, const char *value,
				   struct mp_http_header *room)
{
	*room = (struct mp_http_header){mp_str_of(name), mp_str_of(value)};
	return (struct mp_http_head){.status = status, .headers = room, .n_headers = name ? 1 : 0};
}

/* U12 X33 E34 */
TEST(a_status_has_a_meaning)
{
	static const int codes[][2] = {{401, MCPOOL_ENEEDS_AUTH}, {403, MCPOOL_ENEEDS_AUTH},
				       {404, MCPOOL_ENOENT},      {405, MCPOOL_ENOENT},
				       {410, MCPOOL_ENOENT},      {500, MCPOOL_EIO}};

	CHECK_EQ(mp_http_status_of(200), MP_HTTP_FINE);
	CHECK_EQ(mp_http_status_of(202), MP_HTTP_FINE);
	CHECK_EQ(mp_http_status_of(307), MP_HTTP_MOVED);
	CHECK_EQ(mp_http_status_of(401), MP_HTTP_LOCKED);
	CHECK_EQ(mp_http_status_of(403), MP_HTTP_LOCKED);
	CHECK_EQ(mp_http_status_of(404), MP_HTTP_ABSENT);
	CHECK_EQ(mp_http_status_of(405), MP_HTTP_ABSENT);
	CHECK_EQ(mp_http_status_of(410), MP_HTTP_ABSENT);
	CHECK_EQ(mp_http_status_of(429), MP_HTTP_BUSY);
	CHECK_EQ(mp_http_status_of(503), MP_HTTP_BUSY);
	CHECK_EQ(mp_http_status_of(500), MP_HTTP_FAULTY);
	CHECK_EQ(mp_http_status_of(400), MP_HTTP_REJECTED);
	CHECK_EQ(mp_http_status_of(0), MP_HTTP_REJECTED);
	for (size_t i = 0; i < MP_ARRAY_LEN(codes); i++) {
		struct mp_http_header room;
		struct mp_http_head h = head_of(codes[i][0], NULL, NULL, &room);
		struct mcpool_error e;

		mp_http_status_explain(&h, MP_STR(""), "https://a", 0, &e);
		CHECK_EQ(e.code, codes[i][1]);
	}
}

TEST(retry_after_is_seconds_or_a_date)
{
	struct mp_http_header room;
	struct mp_http_head h = head_of(503, "retry-after", " 7 ", &room);
	int64_t wall = 784111777000; /* Sun, 06 Nov 1994 08:49:37 GMT */

	CHECK_EQ(mp_http_status_read_retry(&h, wall), 7000);
	h = head_of(503, "Retry-After", "Sun, 06 Nov 1994 08:49:40 GMT", &room);
	CHECK_EQ(mp_http_status_read_retry(&h, wall), 3000);
	h = head_of(503, "Retry-After", "Sun, 06 Nov 1994 08:49:30 GMT", &room);
	CHECK_EQ(mp_http_status_read_retry(&h, wall), 0);
	h = head_of(503, "Retry-After", "99999999999", &room);
	CHECK_EQ(mp_http_status_read_retry(&h, wall), MP_RETRY_AFTER_MAX_MS);
	h = head_of(503, "Retry-After", "-5", &room);
	CHECK_EQ(mp_http_status_read_retry(&h, wall), 0);
	h = head_of(503, "Retry-After", "-9223372036854775807", &room);
	CHECK_EQ(mp_http_status_read_retry(&h, wall), 0);
	h = head_of(503, "Retry-After", "soon", &room);
	CHECK_EQ(mp_http_status_read_retry(&h, wall), 0);
	h = head_of(503, NULL, NULL, &room);
	CHECK_EQ(mp_http_status_read_retry(&h, wall), 0);
}

TEST(the_words_say_who_and_what)
{
	struct mp_http_header room;
	struct mp_http_head h = head_of(503, "Retry-After", "2", &room);
	struct mcpool_error e;

	mp_http_status_explain(&h, MP_STR("down for\nmaintenance"), "https://a.example", 0, &e);
	CHECK_EQ(e.code, MCPOOL_EAGAIN);
	CHECK_EQ(e.retry_ms, 2000);
	CHECK_TEXT(e.message, "https://a.example answered HTTP 503 (unavailable): "
			      "down for\\nmaintenance");
	h = head_of(404, "Content-Type", "text/html", &room);
	mp_http_status_explain(&h, MP_STR("some page"), "https://a.example", 0, &e);
	CHECK_EQ(e.code, MCPOOL_ENOENT);
	CHECK_TEXT(e.message, "https://a.example answered HTTP 404 (not found)");
	h = head_of(418, NULL, NULL, &room);
	mp_http_status_explain(&h, MP_STR("Authorization: Bearer abcdefghijklmnop"),
			       "https://a.example", 0, &e);
	CHECK_EQ(e.code, MCPOOL_EPROTO);
	CHECK(!strstr(e.message, "abcdefghijklmnop")); /* V53 */
}

TEST(fields_are_gathered)
{
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields f;
	const struct mp_http_header *h;
	char value[32];
	size_t n;

	mp_http_fields_init(&f);
	for (int i = 0; i < 40; i++) {
		snprintf(value, sizeof(value), "value %d", i);
		CHECK_EQ(mp_http_fields_add(&f, MP_STR("Name"), mp_str_of(value)), 0);
	}
	h = mp_http_fields_get(&f, &n);
	CHECK_EQ(n, 40);
	CHECK(mp_str_eq(h[39].name, MP_STR("Name")));
	CHECK(mp_str_eq(h[39].value, MP_STR("value 39")));
	CHECK(mp_str_eq(h[0].value, MP_STR("value 0")));
	mp_http_fields_clear(&f);
	(void)mp_http_fields_get(&f, &n);
	CHECK_EQ(n, 0);
}
