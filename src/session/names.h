/*
 * names.h - public names: naming styles, collisions, aliases (U19; doc/protocol.md, "Names").
 * A table of all (server, name) pairs of one kind is built at once, sorted by public name. The
 * order in which servers connect decides nothing.
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

/* What had a public name, and no other tool asked for it. */
struct mp_name_holder {
	struct mp_str server, name;
	bool is_shared; /* in different runs different ones had it */
};

struct mp_names_rules {
	/* All that are configured, also those of which no row is there. */
	const char *const *servers;
	const bool *is_late; /* of each: its list is not there yet; NULL: of none */
	size_t n_servers;
	/* The table that this one replaces, of the same style: its names keep their meaning. */
	const struct mp_names *before; /* NULL: there is none */
	/* Which configured server had it in an earlier run; NULL: none. The function may be NULL.
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
/* Texts are copied. MCPOOL_ENOMEM, MCPOOL_ELIMIT, MCPOOL_EEXIST (this pair is there). */
int mp_names_add(struct mp_names *n, struct mp_str server, struct mp_str name, void *u) MP_MUST;
/* Borrowed until it is finished. */
void mp_names_set_rules(struct mp_names *n, const struct mp_names_rules *rules);
/* After the last add: give out the public names and sort. Failed, only mp_names_free() is left. */
int mp_names_finish(struct mp_names *n) MP_MUST;

size_t mp_names_count(const struct mp_names *n);
const struct mp_name *mp_names_get(const struct mp_names *n, size_t i); /* sorted by public_name */
/*
 * By public name; else by any other spelling (spelling.h) where that means exactly one; else the
 * same without regard to case. NULL: *ret_candidates, if it is not NULL, says how many it could
 * have meant (0: none). Not for two threads at once: there is one room to compare in.
 */
const struct mp_name *mp_names_find(const struct mp_names *n, struct mp_str name,
				    size_t *ret_candidates);
/* What one name of this style is, before collisions are looked at. */
int mp_names_make(enum mp_naming style, struct mp_str server, struct mp_str name,
		  struct mp_buf *out) MP_MUST;

/* --- for names.c and claims.c alone --------------------------------------------------------- */

struct mp_name_row {
	struct mp_name name;
	struct mp_str wanted;      /* the name it asks for in the present step */
	struct mp_name_row *rival; /* the next one that asks for the same */
	bool is_done;              /* has its public name */
	bool is_sure;              /* it had that name before, or in an earlier run */
	bool is_own;               /* passthrough: its own name may be its public name */
};

/* A name that was somebody's, or that more than one asks for: it is given to no other row. */
struct mp_name_former {
	struct mp_str server, name; /* server.p NULL: contested */
	struct mp_name_row *row;    /* NULL: that one is gone, or contested */
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
	struct mp_map former;               /* any other name that means something: former */
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

/* claims.c: every row gets its public name. Rows are sorted by server and name. */
int mp_claims_settle(struct mp_names *n) MP_MUST;

#endif
