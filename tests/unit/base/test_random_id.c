/*
 * test_random_id.c - unguessable ids.
 */
#include "test.h"

#include <stdlib.h>

#include "base/random_id.h"

enum { MANY = 200000 };

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, MP_RANDOM_ID + 1);
}

/* V26 */
HEAVY_TEST(no_two_are_alike_and_no_digit_is_preferred)
{
	static char ids[MANY][MP_RANDOM_ID + 1];
	double counts[16] = {0}, expected = (double)MANY * MP_RANDOM_ID / 16, chi = 0;

	for (int i = 0; i < MANY; i++) {
		mp_random_id_make(ids[i]);
		CHECK_EQ(strlen(ids[i]), MP_RANDOM_ID);
		for (int k = 0; k < MP_RANDOM_ID; k++) {
			char c = ids[i][k];

			CHECK(c && strchr("0123456789abcdef", c));
			counts[c <= '9' ? c - '0' : c - 'a' + 10]++;
		}
	}
	for (int i = 0; i < 16; i++)
		chi += (counts[i] - expected) * (counts[i] - expected) / expected;
	CHECK(chi < 60); /* 15 degrees of freedom: one in three million */
	qsort(ids, MANY, sizeof(ids[0]), compare);
	for (int i = 1; i < MANY; i++)
		CHECK(strcmp(ids[i - 1], ids[i]) != 0);
}

TEST(a_process_is_always_the_same)
{
	char other[MP_RANDOM_ID + 1];

	mp_random_id_make(other);
	CHECK_EQ(strlen(mp_random_id_of_process()), MP_RANDOM_ID);
	CHECK_TEXT(mp_random_id_of_process(), mp_random_id_of_process());
	CHECK(strcmp(mp_random_id_of_process(), other) != 0);
}
