/*
 * keeper.h - keeps one server alive: prepare, start, list, up, back off, relentless.
 * It owns the upstream of the current life and decides when to start the next one. Its owner
 * (instance.c) provides what to start, how to reach it and how to list it, through hooks.
 * pool_call.c decides which calls may use it.
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
	X(MP_KEEPER_DOWN, "down", "nothing runs, and nothing is wanted")                     \
	X(MP_KEEPER_PREPARING, "preparing", "what to start is being found out")              \
	X(MP_KEEPER_STARTING, "starting", "spawned or dialled, the handshake is still open") \
	X(MP_KEEPER_LISTING, "listing", "agreed; what it offers is on its way")              \
	X(MP_KEEPER_UP, "up", "calls may flow")                                              \
	X(MP_KEEPER_CHECKING, "checking", "calls may flow, and a probe is out")              \
	X(MP_KEEPER_CLEARING, "clearing", "it failed; what is left of it is taken down")     \
	X(MP_KEEPER_BACKOFF, "backoff", "waiting for the next try")                          \
	X(MP_KEEPER_FAILED, "failed", "gave up until it is asked for or may have changed")   \
	X(MP_KEEPER_BARRED, "barred", "waiting for a person: an approval or a login")        \
	X(MP_KEEPER_STOPPING, "stopping", "asked to leave")                                  \
	X(MP_KEEPER_RENEWING, "renewing", "asked to leave, and to be started again at once")

MP_MACHINE_ENUM(mp_keeper_state, MP_KEEPER_STATES, MP_KEEPER_STATE_COUNT);

struct mp_keeper;

struct mp_keeper_hooks {
	/* Find out what to start. mp_keeper_prepared() is the answer, once, later. */
	void (*prepare)(void *u);
	/* The attempt is over or cancelled: free what prepare() got and send no answer. */
	void (*unprepare)(void *u);
	/* The start failed for good, before unprepare(): follow what may change that. May be NULL.
	 */
	void (*await_change)(void *u);
	int (*dial)(void *u, struct mp_transport **ret_transport, struct mcpool_error *reterr);
	/*
	 * Fetch the lists of the upstream. mp_keeper_listed() is the answer, once, later, unless
	 * let_go() came first.
	 */
	void (*list)(void *u);
	/* The upstream is about to be freed: do not use it any more. */
	void (*let_go)(void *u);
	/* The state changed. Called after the whole step. */
	void (*moved)(void *u, enum mp_keeper_state from);
	void (*notification)(void *u, const struct mp_message *m);
};

/* What may change while it runs. */
struct mp_keeper_tuning {
	struct mp_policy policy;
	int64_t timeout_ms;  /* of each stage of the start: connect, handshake, lists */
	bool list_probe;     /* healthProbe listTools */
	bool start_probe;    /* probeAtStart: it must answer the probe before it is up (E69) */
	int64_t interval_ms; /* healthInterval: time between probes while it is up; 0: none */
};

struct mp_keeper_options {
	struct mp_loop *loop;
	struct mp_events *events; /* receives every transition; borrowed */
	mp_id id;                 /* of the instance, in events */
	const struct mp_log *log; /* of the instance; borrowed */
	struct mp_keeper_tuning tuning;
	/* Eras, our identity, capabilities, answerer, era_cache; the keeper fills in the rest. */
	struct mp_upstream_options upstream;
};

/* How long the stages of the last start took, in microseconds; -1: not reached. */
struct mp_keeper_times {
	int64_t prepare_us, spawn_us, handshake_us, list_us;
};

/* What its probes found (D7). */
struct mp_keeper_probe {
	uint64_t sent, failed;
	int64_t wall_ms, took_us; /* of the last one that ended; wall_ms 0: none did */
	bool is_answered;
};

/* Current values; see the fields of U7. */
struct mp_keeper_facts {
	enum mp_keeper_state state;
	int64_t since_ms;        /* when this state began, on the loop's clock */
	int64_t since_wall_ms;   /* the same on the wall clock */
	unsigned attempt;        /* number of this retry or of the next one; 0: the first start */
	unsigned max;            /* maximum of retries (C6); 0: unlimited, or none */
	unsigned tries_failed;   /* since it was last up */
	int64_t next_ms;         /* time of the next attempt, on the loop's clock; 0: none */
	bool was_up;             /* since the last requested start */
	int64_t up_since_ms;     /* UP, CHECKING */
	uint64_t starts;         /* total */
	uint64_t restarts;       /* lives that followed a failed life */
	struct mcpool_error why; /* the last failure; code 0: none, or recovered */
	int64_t failed_ms, failed_wall_ms;
	int64_t failing_wall_ms; /* the first failure of those since it last worked */
	int64_t failed_after_us; /* how long the failed start took; -1: it was not a start */
	const char *trigger;     /* its kind: "start-failed", "transport-exit", ...; static */
	const char *suspicion;   /* why the last probe was sent; static */
	const char *renewal;     /* why it was last asked to start again; static; or NULL */
	struct mp_str tail;      /* the last stderr lines before the failure */
	struct mp_str challenge; /* WWW-Authenticate of a server that needs a login; or empty */
	struct mp_keeper_times times;
	struct mp_keeper_probe probe;
};

struct mp_keeper *mp_keeper_new(const struct mp_keeper_options *options,
				const struct mp_keeper_hooks *hooks, void *u);
/* Immediately, in any state; no hook runs afterwards. Accepts NULL, returns NULL. */
struct mp_keeper *mp_keeper_free(struct mp_keeper *k);
/* From now on; a running server continues. */
void mp_keeper_tune(struct mp_keeper *k, const struct mp_keeper_tuning *tuning);

void mp_keeper_start(struct mp_keeper *k);
void mp_keeper_stop(struct mp_keeper *k);
/* Reconnect (C19): end the current life, start a new one. why: short, static; "": on request. */
void mp_keeper_renew(struct mp_keeper *k, const char *why);
/* The cause of its failure may be gone: if it waits and the policy allows it, try now. */
void mp_keeper_retry(struct mp_keeper *k);
/* The server may be dead: probe it, and restart it only if it is (D7). why: short, static. */
void mp_keeper_suspect(struct mp_keeper *k, const char *why);

/* Answers to prepare() and list(). launch_key: the key of the era cache. */
void mp_keeper_prepared(struct mp_keeper *k, struct mp_str launch_key,
			const struct mcpool_error *error);
void mp_keeper_listed(struct mp_keeper *k, const struct mcpool_error *error);

bool mp_keeper_is_up(const struct mp_keeper *k);       /* calls may flow */
bool mp_keeper_is_starting(const struct mp_keeper *k); /* an attempt is in progress */
/* The start failed for good and is tried again when something changes. */
bool mp_keeper_awaits_change(const struct mp_keeper *k);
struct mp_upstream *mp_keeper_get_upstream(struct mp_keeper *k); /* NULL: none */
int mp_keeper_get_pid(const struct mp_keeper *k);                /* 0: none */
const struct mp_keeper_facts *mp_keeper_get_facts(struct mp_keeper *k);
const char *mp_keeper_get_state_name(enum mp_keeper_state s);

/* --- for keeper.c alone ---------------------------------------------------------------------- */

/* keeper_events.c: record a step in the event ring. facts: after it; from: the state before. */
void mp_keeper_record(const struct mp_keeper_facts *facts, enum mp_keeper_state from,
		      struct mp_events *events, mp_id id);

#endif
