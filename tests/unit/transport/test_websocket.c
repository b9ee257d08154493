/* test_websocket.c - the transport over WebSockets, its table cell by cell. */
#include "test.h"

#include <signal.h>

#include "loopback_http.h"
#include "loopback_ws.h"
#include "bearer.h"
#include "transport/websocket.h"
#include "outgoing.h"

struct net {
	struct mp_loop *loop; /* its clock is moved by hand */
	struct mp_http_client *client;
	struct ws_server server;
	struct mp_transport *t;
	char log[300];
	uint64_t written;
	struct mcpool_error why;
	bool ended, closed;
	bool destroy;                           /* from the next hook */
	struct mp_authorization *authorization; /* NULL: none; set before make() */
};

static void say(struct net *n, const char *what, struct mp_str text)
{
	size_t len = strlen(n->log);

	snprintf(n->log + len, sizeof(n->log) - len, "%s%.*s ", what, MP_STR_ARGS(text));
	if (n->destroy)
		n->t = mp_transport_free(n->t);
}

static void opened(void *u)
{
	say(u, "opened", MP_STR(""));
}

static void message(void *u, struct mp_str text)
{
	say(u, "message:", text);
}

static void written(void *u, uint64_t total)
{
	struct net *n = u;

	n->written = total;
}

static void ended(void *u, const struct mcpool_error *why)
{
	struct net *n = u;

	n->ended = true;
	n->why = *why;
	say(u, "ended", MP_STR(""));
}

static void closed(void *u)
{
	struct net *n = u;

	n->closed = true;
	say(u, "closed", MP_STR(""));
}

static const struct mp_transport_hooks hooks = {
	.opened = opened,
	.message = message,
	.written = written,
	.ended = ended,
	.closed = closed,
};

static void net_done(struct net *n)
{
	mp_transport_free(n->t);
	mp_http_client_free(n->client);
	ws_server_stop(&n->server);
	mp_loop_free(n->loop);
}

static bool make(struct net *n)
{
	MP_CLEANUP(mp_destination_done) struct mp_destination d;
	char url[80];

	snprintf(url, sizeof(url), "ws://127.0.0.1:%d/mcp", n->server.port);
	REQUIRE(mp_destination_init(&d, url, NULL) == 0);
	d.authorization = n->authorization;
	REQUIRE(mp_http_fields_add(&d.headers, MP_STR("X-Token"), MP_STR("hush")) == 0);
	REQUIRE(mp_websocket_new(n->loop, n->client, &d, &n->t, NULL) == 0);
	n->t->hooks = &hooks;
	n->t->u = n;
	REQUIRE(n->t->traits == 0);
	return true;
}

static bool net_init(struct net *n)
{
	*n = (struct net){.loop = NULL};
	signal(SIGPIPE, SIG_IGN);
	REQUIRE(mp_loop_new_by_hand(1700000000000, &n->loop) == 0);
	REQUIRE(ws_server_start(&n->server, n->loop));
	REQUIRE(mp_http_client_new(n->loop, &n->client) == 0);
	return make(n);
}

static bool start(struct net *n)
{
	REQUIRE(n->t->impl->start(n->t, NULL) == 0);
	REQUIRE(n->log[0] == '\0');
	return true;
}

static bool net_open(struct net *n)
{
	REQUIRE(start(n));
	WS_UNTIL(n->loop, n->log[0]);
	REQUIRE(strcmp(n->log, "opened ") == 0);
	return true;
}

static void idle(struct net *n)
{
	double until = ws_seconds() + 0.02;

	for (int i = 0; i < 300 || ws_seconds() < until; i++)
		mp_loop_turn(n->loop, false);
}

static int send_text(struct net *n, const char *text, uint64_t *ret_at)
{
	return outgoing_send(n->t, mp_str_of(text), ret_at);
}

/* E13 X14 */
TEST(messages_go_both_ways)
{
	MP_CLEANUP(net_done) struct net n;
	uint64_t at;

	CHECK(net_init(&n));
	CHECK_EQ(send_text(&n, "early", NULL), MCPOOL_ECLOSED);
	CHECK(net_open(&n));
	CHECK(strncmp(n.server.request, "GET /mcp HTTP/1.1\r\n", 19) == 0);
	CHECK(strstr(n.server.request, "X-Token: hush\r\n"));
	CHECK(strstr(n.server.request, "Sec-WebSocket-Protocol: mcp\r\n"));
	CHECK(!n.t->impl->get_pid); /* there is no process */
	CHECK_EQ(send_text(&n, "{}", &at), 0);
	CHECK(n.written <= at);
	WS_UNTIL(n.loop, n.ended || n.server.heard[0]);
	CHECK_TEXT(n.server.heard, "text:{} ");
	CHECK(n.written > at);
	ws_say(&n.server, 0x81, "[]", 2);
	WS_UNTIL(n.loop, n.ended || strstr(n.log, "message"));
	CHECK_TEXT(n.log, "opened message:[] ");
	n.t->impl->close(n.t);
	CHECK_EQ(send_text(&n, "late", NULL), MCPOOL_ECLOSED);
	CHECK_TEXT(n.log, "opened message:[] "); /* nothing from within close */
	idle(&n);
	CHECK_TEXT(n.log, "opened message:[] closed ");
	CHECK_TEXT(n.server.heard, "text:{} close:1000 ");
}

