/*
 * probe.h - is it alive? ping (or, modern, server/discover), then a list; 3 s each (U17).
 */
#ifndef MP_PROBE_H
#define MP_PROBE_H

#include "client/upstream.h"

/* error NULL: it answered, if only with an error of its own. */
typedef void (*mp_probe_fn)(const struct mcpool_error *error, void *u);

/* list_only: healthProbe listTools. fn runs once, from the loop, unless the return is negative. */
int mp_probe_start(struct mp_upstream *up, bool list_only, mp_probe_fn fn, void *u) MP_MUST;

#endif
