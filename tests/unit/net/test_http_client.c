/* test_http_client.c - HTTP against a server on the same loop: answers, failures, limits, leaving.
 */
#include "test.h"

#include <curl/curl.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loopback_http.h"
#include "net/authorization.h"
#include "net/http_client.h"

#define OK_HEAD "HTTP/1.1 200 OK\r\nX-Seen: yes\r\n"

static const struct answer answers[] = {
	{"/plain", OK_HEAD "Content-Length: 5\r\n\r\nhello", KEEP},
	{"/bodyless", OK_HEAD "Content-Length: 5\r\n\r\n", KEEP},
	{"/chunked", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
	 KEEP},
	{"/slow", OK_HEAD "Content-Length: 3\r\n\r\nabc", BYTEWISE},
	{"/interim",
	 "HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" OK_HEAD "Content-Length: 2\r\n\r\nok", KEEP},
	{"/moved", "HTTP/1.1 307 Over There\r\nLocation: /plain\r\nContent-Length: 0\r\n\r\n",
	 KEEP},
	{"/short", OK_HEAD "Content-Length: 50\r\n\r\nhello", CLOSE},
	{"/cut", OK_HEAD "Content-Length: 50\r\n\r\nhello", RESET},
	{"/nothing", "", CLOSE},
	{"/reset", "", RESET},
	{"/second", OK_HEAD "Content-Length: 5\r\n\r\nhello", RESET_SECOND},
	{"/twice", OK_HEAD "Content-Length: 5\r\n\r\nhello", CLOSE_SECOND},
	{"/garbage", "220 mail.example ESMTP\r\n", KEEP},
	{"/endless", OK_HEAD "Y: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n",
	 ENDLESS},
	{"/longline", OK_HEAD "Y: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
	 ENDLESS},
	{"/stream", OK_HEAD "Content-Type: text/event-stream\r\n\r\ndata: 1\n\n", KEEP},
	{"/flood", OK_HEAD "\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
	 ENDLESS},
	{"/silent", "", KEEP},
	{NULL, NULL, KEEP},
};

struct net {
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct server server;
	struct mp_timer tick; /* turns do not wait for ever */
};

enum act { NOTHING, CANCEL, FREE, START, WORK };

struct seen {
	struct net *n;
	char log[200]; /* hooks in order, runs of data once */
	char body[200];
	size_t bytes;
	int status;
	enum mp_zone zone;
	bool marked; /* the header was there */
	bool done;
	enum mp_http_end how;
	struct mcpool_error err;
	mp_id id;
	enum act on_sent, on_head, on_data;
	struct seen *next; /* what START starts */
};

static void tick(void *u)
{
	struct net *n = u;

	mp_timer_start(&n->tick, 5);
}

static void net_done(struct net *n)
{
	mp_http_client_free(n->client);
	server_stop(&n->server);
	if (n->loop)
		mp_timer_stop(&n->tick);
	mp_loop_free(n->loop);
}

static bool net_init(struct net *n)
{
	*n = (struct net){.loop = NULL};
	unsetenv("http_proxy");
	signal(SIGPIPE, SIG_IGN); /* the server writes to a closed connection */
	REQUIRE(mp_loop_new(&n->loop) == 0);
	mp_timer_init(&n->tick, n->loop, tick, n);
	tick(n);
	REQUIRE(server_start(&n->server, n->loop, answers));
	REQUIRE(mp_http_client_new(n->loop, &n->client) == 0);
	return true;
}

static bool start(struct seen *s, const char *path, struct mp_http_request *r);

static void say(struct seen *s, const char *word)
{
	size_t len = strlen(s->log), n = strlen(word);

	if (len >= n && strcmp(s->log + len - n, word) == 0)
		return;
	snprintf(s->log + len, sizeof(s->log) - len, "%s", word);
}

static void obey(struct seen *s, enum act act)
{
	if (act == CANCEL)
		mp_http_cancel(s->n->client, s->id);
	else if (act == FREE)
		s->n->client = mp_http_client_free(s->n->client);
	else if (act == START && s->next)
		(void)start(s->next, "/plain", NULL);
	else if (act == WORK)
		usleep(400);
}

static void sent(void *u)
{
	struct seen *s = u;

	say(s, "sent ");
	obey(s, s->on_sent);
}

static void head(void *u, const struct mp_http_head *h)
{
	struct seen *s = u;

	say(s, "head ");
	s->status = h->status;
	s->zone = h->zone;
	s->marked = mp_str_eq(mp_http_head_find(h, MP_STR("x-seen")), MP_STR("yes"));
	obey(s, s->on_head);
}

