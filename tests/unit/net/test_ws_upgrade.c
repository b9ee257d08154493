/* test_ws_upgrade.c - the request for an upgrade, and answers right and wrong. */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/ws_upgrade.h"

static bool write_to(struct mp_ws_upgrade *up, const struct mp_http_request *r, char *text,
		     size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_LIMIT_HEADER_BLOCK);
	mp_ws_upgrade_init(up);
	REQUIRE(mp_ws_upgrade_write(up, r, &out) == 0);
	snprintf(text, size, "%.*s", MP_STR_ARGS(mp_buf_get(&out)));
	return true;
}

TEST(what_is_asked)
{
	MP_CLEANUP(mp_ws_upgrade_done) struct mp_ws_upgrade up;
	struct mp_http_header h[] = {
		{MP_STR("Authorization"), MP_STR("Bearer hush")},
		{MP_STR("sec-websocket-key"), MP_STR("mine")},
		{MP_STR("Sec-WebSocket-Extensions"), MP_STR("permessage-deflate")},
		{MP_STR("HOST"), MP_STR("other.example")},
		{MP_STR("Connection"), MP_STR("close")},
		{MP_STR("X-Empty"), MP_STR(" ")},
	};
	struct mp_http_request r = {.url = "http://u:p@a.example:81/mcp/x?q=1#f",
				    .headers = h,
				    .n_headers = MP_ARRAY_LEN(h)};
	char text[2000], want[2000];

	mp_ws_upgrade_init(&up);
	CHECK(write_to(&up, &r, text, sizeof(text)));
	CHECK_EQ(strlen(up.key), MP_WS_KEY);
	snprintf(want, sizeof(want),
		 "GET /mcp/x?q=1 HTTP/1.1\r\nHost: a.example:81\r\nUpgrade: websocket\r\n"
		 "Connection: Upgrade\r\nSec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n"
		 "Sec-WebSocket-Protocol: mcp\r\nUser-Agent: mcpool/" MCPOOL_VERSION "\r\n"
		 "Authorization: Bearer hush\r\nX-Empty: \r\n\r\n",
		 up.key);
	CHECK_TEXT(text, want);
}

TEST(who_we_are_may_stand_in_the_address)
{
	static const struct {
		const char *url, *want;
	} rows[] = {
		{"https://al%20a:open%3a@h/", "\r\nAuthorization: Basic YWwgYTpvcGVuOg==\r\n"},
		{"https://ala@h/", "\r\nAuthorization: Basic YWxhOg==\r\n"},
		{"https://h/", "User-Agent"},
		{"https://h", "GET / HTTP/1.1\r\nHost: h\r\n"},
		{"https://h:443/?a=b", "GET /?a=b HTTP/1.1\r\nHost: h\r\n"},
		{"http://[::1]:8/\xc3\xa9", "GET /%c3%a9 HTTP/1.1\r\nHost: [::1]:8\r\n"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_ws_upgrade_done) struct mp_ws_upgrade up;
		struct mp_http_request r = {.url = rows[i].url};
		char text[1000];

		mp_ws_upgrade_init(&up);
		CHECK(write_to(&up, &r, text, sizeof(text)));
		if (!strcasestr(text, rows[i].want))
			CHECK_TEXT(text, rows[i].want);
	}
}

TEST(keys_differ)
{
	MP_CLEANUP(mp_ws_upgrade_done) struct mp_ws_upgrade a;
	MP_CLEANUP(mp_ws_upgrade_done) struct mp_ws_upgrade b;
	struct mp_http_request r = {.url = "http://h/"};
	char text[1000];

	mp_ws_upgrade_init(&a);
	mp_ws_upgrade_init(&b);
	CHECK(write_to(&a, &r, text, sizeof(text)) && write_to(&b, &r, text, sizeof(text)));
	CHECK(strcmp(a.key, b.key) != 0);
}

/* --- answers -------------------------------------------------------------------------------- */

/* The example of RFC 6455, 1.3. */
#define KEY   "dGhlIHNhbXBsZSBub25jZQ=="
#define RIGHT "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
#define UP    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
#define WORDS "http://h answered the upgrade wrongly: "

