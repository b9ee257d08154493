/*
 * keeper_events.h - what the event ring is told of a keeper's steps: why a server is where it is,
 * in a few words.
 */
#ifndef MP_KEEPER_EVENTS_H
#define MP_KEEPER_EVENTS_H

#include "base/events.h"
#include "pool/keeper.h"

/* facts: after the step; from: before it. */
void mp_keeper_record(const struct mp_keeper_facts *facts, enum mp_keeper_state from,
		      struct mp_events *events, mp_id id);

#endif
