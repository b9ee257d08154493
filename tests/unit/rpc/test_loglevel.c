/* test_loglevel.c - levels by name, in order. */
#include "test.h"

#include "rpc/loglevel.h"

TEST(levels_have_names_and_an_order)
{
	for (int i = 0; i < MP_LOGLEVELS; i++)
		CHECK_EQ(mp_loglevel_find(mp_str_of(mp_loglevel_get_name((enum mp_loglevel)i))), i);
	CHECK(MP_LOGLEVEL_DEBUG < MP_LOGLEVEL_INFO && MP_LOGLEVEL_ALERT < MP_LOGLEVEL_EMERGENCY);
	CHECK_EQ(mp_loglevel_find(MP_STR("Warning")), -1);
	CHECK_EQ(mp_loglevel_find(MP_STR("")), -1);
}
