/* test_http_post.c - a POST whose answer comes elsewhere: taken, denied, broken off, left.
 * What comes back otherwise is in test_streamable*.c. */
#include "test.h"

#include "loopback_net.h"

#include "transport/destination.h"
#include "transport/http_post.h"
#include "rpc/outgoing.h"

#define DENIAL "HTTP/1.1 500 X\r\n"
#define LINE   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"

static const struct answer answers[] = {
	{"/202", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", KEEP},
	{"/200", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", KEEP},
	{"/half", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nok", RESET},
	{"/more", "HTTP/1.1 202 Accepted\r\n\r\n" LINE, ENDLESS},
	{"/500", DENIAL "Content-Length: 4\r\n\r\noops", KEEP},
	{"/500half", DENIAL "Content-Length: 50\r\n\r\noops", RESET},
	{"/500more", DENIAL "\r\n" LINE, ENDLESS},
	{"/307", "HTTP/1.1 307 X\r\nLocation: /202\r\nContent-Length: 0\r\n\r\n", KEEP},
	{"/cut", "", RESET},
	{"/silent", "", KEEP},
	{NULL, NULL, KEEP},
};

struct seen {
	struct net n;
	struct mp_destination to;
	struct mp_http_fields fields;
	enum mp_zone from;
	struct mp_http_post *p;
	int sent, done;
	enum mp_http_post_state stage; /* how far it had come */
	enum mp_http_end how;
	struct mcpool_error why;
	size_t said; /* bytes of the body that were kept */
	bool free_when_sent;
};

static int request(void *u, struct mp_http_post *p, bool goes_back, struct mp_http_request *ret)
{
	struct seen *s = u;
	int r = mp_http_fields_add(&s->fields, MP_STR("Content-Type"), MP_STR("application/json"));

	(void)p;
	if (goes_back)
		return MCPOOL_EINVAL;
	ret->from = s->from;
	if (r == 0)
		r = mp_destination_add_headers(&s->to, &s->fields);
	mp_destination_address(&s->to, &s->fields, ret);
	return r;
}

static void sent(void *u, struct mp_http_post *p)
{
	struct seen *s = u;

	s->sent++;
	if (s->free_when_sent)
		s->p = mp_http_post_free(p);
}

static void ended(void *u, struct mp_http_post *p, const struct mp_http_post_end *end)
{
	struct seen *s = u;

	s->done++;
	s->stage = end->stage;
	s->how = end->how;
	s->why = end->why;
	s->said = end->body.len;
	s->p = mp_http_post_free(p);
}

static const struct mp_http_post_hooks hooks = {
	.request = request, .sent = sent, .ended = ended, .is_one_way = true};

static void seen_done(struct seen *s)
{
	mp_http_post_free(s->p);
	mp_http_fields_done(&s->fields);
	mp_destination_done(&s->to);
	net_done(&s->n);
}

static bool seen_init(struct seen *s, const char *path)
{
	struct mp_outgoing o;

	*s = (struct seen){.from = MP_ZONE_LOOPBACK};
	mp_http_fields_init(&s->fields);
	REQUIRE(net_init(&s->n, answers));
	REQUIRE(net_aim(&s->n, path, &s->to));
	REQUIRE(mp_http_fields_add(&s->to.headers, MP_STR("X-Key"), MP_STR("k")) == 0);
	mp_outgoing_text(&o, MP_MESSAGE_REQUEST, MP_METHOD_PING, MP_STR("1"), MP_STR("{\"a\":1}"));
	REQUIRE(mp_http_post_new(s->n.loop, s->n.client, &o, &hooks, s, &s->p) == 0);
	return true;
}

static bool go(struct seen *s)
{
	REQUIRE(mp_http_post_try(s->p, NULL) == 0);
	REQUIRE(s->sent == 0 && s->done == 0); /* not from within */
	return true;
}

TEST(a_message_arrives)
{
	MP_CLEANUP(seen_done) struct seen s;

	CHECK(seen_init(&s, "/202"));
	CHECK(go(&s));
	CHECK(net_wait(&s.n, s.done));
	CHECK_EQ(s.sent, 1);
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.stage, MP_HTTP_POST_READING);
	CHECK_EQ(s.n.server.last_body, 7);
	CHECK(strstr(s.n.server.last, "POST /202 HTTP/1.1\r\n"));
	CHECK(strstr(s.n.server.last, "\r\nContent-Type: application/json\r\n"));
	CHECK(strstr(s.n.server.last, "\r\nX-Key: k\r\n"));
}

/* A yes is a yes and a no is a no, whatever follows it; nothing is read without end. */
HEAVY_TEST(endings_of_every_kind)
{
	static const struct {
		const char *path, *words;
		enum mp_http_post_state stage;
		size_t said;
	} rows[] = {
		{"/200", "", MP_HTTP_POST_READING, 0},
		{"/half", "", MP_HTTP_POST_READING, 0},
		{"/more", "", MP_HTTP_POST_READING, 0},
		{"/500", "", MP_HTTP_POST_DENIED, 4},
		{"/500half", "", MP_HTTP_POST_DENIED, 4},
		{"/500more", "", MP_HTTP_POST_DENIED, MP_REFUSAL_BODY},
		{"/307", "", MP_HTTP_POST_DENIED, 0},
		{"/cut", "without an answer", MP_HTTP_POST_GOING, 0},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(seen_done) struct seen s;

		CHECK(seen_init(&s, rows[i].path));
		CHECK(go(&s));
		CHECK(net_wait(&s.n, s.done));
		net_turn(&s.n);
		CHECK_EQ(s.done, 1);
		CHECK_EQ(s.stage, rows[i].stage);
		CHECK_EQ(s.said, rows[i].said);
		if (s.stage == MP_HTTP_POST_GOING)
			CHECK(strstr(s.why.message, rows[i].words));
		CHECK_EQ(s.n.server.n_requests, 1);
	}
}

TEST(nobody_listens)
{
	MP_CLEANUP(seen_done) struct seen s;

	CHECK(seen_init(&s, "/202"));
	server_stop(&s.n.server);
	CHECK(go(&s));
	CHECK(net_wait(&s.n, s.done));
	CHECK_EQ(s.sent, 0);
	CHECK_EQ(s.stage, MP_HTTP_POST_GOING);
	CHECK_EQ(s.how, MP_HTTP_CONNECT);
}

/* V33 */
TEST(the_address_of_a_server_leads_nowhere_private)
{
	MP_CLEANUP(seen_done) struct seen s;

	CHECK(seen_init(&s, "/202"));
	s.from = MP_ZONE_PUBLIC;
	CHECK_EQ(mp_http_post_try(s.p, NULL), MCPOOL_EPERM);
	net_turn(&s.n);
	CHECK_EQ(s.done, 0);
	CHECK_EQ(s.n.server.n_connections, 0);
}

TEST(leaving_is_possible_at_any_time)
{
	for (int i = 0; i < 4; i++) {
		MP_CLEANUP(seen_done) struct seen s;

		CHECK(seen_init(&s, i == 3 ? "/500" : "/silent"));
		s.free_when_sent = i == 2;
		if (i > 0)
			CHECK(go(&s));
		if (i == 2)
			CHECK(net_wait(&s.n, s.sent));
		else if (i == 3)
			CHECK(net_wait(&s.n, s.done));
		s.p = mp_http_post_free(s.p);
		net_turn(&s.n);
		CHECK_EQ(s.done, i == 3);
	}
}
