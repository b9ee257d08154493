/*
 * era_cache.h - which era a server turned out to speak, remembered for a day per launch key.
 * In memory for now; the store will keep them.
 */
#ifndef MP_ERA_CACHE_H
#define MP_ERA_CACHE_H

#include "base/base.h"
#include "base/map.h"
#include "rpc/message.h"

struct mp_era_cache {
	struct mp_map known; /* launch key to struct cached_era, owned */
};

void mp_era_cache_init(struct mp_era_cache *v);
void mp_era_cache_done(struct mp_era_cache *v);
/* MP_ERA_BOTH where nothing is known, or not any more. */
enum mp_era mp_era_cache_get(const struct mp_era_cache *v, struct mp_str key, int64_t wall_ms);
/* Forgetting is allowed: past the ceiling nothing is remembered. */
void mp_era_cache_set(struct mp_era_cache *v, struct mp_str key, enum mp_era era, int64_t wall_ms);
void mp_era_cache_forget(struct mp_era_cache *v, struct mp_str key);

#endif
