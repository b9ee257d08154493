/* test_catalog.c - lists page by page; broken items are named and left out, the others stay. */
#include "test.h"

#include <stdio.h>

#include "fake_server.h"

#include "base/limits.h"
#include "base/mem.h"
#include "client/catalog.h"

struct shop {
	struct fake f;
	struct mp_catalog_list list;
	int done;
	struct mcpool_error error; /* code 0: none */
};

static void shop_done(struct shop *s)
{
	fake_done(&s->f);
	mp_catalog_list_done(&s->list);
}

static void fetched(struct mp_catalog_list *l, const struct mcpool_error *error, void *u)
{
	struct shop *s = u;

	(void)l;
	s->done++;
	if (error)
		s->error = *error;
}

static bool shop_init(struct shop *s, enum mp_catalog_kind kind, bool modern)
{
	*s = (struct shop){.done = 0};
	mp_catalog_list_init(&s->list, kind);
	REQUIRE(fake_init(&s->f));
	REQUIRE(modern ? fake_open_modern(&s->f) : fake_open_legacy(&s->f));
	REQUIRE(mp_catalog_fetch(s->f.up, &s->list, 1000, fetched, s, s->f.loop, NULL) == 0);
	fake_settle(&s->f);
	return true;
}

static bool answer(struct shop *s, const char *result)
{
	return fake_answer(&s->f, s->f.n - 1, result);
}

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

TEST(a_list_of_one_page)
{
	MP_CLEANUP(shop_done) struct shop s;
	const struct mp_catalog_item *item;

	CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
	CHECK_TEXT(s.f.got[s.f.n - 1].method, "tools/list");
	CHECK(answer(
		&s,
		"{\"tools\":[{\"name\":\"echo\", "
		"\"title\":\"Echo\\u0021\",\"description\":\"says\","
		"\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"x\":{\"y\":{\"z\":"
		"12345678901234567890}}}}}}," TOOL("b") "]}"));
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.error.code, 0);
	CHECK_EQ(s.list.n, 2);
	item = mp_catalog_find(&s.list, MP_STR("echo"));
	CHECK(item);
	CHECK_STR(item->title, "Echo!");
	CHECK_STR(item->description, "says");
	/* Whole and as written, however deep; only white space between tokens goes. */
	CHECK(mp_str_find(item->json, MP_STR("12345678901234567890"), 0) > 0);
	CHECK(mp_str_find(item->json, MP_STR("Echo\\u0021"), 0) > 0);
	CHECK(!mp_catalog_find(&s.list, MP_STR("c")));
}

/* E9 */
/* Name, description, inputSchema and, where it has them, instructions. */
TEST(the_record_of_a_tool)
{
	static const char one[] =
		"{\"name\":\"one\",\"description\":\"does one thing\",\"inputSchema\":"
		"{\"type\":\"object\"},\"instructions\":\"Use it twice.\"}";
	static const char two[] = TOOL("two");
	MP_CLEANUP(shop_done) struct shop s;
	char list[400];

	snprintf(list, sizeof(list), "{\"tools\":[%s,%s]}", one, two);
	CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
	CHECK(answer(&s, list));
	CHECK_EQ(s.list.n, 2);
	CHECK_STR(s.list.items[0].name, "one");
	CHECK_STR(s.list.items[0].description, "does one thing");
	CHECK(mp_str_eq(s.list.items[0].json, mp_str_of(one)));
	CHECK_STR(s.list.items[1].name, "two");
	CHECK_STR(s.list.items[1].description, "");
	CHECK(mp_str_eq(s.list.items[1].json, mp_str_of(two)));
}

/* An empty cursor is a cursor; only its absence ends the list. */
TEST(a_list_of_many_pages)
{
	MP_CLEANUP(shop_done) struct shop s;

	CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
	CHECK(!strstr(s.f.got[s.f.n - 1].text, "cursor"));
	CHECK(answer(&s, "{\"tools\":[" TOOL("a") "],\"nextCursor\":\"\"}"));
	CHECK(strstr(s.f.got[s.f.n - 1].text, "\"params\":{\"cursor\":\"\"}"));
	CHECK(answer(&s, "{\"tools\":[" TOOL("b") "],\"nextCursor\":\"p\\n\\u00e9\"}"));
	CHECK(strstr(s.f.got[s.f.n - 1].text, "{\"cursor\":\"p\\n\\u00e9\"}"));
	CHECK(answer(&s, "{\"tools\":[],\"nextCursor\":\"q\"}"));
	CHECK(answer(&s, "{\"tools\":[" TOOL("c") "],\"nextCursor\":null}"));
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.list.n, 3);
	CHECK_STR(s.list.items[2].name, "c");
}

HEAVY_TEST(a_list_without_end_is_cut)
{
	MP_CLEANUP(shop_done) struct shop s;
	char page[100];

	CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
	for (int i = 1; i <= 64; i++) {
		CHECK_EQ(s.done, 0);
		snprintf(page, sizeof(page), "{\"tools\":[" TOOL("t%d") "],\"nextCursor\":\"%d\"}",
			 i, i);
		CHECK(answer(&s, page));
	}
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.list.n, 64);
	CHECK(s.list.is_cut);
	CHECK_EQ(s.list.n_problems, 1);
}

