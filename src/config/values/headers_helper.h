/*
 * headers_helper.h - what a headersHelper prints: headers as a JSON object of strings.
 */
#ifndef MP_HEADERS_HELPER_H
#define MP_HEADERS_HELPER_H

#include "base/arena.h"
#include "base/base.h"
#include "json/bind.h"

/* Texts are the arena's. MCPOOL_EPARSE with a sentence that holds nothing of the text. */
int mp_headers_helper_read(struct mp_str text, struct mp_arena *arena, struct mp_bind_map *ret,
			   struct mcpool_error *reterr) MP_MUST;

#endif
