/*
 * test_changes.c - what a verb changes, and every byte it leaves alone.
 */
#include "test.h"
#include "config.h"

#include "base/buf.h"
#include "base/limits.h"
#include "config/read/changes.h"

static const char commented[] =
	"// mine\n"
	"{\n"
	"\t\"unknown\": [1, 2e5, \"\\u00e9\"], /* kept */\n"
	"\t\"mcpServers\": {\n"
	"\t\t// the files\n"
	"\t\t\"files\": {\"command\": \"f\", \"odd\": 12345678901234567890},\n"
	"\n"
	"\t\t\"web\": {\n"
	"\t\t\t\"url\": \"http://x\", // for a while\n"
	"\t\t},\n"
	"\t},\n"
	"}\n"
	"// end";

/* What becomes of a text; NULL: the failure is in why. */
static const char *result(const char *old, mp_writer_fn fn, void *u)
{
	static char text[4096];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	int r;

	mp_buf_init(&out, MP_LIMIT_OWN_FILE);
	why = (struct mcpool_error){0};
	r = fn(mp_str_of(old), &out, u, &why);
	if (r < 0)
		return NULL;
	snprintf(text, sizeof(text), "%.*s", MP_STR_ARGS(mp_buf_get(&out)));
	return r == 0 ? "(same)" : text;
}

static struct mp_server_change server(const char *name, const char *json)
{
	return (struct mp_server_change){name, mp_str_of(json), "/p/mcp.json"};
}

static const char *add(const char *old, const char *name, const char *json)
{
	struct mp_server_change c = server(name, json);

	return result(old, mp_change_add_server, &c);
}

static const char *set(const char *old, const char *name, const char *json)
{
	struct mp_server_change c = server(name, json);

	return result(old, mp_change_set_server, &c);
}

static const char *removed(const char *old, const char *name)
{
	struct mp_server_change c = server(name, NULL);

	return result(old, mp_change_remove_server, &c);
}

static const char *turn(const char *old, const char *name, bool on)
{
	struct mp_switch_change c = {name, "/p/mcp.json", on};

	return result(old, mp_change_switch_server, &c);
}

static const char *name_in(const char *old, const char *list, const char *name, bool present)
{
	struct mp_names_change c = {list, name, "/p/mcp.json", present};

	return result(old, mp_change_names, &c);
}

/* The text with one piece of it replaced, to compare with. */
static const char *with(const char *text, const char *piece, const char *by)
{
	static char all[4096];
	const char *at = strstr(text, piece);

	if (!at)
		return "(no such piece)";
	snprintf(all, sizeof(all), "%.*s%s%s", (int)(at - text), text, by, at + strlen(piece));
	return all;
}

/* --- servers -------------------------------------------------------------------------------- */

TEST(a_new_file_is_laid_out)
{
	static const char want[] = "{\n"
				   "  \"mcpServers\": {\n"
				   "    \"files\": {\n"
				   "      \"command\": \"npx\",\n"
				   "      \"args\": [\"-y\", \"z\"]\n"
				   "    }\n"
				   "  }\n"
				   "}\n";

	CHECK_TEXT(add("", "files", "{\"command\":\"npx\",\"args\":[\"-y\",\"z\"]}"), want);
	CHECK_TEXT(set("", "files", "{\"command\":\"npx\",\"args\":[\"-y\",\"z\"]}"), want);
}

TEST(added_behind_the_others_and_nothing_else_changes) /* U32 */
{
	CHECK_TEXT(add(commented, "new", "{\"command\":\"n\"}"),
		   with(commented, "\t\t},\n\t},\n",
			"\t\t},\n\t\t\"new\": {\n\t\t\t\"command\": \"n\"\n\t\t},\n\t},\n"));
	CHECK_TEXT(
		add("{\r\n    \"mcpServers\": {\r\n        \"a\": {}\r\n    }\r\n}\r\n", "b", "{}"),
		"{\r\n    \"mcpServers\": {\r\n        \"a\": {},\r\n        \"b\": {}\r\n    "
		"}\r\n}\r\n");
	CHECK_TEXT(add("{\"mcpool\":{}}", "b", "{}"), "{\"mcpool\":{},\"mcpServers\":{\"b\":{}}}");
	CHECK_TEXT(add("{\"mcpServers\":{}}", "q\"uote", "{}"),
		   "{\"mcpServers\":{\"q\\\"uote\":{}}}");
}

