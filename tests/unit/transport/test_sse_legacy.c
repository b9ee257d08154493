/* test_sse_legacy.c - HTTP+SSE: the stream, the place it names, and every ending of a message. */
#include "test.h"

#include "loopback_net.h"

#include "base/limits.h"
#include "transport/sse_legacy.h"
#include "outgoing.h"

/* --- a server ------------------------------------------------------------------------------- */

#define STREAM         "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define PLACE(to)      STREAM "event: endpoint\r\ndata: " to "\r\n\r\n"
#define STATUS(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"
#define MOVED(to)      "HTTP/1.1 307 X\r\nLocation: " to "\r\nContent-Length: 0\r\n\r\n"

static const struct answer answers[] = {
	{"/sse", PLACE("/202?s=1"), KEEP},
	{"/slowly", PLACE("/202?s=1"), BYTEWISE},
	{"/relative/sse", PLACE("202"), KEEP},
	{"/relative/202", STATUS("202 Accepted"), KEEP},
	{"/blanks", PLACE("  /202\t"), KEEP},
	{"/fragment", PLACE("/202#x"), KEEP},
	{"/other-host", PLACE("http://secret:pw@other.example:81/hidden?key=1"), KEEP},
	{"/other-place", PLACE("http://other.example:81/hidden?key=1"), KEEP},
	{"/other-scheme", PLACE("ftp://127.0.0.1/x"), KEEP},
	{"/other-port", PLACE("//127.0.0.1:1/x"), KEEP},
	{"/empty", STREAM "event: endpoint\ndata:\n\n", KEEP},
	{"/first",
	 STREAM ": hello\n\nevent: x\ndata: y\n\ndata: {}\n\nevent: endpoint\ndata: "
		"/202\n\n",
	 KEEP},
	{"/nameless", STREAM "data: {}\n\n", KEEP},
	{"/short", STREAM "event: endpoint\ndata: /2", CLOSE},
	{"/ends", PLACE("/202"), CLOSE},
	{"/cut", PLACE("/202"), RESET},
	{"/quiet", "", KEEP},
	{"/json",
	 "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", KEEP},
	{"/typeless", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", KEEP},
	{"/odd-type",
	 "HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream ; charset=utf-8\r\n\r\n"
	 "event: endpoint\ndata: /202\n\n",
	 KEEP},
	{"/401",
	 "HTTP/1.1 401 X\r\nWWW-Authenticate: Bearer realm=\"a\"\r\nContent-Length: 4\r\n\r\nwho?",
	 KEEP},
	{"/403", STATUS("403 X"), KEEP},
	{"/404", STATUS("404 X"), KEEP},
	{"/405", STATUS("405 X"), KEEP},
	{"/410", STATUS("410 X"), KEEP},
	{"/400", STATUS("400 X"), KEEP},
	{"/429", "HTTP/1.1 429 X\r\nRetry-After: 3\r\nContent-Length: 0\r\n\r\n", KEEP},
	{"/500", STATUS("500 X"), KEEP},
	{"/503", STATUS("503 X"), KEEP},
	{"/503half", "HTTP/1.1 503 X\r\nContent-Length: 9\r\n\r\nlat", RESET},
	{"/500endless", "HTTP/1.1 500 X\r\n\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n",
	 ENDLESS},
	{"/303", "HTTP/1.1 303 X\r\nLocation: /sse\r\nContent-Length: 0\r\n\r\n", KEEP},
	{"/moved", MOVED("/moved2"), KEEP},
	{"/moved2", "HTTP/1.1 301 X\r\nLocation: sse\r\nContent-Length: 0\r\n\r\n", KEEP},
	{"/round", MOVED("/round"), KEEP},
	{"/away", MOVED("http://other.example/secret?key=1"), KEEP},
	{"/nowhere", STATUS("302 X"), KEEP},
	{"/202", STATUS("202 Accepted"), KEEP},
	{"/200", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{\"a\":", KEEP},
	{"/reset", "", RESET},
	{"/silent", "", KEEP},
	{"/to/200", PLACE("/200"), KEEP},
	{"/to/401", PLACE("/401"), KEEP},
	{"/to/403", PLACE("/403"), KEEP},
	{"/to/404", PLACE("/404"), KEEP},
	{"/to/410", PLACE("/410"), KEEP},
	{"/to/405", PLACE("/405"), KEEP},
	{"/to/400", PLACE("/400"), KEEP},
	{"/to/429", PLACE("/429"), KEEP},
	{"/to/503", PLACE("/503"), KEEP},
	{"/to/500", PLACE("/500"), KEEP},
	{"/to/moved", PLACE("/moved"), KEEP},
	{"/to/reset", PLACE("/reset"), KEEP},
	{"/to/silent", PLACE("/silent"), KEEP},
	{NULL, NULL, KEEP},
};

enum on { OPENED = 1, SENT, MESSAGE, LOST, DOUBT, ENDED };

struct talk {
	struct net n;
	struct mp_destination to;
	struct mp_transport *t;
	char log[600]; /* what the hooks told, in order */
	struct mcpool_error why;
	struct mcpool_error loss;
	int oversize;
	enum on close_on, free_on;
};

static void tell(struct talk *k, enum on on, const char *what, struct mp_str text)
{
	size_t len = strlen(k->log);

	snprintf(k->log + len, sizeof(k->log) - len, "%s%.*s ", what, MP_STR_ARGS(text));
	if (k->close_on == on)
		k->t->impl->close(k->t);
	if (k->free_on == on)
		k->t = mp_transport_free(k->t);
}

static void opened(void *u)
{
	tell(u, OPENED, "opened", MP_STR(""));
}

static void message(void *u, struct mp_str text)
{
	tell(u, MESSAGE, "m:", text.len > 60 ? MP_STR("long") : text);
}

static void oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct talk *k = u;

	k->oversize += head.len > 1000 && tail.len > 100;
	tell(u, MESSAGE, "oversize", MP_STR(""));
}

static void sent(void *u, struct mp_str id)
{
	tell(u, SENT, "sent:", id);
}

static void lost(void *u, struct mp_str id, enum mp_unanswered how, const struct mcpool_error *why)
{
	static const char *const words[] = {
		[MP_UNANSWERED_NOT_TAKEN] = "untaken:",
		[MP_UNANSWERED_UNKNOWN] = "unknown:",
		[MP_UNANSWERED_UNUSABLE] = "unusable:",
	};
	struct talk *k = u;

	k->loss = *why;
	tell(u, LOST, words[how], id);
}

static void doubt(void *u, const char *why)
{
	(void)why;
	tell(u, DOUBT, "doubt", MP_STR(""));
}

static void ended(void *u, const struct mcpool_error *why)
{
	struct talk *k = u;

	k->why = *why;
	tell(u, ENDED, "ended", MP_STR(""));
}

static void closed(void *u)
{
	tell(u, 0, "closed", MP_STR(""));
}

static const struct mp_transport_hooks hooks = {
	.opened = opened,
	.message = message,
	.oversize = oversize,
	.sent = sent,
	.lost = lost,
	.doubt = doubt,
	.ended = ended,
	.closed = closed,
};

static void talk_done(struct talk *k)
{
	mp_transport_free(k->t);
	mp_destination_done(&k->to);
	net_done(&k->n);
}

static bool talk_init(struct talk *k, const char *path)
{
	*k = (struct talk){.oversize = 0};
	REQUIRE(net_init(&k->n, answers));
	REQUIRE(net_aim(&k->n, path, &k->to));
	REQUIRE(mp_http_fields_add(&k->to.headers, MP_STR("X-Key"), MP_STR("hush")) == 0);
	REQUIRE(mp_sse_legacy_new(k->n.loop, k->n.client, &k->to, &k->t, NULL) == 0);
	k->t->hooks = &hooks;
	k->t->u = k;
	return true;
}

static bool start(struct talk *k)
{
	REQUIRE(k->t->impl->start(k->t, NULL) == 0);
	REQUIRE(k->log[0] == '\0'); /* nothing is told from within */
	return true;
}

static bool wait_for(struct talk *k, const char *log)
{
	REQUIRE(net_wait(&k->n, strstr(k->log, log)));
	return true;
}

static bool open_up(struct talk *k, const char *path)
{
	REQUIRE(talk_init(k, path));
	REQUIRE(start(k));
	return wait_for(k, "opened");
}

static struct conn *get_stream(struct talk *k)
{
	struct conn *c = k->n.server.conns; /* the oldest */

	while (c && c->next)
		c = c->next;
	return c;
}

/* On the stream, as an event. */
static void say(struct talk *k, const char *text)
{
	char event[300];

	snprintf(event, sizeof(event), "event: message\ndata: %s\n\n", text);
	conn_write(get_stream(k), event, strlen(event));
}

static int send_text(struct talk *k, const char *text)
{
	return outgoing_send(k->t, mp_str_of(text), NULL);
}

#define REQUEST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define ANSWER  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
#define NOTICE  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/roots/list_changed\"}"

/* --- the good way --------------------------------------------------------------------------- */

/* O27 E15 X13 */
TEST(a_conversation)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(talk_init(&k, "/sse"));
	CHECK_EQ(k.t->traits, MP_TRANSPORT_LEGACY);
	CHECK_EQ(send_text(&k, REQUEST), MCPOOL_EAGAIN);
	CHECK(start(&k));
	CHECK(wait_for(&k, "opened"));
	CHECK(strstr(k.n.server.last, "GET /sse HTTP/1.1\r\n"));
	CHECK(strstr(k.n.server.last, "\r\nAccept: text/event-stream\r\n"));
	CHECK(strstr(k.n.server.last, "\r\nX-Key: hush\r\n"));
	CHECK_EQ(send_text(&k, REQUEST), 0);
	CHECK_TEXT(k.log, "opened ");
	CHECK(wait_for(&k, "sent:1"));
	CHECK(net_wait(&k.n, k.n.server.n_requests == 2));
	CHECK(strstr(k.n.server.last, "POST /202?s=1 HTTP/1.1\r\n"));
	CHECK(strstr(k.n.server.last, "\r\nX-Key: hush\r\n"));
	CHECK_EQ(k.n.server.last_body, strlen(REQUEST));
	say(&k, ANSWER);
	CHECK(wait_for(&k, "m:"));
	CHECK_EQ(send_text(&k, NOTICE), 0);
	CHECK(net_wait(&k.n, k.n.server.n_requests == 3));
	CHECK(strstr(k.n.server.last, "POST /202?s=1 HTTP/1.1\r\n"));
	CHECK(strstr(k.n.server.last, "\r\nX-Key: hush\r\n"));
	k.t->impl->close(k.t);
	CHECK_EQ(send_text(&k, REQUEST), MCPOOL_ECLOSED);
	k.t->impl->close(k.t);
	CHECK(wait_for(&k, "closed"));
	CHECK_TEXT(k.log, "opened sent:1 m:" ANSWER " closed ");
	CHECK(net_wait(&k.n, k.n.server.n_open <= 1)); /* the stream is gone */
}

