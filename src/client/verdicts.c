/*
 * verdicts.c - which era a server turned out to speak, remembered for a day per launch key.
 */
#include "client/verdicts.h"

#include "base/mem.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

enum { MAX_VERDICTS = 4096 };

struct verdict {
	enum mp_era era;
	int64_t expires_ms;
};

void mp_verdicts_init(struct mp_verdicts *v)
{
	mp_map_init(&v->known, MAX_VERDICTS);
}

void mp_verdicts_done(struct mp_verdicts *v)
{
	const struct mp_map_entry *e;

	for (size_t cursor = 0; (e = mp_map_next(&v->known, &cursor));)
		mp_free(e->value);
	mp_map_done(&v->known);
}

enum mp_era mp_verdicts_get(const struct mp_verdicts *v, struct mp_str key, int64_t wall_ms)
{
	const struct verdict *known = mp_map_get(&v->known, key);

	return known && wall_ms < known->expires_ms ? known->era : MP_ERA_BOTH;
}

void mp_verdicts_set(struct mp_verdicts *v, struct mp_str key, enum mp_era era, int64_t wall_ms)
{
	struct verdict *known = mp_map_get(&v->known, key);

	if (!known) {
		known = mp_alloc(sizeof(*known));
		if (mp_map_set(&v->known, key, known) < 0) {
			mp_free(known);
			return;
		}
	}
	*known = (struct verdict){era, wall_ms + DAY_MS};
}

void mp_verdicts_forget(struct mp_verdicts *v, struct mp_str key)
{
	mp_free(mp_map_remove(&v->known, key));
}