static const struct {
	const char *answer;
	int code; /* 0: it is open */
	const char *words, *rest;
} rows[] = {
	{UP RIGHT "\r\n", 0, "", ""},
	{UP RIGHT "\r\n\x81\x01x", 0, "", "\x81\x01x"},
	{UP RIGHT "Sec-WebSocket-Protocol: mcp\r\n\r\n", 0, "", ""},
	{"HTTP/1.1 101 X\nupgrade:WebSocket\nCONNECTION: keep-alive , upgrade\n" RIGHT "\n", 0, "",
	 ""},
	{"HTTP/1.1 100 Continue\r\n\r\n" UP RIGHT "\r\n", 0, "", ""},
	{UP "\r\n", MCPOOL_EPROTO, WORDS "it answers another request", ""},
	{UP "Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", MCPOOL_EPROTO,
	 WORDS "it answers another request", ""},
	{UP "Sec-WebSocket-Accept: " KEY "\r\n\r\n", MCPOOL_EPROTO,
	 WORDS "it answers another request", ""},
	{"HTTP/1.1 101 X\r\nConnection: Upgrade\r\n" RIGHT "\r\n", MCPOOL_EPROTO,
	 WORDS "it is not an upgrade to WebSocket", ""},
	{"HTTP/1.1 101 X\r\nUpgrade: websocket\r\n" RIGHT "\r\n", MCPOOL_EPROTO,
	 WORDS "it is not an upgrade to WebSocket", ""},
	{"HTTP/1.1 101 X\r\nUpgrade: h2c\r\nConnection: upgrade\r\n" RIGHT "\r\n", MCPOOL_EPROTO,
	 WORDS "it is not an upgrade to WebSocket", ""},
	{UP RIGHT "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n", MCPOOL_EPROTO,
	 WORDS "it uses an extension that was not offered", ""},
	{UP RIGHT "Sec-WebSocket-Protocol: chat\r\n\r\n", MCPOOL_EPROTO,
	 WORDS "it speaks another subprotocol than mcp", ""},
	{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", MCPOOL_EPROTO,
	 "http://h answered HTTP 200: no WebSocket is there", "ok"},
	{"HTTP/1.1 301 Moved\r\nLocation: http://other/\r\n\r\n", MCPOOL_EPROTO,
	 "http://h answered HTTP 301", ""},
	{"HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\n\r\nwho?", MCPOOL_ENEEDS_AUTH,
	 "http://h answered HTTP 401 (not logged in): who?", "who?"},
	{"HTTP/1.1 403 No\r\n\r\n", MCPOOL_ENEEDS_AUTH, "http://h answered HTTP 403 (forbidden)",
	 ""},
	{"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n", MCPOOL_ENOENT,
	 "http://h answered HTTP 404 (not found)", "2\r\nno\r\n0\r\n\r\n"},
	{"HTTP/1.1 503 No\r\nRetry-After: 7\r\n\r\n", MCPOOL_EAGAIN,
	 "http://h answered HTTP 503 (unavailable)", ""},
	{"HTTP/1.1 500 No\r\n\r\n", MCPOOL_EIO, "http://h answered HTTP 500 (internal error)", ""},
	{"HTTP/1.1 426 No\r\n\r\n", MCPOOL_EPROTO, "http://h answered HTTP 426", ""},
};

/* V37 V52: redirects are an answer like any other. */
TEST(answers_right_and_wrong)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		for (size_t step = 1; step < 200; step += 13) {
			MP_CLEANUP(mp_ws_upgrade_done) struct mp_ws_upgrade up;
			struct mp_str all = mp_str_of(rows[i].answer);
			struct mp_str piece = {NULL, 0};
			struct mcpool_error why = {.code = 0};
			int r = 0;

			mp_ws_upgrade_init(&up);
			memcpy(up.key, KEY, sizeof(KEY));
			while (r == 0 && all.len) {
				size_t n = all.len < step ? all.len : step;

				piece = (struct mp_str){all.p, n};
				all = (struct mp_str){all.p + n, all.len - n};
				r = mp_ws_upgrade_read(&up, &piece);
			}
			CHECK_EQ(r, 1);
			piece.len += all.len; /* what lies behind it */
			CHECK_TEXT(piece.p, rows[i].rest);
			r = mp_ws_upgrade_judge(&up, piece, "http://h", 0, &why);
			CHECK_EQ(r, rows[i].code);
			if (r < 0) {
				CHECK_TEXT(why.message, rows[i].words);
				CHECK_EQ(why.retry_ms, r == MCPOOL_EAGAIN ? 7000 : 0);
			}
		}
}

TEST(what_is_no_http_is_known_at_once)
{
	static const char *const greetings[] = {"220 mail.example ESMTP\r\n",
						"\x81\x01x",
						"HTTP/2 101 X\r\n",
						"HTTQ",
						"\r\n",
						" HTTP/1.1 101"};

	for (size_t i = 0; i < MP_ARRAY_LEN(greetings); i++) {
		MP_CLEANUP(mp_ws_upgrade_done) struct mp_ws_upgrade up;
		struct mp_str bytes = mp_str_of(greetings[i]);

		mp_ws_upgrade_init(&up);
		CHECK_EQ(mp_ws_upgrade_read(&up, &bytes), MCPOOL_EPROTO);
	}
}

/* V52: many lines, one line, and interim answers without end. */
HEAVY_TEST(a_head_without_end_is_cut)
{
	static const char *const lines[] = {"X: y\r\n", "X: yyyyyyyyyyyyyyyyyyyyyyyyyy",
					    "HTTP/1.1 100 Continue\r\n\r\n"};

	for (size_t i = 0; i < MP_ARRAY_LEN(lines); i++) {
		MP_CLEANUP(mp_ws_upgrade_done) struct mp_ws_upgrade up;
		struct mp_str bytes = MP_STR("HTTP/1.1 101 X\r\n");
		size_t sent = 0;
		int r;

		mp_ws_upgrade_init(&up);
		r = mp_ws_upgrade_read(&up, &bytes);
		while (r == 0 && sent < 2 * MP_LIMIT_HEADER_BLOCK) {
			bytes = mp_str_of(lines[i]);
			sent += bytes.len;
			r = mp_ws_upgrade_read(&up, &bytes);
		}
		CHECK_EQ(r, MCPOOL_ELIMIT);
		CHECK(sent <= MP_LIMIT_HEADER_BLOCK + 40);
	}
}
