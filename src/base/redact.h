/*
 * redact.h - replaces secrets by dots, for logs and displays. It finds them by
 * - value: all values of mp_secret_add(), also as JSON or a URL escapes them;
 * - name: what follows a word such as `token`, `Authorization` or `api_key`, as `name=value`,
 *   `"name": "value"`, `--name value`, `["--name", "value"]` or a header line;
 * - place: user info, query and fragment of URLs;
 * - shape: `Bearer ...` and the token prefixes of large services.
 */
#ifndef MP_REDACT_H
#define MP_REDACT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/secrets.h"
#include "base/str.h"

/*
 * Append text with secrets as dots and control characters escaped. cut: the text was cut off, so
 * the first part of a secret at its end is hidden, too.
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
