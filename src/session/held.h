/*
 * held.h - public names of earlier runs, for the table being made, and of this run, for the next.
 */
#ifndef MP_HELD_H
#define MP_HELD_H

#include "base/arena.h"
#include "base/map.h"
#include "session/names.h"
#include "store/held_names.h"

struct mp_config_set;

struct mp_held {
	struct mp_db *db; /* NULL: no names are known */
	struct mp_held_scope scope;
	const char *const *servers; /* all configured servers; borrowed */
	size_t n_servers;
	bool is_loaded;
	struct mp_map by_name; /* public name: struct mp_name_holder, in the arena */
	struct mp_arena arena;
};

/* All folders without servers of their own share one scope of names. */
const char *mp_held_get_root(const struct mp_config_set *set);
/* Reads nothing before the first query. */
void mp_held_init(struct mp_held *h, struct mp_db *db, const char *root, enum mp_naming style,
		  int kind);
void mp_held_done(struct mp_held *h);
/* The callback of mp_names_rules; u is a struct mp_held. */
const struct mp_name_holder *mp_held_get_holder(void *u, struct mp_str public_name);
/*
 * Stores all names with a single owner for later runs. noted: scope to the digest of what was
 * written last, owned.
 */
void mp_held_note(const struct mp_held *h, const struct mp_names *names, struct mp_map *noted);

#endif