static void data(void *u, struct mp_str bytes)
{
	struct seen *s = u;
	size_t len = strlen(s->body);

	say(s, "data ");
	s->bytes += bytes.len;
	snprintf(s->body + len, sizeof(s->body) - len, "%.*s", MP_STR_ARGS(bytes));
	obey(s, s->on_data);
}

static void done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct seen *s = u;

	say(s, "done ");
	s->done = true;
	s->how = how;
	if (err)
		s->err = *err;
	if ((how == MP_HTTP_OK) != !err)
		say(s, "WRONG ");
}

static const struct mp_http_hooks hooks = {sent, head, data, done};

/* path: of the server, or a whole address. */
static bool start(struct seen *s, const char *path, struct mp_http_request *r)
{
	struct mp_http_request plain = {.body = {"{}", 2}};
	char url[128];

	r = r ? r : &plain;
	if (path[0] == '/')
		snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", s->n->server.port, path);
	else
		snprintf(url, sizeof(url), "%s", path);
	r->url = url;
	REQUIRE(mp_http_start(s->n->client, r, &hooks, s, &s->id, NULL) == 0);
	return true;
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until it is done or has told so much, at most 20 s. */
static bool wait_for(struct seen *s, const char *log)
{
	double until = seconds() + 20;

	while (!s->done && !(log && strstr(s->log, log)) && seconds() < until)
		mp_loop_turn(s->n->loop, true);
	REQUIRE(log ? strstr(s->log, log) != NULL : s->done);
	return true;
}

static void turn_for(struct net *n, double how_long)
{
	double until = seconds() + how_long;

	while (seconds() < until)
		mp_loop_turn(n->loop, true);
}

static bool fetch(struct net *n, struct seen *s, const char *path, struct mp_http_request *r)
{
	s->n = n;
	REQUIRE(start(s, path, r));
	REQUIRE(s->log[0] == '\0'); /* nothing is told from within start */
	REQUIRE(wait_for(s, NULL));
	return true;
}

TEST(a_plain_answer)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_header h[] = {{MP_STR("Accept"), MP_STR("text/x")},
				     {MP_STR("X-Empty"), MP_STR("")}};
	struct mp_http_request r = {.body = {"{\"a\":1}", 7}, .headers = h, .n_headers = 2};
	struct seen s = {.done = false};

	CHECK(net_init(&n));
	CHECK(fetch(&n, &s, "/plain", &r));
	CHECK_TEXT(s.log, "sent head data done ");
	CHECK_EQ(s.how, MP_HTTP_OK);
	CHECK_EQ(s.status, 200);
	CHECK_EQ(s.zone, MP_ZONE_LOOPBACK);
	CHECK(s.marked);
	CHECK_TEXT(s.body, "hello");
	CHECK_EQ(n.server.last_body, 7);
	CHECK(strncmp(n.server.last, "POST /plain HTTP/1.1\r\n", 22) == 0);
	CHECK(strstr(n.server.last, "User-Agent: mcpool/" MCPOOL_VERSION "\r\n"));
	CHECK(strstr(n.server.last, "Accept: text/x\r\n"));
	CHECK(strstr(n.server.last, "X-Empty:\r\n"));
	CHECK(!strstr(n.server.last, "Expect") && !strstr(n.server.last, "Content-Type"));
}

HEAVY_TEST(answers_of_every_shape)
{
	static const struct {
		const char *path, *method, *log, *body;
		int status;
	} rows[] = {
		{"/chunked", NULL, "sent head data done ", "abcdefg", 200},
		{"/slow", NULL, "sent head data done ", "abc", 200},
		{"/interim", NULL, "sent head data done ", "ok", 200},
		{"/moved", NULL, "sent head done ", "", 307},
		{"/plain", "DELETE", "sent head data done ", "hello", 200},
		{"/bodyless", "HEAD", "sent head done ", "", 200},
		{"/plain", "GET", "sent head data done ", "hello", 200},
		{"/plain?q=1", "PUT", "sent head data done ", "hello", 200},
	};
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_http_request r = {.method = rows[i].method};
		struct seen s = {.done = false};

		CHECK(fetch(&n, &s, rows[i].path, rows[i].method ? &r : NULL));
		CHECK_TEXT(s.err.message, "");
		CHECK_TEXT(s.log, rows[i].log);
		CHECK_TEXT(s.body, rows[i].body);
		CHECK_EQ(s.status, rows[i].status);
		if (rows[i].method)
			CHECK(strncmp(n.server.last, rows[i].method, strlen(rows[i].method)) == 0);
	}
	CHECK_EQ(n.server.n_connections, 1);
}

