/* test_ws.c - WebSockets against a server on the same loop, the table of states cell by cell. */
#include "test.h"

#include <signal.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loopback_http.h"
#include "loopback_ws.h"
#include "net/ws.h"

enum act { NOTHING, SEND, LEAVE, FREE };

struct net {
	struct mp_loop *loop; /* its clock is moved by hand */
	struct mp_http_client *client;
	struct ws_server server;
	struct certificate own;
	struct mp_ws *ws;
	char log[2000]; /* "opened text:x over " */
	uint64_t written;
	bool over, left;
	struct mcpool_error why;
	enum act on_opened, on_message;
	int n_messages;
	size_t bytes;
};

static void say(struct net *n, const char *what, struct mp_str text)
{
	size_t len = strlen(n->log);

	if (text.len > 40)
		text.len = 40;
	snprintf(n->log + len, sizeof(n->log) - len, "%s%.*s ", what, MP_STR_ARGS(text));
}

static void obey(struct net *n, enum act act)
{
	if (act == SEND && mp_ws_send(n->ws, &MP_STR("again"), 1, NULL) < 0)
		say(n, "REFUSED", MP_STR(""));
	if (act == LEAVE)
		mp_ws_close(n->ws);
	if (act == FREE)
		n->ws = mp_ws_free(n->ws);
}

static void opened(void *u)
{
	struct net *n = u;

	say(n, "opened", MP_STR(""));
	obey(n, n->on_opened);
}

static void message(void *u, struct mp_str text)
{
	struct net *n = u;

	n->n_messages++;
	n->bytes += text.len;
	if (n->n_messages < 20)
		say(n, "text:", text);
	obey(n, n->on_message);
}

static void written(void *u, uint64_t total)
{
	struct net *n = u;

	if (total <= n->written)
		say(n, "BACK", MP_STR(""));
	n->written = total;
}

static void over(void *u, const struct mcpool_error *why)
{
	struct net *n = u;

	say(n, "over", MP_STR(""));
	n->over = true;
	n->left = !why;
	if (why)
		n->why = *why;
}

static const struct mp_ws_hooks hooks = {opened, message, written, over};

static void net_done(struct net *n)
{
	mp_ws_free(n->ws);
	mp_http_client_free(n->client);
	ws_server_stop(&n->server);
	mp_loop_free(n->loop);
}

static bool net_init(struct net *n)
{
	*n = (struct net){.loop = NULL};
	signal(SIGPIPE, SIG_IGN);
	REQUIRE(mp_loop_new_by_hand(1700000000000, &n->loop) == 0);
	REQUIRE(ws_server_start(&n->server, n->loop));
	REQUIRE(mp_http_client_new(n->loop, &n->client) == 0);
	return true;
}

static bool easy(struct net *n, struct mp_http_request *r)
{
	struct mp_http_request plain = {.url = NULL};
	char url[128];

	r = r ? r : &plain;
	snprintf(url, sizeof(url), "%s://127.0.0.1:%d/mcp?hush=1", n->server.tls ? "https" : "http",
		 n->server.port);
	r->url = url;
	REQUIRE(mp_ws_open(n->client, r, &hooks, n, &n->ws, NULL) == 0);
	REQUIRE(n->log[0] == '\0');
	return true;
}

static bool is(const struct net *n, const char *state)
{
	return n->ws && strcmp(mp_ws_get_state(n->ws), state) == 0;
}

static bool reach(struct net *n, const char *state)
{
	WS_UNTIL(n->loop, n->over || is(n, state));
	REQUIRE(is(n, state));
	return true;
}

static bool net_open(struct net *n, struct mp_http_request *r)
{
	REQUIRE(easy(n, r));
	REQUIRE(reach(n, "open"));
	REQUIRE(strcmp(n->log, "opened ") == 0);
	return true;
}

static bool wait_over(struct net *n)
{
	WS_UNTIL(n->loop, n->over);
	REQUIRE(n->over);
	return true;
}

static bool hears(struct net *n, const char *what)
{
	WS_UNTIL(n->loop, n->over || strstr(n->server.heard, what));
	REQUIRE(strstr(n->server.heard, what));
	return true;
}

/* Some turns in which nothing is expected. */
static void idle(struct net *n)
{
	double until = ws_seconds() + 0.02;

	for (int i = 0; i < 300 || ws_seconds() < until; i++)
		mp_loop_turn(n->loop, false);
}

