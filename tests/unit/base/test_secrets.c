/* test_secrets.c - finding announced values: every spelling, and the beginning of a cut one. */
#include "test.h"

#include "base/secrets.h"

static void forget_all(int *unused)
{
	(void)unused;
	mp_secret_remove_all();
}

/* Secrets announced below leave with the test. */
#define WITH_SECRETS                                 \
	MP_CLEANUP(forget_all) int secret_scope = 0; \
	(void)secret_scope

static size_t known(const char *text, size_t at, bool cut)
{
	size_t end;

	mp_secrets_hold();
	end = mp_secrets_known_until(mp_str_of(text), at, cut);
	mp_secrets_release();
	return end;
}

TEST(nothing_is_known_before_it_is_announced)
{
	WITH_SECRETS;

	CHECK_EQ(known("p\"ss/w%rd \xc3\xa9!", 0, false), 0);
	CHECK_EQ(mp_secret_add(MP_STR("p\"ss/w%rd \xc3\xa9!")), 0);
	CHECK_EQ(known("p\"ss/w%rd \xc3\xa9!", 0, false), 13);
	mp_secret_remove(MP_STR("p\"ss/w%rd \xc3\xa9!"));
	CHECK_EQ(known("p\"ss/w%rd \xc3\xa9!", 0, false), 0);
}

TEST(every_spelling_is_known)
{
	static const char *const spellings[] = {
		"p\"ss/w%rd \xc3\xa9!",                  /* as it is */
		"p\\\"ss\\/w%rd \\u00e9!",               /* in JSON */
		"p\\\\\\\"ss/w%rd \\\\u00E9!",           /* in JSON in JSON */
		"p%22ss%2Fw%25rd%20%C3%A9%21",           /* in a URL */
		"p%22ss%2fw%25rd+%c3%a9!",               /* in a form */
		"\\u0070\\u0022ss/w%rd\\u0020\xc3\xa9!", /* escaped for no reason */
	};
	WITH_SECRETS;

	CHECK_EQ(mp_secret_add(MP_STR("p\"ss/w%rd \xc3\xa9!")), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(spellings); i++)
		CHECK(test_equal((long long)known(spellings[i], 0, false),
				 (long long)strlen(spellings[i]), spellings[i], __FILE__,
				 __LINE__));
	CHECK_EQ(known("p\"ss/w%rd \xc3\xaa!", 0, false), 0);
	CHECK_EQ(known("P\"ss/w%rd \xc3\xa9!", 0, false), 0);
}

TEST(a_percent_sign_is_known_by_what_follows)
{
	WITH_SECRETS;

	CHECK_EQ(mp_secret_add(MP_STR("ab%25cd")), 0); /* its own, or escaped again */
	CHECK_EQ(known("ab%25cd", 0, false), 7);
	CHECK_EQ(mp_secret_add(MP_STR("xy%zz%2")), 0);
	CHECK_EQ(known("xy%zz%2", 0, false), 7);
	CHECK_EQ(known("xy%25zz%252", 0, false), 11);
}

TEST(the_longest_of_several_counts)
{
	WITH_SECRETS;

	CHECK_EQ(mp_secret_add(MP_STR("abcdef")), 0);
	CHECK_EQ(mp_secret_add(MP_STR("abcdefghi")), 0);
	CHECK_EQ(mp_secret_add(MP_STR("bcdefg")), 0);
	CHECK_EQ(known("xabcdefghij", 1, false), 10);
	CHECK_EQ(known("xabcdefghij", 2, false), 8);
	CHECK_EQ(known("xabcdefghij", 0, false), 0);
	mp_secret_remove(MP_STR("abcdefghi"));
	CHECK_EQ(known("xabcdefghij", 1, false), 7);
}

TEST(the_beginning_counts_where_the_text_was_cut)
{
	WITH_SECRETS;

	CHECK_EQ(mp_secret_add(MP_STR("hunter22")), 0);
	CHECK_EQ(known("hunte", 0, false), 0);
	CHECK_EQ(known("hunte", 0, true), 5);
	CHECK_EQ(known("hu", 0, true), 0); /* too little to tell */
	CHECK_EQ(known("hunte" MP_STR_CUT_MARK, 0, false), 5);
	CHECK_EQ(known("hunte" MP_STR_CUT_MARK ": No such file", 0, false), 5);
	CHECK_EQ(known("hu" MP_STR_CUT_MARK, 0, false), 0);
	CHECK_EQ(known("hunte...", 0, false), 0);
}