/*
 * mutant-S5: the stream and the POST have connections of their own. An answer may come before the
 * news that its request is out, and ends the call all the same: it is told as sent first.
 */
TEST(an_answer_may_be_faster_than_the_news_of_its_request)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(open_up(&k, "/to/silent"));
	CHECK_EQ(send_text(&k, REQUEST), 0);
	say(&k, ANSWER);
	CHECK(wait_for(&k, "m:"));
	CHECK(net_wait(&k.n, k.n.server.n_requests == 2));
	net_turn(&k.n);
	CHECK_TEXT(k.log, "opened sent:1 m:" ANSWER " ");
}

/* Events come in pieces, with others between; a second place changes nothing. */
TEST(what_a_stream_may_hold)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(open_up(&k, "/first"));
	CHECK_TEXT(k.log, "opened ");
	conn_write(get_stream(&k), "event: endpoint\ndata: /elsewhere\n\n", 34);
	conn_write(get_stream(&k), "event: ping\ndata: x\n\ndata: [1,\ndata: 2]\n\n: \n\n", 46);
	CHECK(wait_for(&k, "m:"));
	CHECK_TEXT(k.log, "opened m:[1,\n2] ");
	CHECK_EQ(send_text(&k, REQUEST), 0);
	CHECK(net_wait(&k.n, k.n.server.n_requests == 2));
	CHECK(strstr(k.n.server.last, "POST /202 "));
}