TEST(a_name_twice_is_refused) /* B62 */
{
	CHECK(!add(commented, "files", "{}"));
	CHECK_EQ(why.code, MCPOOL_EEXIST);
	CHECK_TEXT(why.message, "Server \"files\" already exists in /p/mcp.json");
	CHECK(!add("{\"mcpServers\":{\"fil\\u0065s\":1}}", "files",
		   "{}")); /* however it is spelled */
	CHECK_EQ(why.code, MCPOOL_EEXIST);
}

TEST(set_replaces_or_adds)
{
	CHECK_TEXT(set(commented, "files", "{\"command\":\"g\"}"),
		   with(commented, "{\"command\": \"f\", \"odd\": 12345678901234567890}",
			"{\"command\": \"g\"}"));
	CHECK_TEXT(set("{\"mcpServers\":{\"a\":{}}}", "b", "{}"),
		   "{\"mcpServers\":{\"a\":{},\"b\":{}}}");
	/* What says the same stays, with its comments. */
	CHECK_TEXT(set(commented, "web", "{\"url\":\"http://x\"}"), "(same)");
	CHECK_TEXT(set(commented, "files", "{\"odd\":12345678901234567890,\"command\":\"f\"}"),
		   "(same)");
	CHECK(!set(commented, "web", "{broken"));
	CHECK_EQ(why.code, MCPOOL_EPARSE);
	CHECK(strstr(why.message, "the new value"));
}

TEST(removed_and_nothing_else_changes)
{
	CHECK_TEXT(removed(commented, "web"),
		   with(commented,
			"\t\t\"web\": {\n\t\t\t\"url\": \"http://x\", // for a while\n\t\t},\n",
			""));
	CHECK_TEXT(removed("{\"mcpServers\":{\"a\":{}}}", "a"), "{\"mcpServers\":{}}");
	CHECK(!removed(commented, "nobody"));
	CHECK_EQ(why.code, MCPOOL_ENOENT);
	CHECK_TEXT(why.message, "Server \"nobody\" not found in /p/mcp.json");
	CHECK(!removed("", "nobody"));
	CHECK_EQ(why.code, MCPOOL_ENOENT);
}

TEST(added_and_removed_is_as_before)
{
	char between[4096];

	CHECK(add(commented, "new", "{\"command\":\"n\"}"));
	snprintf(between, sizeof(between), "%s", add(commented, "new", "{\"command\":\"n\"}"));
	CHECK_TEXT(removed(between, "new"), commented);
}

TEST(parts_that_are_no_objects_are_refused)
{
	static const char *const broken[] = {"[]", "1", "{\"mcpServers\": []}",
					     "{\"mcpServers\": null}"};

	for (size_t i = 0; i < MP_ARRAY_LEN(broken); i++) {
		CHECK(!add(broken[i], "a", "{}"));
		CHECK_EQ(why.code, MCPOOL_ETYPE);
		CHECK(strstr(why.message, "in /p/mcp.json is ") &&
		      strstr(why.message, "must be an object; it was not changed"));
		CHECK(!set(broken[i], "a", "{}"));
		CHECK(!removed(broken[i], "a"));
		CHECK_EQ(why.code, MCPOOL_ETYPE);
		CHECK(!turn(broken[i], "a", true));
		CHECK_EQ(why.code, MCPOOL_ETYPE);
	}
	CHECK(!turn("{\"mcpServers\":{\"a\":7}}", "a", false));
	CHECK(strstr(why.message, "Server \"a\" in /p/mcp.json is a number"));
	CHECK(!name_in("{\"mcpool\":7}", "deny", "a", true));
	CHECK(strstr(why.message, "\"mcpool\" in /p/mcp.json is a number and must be an object"));
	CHECK(!name_in("{\"mcpool\":{\"deny\":\"a\"}}", "deny", "a", true));
	CHECK(strstr(why.message, "is a string and must be a list of names"));
}

