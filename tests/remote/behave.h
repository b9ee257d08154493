/*
 * behave.h - one list of behaviours, asked of many servers through one hub: what the driver and the
 * behaviours know of each other.
 */
#ifndef BEHAVE_H
#define BEHAVE_H

#include "hub/hub.h"
#include "pool/instance.h"
#include "pool/workspace.h"
#include "pool/pool_call.h"

/* What to ask a kind of server for, and what must come of it. Params are JSON. */
struct kind {
	const char *tool, *resource, *prompt; /* that it lists */
	const char *call, *called;            /* params of tools/call; what the result contains */
	const char *slow, *slept;             /* three steps */
	const char *endless;                  /* steps for many seconds */
	bool notes;                           /* it notes `slow cancelled` */
	const char *change;
	enum mp_catalog_kind changes; /* the list that is another one then */
	const char *changed;          /* begins the name of what is new in it */
	const char *read, *content;
	const char *uri, *touch; /* whose update is told after this call */
	const char *get, *got;
	const char *complete, *completed;
	const char *log;
};

struct behaviour;

/* One server, and the behaviour it is being asked for. */
struct actor {
	struct suite *suite;
	const char *name;
	const struct kind *kind;
	bool is_process; /* ours: it has a pid */
	bool is_missing; /* it could not even be listed: nothing else is asked */
	struct mp_instance *in;
	const struct behaviour *now; /* NULL: all is done */
	int step;
	mp_id call, listening; /* the calls it waits for; 0: none */
	struct mp_timer timer; /* the end of its patience */
	struct mp_timer tick;  /* look again */
	int64_t began_ms;
	size_t before;        /* items in a list that changes */
	unsigned progressed;  /* how often */
	char heard[16][2048]; /* the newest notifications */
	size_t n_heard;
	unsigned calls, good; /* around a restart: made, answered since it is back */
	int by_outcome[MP_OUTCOME_CANCELLED + 1];
	bool is_back;
	int pid;
};

struct suite {
	struct mp_hub *hub;
	struct mp_db *db;
	const char *folder; /* NAME.notes, and NAME.again once it was restarted */
	struct actor *actors;
	size_t n, n_done;
	bool failed;
};

/* Each ends by one of the three below, once. */
struct behaviour {
	const char *name;
	unsigned needs; /* MP_OFFERS_* */
	void (*start)(struct actor *a);
	void (*tick)(struct actor *a); /* 50 times a second; may be NULL */
};
extern const struct behaviour behaviours[]; /* the last has no name */

void behave_ok(struct actor *a);
/* It is as it should be as far as one can see from here; what cannot be seen. */
void behave_unseen(struct actor *a, const char *what);
void behave_failed(struct actor *a, const char *format, ...) MP_PRINTF(2, 3);

const struct mp_hello *behave_hello(struct actor *a);
/* Has it told something that contains both? */
bool behave_has_heard(const struct actor *a, const char *method, const char *words);
bool behave_has_file(const struct actor *a, const char *suffix, const char *line);

#endif
