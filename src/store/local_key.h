/*
 * local_key.h - the key of this user on this machine, for digests that mean nothing elsewhere.
 */
#ifndef MP_LOCAL_KEY_H
#define MP_LOCAL_KEY_H

#include "base/base.h"

enum { MP_LOCAL_KEY_SIZE = 32 };

/*
 * $XDG_STATE_HOME/mcpool/local.key: 32 random bytes, 0600, made on first use, also if several
 * processes do so at once. A file of another size or owner, or that others may read, is refused.
 */
int mp_local_key_get(unsigned char ret_key[MP_LOCAL_KEY_SIZE], struct mcpool_error *reterr) MP_MUST;

/* The one in the folder of this file, for a database that is elsewhere. The folder is not checked.
 */
int mp_local_key_get_beside(const char *file, unsigned char ret_key[MP_LOCAL_KEY_SIZE],
			    struct mcpool_error *reterr) MP_MUST;

#endif
