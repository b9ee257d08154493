/*
 * names.h - public names: naming styles, collisions, aliases (U19; doc/protocol.md, "Names").
 * A table of all (server, name) pairs of one kind is built at once, sorted by public name. It does
 * not depend on the order in which servers connect.
 */
#ifndef MP_NAMES_H
#define MP_NAMES_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/str.h"
#include "config/values/settings.h"
#include "session/aliases.h"
#include "session/spelling.h"

struct mp_names;

/* The tool that had a public name which no other tool wanted. */
struct mp_name_holder {
	struct mp_str server, name;
	bool is_shared; /* different tools had it in different runs */
};

struct mp_names_rules {
	/* All configured servers, also those without rows. */
	const char *const *servers;
	const bool *is_late; /* each: it has no list yet; NULL: none */
	size_t n_servers;
	/* The table that this one replaces, of the same style. Its names keep their meaning. */
	const struct mp_names *before; /* NULL: none */
	/*
	 * The configured server that had it in an earlier run; NULL: none. The function may be
	 * NULL.
	 */
	const struct mp_name_holder *(*get_holder)(void *u, struct mp_str public_name);
	void *u;
};

struct mp_names *mp_names_new(enum mp_naming style);
struct mp_names *mp_names_free(struct mp_names *n); /* accepts NULL, returns NULL */
static inline void mp_names_freep(struct mp_names **n)
{
	mp_names_free(*n);
}
/* Texts are copied. MCPOOL_ENOMEM, MCPOOL_ELIMIT, MCPOOL_EEXIST (duplicate pair). */
int mp_names_add(struct mp_names *n, struct mp_str server, struct mp_str name, void *u) MP_MUST;
/* Borrowed until it is finished. */
void mp_names_set_rules(struct mp_names *n, const struct mp_names_rules *rules);
/*
 * After the last add: assigns the public names and sorts. After a failure only mp_names_free() is
 * allowed.
 */
int mp_names_finish(struct mp_names *n) MP_MUST;

size_t mp_names_count(const struct mp_names *n);
const struct mp_name *mp_names_get(const struct mp_names *n, size_t i); /* sorted by public_name */
/*
 * By public name; else by any other spelling (spelling.h) if it is unambiguous; else the same
 * without regard to case. NULL: *ret_candidates, if it is not NULL, is the number of matches (0:
 * none). Not thread-safe: there is one scratch buffer.
 */
const struct mp_name *mp_names_find(const struct mp_names *n, struct mp_str name,
				    size_t *ret_candidates);
/* A name in this style, before collisions are resolved. */
int mp_names_make(enum mp_naming style, struct mp_str server, struct mp_str name,
		  struct mp_buf *out) MP_MUST;

/* --- private to names.c and claims.c -------------------------------------------------------- */

struct mp_name_row {
	struct mp_name name;
	struct mp_str wanted;      /* the name it wants in the current step */
	struct mp_name_row *rival; /* the next row that wants the same */
	bool is_done;              /* has its public name */
	bool is_sure;              /* it had that name before, or in an earlier run */
	bool is_own;               /* passthrough: its own name may be public */
};

/* A former or contested name: it is not assigned to another row. */
struct mp_name_former {
	struct mp_str server, name; /* server.p NULL: contested */
	struct mp_name_row *row;    /* NULL: it no longer exists, or is contested */
};

struct mp_names {
	enum mp_naming style;
	bool is_finished;
	const struct mp_names_rules *rules; /* borrowed until it is finished; NULL: none */
	struct mp_arena arena;              /* the rows and their texts */
	struct mp_name **rows;              /* owned; each is the first member of a row */
	size_t n, room;                     /* of rows */
	struct mp_map pairs;                /* server and name: row */
	struct mp_map taken;                /* public name: row */
	struct mp_map former;               /* all other names with a meaning: former */
	struct mp_aliases *aliases;         /* owned; NULL until finished */
};

static inline struct mp_name_row *mp_names_get_row(const struct mp_names *n, size_t i)
{
	return mp_container_of(n->rows[i], struct mp_name_row, name);
}

/* names.c */
struct mp_name_row *mp_names_find_pair(const struct mp_names *n, struct mp_str server,
				       struct mp_str name);
int mp_names_copy(struct mp_names *n, struct mp_str from, struct mp_str *ret) MP_MUST;

/* claims.c: assigns every row its public name. Rows are sorted by server and name. */
int mp_claims_settle(struct mp_names *n) MP_MUST;

#endif
