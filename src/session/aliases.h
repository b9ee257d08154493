/*
 * aliases.h - maps any spelling of a name to the one row that it means.
 * An index over borrowed rows that do not change while it exists. It stores hashes instead of
 * spellings; a match of the hash is spelled again and compared.
 */
#ifndef MP_ALIASES_H
#define MP_ALIASES_H

#include "base/base.h"
#include "base/str.h"

struct mp_name {
	struct mp_str public_name;
	struct mp_str server, name; /* the server's own name for it */
	bool collides;              /* another row wants the same name, or had it before */
	bool is_alone; /* no other server wants it, or can want it as far as is known */
	void *u;       /* the caller's pointer */
};

struct mp_aliases;

/* MCPOOL_ENOMEM, MCPOOL_ELIMIT. rows is borrowed. */
int mp_aliases_new(struct mp_name *const *rows, size_t n, struct mp_aliases **ret) MP_MUST;
struct mp_aliases *mp_aliases_free(struct mp_aliases *a); /* accepts NULL, returns NULL */
/*
 * The row with this spelling, if it is the only one. If there is none, the only row with this
 * spelling in another case. *ret_candidates: the number of exact matches; if there are none, of the
 * others.
 */
const struct mp_name *mp_aliases_find(const struct mp_aliases *a, struct mp_str text,
				      size_t *ret_candidates);

#endif
