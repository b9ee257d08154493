/*
 * test_spelling.c - every way to write the name of one server's tool.
 */
#include "test.h"

#include <stdio.h>
#include <openssl/evp.h>

#include "base/limits.h"
#include "session/spelling.h"

static const char *spell(enum mp_spelling how, const char *server, const char *name)
{
	static char text[MP_KIB(4)];
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, sizeof(text) - 1);
	memset(text, 0, sizeof(text));
	if (mp_spell(how, mp_str_of(server), mp_str_of(name), &b) == 0)
		memcpy(text, b.data, b.len);
	return text; /* nothing where there was no memory */
}

#define DEFAULT(server, name) spell(MP_SPELLING_MCP_DOUBLE, server, name)
#define SINGLE(server, name)  spell(MP_SPELLING_MCP_SINGLE, server, name)

/* U19 E60 B43 */
TEST(the_default_keeps_case_digits_and_hyphens)
{
	CHECK_TEXT(DEFAULT("github", "search_code"), "mcp__github__search_code");
	CHECK_TEXT(DEFAULT("a.b-c", "Read File 2"), "mcp__a_b-c__Read_File_2");
	CHECK_TEXT(DEFAULT("GitHub", "getIssue"), "mcp__GitHub__getIssue");
	CHECK_TEXT(DEFAULT("a", "b..c"), "mcp__a__b__c");
	CHECK_TEXT(DEFAULT("a", "\xc3\xa9t\xc3\xa9"), "mcp__a___t_");
	CHECK_TEXT(DEFAULT("a", "\xff\xf0\x9f\x98\x80"), "mcp__a____");
	CHECK_TEXT(DEFAULT("", ""), "mcp____");
}

/* B42 B43 B44 B45 */
TEST(mcp_server_tool_is_sanitized)
{
	CHECK_TEXT(SINGLE("github", "search_code"), "mcp_github_search_code");
	CHECK_TEXT(SINGLE("My Server", "Read-File"), "mcp_my_server_read_file");
	CHECK_TEXT(SINGLE("s3", "get2"), "mcp_s3_get2");
	CHECK_TEXT(SINGLE("AZ09", "za90"), "mcp_az09_za90");
	CHECK_TEXT(SINGLE("__a__", "..b..--c__"), "mcp_a_b_c");
	CHECK_TEXT(SINGLE("\xc3\xa9", "??"), "mcp_server_tool");
	CHECK_TEXT(spell(MP_SPELLING_MCP_LETTERS, "s3", "get2all"), "mcp_s_get_all");
	CHECK_TEXT(spell(MP_SPELLING_OMP, "s3", "Get-all"), "mcp__s3_get_all");
}

/* B46 */
TEST(a_tool_does_not_repeat_its_server)
{
	CHECK_TEXT(SINGLE("github", "github_search"), "mcp_github_search");
	CHECK_TEXT(SINGLE("GitHub", "github-search"), "mcp_github_search");
	CHECK_TEXT(SINGLE("github", "github_github_search"), "mcp_github_github_search");
	CHECK_TEXT(SINGLE("github", "github"), "mcp_github_github");
	CHECK_TEXT(SINGLE("github", "github_"), "mcp_github_github");
	CHECK_TEXT(SINGLE("git", "github_search"), "mcp_git_github_search");
	CHECK_TEXT(DEFAULT("github", "github_search"), "mcp__github__github_search");
}

/* U19 */
TEST(the_other_spellings)
{
	CHECK_TEXT(spell(MP_SPELLING_SERVER, "github", "search_code"), "github__search_code");
	CHECK_TEXT(spell(MP_SPELLING_SERVER, "a.b", "c d"), "a_b__c_d");
	CHECK_TEXT(spell(MP_SPELLING_PASSTHROUGH, "a", "b.c \xc3\xa9"), "b.c \xc3\xa9");
	CHECK_TEXT(spell(MP_SPELLING_BARE, "a", "b.c"), "b.c");
	CHECK_TEXT(spell(MP_SPELLING_DOT, "a", "b.c"), "a.b.c");
	CHECK_TEXT(spell(MP_SPELLING_SLASH, "a", "b"), "a/b");
	CHECK_TEXT(spell(MP_SPELLING_COLON, "a", "b"), "a:b");
}

/* 64 stay, the 65th is cut; the end is what `printf 'a\0xxx...' | sha256sum` begins with. */
/* U19 P16 */
TEST(longer_names_are_cut_and_get_their_hash)
{
	unsigned char sum[32];
	char name[59] = {0}, plain[60] = "a", hash[10];

	memset(name, 'x', 56); /* mcp__a__ and 56 are 64 */
	CHECK_EQ(strlen(DEFAULT("a", name)), 64);
	CHECK(!strchr(DEFAULT("a", name) + 8, '_'));
	name[56] = 'x';
	memcpy(plain + 2, name, 57);
	CHECK_EQ(EVP_Digest(plain, 59, sum, NULL, EVP_sha256(), NULL), 1);
	snprintf(hash, sizeof(hash), "_%02x%02x%02x%02x", sum[0], sum[1], sum[2], sum[3]);
	CHECK_EQ(strlen(DEFAULT("a", name)), 64);
	CHECK_TEXT(DEFAULT("a", name) + 55, hash);
	CHECK(memcmp(DEFAULT("a", name), "mcp__a__xxxxx", 13) == 0);
}

/* Wherever the cut falls there is one `_` before the hash, and no half character. */
TEST(a_cut_is_clean)
{
	char name[120] = {0};
	const char *text;

	for (size_t i = 0; i < 100; i += 2)
		memcpy(name + i, "x_", 2);
	text = SINGLE("a", name);
	CHECK(strlen(text) <= MP_NAME_MAX && !strstr(text, "__"));
	for (size_t i = 0; i < 99; i += 3)
		memcpy(name + i, "\xe2\x82\xac", 3);
	text = spell(MP_SPELLING_PASSTHROUGH, "a", name);
	CHECK(strlen(text) <= MP_NAME_MAX && strlen(text) > 60);
	CHECK(mp_utf8_valid(mp_str_of(text)));
	CHECK_TEXT(spell(MP_SPELLING_BARE, "a", name), name);
}

TEST(a_hash_goes_on_when_asked_again)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf a, b;

	mp_buf_init(&a, 200);
	mp_buf_init(&b, 200);
	CHECK_EQ(mp_spell_hashed(MP_SPELLING_SERVER, MP_STR("s"), MP_STR("t"), 0, &a), 0);
	CHECK_STR(mp_buf_get(&a), "s__t_12dce344");
	CHECK_EQ(mp_spell_hashed(MP_SPELLING_SERVER, MP_STR("s"), MP_STR("t"), 1, &b), 0);
	CHECK_EQ(b.len, a.len);
	CHECK(!mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
}

TEST(what_does_not_fit_leaves_nothing_behind)
{
	for (size_t ceiling = 1; ceiling < 16; ceiling++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf b;

		mp_buf_init(&b, ceiling);
		CHECK_EQ(mp_buf_add_char(&b, 'x'), 0);
		CHECK_EQ(mp_spell(MP_SPELLING_MCP_DOUBLE, MP_STR("server"), MP_STR("tool"), &b),
			 MCPOOL_ELIMIT);
		CHECK_STR(mp_buf_get(&b), "x");
	}
}
