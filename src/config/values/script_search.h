/*
 * script_search.h - the search for a project's files, shared by scripts.c (words), script_files.c
 * (one path) and runners.c (programs that run what files say).
 */
#ifndef MP_SCRIPT_SEARCH_H
#define MP_SCRIPT_SEARCH_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "config/values/entry.h"

struct mp_scripts_budget; /* scripts.h */

enum { MP_SEARCH_BASES = 64 };

struct mp_search {
	const struct mp_entry *e;
	struct mp_arena arena;              /* of the bases */
	const char *bases[MP_SEARCH_BASES]; /* relative words start at one of these */
	size_t n_bases;
	struct mp_buf *out;
	struct mcpool_error *reterr;
	struct mp_scripts_budget *budget;
	size_t tried;

	/* The words at hand are a command, so that one of them may be a runner. */
	bool in_command;
	bool after_m;     /* the word before was -m */
	unsigned runners; /* a bit for each row of the table in runners.c that was named */
	bool has_read_package;
};

/* --- script_files.c: what one path adds --- */

/* Nothing where nothing is there. MCPOOL_EINVAL for what cannot be checked, MCPOOL_ELIMIT, ... */
int mp_search_try_path(struct mp_search *s, const char *path) MP_MUST;
/* A folder that relative words may start at. MCPOOL_EINVAL: there are too many. */
int mp_search_add_base(struct mp_search *s, const char *path) MP_MUST;

/* --- scripts.c: words --- */

/* A path, from every folder that it may start at. */
int mp_search_try_at(struct mp_search *s, struct mp_str word) MP_MUST;
int mp_search_try_text(struct mp_search *s, const char *text) MP_MUST;

/* --- runners.c: programs that run what files say --- */

/* A word of a command: a runner, or what one of those before it runs. */
int mp_search_try_runner(struct mp_search *s, struct mp_str word) MP_MUST;
/* The files that the named runners read. */
int mp_search_try_runner_files(struct mp_search *s) MP_MUST;

#endif
