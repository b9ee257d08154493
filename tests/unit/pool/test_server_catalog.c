/* test_server_catalog.c - all lists at once; offers share what they have in common; to the store
 * and back.
 */
#include "test.h"

#include <stdio.h>

#include "fake_server.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "pool/server_catalog.h"

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

struct stall {
	struct fake f;
	struct mp_server_catalog_fetch *fetch;
	struct mp_server_catalog *offer;
	int told;
	bool hang_up; /* as soon as it is told */
	struct mcpool_error error;
};

static void stall_done(struct stall *s)
{
	if (s->fetch)
		mp_server_catalog_abandon(s->fetch);
	mp_server_catalog_unref(s->offer);
	fake_done(&s->f);
}

static void told(struct mp_server_catalog *offer, const struct mcpool_error *error, void *u)
{
	struct stall *s = u;

	s->told++;
	s->fetch = NULL;
	s->offer = offer;
	if (error)
		s->error = *error;
	if (s->hang_up)
		s->f.up = mp_upstream_free(s->f.up);
}

static bool stall_init(struct stall *s, bool modern)
{
	*s = (struct stall){.told = 0};
	REQUIRE(fake_init(&s->f));
	REQUIRE(modern ? fake_open_modern(&s->f) : fake_open_legacy(&s->f));
	REQUIRE(mp_server_catalog_fetch(s->f.up, s->f.loop, 1000, 0, told, s, &s->fetch) == 0);
	fake_settle(&s->f);
	return true;
}

static bool answer(struct stall *s, const char *method, const char *result)
{
	return fake_answer(&s->f, fake_find(&s->f, method), result);
}

static bool answer_all(struct stall *s)
{
	return answer(s, "resources/templates/list",
		      "{\"resourceTemplates\":[{\"uriTemplate\":\"a://{x}\",\"name\":\"A\"}]}") &&
	       answer(s, "resources/list",
		      "{\"resources\":[{\"uri\":\"a://b\",\"name\":\"B\"}]}") &&
	       answer(s, "tools/list", "{\"tools\":[" TOOL("one") "," TOOL("two") "]}") &&
	       answer(s, "prompts/list", "{\"prompts\":[{\"name\":\"p\\u00e9\"}]}");
}

/* --- fetching ------------------------------------------------------------------------------- */

TEST(all_lists_are_asked_for_at_once)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init(&s, false));
	CHECK(fake_find(&s.f, "tools/list") > 0 && fake_find(&s.f, "prompts/list") > 0);
	CHECK(fake_find(&s.f, "resources/list") > 0);
	CHECK(fake_find(&s.f, "resources/templates/list") > 0);
	CHECK(answer_all(&s));
	CHECK_EQ(s.told, 1);
	CHECK(s.offer);
	CHECK_EQ(s.offer->lists[MP_CATALOG_TOOL]->list.n, 2);
	CHECK_EQ(s.offer->lists[MP_CATALOG_PROMPT]->list.n, 1);
	CHECK_EQ(s.offer->lists[MP_CATALOG_RESOURCE]->list.n, 1);
	CHECK_EQ(s.offer->lists[MP_CATALOG_TEMPLATE]->list.n, 1);
	CHECK_STR(s.offer->lists[MP_CATALOG_RESOURCE]->list.items[0].name, "a://b");
	CHECK_STR(s.offer->lists[MP_CATALOG_TEMPLATE]->list.items[0].name, "a://{x}");
	CHECK_EQ(s.offer->saved_ms, 0);
}

TEST(the_hello_outlives_the_conversation)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init(&s, false));
	s.hang_up = true;
	CHECK(answer_all(&s));
	CHECK(s.offer);
	CHECK_STR(s.offer->hello.name, "fake");
	CHECK_STR(s.offer->hello.version, "2025-11-25");
	CHECK(s.offer->hello.offers & MP_OFFERS_TOOLS_CHANGES);
}