TEST(a_key_twice_is_refused)
{
	static const char twice[] = "{\"mcpServers\": {\n\"a\": {}, \"b\": {},\n\"a\": {}}}";

	CHECK(!set(twice, "a", "{\"x\":1}"));
	CHECK_EQ(why.code, MCPOOL_EINVAL);
	CHECK_TEXT(why.message, "/p/mcp.json:3:1: \"a\" occurs twice; remove one of them, "
				"nothing was changed");
	CHECK(!removed(twice, "a"));
	CHECK(!add(twice, "a", "{}"));
	CHECK(!turn(twice, "a", false));
	CHECK_EQ(why.code, MCPOOL_EINVAL);
	CHECK(removed(twice, "b")); /* what it does not touch may be as it is */
	CHECK(!add("{\"mcpServers\":{},\"mcpServers\":{}}", "a", "{}"));
	CHECK_EQ(why.code, MCPOOL_EINVAL);
	CHECK(!turn("{\"mcpServers\":{\"a\":{\"enabled\":true,\"enabled\":false}}}", "a", true));
	CHECK_EQ(why.code, MCPOOL_EINVAL);
	CHECK(!name_in("{\"mcpool\":{},\"mcpool\":{}}", "deny", "a", true));
	CHECK(!name_in("{\"mcpool\":{\"deny\":[],\"deny\":[]}}", "deny", "a", true));
	CHECK_EQ(why.code, MCPOOL_EINVAL);
}

/* --- on and off ----------------------------------------------------------------------------- */

TEST(off_and_on_again)
{
	static const char plain[] = "{\"mcpServers\": {\"a\": {\"command\": \"c\"}}}";
	static const char off[] =
		"{\"mcpServers\": {\"a\": {\"command\": \"c\", \"enabled\": false}}}";

	CHECK_TEXT(turn(plain, "a", true), "(same)");
	CHECK_TEXT(turn(plain, "a", false), off);
	CHECK_TEXT(turn(off, "a", false), "(same)");
	CHECK_TEXT(turn(off, "a", true), plain);
	CHECK_TEXT(turn("{\"mcpServers\":{\"a\":{\"enabled\":true}}}", "a", true), "(same)");
	CHECK_TEXT(turn("{\"mcpServers\":{\"a\":{\"enabled\":true}}}", "a", false),
		   "{\"mcpServers\":{\"a\":{\"enabled\":false}}}");
	CHECK_TEXT(turn("{\"mcpServers\":{\"a\":{\"enabled\":\"no\"}}}", "a", true),
		   "{\"mcpServers\":{\"a\":{\"enabled\":true}}}");
	CHECK_TEXT(
		turn(commented, "web", false),
		with(commented, "// for a while\n", "// for a while\n\t\t\t\"enabled\": false,\n"));
	CHECK(!turn(plain, "b", false));
	CHECK_TEXT(why.message, "Server \"b\" not found in /p/mcp.json");
}

/* --- lists of names ------------------------------------------------------------------------- */

/* As other tools write it: what is on must be on, and what they wrote stays. */
TEST(disabled_is_overruled)
{
	static const char off[] = "{\"mcpServers\": {\"a\": {\"disabled\": true}}}";

	CHECK_TEXT(turn(off, "a", true),
		   "{\"mcpServers\": {\"a\": {\"disabled\": true, \"enabled\": true}}}");
	CHECK_TEXT(turn("{\"mcpServers\": {\"a\": {\"disabled\": true, \"enabled\": false}}}", "a",
			true),
		   "{\"mcpServers\": {\"a\": {\"disabled\": true, \"enabled\": true}}}");
	CHECK_TEXT(turn("{\"mcpServers\": {\"a\": {\"disabled\": false, \"enabled\": false}}}", "a",
			true),
		   "{\"mcpServers\": {\"a\": {\"disabled\": false}}}");
}

