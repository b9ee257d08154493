/*
 * dialer.h - makes a transport from resolved values.
 * The launcher starts processes. One HTTP client serves all remote servers.
 */
#ifndef MP_DIALER_H
#define MP_DIALER_H

#include "base/base.h"
#include "base/log.h"
#include "base/loop.h"
#include "config/values/resolve.h"
#include "transport/transport.h"

struct mp_dialer; /* owns the launcher and the HTTP client, both made on first use */

/* exe: the program for `exe launcher`, copied; NULL: this program. */
struct mp_dialer *mp_dialer_new(struct mp_loop *loop, const char *exe);
/* Free the transports first. Accepts NULL, returns NULL. */
struct mp_dialer *mp_dialer_free(struct mp_dialer *d);

/* Start the launcher early, because starting a process takes time. */
void mp_dialer_open_launcher(struct mp_dialer *d);

struct mp_dialer_target {
	const struct mp_resolved *resolved;
	char *const *environment; /* of a process */
	const char *const *seen;  /* its files as they were verified (identity.h); may be NULL */
	const char *log_file;     /* for its stderr; NULL: none */
	const struct mp_log *log; /* of the server, for hints */
	struct mp_authorization *authorization; /* of a remote server; NULL: none */
};
/* Makes a transport and does not start it. Everything is copied. */
int mp_dialer_dial(struct mp_dialer *d, const struct mp_dialer_target *dial,
		   struct mp_transport **ret_transport, struct mcpool_error *reterr) MP_MUST;

#endif
