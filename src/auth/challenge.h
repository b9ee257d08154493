/*
 * challenge.h - reads WWW-Authenticate (RFC 9110, 11.6.1): what a server wants of a token.
 */
#ifndef MP_CHALLENGE_H
#define MP_CHALLENGE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

struct mp_challenge {
	bool is_bearer, is_dpop; /* at most one: the scheme that the rest is about */
	/* NULL where there is none; the arena's. */
	const char *resource_metadata, *scope, *error, *description;
};

/*
 * The first challenge for tokens (Bearer or DPoP) of the header. What cannot be read is left out:
 * the login then finds out by itself. Never fails but for memory.
 */
int mp_challenge_read(struct mp_str header, struct mp_arena *arena,
		      struct mp_challenge *ret) MP_MUST;

#endif
