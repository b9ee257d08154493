/*
 * admission.h - may a call go to its server now, later, or not at all? And what is it told then?
 * The first start is waited for by all together (E27 to E39), a restart as U13 has it.
 */
#ifndef MP_ADMISSION_H
#define MP_ADMISSION_H

#include "base/base.h"
#include "pool/instance.h"

struct mp_admission {
	enum mp_admit_verdict {
		MP_ADMIT,       /* it is up */
		MP_ADMIT_LATER, /* it is on its way */
		MP_ADMIT_NOT,
	} verdict;
	/* ADMIT_NOT: */
	int code;
	unsigned attempt; /* of a restart; 0: none */
	bool retryable;
	enum mcpool_fault fault; /* why its server is not there; UNKNOWN: nothing broke */
	char words[400];
};

/* is_acquire: there is no call yet. Starts the server where that is what it takes. */
void mp_admission_judge(struct mp_instance *in, bool is_acquire, struct mp_admission *ret);
/* It waited for a restart as long as it may. */
void mp_admission_give_up(struct mp_instance *in, struct mp_admission *ret);

#endif
