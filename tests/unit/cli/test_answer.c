/*
 * test_answer.c - an address that a server asks to open: only after a yes, and only a safe one.
 */
#include "test.h"
#include "folder.h"

#include <limits.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/display/answer.h"

/* A terminal on stdin and stderr. */
struct terminal {
	int master, in, err;
	char noted[PATH_MAX]; /* what the browser was called with */
};

static void terminal_done(struct terminal *t)
{
	if (t->in > 0) {
		dup2(t->in, STDIN_FILENO);
		dup2(t->err, STDERR_FILENO);
		close(t->in);
		close(t->err);
	}
	if (t->master > 0)
		close(t->master);
	unsetenv("BROWSER");
}

static bool browser_set(struct terminal *t)
{
	char script[PATH_MAX];
	FILE *f;

	REQUIRE(folder_make());
	snprintf(script, sizeof(script), "%s/browser", test_folder);
	snprintf(t->noted, sizeof(t->noted), "%s/noted", test_folder);
	f = fopen(script, "w");
	REQUIRE(f && fprintf(f, "#!/bin/sh\necho \"$1\" >%s.new && mv %s.new %s\n", t->noted,
			     t->noted, t->noted) > 0);
	REQUIRE(fclose(f) == 0 && chmod(script, 0700) == 0);
	return setenv("BROWSER", script, 1) == 0;
}

static bool terminal_open(struct terminal *t)
{
	int slave;

	REQUIRE(browser_set(t));
	REQUIRE(openpty(&t->master, &slave, NULL, NULL, NULL) == 0);
	fflush(stderr);
	t->in = dup(STDIN_FILENO);
	t->err = dup(STDERR_FILENO);
	dup2(slave, STDIN_FILENO);
	dup2(slave, STDERR_FILENO);
	close(slave);
	return t->in > 0 && t->err > 0;
}

/* The result that a server gets for this address where so much is typed. */
static const char *answer(struct terminal *t, const char *url, const char *typed)
{
	static char result[200];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char params[300];
	int r;

	mp_buf_init(&out, sizeof(result) - 1);
	snprintf(params, sizeof(params), "{\"mode\":\"url\",\"message\":\"log in\",\"url\":\"%s\"}",
		 url);
	if (write(t->master, typed, strlen(typed)) < 0)
		return "";
	r = mp_answer_form("git", mp_str_of(params), -1, &out);
	snprintf(result, sizeof(result), "%.*s", MP_STR_ARGS(mp_buf_get(&out)));
	return r < 0 ? "" : result;
}

#define TERMINAL(t)                                        \
	MP_CLEANUP(terminal_done) struct terminal t = {0}; \
	CHECK(terminal_open(&(t)))

HEAVY_TEST(an_address_is_opened_after_a_yes_only)
{
	char text[200] = "";
	FILE *f;
	TERMINAL(t);

	CHECK_TEXT(answer(&t, "https://a.example/", "n\n"), "{\"action\":\"decline\"}");
	CHECK_TEXT(answer(&t, "https://a.example/", "\n"), "{\"action\":\"decline\"}");
	CHECK_TEXT(answer(&t, "https://a.example/", "c\n"), "{\"action\":\"cancel\"}");
	CHECK_TEXT(answer(&t, "https://a.example/", "\x04"), "{\"action\":\"cancel\"}");
	CHECK_TEXT(answer(&t, "https://a.example/opened", "y\n"), "{\"action\":\"accept\"}");
	for (int i = 0; i < 500 && access(t.noted, R_OK) < 0; i++)
		usleep(10000);
	f = fopen(t.noted, "r");
	CHECK(f && fgets(text, sizeof(text), f) && fclose(f) == 0);
	CHECK_TEXT(text, "https://a.example/opened\n"); /* the first that was opened */
}

/* V30: nothing is asked about it, so a yes that is typed ahead does not count. */
HEAVY_TEST(an_address_that_is_not_safe_is_declined)
{
	static const char *const bad[] = {"javascript:alert(1)", "file:///etc/passwd",
					  "https://u:p@a.example/", "--help", ""};
	TERMINAL(t);

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++)
		CHECK_TEXT(answer(&t, bad[i], ""), "{\"action\":\"decline\"}");
	CHECK(access(t.noted, F_OK) < 0);
}
