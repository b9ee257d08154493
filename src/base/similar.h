/*
 * similar.h - scores how similar a known name is to a typed one, for "Did you mean".
 */
#ifndef MP_SIMILAR_H
#define MP_SIMILAR_H

#include "base/base.h"
#include "base/str.h"

enum { MP_SIMILAR_FAR = 1000 }; /* not similar at all */

/* 0: equal except for case. Few typing errors score best, then names that contain it. */
size_t mp_similar_score(struct mp_str typed, struct mp_str name);
/* The best of n names (NULL ones are skipped); NULL: none is similar. */
const char *mp_similar_find(const char *typed, const char *const *names, size_t n);

#endif
