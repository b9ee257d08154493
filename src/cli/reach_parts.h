/*
 * reach_parts.h - between reach.c and the two ways to the servers.
 */
#ifndef MP_REACH_PARTS_H
#define MP_REACH_PARTS_H

#include "cli/reach.h"

enum { MP_REACH_TAIL_LINES = 10 };

struct mp_reach_way {
	/* mp_reach_looked() follows; what it shall say of rq is asked as in reach.h. */
	void (*look)(void *w, const struct mp_reach_look *look);
	int (*call)(void *w, const struct mp_pool_call_options *rq,
		    struct mcpool_error *reterr) MP_MUST;
	/* mp_reach_waited() follows; Ctrl-C ends it at once. */
	void (*wait)(void *w, int64_t ms);
	void (*finish)(void *w, int exit_code);
	bool (*is_interrupted)(const void *w);
	struct mp_progress_line *(*get_line)(void *w);
};

struct mp_reach {
	const struct mp_reach_options *o;
	mp_reach_fn begin;
	void *u;
	const struct mp_reach_way *way; /* NULL: none is open */
	void *w;                        /* the way's own */
	struct mp_status_list *servers; /* owned */
	void (*looked)(void *u);
	void *looked_u;
	mp_reach_answer_fn answered; /* NULL: nothing was called */
	void *answered_u;
	void (*waited)(void *u); /* NULL: nothing is waited for */
	void *waited_u;
};

/* What the ways tell. The list is taken over. */
void mp_reach_looked(struct mp_reach *r, struct mp_status_list *servers);
void mp_reach_answered(struct mp_reach *r, const struct mp_pool_answer *answer,
		       const struct mp_status *status);

void mp_reach_waited(struct mp_reach *r);

/* The exit code. */
int mp_reach_go_alone(struct mp_reach *r);
/* The same, or MP_REACH_NOBODY: no hub runs, or it leaves; nothing was done. */
enum { MP_REACH_NOBODY = -1 };
int mp_reach_go_to_hub(struct mp_reach *r);

#endif
