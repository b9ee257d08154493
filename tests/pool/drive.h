/*
 * drive.h - many sessions that call servers through the pool, and what they were told.
 */
#ifndef DRIVE_H
#define DRIVE_H

#include <stdio.h>

#include "hub/hub.h"
#include "pool/pool_call.h"

enum { MAX_WORKSPACES = 8 };

struct options {
	const char *config, *out; /* a file, absolute; a folder for results and asked */
	const char *server;
	const char *beside;                  /* another server, called all the time; NULL: none */
	const char *folders[MAX_WORKSPACES]; /* a workspace for each */
	size_t n_folders;
	int64_t sessions, flight, calls, kills, seed;
	int64_t slow;   /* of 1,000 calls so many never answer by themselves */
	int64_t limit;  /* and end by a timeout of at most so many ms */
	int64_t aborts; /* of 1,000 calls so many are cancelled within 20 ms */
	int64_t pad;    /* bytes that each call is longer */
	bool wait;      /* no calls: wait for a signal */
};

struct session {
	struct drive *d;
	struct mp_workspace *workspace;
	mp_id id;
	int64_t asked, killed;
};

/* One call; all are kept, so that a second ending is seen. */
struct call {
	struct session *s;
	int64_t number; /* in its session */
	int64_t asked_us, took_us;
	mp_id call;
	struct mp_timer timer; /* its abort; once it was turned away, the next call */
	bool is_ended;
};

/* No server is killed twice. */
struct life {
	mp_id instance;
	uint64_t starts;
};

struct drive {
	struct options o;
	struct mp_db *db;
	struct mp_hub *hub;
	struct mp_workspace *workspaces[MAX_WORKSPACES];
	size_t n_workspaces, n_ready;
	struct session *sessions;
	struct call *calls;
	int64_t asked, ended, twice, errors, beside; /* beside: calls of that server that ended */
	struct mp_timer beside_timer;
	int64_t by_outcome[MP_OUTCOME_CANCELLED + 1];
	struct life *killed;
	int64_t *kill_at; /* by calls ended, in order */
	int64_t kills;
	char *params; /* of the call at hand */
	size_t params_size;
	uint64_t dice;
	struct mp_timer timer; /* the next kill, or the end */
	int64_t began_us, took_us;
	FILE *results, *all_asked;
	bool is_over;
	int exit_code;
};

void drive_die(const char *format, ...) MP_PRINTF(1, 2);

/* drive_calls.c: make them all; drive_over() is called when the last has ended. */
void drive_calls(struct drive *d);
void drive_over(struct drive *d);

#endif
