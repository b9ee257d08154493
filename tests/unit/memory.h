/*
 * memory.h - a transport with both ends in memory, for tests.
 */
#ifndef MP_MEMORY_H
#define MP_MEMORY_H

#include "base/loop.h"
#include "transport/transport.h"

/* What one end sends arrives at the other in a later turn. Each end is freed by its owner. */
void mp_memory_new(struct mp_loop *loop, struct mp_transport **ret_a, struct mp_transport **ret_b);

/* Hold back what this end sends, as a peer that does not read; false: let it flow again. */
void mp_memory_hold(struct mp_transport *t, bool hold);
/* The connection breaks: both ends hear ended(). What was held back is lost. */
void mp_memory_break(struct mp_transport *t);

#endif