HEAVY_TEST(failures_of_every_kind)
{
	static const struct {
		const char *path, *log, *words;
		enum mp_http_end how;
		int code;
	} rows[] = {
		{"/short", "sent head data done ", "in the middle", MP_HTTP_CLOSED, MCPOOL_ECLOSED},
		{"/cut", "sent head data done ", "in the middle", MP_HTTP_CLOSED, MCPOOL_ECLOSED},
		{"/nothing", "sent done ", "without an answer", MP_HTTP_CLOSED, MCPOOL_ECLOSED},
		{"/reset", "sent done ", "without an answer", MP_HTTP_CLOSED, MCPOOL_ECLOSED},
		{"/garbage", "sent done ", "no HTTP", MP_HTTP_PROTOCOL, MCPOOL_EPROTO},
		{"/endless", "sent done ", "too ", MP_HTTP_LIMIT, MCPOOL_ELIMIT},
		{"/longline", "sent done ", "too ", MP_HTTP_LIMIT, MCPOOL_ELIMIT},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(net_done) struct net n;
		struct seen s = {.done = false};

		CHECK(net_init(&n));
		CHECK(fetch(&n, &s, rows[i].path, NULL));
		CHECK_EQ(s.how, rows[i].how);
		CHECK_EQ(s.err.code, rows[i].code);
		if (!strstr(s.err.message, rows[i].words))
			CHECK_TEXT(s.err.message, rows[i].words);
		CHECK(strstr(s.err.message, "http://127.0.0.1:"));
		CHECK(!strstr(s.err.message, rows[i].path));
		CHECK_TEXT(s.log, rows[i].log);
	}
}

/* Curl would send it again on a new connection; the first may have been acted upon. */
HEAVY_TEST(nothing_is_sent_twice)
{
	static const char *const paths[] = {"/second", "/twice"};

	for (size_t i = 0; i < MP_ARRAY_LEN(paths); i++) {
		MP_CLEANUP(net_done) struct net n;
		struct seen a = {.done = false}, b = {.done = false}, c = {.done = false};
		struct mp_http_request get = {.method = "GET"};

		CHECK(net_init(&n));
		CHECK(fetch(&n, &a, paths[i], NULL));
		CHECK_EQ(a.how, MP_HTTP_OK);
		CHECK(fetch(&n, &b, paths[i], NULL));
		CHECK_TEXT(b.log, "sent done ");
		CHECK_EQ(b.how, MP_HTTP_CLOSED);
		CHECK_EQ(n.server.n_requests, 2);
		a = (struct seen){.done = false};
		CHECK(fetch(&n, &a, paths[i], NULL));
		CHECK(fetch(&n, &c, paths[i], &get)); /* a GET may be sent again */
		CHECK_EQ(c.how, MP_HTTP_OK);
		CHECK_EQ(n.server.n_requests, 5);
	}
}

/* A connection that the server closed between two requests is not a failure. */
HEAVY_TEST(a_stale_connection_is_replaced)
{
	MP_CLEANUP(net_done) struct net n;
	struct seen a = {.done = false}, b = {.done = false};

	CHECK(net_init(&n));
	CHECK(fetch(&n, &a, "/plain", NULL));
	server_cut_all(&n.server);
	turn_for(&n, 0.02);
	CHECK(fetch(&n, &b, "/plain", NULL));
	CHECK_EQ(b.how, MP_HTTP_OK);
	CHECK_EQ(n.server.n_connections, 2);
}

/* No name server is asked for a label of 64 letters. curl cannot use such a handle again. */
HEAVY_TEST(a_host_without_an_address_may_be_tried_again)
{
	static const char url[] = "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid/mcp";
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	for (int i = 0; i < 3; i++) {
		struct seen s = {.done = false}, plain = {.done = false};

		CHECK(fetch(&n, &s, url, NULL));
		CHECK_EQ(s.how, MP_HTTP_RESOLVE);
		CHECK(strstr(s.err.message, "no address is known for http://aaaa"));
		CHECK(fetch(&n, &plain, "/plain", NULL));
		CHECK_EQ(plain.how, MP_HTTP_OK);
	}
}

TEST(nobody_listens)
{
	MP_CLEANUP(net_done) struct net n;
	struct seen s = {.done = false};

	CHECK(net_init(&n));
	server_stop(&n.server);
	CHECK(fetch(&n, &s, "/plain?secret=1", NULL));
	CHECK_TEXT(s.log, "done ");
	CHECK_EQ(s.how, MP_HTTP_CONNECT);
	CHECK(strstr(s.err.message, "Connection refused"));
	CHECK(!strstr(s.err.message, "secret"));
}