/* E69, its half: a start counts once tools/list has succeeded. */
TEST(without_tools_there_is_no_offer)
{
	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(stall_done) struct stall s;

		CHECK(stall_init(&s, false));
		s.hang_up = i == 1;
		if (i < 2)
			CHECK(fake_error(&s.f, fake_find(&s.f, "tools/list"),
					 "{\"code\":-5,\"message\":\"not today\"}"));
		else
			fake_die(&s.f);
		CHECK_EQ(s.told, 1); /* without waiting for the other lists */
		CHECK(!s.offer);
		CHECK_TEXT(s.error.message, i < 2 ? "tools/list: not today (-5)"
						  : "tools/list: the other side closed the stream");
		fake_advance(&s.f, 5000);
		CHECK_EQ(s.told, 1);
	}
}

TEST(another_list_that_fails_is_noted)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init(&s, false));
	CHECK(answer(&s, "tools/list", "{\"tools\":[]}"));
	CHECK(fake_error(&s.f, fake_find(&s.f, "prompts/list"), FAKE_NO_METHOD));
	CHECK(answer(&s, "resources/list",
		     "{\"resources\":[{\"uri\":\"a://b\"}],\"nextCursor\":\"x\"}"));
	CHECK_EQ(s.told, 0);
	fake_advance(&s.f, 1000);
	CHECK_EQ(s.told, 1);
	CHECK(s.offer);
	CHECK(!s.offer->lists[MP_CATALOG_TOOL]->problem);
	CHECK_TEXT(s.offer->lists[MP_CATALOG_PROMPT]->problem, "Method not found (-32601)");
	CHECK_EQ(s.offer->lists[MP_CATALOG_RESOURCE]->list.n, 0); /* half a list is none */
	CHECK_TEXT(s.offer->lists[MP_CATALOG_RESOURCE]->problem,
		   "the list did not come to an end within 1 s");
	CHECK_TEXT(s.offer->lists[MP_CATALOG_TEMPLATE]->problem, "no answer within 1 s");
}

TEST(what_is_not_offered_is_empty)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init(&s, true)); /* tools only */
	CHECK(answer(&s, "tools/list", "{\"tools\":[" TOOL("a") "]}"));
	CHECK_EQ(s.told, 1);
	CHECK(s.offer);
	CHECK(!s.offer->lists[MP_CATALOG_PROMPT]->problem);
	CHECK_EQ(s.offer->lists[MP_CATALOG_PROMPT]->list.n, 0);
}

/* What a server behind `--` is asked for: what the command shows, and no more. */
static bool stall_init_with(struct stall *s, unsigned skipped)
{
	*s = (struct stall){.told = 0};
	REQUIRE(fake_init(&s->f));
	REQUIRE(fake_open_legacy(&s->f));
	REQUIRE(mp_server_catalog_fetch(s->f.up, s->f.loop, 1000, skipped, told, s, &s->fetch) ==
		0);
	fake_settle(&s->f);
	return true;
}

enum { ALL_LISTS = (1 << MP_CATALOG_COUNT) - 1 };

TEST(skipped_lists_are_not_asked_for)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init_with(&s, ALL_LISTS & ~(1U << MP_CATALOG_PROMPT)));
	CHECK(fake_find(&s.f, "tools/list") < 0 && fake_find(&s.f, "resources/list") < 0);
	CHECK(answer(&s, "prompts/list", "{\"prompts\":[{\"name\":\"p\"}]}"));
	CHECK_EQ(s.told, 1);
	CHECK(s.offer);
	CHECK_EQ(s.offer->lists[MP_CATALOG_PROMPT]->list.n, 1);
	CHECK_EQ(s.offer->lists[MP_CATALOG_TOOL]->list.n, 0);
}

TEST(without_any_list_there_is_an_offer_at_once)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init_with(&s, ALL_LISTS));
	CHECK_EQ(s.told, 1);
	CHECK(s.offer);
}

TEST(what_is_asked_for_beside_skipped_lists_must_be_had)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init_with(&s, 1U << MP_CATALOG_TOOL | 1U << MP_CATALOG_PROMPT));
	CHECK(answer(&s, "resources/list", "{\"resources\":[]}"));
	CHECK(fake_error(&s.f, fake_find(&s.f, "resources/templates/list"), FAKE_NO_METHOD));
	CHECK_EQ(s.told, 1);
	CHECK(!s.offer);
	CHECK_TEXT(s.error.message, "resources/templates/list: Method not found (-32601)");
}

