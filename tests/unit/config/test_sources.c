/*
 * test_sources.c - which files are looked for, and which folder is the project.
 */
#include "home.h"

#include "base/limits.h"
#include "config/read/sources.h"

struct desk {
	struct mp_arena arena;
	struct mp_places p;
};

static void tidy(struct desk *d)
{
	mp_arena_done(&d->arena);
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d;   \
	mp_arena_init(&d.arena, MP_MIB(1))

static bool find(struct desk *d, const char *cwd)
{
	return mp_places_find(&d->p, cwd, home_env, &d->arena) == 0;
}

static const char *root(const struct desk *d)
{
	return d->p.of[MP_FOLDER_ROOT];
}

/* Is the file with this path below the project one of the user's? */
static bool is_users(const struct desk *d, const char *path)
{
	for (size_t i = 0; i < mp_sources_n; i++)
		if (mp_sources[i].folder == MP_FOLDER_ROOT && strcmp(mp_sources[i].path, path) == 0)
			return mp_source_is_users(&mp_sources[i], &d->p);
	return false;
}

/* B17 B22 B23 B24 */
TEST(the_table_begins_with_ours_and_ends_with_the_root_files)
{
	CHECK_TEXT(mp_sources[0].path, ".mcpool/mcp.json");
	CHECK_TEXT(mp_sources[1].path, "mcpool/mcp.json");
	CHECK_TEXT(mp_sources[mp_sources_n - 2].path, "mcp.json");
	CHECK_TEXT(mp_sources[mp_sources_n - 1].path, ".mcp.json");
	for (size_t i = 0; i < mp_sources_n; i++) {
		CHECK(mp_sources[i].dialect);
		CHECK_EQ((mp_sources[i].quirks & MP_QUIRK_OWN) != 0, i < 2);
		CHECK_EQ(mp_sources[i].folder == MP_FOLDER_ROOT,
			 mp_sources[i].level == MP_CONFIG_PROJECT);
	}
	CHECK(mp_sources_has_tool("cursor") && !mp_sources_has_tool("emacs"));
}

TEST(folders_come_from_the_environment)
{
	DESK;

	CHECK(home_make());
	CHECK(find(&d, project_at));
	CHECK_TEXT(d.p.of[MP_FOLDER_HOME], home_at);
	CHECK_TEXT(d.p.of[MP_FOLDER_CONFIG], in("home/.config"));
	CHECK_TEXT(d.p.of[MP_FOLDER_CLAUDE_HOME], home_at);
	CHECK_TEXT(d.p.of[MP_FOLDER_CLAUDE_DIR], in("home/.claude"));
	CHECK_TEXT(d.p.of[MP_FOLDER_CODEX_DIR], in("home/.codex"));
	home_env[1] = "XDG_CONFIG_HOME=/x";
	home_env[2] = "CLAUDE_CONFIG_DIR=/c";
	home_env[3] = "CODEX_HOME=relative"; /* counts as unset */
	home_env[4] = "GEMINI_CLI_HOME=/g";
	CHECK(find(&d, project_at));
	CHECK_TEXT(d.p.of[MP_FOLDER_CONFIG], "/x");
	CHECK_TEXT(d.p.of[MP_FOLDER_CLAUDE_HOME], "/c");
	CHECK_TEXT(d.p.of[MP_FOLDER_CLAUDE_DIR], "/c");
	CHECK_TEXT(d.p.of[MP_FOLDER_CODEX_DIR], in("home/.codex"));
	CHECK_TEXT(d.p.of[MP_FOLDER_GEMINI_HOME], "/g");
}

TEST(no_home_is_no_obstacle)
{
	DESK;

	CHECK(home_make());
	home_env[0] = NULL;
	CHECK(find(&d, project_at));
	CHECK(!d.p.of[MP_FOLDER_HOME] && !d.p.of[MP_FOLDER_CONFIG]);
	CHECK_TEXT(root(&d), project_at);
	CHECK(!mp_source_get_path(&mp_sources[1], &d.p, &d.arena));
	home_env[0] = "HOME=/";
	CHECK(find(&d, project_at));
	CHECK_TEXT(d.p.of[MP_FOLDER_HOME], "/");
	CHECK_TEXT(d.p.of[MP_FOLDER_CONFIG], "/.config");
}

/* use-B3: a project that was moved away may come back, and the user's files are still there. */
TEST(a_folder_that_is_gone_is_its_own_root)
{
	DESK;

	CHECK(home_make());
	CHECK_EQ(mp_places_find(&d.p, "nowhere", home_env, &d.arena), MCPOOL_ENOENT);
	CHECK(find(&d, in("home/gone/deep")));
	CHECK(d.p.is_missing);
	CHECK_TEXT(root(&d), in("home/gone/deep"));
	CHECK_TEXT(d.p.of[MP_FOLDER_HOME], home_at);
	CHECK(find(&d, project_at));
	CHECK(!d.p.is_missing);
}

TEST(the_nearest_marker_is_the_root)
{
	DESK;

	CHECK(home_make() && put("home/code/.git", "gitdir: /elsewhere") &&
	      put("home/code/a/b/x", "") && put("home/code/a/.cursor/mcp.json", "{}") &&
	      put("home/plain/deep/x", ""));
	CHECK(find(&d, in("home/code")));
	CHECK_TEXT(root(&d), in("home/code"));
	CHECK(find(&d, in("home/code/a/b")));
	CHECK_TEXT(root(&d), in("home/code/a")); /* a source file is a marker, too */
	CHECK(find(&d, in("home/plain/deep")));
	CHECK_TEXT(root(&d), in("home/plain/deep")); /* none: where we are */
}

TEST(nothing_above_the_home_folder_is_a_root)
{
	DESK;

	CHECK(home_make() && put(".git/HEAD", "") && put("home/a/x", "") && put("other/x", ""));
	CHECK(find(&d, in("home/a")));
	CHECK_TEXT(root(&d), in("home/a"));
	CHECK(find(&d, in("other"))); /* home is not above it */
	CHECK_TEXT(root(&d), test_folder);
	CHECK(symlink("home", in("same")) == 0);
	snprintf(home_variable, sizeof(home_variable), "HOME=%s", in("same"));
	CHECK(find(&d, in("same/a")));
	CHECK_TEXT(root(&d), in("home/a"));
}

/* Every user of those tools has these files; they make no project of the home folder. */
TEST(the_users_own_files_are_no_marker)
{
	static const char *const files[] = {"home/.codex/config.toml", "home/.claude/mcp.json",
					    "home/.cursor/mcp.json", "home/.gemini/settings.json",
					    "home/.omp/mcp.json"};
	DESK;

	CHECK(home_make() && put("home/a/x", ""));
	for (size_t i = 0; i < MP_ARRAY_LEN(files); i++)
		CHECK(put(files[i], ""));
	CHECK(find(&d, in("home/a")));
	CHECK_TEXT(root(&d), in("home/a"));
	CHECK(put("home/.mcp.json", "{}"));
	CHECK(find(&d, in("home/a")));
	CHECK_TEXT(root(&d), home_at);
}

TEST(at_home_the_users_files_are_the_users)
{
	DESK;

	CHECK(home_make() && put("home/.git/HEAD", ""));
	CHECK(find(&d, home_at));
	CHECK_TEXT(root(&d), home_at);
	CHECK(is_users(&d, ".cursor/mcp.json") && is_users(&d, ".codex/config.toml") &&
	      is_users(&d, ".claude/mcp.json") && is_users(&d, ".gemini/settings.json"));
	CHECK(!is_users(&d, ".mcp.json") && !is_users(&d, ".mcpool/mcp.json") &&
	      !is_users(&d, ".vscode/mcp.json"));
	CHECK(find(&d, project_at));
	CHECK(!is_users(&d, ".cursor/mcp.json"));
}