HEAVY_TEST(each_limit_says_what_it_waited_for)
{
	static const struct {
		const char *path, *words;
		int64_t idle_ms, total_ms;
	} rows[] = {
		{"/silent", "no answer", 60, 0},
		{"/stream", "nothing more came", 60, 0},
		{"/silent", "no answer", 0, 60},
		{"/flood", "not complete", 0, 60},
	};
	MP_CLEANUP(net_done) struct net n;

	CHECK(net_init(&n));
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_http_request r = {.idle_ms = rows[i].idle_ms,
					    .total_ms = rows[i].total_ms};
		struct seen s = {.done = false};
		double began = seconds();

		CHECK(fetch(&n, &s, rows[i].path, &r));
		CHECK_EQ(s.how, MP_HTTP_TIMEOUT);
		CHECK_EQ(s.err.code, MCPOOL_ETIMEDOUT);
		CHECK(strstr(s.err.message, rows[i].words));
		CHECK(seconds() - began >= 0.055);
	}
}

/* Slow but alive: each byte renews the idle limit. */
HEAVY_TEST(a_slow_answer_is_no_idle_one)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request r = {.idle_ms = 3000};
	struct seen s = {.done = false};

	CHECK(net_init(&n));
	CHECK(fetch(&n, &s, "/slow", &r));
	CHECK_EQ(s.how, MP_HTTP_OK);
}

static void close_all(int (*all)[4])
{
	for (int i = 0; i < 4; i++)
		if ((*all)[i] >= 0)
			close((*all)[i]);
}

/* A listener whose line is full answers no SYN. */
static bool fill_a_line(int fds[4], int *ret_port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);

	for (int i = 0; i < 4; i++)
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	REQUIRE(bind(fds[0], (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fds[0], 0) == 0);
	REQUIRE(getsockname(fds[0], (struct sockaddr *)&a, &len) == 0);
	for (int i = 1; i < 4; i++)
		(void)connect(fds[i], (struct sockaddr *)&a, sizeof(a)); /* EINPROGRESS at best */
	*ret_port = ntohs(a.sin_port);
	return true;
}

HEAVY_TEST(a_connection_has_its_own_limit)
{
	MP_CLEANUP(net_done) struct net n;
	MP_CLEANUP(close_all) int fds[4] = {-1, -1, -1, -1};
	struct mp_http_request r = {.connect_ms = 80};
	struct seen s = {.done = false};

	CHECK(net_init(&n));
	server_stop(&n.server);
	CHECK(fill_a_line(fds, &n.server.port));
	CHECK(fetch(&n, &s, "/plain", &r));
	CHECK_TEXT(s.log, "done ");
	CHECK_EQ(s.how, MP_HTTP_TIMEOUT);
	CHECK(strstr(s.err.message, "no connection"));
}

HEAVY_TEST(a_large_body_is_told_when_it_is_out)
{
	enum { LARGE = 8 << 20 };
	MP_CLEANUP(net_done) struct net n;
	char *body = mp_alloc(LARGE);
	struct mp_http_request r = {.body = {body, LARGE}};
	struct seen s = {.done = false};
	bool ok;

	memset(body, 'x', LARGE);
	ok = net_init(&n) && fetch(&n, &s, "/plain", &r);
	mp_free(body);
	CHECK(ok);
	CHECK_TEXT(s.log, "sent head data done ");
	CHECK_EQ(n.server.last_body, LARGE);
}

/* A stream that stays open does not hold up POSTs to the same host. */
HEAVY_TEST(a_stream_and_calls_side_by_side)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request r = {.method = "GET"};
	struct seen stream = {.n = &n};

	CHECK(net_init(&n));
	CHECK(start(&stream, "/stream", &r));
	CHECK(wait_for(&stream, "data"));
	for (int i = 0; i < 50; i++) {
		struct seen s = {.done = false};

		CHECK(fetch(&n, &s, "/plain", NULL));
		CHECK_EQ(s.how, MP_HTTP_OK);
	}
	CHECK_EQ(n.server.n_connections, 2);
	CHECK(!stream.done);
	server_cut_all(&n.server);
	CHECK(wait_for(&stream, NULL));
	CHECK_EQ(stream.how, MP_HTTP_CLOSED);
}