TEST(an_abandoned_fetch_is_silent)
{
	for (int some = 0; some < 2; some++) {
		MP_CLEANUP(stall_done) struct stall s;

		CHECK(stall_init(&s, false));
		if (some)
			CHECK(answer(&s, "tools/list", "{\"tools\":[]}"));
		CHECK(s.fetch);
		mp_server_catalog_abandon(MP_TAKE(s.fetch));
		s.f.up = mp_upstream_free(s.f.up);
		fake_settle(&s.f);
		CHECK_EQ(s.told, 0);
	}
}

TEST(a_conversation_that_is_over_cannot_be_asked)
{
	MP_CLEANUP(stall_done) struct stall s;

	CHECK(stall_init(&s, false));
	fake_die(&s.f);
	CHECK_EQ(s.told, 1);
	CHECK_EQ(mp_server_catalog_fetch(s.f.up, s.f.loop, 1000, 0, told, &s, &s.fetch),
		 MCPOOL_ECLOSED);
	s.fetch = NULL;
	fake_settle(&s.f);
	CHECK_EQ(s.told, 1);
}

/* --- comparing and replacing ---------------------------------------------------------------- */

static bool read_tools(struct mp_catalog_list *l, const char *items)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf page, cursor;
	bool more;

	mp_buf_init(&page, 1 << 20);
	mp_buf_init(&cursor, 100);
	REQUIRE(mp_buf_addf(&page, "{\"tools\":[%s]}", items) == 0);
	REQUIRE(mp_catalog_read_page(l, mp_buf_get(&page), &cursor, &more, NULL) == 0);
	return true;
}

/* C17: only a list that differs is told of. */
TEST(lists_are_compared_item_by_item_in_any_order)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{"", "", true},
		{TOOL("a"), TOOL("a"), true},
		{TOOL("a") "," TOOL("b"), TOOL("b") "," TOOL("a"), true},
		{TOOL("a") "," TOOL("b") "," TOOL("c"), TOOL("a") "," TOOL("c") "," TOOL("b"),
		 true},
		{TOOL("a"), "", false},
		{TOOL("a"), TOOL("a") "," TOOL("b"), false},
		{TOOL("a") "," TOOL("b"), TOOL("a") "," TOOL("c"), false},
		{TOOL("a"), "{\"name\":\"a\",\"inputSchema\":{}}", false},
		{TOOL("a") "," TOOL("b"), TOOL("b") ",{\"name\":\"a\",\"inputSchema\":{}}", false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_catalog_list_done) struct mp_catalog_list a, b;

		mp_catalog_list_init(&a, MP_CATALOG_TOOL);
		mp_catalog_list_init(&b, MP_CATALOG_TOOL);
		CHECK(read_tools(&a, rows[i].a) && read_tools(&b, rows[i].b));
		CHECK_EQ(mp_server_catalog_list_equals(&a, &b), rows[i].equal);
		CHECK_EQ(mp_server_catalog_list_equals(&b, &a), rows[i].equal);
	}
}

/* 10,000 in reverse: a comparison of each with each would take minutes under sanitizers. */
HEAVY_TEST(long_lists_are_compared_quickly)
{
	MP_CLEANUP(mp_catalog_list_done) struct mp_catalog_list a, b;
	struct mp_catalog_list *lists[] = {&a, &b};

	for (int i = 0; i < 2; i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf items;

		mp_catalog_list_init(lists[i], MP_CATALOG_TOOL);
		mp_buf_init(&items, MP_LIMIT_MESSAGE);
		for (int n = 0; n < MP_LIMIT_TOOLS; n++)
			CHECK_EQ(mp_buf_addf(&items, "%s" TOOL("t%d"), n ? "," : "",
					     i ? MP_LIMIT_TOOLS - 1 - n : n),
				 0);
		CHECK_EQ(mp_buf_terminate(&items), 0);
		MP_CLEANUP(mp_buf_done) struct mp_buf page, cursor;
		bool more;

		mp_buf_init(&page, MP_LIMIT_MESSAGE);
		mp_buf_init(&cursor, 100);
		CHECK_EQ(mp_buf_addf(&page, "{\"tools\":[%s]}", items.data), 0);
		CHECK_EQ(mp_catalog_read_page(lists[i], mp_buf_get(&page), &cursor, &more, NULL),
			 0);
	}
	CHECK_EQ(a.n, MP_LIMIT_TOOLS);
	CHECK(mp_server_catalog_list_equals(&a, &b));
	a.items[5000].json = MP_STR("{}");
	CHECK(!mp_server_catalog_list_equals(&a, &b));
}