TEST(texts_go_both_ways)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_header h = {MP_STR("Authorization"), MP_STR("Bearer hush")};
	struct mp_http_request r = {.headers = &h, .n_headers = 1};
	uint64_t first, second;

	CHECK(net_init(&n));
	CHECK(net_open(&n, &r));
	CHECK(strstr(n.server.request, "GET /mcp?hush=1 HTTP/1.1\r\n"));
	CHECK(strstr(n.server.request, "Authorization: Bearer hush\r\n"));
	CHECK(strstr(n.server.request, "Sec-WebSocket-Protocol: mcp\r\n"));
	CHECK(!strcasestr(n.server.request, "deflate"));
	CHECK_EQ(mp_ws_send(n.ws, &MP_STR("hello"), 1, &first), 0);
	CHECK_EQ(mp_ws_send(n.ws, &MP_STR("world"), 1, &second), 0);
	CHECK_EQ(second, first + 2 + 4 + 5);
	CHECK(n.written <= first); /* nothing leaves from within send */
	CHECK(hears(&n, "text:hello text:world "));
	CHECK(!n.server.unmasked);
	CHECK_EQ(n.written, second + 2 + 4 + 5);
	ws_say(&n.server, 0x81, "hi", 2);
	ws_say(&n.server, 0x01, "a", 1);
	ws_say(&n.server, 0x89, "?", 1);
	ws_say(&n.server, 0x80, "b", 1);
	CHECK(hears(&n, "pong:? "));
	CHECK_TEXT(n.log, "opened text:hi text:ab ");
}

TEST(a_message_may_come_with_the_answer)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	n.server.answer = WS_YES "\r\n\x81\x02hi";
	CHECK(easy(&n, NULL));
	WS_UNTIL(n.loop, n.over || strstr(n.log, "text"));
	CHECK_TEXT(n.log, "opened text:hi ");
}

/* --- the table, cell by cell ---------------------------------------------------------------- */

struct cell {
	const char *state, *event;
	const char *then; /* the state; "over" when it is told */
	int code;         /* of the reason; 0: we left */
	const char *heard;
};

static const struct cell cells[] = {
	{"dialing", "connected", "asking", 0, ""},
	{"dialing", "broken", "over", MCPOOL_EIO, ""},
	{"dialing", "close", "over", 0, ""},
	{"asking", "accepted", "open", 0, ""},
	{"asking", "refused", "over", MCPOOL_ENEEDS_AUTH, ""},
	{"asking", "broken", "over", MCPOOL_ECLOSED, ""},
	{"asking", "close", "over", 0, ""},
	{"asking", "late", "over", MCPOOL_ETIMEDOUT, ""},
	{"open", "goodbye", "parting", MCPOOL_ECLOSED, "close:1001 "},
	{"open", "fault", "parting", MCPOOL_EPROTO, "close:1002 "},
	{"open", "broken", "over", MCPOOL_ECLOSED, ""},
	{"open", "close", "leaving", 0, "close:1000 "},
	{"open", "late", "over", MCPOOL_ETIMEDOUT, "ping: ping: "},
	{"leaving", "goodbye", "over", 0, "close:1000 "},
	{"leaving", "fault", "over", 0, "close:1000 "},
	{"leaving", "broken", "over", 0, "close:1000 "},
	{"leaving", "close", "leaving", 0, "close:1000 "},
	{"leaving", "late", "over", 0, "close:1000 "},
	{"parting", "broken", "over", MCPOOL_ECLOSED, "close:1001 "},
	{"parting", "close", "parting", 0, "close:1001 "},
	{"parting", "late", "over", MCPOOL_ECLOSED, "close:1001 "},
	{"over", "close", "over", 0, ""},
};

/* The server keeps quiet unless the test tells it to speak. */
static bool go_to(struct net *n, const char *state)
{
	n->server.silent = n->server.rude = true;
	REQUIRE(easy(n, NULL));
	if (strcmp(state, "dialing") == 0)
		return true;
	if (strcmp(state, "over") == 0) {
		mp_ws_close(n->ws);
		return is(n, "over");
	}
	REQUIRE(reach(n, "asking"));
	WS_UNTIL(n->loop, n->over || n->server.request[0]);
	if (strcmp(state, "asking") == 0)
		return true;
	ws_answer(n->server.conn);
	REQUIRE(reach(n, "open"));
	if (strcmp(state, "leaving") == 0)
		mp_ws_close(n->ws);
	else if (strcmp(state, "parting") == 0)
		ws_say_close(&n->server, 1001, "");
	REQUIRE(reach(n, state));
	if (strcmp(state, "open") != 0)
		REQUIRE(hears(n, "close"));
	return true;
}

