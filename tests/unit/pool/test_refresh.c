/* test_refresh.c - lists that change while a server runs: gathered, fetched again, handed on. */
#include "test.h"

#include <stdio.h>

#include "fake_server.h"

#include "base/mem.h"
#include "pool/refresh.h"

#define TOOLS(names) "{\"tools\":[" names "]}"
#define TOOL(name)   "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
#define CHANGING                                                                                \
	"{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":" \
	"{\"tools\":{\"listChanged\":true},\"prompts\":{}},\"ttlMs\":1000,\"cacheScope\":"      \
	"\"public\"}"

struct watch {
	struct fake f;
	struct mp_refresh *r;
	int fetched[MP_CATALOG_COUNT], failed[MP_CATALOG_COUNT];
	size_t n; /* items of the last */
	int ignored;
	bool free_it; /* as soon as something is told */
	struct mcpool_error why;
};

static void watch_done(struct watch *w)
{
	mp_refresh_free(w->r);
	fake_done(&w->f);
}

static void heard(void *u, const struct mp_message *m)
{
	struct watch *w = u;

	if (w->r)
		w->ignored += !mp_refresh_hear(w->r, m);
}

static void fetched(void *u, struct mp_server_catalog_list *list)
{
	struct watch *w = u;

	w->fetched[list->list.kind]++;
	w->n = list->list.n;
	mp_server_catalog_list_unref(list);
	if (w->free_it)
		w->r = mp_refresh_free(w->r);
}

static void failed(void *u, enum mp_catalog_kind kind, const struct mcpool_error *why)
{
	struct watch *w = u;

	w->failed[kind]++;
	if (w->free_it)
		w->r = mp_refresh_free(w->r);
	w->why = *why; /* which must not go with it */
}

static const struct mp_refresh_hooks hooks = {fetched, failed};

static bool begin(struct watch *w)
{
	w->f.heard = heard;
	w->f.heard_u = w;
	w->r = mp_refresh_new(w->f.up, w->f.loop, 1000, &hooks, w);
	fake_settle(&w->f);
	return true;
}

static bool watch_init(struct watch *w)
{
	*w = (struct watch){.ignored = 0};
	REQUIRE(fake_init(&w->f));
	REQUIRE(fake_open_legacy(&w->f));
	return begin(w);
}

static bool watch_init_modern(struct watch *w)
{
	*w = (struct watch){.ignored = 0};
	REQUIRE(fake_init(&w->f));
	REQUIRE(fake_open(&w->f));
	REQUIRE(fake_answer(&w->f, fake_find(&w->f, "server/discover"), CHANGING));
	REQUIRE(mp_upstream_is_ready(w->f.up));
	return begin(w);
}

static bool notify(struct watch *w, const char *what)
{
	char text[200];

	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\"}", what);
	return fake_say(&w->f, text);
}

static bool change(struct watch *w)
{
	return notify(w, "tools/list_changed");
}

static int asked(const struct watch *w, const char *method)
{
	int n = 0;

	for (int i = 0; i < w->f.n; i++)
		n += strcmp(w->f.got[i].method, method) == 0;
	return n;
}

static bool answer(struct watch *w, const char *result)
{
	return fake_answer(&w->f, fake_find(&w->f, "tools/list"), result);
}

static bool refuse(struct watch *w)
{
	return fake_error(&w->f, fake_find(&w->f, "tools/list"),
			  "{\"code\":-1,\"message\":\"not now\"}");
}

static bool is(const struct watch *w, const char *state)
{
	return test_same_text(mp_str_of(mp_refresh_get_state(w->r, MP_CATALOG_TOOL)),
			      mp_str_of(state), "state", __FILE__, __LINE__);
}

