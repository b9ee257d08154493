/*
 * pins.h - tool definitions that change after they were approved (V38).
 * The first list that is seen of a server is pinned. Later differences are told (warn), or the tool
 * is left out until somebody accepts it (freeze).
 */
#ifndef MP_PINS_H
#define MP_PINS_H

#include "base/base.h"
#include "client/catalog.h"

struct mp_instance;

/* Look at a list of tools that was just fetched; what is frozen is taken out of it. */
void mp_pins_judge(struct mp_instance *in, struct mp_catalog_list *tools);
/* Is it left out because it changed? */
bool mp_pins_is_frozen(const struct mp_instance *in, struct mp_str tool);
/* Somebody may have accepted them, or wants another mode. */
void mp_pins_reconsider(struct mp_instance *in);
void mp_pins_done(struct mp_instance *in);

#endif
