/* random_id.h - random bytes of the kernel, and ids that cannot be guessed (V26). */
#ifndef MP_RANDOM_ID_H
#define MP_RANDOM_ID_H

#include "base/base.h"

enum { MP_RANDOM_ID = 32 }; /* digits: 128 bits of the kernel's randomness */

/* At most 256 bytes: so many the kernel gives at once, without failing. */
void mp_random_fill(void *bytes, size_t n);
void mp_random_id_make(char id[MP_RANDOM_ID + 1]);
/* The id of this process: a request that carries it comes from here. */
const char *mp_random_id_of_process(void);

#endif
