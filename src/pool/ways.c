/*
 * ways.c - how the pool finds out what to start: what all ways have in common.
 */
#include "pool/ways.h"

#include "base/mem.h"

struct mp_keys *mp_keys_free(struct mp_keys *keys)
{
	if (keys)
		mp_arena_done(&keys->arena);
	return mp_free(keys);
}
