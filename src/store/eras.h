/*
 * eras.h - which era a server turned out to speak, kept for a day per launch key.
 */
#ifndef MP_ERAS_H
#define MP_ERAS_H

#include "base/base.h"
#include "base/str.h"
#include "rpc/message.h"
#include "store/db.h"

/* MP_ERA_BOTH where nothing is known, or not any more. Trouble with the store is "unknown". */
enum mp_era mp_eras_get(struct mp_db *db, struct mp_str launch_key, int64_t wall_ms);
/* Queued; forgetting is allowed. MP_ERA_BOTH: forget it. Sweeps what has expired. */
void mp_eras_set(struct mp_db *db, struct mp_str launch_key, enum mp_era era, int64_t wall_ms);

#endif
