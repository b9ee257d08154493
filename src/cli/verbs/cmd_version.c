/*
 * cmd_version.c - `mcpool version`: the version of mcpool and of its libraries, built and loaded.
 */
#include <curl/curl.h>
#include <gnu/libc-version.h>
#include <llhttp.h>
#include <openssl/crypto.h>
#include <openssl/opensslv.h>
#include <sqlite3.h>
#include <stdio.h>
#include <uv.h>
#include <wslay/wslay.h>

#include "cli/display/cli.h"
#include "cli/verbs/verbs.h"

#define WORD(x)          #x
#define NUMBERS(a, b)    WORD(a) "." WORD(b)
#define VERSION(a, b, c) NUMBERS(a, b) "." WORD(c)

static int run_version(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_version = {
	"version",
	"",
	"Show the version, as --version does, and those of the libraries.",
	"  --libraries      the libraries that are loaded, not those it was built with\n",
	NULL,
	run_version,
	NULL,
	MP_VERB_PLAIN,
};

static const char *load_curl(void)
{
	return curl_version_info(CURLVERSION_NOW)->version;
}

static const char *load_openssl(void)
{
	return OpenSSL_version(OPENSSL_VERSION_STRING);
}

static const struct {
	const char *name, *built;
	const char *(*load)(void); /* NULL: the library has no such function */
} libraries[] = {
	{"libuv", VERSION(UV_VERSION_MAJOR, UV_VERSION_MINOR, UV_VERSION_PATCH), uv_version_string},
	{"sqlite", SQLITE_VERSION, sqlite3_libversion},
	{"openssl", OPENSSL_VERSION_STR, load_openssl},
	{"curl", LIBCURL_VERSION, load_curl},
	{"wslay", WSLAY_VERSION, NULL},
	{"llhttp", VERSION(LLHTTP_VERSION_MAJOR, LLHTTP_VERSION_MINOR, LLHTTP_VERSION_PATCH), NULL},
	{"glibc", NUMBERS(__GLIBC__, __GLIBC_MINOR__), gnu_get_libc_version},
};

static int run_version(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	if (r)
		return r - 1;
	printf("mcpool %s\n", mcpool_version());
	for (size_t i = 0; i < MP_ARRAY_LEN(libraries); i++)
		if (!args.libraries)
			printf("%s %s\n", libraries[i].name, libraries[i].built);
		else if (libraries[i].load)
			printf("%s %s\n", libraries[i].name, libraries[i].load());
		else
			printf("%s %s (built with)\n", libraries[i].name, libraries[i].built);
	return MP_EXIT_DONE;
}