static bool cause(struct net *n, const struct cell *c)
{
	if (strcmp(c->event, "connected") == 0)
		return reach(n, "asking");
	if (strcmp(c->event, "accepted") == 0)
		ws_answer(n->server.conn);
	else if (strcmp(c->event, "refused") == 0)
		ws_put(n->server.conn, "HTTP/1.1 401 No\r\n\r\n", 19);
	else if (strcmp(c->event, "goodbye") == 0)
		ws_say_close(&n->server, 1001, "");
	else if (strcmp(c->event, "fault") == 0)
		ws_say(&n->server, 0xc1, "x", 1);
	else if (strcmp(c->event, "close") == 0)
		mp_ws_close(n->ws);
	else if (strcmp(c->event, "late") == 0)
		mp_loop_advance(n->loop, strcmp(c->state, "open") == 0 ? 30000 : 10000);
	else if (n->server.conn)
		ws_conn_close(n->server.conn);
	else
		ws_server_stop(&n->server); /* before anybody was there */
	return true;
}

static bool visit(const struct cell *c)
{
	MP_CLEANUP(net_done) struct net n;

	REQUIRE(net_init(&n));
	REQUIRE(go_to(&n, c->state));
	REQUIRE(cause(&n, c));
	REQUIRE(strcmp(c->then, "over") == 0 ? wait_over(&n) : reach(&n, c->then));
	if (strcmp(c->then, "over") != 0) {
		if (c->heard[0])
			REQUIRE(hears(&n, c->heard));
		REQUIRE(!n.over);
		if (strcmp(c->then, "leaving") != 0 && strcmp(c->then, "parting") != 0)
			return true;
		mp_loop_advance(n.loop, MP_WS_CLOSE_MS);
		REQUIRE(wait_over(&n));
	}
	REQUIRE(n.left == (c->code == 0) && (c->code == 0 || n.why.code == c->code));
	REQUIRE(strcmp(n.server.heard, c->heard) == 0);
	REQUIRE(c->code == 0 || strstr(n.why.message, "http://127.0.0.1:"));
	REQUIRE(!strstr(n.why.message, "hush"));
	idle(&n);
	REQUIRE(n.server.n_open == 0);
	return true;
}

/* Every cell that is not empty; the others cannot be reached from outside. */
HEAVY_TEST(every_cell_of_the_table)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(cells); i++) {
		bool ok = visit(&cells[i]);

		if (!ok)
			printf("%s on %s\n", cells[i].state, cells[i].event);
		CHECK(ok);
	}
}

/* --- rules ---------------------------------------------------------------------------------- */

/* V52: what ws_frames.c finds is said to the other side and told. */
HEAVY_TEST(who_breaks_the_rules_is_told_why)
{
	static const struct {
		struct mp_str bytes;
		const char *heard, *words;
		int code;
	} rows[] = {
		{MP_STR("\x81\x81mask!"), "close:1002 ", "a masked frame", MCPOOL_EPROTO},
		{MP_STR("\xc1\x01x"), "close:1002 ", "a frame with reserved bits", MCPOOL_EPROTO},
		{MP_STR("\x09\x00"), "close:1002 ", "a frame that cannot be", MCPOOL_EPROTO},
		{MP_STR("\x82\x01x"), "close:1003 ", "a binary message", MCPOOL_EPROTO},
		{MP_STR("\x81\x01\xff"), "close:1007 ", "not UTF-8", MCPOOL_EPROTO},
		{MP_STR("\x81\x7f\x00\x00\x00\x00\x40\x00\x00\x00x"), "close:1009 ",
		 "a message that is too large", MCPOOL_ELIMIT},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(net_done) struct net n;

		CHECK(net_init(&n));
		CHECK(net_open(&n, NULL));
		ws_put(n.server.conn, rows[i].bytes.p, rows[i].bytes.len);
		CHECK(wait_over(&n)); /* the server hangs up, so time need not pass */
		CHECK_TEXT(n.server.heard, rows[i].heard);
		CHECK_EQ(n.why.code, rows[i].code);
		if (!strstr(n.why.message, rows[i].words))
			CHECK_TEXT(n.why.message, rows[i].words);
	}
}

