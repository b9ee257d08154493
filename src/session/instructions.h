/*
 * instructions.h - what servers want agents to know, as one text: marked per server, cut at a
 * limit, and said to be the servers' words (U27).
 */
#ifndef MP_INSTRUCTIONS_H
#define MP_INSTRUCTIONS_H

#include "base/base.h"
#include "base/buf.h"
#include "session/scope.h"

/* Adds it, in the format of the workspace's settings; nothing where no server says anything. */
int mp_instructions_write(struct mp_scope *scope, struct mp_buf *out) MP_MUST;

#endif