/* After a sleep the peer may have closed any connection. */
HEAVY_TEST(what_is_from_before_a_sleep_is_not_used)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request get = {.method = "GET"};
	struct seen stream = {.n = &n}, early = {.n = &n};

	CHECK(net_init(&n));
	CHECK(start(&stream, "/flood", &get));
	CHECK(wait_for(&stream, "data"));
	for (int i = 0; i < 3; i++) {
		size_t before = stream.bytes;
		struct seen a = {.done = false}, b = {.done = false};

		mp_http_client_woke(n.client);
		CHECK(fetch(&n, &a, "/plain", NULL));
		CHECK(fetch(&n, &b, "/plain", NULL));
		CHECK(a.how == MP_HTTP_OK && b.how == MP_HTTP_OK);
		CHECK_EQ(n.server.n_connections, 2 + i); /* one for both */
		turn_for(&n, 0.02);
		CHECK(!stream.done && stream.bytes > before); /* and it goes on */
	}
	CHECK(start(&early, "/plain", NULL));
	mp_http_client_woke(n.client); /* before it has begun */
	CHECK(wait_for(&early, NULL));
	CHECK_EQ(n.server.n_connections, 5);
	CHECK_EQ(early.how, MP_HTTP_OK);
	turn_for(&n, 0.02);
	CHECK_EQ(n.server.n_open, 2); /* the stream's and the newest; the others are closed */
	mp_http_cancel(n.client, stream.id);
	turn_for(&n, 0.02);
	CHECK_EQ(n.server.n_open, 1);
}

HEAVY_TEST(cancelled_at_every_stage)
{
	MP_CLEANUP(net_done) struct net n;
	struct seen before = {.n = &n}, sent_s = {.n = &n, .on_sent = CANCEL},
		    head_s = {.n = &n, .on_head = CANCEL}, data_s = {.n = &n, .on_data = CANCEL},
		    silent = {.n = &n}, name = {.n = &n};
	struct mp_http_request r = {.url = "http://never.invalid/"};

	CHECK(net_init(&n));
	CHECK(start(&before, "/plain", NULL));
	mp_http_cancel(n.client, before.id);
	CHECK(start(&sent_s, "/plain", NULL));
	CHECK(start(&head_s, "/plain", NULL));
	CHECK(start(&data_s, "/flood", NULL));
	CHECK(start(&silent, "/silent", NULL));
	CHECK_EQ(mp_http_start(n.client, &r, &hooks, &name, &name.id, NULL), 0);
	mp_loop_turn(n.loop, false); /* at its end the name is looked up */
	mp_http_cancel(n.client, name.id);
	CHECK(wait_for(&silent, "sent"));
	mp_http_cancel(n.client, silent.id);
	mp_http_cancel(n.client, 4711);
	turn_for(&n, 0.1);
	CHECK_TEXT(before.log, "");
	CHECK_TEXT(sent_s.log, "sent ");
	CHECK_TEXT(head_s.log, "sent head ");
	CHECK_TEXT(data_s.log, "sent head data ");
	CHECK_TEXT(silent.log, "sent ");
	CHECK_TEXT(name.log, "");
}

HEAVY_TEST(the_client_goes_with_exchanges_under_way)
{
	for (int when = 0; when < 4; when++) {
		MP_CLEANUP(net_done) struct net n;
		struct seen a = {.n = &n}, b = {.n = &n,
						.on_sent = when == 1 ? FREE : NOTHING,
						.on_head = when == 2 ? FREE : NOTHING,
						.on_data = when == 3 ? FREE : NOTHING};

		CHECK(net_init(&n));
		CHECK(start(&a, "/silent", NULL));
		CHECK(start(&b, "/flood", NULL));
		if (when)
			CHECK(wait_for(&b, when == 1 ? "sent" : when == 2 ? "head" : "data"));
		else
			n.client = mp_http_client_free(n.client);
		turn_for(&n, 0.02);
		CHECK(!n.client);
		CHECK(!a.done && !b.done);
		CHECK_EQ(n.server.n_open, 0);
	}
}

HEAVY_TEST(a_hook_starts_the_next_one)
{
	MP_CLEANUP(net_done) struct net n;
	struct seen b = {.n = &n}, a = {.n = &n, .on_data = START, .next = &b};

	CHECK(net_init(&n));
	CHECK(start(&a, "/plain", NULL));
	CHECK(wait_for(&b, NULL));
	CHECK(a.done);
	CHECK_TEXT(b.body, "hello");
}

/* What takes its receiver long is told in pieces, with turns for everybody else in between. */
HEAVY_TEST(whoever_pours_leaves_room_for_others)
{
	MP_CLEANUP(net_done) struct net n;
	struct seen s = {.n = &n, .on_data = WORK};

	CHECK(net_init(&n));
	CHECK(start(&s, "/flood", NULL));
	CHECK(wait_for(&s, "data"));
	for (int i = 0; i < 50; i++) {
		size_t before = s.bytes;

		mp_loop_turn(n.loop, true);
		CHECK(s.bytes - before <= 16384);
	}
	CHECK(s.bytes > 10 * 4096); /* and it goes on */
	mp_http_cancel(n.client, s.id);
}

