/* test_http_fields.c - header lines of a request, gathered one by one. */
#include "test.h"

#include "base/limits.h"
#include "net/http_fields.h"

TEST(lines_stay_what_they_are_while_more_come)
{
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields f;
	const struct mp_http_header *h;
	size_t n;

	mp_http_fields_init(&f);
	for (int i = 0; i < 40; i++)
		CHECK_EQ(mp_http_fields_add(&f, MP_STR("Name"), MP_STR("value")), 0);
	h = mp_http_fields_get(&f, &n);
	CHECK_EQ(n, 40);
	CHECK_STR(h[39].name, "Name");
	CHECK_STR(h[39].value, "value");
	mp_http_fields_clear(&f);
	CHECK_EQ(mp_http_fields_add_text(&f, MP_STR("A"), MP_STR("b c")), 0);
	CHECK_EQ(mp_http_fields_add_text(&f, MP_STR("B"), MP_STR("\r\n")), 0);
	h = mp_http_fields_get(&f, &n);
	CHECK_EQ(n, 2);
	CHECK_STR(h[0].value, "b c");
	CHECK_STR(h[1].value, "=?base64?DQo=?=");
}

HEAVY_TEST(they_are_limited)
{
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields f;
	static char much[MP_LIMIT_HEADER_BLOCK];
	size_t n;

	memset(much, 'x', sizeof(much));
	mp_http_fields_init(&f);
	CHECK_EQ(mp_http_fields_add(&f, MP_STR("A"), MP_STR("b")), 0);
	CHECK_EQ(mp_http_fields_add(&f, MP_STR("B"), (struct mp_str){much, sizeof(much)}),
		 MCPOOL_ELIMIT);
	much[0] = '\n';
	CHECK_EQ(mp_http_fields_add_text(&f, MP_STR("B"), (struct mp_str){much, 60000}),
		 MCPOOL_ELIMIT);
	CHECK_STR(mp_http_fields_get(&f, &n)[0].value, "b");
	CHECK_EQ(n, 1);
}
