/*
 * effective.h - what holds for an entry in the end, key by key, and who said so.
 */
#ifndef MP_EFFECTIVE_H
#define MP_EFFECTIVE_H

#include "base/base.h"
#include "config/values/entry.h"
#include "json/write.h"

/* One value: its dotted key, its JSON, and where it comes from ("default", "FILE:LINE"). */
typedef void (*mp_effective_fn)(void *u, const char *key, struct mp_str json, const char *from);

/* Every tuning key of an entry, and what it says itself. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_effective_each(const struct mp_entry *e, mp_effective_fn fn, void *u) MP_MUST;
/* The same for the settings. */
int mp_effective_each_setting(const struct mp_settings *s, mp_effective_fn fn, void *u) MP_MUST;

/* All of it as one line: equal for entries that behave alike. */
int mp_effective_add(const struct mp_entry *e, struct mp_buf *out) MP_MUST;

#endif
