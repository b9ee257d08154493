/*
 * logger.h - writes the event ring into the log: attempts at WRN or ERR (log.attempts), failures
 * at ERR (U31).
 * A line starts with the server's name and the id of its instance, `files#3`, or as log.names
 * says with `mcp:files` (E58).
 */
#ifndef MP_LOGGER_H
#define MP_LOGGER_H

#include "base/base.h"
#include "base/events.h"
#include "pool/pool.h"

struct mp_logger;

/*
 * Read all events from now on; both are borrowed. Failures are not written until mp_logger_speak(),
 * because the gate's result reports them (A42).
 */
struct mp_logger *mp_logger_new(struct mp_events *events, struct mp_pool *pool);
/* The gate is open: write everything from the next event on. */
void mp_logger_speak(struct mp_logger *l);
/* Call before the events are freed. Accepts NULL, returns NULL. */
struct mp_logger *mp_logger_free(struct mp_logger *l);

#endif
