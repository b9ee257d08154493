/*
 * era_cache.c - which era a server turned out to speak, remembered for a day per launch key.
 */
#include "client/era_cache.h"

#include "base/mem.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

enum { ERA_CACHE_MAX = 4096 };

struct cached_era {
	enum mp_era era;
	int64_t expires_ms;
};

void mp_era_cache_init(struct mp_era_cache *v)
{
	mp_map_init(&v->known, ERA_CACHE_MAX);
}

void mp_era_cache_done(struct mp_era_cache *v)
{
	const struct mp_map_entry *e;

	for (size_t cursor = 0; (e = mp_map_next(&v->known, &cursor));)
		mp_free(e->value);
	mp_map_done(&v->known);
}

enum mp_era mp_era_cache_get(const struct mp_era_cache *v, struct mp_str key, int64_t wall_ms)
{
	const struct cached_era *known = mp_map_get(&v->known, key);

	return known && wall_ms < known->expires_ms ? known->era : MP_ERA_BOTH;
}

void mp_era_cache_set(struct mp_era_cache *v, struct mp_str key, enum mp_era era, int64_t wall_ms)
{
	struct cached_era *known = mp_map_get(&v->known, key);

	if (!known) {
		known = mp_alloc(sizeof(*known));
		if (mp_map_set(&v->known, key, known) < 0) {
			mp_free(known);
			return;
		}
	}
	*known = (struct cached_era){era, wall_ms + DAY_MS};
}

void mp_era_cache_forget(struct mp_era_cache *v, struct mp_str key)
{
	mp_free(mp_map_remove(&v->known, key));
}
