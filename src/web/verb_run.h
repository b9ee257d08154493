/*
 * verb_run.h - a verb of this program, run as a process of its own for the dashboard: what changes
 * files is done by the code that does it for the command line.
 */
#ifndef MP_VERB_RUN_H
#define MP_VERB_RUN_H

#include "base/base.h"
#include "base/buf.h"
#include "base/loop.h"
#include "base/str.h"

struct mp_verb_run;

struct mp_verb_run_options {
	struct mp_loop *loop;
	const char *folder;  /* where it runs; NULL: here */
	char *const *argv;   /* argv[0]: path of this program; copied by the fork */
	struct mp_str input; /* its stdin */
	int64_t max_ms;      /* then it is ended; 0: never */
	/* A line of its stdout; NULL: stdout is kept. */
	void (*line)(void *u, struct mp_str line);
	/* It has ended: the last call. code: its exit code, or 128 and the number of the signal. */
	void (*done)(void *u, int code, struct mp_str out, struct mp_str err);
	void *u;
};

int mp_verb_run_start(const struct mp_verb_run_options *o, struct mp_verb_run **ret_run,
		      struct mcpool_error *reterr) MP_MUST;
/* It is told to end; done() follows. */
void mp_verb_run_end(struct mp_verb_run *r);
/* It is killed, and done() is not called. Accepts NULL, returns NULL. */
struct mp_verb_run *mp_verb_run_free(struct mp_verb_run *r);

#endif
