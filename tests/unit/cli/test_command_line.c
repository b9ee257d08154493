/* test_command_line.c - which processes are copies of configured servers, and who started them. */
#include "test.h"

#include "cli/doctor/command_line.h"

/* A literal with NULs between its words, as /proc has it. */
#define LINE(text) ((struct mp_str){"" text "\0", sizeof(text)})

TEST(the_word_that_tells_a_server)
{
	static const struct {
		const char *argv[6], *key;
	} rows[] = {
		{{"npx", "-y", "@scope/server-files", "/tmp"}, "@scope/server-files"},
		{{"uvx", "mcp-server-git"}, "mcp-server-git"},
		{{"/usr/bin/node", "--flag", "/srv/a/index.js"}, "/srv/a/index.js"},
		{{"docker", "run", "-i", "--rm", "ghcr.io/x/y"}, "ghcr.io/x/y"},
		{{"my-server", "--stdio"}, "my-server"},
		{{"sh", "-c", "exec my-server"}, NULL},
		{{"node"}, NULL},
		{{"", "x"}, NULL},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		const char *key = mp_command_line_get_key((char *const *)(uintptr_t)rows[i].argv);

		if (rows[i].key)
			CHECK_TEXT(key ? key : "(none)", rows[i].key);
		else
			CHECK(!key);
	}
}

TEST(a_copy_is_known_by_package_script_or_folder)
{
	static const char *const files[] = {"npx", "-y", "@scope/files@1.2", "serve", "/a", NULL};
	char *const *argv = (char *const *)(uintptr_t)files;
	const char *key = mp_command_line_get_key(argv);

	CHECK(mp_command_line_fits(LINE("npm exec\0@scope/files@9\0serve\0/b"), argv, key));
	CHECK(mp_command_line_fits(LINE("node\0/x/node_modules/@scope/files/i.js\0serve"), argv,
				   key));
	CHECK(!mp_command_line_fits(LINE("node\0/x/node_modules/@scope/files/i.js"), argv, key));
	CHECK(!mp_command_line_fits(LINE("node\0/x/node_modules/@scope/files2/i.js\0serve"), argv,
				    key));
	CHECK(!mp_command_line_fits(LINE("vim\0/x/my@scope/files\0serve"), argv, key));
	CHECK(!mp_command_line_fits((struct mp_str){NULL, 0}, argv, key));
	CHECK(mp_command_line_has(LINE("/opt/bin/my-server\0-v"), "my-server"));
	CHECK(!mp_command_line_has(LINE("/opt/bin/my-servers"), "my-server"));
}

TEST(the_program_of_a_command_line)
{
	CHECK_STR(mp_command_line_get_program(LINE("/usr/bin/node\0--x\0/opt/bin/claude\0-p")),
		  "claude");
	CHECK_STR(mp_command_line_get_program(LINE("/usr/bin/cursor\0--type=x")), "cursor");
	CHECK_STR(mp_command_line_get_program(LINE("node")), "node");
	CHECK_STR(mp_command_line_get_program((struct mp_str){NULL, 0}), "");
	CHECK(mp_command_line_is_helper(LINE("/bin/bash\0-lc\0x")));
	CHECK(mp_command_line_is_helper(LINE("node\0/usr/lib/npm/bin/npx-cli.js\0x")));
	CHECK(!mp_command_line_is_helper(LINE("/usr/bin/cursor")));
}