/* B35 */
TEST(a_token_goes_with_the_upgrade)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_authorization bearer = {&bearer_ops};

	CHECK(net_init(&n));
	n.t = mp_transport_free(n.t);
	n.authorization = &bearer;
	CHECK(make(&n) && net_open(&n));
	CHECK(strstr(n.server.request, "Authorization: Bearer hush\r\n"));
}

/* --- the table, cell by cell ---------------------------------------------------------------- */

enum at { NEW, DIALING, OPEN, ENDED, CLOSING, CLOSED };
enum happens { ON_START, ON_OPENED, ON_OVER, ON_CLOSE };

static const struct {
	enum at at;
	enum happens happens;
	const char *log; /* all that was told in the end */
} cells[] = {
	{NEW, ON_START, ""},
	{NEW, ON_CLOSE, "closed "},
	{DIALING, ON_OPENED, "opened "},
	{DIALING, ON_OVER, "ended "},
	{DIALING, ON_CLOSE, "closed "},
	{OPEN, ON_OVER, "opened ended "},
	{OPEN, ON_CLOSE, "opened closed "},
	{ENDED, ON_CLOSE, "opened ended closed "},
	{CLOSING, ON_OVER, "opened closed "},
	{CLOSING, ON_CLOSE, "opened closed "},
	{CLOSED, ON_CLOSE, "opened closed "},
};

static bool go_to(struct net *n, enum at at)
{
	n->server.silent = n->server.rude = true;
	if (at == NEW)
		return true;
	REQUIRE(start(n));
	WS_UNTIL(n->loop, n->server.request[0]);
	if (at == DIALING)
		return true;
	ws_answer(n->server.conn);
	WS_UNTIL(n->loop, n->log[0]);
	if (at == ENDED)
		ws_conn_close(n->server.conn);
	if (at == CLOSING || at == CLOSED)
		n->t->impl->close(n->t);
	if (at == CLOSED)
		mp_loop_advance(n->loop, 1000);
	WS_UNTIL(n->loop,
		 at == OPEN || (at == CLOSING ? n->server.heard[0] != 0 : n->ended || n->closed));
	return true;
}

static bool visit(size_t i)
{
	MP_CLEANUP(net_done) struct net n;

	REQUIRE(net_init(&n));
	REQUIRE(go_to(&n, cells[i].at));
	if (cells[i].happens == ON_START)
		REQUIRE(start(&n));
	else if (cells[i].happens == ON_OPENED)
		ws_answer(n.server.conn);
	else if (cells[i].happens == ON_OVER)
		ws_conn_close(n.server.conn);
	else
		n.t->impl->close(n.t);
	idle(&n);
	if (cells[i].happens == ON_CLOSE)
		mp_loop_advance(n.loop, 1000); /* no goodbye comes back */
	REQUIRE(test_same_text(mp_str_of(n.log), mp_str_of(cells[i].log), "log", __FILE__,
			       __LINE__));
	return true;
}

HEAVY_TEST(every_cell_of_the_table)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(cells); i++) {
		bool ok = visit(i);

		if (!ok)
			printf("cell %zu\n", i);
		CHECK(ok);
	}
}

HEAVY_TEST(a_login_is_asked_for)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK_EQ(n.t->impl->get_challenge(n.t).len, 0);
	n.server.answer = "HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer scope=\"x\"\r\n\r\n";
	CHECK(start(&n));
	WS_UNTIL(n.loop, n.ended);
	CHECK_TEXT(n.log, "ended ");
	CHECK_EQ(n.why.code, MCPOOL_ENEEDS_AUTH);
	CHECK(!strstr(n.why.message, "hush") && !strstr(n.why.message, "/mcp"));
	CHECK_STR(n.t->impl->get_challenge(n.t), "Bearer scope=\"x\"");
}

/* A close frame that is not answered delays closing by one second at most. */
TEST(closing_takes_a_second_at_most)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	n.server.rude = true;
	CHECK(net_open(&n));
	n.t->impl->close(n.t);
	idle(&n);
	mp_loop_advance(n.loop, 999);
	CHECK(!n.closed);
	mp_loop_advance(n.loop, 1);
	CHECK(n.closed);
}

/* The first hook in which it happens: opened, message, ended. */
TEST(it_may_go_from_any_hook)
{
	static const char *const logs[] = {"opened ", "opened message:x ", "ended "};

	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(net_done) struct net n;

		CHECK(net_init(&n));
		if (i == 2)
			n.server.answer = "HTTP/1.1 500 No\r\n\r\n";
		if (i == 1)
			CHECK(net_open(&n));
		else
			CHECK(start(&n));
		n.destroy = true;
		if (i == 1)
			ws_say(&n.server, 0x81, "x\x81\x01y", 1);
		WS_UNTIL(n.loop, !n.t || n.ended);
		CHECK(!n.t);
		CHECK_TEXT(n.log, logs[i]);
	}
}
