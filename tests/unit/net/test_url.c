/*
 * test_url.c - the parts of addresses, members of forms and queries.
 */
#include "net/url.h"

#include "base/limits.h"
#include "test.h"

static const struct {
	const char *text, *origin, *path, *whole;
	bool is_safe;
} good[] = {
	{"https://a.example", "https://a.example", "/", "https://a.example/", true},
	{"https://a.example:443/x?y=1#z", "https://a.example", "/x", "https://a.example/x?y=1",
	 true},
	{"https://a.example:8443/x/", "https://a.example:8443", "/x/", "https://a.example:8443/x/",
	 true},
	{"http://127.0.0.1:80/", "http://127.0.0.1", "/", "http://127.0.0.1/", true},
	{"http://localhost:3000/mcp", "http://localhost:3000", "/mcp", "http://localhost:3000/mcp",
	 true},
	{"http://[::1]:9/", "http://[::1]:9", "/", "http://[::1]:9/", true},
	{"http://a.example/", "http://a.example", "/", "http://a.example/", false},
	{"http://10.0.0.1/", "http://10.0.0.1", "/", "http://10.0.0.1/", false},
	{"http://127.0.0.1.evil.example/", "http://127.0.0.1.evil.example", "/",
	 "http://127.0.0.1.evil.example/", false},
	{"http://localhost.evil.example/", "http://localhost.evil.example", "/",
	 "http://localhost.evil.example/", false},
};

TEST(the_parts_of_an_address)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(good); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		struct mp_url u;

		mp_arena_init(&arena, MP_KIB(64));
		CHECK_EQ(mp_url_read(good[i].text, &arena, &u), 0);
		CHECK_TEXT(u.origin, good[i].origin);
		CHECK_TEXT(u.path, good[i].path);
		CHECK_TEXT(u.whole, good[i].whole);
		CHECK_EQ(mp_url_is_safe(&u), good[i].is_safe);
	}
}

TEST(what_is_not_an_address_of_the_web)
{
	static const char *const bad[] = {
		"",
		"x",
		"javascript:alert(1)",
		"file:///etc/passwd",
		"ftp://a.example/",
		"https://user@a.example/",
		"https://user:word@a.example/",
		"https://",
		"//a.example/",
		"https://a b.example/",
		"https://a.example:99999/",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		struct mp_url u;

		mp_arena_init(&arena, MP_KIB(64));
		CHECK(test_true(mp_url_read(bad[i], &arena, &u) < 0, bad[i], __FILE__, __LINE__));
	}
}

TEST(members_of_a_form)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(4));
	CHECK_EQ(mp_url_add_member(&out, "a", MP_STR("x y&z=1")), 0);
	CHECK_EQ(mp_url_add_member(&out, "b", MP_STR("~-_.\xc3\xa4")), 0);
	CHECK_STR(mp_buf_get(&out), "a=x%20y%26z%3D1&b=~-_.%C3%A4");
}

TEST(members_of_a_query)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *url =
		"http://h/p?a=1&code=x%2Fy+z&b=&twice=1&twice=2&bad=%4&nul=%00#code=other";

	mp_arena_init(&arena, MP_KIB(4));
	CHECK_TEXT(mp_url_get_member(url, "code", &arena), "x/y z");
	CHECK_TEXT(mp_url_get_member(url, "b", &arena), "");
	CHECK(!mp_url_get_member(url, "c", &arena) && !mp_url_get_member(url, "od", &arena));
	CHECK(!mp_url_get_member(url, "twice",
				 &arena)); /* which of them counts is not ours to guess */
	CHECK(!mp_url_get_member(url, "bad", &arena) && !mp_url_get_member(url, "nul", &arena));
	CHECK(!mp_url_get_member("http://h/p", "a", &arena));
}
