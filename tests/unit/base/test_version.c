/* test_version.c - which mcpool this is. */
#include "test.h"

#include "mcpool/error.h"

TEST(the_version_is_the_builds)
{
	CHECK_TEXT(mcpool_version(), MCPOOL_VERSION);
}
