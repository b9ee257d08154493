/*
 * aliases.h - from any spelling of a name to the one row that it means.
 * An index over rows that belong to someone else and do not change while it is there. Spellings are
 * not kept, only their hashes: whatever has the hash is spelled again and compared.
 */
#ifndef MP_ALIASES_H
#define MP_ALIASES_H

#include "base/base.h"
#include "base/str.h"

struct mp_name {
	struct mp_str public_name;
	struct mp_str server, name; /* as the server calls it */
	bool collides;              /* others ask for the same name, or had it before */
	bool is_alone;              /* no other server asks for it, or could as far as is known */
	void *u;                    /* whatever the caller gave with it */
};

struct mp_aliases;

/* MCPOOL_ENOMEM, MCPOOL_ELIMIT. rows stays the caller's. */
int mp_aliases_new(struct mp_name *const *rows, size_t n, struct mp_aliases **ret) MP_MUST;
struct mp_aliases *mp_aliases_free(struct mp_aliases *a); /* accepts NULL, returns NULL */
/*
 * The row that is spelled so, if it is the only one; else, if none is, the only one that is spelled
 * so in another case. *ret_candidates: how many are, of the first kind if there are any.
 */
const struct mp_name *mp_aliases_find(const struct mp_aliases *a, struct mp_str text,
				      size_t *ret_candidates);

#endif
