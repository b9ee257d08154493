/*
 * home.h - a home and a project with files in them, and the set that is loaded from there.
 * The folder of the test holds home/ and project/ (which is a git repository, so that it is the
 * root) and, where a test wants it, a store. The environment is the one given here, never ours.
 */
#ifndef TEST_HOME_H
#define TEST_HOME_H

#include "test.h"
#include "folder.h"

#include <fcntl.h>
#include <stdio.h>

#include "config/read/load.h"
#include "store/db.h"

static char home_at[100], project_at[100], home_variable[120];
static char *home_env[12]; /* HOME, then what the test adds */
static struct mcpool_error why;

/* A path below the test's folder; one of a few at a time. */
static inline const char *in(const char *below)
{
	static char paths[8][400];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", test_folder, below);
	return path;
}

static inline bool put_bytes(const char *below, const void *bytes, size_t n)
{
	char path[400];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "%s", in(below));
	for (char *slash = path + strlen(test_folder) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0700);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ok = fd >= 0 && write(fd, bytes, n) == (ssize_t)n;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* A file with its folders: put("home/.cursor/mcp.json", "{...}"). */
static inline bool put(const char *below, const char *text)
{
	return put_bytes(below, text, strlen(text));
}

static inline bool home_make(void)
{
	if (!folder_make())
		return false;
	snprintf(home_at, sizeof(home_at), "%s/home", test_folder);
	snprintf(project_at, sizeof(project_at), "%s/project", test_folder);
	snprintf(home_variable, sizeof(home_variable), "HOME=%s", home_at);
	memset(home_env, 0, sizeof(home_env));
	home_env[0] = home_variable;
	why = (struct mcpool_error){0};
	return mkdir(home_at, 0700) == 0 && put("project/.git/HEAD", "");
}

static inline struct mp_config_request home_request(struct mp_db *db)
{
	return (struct mp_config_request){
		.cwd = project_at, .env = home_env, .db = db, .wall_ms = 1000};
}

static inline struct mp_config_set *home_load(struct mp_db *db)
{
	struct mp_config_request req = home_request(db);

	return mp_config_load(&req);
}

/* A store beside the home; the caller closes it. */
static inline struct mp_db *home_open_store(void)
{
	struct mp_db *db = NULL;
	int r = mkdir(in("state"), 0700);

	(void)r; /* it may be there */
	return mp_db_open(in("state/mcpool.db"), &db, &why) < 0 ? NULL : db;
}

#define MP_SET   MP_CLEANUP(mp_config_set_unrefp) struct mp_config_set *
#define MP_STORE MP_CLEANUP(mp_db_closep) struct mp_db *

/* The nth entry of this name, in order of precedence; NULL. */
static inline const struct mp_entry *nth(const struct mp_config_set *set, const char *name,
					 size_t n)
{
	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->entries[i]->name, name) == 0 && n-- == 0)
			return set->entries[i];
	return NULL;
}

static inline const char *state_of(const struct mp_config_set *set, const struct mp_entry *e)
{
	return e ? mp_status_state_get_name(mp_config_get_state(set, e, MP_TOGGLE_NONE)) : "none";
}

/* The first problem whose message has these words; NULL. */
static inline const struct mp_problem *problem_with(const struct mp_config_set *set,
						    const char *words)
{
	for (size_t i = 0; i < set->n_problems; i++)
		if (strstr(set->problems[i].message, words))
			return &set->problems[i];
	return NULL;
}

/* Is it the empty set of a discovery that failed, as it is when an allocation does (A20)? */
static inline bool is_failure(const struct mp_config_set *set)
{
	return set->n == 0 && set->n_problems == 1 &&
	       strcmp(set->problems[0].file, ".mcp.json") == 0 &&
	       set->problems[0].severity == MP_ERROR;
}

#endif