/* V33 */
HEAVY_TEST(an_address_from_a_server_is_judged)
{
	static const char *const hosts[] = {"127.0.0.1",  "[::1]",     "0x7f.1",
					    "2130706433", "localhost", "[::ffff:127.0.0.1]"};
	MP_CLEANUP(net_done) struct net n;
	struct seen first = {.done = false};

	CHECK(net_init(&n));
	CHECK(fetch(&n, &first, "/plain", NULL)); /* a connection is open: it must not help */
	for (size_t i = 0; i < MP_ARRAY_LEN(hosts); i++) {
		struct seen s = {.n = &n};
		struct mp_http_request r = {.from = MP_ZONE_PUBLIC};
		struct mcpool_error err;
		char url[80];

		snprintf(url, sizeof(url), "http://%s:%d/plain", hosts[i], n.server.port);
		r.url = url;
		if (mp_http_start(n.client, &r, &hooks, &s, &s.id, &err) < 0) {
			CHECK_EQ(err.code, MCPOOL_EPERM);
			continue;
		}
		CHECK(wait_for(&s, NULL));
		CHECK_EQ(s.how, MP_HTTP_ZONE);
		CHECK_EQ(s.err.code, MCPOOL_EPERM);
		CHECK(strstr(s.err.message, "this machine"));
	}
	CHECK_EQ(n.server.n_requests, 1);
	CHECK_EQ(n.server.n_connections, 1);
}

/* V33: a name that is in the pool of connections already. */
HEAVY_TEST(an_open_connection_is_judged_too)
{
	MP_CLEANUP(net_done) struct net n;
	struct mp_http_request r = {.from = MP_ZONE_ANY};
	char url[80];

	CHECK(net_init(&n));
	snprintf(url, sizeof(url), "http://localhost:%d/plain", n.server.port);
	r.url = url;
	for (int i = 0; i < 3; i++) {
		struct seen s = {.n = &n};

		r.from = i == 0 ? MP_ZONE_ANY : i == 1 ? MP_ZONE_PRIVATE : MP_ZONE_LOOPBACK;
		CHECK_EQ(mp_http_start(n.client, &r, &hooks, &s, &s.id, NULL), 0);
		CHECK(wait_for(&s, NULL));
		CHECK_EQ(s.how, i == 1 ? MP_HTTP_ZONE : MP_HTTP_OK);
	}
	CHECK_EQ(n.server.n_requests, 2);
}

/* V36 */
TEST(what_would_be_another_request_is_not_sent)
{
	MP_CLEANUP(net_done) struct net n;
	static const struct mp_http_header bad[] = {
		{MP_STR("A"), MP_STR("b\r\nC: d")}, {MP_STR("A"), MP_STR("b\nC: d")},
		{MP_STR("A"), MP_STR("b\0c")},      {MP_STR("A b"), MP_STR("c")},
		{MP_STR(""), MP_STR("c")},          {MP_STR("A:"), MP_STR("c")},
		{MP_STR("A\r\nB"), MP_STR("c")},
	};
	static const char *const urls[] = {
		"",        "ftp://127.0.0.1/", "file:///etc/hostname",
		"http://", "http://a b/",      "http://127.0.0.1/\r\nX: y"};
	struct mp_http_request r = {.url = "http://127.0.0.1/", .n_headers = 1};
	struct seen s = {.n = &n};

	CHECK(net_init(&n));
	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		r.headers = &bad[i];
		CHECK_EQ(mp_http_start(n.client, &r, &hooks, &s, NULL, NULL), MCPOOL_EINVAL);
	}
	r.n_headers = 0;
	for (size_t i = 0; i < MP_ARRAY_LEN(urls); i++) {
		r.url = urls[i];
		CHECK_EQ(mp_http_start(n.client, &r, &hooks, &s, NULL, NULL), MCPOOL_EINVAL);
	}
	r.url = "http://127.0.0.1/";
	r.method = "GET /x HTTP/1.1\r\nX:";
	CHECK_EQ(mp_http_start(n.client, &r, &hooks, &s, NULL, NULL), MCPOOL_EINVAL);
	CHECK_TEXT(s.log, "");
}

static size_t swallow(char *bytes, size_t one, size_t n, void *u)
{
	(void)bytes;
	(void)one;
	(void)u;
	return n;
}

