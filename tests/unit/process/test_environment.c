/* test_environment.c - which variables a server gets (V55). */
#include "test.h"

#include "process/environment.h"

static char *const ours[] = {
	"PATH=/bin",
	"HOME=/home/x",
	"OPENAI_API_KEY=k",
	"ANTHROPIC_API_KEY=k",
	"CLAUDE_CODE=1",
	"LD_PRELOAD=/x.so",
	"NODE_OPTIONS=x",
	"npm_config_user_agent=npm",
	"npm_lifecycle_event=start",
	"npm_config_cache=/cache",
	"GITHUB_TOKEN=t",
	"EDITOR=vi",
	"LC_ALL=C",
	"VSCODE_PID=1",
	"ODD",
	"CLAUDECODE=1",
	"XDG_RUNTIME_DIR=/run/x",
	NULL,
};

static void free_env(char ***env)
{
	mp_environment_free(*env);
}

static const char *get(char **env, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; env[i]; i++)
		if (strncmp(env[i], name, len) == 0 && env[i][len] == '=')
			return env[i] + len + 1;
	return NULL;
}

static size_t count(char **env)
{
	size_t n = 0;

	while (env[n])
		n++;
	return n;
}

/* Whatever the server's own entries say. */
TEST(one_is_put_in_the_place_of_its_namesake)
{
	char *const extra[] = {"A=1", "MARK=mine", "B=2", NULL};
	MP_CLEANUP(free_env)
	char **env = mp_environment_put(mp_environment_build(MP_ENVIRONMENT_NONE, NULL, extra),
					"MARK=theirs");

	CHECK_EQ(count(env), 3);
	CHECK_TEXT(get(env, "MARK"), "theirs");
	CHECK_TEXT(get(env, "A"), "1");
	CHECK_TEXT(get(env, "B"), "2");
	env = mp_environment_put(env, "C=3");
	CHECK_EQ(count(env), 4);
}

/* U6 X16 */
TEST(inherit_leaves_out_what_is_an_agents_own)
{
	MP_CLEANUP(free_env) char **env = mp_environment_build(MP_ENVIRONMENT_INHERIT, ours, NULL);

	CHECK_TEXT(get(env, "PATH"), "/bin");
	CHECK_TEXT(get(env, "GITHUB_TOKEN"), "t");
	CHECK_TEXT(get(env, "EDITOR"), "vi");
	CHECK(!get(env, "OPENAI_API_KEY"));
	CHECK(!get(env, "ANTHROPIC_API_KEY"));
	CHECK(!get(env, "CLAUDE_CODE"));
	CHECK(!get(env, "CLAUDECODE"));
	CHECK(!get(env, "LD_PRELOAD"));
	CHECK(!get(env, "NODE_OPTIONS"));
	CHECK(!get(env, "npm_config_user_agent"));
	CHECK(!get(env, "npm_lifecycle_event"));
	CHECK_TEXT(get(env, "npm_config_cache"), "/cache"); /* use-A15 */
	CHECK(!get(env, "VSCODE_PID"));
	CHECK_EQ(count(env), 8);
}

/* U6 X16 */
TEST(minimal_is_a_list)
{
	MP_CLEANUP(free_env) char **env = mp_environment_build(MP_ENVIRONMENT_MINIMAL, ours, NULL);

	CHECK_TEXT(get(env, "PATH"), "/bin");
	CHECK_TEXT(get(env, "HOME"), "/home/x");
	CHECK_TEXT(get(env, "LC_ALL"), "C");
	CHECK(!get(env, "GITHUB_TOKEN"));
	CHECK_EQ(count(env), 4);
}

/* U6 */
TEST(the_servers_own_entries_win)
{
	char *const extra[] = {"PATH=/own", "OPENAI_API_KEY=mine", NULL};
	MP_CLEANUP(free_env) char **env = mp_environment_build(MP_ENVIRONMENT_INHERIT, ours, extra);
	MP_CLEANUP(free_env) char **none = mp_environment_build(MP_ENVIRONMENT_NONE, ours, extra);

	CHECK_TEXT(get(env, "PATH"), "/own");
	CHECK_TEXT(get(env, "OPENAI_API_KEY"), "mine");
	CHECK_EQ(count(env), 9);
	CHECK_EQ(count(none), 2);
}

/* use-B4 */
TEST(what_servers_inherit_is_compared)
{
	char *const one[] = {"PATH=/bin", "PWD=/a", "TERM=xterm", "CLAUDECODE=1", "A=1", NULL};
	char *const same[] = {"A=1", "PATH=/bin", "TMUX=x", "OPENAI_API_KEY=k", NULL};
	char *const more[] = {"A=1", "PATH=/bin", "NODE_EXTRA_CA_CERTS=/ca.pem", NULL};
	char *const other[] = {"A=2", "PATH=/bin", NULL};

	CHECK(mp_environment_is_same(one, one));
	CHECK(mp_environment_is_same(one, same) && mp_environment_is_same(same, one));
	CHECK(!mp_environment_is_same(one, more) && !mp_environment_is_same(more, one));
	CHECK(!mp_environment_is_same(one, other));
	CHECK_EQ(mp_environment_count(one), 5);
}
