/*
 * examination.h - what checks work on: the configuration, and what the running hub says.
 */
#ifndef MP_EXAMINATION_H
#define MP_EXAMINATION_H

#include "cli/doctor/doctor.h"
#include "config/values/resolve.h"

/* Asks the hub, if one runs. only: the one server to look at; NULL: all. */
void mp_doctor_init(struct mp_doctor *d, struct mp_configured *c, const char *only);
void mp_doctor_done(struct mp_doctor *d);

/*
 * An approved entry with the variables of this shell, without what only commands and the secret
 * store could tell: nothing is run. As mp_resolve(); mp_resolved_done() is due also on failure.
 */
int mp_doctor_resolve(const struct mp_doctor *d, const struct mp_entry *e, struct mp_resolved *ret,
		      struct mcpool_error *reterr) MP_MUST;
/*
 * A finding about this server: the cause that its error has, and what to type. fix: something
 * better; may be NULL.
 */
int mp_doctor_tell_error(struct mp_doctor *d, const char *check, const struct mp_entry *e,
			 const char *message, const char *fix) MP_MUST;
/* "mcpool VERB NAME", to be typed; NULL: no memory. */
const char *mp_doctor_get_command(struct mp_doctor *d, const char *verb, const char *server);

#endif
