/*
 * inproc.h - a hub of its own for one command: the pool of the configured servers, inside this
 * process and for as long as the command takes. Nothing is started unless the command asks for it.
 */
#ifndef MP_INPROC_H
#define MP_INPROC_H

#include "cli/configured.h"
#include "cli/progress_line.h"
#include "hub/hub.h"
#include "pool/gate.h"
#include "pool/pool_client.h"

extern const struct mp_identity mp_cli_identity; /* what servers are told of us */

enum { MP_INPROC_SESSION = 1 }; /* the one user there is */

struct mp_inproc;

struct mp_inproc_hooks {
	/* The servers are known and none is started: do the work, then mp_inproc_finish(). */
	void (*ready)(struct mp_inproc *p, void *u);
	/* Ctrl-C while there is something to take back first; true: finish follows. May be NULL. */
	bool (*interrupted)(struct mp_inproc *p, void *u);
	struct mp_pool_client_hooks client; /* what servers ask and tell; with the same u */
};

struct mp_inproc_options {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	const struct mp_entry *const *entries; /* these and no others; NULL: all of c->set */
	size_t n;
	int64_t start_timeout_ms;   /* of every start; 0: as configured */
	unsigned skipped_lists;     /* see mp_pool_options */
	struct mp_str capabilities; /* what servers may ask the command; empty: nothing */
};

/* Returns the exit code. By then no server is left. */
int mp_inproc_run(const struct mp_inproc_options *options, const struct mp_inproc_hooks *hooks,
		  void *u);
/* Servers leave, then the run is over. The first exit code counts. */
void mp_inproc_finish(struct mp_inproc *p, int exit_code);

struct mp_workspace *mp_inproc_get_view(struct mp_inproc *p);
struct mp_pool *mp_inproc_get_pool(struct mp_inproc *p);
struct mp_progress_line *mp_inproc_get_line(struct mp_inproc *p);
bool mp_inproc_is_interrupted(const struct mp_inproc *p);
/*
 * Start what is due, wait until each of them is live or failed, max_ms at most; then fn. One at a
 * time.
 */
void mp_inproc_open_gate(struct mp_inproc *p, enum mp_gate_due due, const bool *only,
			 int64_t max_ms, mp_gate_fn fn, void *u);

#endif
