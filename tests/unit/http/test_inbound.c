/*
 * test_inbound.c - requests as they come in: one reading of each, whatever the cuts, and everything
 * that has two is refused.
 */
#include "test.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "http/inbound.h"

#define HOST "Host: 127.0.0.1:7717\r\n"

static void freep(struct mp_inbound **in)
{
	*in = mp_inbound_free(*in);
}

/* All of text in pieces of that size, each in memory of its own; until it is whole or bad. */
static enum mp_inbound_news feed(struct mp_inbound *in, struct mp_str text, size_t step,
				 size_t *ret_used)
{
	enum mp_inbound_news news = MP_INBOUND_MORE;
	static char piece[200000];

	*ret_used = 0;
	while (news == MP_INBOUND_HEAD || (news == MP_INBOUND_MORE && *ret_used < text.len)) {
		size_t n = text.len - *ret_used < step ? text.len - *ret_used : step, used;

		memset(piece, 'x', sizeof(piece));
		memcpy(piece, text.p + *ret_used, n);
		news = mp_inbound_feed(in, (struct mp_str){piece, n}, &used);
		*ret_used += used;
	}
	return news;
}

static struct mp_inbound *read_text(const char *text, size_t step)
{
	struct mp_inbound *in = mp_inbound_new();
	size_t used;

	if (feed(in, mp_str_of(text), step, &used) == MP_INBOUND_WHOLE && used == strlen(text))
		return in;
	return mp_inbound_free(in);
}

TEST(a_request_is_read_whatever_the_cuts)
{
	static const char text[] = "POST /mcp?a=b HTTP/1.1\r\n" HOST "Content-Length: 5\r\n"
				   "Accept: a/b\r\nX-Whatever: 1\r\nACCEPT:  c/d \r\n"
				   "Mcp-Session-Id:\r\n\r\nhello";

	for (size_t step = 1; step <= sizeof(text); step++) {
		MP_CLEANUP(freep) struct mp_inbound *in = read_text(text, step);

		CHECK(in);
		CHECK_EQ(mp_inbound_get_verb(in), MP_HTTP_METHOD_POST);
		CHECK_STR(mp_inbound_get_path(in), "/mcp");
		CHECK_STR(mp_inbound_get_query(in), "a=b");
		CHECK_STR(mp_inbound_get(in, MP_FIELD_HOST), "127.0.0.1:7717");
		CHECK_STR(mp_inbound_get(in, MP_FIELD_ACCEPT), "a/b, c/d");
		CHECK_STR(mp_inbound_get(in, MP_FIELD_SESSION), "");
		CHECK(mp_inbound_get(in, MP_FIELD_SESSION).p);
		CHECK(!mp_inbound_get(in, MP_FIELD_ORIGIN).p);
		CHECK_STR(mp_inbound_get_body(in), "hello");
		CHECK(mp_inbound_keeps_alive(in) && !mp_inbound_is_old(in));
		CHECK_EQ(mp_inbound_get_length(in), 5);
	}
}

TEST(chunks_are_joined_and_trailers_mean_nothing)
{
	static const char text[] = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
				   "3;a=b\r\nabc\r\n2\r\nde\r\n0\r\nHost: evil\r\n"
				   "Authorization: Bearer x\r\n\r\n";

	for (size_t step = 1; step <= sizeof(text); step++) {
		MP_CLEANUP(freep) struct mp_inbound *in = read_text(text, step);

		CHECK(in);
		CHECK_STR(mp_inbound_get_body(in), "abcde");
		CHECK_STR(mp_inbound_get(in, MP_FIELD_HOST), "127.0.0.1:7717");
		CHECK(!mp_inbound_get(in, MP_FIELD_AUTHORIZATION).p);
		CHECK_EQ(mp_inbound_get_length(in), UINT64_MAX);
	}
}

