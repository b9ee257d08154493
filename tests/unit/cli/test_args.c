/* test_args.c - what stands behind a verb, and what to call a command. */
#include "test.h"

#include "cli/display/cli.h"
#include "cli/servers/command.h"

static const struct mp_verb verb = {
	.name = "call",
	.arguments = "TOOL -- COMMAND",
	.summary = "x",
	.options = "--json --timeout --era --args --schema",
};

static int read_words(struct mp_cli_args *a, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return mp_cli_read_args(&verb, argc, argv, 1, 2, a);
}

TEST(options_may_stand_anywhere_before_the_command)
{
	struct mp_cli_args a;
	char *argv[] = {"call", "--json", "echo",   "--timeout", "10s", "m=1", "--era=legacy",
			"--",   "npx",    "--json", "--",        "-x",  NULL};

	CHECK_EQ(read_words(&a, argv), 0);
	CHECK(a.json);
	CHECK_EQ(a.timeout_ms, 10000);
	CHECK_EQ(a.era, MP_ERA_LEGACY);
	CHECK_EQ(a.n_words, 2);
	CHECK_TEXT(a.words[0], "echo");
	CHECK_TEXT(a.words[1], "m=1");
	CHECK_TEXT(a.command[0], "npx");
	CHECK_TEXT(a.command[1], "--json"); /* the server's, untouched (V10) */
	CHECK_TEXT(a.command[2], "--");
}

TEST(durations)
{
	static const struct {
		char *text;
		int64_t ms; /* 0: refused */
	} rows[] = {{"500", 500},    {"500ms", 500}, {"10s", 10000},    {"2m", 120000},
		    {"1h", 3600000}, {"0", 0},       {"-1", 0},         {"1.5s", 0},
		    {"10 s", 0},     {"", 0},        {"9999999999", 0}, {"s", 0}};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_cli_args a;
		char *argv[] = {"call", "echo", "--timeout", rows[i].text, "--", "x", NULL};
		int r = read_words(&a, argv);

		CHECK_EQ(r, rows[i].ms ? 0 : MP_EXIT_USAGE + 1);
		CHECK(!rows[i].ms || a.timeout_ms == rows[i].ms);
	}
}

TEST(what_is_wrong_is_refused)
{
	static char *const rows[][6] = {
		{"call", "--", "x"},                   /* no tool */
		{"call", "echo"},                      /* no command */
		{"call", "echo", "--"},                /* an empty one */
		{"call", "a", "b", "c", "--", "x"},    /* too many */
		{"call", "echo", "--nope", "--", "x"}, /* no such option */
		{"call", "echo", "--era", "stone", "--", "x"},
		{"call", "echo", "--args"},
		{"call", "echo", "--jsonx", "--", "x"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_cli_args a;
		char *argv[7] = {NULL};

		memcpy(argv, rows[i], sizeof(rows[i]));
		CHECK_EQ(read_words(&a, argv), MP_EXIT_USAGE + 1);
	}
}

TEST(a_command_has_a_telling_name)
{
	static const struct {
		char *command[5];
		const char *name;
	} rows[] = {
		{{"mcp-server-git"}, "mcp-server-git"},
		{{"/usr/local/bin/foo.py"}, "foo"},
		{{"npx", "-y", "@modelcontextprotocol/server-everything"}, "server-everything"},
		{{"node", "node_modules/@x/server-memory/dist/index.js"}, "server-memory"},
		{{"node", "--inspect", "server.mjs"}, "server"},
		{{"python3", "-m", "weather"}, "weather"},
		{{"env", "A=1", "uvx", "mcp-server-fetch"}, "mcp-server-fetch"},
		{{"uv", "run", "tool.py"}, "tool"},
		{{"node", "--api-key", "s3cret", "a/b.js"}, "b"},
		{{"node"}, "node"},
		{{"/"}, "server"},
		{{"../../evil name\n"}, "evil_name_"},
		{{".hidden"}, "_hidden"},
		{{"build/mcpool", "demo-server"}, "demo-server"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		char name[64];

		mp_cli_name_command(rows[i].command, name, sizeof(name));
		CHECK_TEXT(name, rows[i].name);
	}
}

TEST(a_name_is_cut_to_its_room)
{
	char *command[] = {"abcdefghijklmnopqrstuvwxyz", NULL};
	char name[8];

	mp_cli_name_command(command, name, sizeof(name));
	CHECK_TEXT(name, "abcdefg");
}

/* U8: the start of the server after --, which may be a slow one, and --timeout. */
TEST(a_one_shot_verb_waits_thirty_seconds)
{
	char *command[] = {"server", NULL};

	for (int64_t timeout_ms = 0; timeout_ms <= 5000; timeout_ms += 5000) {
		const struct mp_cli_args args = {.timeout_ms = timeout_ms, .command = command};
		MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
		struct mp_reach_options options = {.c = &c};

		CHECK_EQ(mp_command_load(&c, &args, NULL, 0, &options), 0);
		CHECK_EQ(options.start_timeout_ms, timeout_ms ? timeout_ms : 30000);
	}
}