/* As fast as the other side takes it, which lives on the same loop. */
static void pour(struct talk *k, struct mp_str bytes)
{
	while (bytes.len && get_stream(k)) {
		uv_buf_t buf = uv_buf_init((char *)bytes.p, (unsigned)bytes.len);
		int n = uv_try_write((uv_stream_t *)&get_stream(k)->tcp, &buf, 1);

		if (n > 0) {
			bytes.p += n;
			bytes.len -= (size_t)n;
		}
		mp_loop_turn(k->n.loop, n <= 0);
	}
}

HEAVY_TEST(a_message_without_end)
{
	MP_CLEANUP(talk_done) struct talk k;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	CHECK(open_up(&k, "/sse"));
	CHECK_EQ(mp_buf_addf(&text, "data: {\"id\":1,\"x\":\"%033554432d\"}\n\n", 7), 0);
	pour(&k, mp_buf_get(&text));
	say(&k, ANSWER);
	CHECK(wait_for(&k, "m:"));
	CHECK_TEXT(k.log, "opened oversize m:" ANSWER " ");
	CHECK_EQ(k.oversize, 1);
}

/* --- where messages go ---------------------------------------------------------------------- */

/* V33 V37 O27 */
/* The place is the server's to name, but only at the server itself. */
HEAVY_TEST(places_of_every_kind)
{
	static const struct {
		const char *path, *post, *words;
	} rows[] = {
		{"/sse", "POST /202?s=1 ", NULL},
		{"/slowly", "POST /202?s=1 ", NULL},
		{"/relative/sse", "POST /relative/202 ", NULL},
		{"/blanks", "POST /202 ", NULL},
		{"/fragment", "POST /202 ", NULL},
		{"/odd-type", "POST /202 ", NULL},
		{"/moved", "POST /202?s=1 ", NULL},
		{"/other-place", NULL, "sends us on to http://other.example:81, another place"},
		{"/other-host", NULL, "credentials in its address"},
		{"/other-scheme", NULL, "not http"},
		{"/other-port", NULL, "sends us on to http://127.0.0.1:1, another place"},
		{"/empty", NULL, "invalid address"},
		{"/short", NULL, "without a place for messages"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(talk_done) struct talk k;

		CHECK(talk_init(&k, rows[i].path));
		CHECK(start(&k));
		CHECK(wait_for(&k, "ed ")); /* opened or ended */
		if (rows[i].post) {
			CHECK_EQ(send_text(&k, REQUEST), 0);
			CHECK(net_wait(&k.n, strncmp(k.n.server.last, "POST", 4) == 0));
			CHECK(strncmp(k.n.server.last, rows[i].post, strlen(rows[i].post)) == 0);
			continue;
		}
		CHECK_TEXT(k.log, "ended ");
		CHECK_EQ(k.why.code, MCPOOL_EPROTO);
		if (!strstr(k.why.message, rows[i].words))
			CHECK_TEXT(k.why.message, rows[i].words);
		CHECK(!strstr(k.why.message, "hidden") && !strstr(k.why.message, "key") &&
		      !strstr(k.why.message, "secret"));
		CHECK_EQ(k.n.server.n_requests, 1);
	}
}

/* --- no stream ------------------------------------------------------------------------------ */

/* V37 */
HEAVY_TEST(answers_that_are_no_stream)
{
	static const struct {
		const char *path, *words;
		int code, requests;
	} rows[] = {
		{"/json", "something else than a stream", MCPOOL_EPROTO, 1},
		{"/typeless", "something else than a stream", MCPOOL_EPROTO, 1},
		{"/401", "HTTP 401 (not logged in): who?", MCPOOL_ENEEDS_AUTH, 1},
		{"/403", "HTTP 403", MCPOOL_ENEEDS_AUTH, 1},
		{"/404", "HTTP 404", MCPOOL_ENOENT, 1},
		{"/405", "HTTP 405", MCPOOL_ENOENT, 1},
		{"/410", "HTTP 410", MCPOOL_ENOENT, 1},
		{"/400", "HTTP 400", MCPOOL_EPROTO, 1},
		{"/429", "HTTP 429", MCPOOL_EAGAIN, 1},
		{"/500", "HTTP 500", MCPOOL_EIO, 1},
		{"/503", "HTTP 503", MCPOOL_EAGAIN, 1},
		{"/503half", "HTTP 503 (unavailable): lat", MCPOOL_EAGAIN, 1},
		{"/500endless", "HTTP 500", MCPOOL_EIO, 1},
		{"/303", "HTTP 303", MCPOOL_EPROTO, 1},
		{"/round", "more than 5 redirects", MCPOOL_EPROTO, 6},
		{"/away", "sends us on to http://other.example, another", MCPOOL_EPROTO, 1},
		{"/nowhere", "invalid address", MCPOOL_EPROTO, 1},
		{"/reset", "without an answer", MCPOOL_ECLOSED, 2}, /* a GET may be sent again */
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(talk_done) struct talk k;

		CHECK(talk_init(&k, rows[i].path));
		CHECK(start(&k));
		CHECK(wait_for(&k, "ended"));
		net_turn(&k.n);
		CHECK_TEXT(k.log, "ended ");
		if (!strstr(k.why.message, rows[i].words))
			CHECK_TEXT(k.why.message, rows[i].words);
		CHECK(strstr(k.why.message, "http://127.0.0.1:"));
		CHECK(!strstr(k.why.message, "secret") && !strstr(k.why.message, "hush"));
		CHECK_EQ(k.why.code, rows[i].code);
		CHECK_EQ(k.why.retry_ms, strcmp(rows[i].path, "/429") == 0 ? 3000 : 0);
		CHECK(k.n.server.n_requests <= rows[i].requests);
		CHECK_EQ(k.t->impl->get_challenge(k.t).len,
			 strcmp(rows[i].path, "/401") == 0 ? 16 : 0);
		CHECK_EQ(send_text(&k, REQUEST), MCPOOL_ECLOSED);
	}
}

TEST(nobody_is_there)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(talk_init(&k, "/sse"));
	server_stop(&k.n.server);
	CHECK(start(&k));
	CHECK(wait_for(&k, "ended"));
	CHECK_EQ(k.why.code, MCPOOL_EIO);
}

