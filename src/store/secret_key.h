/*
 * secret_key.h - the key of the file of secrets: from local.key, or from a passphrase.
 */
#ifndef MP_SECRET_KEY_H
#define MP_SECRET_KEY_H

#include "base/base.h"
#include "store/aead.h"

enum { MP_SECRET_SALT = 16 };

enum mp_secret_key_kind {
	MP_SECRET_KEY_LOCAL = 1,      /* local.key in the folder of the file */
	MP_SECRET_KEY_PASSPHRASE = 2, /* the first line that a command prints, through scrypt */
};

/*
 * file: the real path of the file of secrets. command is needed for a passphrase only. Blocks.
 * MCPOOL_EPERM: others may read local.key. MCPOOL_EIO, MCPOOL_ETIMEDOUT: the command failed.
 */
int mp_secret_key_get(enum mp_secret_key_kind kind, const char *file, const char *command,
		      const unsigned char salt[MP_SECRET_SALT], unsigned char ret_key[MP_AEAD_KEY],
		      struct mcpool_error *reterr) MP_MUST;

#endif
