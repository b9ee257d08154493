/*
 * test_http_token.c - the token: made once, this user's alone, void when it is changed.
 */
#include "test.h"
#include "store.h"

#include "face/http_token.h"

static char path[100];

static bool clear(void)
{
	REQUIRE(store_clear());
	snprintf(path, sizeof(path), "%s/state/token", test_folder);
	return true;
}

#define TOKEN(t) MP_CLEANUP(mp_http_token_done) struct mp_http_token t = {0}

/* V18 V20 */
TEST(a_token_is_made_when_it_is_missing)
{
	TOKEN(t);
	TOKEN(again);

	CHECK(clear());
	CHECK_EQ(mp_http_token_open(&t, path, &why), 0);
	CHECK_EQ(store_mode(path, ""), 0600);
	CHECK_EQ(t.len, 64);
	CHECK_EQ(strspn(t.text, "0123456789abcdef"), 64);
	CHECK_EQ(mp_http_token_open(&again, path, &why), 0);
	CHECK(strcmp(again.text, t.text) == 0);
	CHECK(mp_http_token_matches(&t, mp_str_of(again.text)));
	CHECK(!mp_http_token_matches(&t, (struct mp_str){t.text, 63}));
	CHECK(!mp_http_token_matches(&t, (struct mp_str){NULL, 0}));
}

/* V19 */
TEST(a_changed_token_is_void_at_once)
{
	TOKEN(t);
	char old[MP_HTTP_TOKEN_MOST + 1];
	uint64_t season;

	CHECK(clear());
	CHECK_EQ(mp_http_token_open(&t, path, &why), 0);
	memcpy(old, t.text, sizeof(old));
	season = t.season;
	CHECK(!mp_http_token_look(&t));
	CHECK_EQ(mp_http_token_rotate(path, &why), 0);
	CHECK(mp_http_token_look(&t));
	CHECK(t.season != season);
	CHECK(!mp_http_token_matches(&t, mp_str_of(old)));
	CHECK_EQ(t.len, 64);
	/* Without a file nothing matches, not even nothing. */
	memcpy(old, t.text, sizeof(old));
	CHECK_EQ(unlink(path), 0);
	CHECK(mp_http_token_look(&t));
	CHECK(!mp_http_token_matches(&t, mp_str_of(old)));
	CHECK(!mp_http_token_matches(&t, MP_STR("")));
	CHECK(!mp_http_token_look(&t));
	/* Back again. */
	CHECK(store_put_file(path, old, 64, 0600));
	CHECK(mp_http_token_look(&t));
	CHECK(mp_http_token_matches(&t, mp_str_of(old)));
}

/* V20 */
TEST(what_others_may_have_touched_is_refused)
{
	static const char text[] = "0123456789abcdef0123456789abcdef0123\n";
	static const struct {
		const char *text;
		mode_t mode;
		int want;
	} cases[] = {
		{text, 0600, 0},
		{text, 0400, 0},
		{text, 0644, MCPOOL_EPERM},
		{text, 0620, MCPOOL_EPERM},
		{"", 0600, MCPOOL_EINVAL},
		{"short", 0600, MCPOOL_EINVAL},
		{"0123456789abcdef 0123456789abcdef0123\n", 0600, MCPOOL_EINVAL},
		{"0123456789abcdef\n0123456789abcdef0123\n", 0600, MCPOOL_EINVAL},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		TOKEN(t);
		int r;

		CHECK(clear());
		CHECK_EQ(mp_http_token_open(&t, path, &why), 0);
		mp_http_token_done(&t);
		CHECK_EQ(unlink(path), 0);
		CHECK(store_put_file(path, cases[i].text, strlen(cases[i].text), cases[i].mode));
		r = mp_http_token_open(&t, path, &why);
		CHECK_EQ(r, cases[i].want);
		if (r == 0)
			CHECK_EQ(t.len, 36);
	}
}

/* V20 */
TEST(a_planted_link_is_not_followed)
{
	TOKEN(t);
	char target[120];

	CHECK(clear());
	CHECK_EQ(mp_http_token_open(&t, path, &why), 0);
	mp_http_token_done(&t);
	snprintf(target, sizeof(target), "%s/elsewhere", test_folder);
	CHECK_EQ(rename(path, target), 0);
	CHECK_EQ(symlink(target, path), 0);
	CHECK_EQ(mp_http_token_open(&t, path, &why), MCPOOL_EPERM);
}

TEST(a_mark_names_the_token_and_gives_nothing_away)
{
	TOKEN(t);
	char mark[MP_HTTP_TOKEN_MARK + 1], other[MP_HTTP_TOKEN_MARK + 1];

	CHECK(clear());
	CHECK_EQ(mp_http_token_open(&t, path, &why), 0);
	mp_http_token_get_mark(&t, mark);
	CHECK(!strstr(t.text, mark));
	CHECK_EQ(mp_http_token_rotate(path, &why), 0);
	CHECK(mp_http_token_look(&t));
	mp_http_token_get_mark(&t, other);
	CHECK(strcmp(mark, other) != 0);
}