/* "There is no such host" must not read as "there is no such stream". */
HEAVY_TEST(an_unknown_host)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(talk_init(&k, "/sse"));
	k.t = mp_transport_free(k.t);
	mp_destination_move(&k.to, "http://nobody.invalid/sse");
	CHECK_EQ(mp_sse_legacy_new(k.n.loop, k.n.client, &k.to, &k.t, NULL), 0);
	k.t->hooks = &hooks;
	k.t->u = &k;
	CHECK(start(&k));
	CHECK(wait_for(&k, "ended"));
	CHECK_EQ(k.why.code, MCPOOL_EIO);
}

TEST(headers_that_cannot_be_are_told_at_once)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(talk_init(&k, "/sse"));
	k.t = mp_transport_free(k.t);
	CHECK_EQ(mp_http_fields_add(&k.to.headers, MP_STR("X"), MP_STR("a\r\nb")), 0);
	CHECK_EQ(mp_sse_legacy_new(k.n.loop, k.n.client, &k.to, &k.t, NULL), 0);
	k.t->hooks = &hooks;
	k.t->u = &k;
	CHECK_EQ(k.t->impl->start(k.t, &k.why), MCPOOL_EINVAL);
	CHECK(strstr(k.why.message, "the header 'X' cannot be sent: its value has a line break"));
	net_turn(&k.n);
	CHECK_TEXT(k.log, "");
}

