/* test_agent_file.c - an agent's file: our entry goes in and comes out, and nothing else changes.
 */
#include "home.h"

#include <unistd.h>

#include "base/limits.h"
#include "cli/agents/agent_file.h"

static const struct mp_agent_way way = {.mcpool = "/opt/mcpool"};
static const char commented[] = "{\n  // mine\n  \"mcpServers\": {\n    \"files\": {\"command\": "
				"\"x\"}, // last\n  },\n  \"other\": 1\n}\n";

static const char *now(const char *below)
{
	static char text[4096];
	int fd = open(in(below), O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n < 0 ? 0 : n] = '\0';
	return n < 0 ? "(none)" : text;
}

struct desk {
	struct mp_arena arena;
	struct mp_buf entry;
	struct mp_agent_view view;
};

static void tidy(struct desk *d)
{
	mp_arena_done(&d->arena);
	mp_buf_done(&d->entry);
}

static int look(struct desk *d, const char *agent, const char *below)
{
	const struct mp_agent *a = mp_agent_find(agent);
	int r;

	mp_buf_clear(&d->entry);
	r = mp_agent_write_entry(a, &way, &d->entry);
	return r < 0 ? r
		     : mp_agent_look(a, in(below), mp_buf_get(&d->entry), &d->arena, &d->view,
				     &why);
}

#define DESK                                \
	MP_CLEANUP(tidy) struct desk d;     \
	mp_arena_init(&d.arena, MP_MIB(1)); \
	mp_buf_init(&d.entry, MP_KIB(64))

TEST(what_is_written_is_found_and_undone_to_the_byte)
{
	const struct mp_agent *a = mp_agent_find("cursor");
	DESK;

	CHECK(home_make() && put("f.json", commented));
	CHECK_EQ(look(&d, "cursor", "f.json"), 0);
	CHECK_EQ(d.view.link, MP_AGENT_APART);
	CHECK_EQ(d.view.n_names, 1);
	CHECK_TEXT(d.view.names[0], "files");
	CHECK_EQ(mp_agent_write(a, &way, in("f.json"), &why), 1);
	CHECK(strstr(now("f.json"), "// mine") && strstr(now("f.json"), "// last"));
	CHECK_TEXT(now("f.json.mcpool-backup"), commented);
	CHECK_EQ(look(&d, "cursor", "f.json"), 0);
	CHECK_EQ(d.view.link, MP_AGENT_CONNECTED);
	CHECK_EQ(mp_agent_write(a, &way, in("f.json"), &why), 0);
	CHECK_EQ(mp_agent_undo(a, in("f.json"), &why), 1);
	CHECK_TEXT(now("f.json"), commented);
	CHECK(access(in("f.json.mcpool-backup"), F_OK) < 0);
}

static const struct mp_agent_way http = {.mcpool = "/opt/mcpool",
					 .url = "http://127.0.0.1:7717/mcp"};

/* use-A12: whatever we wrote in whatever order, undo is to the byte, and the plan says the same. */
static bool is_undone_after(const struct mp_agent *a, const char *before, const char *order)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf plan;
	bool goes = false;

	mp_buf_init(&plan, MP_KIB(64));
	(void)unlink(in("f"));
	if (before && !put("f", before))
		return false;
	for (; *order; order++)
		if (mp_agent_write(a, *order == 'h' ? &http : &way, in("f"), &why) < 0)
			return false;
	if (mp_agent_plan(a, &way, in("f"), true, mp_str_of(now("f")), &plan, &goes, &why) != 1 ||
	    goes != !before || !mp_str_eq(mp_buf_get(&plan), mp_str_of(before ? before : "")) ||
	    mp_agent_undo(a, in("f"), &why) != 1)
		return false;
	return strcmp(now("f"), before ? before : "(none)") == 0 &&
	       access(in("f.mcpool-backup"), F_OK) < 0;
}

/* Each by itself, because each allocation fails once; test_connect.sh has all combinations. */
TEST(a_file_is_undone_after_any_order)
{
	CHECK(home_make());
	CHECK(is_undone_after(mp_agent_find("cursor"), "{\n\t\"a\": 1, // c\n}", "sh"));
	CHECK(is_undone_after(mp_agent_find("cursor"), "{\"mcpServers\": {}}\r\n", "hsh"));
}