static void unref(struct mp_server_catalog **o)
{
	mp_server_catalog_unref(*o);
}

TEST(an_offer_with_another_list_shares_the_rest)
{
	MP_CLEANUP(unref) struct mp_server_catalog *first = NULL, *second = NULL;
	struct mp_hello hello = {.era = MP_ERA_LEGACY, .name = MP_STR("n")};
	struct mp_server_catalog_list *list;

	first = mp_server_catalog_new(&hello);
	CHECK(first);
	list = mp_server_catalog_list_new(MP_CATALOG_PROMPT);
	second = mp_server_catalog_replace(first, list);
	CHECK(second->lists[MP_CATALOG_PROMPT] == list);
	CHECK(first->lists[MP_CATALOG_PROMPT] != list);
	CHECK(second->lists[MP_CATALOG_TOOL] == first->lists[MP_CATALOG_TOOL]);
	first = mp_server_catalog_unref(first);
	CHECK_STR(second->hello.name, "n");
	mp_server_catalog_unref(mp_server_catalog_ref(second));
	CHECK_STR(second->hello.name, "n");
}

/* --- to the store and back ------------------------------------------------------------------ */

static bool same_offer(const struct mp_server_catalog *a, const struct mp_server_catalog *b)
{
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++) {
		REQUIRE(mp_server_catalog_list_equals(&a->lists[kind]->list,
						      &b->lists[kind]->list));
		REQUIRE(!a->lists[kind]->problem == !b->lists[kind]->problem);
	}
	REQUIRE(a->hello.era == b->hello.era && a->hello.offers == b->hello.offers);
	REQUIRE(mp_str_eq(a->hello.version, b->hello.version));
	REQUIRE(mp_str_eq(a->hello.name, b->hello.name));
	REQUIRE(mp_str_eq(a->hello.title, b->hello.title));
	REQUIRE(mp_str_eq(a->hello.server_version, b->hello.server_version));
	REQUIRE(mp_str_eq(a->hello.instructions, b->hello.instructions));
	return mp_str_eq(a->hello.capabilities, b->hello.capabilities);
}

/* U24, its half; the other is the store's. */
TEST(an_offer_comes_back_from_the_store_as_it_was)
{
	for (int i = 0; i < 2; i++) {
		MP_CLEANUP(stall_done) struct stall s;
		MP_CLEANUP(mp_buf_done) struct mp_buf text;
		MP_CLEANUP(unref) struct mp_server_catalog *again = NULL;
		struct mp_stored_catalog d;

		mp_buf_init(&text, 1 << 20);
		CHECK(stall_init(&s, i == 1));
		CHECK(i ? answer(&s, "tools/list", "{\"tools\":[" TOOL("a\\\"b") "]}")
			: answer_all(&s));
		CHECK(s.offer);
		CHECK_EQ(mp_server_catalog_to_definition(s.offer, &text, &d), 0);
		CHECK_EQ(d.counts[MP_CATALOG_TOOL], i ? 1 : 2);
		d.saved_ms = 7;
		CHECK_EQ(mp_server_catalog_from_definition(&d, &again, NULL), 0);
		CHECK_EQ(again->saved_ms, 7);
		CHECK(same_offer(s.offer, again));
	}
}

