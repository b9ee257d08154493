/*
 * redact.h - secrets shown as dots, found by value, by name and by shape.
 * By value: whatever was announced with mp_secret_add(), also as JSON or a URL escapes it. By name:
 * what follows a word such as `token`, `Authorization` or `api_key`, as `name=value`,
 * `"name": "value"`, `--name value`, `["--name", "value"]` or a header line; and in URLs the user
 * info, the query and the fragment. By shape: `Bearer ...` and what large services begin their
 * tokens with.
 */
#ifndef MP_REDACT_H
#define MP_REDACT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/secrets.h"
#include "base/str.h"

/*
 * text with its secrets as dots and its control characters escaped, added to out. cut: text is the
 * beginning of something longer, so that a secret begun at its end is hidden too.
 */
int mp_redact(struct mp_str text, bool cut, struct mp_buf *out) MP_MUST;

/* Does this key (of a map, header or variable) name a secret? */
bool mp_redact_is_secret_name(struct mp_str name);

/*
 * Could this word be a credential by its looks? Sixteen characters or more, letters and
 * three digits, and no blank, slash, dot or colon as sentences, paths, versions and addresses have.
 */
bool mp_redact_looks_random(struct mp_str word);

#endif
