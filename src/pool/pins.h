/*
 * pins.h - detects tool definitions that changed after approval (V38).
 * The first list of a server is pinned. Later differences are logged (warn), or the tool is left
 * out until a user accepts it (freeze).
 */
#ifndef MP_PINS_H
#define MP_PINS_H

#include "base/base.h"
#include "client/catalog.h"
#include "pool/pool.h"

struct mp_pinned; /* the pins of one server; NULL: not loaded yet */

/* Check a list of tools that was just fetched; removes frozen tools from it. */
void mp_pins_judge(struct mp_pinned **pins, struct mp_pool *pool, mp_id instance,
		   const struct mp_entry *e, struct mp_catalog_list *tools);
/* Is the tool left out because it changed? */
bool mp_pins_is_frozen(const struct mp_pinned *pins, struct mp_str tool);
/* Drop the loaded pins; true: some tools were frozen. */
bool mp_pins_reset(struct mp_pinned **pins);

#endif
