/*
 * tokens.h - named tokens of the HTTP face: who they are for, what they allow, their last use.
 * A token itself is never stored, only its SHA-256: it is 256 random bits, so that a fast hash is
 * as hard to invert as a slow one.
 */
#ifndef MP_TOKENS_H
#define MP_TOKENS_H

#include "base/base.h"
#include "store/db.h"
#include "store/digest.h"

/* Texts are valid during a call, and end in NUL. */
struct mp_token_record {
	int64_t n; /* never used again for another one */
	const char *name;
	unsigned char digest[MP_DIGEST_SIZE];
	const char *servers, *tools; /* names or patterns, each ending in LF; "": all */
	int64_t created_ms;          /* wall clock, as the next two */
	int64_t expires_ms;          /* 0: never */
	int64_t used_ms;             /* to a minute or so; 0: never */
};

/* n and used_ms are not looked at. MCPOOL_EEXIST: the name is taken; MCPOOL_ELIMIT: too many. */
int mp_tokens_add(struct mp_db *db, const struct mp_token_record *t,
		  struct mcpool_error *reterr) MP_MUST;
/* 1: it was there. */
int mp_tokens_remove(struct mp_db *db, const char *name, struct mcpool_error *reterr) MP_MUST;

/* By name. Not 0: stop with that result. */
typedef int (*mp_token_fn)(const struct mp_token_record *t, void *u);
int mp_tokens_each(struct mp_db *db, mp_token_fn fn, void *u, struct mcpool_error *reterr) MP_MUST;

/* Without waiting; what cannot be written is not noted. */
void mp_tokens_note_use(struct mp_db *db, int64_t n, int64_t wall_ms);

#endif
