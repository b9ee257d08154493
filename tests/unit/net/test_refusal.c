/* test_refusal.c - an answer that is no, kept until it can be put into words. */
#include "test.h"

#include "net/refusal.h"

TEST(what_was_said_is_kept)
{
	static const struct mp_http_header headers[] = {
		{MP_STR("Content-Type"), MP_STR("text/plain")},
		{MP_STR("Retry-After"), MP_STR("7")},
		{MP_STR("WWW-Authenticate"), MP_STR("Basic realm=\"a\"")},
		{MP_STR("www-authenticate"), MP_STR("bearer scope=\"b\"")},
	};
	struct mp_http_head head = {.status = 429, .headers = headers, .n_headers = 4};
	MP_CLEANUP(mp_refusal_done) struct mp_refusal r;
	struct mcpool_error why;

	mp_refusal_init(&r);
	CHECK_EQ(mp_refusal_get_challenge(&r).len, 0);
	mp_refusal_begin(&r, &head);
	CHECK(mp_refusal_add(&r, MP_STR("not ")));
	CHECK(mp_refusal_add(&r, MP_STR("now")));
	CHECK_STR(mp_refusal_get_challenge(&r), "bearer scope=\"b\"");
	mp_refusal_explain(&r, "https://a.example", 0, &why);
	CHECK_TEXT(why.message, "https://a.example answered HTTP 429 (too many requests): not now");
	CHECK_EQ(why.code, MCPOOL_EAGAIN);
	CHECK_EQ(why.retry_ms, 7000);
	head.n_headers = 3;
	mp_refusal_begin(&r, &head);
	CHECK_STR(mp_refusal_get_challenge(&r), "Basic realm=\"a\"");
	CHECK_EQ(r.body.len, 0);
}

TEST(only_its_beginning_is_kept)
{
	MP_CLEANUP(mp_refusal_done) struct mp_refusal r;
	char much[MP_REFUSAL_BODY + 100];

	memset(much, 'x', sizeof(much));
	mp_refusal_init(&r);
	CHECK(mp_refusal_add(&r, (struct mp_str){much, 90}));
	CHECK(!mp_refusal_add(&r, (struct mp_str){much, sizeof(much)}));
	CHECK(!mp_refusal_add(&r, MP_STR("x")));
	CHECK_EQ(r.body.len, MP_REFUSAL_BODY);
}
