/* test_listening.c - a modern server is asked to tell of changes, and asked again. */
#include "test.h"

#include <stdio.h>

#include "fake_server.h"

#include "pool/listening.h"

#define DISCOVERED(capabilities)                                                                \
	"{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":" \
	"{" capabilities "},\"ttlMs\":1000,\"cacheScope\":\"public\"}"

struct ear {
	struct fake f;
	struct mp_listening *l;
	int reopened, taken;
};

static void ear_done(struct ear *e)
{
	mp_listening_free(e->l);
	fake_done(&e->f);
}

static void reopened(void *u)
{
	((struct ear *)u)->reopened++;
}

static void heard(void *u, const struct mp_message *m)
{
	struct ear *e = u;

	e->taken += mp_listening_hear(e->l, m);
}

static bool ear_open(struct ear *e, const char *discovered)
{
	*e = (struct ear){.taken = 0};
	REQUIRE(fake_init(&e->f));
	e->f.heard = heard;
	e->f.heard_u = e;
	REQUIRE(fake_open(&e->f));
	REQUIRE(fake_answer(&e->f, fake_find(&e->f, "server/discover"), discovered));
	REQUIRE(mp_upstream_is_ready(e->f.up));
	e->l = mp_listening_new(e->f.up, e->f.loop, reopened, e);
	fake_settle(&e->f);
	return true;
}

static bool ear_init(struct ear *e)
{
	REQUIRE(ear_open(e, DISCOVERED("\"tools\":{\"listChanged\":true}")));
	REQUIRE(e->l && strcmp(mp_listening_get_state(e->l), "asking") == 0);
	return true;
}

static int asked(const struct ear *e)
{
	int n = 0;

	for (int i = 0; i < e->f.n; i++)
		n += strcmp(e->f.got[i].method, "subscriptions/listen") == 0;
	return n;
}

static bool acknowledge(struct ear *e)
{
	char text[300];
	int i = fake_find(&e->f, "subscriptions/listen");

	REQUIRE(i >= 0);
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
		 "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s},"
		 "\"notifications\":{\"toolsListChanged\":true}}}",
		 e->f.got[i].id);
	return fake_say(&e->f, text);
}

static bool is(const struct ear *e, const char *state)
{
	return test_same_text(mp_str_of(mp_listening_get_state(e->l)), mp_str_of(state), "state",
			      __FILE__, __LINE__);
}

/* How the server ends it: as schema and SDKs have it, as the cancellation page has it, or badly. */
enum ending { RESULT, CANCELLED, ERROR, ENDINGS };

static bool end(struct ear *e, enum ending how)
{
	char text[200];
	int i = fake_find(&e->f, "subscriptions/listen");

	REQUIRE(i >= 0);
	if (how == RESULT)
		return fake_answer(&e->f, i, "{\"resultType\":\"complete\"}");
	if (how == ERROR)
		return fake_error(&e->f, i, "{\"code\":-32603,\"message\":\"no\"}");
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		 "{\"requestId\":%s}}",
		 e->f.got[i].id);
	return fake_say(&e->f, text);
}

TEST(who_tells_by_itself_is_not_asked)
{
	for (int i = 0; i < 2; i++) {
		MP_CLEANUP(ear_done) struct ear e = {.taken = 0};

		if (i == 0) {
			CHECK(fake_init(&e.f));
			CHECK(fake_open_legacy(&e.f));
			e.l = mp_listening_new(e.f.up, e.f.loop, reopened, &e);
			fake_settle(&e.f);
		} else {
			CHECK(ear_open(&e, DISCOVERED("\"tools\":{},\"prompts\":{}")));
		}
		CHECK(!e.l);
		CHECK_EQ(asked(&e), 0);
	}
}

TEST(it_is_asked_for_what_it_offers)
{
	MP_CLEANUP(ear_done) struct ear e;
	const char *text;

	CHECK(ear_open(&e, DISCOVERED("\"tools\":{\"listChanged\":true},\"prompts\":{},"
				      "\"resources\":{\"listChanged\":true}")));
	CHECK_EQ(asked(&e), 1);
	text = e.f.got[fake_find(&e.f, "subscriptions/listen")].text;
	CHECK(strstr(text, "\"notifications\":{\"toolsListChanged\":true,"
			   "\"resourcesListChanged\":true}"));
	CHECK(strstr(text, "io.modelcontextprotocol/protocolVersion"));
}

/* Every cell of the table that can be reached from outside. */
TEST(cell_by_cell)
{
	MP_CLEANUP(ear_done) struct ear e;

	CHECK(ear_init(&e));
	CHECK(end(&e, ERROR)); /* asking, ended */
	CHECK(is(&e, "resting"));
	CHECK(acknowledge(&e)); /* resting, acknowledged: too late */
	CHECK(is(&e, "resting"));
	CHECK_EQ(e.taken, 0);
	fake_advance(&e.f, 1000); /* resting, due */
	CHECK(is(&e, "asking"));
	CHECK(acknowledge(&e)); /* asking, acknowledged */
	CHECK(is(&e, "hearing"));
	CHECK_EQ(e.taken, 1);
	CHECK(acknowledge(&e)); /* hearing, acknowledged: somebody else's */
	CHECK(is(&e, "hearing"));
	CHECK_EQ(e.taken, 1);
	CHECK(end(&e, RESULT)); /* hearing, ended */
	CHECK(is(&e, "resting"));
	fake_advance(&e.f, 2000);
	CHECK(is(&e, "asking"));
	CHECK(fake_error(&e.f, fake_find(&e.f, "subscriptions/listen"), FAKE_NO_METHOD));
	CHECK(is(&e, "spurned")); /* asking, refused */
	CHECK(acknowledge(&e));   /* spurned, acknowledged */
	CHECK(is(&e, "spurned"));
	fake_advance(&e.f, 1000000);
	CHECK_EQ(asked(&e), 3);
}

