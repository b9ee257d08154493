/*
 * aead.h - AES-256-GCM: bytes that cannot be read or changed without the key.
 */
#ifndef MP_AEAD_H
#define MP_AEAD_H

#include "base/base.h"
#include "base/str.h"

/* A sealed text begins with a nonce and a tag. */
enum { MP_AEAD_KEY = 32, MP_AEAD_NONCE = 12, MP_AEAD_TAG = 16, MP_AEAD_HEAD = 28 };

/*
 * out: MP_AEAD_HEAD bytes and as many as the text has. beside is authenticated and not part of it.
 * False: the library refused, mostly for lack of memory.
 */
bool mp_aead_seal(const unsigned char key[MP_AEAD_KEY], struct mp_str beside, struct mp_str text,
		  unsigned char *out) MP_MUST;
/*
 * out: sealed.len - MP_AEAD_HEAD bytes. False: another key, or a bit of it was changed; out is
 * wiped then.
 */
bool mp_aead_open(const unsigned char key[MP_AEAD_KEY], struct mp_str beside, struct mp_str sealed,
		  unsigned char *out) MP_MUST;

#endif
