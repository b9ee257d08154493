/*
 * dialer.h - from resolved values to a transport: processes by the launcher, remote servers by one
 * HTTP client for all of them.
 */
#ifndef MP_DIALER_H
#define MP_DIALER_H

#include "base/base.h"
#include "base/log.h"
#include "base/loop.h"
#include "config/values/resolve.h"
#include "transport/transport.h"

struct mp_dialer; /* owns launcher and HTTP client, which are there when first needed */

/* exe: whose `launcher` is started, copied; NULL: this program. */
struct mp_dialer *mp_dialer_new(struct mp_loop *loop, const char *exe);
/* Transports must be freed before. Accepts NULL, returns NULL. */
struct mp_dialer *mp_dialer_free(struct mp_dialer *d);

/* Start the launcher before it is needed: it takes as long as a program does. */
void mp_dialer_open_launcher(struct mp_dialer *d);

struct mp_dial {
	const struct mp_resolved *resolved;
	char *const *environment; /* of a process */
	const char *const *seen;  /* its files as they were checked (identity.h); may be NULL */
	const char *log_file;     /* for its stderr; NULL: none */
	const char *name;         /* of the server, for hints in the log */
};
/* A transport, not yet started. Everything is copied. */
int mp_dialer_dial(struct mp_dialer *d, const struct mp_dial *dial,
		   struct mp_transport **ret_transport, struct mcpool_error *reterr) MP_MUST;

#endif
