/* test_toolbox.c - which tool a word could mean, and what is like it. */
#include "test.h"

#include "cli/toolbox.h"

/* SERVER/TOOL of each, as far as the first '/'. */
static bool fill(struct mp_toolbox *b, const char *const *pairs)
{
	*b = (struct mp_toolbox){.names = mp_names_new(MP_NAMING_MCP_DOUBLE)};
	for (; *pairs; pairs++) {
		size_t n = strcspn(*pairs, "/");

		REQUIRE(mp_names_add(b->names, (struct mp_str){*pairs, n},
				     mp_str_of(*pairs + n + 1), NULL) == 0);
	}
	REQUIRE(mp_names_finish(b->names) == 0);
	return true;
}

static const char *const some[] = {"files/read", "files/write", "notes/read", "web/search", NULL};

/* U19 */
TEST(a_name_may_have_a_server_in_it)
{
	static const struct {
		const char *name, *server;
		bool want;
	} rows[] = {
		{"mcp__files__read", "files", true},
		{"mcp_files_read", "files", true},
		{"files__read", "files", true},
		{"files.read", "files", true},
		{"files/read", "files", true},
		{"files:read", "files", true},
		{"mcp__files_read", "files", true},
		{"MCP__Files__read", "files", true},
		{"read", "files", false},
		{"files", "files", false},
		{"mcp__file__read", "files", false},
		{"filesread", "files", false},
		{"mcp__a_b__read", "a b", true},
		{"", "files", false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		CHECK_EQ(mp_toolbox_names_server(mp_str_of(rows[i].name), rows[i].server),
			 rows[i].want);
}

/* U19 */
TEST(an_ambiguous_word_has_candidates)
{
	MP_CLEANUP(mp_toolbox_done) struct mp_toolbox b = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4096);
	CHECK(fill(&b, some));
	CHECK_EQ(mp_toolbox_add_candidates(&b, MP_STR("read"), &out), 2);
	CHECK_STR(mp_buf_get(&out), "mcp__files__read, mcp__notes__read");
	mp_buf_clear(&out);
	CHECK_EQ(mp_toolbox_add_candidates(&b, MP_STR("nothing"), &out), 0);
	CHECK_EQ(out.len, 0);
}

TEST(what_is_alike_is_suggested)
{
	static const struct {
		const char *name, *want;
	} rows[] = {
		{"mcp__files__raed", "mcp__files__read"},
		{"wirte", "mcp__files__write"},
		{"web/serch", "mcp__web__search"},
		{"sear", "mcp__web__search"},
		{"zzz", ""},
		{"", ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_toolbox_done) struct mp_toolbox b = {0};
		MP_CLEANUP(mp_buf_done) struct mp_buf out;

		mp_buf_init(&out, 4096);
		CHECK(fill(&b, some));
		mp_toolbox_add_similar(&b, mp_str_of(rows[i].name), &out);
		CHECK(mp_str_eq(mp_buf_get(&out), mp_str_of(rows[i].want)));
	}
}
