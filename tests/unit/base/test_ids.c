/* test_ids.c - ids are handed out once and found as long as their objects are there. */
#include "test.h"

#include "base/ids.h"

static int objects[8];

TEST(an_empty_table_finds_nothing)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;

	mp_ids_init(&ids);
	CHECK(!mp_ids_get(&ids, 0));
	CHECK(!mp_ids_get(&ids, 1));
	CHECK(!mp_ids_remove(&ids, 0));
	CHECK(!mp_ids_remove(&ids, 1));
	CHECK_EQ(ids.len, 0);
}

TEST(adding_finding_removing)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;
	mp_id a, b;

	mp_ids_init(&ids);
	a = mp_ids_add(&ids, &objects[0]);
	b = mp_ids_add(&ids, &objects[1]);
	CHECK(a && b && a != b);
	CHECK(mp_ids_get(&ids, a) == &objects[0]);
	CHECK(mp_ids_get(&ids, b) == &objects[1]);
	CHECK(!mp_ids_get(&ids, 0));
	CHECK(!mp_ids_get(&ids, b + 1));
	CHECK(!mp_ids_get(&ids, UINT64_MAX));
	CHECK(mp_ids_remove(&ids, a) == &objects[0]);
	CHECK(!mp_ids_get(&ids, a));
	CHECK(!mp_ids_remove(&ids, a));
	CHECK(!mp_ids_remove(&ids, 0));
	CHECK(mp_ids_get(&ids, b) == &objects[1]);
	CHECK_EQ(ids.len, 1);
}

TEST(ids_of_another_table)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;

	mp_ids_init(&ids);
	for (mp_id id = 1; id <= 100; id++)
		mp_ids_put(&ids, id * 1000, &objects[id % 8]);
	mp_ids_put(&ids, UINT64_MAX, &objects[3]);
	CHECK_EQ(ids.len, 101);
	for (mp_id id = 1; id <= 100; id++)
		CHECK(mp_ids_get(&ids, id * 1000) == &objects[id % 8]);
	CHECK(!mp_ids_get(&ids, 1));
	CHECK(mp_ids_remove(&ids, UINT64_MAX) == &objects[3]);
	mp_ids_put(&ids, UINT64_MAX, &objects[4]); /* gone, it may come again: ids are theirs */
	CHECK(mp_ids_get(&ids, UINT64_MAX) == &objects[4]);
}

static void put_twice(void)
{
	struct mp_ids ids;

	mp_ids_init(&ids);
	mp_ids_put(&ids, 5, &objects[0]);
	mp_ids_put(&ids, 5, &objects[1]);
}

TEST(one_id_is_put_once)
{
	CHECK(test_stops(put_twice));
}

TEST(one_object_may_have_two_ids)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;
	mp_id a, b;

	mp_ids_init(&ids);
	a = mp_ids_add(&ids, &objects[0]);
	b = mp_ids_add(&ids, &objects[0]);
	CHECK(a != b);
	mp_ids_remove(&ids, a);
	CHECK(mp_ids_get(&ids, b) == &objects[0]);
}

TEST(an_id_is_never_used_again)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;
	mp_id last = 0;

	mp_ids_init(&ids);
	for (int i = 0; i < 100; i++) {
		mp_id id = mp_ids_add(&ids, &objects[0]);

		CHECK(id > last);
		last = id;
		CHECK(mp_ids_remove(&ids, id));
	}
	CHECK_EQ(ids.len, 0);
	mp_ids_done(&ids);
	CHECK(mp_ids_add(&ids, &objects[0]) > last); /* not even after an end */
}

TEST(a_table_that_stays_small_does_not_grow)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;
	mp_id all[7] = {0};

	mp_ids_init(&ids);
	for (size_t i = 0; i < 100000; i++) {
		mp_ids_remove(&ids, all[i % 7]);
		all[i % 7] = mp_ids_add(&ids, &objects[i % 7]);
	}
	CHECK_EQ(ids.len, 7);
	CHECK_EQ(ids.n_slots, 16);
}

static void add_nothing(void)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;

	mp_ids_init(&ids);
	mp_ids_add(&ids, NULL);
}

TEST(an_object_must_be_something)
{
	CHECK(test_stops(add_nothing));
}

/* --- beside a naive model ------------------------------------------------------------------- */

enum { STEPS = 100000, STAYING = 1000 };

/* present[id] is the object that id must find. */
static void *present[STEPS + 1];

static bool agree(const struct mp_ids *ids, mp_id last)
{
	size_t n = 0;

	for (mp_id id = 0; id <= last; id++) {
		REQUIRE(mp_ids_get(ids, id) == present[id]);
		n += present[id] != NULL;
	}
	REQUIRE(ids->len == n);
	return true;
}

/*
 * Random adds and removes; live ids are kept in an array so that one can be picked. Up to `most`
 * live ones, so that the table is nearly half full of runs and gaps all the time.
 */
static bool behaves(size_t most, uint64_t seed)
{
	static mp_id live[STEPS];
	static char any[64]; /* addresses to give away */
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;
	size_t n = 0;
	mp_id last = 0;

	memset(present, 0, sizeof(present));
	mp_ids_init(&ids);
	for (size_t step = 1; step <= STEPS; step++) {
		if (n < most && (n == 0 || test_random(&seed) % 2)) {
			void *object = &any[test_random(&seed) % sizeof(any)];
			mp_id id = mp_ids_add(&ids, object);

			REQUIRE(id == last + 1);
			last = id;
			present[id] = object;
			live[n++] = id;
		} else {
			size_t i = test_random(&seed) % n;

			REQUIRE(mp_ids_remove(&ids, live[i]) == present[live[i]]);
			present[live[i]] = NULL;
			live[i] = live[--n];
		}
		if (step % 5000 == 0)
			REQUIRE(agree(&ids, last));
	}
	return true;
}

HEAVY_TEST(random_steps_agree_with_a_naive_model)
{
	CHECK(behaves(5, 3));
	CHECK(behaves(8, 5)); /* a table of 16 slots, half full */
	CHECK(behaves(500, 11));
	CHECK(behaves(STEPS, 13));
}

HEAVY_TEST(many_that_stay_and_many_that_pass)
{
	MP_CLEANUP(mp_ids_done) struct mp_ids ids;
	mp_id passing[20] = {0};

	mp_ids_init(&ids);
	memset(present, 0, sizeof(present));
	for (size_t i = 0; i < STAYING; i++)
		present[mp_ids_add(&ids, &objects[0])] = &objects[0];
	for (size_t i = STAYING; i < STEPS; i++) {
		mp_id *mine = &passing[i % MP_ARRAY_LEN(passing)];

		present[*mine] = NULL;
		mp_ids_remove(&ids, *mine);
		*mine = mp_ids_add(&ids, &objects[1]);
		present[*mine] = &objects[1];
	}
	CHECK(agree(&ids, STEPS));
	CHECK_EQ(ids.n_slots, 2048);
}
