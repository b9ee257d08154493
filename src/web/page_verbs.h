/*
 * page_verbs.h - mcpool/verb: verbs that one page runs (doc/protocol.md, "Dashboard").
 */
#ifndef MP_PAGE_VERBS_H
#define MP_PAGE_VERBS_H

#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "json/value.h"

struct mp_workspace;

struct mp_page_verbs {
	struct mp_loop *loop;
	const char *exe;                /* path of this program */
	const char *folder;             /* where they run; borrowed; NULL: here */
	struct mp_workspace *workspace; /* of the page; borrowed */
	void (*say)(void *u, struct mp_str text);
	void *u;
	struct mp_list open;
	size_t *n_all; /* that run for all pages */
};

void mp_page_verbs_init(struct mp_page_verbs *vs, struct mp_loop *loop, const char *exe,
			void (*say)(void *u, struct mp_str text), void *u, size_t *n_all);
void mp_page_verbs_done(struct mp_page_verbs *vs); /* those that run are killed */
/* The answer follows. MCPOOL_EINVAL, MCPOOL_EPERM: not one that a page runs; MCPOOL_ELIMIT. */
int mp_page_verbs_run(struct mp_page_verbs *vs, struct mp_str id, const struct mp_tape *t,
		      mp_value params, struct mcpool_error *reterr) MP_MUST;
void mp_page_verbs_cancel(struct mp_page_verbs *vs, struct mp_str id);

#endif