HEAVY_TEST(goodbyes_say_why)
{
	static const struct {
		int code;
		const char *reason, *words;
		int error;
	} rows[] = {
		{1000, "", "closed the connection with code 1000 (its work is done)",
		 MCPOOL_ECLOSED},
		{1001, "off\n\x1b[2J", "closed the connection with code 1001 (it goes away): off",
		 MCPOOL_ECLOSED},
		{1011, "token=sk-0123456789abcdef0123456789",
		 "with code 1011 (it failed): ", MCPOOL_ECLOSED},
		{1013, "", "with code 1013 (try again later)", MCPOOL_EAGAIN},
		{4321, "mine", "with code 4321: mine", MCPOOL_ECLOSED},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(net_done) struct net n;
		char heard[40];

		CHECK(net_init(&n));
		CHECK(net_open(&n, NULL));
		ws_say_close(&n.server, rows[i].code, rows[i].reason);
		CHECK(wait_over(&n));
		snprintf(heard, sizeof(heard), "close:%d ", rows[i].code);
		CHECK_TEXT(n.server.heard, heard);
		CHECK_EQ(n.why.code, rows[i].error);
		if (!strstr(n.why.message, rows[i].words))
			CHECK_TEXT(n.why.message, rows[i].words);
		CHECK(!strchr(n.why.message, 0x1b) && !strchr(n.why.message, '\n'));
		CHECK(!strstr(n.why.message, "sk-0123456789abcdef"));
	}
}

HEAVY_TEST(a_goodbye_may_have_no_code)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(net_open(&n, NULL));
	ws_say(&n.server, 0x88, "", 0);
	CHECK(wait_over(&n));
	CHECK_TEXT(n.server.heard, "close:0 ");
	CHECK_EQ(n.why.code, MCPOOL_ECLOSED);
}

/* --- the upgrade ---------------------------------------------------------------------------- */

HEAVY_TEST(an_upgrade_that_is_refused)
{
	static const struct {
		const char *answer, *challenge;
		int code;
	} rows[] = {
		{"HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer realm=\"x\"\r\n\r\n",
		 "Bearer realm=\"x\"", MCPOOL_ENEEDS_AUTH},
		{"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", "", MCPOOL_ENEEDS_AUTH},
		{"HTTP/1.1 404 No\r\n\r\n", "", MCPOOL_ENOENT},
		{"HTTP/1.1 503 No\r\nRetry-After: 3\r\n\r\n", "", MCPOOL_EAGAIN},
		{"HTTP/1.1 307 No\r\nLocation: http://127.0.0.1/\r\n\r\n", "", MCPOOL_EPROTO},
		{"HTTP/1.1 200 Fine\r\n\r\n", "", MCPOOL_EPROTO},
		{"HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
		 "Sec-WebSocket-Accept: x%s\r\n\r\n",
		 "", MCPOOL_EPROTO},
		{"+OK POP3\r\n", "", MCPOOL_EPROTO},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(net_done) struct net n;
		struct mp_str challenge;

		CHECK(net_init(&n));
		n.server.answer = rows[i].answer;
		CHECK(easy(&n, NULL));
		CHECK(wait_over(&n));
		CHECK_TEXT(n.log, "over ");
		CHECK_EQ(n.why.code, rows[i].code);
		CHECK_EQ(n.why.retry_ms, n.why.code == MCPOOL_EAGAIN ? 3000 : 0);
		challenge = mp_ws_get_challenge(n.ws);
		CHECK(mp_str_eq(challenge, mp_str_of(rows[i].challenge)));
		CHECK(!strstr(n.why.message, "hush"));
		CHECK_EQ(n.server.n_connections, 1);
	}
}

