/* test_tool_index.c - which tool a word could mean, and what is like it. */
#include "test.h"

#include <stdio.h>

#include "cli/servers/tool_index.h"

/* SERVER/TOOL of each, as far as the first '/'. */
static bool fill(struct mp_tool_index *b, const char *const *pairs)
{
	*b = (struct mp_tool_index){.names = mp_names_new(MP_NAMING_MCP_DOUBLE)};
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
		CHECK_EQ(mp_tool_index_names_server(mp_str_of(rows[i].name), rows[i].server),
			 rows[i].want);
}

#define OFFER(tools, saved)                                                                  \
	"\"catalog\":{\"savedAt\":" saved                                                    \
	",\"server\":{\"protocolVersion\":\"2025-11-25\",\"era\":"                           \
	"\"legacy\"},\"lists\":[{\"page\":{\"tools\":[" tools "]}},{\"page\":{\"prompts\":[" \
	"{\"name\":\"p\"}]}},{\"page\":null},{\"page\":null}]}"
#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

static bool read_roster(const char *text, struct mp_status_list **ret)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	REQUIRE(mp_tape_parse(&t, mp_str_of(text), NULL) == 0);
	REQUIRE(mp_status_list_read(&t, MP_ROOT, ret, NULL) == 0);
	return true;
}

/* U20 A43 */
/* What counts of what servers offer depends on where they stand, and on their filters. */
TEST(a_box_has_what_may_be_used)
{
	static const char text[] =
		"{\"naming\":\"mcp__server__tool\",\"servers\":["
		"{\"name\":\"up\",\"state\":\"connected\",\"toolsDenied\":[\"no\"]," OFFER(
			TOOL("yes") "," TOOL("no"),
			"0") "},"
			     "{\"name\":\"old\",\"state\":\"ready\"," OFFER(
				     TOOL("t"),
				     "77") "},"
					   "{\"name\":\"soon\",\"state\":\"pending\"," OFFER(
						   TOOL("t"),
						   "0") "},"
							"{\"name\":\"down\",\"state\":"
							"\"failed\"," OFFER(
								TOOL("t"),
								"0") "},"
								     "{\"name\":\"off\",\"state\":"
								     "\"disabled\"," OFFER(
									     TOOL("t"), "5") "}]}";
	static const struct {
		enum mp_catalog_kind kind;
		unsigned which;
		const char *names;
	} rows[] = {
		{MP_CATALOG_TOOL, 0, "mcp__old__t mcp__up__yes+ "},
		{MP_CATALOG_TOOL, MP_TOOL_INDEX_PENDING, "mcp__old__t mcp__soon__t mcp__up__yes+ "},
		{MP_CATALOG_TOOL, MP_TOOL_INDEX_FAILED, "mcp__down__t mcp__old__t mcp__up__yes+ "},
		{MP_CATALOG_TOOL, MP_TOOL_INDEX_HIDDEN, "mcp__up__no+ "},
		{MP_CATALOG_PROMPT, 0, "mcp__old__p mcp__up__p+ "},
		{MP_CATALOG_PROMPT, MP_TOOL_INDEX_HIDDEN, ""},
	};
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *servers = NULL;

	CHECK(read_roster(text, &servers));
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_tool_index_done) struct mp_tool_index b = {0};
		char names[200] = "";

		CHECK_EQ(mp_tool_index_fill(&b, servers, rows[i].kind, rows[i].which, NULL), 0);
		for (size_t k = 0; k < mp_names_count(b.names); k++)
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%.*s%s ",
				 MP_STR_ARGS(mp_names_get(b.names, k)->public_name),
				 mp_tool_index_get(&b, k)->is_live ? "+" : "");
		CHECK_TEXT(names, rows[i].names);
	}
}

/* U19 */
TEST(an_ambiguous_word_has_candidates)
{
	MP_CLEANUP(mp_tool_index_done) struct mp_tool_index b = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4096);
	CHECK(fill(&b, some));
	CHECK_EQ(mp_tool_index_add_candidates(&b, MP_STR("read"), &out), 2);
	CHECK_STR(mp_buf_get(&out), "mcp__files__read, mcp__notes__read");
	mp_buf_clear(&out);
	CHECK_EQ(mp_tool_index_add_candidates(&b, MP_STR("nothing"), &out), 0);
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
		MP_CLEANUP(mp_tool_index_done) struct mp_tool_index b = {0};
		MP_CLEANUP(mp_buf_done) struct mp_buf out;

		mp_buf_init(&out, 4096);
		CHECK(fill(&b, some));
		mp_tool_index_add_similar(&b, mp_str_of(rows[i].name), &out);
		CHECK(mp_str_eq(mp_buf_get(&out), mp_str_of(rows[i].want)));
	}
}
