/*
 * admission.h - decides whether a call may go to its server now, must wait, or is refused.
 * Sets the error for a refused call. All callers share the wait for the first start (E27 to E39).
 * The wait for a restart follows U13.
 */
#ifndef MP_ADMISSION_H
#define MP_ADMISSION_H

#include "base/base.h"
#include "pool/instance.h"

struct mp_admission {
	enum mp_admit_verdict {
		MP_ADMIT,       /* it is up */
		MP_ADMIT_LATER, /* it is starting */
		MP_ADMIT_NOT,
	} verdict;
	/* ADMIT_NOT: */
	int code;
	unsigned attempt; /* number of the restart attempt; 0: none */
	bool retryable;
	enum mcpool_fault fault; /* why the server is unavailable; UNKNOWN: nothing failed */
	char words[400];
};

/* is_acquire: there is no call yet. Starts the server if necessary. */
void mp_admission_judge(struct mp_instance *in, bool is_acquire, struct mp_admission *ret);
/* The call has reached its limit for waiting on a restart. */
void mp_admission_give_up(struct mp_instance *in, struct mp_admission *ret);

#endif