static bool post_bare(struct net *n, CURLM *multi, CURL *easy)
{
	int running = 1, left;

	REQUIRE(curl_multi_add_handle(multi, easy) == CURLM_OK);
	while (running) {
		REQUIRE(curl_multi_perform(multi, &running) == CURLM_OK);
		mp_loop_turn(n->loop, false);
	}
	REQUIRE(curl_multi_info_read(multi, &left)->data.result == CURLE_OK);
	REQUIRE(curl_multi_remove_handle(multi, easy) == CURLM_OK);
	return true;
}

/* The same POST by curl alone, which never waits but asks again and again. */
static bool time_bare(struct net *n, int times, double *ret_seconds)
{
	CURLM *multi = curl_multi_init();
	CURL *easy = curl_easy_init();
	double began = seconds();
	char url[80];
	bool ok = multi && easy;

	snprintf(url, sizeof(url), "http://127.0.0.1:%d/plain", n->server.port);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, "{}");
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, swallow);
	for (int i = 0; i < times && ok; i++)
		ok = post_bare(n, multi, easy);
	*ret_seconds = seconds() - began;
	curl_easy_cleanup(easy);
	curl_multi_cleanup(multi);
	return ok;
}

static bool time_ours(struct net *n, int times, double *ret_seconds)
{
	double began = seconds();

	for (int i = 0; i < times; i++) {
		struct seen s = {.done = false};

		REQUIRE(fetch(n, &s, "/plain", NULL));
		REQUIRE(s.how == MP_HTTP_OK);
	}
	*ret_seconds = seconds() - began;
	return true;
}

/*
 * Whatever made each call wait for a tick of a clock would show here. A wrong delay of curl's own
 * timer would not: what is ready is handed to curl at once, and does not wait for it.
 */
HEAVY_TEST(serial_calls_wait_for_no_clock)
{
	enum { ROUNDS = 5, N = 200 };
	MP_CLEANUP(net_done) struct net n;
	double bare = 1e9, ours = 1e9;

	CHECK(net_init(&n));
	for (int i = 0; i < ROUNDS; i++) {
		double one = 0;

		CHECK(time_bare(&n, N, &one));
		bare = one < bare ? one : bare;
		CHECK(time_ours(&n, N, &one));
		ours = one < ours ? one : ours;
	}
	CHECK_EQ(n.server.n_connections, ROUNDS + 1);
	printf("             %.0f us each, curl alone %.0f\n", ours / N * 1e6, bare / N * 1e6);
	CHECK(ours < 5 * bare);
}

/* --- tokens --------------------------------------------------------------------------------- */

/* Gives "Bearer N", and another one as often as it may. */
struct giver {
	struct mp_authorization base;
	struct mp_loop *loop;
	unsigned number;
	unsigned asked, left; /* how often */
	enum { GIVES, REFUSES, WAITS, FAILS } does;
	struct mp_authorization_waiter *waiter;
	struct mp_task task;
	char challenge[80];
};

static struct giver *giver_of(struct mp_authorization *base)
{
	return mp_container_of(base, struct giver, base);
}

static bool giver_is_used(const struct mp_authorization *base)
{
	(void)base;
	return true;
}

static int giver_add(struct mp_authorization *base, const char *method, const char *url,
		     struct mp_http_fields *fields, unsigned *ret_token)
{
	char text[40];

	(void)url;
	snprintf(text, sizeof(text), "Bearer %u", giver_of(base)->number);
	*ret_token = giver_of(base)->number;
	return strcmp(method, "POST") == 0
		       ? mp_http_fields_add(fields, MP_STR("Authorization"), mp_str_of(text))
		       : MCPOOL_EINVAL;
}

static void giver_decide(void *u)
{
	struct giver *g = u;
	struct mp_authorization_waiter *w = g->waiter;
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_EIO, "no token at the moment");
	g->waiter = NULL;
	w->decided(w->u, g->does == GIVES, g->does == FAILS ? &why : NULL);
}

static bool giver_refused(struct mp_authorization *base, const struct mp_authorization_refusal *no,
			  struct mp_authorization_waiter *waiter)
{
	struct giver *g = giver_of(base);

	snprintf(g->challenge, sizeof(g->challenge), "%d %u %u %.*s", no->status, no->token,
		 no->before, MP_STR_ARGS(no->challenge));
	g->asked++;
	g->number++;
	if (g->does == REFUSES)
		return false;
	g->waiter = waiter;
	if (g->does != WAITS)
		mp_loop_post(g->loop, &g->task);
	return true;
}