TEST(names_into_and_out_of_a_list)
{
	CHECK_TEXT(name_in("", "deny", "a", true),
		   "{\n  \"mcpool\": {\n    \"deny\": [\"a\"]\n  }\n}\n");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[]}}", "deny", "a", true),
		   "{\"mcpool\":{\"deny\":[\"a\"]}}");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[\"a\"]}}", "deny", "b\"", true),
		   "{\"mcpool\":{\"deny\":[\"a\",\"b\\\"\"]}}");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[\"a\"]}}", "deny", "a", true), "(same)");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[\"a\"]}}", "allow", "a", true),
		   "{\"mcpool\":{\"deny\":[\"a\"],\"allow\":[\"a\"]}}");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[\"a\"]}}", "deny", "b", false), "(same)");
	CHECK_TEXT(name_in("{}", "deny", "b", false), "(same)");
	CHECK_TEXT(name_in("", "deny", "b", false), "(same)");
	/* An empty list stays: of the allowed, none is not all. */
	CHECK_TEXT(name_in("{\"mcpool\":{\"allow\":[\"a\"]}}", "allow", "a", false),
		   "{\"mcpool\":{\"allow\":[]}}");
	/* use-P7: an empty "deny" goes, and the object around it, unless a comment is in it. */
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[\"a\"]},\"z\":1}", "deny", "a", false),
		   "{\"z\":1}");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[\"a\"],\"log\":{}}}", "deny", "a", false),
		   "{\"mcpool\":{\"log\":{}}}");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[/* c */ \"a\"]}}", "deny", "a", false),
		   "{\"mcpool\":{\"deny\":[/* c */ ]}}");
	CHECK_TEXT(name_in("{\"mcpool\":{\"deny\":[\"x\", \"a\", 7, \"a\", \"y\", \"a\"]}}", "deny",
			   "a", false),
		   "{\"mcpool\":{\"deny\":[\"x\", 7, \"y\"]}}");
}

/* --- keys of a server ------------------------------------------------------------------------ */

static int refuse_five(void *u, const char *name, struct mp_str json)
{
	(void)u;
	(void)name;
	return mp_str_find(json, MP_STR("5"), 0) >= 0 ? MCPOOL_EINVAL : 0;
}

/* B10: all of the changes or none, and none that the check refuses. */
TEST(keys_of_an_entry_change_if_the_result_is_valid)
{
	struct mp_str old = MP_STR("{\"mcpServers\":{\"a\":{\"x\":1,/* c */\"y\":{\"z\":2}}}}");
	struct mp_key_change items[] = {{MP_STR(""), MP_STR("x"), MP_STR("3"), false},
					{MP_STR("y"), MP_STR("z"), MP_STR(""), false},
					{MP_STR("y"), MP_STR("w"), MP_STR("4"), false}};
	struct mp_edit_change c = {"a", "f", items, 3, refuse_five, NULL};
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mcpool_error e;

	mp_buf_init(&out, MP_MIB(1));
	CHECK_EQ(mp_change_edit_server(old, &out, &c, &e), 1);
	CHECK_STR(mp_buf_get(&out), "{\"mcpServers\":{\"a\":{\"x\":3,/* c */\"y\":{\"w\":4}}}}");
	mp_buf_clear(&out);
	items[2].json = MP_STR("5");
	CHECK_EQ(mp_change_edit_server(old, &out, &c, &e), MCPOOL_EINVAL);
	items[2] = (struct mp_key_change){MP_STR(""), MP_STR("none"), MP_STR(""), false};
	CHECK_EQ(mp_change_edit_server(old, &out, &c, &e), MCPOOL_ENOENT);
	c.name = "b";
	CHECK_EQ(mp_change_edit_server(old, &out, &c, &e), MCPOOL_ENOENT);
	CHECK_EQ(out.len, 0);
}

/* --- through the writer --------------------------------------------------------------------- */

TEST(a_file_is_changed_and_all_else_survives) /* U32 B56 B62 */
{
	struct mp_server_change c;

	CHECK(config_clear() && config_put(file_path, commented));
	c = (struct mp_server_change){"new", MP_STR("{\"command\":\"n\"}"), file_path};
	CHECK_EQ(mp_config_change(file_path, mp_change_add_server, &c, &why), 1);
	CHECK(strstr(config_get(file_path), "\t\t\"new\": {\n"));
	CHECK_EQ(mp_config_change(file_path, mp_change_add_server, &c, &why), MCPOOL_EEXIST);
	CHECK(strncmp(why.message, "Server \"new\" already exists in /", 31) == 0);
	CHECK_EQ(mp_config_change(file_path, mp_change_set_server, &c, &why), 0);
	CHECK_EQ(mp_config_change(file_path, mp_change_remove_server, &c, &why), 1);
	CHECK_TEXT(config_get(file_path), commented);
}
