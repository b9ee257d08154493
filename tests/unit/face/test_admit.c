/*
 * test_admit.c - by which names we are called, and whose pages may speak to us.
 */
#include "test.h"
#include "folder.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/random_id.h"
#include "face/admit.h"

static struct mcpool_error why;

static int open_at(struct mp_admit *a, const char *address, int port, struct mp_admit_options o)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	char path[100];

	snprintf(path, sizeof(path), "%s/token", test_folder);
	o.token_path = path;
	o.address = (const struct sockaddr *)&four;
	if (inet_pton(AF_INET, address, &four.sin_addr) != 1) {
		inet_pton(AF_INET6, address, &six.sin6_addr);
		o.address = (const struct sockaddr *)&six;
	}
	return mp_admit_init(a, &o, &why);
}

static const struct mp_route door = {
	.path = "/x", .verbs = MP_HTTP_METHOD_GET, .who = MP_ROUTE_FOR_HOLDERS};

/* The status for a request of this Host and Origin, without a token; 0: let in. */
static int ask(struct mp_admit *a, const char *host, const char *origin)
{
	struct mp_inbound *in = mp_inbound_new();
	const struct mp_address nowhere = {{0}};
	struct mp_http_admission admission;
	struct mp_http_refusal refusal = {0};
	enum mp_inbound_news news;
	char text[2000];
	size_t used;
	int n;

	n = snprintf(text, sizeof(text), "GET /x HTTP/1.1\r\nHost: %s\r\n%s%s%s\r\n", host,
		     origin ? "Origin: " : "", origin ? origin : "", origin ? "\r\n" : "");
	news = mp_inbound_feed(in, (struct mp_str){text, (size_t)n}, &used);
	if (news == MP_INBOUND_BAD)
		refusal.status = mp_inbound_get_fault(in).status;
	else if (news == MP_INBOUND_HEAD)
		(void)!mp_admit_judge(a, &door, in, &nowhere, &admission, &refusal);
	else
		refusal.status = -1;
	mp_inbound_free(in);
	return refusal.status;
}

#define LOCAL(a, port)                                     \
	MP_CLEANUP(mp_admit_done) struct mp_admit a = {0}; \
	CHECK(folder_make());                              \
	CHECK_EQ(open_at(&a, "127.0.0.1", port, (struct mp_admit_options){.no_token = true}), 0)

/* V12 */
TEST(only_our_names_with_our_port)
{
	static const char *const good[] = {"127.0.0.1:7717", "localhost:7717", "[::1]:7717"};
	static const char *const bad[] = {
		"127.0.0.1",
		"localhost",
		"[::1]",
		"::1:7717",
		"127.0.0.1:7718",
		"127.0.0.1:07717",
		"127.0.0.1:7717 ",
		"127.0.0.1:",
		"127.0.0.1:77170",
		"127.0.0.1.:7717",
		"127.0.0.2:7717",
		"127.1:7717",
		"127.0.1:7717",
		"0127.0.0.1:7717",
		"0x7f.0.0.1:7717",
		"0x7f000001:7717",
		"2130706433:7717",
		"017700000001:7717",
		"0.0.0.0:7717",
		"[::ffff:127.0.0.1]:7717",
		"[::ffff:7f00:1]:7717",
		"[0:0:0:0:0:0:0:1]:7717",
		"[::1%25lo]:7717",
		"[::]:7717",
		"LOCALHOST:7717",
		"Localhost:7717",
		"localhost.:7717",
		"localhost.evil.com:7717",
		"localhost.localdomain:7717",
		"127.0.0.1.evil.com:7717",
		"127.evil.com:7717",
		"evil.com",
		"evil.com:7717",
		"evil-localhost:7717",
		"xlocalhost:7717",
		"localhost:7717.evil.com",
		"user@localhost:7717",
		"localhost:7717@evil.com",
		"localhost:7717/evil",
		"localhost:7717,evil.com",
		"localhost%00:7717",
		"localhost\\:7717",
		"localhost:7717#x",
		"localhost:7717?x",
		"local host:7717",
		"*",
		"*:7717",
		"[",
		"]",
		":7717",
		"http://localhost:7717",
	};
	LOCAL(a, 7717);

	for (size_t i = 0; i < MP_ARRAY_LEN(good); i++)
		CHECK_EQ(ask(&a, good[i], NULL), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		int status = ask(&a, bad[i], NULL);

		if (strcmp(bad[i], "127.0.0.1:7717 ") == 0) { /* HTTP takes blanks away */
			CHECK_EQ(status, 0);
			continue;
		}
		CHECK(status == 403 || status == 400);
	}
}

