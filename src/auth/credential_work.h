/*
 * credential_work.h - what a worker does with the credential of an account: read it under a lock
 * that all processes of the user respect, save it, remove it.
 */
#ifndef MP_CREDENTIAL_WORK_H
#define MP_CREDENTIAL_WORK_H

#include "base/base.h"
#include "base/buf.h"
#include "base/loop.h"
#include "base/str.h"
#include "config/values/secret_values.h"

enum mp_credential_task { MP_CREDENTIAL_LOCK, MP_CREDENTIAL_SAVE, MP_CREDENTIAL_REMOVE };

/* Owned by itself, until fn has run. */
struct mp_credential_work {
	enum mp_credential_task task;
	struct mp_secret_values *secrets; /* counted */
	char *secret;                     /* its name in the store */
	struct mp_buf text;               /* what was read, or is to be saved */
	int fd;     /* LOCK: open while we have the lock; fn may take it, -1 */
	int result; /* LOCK: MCPOOL_EAGAIN: another process has it */
	struct mcpool_error why;
	void (*fn)(void *u, struct mp_credential_work *w);
	void *u;
};

/*
 * fn follows from the loop, once, unless it was cancelled. text: for SAVE. A credential that is not
 * there is an empty text, and no error.
 */
int mp_credential_work_start(struct mp_loop *loop, enum mp_credential_task task,
			     struct mp_secret_values *secrets, const char *secret,
			     struct mp_str text, void (*fn)(void *u, struct mp_credential_work *w),
			     void *u, struct mp_credential_work **ret) MP_MUST;
/* The work itself goes on. */
void mp_credential_work_cancel(struct mp_credential_work *w);

#endif
