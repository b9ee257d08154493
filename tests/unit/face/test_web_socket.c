/*
 * test_web_socket.c - /ws: the handshake, messages as frames, and goodbyes.
 */
#include "front.h"

#include "net/ws_frames.h"

static const char one[] = "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}";

#define PING_TEXT "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define UPGRADE                                                                      \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: a, mcp\r\n"

struct socket {
	struct mp_ws_frames frames;
	struct mp_buf out;
	bool ready;
};

static void socket_done(struct socket *k)
{
	if (!k->ready)
		return;
	mp_ws_frames_done(&k->frames);
	mp_buf_done(&k->out);
}

#define SOCKET(k) MP_CLEANUP(socket_done) struct socket k = {.ready = false}

static bool begin(struct front *s, struct visitor *v, struct socket *k)
{
	REQUIRE(visitor_ask(s, v, "GET /ws", UPGRADE, NULL));
	REQUIRE(visitor_status(v) == 101);
	REQUIRE(visitor_has(v, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
	REQUIRE(visitor_has(v, "Sec-WebSocket-Protocol: mcp\r\n"));
	REQUIRE(visitor_has(v, "Upgrade: websocket\r\nConnection: Upgrade\r\n"));
	v->seen = v->conn.out.len;
	mp_buf_init(&k->out, 1 << 20);
	REQUIRE(mp_ws_frames_init(&k->frames, 1 << 20, MP_WS_CLIENT) == 0);
	k->ready = true;
	return true;
}

static bool say(struct front *s, struct visitor *v, struct socket *k, enum mp_ws_kind kind,
		const char *text)
{
	mp_buf_clear(&k->out);
	REQUIRE(mp_ws_frames_write(&k->frames, kind, mp_str_of(text), &k->out) == 0);
	v->seen = v->conn.out.len;
	return visitor_say(s, v, mp_buf_get(&k->out));
}

/* The first frame that came since. */
static bool hears(struct visitor *v, struct socket *k, struct mp_ws_event *e)
{
	struct mp_str all = mp_buf_get(&v->conn.out);

	mp_ws_frames_feed(&k->frames, (struct mp_str){all.p + v->seen, all.len - v->seen});
	return mp_ws_frames_next(&k->frames, e) == 1;
}

TEST(a_message_per_frame)
{
	FRONT(s);
	VISITOR(v);
	SOCKET(k);
	struct mp_ws_event e;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &k));
	CHECK_EQ(mp_sessions_count(s.sessions), 1);
	CHECK(say(&s, &v, &k, MP_WS_TEXT, PING_TEXT));
	CHECK(hears(&v, &k, &e));
	CHECK_EQ(e.kind, MP_WS_TEXT);
	CHECK(mp_str_find(e.payload, MP_STR("\"id\":1"), 0) > 0);
	CHECK(say(&s, &v, &k, MP_WS_PING, "are you there"));
	CHECK(hears(&v, &k, &e));
	CHECK_EQ(e.kind, MP_WS_PONG);
	CHECK_STR(e.payload, "are you there");
	memory_conn_end(&v.conn);
	fleet_settle(&s.f);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}

TEST(a_goodbye_is_returned)
{
	FRONT(s);
	VISITOR(v);
	SOCKET(k);
	struct mp_ws_event e;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &k));
	CHECK(say(&s, &v, &k, MP_WS_CLOSE, "\x03\xe8"));
	CHECK(hears(&v, &k, &e));
	CHECK_EQ(e.kind, MP_WS_CLOSE);
	CHECK_EQ(e.code, 1000);
	CHECK(v.conn.shut);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}

TEST(frames_against_the_rules_end_it)
{
	FRONT(s);
	VISITOR(v);
	SOCKET(k);
	struct mp_ws_event e;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &k));
	v.seen = v.conn.out.len;
	CHECK(visitor_say(&s, &v, MP_STR("\x81\x02hi"))); /* not masked */
	CHECK(hears(&v, &k, &e));
	CHECK_EQ(e.kind, MP_WS_CLOSE);
	CHECK_EQ(e.code, MP_WS_PROTOCOL);
	CHECK(v.conn.shut);
}

TEST(silence_is_asked_about_and_then_the_end)
{
	FRONT(s);
	VISITOR(v);
	SOCKET(k);
	struct mp_ws_event e;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &k));
	fleet_advance(&s.f, MP_HTTP_QUIET_MS + 1000);
	CHECK(hears(&v, &k, &e));
	CHECK_EQ(e.kind, MP_WS_PING);
	CHECK(say(&s, &v, &k, MP_WS_PONG, ""));
	fleet_advance(&s.f, 3 * MP_HTTP_QUIET_MS - 3000);
	CHECK(!v.conn.closed);
	fleet_advance(&s.f, 2 * MP_HTTP_QUIET_MS);
	CHECK(v.conn.closed);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}

/* V14 */
TEST(an_upgrade_that_is_none_is_refused)
{
	static const struct {
		const char *headers;
		int status;
	} cases[] = {
		{"", 426},
		{"Connection: Upgrade\r\nUpgrade: h2c\r\nSec-WebSocket-Version: 13\r\n"
		 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
		 426},
		{"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n"
		 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
		 426},
		{"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
		 "Sec-WebSocket-Key: abc\r\n",
		 400},
		{"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
		 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: chat\r\n",
		 400},
		/* attack-S17 */
		{UPGRADE "Content-Length: 4\r\n", 400},
		{UPGRADE "Content-Length: 0\r\n", 400},
		{UPGRADE "Transfer-Encoding: chunked\r\n", 400},
		{UPGRADE "Origin: http://evil.example\r\n", 403},
		{UPGRADE "Sec-Fetch-Site: cross-site\r\n", 403},
	};
	FRONT(s);

	CHECK(front_open(&s, one, false));
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		VISITOR(v);

		CHECK(visitor_ask(&s, &v, "GET /ws", cases[i].headers, NULL));
		CHECK(visitor_say(&s, &v, MP_STR("0\r\n\r\n"))); /* a body, if there is one */
		CHECK_EQ(visitor_status(&v), cases[i].status);
		CHECK_EQ(mp_sessions_count(s.sessions), 0);
	}
}

/* V19 */
TEST(a_socket_ends_with_its_token)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(w);
	SOCKET(k);

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &k));
	CHECK_EQ(mp_http_token_rotate(s.token_path, &s.why), 0);
	fleet_advance(&s.f, 1); /* it is looked at once a turn */
	CHECK(visitor_ask(&s, &w, "GET /health", NULL, NULL));
	CHECK(v.conn.closed);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}

TEST(draining_says_goodbye)
{
	FRONT(s);
	VISITOR(v);
	SOCKET(k);
	struct mp_ws_event e;

	CHECK(front_open(&s, one, false));
	CHECK(begin(&s, &v, &k));
	mp_http_face_drain(s.face, NULL, NULL);
	CHECK(hears(&v, &k, &e));
	CHECK_EQ(e.kind, MP_WS_CLOSE);
	CHECK_EQ(e.code, 1001);
	CHECK(v.conn.shut);
}