/* V12 V13 */
TEST(only_our_own_pages)
{
	static const char *const bad[] = {
		"null",
		"*",
		"http://localhost:7717", /* a page of another name than the one that is asked */
		"http://127.0.0.1",
		"http://127.0.0.1:7718",
		"http://127.0.0.1:80",
		"https://127.0.0.1:7717",
		"HTTP://127.0.0.1:7717",
		"http://127.0.0.1:7717/",
		"http://127.0.0.1:7717.evil.com",
		"http://127.0.0.1:7717, http://evil.com",
		"http://127.0.0.1:7717 http://evil.com",
		"http://user@127.0.0.1:7717",
		"//127.0.0.1:7717",
		"127.0.0.1:7717",
		"http://evil.com",
		"file://",
		"chrome-extension://abc",
		"http://",
		"",
	};
	LOCAL(a, 7717);

	CHECK_EQ(ask(&a, "127.0.0.1:7717", "http://127.0.0.1:7717"), 0);
	CHECK_EQ(ask(&a, "localhost:7717", "http://localhost:7717"), 0);
	CHECK_EQ(ask(&a, "[::1]:7717", "http://[::1]:7717"), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++)
		CHECK_EQ(ask(&a, "127.0.0.1:7717", bad[i]), 403);
}

/* A server whose address is ours: the host line carries it, so that ask() need not. */
TEST(we_do_not_serve_ourselves)
{
	char host[200];
	LOCAL(a, 7717);

	snprintf(host, sizeof(host), "127.0.0.1:7717\r\nMcpool-Hub: %s", mp_random_id_of_process());
	CHECK_EQ(ask(&a, host, NULL), 508);
	CHECK_EQ(ask(&a, "127.0.0.1:7717\r\nMcpool-Hub: 0123456789abcdef0123456789abcdef", NULL),
		 0);
	CHECK_EQ(ask(&a, "127.0.0.1:7717\r\nMcpool-Hub:", NULL), 0);
}

TEST(a_default_port_is_not_said)
{
	LOCAL(a, 80);

	CHECK_EQ(ask(&a, "localhost", NULL), 0);
	CHECK_EQ(ask(&a, "localhost", "http://localhost"), 0);
	CHECK_EQ(ask(&a, "localhost:80", NULL), 403);
}

TEST(a_configured_name_is_ours)
{
	MP_CLEANUP(mp_admit_done) struct mp_admit a = {0};

	CHECK(folder_make());
	CHECK_EQ(open_at(&a, "127.0.0.1", 7717,
			 (struct mp_admit_options){.no_token = true, .name = "hub.example.org"}),
		 0);
	CHECK_EQ(ask(&a, "hub.example.org:7717", NULL), 0);
	CHECK_EQ(ask(&a, "hub.example.org", NULL), 403);
	CHECK_EQ(ask(&a, "x.hub.example.org:7717", NULL), 403);
	CHECK_EQ(ask(&a, "localhost:7717", NULL), 0);
}

TEST(names_that_are_none_are_refused)
{
	static const char *const names[] = {"", "a:80", "a b", "A", "a/b", "*"};

	CHECK(folder_make());
	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		MP_CLEANUP(mp_admit_done) struct mp_admit a = {0};

		CHECK_EQ(open_at(&a, "127.0.0.1", 7717,
				 (struct mp_admit_options){.no_token = true, .name = names[i]}),
			 MCPOOL_EINVAL);
	}
}

/* V11 */
TEST(where_others_can_come_there_is_a_token_and_tls)
{
	static const struct {
		const char *address;
		bool no_token, is_secure;
		int want;
	} cases[] = {
		{"127.0.0.1", true, false, 0},
		{"127.8.9.10", true, false, 0},
		{"::1", true, false, 0},
		{"127.0.0.1", false, false, 0},
		{"0.0.0.0", true, false, MCPOOL_EPERM},
		{"0.0.0.0", true, true, MCPOOL_EPERM},
		{"0.0.0.0", false, false, MCPOOL_EPERM},
		{"0.0.0.0", false, true, 0},
		{"::", false, false, MCPOOL_EPERM},
		{"::", true, true, MCPOOL_EPERM},
		{"192.168.1.2", false, false, MCPOOL_EPERM},
		{"192.168.1.2", false, true, 0},
		{"::ffff:192.168.1.2", false, false, MCPOOL_EPERM},
	};

	CHECK(folder_make());
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(mp_admit_done) struct mp_admit a = {0};

		CHECK_EQ(open_at(&a, cases[i].address, 7717,
				 (struct mp_admit_options){.no_token = cases[i].no_token,
							   .is_secure = cases[i].is_secure}),
			 cases[i].want);
	}
}

/* V18 */
TEST(who_somebody_is_follows_from_the_token)
{
	MP_CLEANUP(mp_admit_done) struct mp_admit a = {0};
	char before[100];
	uint64_t ended;

	CHECK(folder_make());
	CHECK_EQ(open_at(&a, "127.0.0.1", 7717, (struct mp_admit_options){.no_token = false}), 0);
	snprintf(before, sizeof(before), "%s", mp_holders_find(&a.holders, a.owner)->principal);
	CHECK(strncmp(before, "token:", 6) == 0);
	CHECK(!strstr(a.token.text, before + 6));
	ended = mp_admit_look(&a);
	CHECK_EQ(mp_admit_look(&a), ended);
	CHECK_EQ(mp_http_token_rotate(a.token.path, &why), 0);
	CHECK(mp_admit_look(&a) != ended);
	CHECK(strcmp(before, mp_holders_find(&a.holders, a.owner)->principal) != 0);
}