TEST(the_same_page_again_and_again_is_cut)
{
	MP_CLEANUP(shop_done) struct shop s;

	CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
	CHECK(answer(&s, "{\"tools\":[" TOOL("a") "],\"nextCursor\":\"x\"}"));
	CHECK(answer(&s, "{\"tools\":[" TOOL("a") "],\"nextCursor\":\"x\"}"));
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.list.n, 1);
	CHECK(s.list.is_cut);
}

/* P18: one bad tool, named; the others stay. */
TEST(broken_tools_are_left_out_and_named)
{
	static const struct {
		const char *tool, *words;
	} rows[] = {
		{"{\"name\":\"x\"}", "'x': it has no inputSchema"},
		{"{\"name\":\"x\",\"inputSchema\":\"{}\"}", "'x': its schema is not an object"},
		{"{\"name\":\"x\",\"inputSchema\":null}", "'x': its schema is not an object"},
		{"{\"name\":\"x\",\"inputSchema\":{\"type\":\"array\"}}",
		 "'x': the type of its inputSchema is not \"object\""},
		{"{\"name\":\"x\",\"inputSchema\":{\"properties\":[]}}",
		 "'x': the properties of its schema are not an object"},
		{"{\"name\":\"x\",\"inputSchema\":{\"required\":\"a\"}}",
		 "'x': the required properties of its schema are not a list of names"},
		{"{\"name\":\"x\",\"inputSchema\":{\"required\":[1]}}",
		 "'x': the required properties of its schema are not a list of names"},
		{"{\"name\":\"x\",\"inputSchema\":{\"properties\":{\"a\":7}}}",
		 "'x': a property of its schema is neither an object nor a boolean"},
		{"{\"name\":\"x\",\"inputSchema\":{},\"outputSchema\":7}",
		 "'x': its schema is not an object"},
		{"{\"inputSchema\":{}}", "one that has no name"},
		{"{\"name\":7,\"inputSchema\":{}}", "one that has no name"},
		{"{\"name\":\"\",\"inputSchema\":{}}", "one that has no name"},
		{"17", "one that has no name"},
		{TOOL("good"), "'good': there are two of that name; the first one counts"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_catalog_list_done) struct mp_catalog_list l;
		MP_CLEANUP(mp_buf_done) struct mp_buf page, cursor;
		bool more;

		mp_catalog_list_init(&l, MP_CATALOG_TOOL);
		mp_buf_init(&page, 1000);
		mp_buf_init(&cursor, 1000);
		CHECK_EQ(mp_buf_addf(&page, "{\"tools\":[" TOOL("good") ",%s," TOOL("fine") "]}",
				     rows[i].tool),
			 0);
		CHECK_EQ(mp_catalog_read_page(&l, mp_buf_get(&page), &cursor, &more, NULL), 0);
		CHECK_EQ(l.n, 2);
		CHECK_STR(l.items[1].name, "fine");
		CHECK_EQ(l.n_problems, 1);
		CHECK_TEXT(l.problems[0], rows[i].words);
	}
}

TEST(schemas_that_are_fine)
{
	static const char *const schemas[] = {
		"{}",
		"{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":true},\"required\":[\"a\"]}",
		"{\"anyOf\":[{\"type\":\"object\"}],\"$defs\":{\"x\":7}}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(schemas); i++) {
		MP_CLEANUP(mp_catalog_list_done) struct mp_catalog_list l;
		MP_CLEANUP(mp_buf_done) struct mp_buf page, cursor;
		bool more;

		mp_catalog_list_init(&l, MP_CATALOG_TOOL);
		mp_buf_init(&page, 1000);
		mp_buf_init(&cursor, 1000);
		CHECK_EQ(mp_buf_addf(
				 &page,
				 "{\"tools\":[{\"name\":\"a\",\"inputSchema\":%s,\"outputSchema\":"
				 "{\"type\":\"array\"}}]}",
				 schemas[i]),
			 0);
		CHECK_EQ(mp_catalog_read_page(&l, mp_buf_get(&page), &cursor, &more, NULL), 0);
		CHECK_EQ(l.n, 1);
		CHECK_EQ(l.n_problems, 0);
	}
}

TEST(a_page_that_is_no_page)
{
	MP_CLEANUP(shop_done) struct shop s;

	CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
	CHECK(answer(&s, "{\"tools\":{}}"));
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.error.code, MCPOOL_EPROTO);
	CHECK_TEXT(s.error.message, "'tools' of the answer is an object, not a list");
}

