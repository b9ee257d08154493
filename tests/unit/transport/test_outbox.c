/* test_outbox.c - messages as POSTs: order where it matters, limits, requests taken back. */
#include "test.h"

#include "loopback_net.h"

#include "transport/destination.h"
#include "transport/outbox.h"
#include "outgoing.h"

static const struct answer answers[] = {
	{"/202", "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", KEEP},
	{"/silent", "", KEEP},
	{"/cut", "", RESET},
	{NULL, NULL, KEEP},
};

#define REQUEST(id) MP_STR("{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"ping\"}")
#define INITIALIZED MP_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}")
#define CANCELLED(n)                                                                      \
	MP_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{" \
	       "\"requestId\":" #n "}}")

struct desk {
	struct net n;
	struct mp_destination to;
	struct mp_outbox o;
	bool has_outbox;
	char log[400];
	int n_done;
	bool cut_when_sent, cut_when_done;
	int refuse; /* what request answers instead */
};

static int outbox_send(struct mp_outbox *o, struct mp_str text)
{
	struct outgoing_text x;
	int r;

	outgoing_text_init(&x, text);
	r = mp_outbox_send(o, &x.o);
	outgoing_text_done(&x);
	return r;
}

static void note(struct desk *d, const char *what, const char *id)
{
	size_t len = strlen(d->log);

	snprintf(d->log + len, sizeof(d->log) - len, "%s:%s ", what, id ? id : "-");
}

static int request(void *u, struct mp_http_post *p, struct mp_http_request *ret)
{
	struct desk *d = u;

	if (d->refuse)
		return d->refuse;
	note(d, "go", p->id);
	if (mp_destination_add_headers(&d->to, &p->headers) < 0)
		return MCPOOL_ENOMEM;
	mp_destination_address(&d->to, &p->headers, ret);
	return 0;
}

static void sent(void *u, struct mp_str id)
{
	struct desk *d = u;
	char text[40];

	snprintf(text, sizeof(text), "%.*s", MP_STR_ARGS(id));
	note(d, "sent", text);
	if (d->cut_when_sent)
		mp_outbox_cut(&d->o);
}

static void done(void *u, struct mp_http_post *p, const struct mp_http_post_end *end)
{
	struct desk *d = u;

	d->n_done++;
	note(d, end->stage == MP_HTTP_POST_READING ? "taken" : "broken", p->id);
	if (d->cut_when_done)
		mp_outbox_cut(&d->o);
}

static const struct mp_outbox_hooks hooks = {request, sent, done};

static void desk_done(struct desk *d)
{
	if (d->has_outbox)
		mp_outbox_cut(&d->o);
	mp_destination_done(&d->to);
	net_done(&d->n);
}

static bool desk_init(struct desk *d, const char *path)
{
	*d = (struct desk){.n_done = 0};
	REQUIRE(net_init(&d->n, answers));
	REQUIRE(net_aim(&d->n, path, &d->to));
	mp_outbox_init(&d->o, d->n.loop, d->n.client, &hooks, d);
	d->has_outbox = true;
	return true;
}

TEST(each_goes_its_own_way)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/202"));
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST("two")), 0);
	CHECK_TEXT(d.log, "go:1 go:\"two\" ");
	CHECK(d.o.unsent > 0);
	CHECK(net_wait(&d.n, d.n_done == 2));
	CHECK_EQ(d.n.server.n_requests, 2);
	CHECK_EQ(d.o.unsent, 0);
	CHECK_EQ(d.o.going.len, 0);
}

/* What is out may be at work: its server is told, while another one is still on its way. */
TEST(a_request_that_is_out_is_cancelled_in_words)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/silent"));
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK(net_wait(&d.n, strstr(d.log, "sent:1")));
	CHECK_EQ(outbox_send(&d.o, REQUEST(2)), 0);
	CHECK_EQ(outbox_send(&d.o, CANCELLED(1)), 0);
	CHECK_TEXT(d.log, "go:1 sent:1 go:2 go:- ");
	CHECK_EQ(d.o.going.len, 3);
}

/* The server that gets a request before it knows that we are ready refuses it. */
TEST(nothing_overtakes_initialized)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/202"));
	CHECK_EQ(outbox_send(&d.o, INITIALIZED), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(2)), 0);
	CHECK_TEXT(d.log, "go:- ");
	CHECK(net_wait(&d.n, d.n_done == 3));
	CHECK_EQ(strncmp(d.log, "go:- taken:- go:1 go:2 ", 23), 0);
	CHECK_EQ(d.o.unsent, 0);
}