TEST(a_nested_object_is_undone_after_any_order)
{
	CHECK(home_make());
	CHECK(is_undone_after(mp_agent_find("opencode"),
			      "{\"mcp\": {\n \"servers\": {\"x\": {\"command\": [\"y\"]}}}}\n",
			      "hs"));
}

TEST(no_file_and_a_blank_one_are_undone_after_any_order)
{
	CHECK(home_make());
	CHECK(is_undone_after(mp_agent_find("omp"), NULL, "sh"));
	CHECK(is_undone_after(mp_agent_find("omp"), " \n", "hs"));
}

TEST(a_table_is_undone_after_any_order)
{
	CHECK(home_make());
	CHECK(is_undone_after(mp_agent_find("codex"), NULL, "sh"));
	CHECK(is_undone_after(mp_agent_find("codex"), "# mine\n[mcp_servers.x]\ncommand = 'y'",
			      "hs"));
}

/* use-A12: another program wrote between two writes of ours; only our entry goes. */
TEST(edits_between_two_writes_stay)
{
	const struct mp_agent *a = mp_agent_find("cursor");

	CHECK(home_make() && put("f.json", "{\"mcpServers\": {}}\n"));
	CHECK_EQ(mp_agent_write(a, &way, in("f.json"), &why), 1);
	CHECK(put("f.json", "{\"mcpServers\": {\"mcpool\": {\"command\": \"mcpool\", \"args\": "
			    "[\"stdio\"]}, \"new\": {\"command\": \"n\"}}}\n"));
	CHECK_EQ(mp_agent_write(a, &http, in("f.json"), &why), 1);
	CHECK_EQ(mp_agent_undo(a, in("f.json"), &why), 1);
	CHECK_TEXT(now("f.json"), "{\"mcpServers\": {\"new\": {\"command\": \"n\"}}}\n");
}

TEST(a_file_that_was_not_there_goes_again)
{
	static const char *const agents[] = {"zed", "codex"};

	for (size_t i = 0; i < MP_ARRAY_LEN(agents); i++) {
		const struct mp_agent *a = mp_agent_find(agents[i]);

		CHECK(home_make());
		CHECK_EQ(mp_agent_undo(a, in("new/f"), &why), 0);
		CHECK_EQ(mp_agent_write(a, &way, in("new/f"), &why), 1);
		CHECK_EQ(mp_agent_undo(a, in("new/f"), &why), 1);
		CHECK(access(in("new/f"), F_OK) < 0);
	}
}

/* Somebody wrote to it meanwhile: that stays, and so does the backup. */
TEST(what_others_wrote_since_is_kept)
{
	const struct mp_agent *a = mp_agent_find("cursor");

	CHECK(home_make() && put("f.json", "{\"mcpServers\": {}}\n"));
	CHECK_EQ(mp_agent_write(a, &way, in("f.json"), &why), 1);
	CHECK(put("f.json", "{\"mcpServers\": {\"mcpool\": {\"command\": \"mcpool\", \"args\": "
			    "[\"stdio\"]}, \"new\": {\"command\": \"n\"}}}\n"));
	CHECK_EQ(mp_agent_undo(a, in("f.json"), &why), 1);
	CHECK_TEXT(now("f.json"), "{\"mcpServers\": {\"new\": {\"command\": \"n\"}}}\n");
	CHECK_TEXT(now("f.json.mcpool-backup"), "{\"mcpServers\": {}}\n");
}

TEST(a_table_is_appended_and_cut_out)
{
	const struct mp_agent *a = mp_agent_find("codex");
	DESK;

	CHECK(home_make() && put("c.toml", "model = \"m\" # good\n"));
	CHECK_EQ(mp_agent_write(a, &way, in("c.toml"), &why), 1);
	CHECK_TEXT(now("c.toml"),
		   "model = \"m\" # good\n\n[mcp_servers.mcpool]\n"
		   "command = \"/opt/mcpool\"\nargs = [\"stdio\",\"--naming\",\"server__tool\"]\n");
	CHECK_EQ(look(&d, "codex", "c.toml"), 0);
	CHECK_EQ(d.view.link, MP_AGENT_CONNECTED);
	CHECK(put("c.toml", "model = \"m\" # good\n\n[mcp_servers.mcpool]\n"
			    "command = \"/opt/mcpool\"\nargs = "
			    "[\"stdio\",\"--naming\",\"server__tool\"]\n\n[more]\nx = 1\n"));
	CHECK_EQ(mp_agent_undo(a, in("c.toml"), &why), 1);
	CHECK_TEXT(now("c.toml"), "model = \"m\" # good\n\n[more]\nx = 1\n");
	CHECK_EQ(mp_agent_undo(a, in("c.toml"), &why), MCPOOL_ENOENT);
	CHECK(put("c.toml", "mcp_servers = {}\n")); /* a table cannot be added to that one */
	CHECK_EQ(mp_agent_write(a, &way, in("c.toml"), &why), MCPOOL_EPARSE);
	CHECK_TEXT(now("c.toml"), "mcp_servers = {}\n");
}

