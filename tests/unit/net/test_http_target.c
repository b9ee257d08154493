/* test_http_target.c - where a URL leads, as far as it says so itself. */
#include "test.h"

#include <stdlib.h>

#include "net/http_target.h"

static const struct {
	const char *url;
	bool plain;
	enum mp_zone zone;
} rows[] = {
	{"http://a.example/x", true, MP_ZONE_ANY},
	{"HTTPS://a.example:444/x?y#z", false, MP_ZONE_ANY},
	{"https://u:p@8.8.8.8/", false, MP_ZONE_PUBLIC},
	{"http://10.1.2.3/", true, MP_ZONE_PRIVATE},
	{"http://169.254.169.254/latest", true, MP_ZONE_LINK},
	{"http://127.0.0.1:8080/", true, MP_ZONE_LOOPBACK},
	{"http://0x7f.1/", true, MP_ZONE_LOOPBACK},
	{"http://2130706433/", true, MP_ZONE_LOOPBACK},
	{"http://0177.0.0.1/", true, MP_ZONE_LOOPBACK},
	{"http://localhost/", true, MP_ZONE_ANY},
	{"http://localhost.example/", true, MP_ZONE_ANY},
	{"http://[::1]/", true, MP_ZONE_LOOPBACK},
	{"http://[fd00::1]:80/", true, MP_ZONE_PRIVATE},
	{"http://[::ffff:10.0.0.1]/", true, MP_ZONE_PRIVATE},
};

/* V33 */
TEST(what_an_address_says_of_itself)
{
	MP_CLEANUP(mp_http_target_done) struct mp_http_target t = {.url = NULL};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		bool private = rows[i].zone > MP_ZONE_PUBLIC;

		CHECK_EQ(mp_http_target_read(&t, rows[i].url, NULL), 0);
		CHECK_TEXT(t.url, rows[i].url);
		CHECK_EQ(t.plain, rows[i].plain);
		CHECK_EQ(t.zone, rows[i].zone);
		CHECK_EQ(mp_http_target_judge(&t, MP_ZONE_PUBLIC, NULL),
			 private ? MCPOOL_EPERM : 0);
		CHECK_EQ(mp_http_target_judge(&t, MP_ZONE_ANY, NULL), 0);
		CHECK_EQ(mp_http_target_get_zone(&t),
			 rows[i].zone == MP_ZONE_ANY ? MP_ZONE_PUBLIC : rows[i].zone);
	}
}

TEST(what_is_no_address_of_ours)
{
	static const char *const urls[] = {"",        "ftp://a/",         "file:///etc/hostname",
					   "http://", "http://a b/",      "//a/",
					   "ws://a/", "http://a/\r\nX: y"};
	MP_CLEANUP(mp_http_target_done) struct mp_http_target t = {.url = NULL};
	struct mcpool_error err;

	for (size_t i = 0; i < MP_ARRAY_LEN(urls); i++)
		CHECK_EQ(mp_http_target_read(&t, urls[i], NULL), MCPOOL_EINVAL);
	CHECK_EQ(mp_http_target_read(&t, NULL, &err), MCPOOL_EINVAL);
	CHECK_TEXT(err.message, "this is not an http or https address");
}

TEST(a_proxy_comes_along)
{
	MP_CLEANUP(mp_http_target_done) struct mp_http_target t = {.url = NULL};

	setenv("https_proxy", "http://p:3128", 1);
	CHECK_EQ(mp_http_target_read(&t, "https://a.example/", NULL), 0);
	CHECK_TEXT(t.proxy, "http://p:3128");
	CHECK_EQ(mp_http_target_read(&t, "https://[::1]/", NULL), 0);
	CHECK(!t.proxy);
	unsetenv("https_proxy");
	CHECK_EQ(mp_http_target_read(&t, "https://a.example/", NULL), 0);
	CHECK(!t.proxy);
}