static void giver_leave(struct mp_authorization *base, struct mp_authorization_waiter *waiter)
{
	(void)waiter;
	giver_of(base)->left++;
}

static const struct mp_authorization_ops giver_ops = {giver_is_used, giver_add, giver_refused,
						      giver_leave};

/* The server wants the token with this number (u). */
static void want_token(struct server *s, struct conn *c, const char *request_head, const char *body)
{
	static const char yes[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	static const char no[] = "HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer scope=\"a\"\r\n"
				 "Content-Length: 4\r\n\r\nnone";
	bool is_right = strstr(request_head, s->u) && strcmp(body, "{\"a\":1}") == 0;

	conn_write(c, is_right ? yes : no, is_right ? sizeof(yes) - 1 : sizeof(no) - 1);
}

static bool giver_fetch(struct net *n, struct seen *s, struct giver *g, const char *wanted)
{
	struct mp_http_request r = {.body = {"{\"a\":1}", 7}, .authorization = &g->base};

	REQUIRE(net_init(n));
	g->base.ops = &giver_ops;
	g->loop = n->loop;
	mp_task_init(&g->task, giver_decide, g);
	n->server.on_request = want_token;
	n->server.u = (void *)(uintptr_t)wanted;
	s->n = n;
	REQUIRE(start(s, "/", &r));
	return true;
}

HEAVY_TEST(a_refused_request_goes_again_with_another_token)
{
	MP_CLEANUP(net_done) struct net n;
	struct giver g = {.number = 1, .does = GIVES};
	struct seen s = {.done = false};

	CHECK(giver_fetch(&n, &s, &g, "Bearer 2"));
	CHECK(wait_for(&s, NULL));
	CHECK_TEXT(s.log, "sent head data done "); /* its owner hears of the second alone */
	CHECK_EQ(s.status, 200);
	CHECK_TEXT(s.body, "ok");
	CHECK_TEXT(g.challenge, "401 1 0 Bearer scope=\"a\"");
	CHECK(g.asked == 1 && g.left == 0 && n.server.n_requests == 2);
}

HEAVY_TEST(a_refusal_that_stands_is_passed_on)
{
	MP_CLEANUP(net_done) struct net n;
	struct giver g = {.number = 1, .does = REFUSES};
	struct seen s = {.done = false};

	CHECK(giver_fetch(&n, &s, &g, "Bearer 2"));
	CHECK(wait_for(&s, NULL));
	CHECK_TEXT(s.log, "sent head data done ");
	CHECK_EQ(s.status, 401);
	CHECK_EQ(s.zone, MP_ZONE_LOOPBACK);
	CHECK_TEXT(s.body, "none");
	CHECK_EQ(n.server.n_requests, 1);
}

HEAVY_TEST(a_request_goes_again_three_times)
{
	MP_CLEANUP(net_done) struct net n;
	struct giver g = {.number = 1, .does = GIVES};
	struct seen s = {.done = false};

	CHECK(giver_fetch(&n, &s, &g, "Bearer 9"));
	CHECK(wait_for(&s, NULL));
	CHECK_EQ(s.status, 401);
	CHECK_EQ(n.server.n_requests, 4);
	CHECK_TEXT(g.challenge, "401 3 2 Bearer scope=\"a\"");
}

HEAVY_TEST(a_token_that_cannot_be_had_is_a_failure)
{
	MP_CLEANUP(net_done) struct net n;
	struct giver g = {.number = 1, .does = FAILS};
	struct seen s = {.done = false};

	CHECK(giver_fetch(&n, &s, &g, "Bearer 2"));
	CHECK(wait_for(&s, NULL));
	CHECK_TEXT(s.log, "sent done ");
	CHECK_EQ(s.how, MP_HTTP_CONNECT);
	CHECK_TEXT(s.err.message, "no token at the moment");
}

HEAVY_TEST(one_that_waits_for_a_token_can_go)
{
	for (int frees = 0; frees < 2; frees++) {
		MP_CLEANUP(net_done) struct net n;
		struct giver g = {.number = 1, .does = WAITS};
		struct seen s = {.done = false};

		CHECK(giver_fetch(&n, &s, &g, "Bearer 2"));
		for (int i = 0; i < 500 && !g.waiter; i++)
			mp_loop_turn(n.loop, true);
		CHECK(g.waiter && !s.done);
		if (frees)
			n.client = mp_http_client_free(n.client);
		else
			mp_http_cancel(n.client, s.id);
		CHECK_EQ(g.left, 1);
		turn_for(&n, 0.05);
		CHECK_TEXT(s.log, "sent ");
	}
}
