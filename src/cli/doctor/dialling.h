/*
 * dialling.h - one HEAD request to each approved remote server, all at once: does its name, its
 * proxy, its TLS work, and which time is it there?
 */
#ifndef MP_DIALLING_H
#define MP_DIALLING_H

#include "cli/doctor/doctor.h"

struct mp_dialled {
	const struct mp_entry *e;
	bool has_failed;         /* why is set */
	bool is_late;            /* the answer took too long for its time to be compared */
	struct mcpool_error why; /* as the hub would say it */
	int64_t date_ms;         /* Date of its answer; 0: it has none */
	int64_t our_ms;          /* our time when that came */
};

/*
 * Without the headers of the entries: no secret is sent. Waits 3 s at most. *ret: of the doctor's
 * arena.
 */
int mp_dialling_run(struct mp_doctor *d, struct mp_dialled **ret, size_t *ret_n) MP_MUST;

/* "Sun, 06 Nov 1994 08:49:37 GMT" in milliseconds since 1970; 0: it is none. */
int64_t mp_dialling_read_date(struct mp_str text);

#endif