TEST(an_error_and_a_timeout_end_the_fetch)
{
	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(shop_done) struct shop s;

		CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
		if (i == 0)
			CHECK(fake_error(&s.f, s.f.n - 1,
					 "{\"code\":-5,\"message\":\"not today\"}"));
		else if (i == 1)
			fake_advance(&s.f, 1000);
		else
			fake_die(&s.f);
		CHECK_EQ(s.done, 1);
		CHECK_TEXT(s.error.message, i == 0   ? "not today (-5)"
					    : i == 1 ? "no answer within 1 s"
						     : "the other side closed the stream");
	}
}

TEST(what_a_server_does_not_offer_is_not_asked_for)
{
	MP_CLEANUP(shop_done) struct shop s;
	int before;

	CHECK(shop_init(&s, MP_CATALOG_PROMPT, true)); /* it offers tools only */
	before = s.f.n;
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.list.n, 0);
	CHECK_EQ(s.f.n, before);
}

TEST(other_kinds_have_their_own_names)
{
	MP_CLEANUP(shop_done) struct shop s;

	CHECK(shop_init(&s, MP_CATALOG_TEMPLATE, false));
	CHECK_TEXT(s.f.got[s.f.n - 1].method, "resources/templates/list");
	CHECK(answer(&s, "{\"resourceTemplates\":[{\"uriTemplate\":\"a://{x}\",\"name\":\"A\"}]}"));
	CHECK_EQ(s.list.n, 1);
	CHECK_STR(s.list.items[0].name, "a://{x}");
	CHECK_STR(s.list.items[0].title, "A");
}

TEST(the_most_careful_cache_hint_counts)
{
	MP_CLEANUP(shop_done) struct shop s;

	CHECK(shop_init(&s, MP_CATALOG_TOOL, true));
	CHECK(answer(
		&s, "{\"tools\":[],\"nextCursor\":\"a\",\"ttlMs\":500,\"cacheScope\":\"public\"}"));
	CHECK(answer(
		&s,
		"{\"tools\":[],\"nextCursor\":\"b\",\"ttlMs\":100,\"cacheScope\":\"private\"}"));
	CHECK(answer(&s, "{\"tools\":[],\"ttlMs\":900,\"cacheScope\":\"public\"}"));
	CHECK_EQ(s.list.cache.ttl_ms, 100);
	CHECK(s.list.cache.is_private);
}

TEST(a_fetch_can_be_abandoned)
{
	for (int empty = 0; empty < 2; empty++) {
		MP_CLEANUP(shop_done) struct shop s = {.done = 0};
		struct mp_catalog_fetch *fetch;

		mp_catalog_list_init(&s.list, empty ? MP_CATALOG_PROMPT : MP_CATALOG_TOOL);
		CHECK(fake_init(&s.f));
		CHECK(fake_open_modern(&s.f));
		CHECK_EQ(mp_catalog_fetch(s.f.up, &s.list, 1000, fetched, &s, s.f.loop, &fetch), 0);
		mp_catalog_abandon(fetch);
		fake_settle(&s.f);
		CHECK_EQ(s.done, 0);
		CHECK(empty || fake_find(&s.f, "notifications/cancelled") >= 0);
	}
}

/* 10,000 and not one more. */
HEAVY_TEST(a_list_has_a_ceiling)
{
	MP_CLEANUP(mp_catalog_list_done) struct mp_catalog_list l;
	MP_CLEANUP(mp_buf_done) struct mp_buf page, cursor;
	bool more;

	mp_catalog_list_init(&l, MP_CATALOG_TOOL);
	mp_buf_init(&page, MP_LIMIT_MESSAGE);
	mp_buf_init(&cursor, 1000);
	CHECK_EQ(mp_buf_addf(&page, "{\"nextCursor\":\"more\",\"tools\":[" TOOL("first")), 0);
	for (int i = 0; i < MP_LIMIT_TOOLS; i++)
		CHECK_EQ(mp_buf_addf(&page, "," TOOL("t%d"), i), 0);
	CHECK_EQ(mp_buf_addf(&page, "]}"), 0);
	CHECK_EQ(mp_catalog_read_page(&l, mp_buf_get(&page), &cursor, &more, NULL), 0);
	CHECK_EQ(l.n, MP_LIMIT_TOOLS);
	CHECK(l.is_cut);
	CHECK(!more);
}

/* A server that hands out page after page, each of them in time, does not hold anybody for long. */
TEST(one_deadline_is_for_all_pages)
{
	MP_CLEANUP(shop_done) struct shop s;

	CHECK(shop_init(&s, MP_CATALOG_TOOL, false));
	fake_advance(&s.f, 900);
	CHECK(answer(&s, "{\"tools\":[" TOOL("a") "],\"nextCursor\":\"x\"}"));
	fake_advance(&s.f, 99);
	CHECK_EQ(s.done, 0);
	fake_advance(&s.f, 1);
	CHECK_EQ(s.done, 1);
	CHECK_EQ(s.error.code, MCPOOL_ECALL_TIMEOUT);
	CHECK_TEXT(s.error.message, "the list did not come to an end within 1 s");
	CHECK_EQ(s.list.n, 1);
}