/* A stream that stands and says nothing is not what was asked for; that is found out in 5 s. */
HEAVY_TEST(a_stream_without_a_place_is_not_waited_for)
{
	MP_CLEANUP(talk_done) struct talk k = {.oversize = 0};

	signal(SIGPIPE, SIG_IGN);
	CHECK_EQ(mp_loop_new_by_hand(1700000000000, &k.n.loop), 0);
	mp_timer_init(&k.n.tick, k.n.loop, net_tick, &k.n);
	CHECK(server_start(&k.n.server, k.n.loop, answers));
	CHECK_EQ(mp_http_client_new(k.n.loop, &k.n.client), 0);
	CHECK(net_aim(&k.n, "/nameless", &k.to));
	CHECK_EQ(mp_sse_legacy_new(k.n.loop, k.n.client, &k.to, &k.t, NULL), 0);
	k.t->hooks = &hooks;
	k.t->u = &k;
	CHECK(start(&k));
	for (int i = 0; i < 4900; i++)
		mp_loop_advance(k.n.loop, 1);
	CHECK_TEXT(k.log, "");
	for (int i = 0; i < 1000 && !k.log[0]; i++)
		mp_loop_advance(k.n.loop, 1);
	CHECK_TEXT(k.log, "ended ");
	CHECK_EQ(k.why.code, MCPOOL_EPROTO);
	CHECK(strstr(k.why.message, "no place for messages within 5 s"));
}

/* The POST may go without a word of HTTP for as long as it likes: the answer comes on the stream.
 */
