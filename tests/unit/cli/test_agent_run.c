/* test_agent_run.c - programs of this machine: where one is, and running it. */
#include "home.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/agents/agent_run.h"

static const char *const nothing[] = {"tool", NULL};

static bool make_tool(const char *below, const char *text, mode_t mode)
{
	return put(below, text) && chmod(in(below), mode) == 0;
}

TEST(a_program_is_found_in_absolute_folders_only)
{
	char path[PATH_MAX], folders[1000];

	CHECK(home_make());
	CHECK(make_tool("one/tool", "#!/bin/sh\n", 0600)); /* no program */
	CHECK(make_tool("two/tool", "#!/bin/sh\n", 0700));
	snprintf(folders, sizeof(folders), "two:%s:%s", in("one"), in("two"));
	CHECK_EQ(setenv("PATH", folders, 1), 0);
	CHECK(mp_program_find("tool", path));
	CHECK_TEXT(path, in("two/tool"));
	CHECK(!mp_program_find("nothing-of-this-name", path));
	CHECK_EQ(setenv("PATH", "", 1), 0);
	CHECK(!mp_program_find("tool", path));
}

TEST(what_runs_is_found_by_its_name_where_that_leads_here)
{
	char self[PATH_MAX], path[PATH_MAX];

	CHECK(home_make());
	CHECK_EQ(setenv("PATH", in("bin"), 1), 0);
	mp_program_find_self(self);
	CHECK(self[0] == '/');
	CHECK_EQ(mkdir(in("bin"), 0700), 0);
	CHECK_EQ(symlink(self, in("bin/mcpool")), 0);
	mp_program_find_self(path);
	CHECK_TEXT(path, in("bin/mcpool"));
}

HEAVY_TEST(a_program_ends_in_time_or_is_ended)
{
	CHECK(home_make());
	CHECK(make_tool("tool", "#!/bin/sh\nexit 7\n", 0700));
	CHECK_EQ(mp_program_run(in("tool"), nothing, 10000, &why), 7);
	CHECK(make_tool("tool", "#!/bin/sh\nkill -TERM $$\n", 0700));
	CHECK_EQ(mp_program_run(in("tool"), nothing, 10000, &why), MCPOOL_ECLOSED);
	CHECK(make_tool("tool", "#!/bin/sh\nread never\nexec /bin/sleep 60\n", 0700));
	CHECK_EQ(mp_program_run(in("tool"), nothing, 100, &why), MCPOOL_ETIMEDOUT);
	CHECK(mp_program_run(in("none"), nothing, 100, &why) < 0);
}
