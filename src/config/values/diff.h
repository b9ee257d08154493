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

/* --- diff_keys.c --- */

/*
 * A key that differs: "args" and ""; of a map each member, as "env" and "TOKEN"; in brackets
 * anything else than a key, as "(script)". Names come from files and may be anything; values are
 * never given.
 */
typedef void (*mp_diff_key_fn)(void *u, struct mp_str key, struct mp_str member);
/* In the order of the table of keys, whatever the order in the file. MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_diff_each_key(const struct mp_entry *before, const struct mp_entry *after, mp_diff_key_fn fn,
		     void *u) MP_MUST;
/* The same for the settings. */
int mp_diff_each_setting(const struct mp_settings *before, const struct mp_settings *after,
			 mp_diff_key_fn fn, void *u) MP_MUST;

#endif
