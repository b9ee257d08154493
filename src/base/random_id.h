/* random_id.h - names that nobody can guess, for sessions and streams (V26). */
#ifndef MP_RANDOM_ID_H
#define MP_RANDOM_ID_H

#include "base/base.h"

enum { MP_RANDOM_ID = 32 }; /* digits: 128 bits of the kernel's randomness */

void mp_random_id_make(char id[MP_RANDOM_ID + 1]);
/* Of this very process, always the same: whoever hears it from outside hears itself. */
const char *mp_random_id_of_process(void);

#endif
