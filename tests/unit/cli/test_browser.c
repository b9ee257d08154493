/*
 * test_browser.c - addresses of servers on their way to a program (V30).
 */
#include "cli/display/browser.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "folder.h"
#include "test.h"

/* What comes first, and what follows it: 21 times 15 addresses. */
static const char *const heads[] = {
	"https://a.example/",
	"https://a.example/?q=",
	"https://a.example/#",
	"http://127.0.0.1:8080/",
	"http://a.example/",
	"http://127.0.0.1.a.example/",
	"http://0x7f.1.a.example/",
	"https://u:p@a.example/",
	"https:/",
	"javascript:",
	"file:///",
	"data:text/html,",
	"vbscript:",
	"ftp://a.example/",
	"ssh://-oProxyCommand=",
	"mailto:",
	"--",
	"-e ",
	"xdg-open ",
	"\\\\host\\",
	" https://a.example/",
};
static const char *const tails[] = {
	"",
	"x",
	"a b",
	"\"; touch /tmp/pwned; \"",
	"'$(touch /tmp/pwned)'",
	"`touch /tmp/pwned`",
	"$HOME",
	"x;rm -rf ~",
	"x&calc.exe",
	"x|sh",
	"x\ny",
	"x\r\ny",
	"x\x1b]0;y\x07",
	"\xe2\x80\xae\xc3\xa4",
	"%00%0a",
};

static bool is_one_word(const char *url)
{
	return (strncmp(url, "https://", 8) == 0 ||
		strncmp(url, "http://127.0.0.1:8080/", 22) == 0) &&
	       strspn(url, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/"
			   "?#[]@!$&()*+,;=%") == strlen(url);
}

TEST(of_hostile_addresses_only_safe_ones_are_opened)
{
	size_t opened = 0, n = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(heads); i++) {
		for (size_t k = 0; k < MP_ARRAY_LEN(tails); k++, n++) {
			MP_CLEANUP(mp_arena_done) struct mp_arena arena;
			char url[200];
			const char *checked;

			mp_arena_init(&arena, MP_KIB(64));
			snprintf(url, sizeof(url), "%s%s", heads[i], tails[k]);
			checked = mp_browser_check(url, &arena);
			CHECK(test_true(!checked || is_one_word(checked), url, __FILE__, __LINE__));
			opened += checked != NULL;
		}
	}
	CHECK(n > 300 && opened >= 8 && opened < 60);
}

/* With a program that notes how it was called. */
HEAVY_TEST(the_program_gets_one_argument)
{
	char script[PATH_MAX], noted[PATH_MAX], text[400] = "";
	FILE *f;

	CHECK(folder_make());
	snprintf(script, sizeof(script), "%s/program", test_folder);
	snprintf(noted, sizeof(noted), "%s/noted", test_folder);
	f = fopen(script, "w");
	CHECK(f && fprintf(f, "#!/bin/sh\necho \"$# $1\" >%s.new && mv %s.new %s\n", noted, noted,
			   noted) > 0);
	CHECK(fclose(f) == 0 && chmod(script, 0700) == 0);
	setenv("BROWSER", script, 1);
	CHECK(!mp_browser_open("https://a.example/`x`"));
	CHECK(mp_browser_open("https://a.example/x?y=$(z)&w=;v"));
	for (int i = 0; i < 500 && access(noted, R_OK) < 0; i++)
		usleep(10000);
	f = fopen(noted, "r");
	CHECK(f && fgets(text, sizeof(text), f) && fclose(f) == 0);
	CHECK_TEXT(text, "1 https://a.example/x?y=$(z)&w=;v\n");
	setenv("BROWSER", "sh -c id", 1); /* a command line is not run */
	unsetenv("DISPLAY");
	unsetenv("WAYLAND_DISPLAY");
	unsetenv("WSL_DISTRO_NAME");
	CHECK(!mp_browser_open("https://a.example/"));
}
