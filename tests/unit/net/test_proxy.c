/* test_proxy.c - which proxy the environment names for an address. */
#include "test.h"

#include <stdlib.h>

#include "net/proxy.h"

static void forget_all(void)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "all_proxy", "no_proxy",
					    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		unsetenv(names[i]);
}

static bool finds(const char *scheme, const char *host, const char *want)
{
	const char *got = mp_proxy_find(scheme, host);

	return test_same_text(mp_str_of(got ? got : "none"), mp_str_of(want ? want : "none"), host,
			      __FILE__, __LINE__);
}

TEST(each_scheme_has_its_own)
{
	forget_all();
	CHECK(finds("http", "a.example", NULL));
	setenv("ALL_PROXY", "http://all", 1);
	CHECK(finds("http", "a.example", "http://all"));
	CHECK(finds("https", "a.example", "http://all"));
	setenv("all_proxy", "http://small", 1);
	CHECK(finds("https", "a.example", "http://small"));
	setenv("HTTPS_PROXY", "http://secure", 1);
	CHECK(finds("https", "a.example", "http://secure"));
	CHECK(finds("http", "a.example", "http://small"));
	setenv("https_proxy", "http://smaller", 1);
	CHECK(finds("https", "a.example", "http://smaller"));
	setenv("http_proxy", "", 1); /* as if it were not there */
	CHECK(finds("http", "a.example", "http://small"));
	setenv("HTTP_PROXY", "http://plain", 1);
	CHECK(finds("http", "a.example", "http://plain"));
	CHECK(finds("https", "a.example", "http://smaller"));
}

/* A proxy has another idea of which machine "this machine" is. */
TEST(this_machine_is_reached_directly)
{
	static const char *const here[] = {"localhost",       "LOCALHOST.", "a.localhost",
					   "127.0.0.1",       "127.1.2.3",  "::1",
					   "::ffff:127.0.0.1"};
	static const char *const there[] = {"localhost.example", "notlocalhost", "10.0.0.1", "::2"};

	forget_all();
	setenv("http_proxy", "http://p", 1);
	for (size_t i = 0; i < MP_ARRAY_LEN(here); i++)
		CHECK(finds("http", here[i], NULL));
	for (size_t i = 0; i < MP_ARRAY_LEN(there); i++)
		CHECK(finds("http", there[i], "http://p"));
}

TEST(some_hosts_are_exempt)
{
	static const struct {
		const char *no_proxy, *host;
		bool exempt;
	} rows[] = {
		{"", "a.example", false},
		{"*", "a.example", true},
		{"b.example,*", "10.1.2.3", true},
		{"example", "a.example", true},
		{".example", "a.example", true},
		{".example", "example", true},
		{"example.", "a.EXAMPLE", true},
		{"Example", "a.example.", true},
		{"a.example", "example", false},
		{"xample", "a.example", false},
		{"other, \t example", "a.example", true},
		{"other example", "a.example", true},
		{",,example,,", "a.example", true},
		{".", "a.example", false},
		{"10.0.0.1", "10.0.0.1", true},
		{"10.0.0.1", "10.0.0.10", false},
		{"10.0.0.0/8", "10.200.0.1", true},
		{"10.0.0.0/8", "11.0.0.1", false},
		{"10.0.0.0/9", "10.128.0.1", false},
		{"10.0.0.0/0", "11.0.0.1", true},
		{"10.0.0.0/33", "10.0.0.0", false},
		{"10.0.0.0/x", "10.0.0.0", false},
		{"10.0.0.0/", "10.0.0.0", false},
		{"0.1", "10.0.0.1", false},
		{"fd00::/8", "fd12::1", true},
		{"fd00::/8", "fe12::1", false},
		{"fd00::1", "fd00::1", true},
		{"[fd00::1]", "fd00::1", true},
		{"10.0.0.0/8", "fd00::1", false},
		{"10.0.0.0/8", "ten.example", false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK_EQ(mp_proxy_is_exempt(rows[i].no_proxy, rows[i].host) ? (int)i : -1,
			 rows[i].exempt ? (int)i : -1);
	forget_all();
	setenv("https_proxy", "http://p", 1);
	setenv("NO_PROXY", "b.example", 1);
	CHECK(finds("https", "a.example", "http://p"));
	CHECK(finds("https", "b.example", NULL));
	setenv("no_proxy", "a.example", 1);
	CHECK(finds("https", "a.example", NULL));
	CHECK(finds("https", "b.example", "http://p"));
}
