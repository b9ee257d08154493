/* test_upstream_relist.c - annotations of tools, and calls that were refused for their headers. */
#include "test.h"

#include "fake_server.h"

#include "base/limits.h"
#include "base/mem.h"
#include "client/catalog.h"
#include "client/upstream.h"

#define TOOL(name, note)                                                               \
	"{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" \
	"\"a\":{\"type\":\"string\",\"x-mcp-header\":\"" note "\"}}}}"
#define TOOLS(list) "{\"resultType\":\"complete\",\"tools\":[" list "]}"
#define MISMATCH    "{\"code\":-32020,\"message\":\"the headers are wrong\"}"

struct shop {
	struct fake f;
	struct mp_catalog_list list;
	int done;
	int changed; /* list_changed */
};

static void shop_done(struct shop *s)
{
	fake_done(&s->f);
	mp_catalog_list_done(&s->list);
}

static void fetched(struct mp_catalog_list *l, const struct mcpool_error *error, void *u)
{
	struct shop *s = u;

	s->done++;
	s->done += 10 * (error || l->param_headers);
}

static void heard(void *u, const struct mp_message *m)
{
	struct shop *s = u;

	s->changed += m->method == MP_METHOD_TOOLS_CHANGED;
}

static bool shop_init(struct shop *s, bool is_modern, unsigned traits)
{
	*s = (struct shop){.done = 0};
	mp_catalog_list_init(&s->list, MP_CATALOG_TOOL);
	REQUIRE(fake_init(&s->f));
	s->f.traits = traits;
	s->f.heard = heard;
	s->f.heard_u = s;
	REQUIRE(is_modern ? fake_open_modern(&s->f) : fake_open_legacy(&s->f));
	return true;
}

static bool list(struct shop *s, const char *tools)
{
	REQUIRE(mp_catalog_fetch(s->f.up, &s->list, 1000, fetched, s, s->f.loop, NULL) == 0);
	fake_settle(&s->f);
	REQUIRE(fake_answer(&s->f, s->f.n - 1, tools));
	REQUIRE(s->done == 1);
	return true;
}

static size_t count_param_headers(const struct shop *s)
{
	return s->f.up->param_headers.tools.len;
}

/* S35 V36 */
/* Over HTTP, in the modern era, a tool with a bad annotation is left out; elsewhere it stays.
 */
TEST(whom_annotations_concern)
{
	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(shop_done) struct shop s;
		bool concerned = i == 0;

		CHECK(shop_init(&s, i != 1, i == 2 ? 0 : MP_TRANSPORT_PER_REQUEST));
		CHECK_EQ(mp_upstream_has_param_headers(s.f.up), concerned);
		CHECK(list(&s, TOOLS(TOOL("bad", "A B") "," TOOL("good", "A"))));
		CHECK_EQ(s.list.n, concerned ? 1 : 2);
		CHECK_EQ(s.list.n_problems, concerned ? 1 : 0);
		CHECK_EQ(count_param_headers(&s), concerned ? 1 : 0);
		if (!concerned)
			continue;
		CHECK_TEXT(s.list.problems[0], "'bad': an x-mcp-header is not a header name");
		CHECK(mp_catalog_find(&s.list, MP_STR("good")));
	}
}

/* A list that does not come to its end changes nothing; a new one replaces the old. */
TEST(the_last_whole_list_counts)
{
	MP_CLEANUP(shop_done) struct shop s;
	MP_CLEANUP(mp_catalog_list_done) struct mp_catalog_list l;

	mp_catalog_list_init(&l, MP_CATALOG_TOOL);
	CHECK(shop_init(&s, true, MP_TRANSPORT_PER_REQUEST));
	CHECK(list(&s, TOOLS(TOOL("t", "A") "," TOOL("u", "A"))));
	CHECK_EQ(count_param_headers(&s), 2);
	CHECK_EQ(mp_catalog_fetch(s.f.up, &l, 1000, fetched, &s, s.f.loop, NULL), 0);
	fake_settle(&s.f);
	CHECK(fake_answer(&s.f, s.f.n - 1,
			  "{\"resultType\":\"complete\",\"tools\":[],\"nextCursor\":\"2\"}"));
	CHECK(fake_error(&s.f, s.f.n - 1, FAKE_NO_METHOD));
	CHECK_EQ(s.done, 12);
	CHECK_EQ(count_param_headers(&s), 2);
	CHECK_EQ(mp_catalog_fetch(s.f.up, &l, 1000, fetched, &s, s.f.loop, NULL), 0);
	fake_settle(&s.f);
	CHECK(fake_answer(&s.f, s.f.n - 1, TOOLS("")));
	CHECK_EQ(count_param_headers(&s), 0);
}

