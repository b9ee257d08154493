/*
 * main.c - the command line: a table of verbs, and what to say when none fits.
 * Exit codes are a contract; see mcpool(1).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <gnu/libc-version.h>
#include <uv.h>

#include <mcpool/mcpool.h>

#include "demo/demo_server.h"
#include "process/launcher.h"

enum { EXIT_DONE = 0, EXIT_USAGE = 2 };

struct verb {
	const char *name;
	const char *arguments;
	const char *summary;
	int (*run)(int argc, char **argv); /* argv[0] is the verb */
};

static int show_help(int argc, char **argv);
static int show_version(int argc, char **argv);

static const struct verb verbs[] = {
	{"--help", "", "show this text", show_help},
	{"--version", "", "show the version, and those of the libraries in use", show_version},
};

static void print_about(FILE *out)
{
	fputs("mcpool is pgbouncer for MCP servers: it finds every MCP server configured on this\n"
	      "machine, starts or dials each one once, keeps it alive, and lends it to every "
	      "agent.\n",
	      out);
}

static int show_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	print_about(stdout);
	puts("\nusage: mcpool [VERB [ARGUMENTS]]\n");
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		printf("  %-12s %-10s %s\n", verbs[i].name, verbs[i].arguments, verbs[i].summary);
	puts("\nWithout a verb: what mcpool is, and what it can do so far.");
	return EXIT_DONE;
}

static int show_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	printf("mcpool %s\n", mcpool_version());
	printf("libuv %s\n", uv_version_string());
	printf("glibc %s\n", gnu_get_libc_version());
	return EXIT_DONE;
}

static int show_overview(void)
{
	printf("mcpool %s\n\n", mcpool_version());
	print_about(stdout);
	puts("\nThis version is the ground floor: the base library and the JSON layer that the hub "
	     "will\n"
	     "stand on. It runs no servers yet.\n\n"
	     "Next: `mcpool --help`; `make bench` shows what the JSON layer can do.");
	return EXIT_DONE;
}

static int run_launcher(int argc, char **argv)
{
	(void)argc;
	return mp_launcher_main((int)strtol(argv[1], NULL, 10));
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "launcher") == 0) /* started by mcpool itself */
		return run_launcher(argc - 1, argv + 1);
	if (argc > 1 && strcmp(argv[1], "demo-server") == 0)
		return mp_demo_main(argc - 1, argv + 1);
	if (argc < 2)
		return show_overview();
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0)
			continue;
		if (argc > 2) {
			fprintf(stderr, "mcpool: %s takes no arguments. See `mcpool --help`.\n",
				argv[1]);
			return EXIT_USAGE;
		}
		return verbs[i].run(argc - 1, argv + 1);
	}
	fprintf(stderr, "mcpool: there is no verb '%s'. `mcpool --help` lists them.\n", argv[1]);
	return EXIT_USAGE;
}