/* V52 */
HEAVY_TEST(a_slow_handshake_is_cut)
{
	static const char yes[] = "HTTP/1.1 101 Switching Protocols\r\nX: ";
	MP_CLEANUP(net_done) struct net n;
	int64_t passed_ms = 0;

	CHECK(net_init(&n));
	n.server.silent = true;
	CHECK(easy(&n, NULL));
	WS_UNTIL(n.loop, n.server.request[0]);
	while (!n.over && passed_ms < 20000) {
		if (n.server.conn)
			ws_put(n.server.conn, &yes[passed_ms / 500], 1);
		idle(&n);
		mp_loop_advance(n.loop, 500);
		passed_ms += 500;
	}
	CHECK_EQ(n.why.code, MCPOOL_ETIMEDOUT);
	CHECK(strstr(n.why.message, "no answer to the upgrade from http://127.0.0.1:"));
	CHECK(passed_ms >= 10000 && passed_ms <= 11000);
}

HEAVY_TEST(a_head_without_end_is_cut)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	n.server.silent = true;
	CHECK(easy(&n, NULL));
	WS_UNTIL(n.loop, n.server.request[0]);
	ws_put(n.server.conn, "HTTP/1.1 101 X\r\n", 16);
	for (int i = 0; i < 5000 && !n.over; i++) {
		if (n.server.conn)
			ws_put(n.server.conn, "X: yyyyyyyyyyyyyyyyyyy\r\n", 24);
		mp_loop_turn(n.loop, false);
	}
	CHECK(n.over);
	CHECK_EQ(n.why.code, MCPOOL_ELIMIT);
}

TEST(nobody_listens)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	ws_server_stop(&n.server);
	CHECK(easy(&n, NULL));
	CHECK(wait_over(&n));
	CHECK_EQ(n.why.code, MCPOOL_EIO);
	CHECK(strstr(n.why.message, "Connection refused"));
}

/* V33 V36 */
TEST(what_may_not_be_dialled_is_not)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_header h = {MP_STR("A"), MP_STR("b\r\nC: d")};
	struct mp_http_request r = {.url = "http://127.0.0.1/", .headers = &h, .n_headers = 1};

	CHECK(net_init(&n));
	CHECK_EQ(mp_ws_open(n.client, &r, &hooks, &n, &n.ws, NULL), MCPOOL_EINVAL);
	r = (struct mp_http_request){.url = "http://127.0.0.1/", .from = MP_ZONE_PUBLIC};
	CHECK_EQ(mp_ws_open(n.client, &r, &hooks, &n, &n.ws, NULL), MCPOOL_EPERM);
	r.url = "http://localhost:1/";
	CHECK_EQ(mp_ws_open(n.client, &r, &hooks, &n, &n.ws, NULL), 0);
	CHECK(wait_over(&n));
	CHECK_EQ(n.why.code, MCPOOL_EPERM);
}

/* --- TLS ------------------------------------------------------------------------------------ */

HEAVY_TEST(the_same_over_tls)
{
	enum { LARGE = 3 << 20 };
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request r = {.url = NULL};
	char *text = mp_alloc(LARGE);
	bool ok;

	memset(text, 'x', LARGE);
	ok = net_init(&n) && certificate_init(&n.own, &n.server.tls);
	r.ca_file = n.own.cert;
	r.cert_file = n.own.cert;
	r.key_file = n.own.key;
	ok = ok && net_open(&n, &r) &&
	     mp_ws_send(n.ws, &(struct mp_str){text, LARGE}, 1, NULL) == 0;
	WS_UNTIL(n.loop, !ok || n.server.bytes == LARGE);
	if (ok) /* more than fits into one record, and into one read */
		ws_say(&n.server, 0x81, text, LARGE);
	WS_UNTIL(n.loop, !ok || n.bytes == LARGE);
	mp_free(text);
	CHECK(ok);
	CHECK_EQ(n.server.bytes, LARGE);
	CHECK_EQ(n.bytes, LARGE);
	CHECK_TEXT(n.server.peer, "a test");
	CHECK(!n.server.was_offered_h2); /* there are no upgrades in it */
	mp_ws_close(n.ws);
	CHECK(wait_over(&n));
	CHECK(n.left);
}

HEAVY_TEST(a_certificate_must_be_known)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(certificate_init(&n.own, &n.server.tls));
	CHECK(easy(&n, NULL));
	CHECK(wait_over(&n));
	CHECK_EQ(n.why.code, MCPOOL_EIO);
	CHECK(strstr(n.why.message, "certificate"));
	CHECK_TEXT(n.server.request, "");
}

/* --- silence -------------------------------------------------------------------------------- */

