/*
 * test_uris.c - URIs of resources: wrapped, unwrapped, matched.
 */
#include "test.h"

#include "base/limits.h"
#include "session/uris.h"

static bool comes_back(const char *server, const char *uri)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, parts;
	struct mp_str s, u;

	mp_buf_init(&text, MP_KIB(4));
	mp_buf_init(&parts, MP_KIB(4));
	REQUIRE(mp_uri_wrap(mp_str_of(server), mp_str_of(uri), false, &text) == 0);
	REQUIRE(mp_uri_is_wrapped(mp_buf_get(&text)));
	REQUIRE(mp_uri_unwrap(mp_buf_get(&text), &parts, &s, &u) == 0);
	REQUIRE(mp_str_eq(s, mp_str_of(server)) && mp_str_eq(u, mp_str_of(uri)));
	return true;
}

/* U19 */
TEST(a_wrapped_uri_comes_back)
{
	CHECK(comes_back("files", "file:///etc/hosts"));
	CHECK(comes_back("a/b c", "x:%2F?q=\xc3\xa4#f"));
	CHECK(comes_back("s", ""));
	CHECK(comes_back("s", "mcpool://s/x"));
}

TEST(what_is_not_wrapped_is_not_unwrapped)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf parts;
	struct mp_str s, u;

	mp_buf_init(&parts, MP_KIB(4));
	CHECK_EQ(mp_uri_unwrap(MP_STR("file:///x"), &parts, &s, &u), MCPOOL_EINVAL);
	CHECK_EQ(mp_uri_unwrap(MP_STR("mcpool://x"), &parts, &s, &u), MCPOOL_EINVAL);
	CHECK_EQ(mp_uri_unwrap(MP_STR("mcpool://x/%4"), &parts, &s, &u), MCPOOL_EINVAL);
	CHECK_EQ(mp_uri_unwrap(MP_STR("mcpool://x/%zz"), &parts, &s, &u), MCPOOL_EINVAL);
}

TEST(a_wrapped_template_is_a_template)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(4));
	CHECK_EQ(mp_uri_wrap(MP_STR("s"), MP_STR("t://{id}/x{?a,b}"), true, &text), 0);
	CHECK_STR(mp_buf_get(&text), "mcpool://s/t%3A%2F%2F{id}%2Fx{?a,b}");
}

TEST(templates_match)
{
	static const struct {
		const char *template, *uri;
		bool matches;
	} cases[] = {
		{"test://template/{id}/data", "test://template/7/data", true},
		{"test://template/{id}/data", "test://template/7/8/data", false},
		{"test://template/{id}/data", "test://template//data", false},
		{"test://template/{id}/data", "test://template/7/date", false},
		{"file:///{+path}", "file:///a/b/c", true},
		{"x://{a}-{b}", "x://1-2", true},
		{"x://{a}-{b}", "x://12", false},
		{"x://y{?q}", "x://y?q=1", true},
		{"x://y{?q}", "x://y", true},
		{"x://y", "x://y", true},
		{"x://y", "x://yz", false},
		{"x://{open", "x://1", true},
		{"", "", true},
		{"", "a", false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++)
		CHECK_EQ(mp_uri_matches(mp_str_of(cases[i].template), mp_str_of(cases[i].uri)),
			 cases[i].matches);
}
