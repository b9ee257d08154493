/* test_probe.c - is it alive? Each way a server may take a probe. */
#include "test.h"

#include "fake_server.h"

#include "client/probe.h"

struct patient {
	struct fake f;
	int told;
	bool alive;
};

static void patient_done(struct patient *p)
{
	fake_done(&p->f);
}

static void probed(const struct mcpool_error *error, void *u)
{
	struct patient *p = u;

	p->told++;
	p->alive = !error;
}

static bool patient_init(struct patient *p, bool modern, bool list_only)
{
	*p = (struct patient){.told = 0};
	REQUIRE(fake_init(&p->f));
	REQUIRE(modern ? fake_open_modern(&p->f) : fake_open_legacy(&p->f));
	REQUIRE(mp_probe_start(p->f.up, list_only, probed, p) == 0);
	fake_settle(&p->f);
	return true;
}

TEST(a_ping_is_enough)
{
	MP_CLEANUP(patient_done) struct patient p;

	CHECK(patient_init(&p, false, false));
	CHECK_TEXT(p.f.got[p.f.n - 1].method, "ping");
	CHECK(fake_answer(&p.f, p.f.n - 1, "{}"));
	CHECK_EQ(p.told, 1);
	CHECK(p.alive);
}

TEST(there_is_no_ping_in_the_modern_era)
{
	MP_CLEANUP(patient_done) struct patient p;

	CHECK(patient_init(&p, true, false));
	CHECK_TEXT(p.f.got[p.f.n - 1].method, "server/discover");
	CHECK(fake_answer(&p.f, p.f.n - 1, FAKE_DISCOVERED));
	CHECK(p.alive);
}

TEST(an_error_is_a_sign_of_life)
{
	MP_CLEANUP(patient_done) struct patient p;

	CHECK(patient_init(&p, false, false));
	CHECK(fake_error(&p.f, p.f.n - 1, FAKE_NO_METHOD));
	CHECK(p.alive);
}

/* X27 */
TEST(a_list_is_asked_for_when_the_ping_meets_silence)
{
	MP_CLEANUP(patient_done) struct patient p;

	CHECK(patient_init(&p, false, false));
	CHECK(fake_find(&p.f, "ping") >= 0); /* first */
	fake_advance(&p.f, 2999);
	CHECK_EQ(fake_find(&p.f, "tools/list"), -1);
	fake_advance(&p.f, 1);
	CHECK(fake_find(&p.f, "tools/list") >= 0);
	CHECK(fake_answer(&p.f, fake_find(&p.f, "tools/list"), "{\"tools\":[]}"));
	CHECK(p.alive);
}

TEST(silence_to_both_is_the_end)
{
	MP_CLEANUP(patient_done) struct patient p;

	CHECK(patient_init(&p, false, false));
	fake_advance(&p.f, 3000);
	CHECK_EQ(p.told, 0);
	fake_advance(&p.f, 3000);
	CHECK_EQ(p.told, 1);
	CHECK(!p.alive);
}

/* X27 */
TEST(list_tools_only)
{
	MP_CLEANUP(patient_done) struct patient p;

	CHECK(patient_init(&p, false, true));
	CHECK_EQ(fake_find(&p.f, "ping"), -1);
	CHECK(fake_find(&p.f, "tools/list") >= 0);
	fake_advance(&p.f, 3000);
	CHECK_EQ(p.told, 1);
	CHECK(!p.alive);
}

TEST(a_death_is_told_at_once)
{
	MP_CLEANUP(patient_done) struct patient p;

	CHECK(patient_init(&p, false, false));
	fake_die(&p.f);
	CHECK_EQ(p.told, 1);
	CHECK(!p.alive);
	CHECK_EQ(mp_probe_start(p.f.up, false, probed, &p), MCPOOL_ECLOSED);
}

/* E40 D7 U17 */
/* First, then tools/list, 3000 ms each; without the first one, the list alone. */
TEST(a_probe_asks_twice_for_three_seconds)
{
	static const struct {
		bool is_modern, list_only;
		const char *first;
	} cases[] = {{false, false, "ping"}, {true, false, "server/discover"}, {false, true, NULL}};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(patient_done) struct patient p;

		CHECK(patient_init(&p, cases[i].is_modern, cases[i].list_only));
		if (cases[i].first) {
			CHECK_TEXT(p.f.got[p.f.n - 1].method, cases[i].first);
			fake_advance(&p.f, 2999);
			CHECK_TEXT(p.f.got[p.f.n - 1].method, cases[i].first);
			fake_advance(&p.f, 1);
		}
		CHECK_TEXT(p.f.got[p.f.n - 1].method, "tools/list");
		CHECK_EQ(fake_find(&p.f, "ping") < 0, i > 0);
		fake_advance(&p.f, 2999);
		CHECK_EQ(p.told, 0);
		fake_advance(&p.f, 1);
		CHECK_EQ(p.told, 1);
		CHECK(!p.alive);
	}
}