/* Nothing but silence, as from a peer whose machine is gone. */
TEST(a_half_open_peer_is_seen_within_30_s)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	n.server.deaf = true;
	CHECK(net_open(&n, NULL));
	mp_loop_advance(n.loop, 24999);
	idle(&n);
	CHECK(!n.over);
	mp_loop_advance(n.loop, 1);
	CHECK(wait_over(&n));
	CHECK_EQ(n.why.code, MCPOOL_ETIMEDOUT);
	CHECK(strstr(n.why.message, "nothing came from http://127.0.0.1:"));
}

HEAVY_TEST(whoever_answers_pings_is_alive)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(net_open(&n, NULL));
	for (int i = 0; i < 20; i++) {
		n.server.heard[0] = '\0';
		mp_loop_advance(n.loop, 9999);
		idle(&n);
		CHECK_TEXT(n.server.heard, "");
		mp_loop_advance(n.loop, 1);
		CHECK(hears(&n, "ping: "));
		ws_say(&n.server, 0x8a, "", 0);
		idle(&n);
		CHECK(!n.over);
	}
}

/* --- more than enough ----------------------------------------------------------------------- */

HEAVY_TEST(a_queue_has_an_end)
{
	enum { LARGE = 8 << 20 };
	MP_CLEANUP(net_done) struct net n;
	char *text = mp_alloc(LARGE);
	uint64_t at = 0, last = 0;
	int r = 0, sent = 0;
	bool ok;

	memset(text, 'x', LARGE);
	ok = net_init(&n);
	n.server.deaf = true;
	ok = ok && net_open(&n, NULL);
	for (; ok && r == 0 && sent < 50; sent += r == 0) {
		last = at;
		r = mp_ws_send(n.ws, &(struct mp_str){text, LARGE}, 1, &at);
		idle(&n);
	}
	mp_free(text);
	CHECK(ok);
	CHECK_EQ(r, MCPOOL_ELIMIT);
	CHECK((uint64_t)(sent + 1) * LARGE - n.written > MP_LIMIT_MESSAGE);
	CHECK((uint64_t)sent * LARGE - n.written <= MP_LIMIT_MESSAGE + MP_MIB(1));
	CHECK(n.written < last); /* the last one is here, whole */
	CHECK(!n.over);
	/* When it reads again, all of it arrives. */
	uv_read_start((uv_stream_t *)&n.server.conn->tcp, ws_room, ws_read);
	WS_UNTIL(n.loop, n.server.bytes == (size_t)sent * LARGE);
	CHECK_EQ(n.server.bytes, (size_t)sent * LARGE);
	CHECK_EQ(mp_ws_send(n.ws, &MP_STR("again"), 1, &at), 0);
	CHECK(hears(&n, "text:again "));
	CHECK(n.written > at);
}

/* Endless pings while the pongs are not read: only the last one is owed. */
HEAVY_TEST(pings_take_no_memory)
{
	enum { LARGE = 8 << 20 };
	MP_CLEANUP(net_done) struct net n;
	char *text = mp_alloc(LARGE);
	bool ok;
	uint64_t at;

	memset(text, 'x', LARGE);
	ok = net_init(&n);
	n.server.deaf = true;
	ok = ok && net_open(&n, NULL) &&
	     mp_ws_send(n.ws, &(struct mp_str){text, LARGE}, 1, &at) == 0;
	mp_free(text);
	CHECK(ok);
	idle(&n);
	CHECK(n.written < LARGE);
	for (int i = 0; i < 100000; i++)
		ws_say(&n.server, 0x89, i == 99999 ? "last" : "ping", 4);
	ws_say(&n.server, 0x81, "hi", 2);
	WS_UNTIL(n.loop, n.n_messages);
	CHECK_EQ(mp_ws_send(n.ws, &MP_STR("x"), 1, &at), 0);
	CHECK(at < LARGE + 4096);
	uv_read_start((uv_stream_t *)&n.server.conn->tcp, ws_room, ws_read);
	CHECK(hears(&n, "pong:last "));
	CHECK(!strstr(n.server.heard, "pong:ping"));
}