/* the first half of row U25 */
TEST(cell_by_cell)
{
	MP_CLEANUP(watch_done) struct watch w;

	CHECK(watch_init(&w));
	CHECK(is(&w, "quiet") && change(&w));     /* quiet, news */
	CHECK(is(&w, "gathering") && change(&w)); /* gathering, news */
	CHECK(is(&w, "gathering"));
	fake_advance(&w.f, MP_REFRESH_QUIET_MS); /* gathering, due */
	CHECK(is(&w, "fetching"));
	CHECK(answer(&w, TOOLS(TOOL("a")))); /* fetching, fetched */
	CHECK(is(&w, "quiet"));
	CHECK_EQ(w.fetched[MP_CATALOG_TOOL], 1);
	CHECK_EQ(w.n, 1);
	CHECK(change(&w));
	fake_advance(&w.f, MP_REFRESH_QUIET_MS);
	CHECK(refuse(&w)); /* fetching, failed */
	CHECK(is(&w, "quiet"));
	CHECK_EQ(w.failed[MP_CATALOG_TOOL], 1);
	CHECK(change(&w));
	fake_advance(&w.f, MP_REFRESH_QUIET_MS);
	CHECK(change(&w));                       /* fetching, news */
	CHECK(is(&w, "outdated") && change(&w)); /* outdated, news */
	CHECK(is(&w, "outdated"));
	CHECK(answer(&w, TOOLS(TOOL("a") "," TOOL("b")))); /* outdated, fetched */
	CHECK(is(&w, "gathering"));
	CHECK_EQ(w.n, 2); /* newer than what we had */
	fake_advance(&w.f, MP_REFRESH_QUIET_MS);
	CHECK(is(&w, "fetching") && change(&w));
	CHECK(refuse(&w)); /* outdated, failed */
	CHECK(is(&w, "gathering"));
	fake_advance(&w.f, MP_REFRESH_QUIET_MS);
	CHECK(answer(&w, TOOLS("")));
	CHECK(is(&w, "quiet"));
	CHECK_EQ(w.fetched[MP_CATALOG_TOOL], 3);
	CHECK_EQ(w.failed[MP_CATALOG_TOOL], 2);
}

/* C17 */
/* Up to the list; who hears of it is for others to prove. */
TEST(each_notification_fetches_its_lists)
{
	static const struct {
		const char *what;
		int asked[MP_CATALOG_COUNT];
	} rows[] = {
		{"tools/list_changed", {1, 0, 0, 0}},
		{"prompts/list_changed", {0, 1, 0, 0}},
		{"resources/list_changed", {0, 0, 1, 1}},
		{"resources/updated", {0, 0, 0, 0}},
		{"message", {0, 0, 0, 0}},
	};
	static const char *const methods[] = {"tools/list", "prompts/list", "resources/list",
					      "resources/templates/list"};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(watch_done) struct watch w;

		CHECK(watch_init(&w));
		CHECK(notify(&w, rows[i].what));
		CHECK_EQ(w.ignored, i >= 3);
		fake_advance(&w.f, MP_REFRESH_QUIET_MS);
		for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
			CHECK_EQ(asked(&w, methods[kind]), rows[i].asked[kind]);
	}
}

TEST(it_waits_for_the_last_but_not_for_ever)
{
	MP_CLEANUP(watch_done) struct watch w;

	CHECK(watch_init(&w));
	CHECK(change(&w));
	fake_advance(&w.f, 60);
	CHECK(change(&w));
	fake_advance(&w.f, 99); /* 159 after the first, 99 after the last */
	CHECK_EQ(asked(&w, "tools/list"), 0);
	fake_advance(&w.f, 1);
	CHECK_EQ(asked(&w, "tools/list"), 1);
	CHECK(answer(&w, TOOLS("")));
	for (int i = 0; i < 20; i++) { /* every 50 ms, from now to 950 */
		CHECK(change(&w));
		CHECK_EQ(asked(&w, "tools/list"), 1);
		fake_advance(&w.f, i < 19 ? 50 : 49);
	}
	CHECK_EQ(asked(&w, "tools/list"), 1);
	fake_advance(&w.f, 1); /* 1,000 after the first */
	CHECK_EQ(asked(&w, "tools/list"), 2);
}

/* the first half of row U25 */
HEAVY_TEST(a_storm_of_notifications_is_a_few_fetches)
{
	MP_CLEANUP(watch_done) struct watch w;

	CHECK(watch_init(&w));
	for (int i = 0; i < 10000; i++) {
		CHECK(change(&w));
		if (i % 10 == 0)
			fake_advance(&w.f, 1); /* a second in all */
		if (strcmp(mp_refresh_get_state(w.r, MP_CATALOG_TOOL), "fetching") == 0)
			CHECK(answer(&w, TOOLS(TOOL("a"))));
	}
	fake_advance(&w.f, MP_REFRESH_QUIET_MS);
	CHECK(answer(&w, TOOLS(TOOL("a"))));
	CHECK(is(&w, "quiet"));
	CHECK(asked(&w, "tools/list") >= 1 && asked(&w, "tools/list") <= 3);
	CHECK_EQ(w.fetched[MP_CATALOG_TOOL], asked(&w, "tools/list"));
}

