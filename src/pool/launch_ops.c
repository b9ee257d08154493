/*
 * launch_ops.c - launch keys, which all launch operations share.
 */
#include "pool/launch_ops.h"

#include "base/mem.h"

struct mp_keys *mp_keys_free(struct mp_keys *keys)
{
	if (keys)
		mp_arena_done(&keys->arena);
	return mp_free(keys);
}
