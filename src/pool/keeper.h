/*
 * keeper.h - one server kept alive: prepare, start, list, up, back off, relentless.
 * It owns the upstream of the present life and knows when there is to be another one. What to
 * start, how to reach it and what it offers is its owner's business (instance.c), asked for through
 * hooks; who may use it, too (pool_call.c).
 */
#ifndef MP_KEEPER_H
#define MP_KEEPER_H

#include "base/base.h"
#include "base/events.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/machine.h"
#include "client/upstream.h"
#include "pool/policy.h"

#define MP_KEEPER_STATES(X)                                                                  \
	X(MP_KEEPER_DOWN, "down", "nothing runs, and nobody wants it to")                    \
	X(MP_KEEPER_PREPARING, "preparing", "what to start is being found out")              \
	X(MP_KEEPER_STARTING, "starting", "spawned or dialled, the handshake is still open") \
	X(MP_KEEPER_LISTING, "listing", "agreed; what it offers is on its way")              \
	X(MP_KEEPER_UP, "up", "calls may flow")                                              \
	X(MP_KEEPER_CHECKING, "checking", "calls may flow, and a probe is out")              \
	X(MP_KEEPER_CLEARING, "clearing", "it failed; what is left of it is taken down")     \
	X(MP_KEEPER_BACKOFF, "backoff", "waiting for the next try")                          \
	X(MP_KEEPER_FAILED, "failed", "gave up until someone asks again")                    \
	X(MP_KEEPER_BARRED, "barred", "waiting for a person: an approval or a login")        \
	X(MP_KEEPER_STOPPING, "stopping", "asked to leave")                                  \
	X(MP_KEEPER_RENEWING, "renewing", "asked to leave, and to be started again at once")

MP_MACHINE_ENUM(mp_keeper_state, MP_KEEPER_STATES, MP_KEEPER_STATE_COUNT);

struct mp_keeper;

struct mp_keeper_hooks {
	/* Find out what to start; mp_keeper_prepared() is the answer, once, later. */
	void (*prepare)(void *u);
	/* The try is over or not wanted: what prepare() got can go, and no answer is due. */
	void (*unprepare)(void *u);
	int (*dial)(void *u, struct mp_transport **ret_transport, struct mcpool_error *reterr);
	/* Ask the upstream what it offers; mp_keeper_listed() is the answer, once, later, unless
	 * let_go() came first. */
	void (*list)(void *u);
	/* The upstream is about to go: leave it alone from now on. */
	void (*let_go)(void *u);
	/* The state is another one than before; told when all of a step has happened. */
	void (*moved)(void *u, enum mp_keeper_state from);
	void (*notification)(void *u, const struct mp_message *m);
};

struct mp_keeper_options {
	struct mp_loop *loop;
	struct mp_events *events; /* every transition; borrowed */
	mp_id id;                 /* of the instance, in events */
	const char *name;         /* for the log; copied */
	struct mp_policy policy;
	int64_t timeout_ms; /* of the start: connect, handshake and lists, each */
	bool list_probe;    /* healthProbe listTools */
	/* Eras, who we are, what is declared, who answers, era_cache; the rest is filled in. */
	struct mp_upstream_options upstream;
};

/* How long the stages of the last start took, in microseconds; -1: not reached. */
struct mp_keeper_times {
	int64_t prepare_us, spawn_us, handshake_us, list_us;
};

/* Present values; see the fields of U7. */
struct mp_keeper_facts {
	enum mp_keeper_state state;
	int64_t since_ms;      /* in this state, on the loop's clock */
	int64_t since_wall_ms; /* the same, for people */
	unsigned attempt;      /* which try this is, or the next one will be; 1 is the first */
	unsigned max;          /* of how many; 0: without end */
	unsigned tries_failed; /* since it was last up */
	int64_t next_ms;       /* BACKOFF: when, on the loop's clock */
	bool was_up;           /* since it was last started on purpose */
	int64_t up_since_ms;   /* UP, CHECKING */
	uint64_t starts;       /* all of them */
	uint64_t restarts;     /* lives that followed one that failed */
	int pid;               /* 0: none */
	struct mcpool_error
		why; /* of the last failure; code 0: there was none, or it was overcome */
	int64_t failed_ms, failed_wall_ms;
	const char *trigger;     /* what that was: "start-failed", "transport-exit", ...; static */
	const char *suspicion;   /* why the last probe was sent; static */
	struct mp_str tail;      /* what the server wrote to stderr last before it failed */
	struct mp_str challenge; /* what a server that needs a login wants to see; or empty */
	struct mp_keeper_times times;
};

struct mp_keeper *mp_keeper_new(const struct mp_keeper_options *options,
				const struct mp_keeper_hooks *hooks, void *u);
/* At once, whatever the state; nothing is told any more. Accepts NULL, returns NULL. */
struct mp_keeper *mp_keeper_free(struct mp_keeper *k);
/* How it is run from now on; what runs goes on running. */
void mp_keeper_tune(struct mp_keeper *k, const struct mp_policy *policy, int64_t timeout_ms,
		    bool list_probe);

void mp_keeper_start(struct mp_keeper *k);
void mp_keeper_stop(struct mp_keeper *k);
/* Reconnect (C19): end the present life, begin a new one. */
void mp_keeper_renew(struct mp_keeper *k);
/* It may be dead: probe it, and restart it only if it is (D7). why: a few words, static. */
void mp_keeper_suspect(struct mp_keeper *k, const char *why);

/* Answers to prepare() and list(). launch_key: what eras are remembered by. */
void mp_keeper_prepared(struct mp_keeper *k, struct mp_str launch_key,
			const struct mcpool_error *error);
void mp_keeper_listed(struct mp_keeper *k, const struct mcpool_error *error);

bool mp_keeper_is_up(const struct mp_keeper *k);                 /* calls may flow */
bool mp_keeper_is_starting(const struct mp_keeper *k);           /* a try is under way */
struct mp_upstream *mp_keeper_get_upstream(struct mp_keeper *k); /* NULL: none */
const struct mp_keeper_facts *mp_keeper_get_facts(struct mp_keeper *k);
const char *mp_keeper_get_state_name(enum mp_keeper_state s);

/* --- for keeper.c alone ---------------------------------------------------------------------- */

/* keeper_events.c: tell the event ring of a step. facts: after it; from: before it. */
void mp_keeper_record(const struct mp_keeper_facts *facts, enum mp_keeper_state from,
		      struct mp_events *events, mp_id id);

#endif
