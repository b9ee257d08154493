/* test_curl_socket.c - bytes over a connection that curl made. */
#include "test.h"

#include <signal.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loopback_http.h"
#include "loopback_ws.h"
#include "net/http_client.h"
#include "net/curl_socket.h"

static char large[300001]; /* written at once */

static const struct answer answers[] = {
	{"/echo", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", KEEP},
	{"/close", "bye", CLOSE},
	{"/cut", "bye", RESET},
	{"/large", large, KEEP},
	{NULL, NULL, KEEP},
};

enum act { NOTHING, FREE };

struct net {
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct server server;
	struct mp_curl_socket *socket;
	char log[200], body[200];
	uint64_t written;
	size_t bytes;
	bool ended;
	enum mp_http_end how;
	struct mcpool_error err;
	const char *request; /* sent as soon as there is a connection */
	enum act on_connected, on_data;
};

static void say(struct net *n, const char *word)
{
	size_t len = strlen(n->log), k = strlen(word);

	if (len >= k && strcmp(n->log + len - k, word) == 0)
		return;
	snprintf(n->log + len, sizeof(n->log) - len, "%s", word);
}

static bool put(struct net *n, const char *text)
{
	REQUIRE(mp_buf_add(mp_curl_socket_get_out(n->socket), text, strlen(text)) == 0);
	mp_curl_socket_push(n->socket);
	return true;
}

static void connected(void *u)
{
	struct net *n = u;

	say(n, "connected ");
	if (n->request && !put(n, n->request))
		n->ended = true; /* no memory: nothing will come */
	if (n->on_connected == FREE)
		n->socket = mp_curl_socket_free(n->socket);
}

static void data(void *u, struct mp_str bytes)
{
	struct net *n = u;
	size_t len = strlen(n->body);

	say(n, "data ");
	n->bytes += bytes.len;
	snprintf(n->body + len, sizeof(n->body) - len, "%.*s", MP_STR_ARGS(bytes));
	if (n->on_data == FREE)
		n->socket = mp_curl_socket_free(n->socket);
}

static void written(void *u, uint64_t total)
{
	struct net *n = u;

	say(n, "written ");
	n->written = total;
}

static void ended(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct net *n = u;

	say(n, "ended ");
	n->ended = true;
	n->how = how;
	n->err = *err;
}

static const struct mp_curl_socket_hooks hooks = {connected, data, written, ended};

static void net_done(struct net *n)
{
	mp_curl_socket_free(n->socket);
	mp_http_client_free(n->client);
	server_stop(&n->server);
	mp_loop_free(n->loop);
}

static bool net_init(struct net *n, const char *request)
{
	*n = (struct net){.request = request};
	signal(SIGPIPE, SIG_IGN);
	REQUIRE(mp_loop_new_by_hand(1700000000000, &n->loop) == 0);
	REQUIRE(server_start(&n->server, n->loop, answers));
	REQUIRE(mp_http_client_new(n->loop, &n->client) == 0);
	return true;
}

static bool easy(struct net *n, struct mp_http_request *r)
{
	struct mp_http_request plain = {.url = NULL};
	char url[80];

	r = r ? r : &plain;
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/hush", n->server.port);
	r->url = url;
	REQUIRE(mp_curl_socket_open(n->client, r, 1000, &hooks, n, &n->socket, NULL) == 0);
	REQUIRE(n->log[0] == '\0');
	return true;
}

TEST(bytes_go_both_ways)
{
	MP_CLEANUP(net_done) struct net n;
	const char *again = "GET /echo HTTP/1.1\r\n\r\n";

	CHECK(net_init(&n, "POST /echo HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"));
	CHECK(easy(&n, NULL));
	WS_UNTIL(n.loop, n.ended || strstr(n.body, "hello"));
	CHECK_TEXT(n.log, "connected written data ");
	CHECK_EQ(n.written, strlen(n.request));
	CHECK_EQ(mp_curl_socket_get_place(n.socket), n.written);
	CHECK(put(&n, again));
	CHECK_EQ(mp_curl_socket_get_place(n.socket), n.written + strlen(again));
	CHECK_EQ(mp_curl_socket_get_queued(n.socket), strlen(again));
	n.body[0] = '\0';
	WS_UNTIL(n.loop, n.ended || strstr(n.body, "hello"));
	CHECK_EQ(mp_curl_socket_get_place(n.socket), n.written);
	CHECK_EQ(mp_curl_socket_get_queued(n.socket), 0);
	CHECK_EQ(n.server.n_connections, 1);
}

TEST(the_end_is_told_behind_the_last_bytes)
{
	static const char *const requests[] = {"GET /close HTTP/1.1\r\n\r\n",
					       "GET /cut HTTP/1.1\r\n\r\n"};

	for (size_t i = 0; i < MP_ARRAY_LEN(requests); i++) {
		MP_CLEANUP(net_done) struct net n;
		int turns = 0;

		CHECK(net_init(&n, requests[i]));
		CHECK(easy(&n, NULL));
		WS_UNTIL(n.loop, n.ended);
		CHECK_TEXT(n.log, "connected written data ended ");
		CHECK_TEXT(n.body, "bye");
		CHECK_EQ(n.how, MP_HTTP_CLOSED);
		CHECK_EQ(n.err.code, MCPOOL_ECLOSED);
		CHECK(!strstr(n.err.message, "hush"));
		CHECK(put(&n, "more")); /* goes nowhere */
		while (mp_loop_turn(n.loop, false) && ++turns < 1000)
			;
		CHECK(turns < 1000); /* what is over is not looked at again and again */
	}
}

/* Others want to be heard, too. */
TEST(what_is_large_is_read_in_several_turns)
{
	MP_CLEANUP(net_done) struct net n;
	int turns = 0;

	memset(large, 'x', sizeof(large) - 1);
	CHECK(net_init(&n, "GET /large HTTP/1.1\r\n\r\n"));
	CHECK(easy(&n, NULL));
	WS_UNTIL(n.loop, n.ended || n.bytes);
	CHECK(n.bytes <= 18 * 4096); /* a portion when it came, and one when it had rested */
	while (n.bytes < sizeof(large) - 1 && !n.ended && ++turns < 100000) {
		size_t before = n.bytes;

		mp_loop_turn(n.loop, false);
		CHECK(n.bytes - before <= 18 * 4096);
	}
	CHECK_EQ(n.bytes, sizeof(large) - 1);
}

TEST(a_connection_has_a_limit)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request r = {.connect_ms = 3000};

	CHECK(net_init(&n, NULL));
	r.url = "http://never.invalid/";
	CHECK_EQ(mp_curl_socket_open(n.client, &r, 1000, &hooks, &n, &n.socket, NULL), 0);
	mp_loop_turn(n.loop, false);
	mp_loop_advance(n.loop, 3000);
	CHECK(n.ended);
	CHECK(n.how == MP_HTTP_TIMEOUT || n.how == MP_HTTP_RESOLVE);
}

TEST(gone_at_every_stage)
{
	for (int when = 0; when < 5; when++) {
		MP_CLEANUP(net_done) struct net n;

		CHECK(net_init(&n, "GET /echo HTTP/1.1\r\n\r\n"));
		n.on_connected = when == 2 ? FREE : NOTHING;
		n.on_data = when == 3 ? FREE : NOTHING;
		CHECK(easy(&n, NULL));
		if (when == 0)
			n.socket = mp_curl_socket_free(n.socket);
		mp_loop_turn(n.loop, false);
		if (when == 1)
			n.socket = mp_curl_socket_free(n.socket);
		WS_UNTIL(n.loop, !n.socket || n.ended || strstr(n.log, "data"));
		if (when == 4)
			n.client = mp_http_client_free(n.client);
		CHECK(!n.ended);
		WS_UNTIL(n.loop, n.server.n_open == 0);
		CHECK_EQ(n.server.n_open, 0);
	}
}