static enum mp_agent_link link_of(struct desk *d, const char *agent, const char *text)
{
	return put("f", text) && look(d, agent, "f") == 0 ? d->view.link : (enum mp_agent_link)99;
}

TEST(whatever_leads_to_mcpool_is_known)
{
	DESK;

	CHECK(home_make());
	CHECK_EQ(link_of(&d, "cursor",
			 "{\"mcpServers\":{\"hub\":{\"command\":\"mcpool\","
			 "\"args\":[\"stdio\"]}}}"),
		 MP_AGENT_CONNECTED);
	CHECK_TEXT(d.view.entry, "hub");
	CHECK_EQ(link_of(&d, "cursor",
			 "{\"mcpServers\":{\"mcpool\":{\"command\":\"/old/mcpool\","
			 "\"args\":[\"stdio\"]}}}"),
		 MP_AGENT_OTHERWISE);
	CHECK_EQ(link_of(&d, "cursor", "{\"mcpServers\":{\"mcpool\":{\"url\":\"http://x\"}}}"),
		 MP_AGENT_OTHERWISE);
	CHECK_EQ(link_of(&d, "cursor", "{\"mcpServers\":{\"mcpool\":{\"command\":\"other\"}}}"),
		 MP_AGENT_TAKEN);
	CHECK_EQ(link_of(&d, "opencode",
			 "{\"mcp\":{\"mcpool\":{\"type\":\"local\",\"command\":"
			 "[\"/opt/mcpool\",\"stdio\",\"--naming\",\"server__tool\"]}}}"),
		 MP_AGENT_CONNECTED);
	CHECK_EQ(link_of(&d, "cursor", "{\"mcpServers\": 5}"), MP_AGENT_APART);
	CHECK(put("f", "[]"));
	CHECK(look(&d, "cursor", "f") < 0);
}

TEST(a_broken_file_is_named_and_not_touched)
{
	DESK;

	CHECK(home_make() && put("f", "{\n  \"a\": }\n"));
	CHECK_EQ(look(&d, "cursor", "f"), MCPOOL_EPARSE);
	CHECK(strstr(why.message, "/f:2:8: "));
	CHECK_EQ(mp_agent_write(mp_agent_find("cursor"), &way, in("f"), &why), MCPOOL_EPARSE);
	CHECK_TEXT(now("f"), "{\n  \"a\": }\n");
	CHECK(access(in("f.mcpool-backup"), F_OK) < 0);
}

/* A cloned project may hold links; what they lead to is not ours to change. */
TEST(a_file_of_a_project_stays_in_it)
{
	CHECK(home_make() && put("outside/f", "{}"));
	CHECK_EQ(mp_agent_check_place(in("project/.cursor/mcp.json"), in("project"), &why), 0);
	CHECK_EQ(symlink(in("outside"), in("project/.cursor")), 0);
	CHECK_EQ(mp_agent_check_place(in("project/.cursor/mcp.json"), in("project"), &why),
		 MCPOOL_EPERM);
	CHECK_EQ(symlink(in("nowhere"), in("project/.mcp.json")), 0);
	CHECK_EQ(mp_agent_check_place(in("project/.mcp.json"), in("project"), &why), MCPOOL_EPERM);
	/* The place of the backup may be a link as well: it goes, what it leads to stays. */
	CHECK(put("project/.mcp2.json", "{}"));
	CHECK_EQ(symlink(in("outside/f"), in("project/.mcp2.json.mcpool-backup")), 0);
	CHECK_EQ(mp_agent_write(mp_agent_find("claude"), &way, in("project/.mcp2.json"), &why), 1);
	CHECK_TEXT(now("outside/f"), "{}");
}
