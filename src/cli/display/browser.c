/*
 * browser.c - opens an address in the user's browser, without a shell (V30).
 * The address comes from a server. It is read and written again by curl's parser, so it begins with
 * http and has no blanks, quotes or control characters; it is one argument, and never an option.
 */
#include "cli/display/browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/limits.h"
#include "net/url.h"

extern char **environ;

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && value[0];
}

/* BROWSER may be a list or a command line, which are left to xdg-open: here only a program. */
static const char *find_program(void)
{
	const char *own = getenv("BROWSER");

	if (own && own[0] && !strpbrk(own, " \t:%;&|$`\"'"))
		return own;
	if (is_set("DISPLAY") || is_set("WAYLAND_DISPLAY"))
		return "xdg-open";
	return is_set("WSL_DISTRO_NAME") ? "wslview" : NULL;
}

static bool is_plain(const char *url)
{
	for (; *url; url++)
		if (*url <= ' ' || *url >= 0x7f || strchr("\"'`<>\\^{|}", *url))
			return false;
	return true;
}

static bool browser_spawn(const char *program, const char *url)
{
	char *argv[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)url, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	for (int fd = 0; fd <= 2; fd++)
		(void)posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
	/* Ctrl-C in the terminal is not for the browser. */
	(void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	r = posix_spawnp(&pid, program, &files, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attributes);
	return r == 0; /* it ends after us, or is reaped with us */
}

const char *mp_browser_check(const char *url, struct mp_arena *arena)
{
	struct mp_url u;

	if (mp_url_read(url, arena, &u) < 0 || !mp_url_is_safe(&u) || !is_plain(u.whole))
		return NULL;
	return u.whole;
}

bool mp_browser_open(const char *url)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *program = find_program(), *checked;

	mp_arena_init(&arena, MP_KIB(256));
	checked = mp_browser_check(url, &arena);
	return program && checked && browser_spawn(program, checked);
}
