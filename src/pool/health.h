/*
 * health.h - the member `health` of a status: why the server does not work and what to type, the
 * limits and the schedule in force, what its probes found, its last changes.
 */
#ifndef MP_HEALTH_H
#define MP_HEALTH_H

#include "pool/cause.h"
#include "pool/instance.h"

/*
 * A JSON object in the arena (doc/protocol.md, "Command line"); empty: memory is out. symptoms:
 * NULL for a server that works. in: NULL: it has no instance.
 */
struct mp_str mp_health_write(const struct mp_entry *e, struct mp_instance *in,
			      const struct mp_symptoms *symptoms, struct mp_arena *arena);

#endif