TEST(what_cannot_be_fetched_is_told_once)
{
	for (int i = 0; i < 2; i++) {
		MP_CLEANUP(watch_done) struct watch w;

		CHECK(watch_init(&w));
		CHECK(change(&w));
		if (i)
			fake_die(&w.f); /* it cannot even be asked for */
		fake_advance(&w.f, MP_REFRESH_QUIET_MS);
		if (!i)
			fake_advance(&w.f, 1000);
		fake_advance(&w.f, 10000);
		CHECK_EQ(w.failed[MP_CATALOG_TOOL], 1);
		CHECK_EQ(w.why.code, i ? MCPOOL_ECLOSED : MCPOOL_ECALL_TIMEOUT);
		CHECK_EQ(w.fetched[MP_CATALOG_TOOL], 0);
		CHECK_EQ(asked(&w, "tools/list"), !i);
		if (i)
			continue;
		CHECK(change(&w)); /* and the next one tries again */
		fake_advance(&w.f, MP_REFRESH_QUIET_MS);
		CHECK(answer(&w, TOOLS("")));
		CHECK_EQ(w.fetched[MP_CATALOG_TOOL], 1);
	}
}

TEST(a_hook_may_end_it)
{
	for (int i = 0; i < 4; i++) {
		MP_CLEANUP(watch_done) struct watch w;

		CHECK(watch_init(&w));
		w.free_it = true;
		CHECK(change(&w) && notify(&w, "resources/list_changed"));
		fake_advance(&w.f, MP_REFRESH_QUIET_MS);
		if (i > 1)
			CHECK(change(&w)); /* outdated */
		CHECK(i % 2 ? refuse(&w) : answer(&w, TOOLS("")));
		CHECK(!w.r);
		fake_advance(&w.f, 10000);
		CHECK_EQ(w.fetched[MP_CATALOG_TOOL] + w.failed[MP_CATALOG_TOOL], 1);
		CHECK_EQ(w.failed[MP_CATALOG_RESOURCE], 0);
	}
}

TEST(it_may_go_at_any_time)
{
	for (int i = 0; i < 3; i++) {
		MP_CLEANUP(watch_done) struct watch w;

		CHECK(watch_init_modern(&w));
		CHECK(change(&w));
		if (i)
			fake_advance(&w.f, MP_REFRESH_QUIET_MS);
		w.r = mp_refresh_free(w.r);
		if (i == 2)
			w.f.up = mp_upstream_free(w.f.up);
		fake_advance(&w.f, 10000);
		CHECK_EQ(w.fetched[MP_CATALOG_TOOL] + w.failed[MP_CATALOG_TOOL], 0);
	}
}

/* --- the modern era ------------------------------------------------------------------------- */

static bool say_on_stream(struct watch *w, const char *method)
{
	char text[300];
	int i = fake_find(&w->f, "subscriptions/listen");

	REQUIRE(i >= 0);
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":{\"_meta\":"
		 "{\"io.modelcontextprotocol/subscriptionId\":%s},\"notifications\":{}}}",
		 method, w->f.got[i].id);
	return fake_say(&w->f, text);
}

/* C17, up to the list; who hears of it is for others to prove. */
TEST(a_modern_server_is_asked_to_tell)
{
	MP_CLEANUP(watch_done) struct watch w;

	CHECK(watch_init_modern(&w));
	CHECK_EQ(asked(&w, "subscriptions/listen"), 1);
	CHECK(say_on_stream(&w, "subscriptions/acknowledged"));
	CHECK_EQ(w.ignored, 0);
	CHECK(say_on_stream(&w, "tools/list_changed"));
	fake_advance(&w.f, MP_REFRESH_QUIET_MS);
	CHECK(answer(&w, TOOLS(TOOL("a"))));
	CHECK_EQ(w.fetched[MP_CATALOG_TOOL], 1);
	CHECK(say_on_stream(&w, "subscriptions/acknowledged"));
	CHECK_EQ(w.ignored, 1); /* not ours */
}

/* What changed while no stream was open is found by looking. */
TEST(a_stream_that_is_opened_again_has_missed_something)
{
	MP_CLEANUP(watch_done) struct watch w;

	CHECK(watch_init_modern(&w));
	CHECK(say_on_stream(&w, "subscriptions/acknowledged"));
	CHECK(fake_answer(&w.f, fake_find(&w.f, "subscriptions/listen"),
			  "{\"resultType\":\"complete\"}"));
	fake_advance(&w.f, 1000);
	CHECK_EQ(asked(&w, "subscriptions/listen"), 2);
	CHECK(say_on_stream(&w, "subscriptions/acknowledged"));
	fake_advance(&w.f, MP_REFRESH_QUIET_MS);
	CHECK_EQ(asked(&w, "tools/list"), 1);
	CHECK_EQ(asked(&w, "prompts/list"), 0); /* it never offered to tell of those */
}
