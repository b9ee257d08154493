/*
 * roster.h - the servers of a workspace at one moment: where each stands, and what it offers.
 * A value, taken from a workspace or read from what another hub wrote; whoever shows it need not
 * know which. Both ends of its way over the socket are here (HACKING, "From agents to the hub").
 */
#ifndef MP_ROSTER_H
#define MP_ROSTER_H

#include "base/arena.h"
#include "base/base.h"
#include "json/bind.h"
#include "pool/pool.h"

/* What a server that withholds is not told, for people and in JSON. */
#define MP_WITHHELD      "roots, sampling, elicitation"
#define MP_WITHHELD_JSON "[\"roots\",\"sampling\",\"elicitation\"]"

struct mp_roster_row {
	const char *name;
	const char *provider; /* whose file it comes from, for people; NULL: unknown */
	int64_t timeout_ms;   /* of a start */
	bool is_required;
	struct mp_bind_list allowed, denied; /* of its tools */
	int state;                           /* enum mp_status_state */
	bool has_instance;                   /* somebody has asked for it */
	const char *detail;                  /* the finer state; "" */
	const char *error;                   /* why it failed, or failed last; "" */
	const char *tail;                    /* the last lines of its stderr then; "" */
	int64_t code;                        /* of that error, MCPOOL_E*; 0: none */
	int64_t fault;                       /* what broke then, MCPOOL_FAULT_*; 0: unknown */
	const char *transport;               /* "stdio" */
	bool withholds;                      /* see mp_status */
	const char *environment;             /* whose its last start had; "" */
	int64_t starts;
	int64_t tools;  /* offered now; -1: unknown */
	bool was_ready; /* its last start got through the handshake; not sent to other processes */
	uint64_t present;
	struct mp_offer *offer; /* a reference; NULL: nothing is known, or it was not asked for */
};

struct mp_roster {
	struct mp_arena arena; /* has the texts */
	int naming;            /* enum mp_naming */
	struct mp_roster_row *rows;
	size_t n;
};

enum { MP_ROSTER_OFFERS = 1 << 0 }; /* what they offer, too */

/* A row of one's own, without offer and tail: borrows from the status and its entry. */
void mp_roster_describe(const struct mp_status *s, struct mp_roster_row *ret);
/* In the workspace's order. only: which of them; NULL: all. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_roster_take(struct mp_workspace *v, mp_id session, const bool *only, unsigned what,
		   struct mp_roster **ret) MP_MUST;
struct mp_roster *mp_roster_free(struct mp_roster *r); /* accepts NULL, returns NULL */
static inline void mp_roster_freep(struct mp_roster **r)
{
	mp_roster_free(*r);
}
const struct mp_roster_row *mp_roster_find(const struct mp_roster *r, const char *name);

/* As a JSON object. MCPOOL_ELIMIT: it is too large for a message. */
int mp_roster_write(const struct mp_roster *r, struct mp_buf *out) MP_MUST;
int mp_roster_read(const struct mp_tape *t, mp_value v, struct mp_roster **ret,
		   struct mcpool_error *reterr) MP_MUST;

#endif
