/*
 * verdicts.h - which era a server turned out to speak, remembered for a day per launch key.
 * In memory for now; the store will keep them.
 */
#ifndef MP_VERDICTS_H
#define MP_VERDICTS_H

#include "base/base.h"
#include "base/map.h"
#include "rpc/message.h"

struct mp_verdicts {
	struct mp_map known; /* launch key to struct verdict, owned */
};

void mp_verdicts_init(struct mp_verdicts *v);
void mp_verdicts_done(struct mp_verdicts *v);
/* MP_ERA_BOTH where nothing is known, or not any more. */
enum mp_era mp_verdicts_get(const struct mp_verdicts *v, struct mp_str key, int64_t wall_ms);
/* Forgetting is allowed: past the ceiling nothing is remembered. */
void mp_verdicts_set(struct mp_verdicts *v, struct mp_str key, enum mp_era era, int64_t wall_ms);
void mp_verdicts_forget(struct mp_verdicts *v, struct mp_str key);

#endif
