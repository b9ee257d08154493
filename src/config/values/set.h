/*
 * set.h - all servers that are configured for one project root and environment: a value.
 * Loaded by one call, never changed afterwards; many may be alive at once. Loading reads files and
 * nothing else: no network, no command, no variable.
 */
#ifndef MP_SET_H
#define MP_SET_H

#include "base/arena.h"
#include "base/base.h"
#include "config/values/entry.h"
#include "config/values/problem.h"
#include "config/values/settings.h"
#include "config/values/status_state.h"
#include "store/db.h"

struct mp_config_request {
	const char *cwd;          /* decides the project */
	char *const *env;         /* "NAME=value", ends in NULL: whose home it is */
	const char *const *files; /* --config, absolute */
	size_t n_files;
	const char *const *asked; /* files a session named, absolute: no person did (V01) */
	size_t n_asked;
	const char *named_in; /* where those were named: their servers run there; NULL: cwd */
	const char *profile;  /* instead of what files say; NULL: as they say */
	bool strict;          /* --strict-config: files and asked only */
	struct mp_db *db;     /* what was approved; NULL: nothing is */
	bool use_last_good;   /* a file that cannot be read counts as it was when it could */
	int64_t wall_ms;
};

/* What is approved besides servers: the settings of a project's file, a remote source's address. */
struct mp_grant {
	const char *name; /* "[settings]", or "[remote] URL" */
	const char *file; /* real path */
	const char *root; /* "" */
	unsigned line;
	const char *content; /* canonical */
	struct mp_approval_id id;
	enum mp_trust trust;
	int64_t first_seen_ms;
};

struct mp_config_set {
	unsigned refs;
	struct mp_arena arena; /* all of it */
	const char *cwd, *root, *home;
	const char *named_in;                 /* where servers of --config run; NULL: cwd */
	const char *project_file, *user_file; /* ours; they need not exist. NULL without a home */
	struct mp_settings settings;
	struct mp_str user_settings; /* the object in user_file, canonical; or empty */
	struct mp_entry **entries;   /* in order of precedence, shadowed ones included */
	size_t n;
	struct mp_problem *problems;
	size_t n_problems;
	struct mp_grant *grants;
	size_t n_grants;
	const char **paths; /* what to watch */
	size_t n_paths;
	int64_t approvals_mark; /* of the approvals it was loaded with; 0: unknown */
	bool trusts_projects;   /* `trust --projects always` holds */
	bool is_typed;   /* mp_config_make_typed(): without launch key, and nothing is stored */
	bool has_remote; /* the slow phase is part of it */
	const char *
		*remote_urls; /* addresses that are to be fetched, and may be (remote_source.h) */
	size_t n_remote_urls;
};

struct mp_config_set *mp_config_set_ref(struct mp_config_set *set);
struct mp_config_set *mp_config_set_unref(
	struct mp_config_set *set); /* accepts NULL, returns NULL */
static inline void mp_config_set_unrefp(struct mp_config_set **set)
{
	mp_config_set_unref(*set);
}

/* The one that has this name; NULL. */
const struct mp_entry *mp_config_find(const struct mp_config_set *set, const char *name);

/*
 * SHADOWED, DISABLED, FAILED (not valid, or cannot be approved), NEEDS_APPROVAL or READY.
 */
enum mp_status_state mp_config_get_state(const struct mp_config_set *set, const struct mp_entry *e,
					 enum mp_toggle toggle);

#endif
