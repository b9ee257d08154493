/*
 * forms.h - the elicitation forms of one command, shown one after the other. Each is filled in on a
 * worker thread, so that the loop keeps running.
 */
#ifndef MP_FORMS_H
#define MP_FORMS_H

#include "base/list.h"
#include "base/loop.h"
#include "base/str.h"
#include "cli/display/progress_line.h"

/* The capabilities that a command declares if there is a terminal. */
#define MP_FORMS_CAPABILITIES "{\"elicitation\":{\"form\":{},\"url\":{}}}"

/* result: of elicitation/create, valid during the call; empty: mp_forms_refusal says why not. */
typedef void (*mp_forms_fn)(void *u, uint64_t id, struct mp_str result);
extern const char mp_forms_refusal[];

struct mp_forms {
	struct mp_loop *loop;          /* borrowed */
	struct mp_progress_line *line; /* silent while a form is open; borrowed */
	mp_forms_fn fn;                /* once for each form that is not dropped; from the loop */
	void *u;
	struct mp_list waiting;
	struct mp_form *open; /* with the worker; NULL: none */
};

void mp_forms_init(struct mp_forms *fs, struct mp_loop *loop, struct mp_progress_line *line,
		   mp_forms_fn fn, void *u);
/* id: the caller's, for fn and mp_forms_drop(). server and params are copied. */
void mp_forms_add(struct mp_forms *fs, uint64_t id, const char *server, struct mp_str params);
/* Cancel a form: fn is not called for it. */
void mp_forms_drop(struct mp_forms *fs, uint64_t id);
/*
 * The same for all. The worker ends a moment later; mp_loop_free() waits for it, so *fs must
 * outlive the loop.
 */
void mp_forms_drop_all(struct mp_forms *fs);

#endif
