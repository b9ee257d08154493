/*
 * diagnosis.h - what the status of a server means for a command that needs it: may it be used, and
 * if not, why, and with which exit code.
 */
#ifndef MP_DIAGNOSIS_H
#define MP_DIAGNOSIS_H

#include "base/base.h"
#include "pool/status.h"

struct mp_diagnosis {
	const struct mp_status *status;
	bool is_listed;    /* it runs, or its catalog is known */
	bool is_waiting;   /* for an approval */
	bool is_off;       /* disabled */
	char message[640]; /* why it is not listed */
	int exit_code;     /* what that means for a command that needs it */
};
/* waited_ms: how long the command has waited for a server that is still pending. */
void mp_diagnosis_read(const struct mp_status *status, int64_t waited_ms, struct mp_diagnosis *ret);
/* Why a call of it failed, as clients of a hub are told. */
struct mcpool_error mp_diagnosis_explain(const struct mp_diagnosis *d);
/* On stderr: B65, B66 and its last lines. larger: the setting that gives a slow start more time. */
void mp_diagnosis_complain(const struct mp_diagnosis *d, const char *larger, int64_t now_ms);

#endif
