/*
 * digest.h - SHA-256 and HMAC-SHA-256 over parts whose borders count.
 * Each part is hashed with its length before it, so that "ab","c" is not "a","bc".
 */
#ifndef MP_DIGEST_H
#define MP_DIGEST_H

#include "base/base.h"
#include "base/str.h"

enum { MP_DIGEST_SIZE = 32 };

struct mp_digest; /* owned by the caller that made it */
struct mp_digest *mp_digest_new(void);
/* Keyed with the user's local.key. */
struct mp_digest *mp_digest_new_keyed(struct mp_str key);
/* Accepts NULL, and so does the next: nothing happens. */
void mp_digest_add(struct mp_digest *d, struct mp_str part);
/* Bytes without a length before them, for a file read in pieces. */
void mp_digest_add_bytes(struct mp_digest *d, const void *bytes, size_t n);
/* Ends and frees it. */
void mp_digest_finish(struct mp_digest *d, unsigned char out[MP_DIGEST_SIZE]);
struct mp_digest *mp_digest_free(struct mp_digest *d); /* accepts NULL, returns NULL */
static inline void mp_digest_freep(struct mp_digest **d)
{
	mp_digest_free(*d);
}
void mp_digest_to_hex(const unsigned char digest[MP_DIGEST_SIZE], char out[2 * MP_DIGEST_SIZE + 1]);

#endif
