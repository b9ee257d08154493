/*
 * launch_ops.c - launch keys, shared by all launch operations.
 */
#include "pool/launch_ops.h"

#include "base/mem.h"

struct mp_keys *mp_keys_free(struct mp_keys *keys)
{
	if (keys)
		mp_arena_done(&keys->arena);
	return mp_free(keys);
}
