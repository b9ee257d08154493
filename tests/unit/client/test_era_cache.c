/* test_era_cache.c - what era a server speaks, known for a day. */
#include "test.h"

#include <stdio.h>

#include "client/era_cache.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

TEST(an_era_is_kept_for_a_day)
{
	MP_CLEANUP(mp_era_cache_done) struct mp_era_cache v;

	mp_era_cache_init(&v);
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("a"), 0), MP_ERA_BOTH);
	mp_era_cache_set(&v, MP_STR("a"), MP_ERA_MODERN, 1000);
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("a"), 1000 + DAY_MS - 1), MP_ERA_MODERN);
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("a"), 1000 + DAY_MS), MP_ERA_BOTH);
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("b"), 1000), MP_ERA_BOTH);
	mp_era_cache_set(&v, MP_STR("a"), MP_ERA_LEGACY, 1000 + DAY_MS);
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("a"), 1000 + DAY_MS), MP_ERA_LEGACY);
	mp_era_cache_forget(&v, MP_STR("a"));
	mp_era_cache_forget(&v, MP_STR("a"));
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("a"), 1000), MP_ERA_BOTH);
}

HEAVY_TEST(there_is_a_ceiling)
{
	MP_CLEANUP(mp_era_cache_done) struct mp_era_cache v;
	char key[16];

	mp_era_cache_init(&v);
	for (int i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "%d", i);
		mp_era_cache_set(&v, mp_str_of(key), MP_ERA_LEGACY, 0);
	}
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("1"), 0), MP_ERA_LEGACY);
	CHECK_EQ(mp_era_cache_get(&v, MP_STR("4999"), 0), MP_ERA_BOTH);
}
