/* test_redirect.c - the matrix of where to and what may come along. */
#include "test.h"

#include "base/mem.h"
#include "net/redirect.h"

struct row {
	const char *from, *to, *url;
	int r;
	enum mp_redirect_kind kind;
};

static const struct row rows[] = {
	{"https://a.example/mcp", "/other", "https://a.example/other", 0, MP_REDIRECT_SAME},
	{"https://a.example/x/mcp", "other?q=1#f", "https://a.example/x/other?q=1", 0,
	 MP_REDIRECT_SAME},
	{"https://a.example/mcp", "https://A.EXAMPLE:443/y", "https://A.EXAMPLE:443/y", 0,
	 MP_REDIRECT_SAME},
	{"http://a.example/mcp", "http://a.example:80/y", "http://a.example:80/y", 0,
	 MP_REDIRECT_SAME},
	{"https://a.example/mcp", "https://a.example:444/y", "https://a.example:444/y", 0,
	 MP_REDIRECT_BARE},
	{"https://a.example/mcp", "https://b.example/y", "https://b.example/y", 0,
	 MP_REDIRECT_BARE},
	{"https://a.example/mcp", "https://sub.a.example/y", "https://sub.a.example/y", 0,
	 MP_REDIRECT_BARE},
	{"https://a.example/mcp", "//b.example/y", "https://b.example/y", 0, MP_REDIRECT_BARE},
	{"http://a.example/mcp", "https://a.example/mcp", "https://a.example/mcp", 0,
	 MP_REDIRECT_BARE},
	{"https://a.example/mcp", "http://a.example/mcp", NULL, MCPOOL_EPERM, 0},
	{"https://a.example/mcp", "http://b.example/mcp", NULL, MCPOOL_EPERM, 0},
	{"http://a.example/mcp", "file:///etc/passwd", NULL, MCPOOL_EPERM, 0},
	{"http://a.example/mcp", "ftp://a.example/", NULL, MCPOOL_EPERM, 0},
	{"http://a.example/mcp", "gopher://a.example/", NULL, MCPOOL_EPERM, 0},
	{"http://a.example/mcp", "javascript://a.example/", NULL, MCPOOL_EINVAL, 0},
	{"http://a.example/mcp", "http://user:pw@a.example/", NULL, MCPOOL_EPERM, 0},
	{"http://a.example/mcp", "http://", NULL, MCPOOL_EINVAL, 0},
	{"http://a.example/mcp", "http://a.example/\r\nX: y", NULL, MCPOOL_EINVAL, 0},
	{"http://u:p@a.example/mcp", "//b.example/", "http://b.example/", 0, MP_REDIRECT_BARE},
	{"http://u:p@a.example/mcp", "/b//c", "http://u:p@a.example/b//c", 0, MP_REDIRECT_SAME},
	{"http://u:p@a.example/mcp", "http://u:q@a.example/", NULL, MCPOOL_EPERM, 0},
	{"http://u:p@a.example/mcp", "/b", "http://u:p@a.example/b", 0, MP_REDIRECT_SAME},
};

static void redirect_done(struct mp_redirect *r)
{
	mp_free(r->url);
}

/* V37 */
TEST(each_step_is_judged_by_both_addresses)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(redirect_done) struct mp_redirect got = {.url = NULL};
		struct mcpool_error err;

		if (!test_equal(mp_redirect_judge(rows[i].from, rows[i].to, 0, &got, &err),
				rows[i].r, rows[i].to, __FILE__, __LINE__))
			return;
		if (rows[i].r < 0)
			continue;
		CHECK_EQ(got.kind, rows[i].kind);
		CHECK_TEXT(got.url, rows[i].url);
	}
}

TEST(a_chain_ends)
{
	MP_CLEANUP(redirect_done) struct mp_redirect got = {.url = NULL};

	CHECK_EQ(mp_redirect_judge("http://a/", "/b", MP_REDIRECT_HOPS, &got, NULL), MCPOOL_ELIMIT);
	CHECK_EQ(mp_redirect_judge("http://a/", "/b", MP_REDIRECT_HOPS - 1, &got, NULL), 0);
}

/* Error texts do not contain the address. */
TEST(errors_do_not_repeat_addresses)
{
	struct mp_redirect got;
	struct mcpool_error err;

	CHECK_EQ(mp_redirect_judge("https://a/", "http://u:hush@b/?k=hush", 0, &got, &err),
		 MCPOOL_EPERM);
	CHECK(!strstr(err.message, "hush"));
}

TEST(a_status_that_keeps_the_request_is_a_redirect)
{
	static const int others[] = {200, 300, 303, 304, 305, 400, 500};

	CHECK(mp_redirect_is_status(301) && mp_redirect_is_status(302));
	CHECK(mp_redirect_is_status(307) && mp_redirect_is_status(308));
	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++)
		CHECK(!mp_redirect_is_status(others[i]));
}