TEST(what_comes_behind_a_request_is_left_alone)
{
	static const char two[] = "GET /a HTTP/1.1\r\n" HOST "\r\nGET /b HTTP/1.0\r\n" HOST "\r\n";
	MP_CLEANUP(freep) struct mp_inbound *in = mp_inbound_new();
	size_t used, more;

	CHECK_EQ(feed(in, mp_str_of(two), sizeof(two), &used), MP_INBOUND_WHOLE);
	CHECK_STR(mp_inbound_get_path(in), "/a");
	mp_inbound_reset(in);
	CHECK_EQ(feed(in, mp_str_of(two + used), 3, &more), MP_INBOUND_WHOLE);
	CHECK_STR(mp_inbound_get_path(in), "/b");
	CHECK(mp_inbound_is_old(in) && !mp_inbound_keeps_alive(in));
	CHECK_EQ(used + more, sizeof(two) - 1);
}

TEST(an_upgrade_ends_with_its_head)
{
	static const char text[] =
		"GET /ws HTTP/1.1\r\n" HOST
		"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n\r\nxyz";
	MP_CLEANUP(freep) struct mp_inbound *in = mp_inbound_new();
	size_t used;

	CHECK_EQ(feed(in, mp_str_of(text), sizeof(text), &used), MP_INBOUND_WHOLE);
	CHECK_EQ(used, sizeof(text) - 4);
	CHECK(mp_inbound_wants_upgrade(in));
	/* Others, as Java's client offers HTTP/2, are requests like any. */
	mp_inbound_reset(in);
	static const char h2c[] =
		"POST /mcp HTTP/1.1\r\n" HOST "Connection: Upgrade, HTTP2-Settings\r\n"
		"Upgrade: h2c\r\nContent-Length: 2\r\n\r\nhi";
	CHECK_EQ(feed(in, mp_str_of(h2c), 7, &used), MP_INBOUND_WHOLE);
	CHECK_STR(mp_inbound_get_body(in), "hi");
	CHECK_EQ(used, sizeof(h2c) - 1);
}

struct bad {
	int status;
	struct mp_str text;
};
#define BAD(status, text)            \
	{                            \
		status, MP_STR(text) \
	}

/* V12 V15 V48 */
static const struct bad bads[] = {
	/* attack-S17 */
	BAD(400, "GET  / HTTP/1.1\r\n" HOST "\r\n"),
	BAD(400, "GET /  HTTP/1.1\r\n" HOST "\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST ": x\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST
		 "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST
		 "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Content-Length: +2\r\n\r\nab"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Content-Length: -2\r\n\r\nab"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 0x2\r\n\r\nab"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 2, 2\r\n\r\nab"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Content-Length: 99999999999999999999\r\n\r\nab"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST
		 "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	BAD(400, "POST / HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\n" HOST "\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: a\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST "\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST "X : a\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n X: a\r\n" HOST "\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: evil\r\n" HOST "\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n\r\n"),
	BAD(400, "GET / HTTP/1.0\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost:\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: a@b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: a b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: a\\b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\nHost: a?b\r\n\r\n"),
	BAD(400, "GET http://127.0.0.1:7717/ HTTP/1.1\r\n" HOST "\r\n"),
	BAD(400, "GET //\x01 HTTP/1.1\r\n" HOST "\r\n"),
	BAD(400, "GET * HTTP/1.1\r\n" HOST "\r\n"),
	BAD(400, "GET a HTTP/1.1\r\n" HOST "\r\n"),
	BAD(400, "CONNECT a:80 HTTP/1.1\r\n" HOST "\r\n"),
	BAD(400,
	    "GET / HTTP/1.1\r\n" HOST "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n"),
	BAD(400, "GET / HTTP/1.1\r\n" HOST "Origin: a\r\nOrigin: b\r\n\r\n"),
	BAD(505, "GET / HTTP/2.0\r\n" HOST "\r\n"),
	BAD(505, "GET / HTTP/1.2\r\n" HOST "\r\n"),
	BAD(505, "GET /\r\n\r\n"),
	BAD(501, "GETT / HTTP/1.1\r\n" HOST "\r\n"),
	BAD(501, "get / HTTP/1.1\r\n" HOST "\r\n"),
	BAD(417, "POST / HTTP/1.1\r\n" HOST "Expect: magic\r\nContent-Length: 1\r\n\r\na"),
	BAD(413, "POST / HTTP/1.1\r\n" HOST "Content-Length: 33554433\r\n\r\na"),
	BAD(400,
	    "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"),
	BAD(400,
	    "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\r\nabX\r\n0\r\n\r\n"),
	BAD(400, "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n"),
	BAD(400,
	    "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n-2\r\nab\r\n0\r\n\r\n"),
	BAD(400,
	    "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n 2\r\nab\r\n0\r\n\r\n"),
	BAD(400,
	    "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n2 \r\nab\r\n0\r\n\r\n"),
	BAD(400,
	    "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n"),
};

static bool is_refused(const struct bad *b, size_t step)
{
	MP_CLEANUP(freep) struct mp_inbound *in = mp_inbound_new();
	enum mp_inbound_news news;
	size_t used;

	news = feed(in, b->text, step, &used);
	REQUIRE(news == MP_INBOUND_BAD);
	REQUIRE(mp_inbound_get_fault(in).status == b->status);
	REQUIRE(mp_inbound_get_fault(in).words);
	return true;
}

TEST(what_can_be_read_in_two_ways_is_refused)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(bads); i++) {
		CHECK(is_refused(&bads[i], bads[i].text.len));
		CHECK(is_refused(&bads[i], 1));
	}
}

