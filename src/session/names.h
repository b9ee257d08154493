/*
 * names.h - public names: naming styles, collisions, aliases (U19; doc/protocol.md, "Names").
 * A table of all (server, name) pairs of one kind is built at once, sorted by public name. The
 * order in which servers connect decides nothing.
 */
#ifndef MP_NAMES_H
#define MP_NAMES_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "config/values/settings.h"
#include "session/spelling.h"

struct mp_name {
	struct mp_str public_name;
	struct mp_str server, name; /* as the server calls it */
	bool collides;              /* others ask for the same name, or had it before */
	bool is_alone;              /* no other server asks for it, or could as far as is known */
	void *u;                    /* whatever the caller gave with it */
};

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

#endif
