/*
 * doctor.h - what `mcpool doctor` looks at: checks, and what they find. A finding says what is
 * wrong and what to type; --fix does that itself where nothing can be lost.
 */
#ifndef MP_DOCTOR_H
#define MP_DOCTOR_H

#include "base/arena.h"
#include "cli/servers/configured.h"

struct mp_doctor {
	struct mp_configured *c;
	struct mp_arena arena; /* texts of the findings */
	struct mp_finding {
		const char *check;   /* its name, below */
		const char *subject; /* server, agent or file */
		const char *text;    /* what is wrong */
		const char *fix;     /* what to type */
		bool is_safe;        /* --fix may do it */
		bool is_fixed;
	} items[256];
	size_t n;
	size_t more; /* found, and without a place in items */
};

struct mp_check {
	const char *name;
	const char *fine; /* if nothing is found */
	int (*find)(struct mp_doctor *d) MP_MUST;
	/* Do what a finding with is_safe says; NULL: none has it. */
	int (*fix)(struct mp_doctor *d, const struct mp_finding *f, struct mcpool_error *reterr);
};

/* Texts are copied. Returns 0, or an error. */
int mp_doctor_add(struct mp_doctor *d, const struct mp_finding *f) MP_MUST;

extern const struct mp_check mp_check_secrets; /* tokens that files have in plain text */

#endif