/* Others get their turns while one peer floods us. */
HEAVY_TEST(a_flood_is_taken_in_turns)
{
	MP_CLEANUP(net_done) struct net n;
	char *text = mp_alloc(1 << 20);
	int most = 0;

	memset(text, 'x', 1 << 20);
	if (net_init(&n) && net_open(&n, NULL)) {
		for (int i = 0; i < 8; i++)
			for (int k = 0; k < 1024; k++)
				ws_say(&n.server, 0x81, text, 1022);
		while (n.n_messages < 8192) {
			int before = n.n_messages;

			mp_loop_turn(n.loop, false);
			most = n.n_messages - before > most ? n.n_messages - before : most;
		}
	}
	mp_free(text);
	CHECK_EQ(n.n_messages, 8192);
	CHECK(most <= 2 * 16 * 16 + 32); /* a turn's two reads of sixteen times 16 KiB */
}

/* --- leaving -------------------------------------------------------------------------------- */

HEAVY_TEST(hooks_may_do_anything)
{
	static const enum act acts[] = {SEND, LEAVE, FREE};

	for (size_t i = 0; i < MP_ARRAY_LEN(acts) * 2; i++) {
		MP_CLEANUP(net_done) struct net n;

		CHECK(net_init(&n));
		n.on_opened = i % 2 ? acts[i / 2] : NOTHING;
		n.on_message = i % 2 ? NOTHING : acts[i / 2];
		n.server.answer = WS_YES "\r\n\x81\x01x\x81\x01y";
		CHECK(easy(&n, NULL));
		WS_UNTIL(n.loop, !n.ws || n.over || strstr(n.server.heard, "text:again"));
		idle(&n);
		if (acts[i / 2] == SEND)
			CHECK_TEXT(n.log, "opened text:x text:y ");
		else if (acts[i / 2] == LEAVE)
			CHECK_TEXT(n.log, i % 2 ? "opened over " : "opened text:x over ");
		else
			CHECK_TEXT(n.log, i % 2 ? "opened " : "opened text:x ");
	}
}

TEST(what_was_sent_before_leaving_arrives)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(net_open(&n, NULL));
	CHECK_EQ(mp_ws_send(n.ws, &MP_STR("last"), 1, NULL), 0);
	mp_ws_close(n.ws);
	CHECK_EQ(mp_ws_send(n.ws, &MP_STR("no"), 1, NULL), MCPOOL_ECLOSED);
	ws_say(&n.server, 0x81, "late", 4); /* nothing but over is told now */
	CHECK(wait_over(&n));
	CHECK_TEXT(n.server.heard, "text:last close:1000 ");
	CHECK_TEXT(n.log, "opened over ");
}

/* It is left to its pings. */
TEST(a_sleep_of_the_machine_is_survived)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(easy(&n, NULL));
	mp_http_client_woke(n.client); /* before it has begun */
	CHECK(reach(&n, "open"));
	mp_http_client_woke(n.client);
	idle(&n);
	CHECK_EQ(mp_ws_send(n.ws, &MP_STR("hello"), 1, NULL), 0);
	CHECK(hears(&n, "text:hello "));
	ws_say(&n.server, 0x81, "hi", 2);
	WS_UNTIL(n.loop, n.over || n.n_messages);
	CHECK_TEXT(n.log, "opened text:hi ");
}

TEST(the_client_may_go_first)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(net_open(&n, NULL));
	n.client = mp_http_client_free(n.client);
	idle(&n);
	CHECK_EQ(n.server.n_open, 0);
	CHECK_TEXT(n.log, "opened ");
	mp_ws_close(n.ws); /* has no peer, and does not crash */
	mp_loop_advance(n.loop, 5000);
	CHECK_TEXT(n.log, "opened over ");
}

/*
 * curl checks idle connections whenever it opens a new one, at most once a second; an open
 * WebSocket is not idle.
 */
HEAVY_TEST(new_connections_leave_it_alone)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request r = {.url = NULL};
	struct mp_ws *first;
	double until = ws_seconds() + 1.1;

	CHECK(net_init(&n));
	CHECK(net_open(&n, NULL));
	first = n.ws;
	while (ws_seconds() < until)
		mp_loop_turn(n.loop, false);
	ws_say(&n.server, 0x81, "unread", 6);
	n.log[0] = '\0';
	CHECK(easy(&n, &r));
	WS_UNTIL(n.loop, is(&n, "open") && strstr(n.log, "unread"));
	mp_ws_free(first);
	CHECK(!n.over);
	CHECK_TEXT(n.log, "text:unread opened ");
}