/* The bytes that end lines, or begin ones that are folded, in every place of a head. */
HEAVY_TEST(a_byte_out_of_place_is_seen_wherever_the_cuts_are)
{
	static const char head[] =
		"GET / HTTP/1.1\r\n" HOST "Accept: 0123456789abcdef0123456789\r\n"
		"X-Whatever: 1\r\nOrigin: a\r\n\r\n";
	static const char odd[] = {'\r', '\n', '\0', ' ', '\t'};
	static const size_t steps[] = {2, 7, 16, 17, sizeof(head)};
	size_t refused = 0;

	for (size_t at = 0; at < sizeof(head) - 1; at++)
		for (size_t i = 0; i < sizeof(odd); i++) {
			MP_CLEANUP(freep) struct mp_inbound *in = mp_inbound_new();
			struct mp_str text = {head, sizeof(head) - 1};
			char changed[sizeof(head)];
			enum mp_inbound_news news;
			size_t used;

			memcpy(changed, head, sizeof(head));
			changed[at] = odd[i];
			text.p = changed;
			news = feed(in, text, 1, &used);
			refused += news == MP_INBOUND_BAD;
			for (size_t s = 0; s < MP_ARRAY_LEN(steps); s++) {
				mp_inbound_reset(in);
				CHECK_EQ(feed(in, text, steps[s], &used), news);
			}
		}
	CHECK(refused > sizeof(head) * 3); /* blanks may stand in many places */
}

/* Head, n times the filler, tail: what becomes of it? */
static enum mp_inbound_news try_filled(const char *head, const char *filler, size_t n,
				       const char *tail, int *ret_status)
{
	MP_CLEANUP(freep) struct mp_inbound *in = mp_inbound_new();
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	enum mp_inbound_news news;
	size_t used;

	mp_buf_init(&b, SIZE_MAX / 2);
	if (mp_buf_add_str(&b, mp_str_of(head)) < 0)
		return MP_INBOUND_MORE;
	for (size_t i = 0; i < n; i++)
		if (mp_buf_add_str(&b, mp_str_of(filler)) < 0)
			return MP_INBOUND_MORE;
	if (mp_buf_add_str(&b, mp_str_of(tail)) < 0)
		return MP_INBOUND_MORE;
	news = feed(in, mp_buf_get(&b), 65536, &used);
	*ret_status = mp_inbound_get_fault(in).status;
	return news;
}

