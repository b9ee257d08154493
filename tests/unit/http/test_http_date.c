/*
 * test_http_date.c - the Date of an answer.
 */
#include "test.h"

#include "http/http_date.h"

TEST(a_date_is_written_as_http_has_it)
{
	struct mp_http_date d = {0};

	CHECK(mp_str_eq(mp_http_date_get(&d, 784111777999),
			MP_STR("Sun, 06 Nov 1994 08:49:37 GMT")));
	CHECK(mp_str_eq(mp_http_date_get(&d, 784111778000),
			MP_STR("Sun, 06 Nov 1994 08:49:38 GMT")));
	CHECK(mp_str_eq(mp_http_date_get(&d, 0), MP_STR("Thu, 01 Jan 1970 00:00:00 GMT")));
}

TEST(a_date_is_written_once_a_second)
{
	struct mp_http_date d = {0};
	struct mp_str text = mp_http_date_get(&d, 5000);

	d.text[0] = 'x';
	CHECK_EQ(text.len, MP_HTTP_DATE);
	CHECK_EQ(mp_http_date_get(&d, 5999).p[0], 'x');
	CHECK_EQ(mp_http_date_get(&d, 6000).p[0], 'T');
}
