/*
 * held.h - public names of earlier runs, for the table that is being made, and those of this run,
 * for the next one.
 */
#ifndef MP_HELD_H
#define MP_HELD_H

#include "base/arena.h"
#include "base/map.h"
#include "session/names.h"
#include "store/held_names.h"

struct mp_config_set;

struct mp_held {
	struct mp_db *db; /* NULL: nothing is known */
	struct mp_held_scope scope;
	const char *const *servers; /* that are configured; borrowed */
	size_t n_servers;
	bool is_loaded;
	struct mp_map by_name; /* public name: struct mp_name_holder, in the arena */
	struct mp_arena arena;
};

/* A folder without servers of its own shares the names of all such folders. */
const char *mp_held_get_root(const struct mp_config_set *set);
/* Nothing is read before the first question. */
void mp_held_init(struct mp_held *h, struct mp_db *db, const char *root, enum mp_naming style,
		  int kind);
void mp_held_done(struct mp_held *h);
/* As mp_names_rules has it; u is a struct mp_held. */
const struct mp_name_holder *mp_held_get_holder(void *u, struct mp_str public_name);
/* All that are alone are remembered for later runs. noted: scope to the digest of what was written
 * last, owned. */
void mp_held_note(const struct mp_held *h, const struct mp_names *names, struct mp_map *noted);

#endif
