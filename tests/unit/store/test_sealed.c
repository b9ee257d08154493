/*
 * test_sealed.c - an entry's JSON without its literal secrets: what goes, what stays, what differs.
 */
#include "test.h"

#include <stdio.h>

#include "store/sealed.h"

#define D "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"

static const unsigned char key[32] = "one key", other_key[32] = "another key";

/* The JSON sealed, with "#" for each hash. */
static const char *seal(const char *json, const unsigned char *with)
{
	static char got[2000];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	int r;

	mp_buf_init(&out, 10000);
	r = mp_sealed_add(mp_str_of(json), with, &out);
	snprintf(got, sizeof(got), "%.*s", r < 0 ? 0 : (int)out.len, r < 0 ? "" : out.data);
	for (char *at = got; with && (at = strstr(at, " [")); at++)
		if (strlen(at) > 18 && at[18] == ']')
			memmove(at + 1, at + 19, strlen(at + 19) + 1), *at = '#';
	return got;
}

/* attack-S15 */
TEST(literal_secrets_go)
{
	CHECK_TEXT(
		seal("{\"args\":[\"--token\",\"abcdef\",\"x\"],\"env\":{\"A_TOKEN\":\"abcdef\","
		     "\"B\":\"plain\",\"C_KEY\":\"${C}\",\"D_TOKEN\":\"!get "
		     "d\"},\"n\":[1,true,null]}",
		     key),
		"{\"args\":[\"--token\",\"" D "#\",\"x\"],\"env\":{\"A_TOKEN\":\"" D "#\","
		"\"B\":\"plain\",\"C_KEY\":\"${C}\",\"D_TOKEN\":\"!get d\"},\"n\":[1,true,null]}");
	CHECK_TEXT(seal("{\"headers\":{\"X-Plain\":\"abc\",\"X\":\"${V}\"},\"url\":\"https://u:p@h/"
			"x?q=1\"}",
			key),
		   "{\"headers\":{\"X-Plain\":\"" D "#\",\"X\":\"${V}\"},"
		   "\"url\":\"https://" D "@h/x?" D "#\"}");
	CHECK_TEXT(seal("not JSON", key), "");
}

/* attack-S16: for people what may be run stays. */
TEST(for_people_what_may_be_run_stays)
{
	CHECK_TEXT(seal("{\"args\":[\"--token\",\"abcdef\"],\"env\":{\"A_TOKEN\":\"abcdef\","
			"\"B_AUTH_COMMAND\":\"touch "
			"pwned\"},\"headers\":{\"Authorization\":\"Bearer x\"}}",
			NULL),
		   "{\"args\":[\"--token\",\"abcdef\"],\"env\":{\"A_TOKEN\":\"" D "\","
		   "\"B_AUTH_COMMAND\":\"touch pwned\"},\"headers\":{\"Authorization\":\"" D
		   "\"}}");
	CHECK(!mp_sealed_is_hidden(MP_STR("TOKEN"), MP_STR("a\tb"), false));
	CHECK(!mp_sealed_is_hidden(MP_STR("TOKEN"), MP_STR("./a"), true));
	CHECK(!mp_sealed_is_hidden(MP_STR("TOKEN"), MP_STR(""), false));
}

/* attack-S15: the hash tells values apart, and says nothing without the key. */
TEST(hashes)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf a;
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&a, 1000);
	mp_buf_init(&b, 1000);
	CHECK_EQ(mp_sealed_add(MP_STR("{\"TOKEN\":\"abcdef\"}"), key, &a), 0);
	CHECK_EQ(mp_sealed_add(MP_STR("{\"TOKEN\":\"abcdef\"}"), key, &b), 0);
	CHECK(mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
	mp_buf_clear(&b);
	CHECK_EQ(mp_sealed_add(MP_STR("{\"TOKEN\":\"abcdeg\"}"), key, &b), 0);
	CHECK(!mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
	mp_buf_clear(&b);
	CHECK_EQ(mp_sealed_add(MP_STR("{\"TOKEN\":\"abcdef\"}"), other_key, &b), 0);
	CHECK(!mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
}