HEAVY_TEST(a_post_that_times_out_loses_nothing)
{
	MP_CLEANUP(talk_done) struct talk k = {.oversize = 0};

	signal(SIGPIPE, SIG_IGN);
	CHECK_EQ(mp_loop_new_by_hand(1700000000000, &k.n.loop), 0);
	mp_timer_init(&k.n.tick, k.n.loop, net_tick, &k.n);
	CHECK(server_start(&k.n.server, k.n.loop, answers));
	CHECK_EQ(mp_http_client_new(k.n.loop, &k.n.client), 0);
	CHECK(net_aim(&k.n, "/to/silent", &k.to));
	CHECK_EQ(mp_sse_legacy_new(k.n.loop, k.n.client, &k.to, &k.t, NULL), 0);
	k.t->hooks = &hooks;
	k.t->u = &k;
	CHECK(start(&k));
	for (int i = 0; i < 4000 && !strstr(k.log, "opened"); i++)
		mp_loop_advance(k.n.loop, 1);
	CHECK_EQ(send_text(&k, REQUEST), 0);
	for (int i = 0; i < 4000 && (!strstr(k.log, "sent:1") || k.n.server.n_requests < 2); i++)
		mp_loop_advance(k.n.loop, 1);
	for (int i = 0; i < 700; i++) /* 300 s, and those that count from the last byte */
		mp_loop_advance(k.n.loop, 1000);
	CHECK_TEXT(k.log, "opened sent:1 ");
	say(&k, ANSWER);
	for (int i = 0; i < 4000 && !strstr(k.log, "m:"); i++)
		mp_loop_advance(k.n.loop, 1);
	CHECK_TEXT(k.log, "opened sent:1 m:" ANSWER " ");
}

/* --- the end of the stream ------------------------------------------------------------------ */

TEST(the_end_of_the_stream_is_the_end)
{
	static const char *const paths[] = {"/ends", "/cut"};

	for (size_t i = 0; i < 2; i++) {
		MP_CLEANUP(talk_done) struct talk k;

		CHECK(open_up(&k, paths[i]));
		CHECK(wait_for(&k, "ended"));
		CHECK_EQ(k.why.code, MCPOOL_ECLOSED);
		CHECK_EQ(send_text(&k, REQUEST), MCPOOL_ECLOSED);
	}
}

/* --- endings of one message ----------------------------------------------------------------- */

/* Before the first answer, and once there was one. */
/* A53 */
HEAVY_TEST(endings_of_a_request)
{
	static const struct {
		const char *path;
		bool late;
		const char *log;
		int code; /* of the loss, or of the end */
	} rows[] = {
		{"/to/200", false, "sent:1 ", 0},
		{"/to/silent", false, "sent:1 ", 0},
		{"/to/reset", false, "sent:1 unknown:1 doubt ", MCPOOL_ECLOSED},
		{"/to/401", false, "sent:1 ended ", MCPOOL_ENEEDS_AUTH},
		{"/to/401", true, "sent:1 unusable:1 ", MCPOOL_ENEEDS_AUTH},
		{"/to/403", false, "sent:1 ended ", MCPOOL_ENEEDS_AUTH},
		{"/to/404", false, "sent:1 ended ", MCPOOL_ECLOSED},
		{"/to/404", true, "sent:1 untaken:1 ended ", MCPOOL_ECLOSED},
		{"/to/410", true, "sent:1 untaken:1 ended ", MCPOOL_ECLOSED},
		{"/to/405", true, "sent:1 unusable:1 ", MCPOOL_ENOENT},
		{"/to/400", true, "sent:1 unusable:1 ", MCPOOL_EPROTO},
		{"/to/429", false, "sent:1 untaken:1 ", MCPOOL_EAGAIN},
		{"/to/503", true, "sent:1 untaken:1 ", MCPOOL_EAGAIN},
		{"/to/500", true, "sent:1 unusable:1 ", MCPOOL_EIO},
		{"/to/moved", true, "sent:1 unusable:1 ", MCPOOL_EPROTO},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(talk_done) struct talk k;

		CHECK(open_up(&k, rows[i].path));
		if (rows[i].late) {
			say(&k, "{}");
			CHECK(wait_for(&k, "m:"));
		}
		k.log[0] = '\0';
		CHECK_EQ(send_text(&k, REQUEST), 0);
		CHECK(wait_for(&k, rows[i].log));
		net_turn(&k.n);
		CHECK_TEXT(k.log, rows[i].log);
		CHECK_EQ(strstr(k.log, "ended") ? k.why.code : k.loss.code, rows[i].code);
		CHECK_EQ(k.n.server.n_requests, 2); /* never twice, nor elsewhere */
		CHECK_EQ(k.t->impl->get_challenge(k.t).len,
			 strcmp(rows[i].path, "/to/401") == 0 ? 16 : 0);
	}
}