TEST(who_knows_no_such_thing_after_all_is_left_alone)
{
	MP_CLEANUP(ear_done) struct ear e;

	CHECK(ear_init(&e));
	CHECK(acknowledge(&e));
	CHECK(fake_error(&e.f, fake_find(&e.f, "subscriptions/listen"), FAKE_NO_METHOD));
	CHECK(is(&e, "spurned")); /* hearing, refused */
}

TEST(it_is_asked_again_ever_more_slowly)
{
	static const int64_t rests[] = {1000, 2000, 5000, 10000, 30000, 60000, 60000};
	MP_CLEANUP(ear_done) struct ear e;

	CHECK(ear_init(&e));
	for (size_t i = 0; i < MP_ARRAY_LEN(rests); i++) {
		CHECK(acknowledge(&e)); /* that alone forgives nothing */
		CHECK(end(&e, (enum ending)(i % ENDINGS)));
		fake_advance(&e.f, rests[i] - 1);
		CHECK_EQ(asked(&e), (int)i + 1);
		fake_advance(&e.f, 1);
		CHECK_EQ(asked(&e), (int)i + 2);
	}
}

TEST(a_stream_that_lasted_is_asked_for_soon)
{
	MP_CLEANUP(ear_done) struct ear e;

	CHECK(ear_init(&e));
	CHECK(end(&e, ERROR));
	fake_advance(&e.f, 1000);
	CHECK(acknowledge(&e));
	fake_advance(&e.f, 60000);
	CHECK(end(&e, RESULT));
	fake_advance(&e.f, 1000);
	CHECK_EQ(asked(&e), 3);
}

TEST(what_was_missed_is_told)
{
	MP_CLEANUP(ear_done) struct ear e;

	CHECK(ear_init(&e));
	CHECK(acknowledge(&e));
	CHECK_EQ(e.reopened, 0); /* the first one missed nothing */
	CHECK(end(&e, CANCELLED));
	fake_advance(&e.f, 1000);
	CHECK_EQ(e.reopened, 0);
	CHECK(acknowledge(&e));
	CHECK_EQ(e.reopened, 1);
}

/* What is to be heard may change in every state; the next stream is asked for before the last one
 * is left, so nothing is missed and no list fetched again. */
TEST(what_is_to_be_heard_may_change)
{
	static const struct mp_str uris[] = {{"f:/\"", 4}, {"g:/", 3}};
	MP_CLEANUP(ear_done) struct ear e;

	CHECK(ear_init(&e));
	mp_listening_set_uris(e.l, uris, 2); /* asking */
	fake_settle(&e.f);
	CHECK_EQ(asked(&e), 2);
	CHECK(strstr(e.f.got[fake_find(&e.f, "subscriptions/listen")].text,
		     "\"toolsListChanged\":true,\"resourceSubscriptions\":[\"f:/\\\"\",\"g:/\"]"));
	CHECK(fake_find(&e.f, "notifications/cancelled") > fake_find(&e.f, "subscriptions/listen"));
	CHECK(acknowledge(&e));
	mp_listening_set_uris(e.l, uris, 1); /* hearing */
	fake_settle(&e.f);
	CHECK_EQ(asked(&e), 3);
	CHECK(is(&e, "asking"));
	CHECK(acknowledge(&e));
	CHECK_EQ(e.reopened, 0);
	CHECK(end(&e, ERROR));
	mp_listening_set_uris(e.l, NULL, 0); /* resting: not sooner than it would have been */
	fake_settle(&e.f);
	CHECK_EQ(asked(&e), 3);
	fake_advance(&e.f, 1000);
	CHECK_EQ(asked(&e), 4);
	CHECK(fake_error(&e.f, fake_find(&e.f, "subscriptions/listen"), FAKE_NO_METHOD));
	mp_listening_set_uris(e.l, uris, 1); /* spurned */
	fake_advance(&e.f, 100000);
	CHECK_EQ(asked(&e), 4);
}

/* One that tells of single resources only is asked when somebody wants to hear of one. */
TEST(nothing_is_asked_where_nothing_is_wanted)
{
	static const struct mp_str uri = {"f:/", 3};
	MP_CLEANUP(ear_done) struct ear e;

	CHECK(ear_open(&e, DISCOVERED("\"resources\":{\"subscribe\":true}")));
	CHECK(e.l && asked(&e) == 0);
	mp_listening_set_uris(e.l, &uri, 1);
	fake_settle(&e.f);
	CHECK_EQ(asked(&e), 1);
	CHECK(acknowledge(&e));
	mp_listening_set_uris(e.l, NULL, 0);
	fake_advance(&e.f, 100000);
	CHECK_EQ(asked(&e), 1);
	CHECK(is(&e, "resting"));
	mp_listening_set_uris(e.l, &uri, 1);
	fake_settle(&e.f);
	CHECK_EQ(asked(&e), 2);
}

TEST(it_may_go_at_any_time)
{
	for (int i = 0; i < 4; i++) {
		MP_CLEANUP(ear_done) struct ear e;

		CHECK(ear_init(&e));
		if (i == 1)
			CHECK(acknowledge(&e));
		if (i == 2)
			CHECK(end(&e, RESULT));
		if (i == 3)
			fake_die(&e.f);
		e.l = mp_listening_free(e.l);
		if (i == 0)
			e.f.up = mp_upstream_free(e.f.up);
		fake_advance(&e.f, 100000);
		CHECK_EQ(asked(&e), 1);
		CHECK_EQ(fake_find(&e.f, "notifications/cancelled") >= 0, i == 1);
	}
}
