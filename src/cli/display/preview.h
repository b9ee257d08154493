/*
 * preview.h - shows an entry as it would be written to a file.
 */
#ifndef MP_PREVIEW_H
#define MP_PREVIEW_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/* Add one JSON value with its secrets masked. secret: its key names a secret. */
int mp_preview_add(struct mp_str json, bool secret, struct mp_buf *out) MP_MUST;
/* Print on stderr, indented. Secrets are masked; placeholders and commands are not. */
void mp_preview_print(struct mp_str json);

#endif