/* A failed notification is not reported, unless it shows that the server is gone. */
HEAVY_TEST(endings_of_a_notification)
{
	static const struct {
		const char *path, *log;
	} rows[] = {
		{"/to/reset", "doubt "},
		{"/to/500", ""},
		{"/to/429", ""},
		{"/to/404", "ended "},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(talk_done) struct talk k;

		CHECK(open_up(&k, rows[i].path));
		k.log[0] = '\0';
		CHECK_EQ(send_text(&k, NOTICE), 0);
		CHECK(net_wait(&k.n, k.n.server.n_requests == 2));
		CHECK(wait_for(&k, rows[i].log));
		net_turn(&k.n);
		CHECK_TEXT(k.log, rows[i].log);
	}
}

TEST(nobody_takes_the_message)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(open_up(&k, "/sse"));
	server_shut(&k.n.server);
	CHECK_EQ(send_text(&k, REQUEST), 0);
	CHECK(wait_for(&k, "doubt"));
	CHECK_TEXT(k.log, "opened untaken:1 doubt ");
	CHECK_EQ(k.loss.code, MCPOOL_EIO);
	server_cut_all(&k.n.server);
	CHECK(wait_for(&k, "ended"));
}

/* --- leaving -------------------------------------------------------------------------------- */

HEAVY_TEST(leaving_is_possible_in_every_state)
{
	static const char *const paths[] = {"/quiet", "/nameless", "/503half", "/sse", "/404"};

	for (size_t i = 0; i < 2 * MP_ARRAY_LEN(paths); i++) {
		MP_CLEANUP(talk_done) struct talk k;

		CHECK(talk_init(&k, paths[i / 2]));
		CHECK(start(&k));
		CHECK(net_wait(&k.n, k.n.server.n_requests == 1));
		net_turn(&k.n);
		k.log[0] = '\0';
		if (i % 2)
			k.t->impl->close(k.t);
		else
			k.t = mp_transport_free(k.t);
		net_turn(&k.n);
		CHECK_TEXT(k.log, i % 2 ? "closed " : "");
	}
}

TEST(one_that_was_not_started_can_be_closed)
{
	MP_CLEANUP(talk_done) struct talk k;

	CHECK(talk_init(&k, "/sse"));
	k.t->impl->close(k.t);
	CHECK(wait_for(&k, "closed"));
}

/* Only the closing is reported, and freed memory is not touched. */
HEAVY_TEST(leaving_is_possible_from_every_hook)
{
	static const struct {
		enum on on;
		const char *path, *log;
	} rows[] = {
		{OPENED, "/ends", "opened "},
		{SENT, "/to/500", "opened sent:1 "},
		{MESSAGE, "/sse", "opened m:{} "},
		{LOST, "/to/reset", "opened sent:1 unknown:1 "},
		{LOST, "/to/429", "opened sent:1 untaken:1 "},
		{DOUBT, "/to/reset", "opened sent:1 unknown:1 doubt "},
		{ENDED, "/to/404", "opened sent:1 ended "},
	};

	for (size_t i = 0; i < 2 * MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(talk_done) struct talk k;
		char want[100];

		CHECK(talk_init(&k, rows[i / 2].path));
		k.close_on = i % 2 ? rows[i / 2].on : 0;
		k.free_on = i % 2 ? 0 : rows[i / 2].on;
		CHECK(start(&k));
		CHECK(wait_for(&k, "opened"));
		if (rows[i / 2].on == MESSAGE)
			conn_write(get_stream(&k), "data: {}\n\ndata: {}\n\n", 20);
		else if (rows[i / 2].on != OPENED)
			CHECK_EQ(send_text(&k, REQUEST), 0);
		snprintf(want, sizeof(want), "%s%s", rows[i / 2].log, i % 2 ? "closed " : "");
		CHECK(wait_for(&k, want));
		net_turn(&k.n);
		CHECK_TEXT(k.log, want);
	}
}
