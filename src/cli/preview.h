/*
 * preview.h - an entry as it would stand in a file, for the person who decides about it.
 */
#ifndef MP_PREVIEW_H
#define MP_PREVIEW_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/* One value into a JSON text, its secrets as dots. secret: it stands under a secret's name. */
int mp_preview_add(struct mp_str json, bool secret, struct mp_buf *out) MP_MUST;
/* On stderr, laid out and indented. Secrets are dots; placeholders and commands are not. */
void mp_preview_print(struct mp_str json);

#endif