/* Whatever becomes of it, the others are not held for ever. */
TEST(what_was_held_goes_when_the_first_is_lost)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/cut"));
	CHECK_EQ(outbox_send(&d.o, INITIALIZED), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK(net_wait(&d.n, d.n_done == 2));
	CHECK_TEXT(d.log, "go:- broken:- go:1 sent:1 broken:1 ");
}

TEST(a_held_one_that_cannot_go_is_told)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/202"));
	CHECK_EQ(outbox_send(&d.o, INITIALIZED), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(2)), 0);
	d.refuse = MCPOOL_ENOMEM;
	CHECK(net_wait(&d.n, d.n_done == 3));
	CHECK_TEXT(d.log, "go:- taken:- broken:1 broken:2 ");
	CHECK_EQ(outbox_send(&d.o, REQUEST(3)), MCPOOL_ENOMEM);
	CHECK_EQ(d.o.unsent, 0);
	CHECK_EQ(d.o.going.len, 0);
}

TEST(a_request_that_is_still_here_can_be_taken_back)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/202"));
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK_EQ(outbox_send(&d.o, CANCELLED(1)), 0);
	CHECK_EQ(outbox_send(&d.o, INITIALIZED), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(2)), 0);
	CHECK_EQ(outbox_send(&d.o, CANCELLED(2)), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(3)), 0);
	CHECK(net_wait(&d.n, d.n_done == 2));
	CHECK_TEXT(d.log, "go:1 go:- taken:- go:3 sent:3 taken:3 ");
	CHECK_EQ(d.n.server.n_requests, 2);
}

TEST(one_that_is_out_is_told_to_stop)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/silent"));
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK(net_wait(&d.n, strstr(d.log, "sent:1")));
	CHECK_EQ(outbox_send(&d.o, CANCELLED(1)), 0);
	CHECK(net_wait(&d.n, d.n.server.n_requests == 2));
}

/* The answer may be faster than the news that the request is out; it is told once. */
TEST(an_answer_says_that_it_was_sent)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/202"));
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	mp_outbox_note_sent(&d.o, MP_STR("2"));
	mp_outbox_note_sent(&d.o, MP_STR(""));
	CHECK_TEXT(d.log, "go:1 ");
	mp_outbox_note_sent(&d.o, MP_STR("1"));
	CHECK_TEXT(d.log, "go:1 sent:1 ");
	CHECK_EQ(d.o.unsent, 0);
	CHECK(net_wait(&d.n, d.n_done == 1));
	CHECK_TEXT(d.log, "go:1 sent:1 taken:1 ");
	/* But not of one that is held. */
	CHECK_EQ(outbox_send(&d.o, INITIALIZED), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(5)), 0);
	mp_outbox_note_sent(&d.o, MP_STR("5"));
	CHECK(!strstr(d.log, "sent:5"));
}

HEAVY_TEST(there_is_a_limit)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d, "/silent"));
	for (int i = 0; i < MP_OUTBOX_POSTS; i++)
		CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), MCPOOL_ELIMIT);
	mp_outbox_cut(&d.o);
	CHECK_EQ(d.o.unsent, 0);
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
}

HEAVY_TEST(bytes_are_limited_too)
{
	MP_CLEANUP(desk_done) struct desk d;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	CHECK(desk_init(&d, "/silent"));
	CHECK_EQ(mp_buf_addf(&text,
			     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{"
			     "\"x\":\"%020971520d\"}}",
			     1),
		 0);
	CHECK_EQ(outbox_send(&d.o, mp_buf_get(&text)), 0);
	CHECK_EQ(outbox_send(&d.o, mp_buf_get(&text)), MCPOOL_ELIMIT);
	CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
}

TEST(everything_can_be_cut_from_a_hook)
{
	for (int i = 0; i < 2; i++) {
		MP_CLEANUP(desk_done) struct desk d;

		CHECK(desk_init(&d, "/202"));
		d.cut_when_sent = i == 0;
		d.cut_when_done = i == 1;
		CHECK_EQ(outbox_send(&d.o, REQUEST(1)), 0);
		CHECK_EQ(outbox_send(&d.o, INITIALIZED), 0);
		CHECK_EQ(outbox_send(&d.o, REQUEST(3)), 0);
		CHECK(net_wait(&d.n, d.o.going.len == 0));
		net_turn(&d.n);
		CHECK_EQ(d.o.held.len, 0);
		CHECK_EQ(d.o.unsent, 0);
		CHECK(!strstr(d.log, "sent:3"));
	}
}
