/* test_curl_multi.c - idle sockets between two exchanges: watched, without an open transfer. */
#include "test.h"

#include <signal.h>

#include "loopback_http.h"
#include "loopback_ws.h"
#include "net/http_client.h"

static const struct answer answers[] = {
	{"/plain", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", KEEP},
	{"/flood", "HTTP/1.1 200 OK\r\n\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
	 ENDLESS},
	{NULL, NULL, KEEP},
};

struct net {
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct server server;
	int n_done, n_ok;
	mp_id slow;
	bool is_slow;
};

static void done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct net *n = u;

	(void)err;
	n->n_done++;
	n->n_ok += how == MP_HTTP_OK;
}

static const struct mp_http_hooks hooks = {NULL, NULL, NULL, done};

static void net_done(struct net *n)
{
	mp_http_client_free(n->client);
	server_stop(&n->server);
	mp_loop_free(n->loop);
}

static bool net_init(struct net *n)
{
	*n = (struct net){.loop = NULL};
	signal(SIGPIPE, SIG_IGN);
	REQUIRE(mp_loop_new_by_hand(1700000000000, &n->loop) == 0);
	REQUIRE(server_start(&n->server, n->loop, answers));
	REQUIRE(mp_http_client_new(n->loop, &n->client) == 0);
	return true;
}

static bool post(struct net *n, const char *host)
{
	struct mp_http_request r = {.body = {"{}", 2}};
	int before = n->n_done;
	char url[80];

	snprintf(url, sizeof(url), "http://%s:%d/plain", host, n->server.port);
	r.url = url;
	REQUIRE(mp_http_start(n->client, &r, &hooks, n, NULL, NULL) == 0);
	WS_UNTIL(n->loop, n->n_done > before);
	REQUIRE(n->n_ok == before + 1);
	return true;
}

static bool comes_to_rest(struct net *n)
{
	int turns = 0;

	while (mp_loop_turn(n->loop, false) && turns < 1000)
		turns++;
	return turns < 1000;
}

/* The server's clock is a real one. */
static void pass_some_time(struct net *n)
{
	double until = ws_seconds() + 0.05;

	while (ws_seconds() < until)
		mp_loop_turn(n->loop, false);
}

/* An idle connection that the server closes wakes us once. */
TEST(what_nobody_waits_for_is_looked_at_once)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	for (int i = 0; i < 3; i++) {
		CHECK(post(&n, "127.0.0.1"));
		server_cut_all(&n.server);
		CHECK(comes_to_rest(&n));
	}
	CHECK_EQ(n.server.n_connections, 3);
}

/* Nor what comes without having been asked for. */
TEST(what_comes_unasked_is_looked_at_once)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(post(&n, "127.0.0.1"));
	CHECK_EQ(n.server.n_open, 1);
	conn_write(n.server.conns, "what?", 5);
	CHECK(comes_to_rest(&n));
	CHECK(post(&n, "127.0.0.1"));
	CHECK_EQ(n.server.n_connections, 2);
}

/* It takes so long that the exchange rests after each piece. */
static void work(void *u, struct mp_str bytes)
{
	struct net *n = u;

	(void)bytes;
	usleep(5000);
	n->is_slow = true;
}

/* A paused stream keeps its unread data; data without a transfer is handled later. */
HEAVY_TEST(what_rests_is_not_idle)
{
	static const struct mp_http_hooks resting = {NULL, NULL, work, done};
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request r = {.method = "GET"};
	struct conn *idle;
	char url[80];

	CHECK(net_init(&n));
	CHECK(post(&n, "127.0.0.1"));
	idle = n.server.conns;
	snprintf(url, sizeof(url), "http://localhost:%d/flood", n.server.port);
	r.url = url;
	CHECK_EQ(mp_http_start(n.client, &r, &resting, &n, &n.slow, NULL), 0);
	WS_UNTIL(n.loop, n.is_slow || n.n_done > 1);
	pass_some_time(&n);
	conn_write(idle, "what?", 5);
	pass_some_time(&n);
	CHECK_EQ(n.n_done, 1);
	mp_http_cancel(n.client, n.slow);
	pass_some_time(&n);
	CHECK(post(&n, "127.0.0.1"));
	CHECK_EQ(n.server.n_connections, 3);
}

TEST(a_sleep_of_the_machine_is_noticed)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	CHECK(post(&n, "127.0.0.1") && post(&n, "127.0.0.1"));
	CHECK_EQ(n.server.n_connections, 1);
	mp_loop_suspend(n.loop, 60000);
	CHECK(post(&n, "127.0.0.1") && post(&n, "127.0.0.1"));
	CHECK_EQ(n.server.n_connections, 2);
	WS_UNTIL(n.loop, n.server.n_open == 1); /* the other one is closed */
	CHECK_EQ(n.server.n_open, 1);
	mp_loop_shift_wall(n.loop, 60000); /* which is not a sleep */
	CHECK(post(&n, "127.0.0.1"));
	CHECK_EQ(n.server.n_connections, 2);
}

/* Looking up a name is done over sockets that curl closes without a word. */
HEAVY_TEST(sockets_of_curl_itself_come_and_go)
{
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	for (int i = 0; i < 20; i++) {
		CHECK(post(&n, "localhost"));
		server_cut_all(&n.server);
		CHECK(comes_to_rest(&n));
	}
	CHECK_EQ(n.server.n_connections, 20);
}
