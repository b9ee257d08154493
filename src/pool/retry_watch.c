/*
 * retry_watch.c - follows the files that a start needs: its command, the interpreter, the folder.
 */
#include "pool/retry_watch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"

enum { MAX_FOLDERS = 64, MAX_PATHS = 2 * MAX_FOLDERS + 2, LINE_BYTES = 256 };

struct wanted {
	struct mp_buf text; /* paths, each ends in NUL */
	size_t n;
};

static void wanted_done(struct wanted *w)
{
	mp_buf_done(&w->text);
}

static bool wanted_add(struct wanted *w, struct mp_str path)
{
	if (path.len == 0 || path.p[0] != '/' || w->n == MAX_PATHS ||
	    mp_buf_add_str(&w->text, path) < 0 || mp_buf_add_char(&w->text, '\0') < 0)
		return false;
	w->n++;
	return true;
}

/* A script whose interpreter is missing cannot start either. */
static void wanted_add_interpreter(struct wanted *w, const char *script)
{
	char line[LINE_BYTES];
	int fd = open(script, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	const char *name;

	if (fd >= 0)
		close(fd);
	if (n < 2 || memcmp(line, "#!", 2) != 0)
		return;
	line[n] = '\0';
	name = line + 2 + strspn(line + 2, " \t");
	wanted_add(w, (struct mp_str){name, strcspn(name, " \t\r\n")});
}

static void wanted_add_command(struct wanted *w, const char *cwd, struct mp_str folder,
			       const char *name)
{
	bool is_absolute = folder.len ? folder.p[0] == '/' : name[0] == '/';
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s%s%.*s%s%s", is_absolute ? "" : cwd,
			 is_absolute ? "" : "/", MP_STR_ARGS(folder), folder.len ? "/" : "", name);

	if (n <= 0 || (size_t)n >= sizeof(path) || !wanted_add(w, mp_str_of(path)))
		return;
	wanted_add_interpreter(w, path);
}

static const char *get_path(char *const *env)
{
	for (; env && *env; env++)
		if (strncmp(*env, "PATH=", 5) == 0)
			return *env + 5;
	return "/usr/local/bin:/usr/bin:/bin";
}

/* As process/exec.c looks for it. */
static void wanted_fill(struct wanted *w, const struct mp_launch_command *c)
{
	const char *cwd = c->cwd ? c->cwd : "/";
	const char *folder = get_path(c->env);

	if (cwd[1]) /* the root is always there */
		wanted_add(w, mp_str_of(cwd));
	if (strchr(c->name, '/')) {
		wanted_add_command(w, cwd, MP_STR(""), c->name);
		return;
	}
	for (int i = 0; i < MAX_FOLDERS; i++) {
		size_t len = strcspn(folder, ":");

		wanted_add_command(w, cwd, (struct mp_str){folder, len}, c->name);
		folder += len;
		if (!*folder++)
			return;
	}
}

struct mp_follower *mp_retry_watch_follow(struct mp_config_watch *files,
					  const struct mp_launch_command *command,
					  mp_follower_fn fn, void *u)
{
	MP_CLEANUP(wanted_done) struct wanted w = {.n = 0};
	const char *paths[MAX_PATHS];
	struct mp_follower *follower;
	const char *at;

	mp_buf_init(&w.text, MP_MIB(1));
	wanted_fill(&w, command);
	at = w.text.data;
	for (size_t i = 0; i < w.n; i++, at += strlen(at) + 1)
		paths[i] = at;
	if (w.n == 0)
		return NULL;
	follower = mp_config_watch_follow(files, fn, u);
	/* Where the system allows no more watches, the timer of the keeper remains. */
	if (mp_follower_set_paths(follower, paths, w.n, NULL) < 0)
		follower = mp_follower_leave(follower);
	return follower;
}
