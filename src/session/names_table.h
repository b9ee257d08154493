/*
 * names_table.h - what a table of names is made of; for names.c and claims.c.
 */
#ifndef MP_NAMES_TABLE_H
#define MP_NAMES_TABLE_H

#include "base/arena.h"
#include "base/map.h"
#include "session/names.h"

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
