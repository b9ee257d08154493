/*
 * paths.c - where this user's files are: the XDG folders.
 */
#include "base/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

static const char *get_folder(const char *variable)
{
	const char *value = getenv(variable);

	return value && value[0] == '/' ? value : NULL;
}

int mp_path_state(const char *name, struct mp_buf *out)
{
	const char *state = get_folder("XDG_STATE_HOME");
	const char *home = get_folder("HOME");
	int r;

	if (!state && !home)
		return MCPOOL_ENOENT;
	if (state)
		r = mp_buf_addf(out, "%s/mcpool/%s", state, name);
	else
		r = mp_buf_addf(out, "%s/.local/state/mcpool/%s", home, name);
	return r < 0 ? r : mp_buf_terminate(out);
}

/* A name may hold what a file's name should not. */
int mp_path_log(const char *server, struct mp_buf *out)
{
	char name[MP_LIMIT_NAME + 16];

	snprintf(name, sizeof(name), "logs/%s.log", server);
	for (char *c = name + strlen("logs/"); *c; c++)
		if (*c == '/' || *c == ':' || *c == ' ')
			*c = '_';
	return mp_path_state(name, out);
}

void mp_path_find_self(char ret_path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	ssize_t n = readlink(MP_PATH_SELF, ret_path, PATH_MAX - 1);
	size_t len = n > 0 ? (size_t)n : 0;

	ret_path[len] = '\0';
	if (len > strlen(deleted) && strcmp(ret_path + len - strlen(deleted), deleted) == 0)
		ret_path[len - strlen(deleted)] = '\0';
}
