/*
 * secrets.h - values that were announced as secret: tokens, passwords, keys. redact.c hides them
 * wherever they are logged.
 */
#ifndef MP_SECRETS_H
#define MP_SECRETS_H

#include "base/base.h"
#include "base/str.h"

/* Shorter values are not announced: dots for every "on" would hide the log and no secret. */
enum { MP_SECRET_MIN = 6 };

/*
 * Hide this value wherever it is logged, until it was removed as often as added; of several lines,
 * each line, too. Values below MP_SECRET_MIN bytes are ignored. MCPOOL_ELIMIT past
 * MP_LIMIT_SECRETS, MCPOOL_ENOMEM; nothing was announced then.
 */
int mp_secret_add(struct mp_str value) MP_MUST;
void mp_secret_remove(struct mp_str value);
void mp_secret_remove_all(void);

/*
 * For redact.c: where the longest announced value that begins at `at` ends; `at` if none does. cut:
 * the text goes on, so the beginning of one at its end counts. Between hold and release, which keep
 * other threads from changing the table meanwhile.
 */
void mp_secrets_hold(void);
void mp_secrets_release(void);
size_t mp_secrets_known_until(struct mp_str s, size_t at, bool cut);

#endif
