/*
 * filter.h - allow and deny lists of names: case-insensitive, trimmed, `*` and `any` for all, globs
 * (U20).
 * A name must be allowed and not denied. An empty allow list allows all names.
 */
#ifndef MP_FILTER_H
#define MP_FILTER_H

#include "base/base.h"
#include "base/str.h"
#include "base/arena.h"
#include "json/bind.h"

bool mp_filter_matches(struct mp_str pattern, struct mp_str name);
bool mp_filter_lets_pass(const struct mp_bind_list *allowed, const struct mp_bind_list *denied,
			 struct mp_str name);
/*
 * Add the tools of a server that names has as SERVER/TOOL; TOOL may be a pattern. MCPOOL_ENOMEM,
 * MCPOOL_ELIMIT: of the arena.
 */
int mp_filter_deny_tools(const struct mp_bind_list *names, const char *server,
			 struct mp_arena *arena, struct mp_bind_list *denied) MP_MUST;

#endif