TEST(a_list_that_could_not_be_had_is_not_remembered_as_empty)
{
	MP_CLEANUP(unref) struct mp_server_catalog *first = NULL, *again = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_hello hello = {.era = MP_ERA_LEGACY,
				 .version = MP_STR(MP_LEGACY_VERSION),
				 .title = MP_STR("a \"title\""),
				 .instructions = MP_STR("do\nthis"),
				 .capabilities = MP_STR("7")};
	struct mcpool_error why;
	struct mp_stored_catalog d;

	mp_buf_init(&text, 1 << 20);
	first = mp_server_catalog_new(&hello);
	CHECK(first);
	(void)mp_fail(&why, MCPOOL_EPROTO, "no");
	mp_server_catalog_list_blame(first->lists[MP_CATALOG_PROMPT], &why);
	CHECK_EQ(mp_server_catalog_to_definition(first, &text, &d), 0);
	CHECK_STR(d.server, "{\"title\":\"a \\\"title\\\"\",\"protocolVersion\":\"2025-11-25\","
			    "\"instructions\":\"do\\nthis\",\"era\":\"legacy\"}");
	CHECK_STR(d.lists[MP_CATALOG_TOOL], "{\"tools\":[]}");
	CHECK_STR(d.lists[MP_CATALOG_PROMPT], "");
	d.saved_ms = 1;
	CHECK_EQ(mp_server_catalog_from_definition(&d, &again, NULL), 0);
	CHECK_TEXT(again->lists[MP_CATALOG_PROMPT]->problem,
		   "it could not be had when the server was last seen");
	CHECK(!again->lists[MP_CATALOG_TOOL]->problem);
	CHECK_STR(again->hello.instructions, "do\nthis");
}

#define FINE "{\"protocolVersion\":\"2025-11-25\",\"era\":\"legacy\"}"

TEST(nonsense_in_the_store_is_an_error)
{
	static const struct {
		const char *server, *tools, *prompts;
		int64_t saved_ms;
		int code;
	} rows[] = {
		{FINE, "{\"tools\":[]}", "", 1, 0},
		{FINE, "{\"tools\":[]}", "", 0, MCPOOL_EPROTO},
		{FINE, "{\"tools\":[]}", "", -1, MCPOOL_EPROTO},
		{FINE, "", "", 1, MCPOOL_EPROTO},
		{FINE, "{\"tools\":{}}", "", 1, MCPOOL_EPROTO},
		{FINE, "{\"tools\":[{\"name\":\"a\"}]}", "", 1, MCPOOL_EPROTO},
		{FINE, "{\"tools\":[],\"nextCursor\":\"a\"}", "", 1, MCPOOL_EPROTO},
		{FINE, "{\"tools\":[]", "", 1, MCPOOL_EPARSE},
		{FINE, "{\"tools\":[]}", "x", 1, MCPOOL_EPARSE},
		{FINE, "{\"tools\":[]}", "[]", 1, MCPOOL_EPROTO},
		{"", "{\"tools\":[]}", "", 1, MCPOOL_EPARSE},
		{"[]", "{\"tools\":[]}", "", 1, MCPOOL_EPROTO},
		{"{}", "{\"tools\":[]}", "", 1, MCPOOL_EPROTO},
		{"{\"era\":\"legacy\"}", "{\"tools\":[]}", "", 1, MCPOOL_EPROTO},
		{"{\"era\":7,\"protocolVersion\":\"2025-11-25\"}", "{\"tools\":[]}", "", 1,
		 MCPOOL_EPROTO},
		{"{\"era\":\"modern\",\"protocolVersion\":\"2025-11-25\"}", "{\"tools\":[]}", "", 1,
		 MCPOOL_EPROTO},
		{"{\"era\":\"legacy\",\"protocolVersion\":\"2026-07-28\"}", "{\"tools\":[]}", "", 1,
		 MCPOOL_EPROTO},
		{"{\"era\":\"legacy\",\"protocolVersion\":\"2025-11-25\",\"name\":7}",
		 "{\"tools\":[]}", "", 1, MCPOOL_EPROTO},
		{"{\"era\":\"legacy\",\"protocolVersion\":\"2025-11-25\",\"capabilities\":[]}",
		 "{\"tools\":[]}", "", 1, MCPOOL_EPROTO},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(unref) struct mp_server_catalog *o = NULL;
		struct mcpool_error error = {0};
		struct mp_stored_catalog d = {
			.server = mp_str_of(rows[i].server),
			.lists = {mp_str_of(rows[i].tools), mp_str_of(rows[i].prompts)},
			.saved_ms = rows[i].saved_ms};

		CHECK_EQ(mp_server_catalog_from_definition(&d, &o, &error), rows[i].code);
		CHECK_EQ(error.code, rows[i].code);
		CHECK_EQ(o != NULL, rows[i].code == 0);
	}
}
