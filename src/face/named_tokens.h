/*
 * named_tokens.h - tokens of `mcpool token add`, as the store has them at this moment.
 * The store is looked at before every decision: a removed token is void at once, and so is what
 * its holder had opened (V19).
 */
#ifndef MP_NAMED_TOKENS_H
#define MP_NAMED_TOKENS_H

#include "base/base.h"
#include "base/str.h"
#include "face/holders.h"
#include "store/db.h"
#include "store/digest.h"

/* What a token begins with, so that people and scanners for leaked secrets know it. */
#define MP_NAMED_TOKEN_PREFIX "mcpool_"
enum {
	MP_NAMED_TOKEN_BYTES = 32, /* random; written as hex digits */
	MP_NAMED_TOKEN = sizeof(MP_NAMED_TOKEN_PREFIX) - 1 + (size_t)2 * MP_NAMED_TOKEN_BYTES,
	MP_NAMED_TOKEN_USE_MS = 60000, /* its use is noted once in this time */
};

struct mp_named_tokens {
	struct mp_db *db;             /* borrowed; NULL: there are none */
	int64_t mark;                 /* of the store, when it was last read; 0: never */
	struct mp_named_token *items; /* owned */
	size_t n;
	bool was_told; /* that the store cannot be read */
};

void mp_named_tokens_init(struct mp_named_tokens *t, struct mp_db *db);
void mp_named_tokens_done(struct mp_named_tokens *t);

/* Read the store again if it changed. Holders of tokens that are gone are removed. */
void mp_named_tokens_look(struct mp_named_tokens *t, struct mp_holders *holders);
/* Whose token this is; compares in constant time. NULL: it is none of them, or expired. */
struct mp_holder *mp_named_tokens_find(struct mp_named_tokens *t, struct mp_holders *holders,
				       struct mp_str presented, int64_t wall_ms);

/* A new token. */
void mp_named_token_make(char text[MP_NAMED_TOKEN + 1]);
/* What the store keeps of it. */
void mp_named_token_hash(struct mp_str token, unsigned char digest[MP_DIGEST_SIZE]);

#endif
