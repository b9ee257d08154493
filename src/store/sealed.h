/*
 * sealed.h - an entry's JSON without its literal secrets.
 * mcpool.db keeps what was approved so that a change can be shown. It needs no secret for that: a
 * keyed hash tells whether two values differ.
 */
#ifndef MP_SEALED_H
#define MP_SEALED_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * Is this value a plain secret by its name? What could be run or expanded is not: a path, a
 * command, a placeholder, and in a variable anything with a blank. A header is never run.
 */
bool mp_sealed_is_hidden(struct mp_str name, struct mp_str value, bool is_header);

/*
 * The JSON added to out. With a key (MP_LOCAL_KEY_SIZE bytes): each literal secret as dots and a
 * keyed hash, found by name, in headers, and as redact.c finds it. Without (NULL): for people, what
 * mp_sealed_is_hidden() as dots and the rest as it is. MCPOOL_EPARSE, MCPOOL_ELIMIT, MCPOOL_ENOMEM.
 */
int mp_sealed_add(struct mp_str json, const unsigned char *key, struct mp_buf *out) MP_MUST;

#endif
