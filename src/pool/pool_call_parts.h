/*
 * pool_call_parts.h - what the files of pool/ share of calls: pool_call.c has the states,
 * pool_calls.c starts, moves and ends them.
 */
#ifndef MP_POOL_CALL_PARTS_H
#define MP_POOL_CALL_PARTS_H

#include "pool/instance.h"
#include "pool/pool_call.h"

/* pool_call.c */
extern const struct mp_call_hooks mp_pool_call_wire_hooks;
struct mp_pool_call *mp_pool_call_of_call(struct mp_call *c); /* NULL: it is not the pool's */
void mp_pool_call_advance(struct mp_pool_call *c, enum mp_pool_call_event ev);
/* Note why it cannot be; REFUSE is the event that follows. */
void mp_pool_call_refuse(struct mp_pool_call *c, int code, enum mp_outcome outcome,
			 const char *format, ...) MP_PRINTF(4, 5);
/* Until when it waits: for the answer, and for a restart. */
void mp_pool_call_set_deadline(struct mp_pool_call *c, int64_t ms);
/* The pool goes: it ends now. */
void mp_pool_call_drop(struct mp_pool_call *c);
/* The tool's own deadline decides; the transport's limit comes behind it (D9, U16). */
int64_t mp_pool_call_pad(int64_t ms);
void mp_pool_call_find_another(struct mp_pool_call *c);        /* its instance leaves */
struct mp_list *mp_pool_call_get_list(struct mp_pool_call *c); /* that it is in */

/* A question that belongs to it is being thought about: its time does not run (up to maxTotal). */
void mp_pool_call_pause(struct mp_pool_call *c, bool paused);

/* pool_calls.c: find the instance that its workspace has for it now. */
void mp_pool_call_find_server(struct mp_pool_call *c);
/*
 * pool_calls.c: one too many waits for this server. The last of the caller who has most of them; c
 * itself where none has two more than its caller had without it.
 */
struct mp_pool_call *mp_pool_call_find_greediest(struct mp_instance *in, struct mp_pool_call *c);

#endif
