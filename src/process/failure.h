/*
 * failure.h - why a server did not start, in words.
 */
#ifndef MP_FAILURE_H
#define MP_FAILURE_H

#include "base/base.h"

/* What an enum mp_stage and an errno mean for this command and folder, and what may help. */
void mp_failure_explain(int stage, int cause, const char *command, const char *folder,
			struct mcpool_error *ret_why);

#endif
