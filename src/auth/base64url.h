/*
 * base64url.h - reads base64url (RFC 4648, 5) as tokens have it: without padding, one spelling for
 * each sequence of bytes. jwt.h writes it.
 */
#ifndef MP_BASE64URL_H
#define MP_BASE64URL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/* Adds the bytes. MCPOOL_EPARSE: it is another spelling, or none; MCPOOL_ELIMIT, MCPOOL_ENOMEM. */
int mp_base64url_read(struct mp_str text, struct mp_buf *out) MP_MUST;

#endif
