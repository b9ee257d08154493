/*
 * diff.h - an old set against a new one, in terms of what it means: white space, comments and the
 * order of keys change nothing.
 */
#ifndef MP_DIFF_H
#define MP_DIFF_H

#include "base/base.h"
#include "config/values/set.h"

enum mp_change_kind { MP_ADDED, MP_CHANGED, MP_GONE, MP_UNCHANGED };

struct mp_config_change {
	enum mp_change_kind kind;
	const struct mp_entry *before; /* NULL for added */
	const struct mp_entry *after;  /* NULL for gone */
	enum mp_status_state was, is;
};
typedef void (*mp_config_change_fn)(void *u, const struct mp_config_change *change);

/*
 * Every name of either set once: those of the new set in its order, then what is gone. Returns how
 * many are not unchanged, or MCPOOL_ENOMEM. before may be NULL: all are added.
 */
int mp_diff(const struct mp_config_set *before, const struct mp_config_set *after,
	    mp_config_change_fn fn, void *u) MP_MUST;
const char *mp_change_kind_get_name(enum mp_change_kind kind);

#endif
