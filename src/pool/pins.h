/*
 * pins.h - tool definitions that change after they were approved (V38).
 * The first list that is seen of a server is pinned. Later differences are told (warn), or the tool
 * is left out until somebody accepts it (freeze).
 */
#ifndef MP_PINS_H
#define MP_PINS_H

#include "base/base.h"
#include "client/catalog.h"
#include "pool/pool.h"

struct mp_pinned; /* what is pinned of one server; NULL: not read from the store yet */

/* Look at a list of tools that was just fetched; what is frozen is taken out of it. */
void mp_pins_judge(struct mp_pinned **pins, struct mp_pool *pool, mp_id instance,
		   const struct mp_entry *e, struct mp_catalog_list *tools);
/* Is it left out because it changed? */
bool mp_pins_is_frozen(const struct mp_pinned *pins, struct mp_str tool);
/* Forget what was read; true: some were frozen. */
bool mp_pins_reset(struct mp_pinned **pins);

#endif