static bool call(struct shop *s)
{
	REQUIRE(fake_call(&s->f, MP_METHOD_TOOLS_CALL,
			  "{\"name\":\"t\",\"arguments\":{\"a\":\"x\"}}", 5000, NULL));
	fake_settle(&s->f);
	return true;
}

TEST(a_call_refused_for_its_headers_is_repeated_with_a_new_list)
{
	MP_CLEANUP(shop_done) struct shop s;
	int first;

	CHECK(shop_init(&s, true, MP_TRANSPORT_PER_REQUEST));
	CHECK(list(&s, TOOLS("")));
	CHECK(call(&s));
	first = s.f.n - 1;
	CHECK(fake_error(&s.f, first, MISMATCH));
	CHECK_TEXT(s.f.got[s.f.n - 1].method, "tools/list");
	CHECK_EQ(s.f.answers, 0);
	CHECK(fake_answer(&s.f, s.f.n - 1, TOOLS(TOOL("t", "A"))));
	CHECK_EQ(count_param_headers(&s), 1);
	CHECK_EQ(s.changed, 1); /* the cached list is fetched again, too */
	CHECK_TEXT(s.f.got[s.f.n - 1].method, "tools/call");
	CHECK(strcmp(s.f.got[s.f.n - 1].id, s.f.got[first].id) != 0);
	CHECK(fake_answer(&s.f, s.f.n - 1, "{\"resultType\":\"complete\",\"content\":[]}"));
	CHECK_EQ(s.f.answers, 1);
	CHECK_EQ(s.f.outcome, MP_OUTCOME_ANSWERED);
}

/* Twice is enough, and what cannot be listed is tried all the same. */
TEST(it_is_repeated_once)
{
	MP_CLEANUP(shop_done) struct shop s;

	CHECK(shop_init(&s, true, MP_TRANSPORT_PER_REQUEST));
	CHECK(call(&s));
	CHECK(fake_error(&s.f, s.f.n - 1, MISMATCH));
	CHECK(fake_error(&s.f, s.f.n - 1, FAKE_NO_METHOD));
	CHECK_EQ(s.changed, 0);
	CHECK_TEXT(s.f.got[s.f.n - 1].method, "tools/call");
	CHECK(fake_error(&s.f, s.f.n - 1, MISMATCH));
	CHECK_TEXT(s.f.got[s.f.n - 1].method, "tools/call");
	CHECK_EQ(s.f.answers, 1);
	CHECK(strstr(s.f.result, "-32020"));
}

TEST(two_calls_share_one_list)
{
	MP_CLEANUP(shop_done) struct shop s;
	int first;

	CHECK(shop_init(&s, true, MP_TRANSPORT_PER_REQUEST));
	CHECK(call(&s));
	first = s.f.n - 1;
	CHECK(call(&s));
	CHECK(fake_error(&s.f, first, MISMATCH));
	CHECK(fake_error(&s.f, first + 1, MISMATCH));
	CHECK_EQ(s.f.n, first + 3);
	CHECK(fake_answer(&s.f, first + 2, TOOLS("")));
	CHECK_EQ(s.f.n, first + 5);
	CHECK_EQ(s.f.answers, 0);
}

TEST(other_errors_and_other_servers_are_left_alone)
{
	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(shop_done) struct shop s;
		int before;

		CHECK(shop_init(&s, i != 1, i == 2 ? 0 : MP_TRANSPORT_PER_REQUEST));
		CHECK(call(&s));
		before = s.f.n;
		CHECK(fake_error(&s.f, s.f.n - 1, i == 0 ? FAKE_NO_METHOD : MISMATCH));
		CHECK_EQ(s.f.n, before);
		CHECK_EQ(s.f.answers, 1);
	}
}

/* The server goes, the caller goes, or we go while the list is on its way. */
TEST(leaving_meanwhile)
{
	for (int i = 0; i < 4; i++) {
		MP_CLEANUP(shop_done) struct shop s;
		struct mp_call *id;

		CHECK(shop_init(&s, true, MP_TRANSPORT_PER_REQUEST));
		CHECK(fake_call(&s.f, MP_METHOD_TOOLS_CALL, "{\"name\":\"t\"}", 5000, &id));
		fake_settle(&s.f);
		CHECK(fake_error(&s.f, s.f.n - 1, MISMATCH));
		CHECK_EQ(s.f.answers, 0);
		if (i == 0)
			fake_die(&s.f);
		else if (i == 1)
			mp_upstream_close(s.f.up);
		else if (i == 2)
			s.f.up = mp_upstream_free(s.f.up);
		else
			mp_peer_cancel(id);
		fake_settle(&s.f);
		CHECK_EQ(s.f.answers, 1);
		CHECK_EQ(s.f.outcome, i == 3 ? MP_OUTCOME_CANCELLED : MP_OUTCOME_NOT_SENT);
	}
}
