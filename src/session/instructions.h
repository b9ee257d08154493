/*
 * instructions.h - the instructions of all servers as one text: marked per server, limited in
 * length, and labelled as the servers' words (U27).
 */
#ifndef MP_INSTRUCTIONS_H
#define MP_INSTRUCTIONS_H

#include "base/base.h"
#include "base/buf.h"
#include "session/scope.h"

/* Appends it in the configured format; nothing if no server has instructions. */
int mp_instructions_write(struct mp_scope *scope, struct mp_buf *out) MP_MUST;

#endif