/* V48 */
HEAVY_TEST(limits_hold_at_one_below_and_one_above)
{
	int status;

	/* "Host" is one of the hundred. */
	CHECK_EQ(try_filled("GET / HTTP/1.1\r\n" HOST, "a: b\r\n", 99, "\r\n", &status),
		 MP_INBOUND_WHOLE);
	CHECK_EQ(try_filled("GET / HTTP/1.1\r\n" HOST, "a: b\r\n", 100, "\r\n", &status),
		 MP_INBOUND_BAD);
	CHECK_EQ(status, 431);
	CHECK_EQ(try_filled("GET /", "a", MP_INBOUND_TARGET - 1, " HTTP/1.1\r\n" HOST "\r\n",
			    &status),
		 MP_INBOUND_WHOLE);
	CHECK_EQ(try_filled("GET /", "a", MP_INBOUND_TARGET, " HTTP/1.1\r\n" HOST "\r\n", &status),
		 MP_INBOUND_BAD);
	CHECK_EQ(status, 414);
	CHECK_EQ(try_filled("GET / HTTP/1.1\r\n" HOST "a: ", "x", 65536 - 45, "\r\n\r\n", &status),
		 MP_INBOUND_WHOLE);
	CHECK_EQ(try_filled("GET / HTTP/1.1\r\n" HOST "a: ", "x", 65536 - 44, "\r\n\r\n", &status),
		 MP_INBOUND_BAD);
	CHECK_EQ(status, 431);
	CHECK_EQ(try_filled("", "\r\n", 40000, "", &status), MP_INBOUND_BAD);
	CHECK_EQ(status, 431);
	CHECK_EQ(try_filled("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n1;", "x",
			    5000, "\r\na\r\n0\r\n\r\n", &status),
		 MP_INBOUND_BAD);
	CHECK_EQ(status, 400);
	CHECK_EQ(try_filled("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",
			    "1;x\r\na\r\n", 3000, "0\r\n\r\n", &status),
		 MP_INBOUND_BAD);
	CHECK_EQ(try_filled("POST / HTTP/1.1\r\n" HOST
			    "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n",
			    "a: b\r\n", 99, "\r\n", &status),
		 MP_INBOUND_BAD);
	CHECK_EQ(status, 431);
}

HEAVY_TEST(a_body_has_a_limit_in_chunks_too)
{
	static char chunk[65536 + 32];
	int status;

	memcpy(chunk, "10000\r\n", 7);
	memset(chunk + 7, ' ', 65536);
	memcpy(chunk + 7 + 65536, "\r\n", 3);
	CHECK_EQ(try_filled("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", chunk,
			    512, "0\r\n\r\n", &status),
		 MP_INBOUND_WHOLE);
	CHECK_EQ(try_filled("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", chunk,
			    512, "1\r\na\r\n0\r\n\r\n", &status),
		 MP_INBOUND_BAD);
	CHECK_EQ(status, 413);
}

TEST(a_body_nobody_wants_is_not_kept)
{
	MP_CLEANUP(freep) struct mp_inbound *in = mp_inbound_new();
	struct mp_str rest = MP_STR("hello");
	size_t used;

	CHECK_EQ(mp_inbound_feed(in,
				 MP_STR("POST / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n"
					"Expect: 100-continue\r\n\r\n"),
				 &used),
		 MP_INBOUND_HEAD);
	CHECK(mp_inbound_wants_continue(in));
	mp_inbound_discard(in);
	CHECK_EQ(mp_inbound_feed(in, rest, &used), MP_INBOUND_WHOLE);
	CHECK_EQ(mp_inbound_get_body(in).len, 0);
}
