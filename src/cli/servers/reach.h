/*
 * reach.h - the servers of one command: statuses with catalogs, and calls. The command is a control
 * client of the running hub, whose servers are already up, or of a hub in this process (own_hub.h).
 * Both behave the same for the command.
 */
#ifndef MP_REACH_H
#define MP_REACH_H

#include "cli/servers/configured.h"
#include "cli/servers/reach_params.h"
#include "cli/display/progress_line.h"
#include "pool/pool_call.h"
#include "pool/status.h"
#include "rpc/message.h"

struct mp_reach;

/*
 * The servers are available: do the work, then mp_reach_finish(). May be called a second time to
 * start over: the first hub was shutting down, and nothing was done.
 */
typedef void (*mp_reach_fn)(struct mp_reach *r, void *u);

struct mp_reach_options {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	const struct mp_entry *const *entries; /* only these; NULL: all of c->set */
	size_t n;
	bool is_alone;              /* use a hub of its own, even if one runs */
	int64_t start_timeout_ms;   /* of every start in a hub of its own; 0: as configured */
	unsigned skipped_lists;     /* in a hub of its own: see mp_pool_options */
	struct mp_str tool;         /* the tool to call, for messages; empty: none */
	struct mp_str capabilities; /* client capabilities during calls; empty: none; static */
};

/*
 * Uses the running hub, unless the command line changes how servers are found or spoken to
 * (--config, --era) or names one itself (`-- COMMAND`): then a hub of its own. Returns the exit
 * code.
 */
int mp_reach_run(const struct mp_reach_options *options, mp_reach_fn begin, void *u);
/* The first exit code counts. */
void mp_reach_finish(struct mp_reach *r, int exit_code);
bool mp_reach_is_interrupted(const struct mp_reach *r);
struct mp_progress_line *mp_reach_get_line(struct mp_reach *r);

/*
 * Start these servers, wait until each is connected or failed, at most max_ms; then fn, with a new
 * list of all servers. One at a time.
 */
void mp_reach_look(struct mp_reach *r, const struct mp_reach_look *look, void (*fn)(void *u),
		   void *u);
const struct mp_status_list *mp_reach_get_servers(const struct mp_reach *r); /* NULL: none yet */
struct mp_status_list *mp_reach_take_servers(struct mp_reach *r); /* owned by the caller */

/* Embedded by the caller. */
struct mp_reach_trial {
	struct mp_reach *reach;
	/* It has settled or timed out; status: valid during the call. */
	void (*fn)(struct mp_reach_trial *t, const struct mp_status *status);
};
/* Start this server; set fn first, it is called once. Several at a time. */
void mp_reach_try(struct mp_reach *r, struct mp_reach_trial *t, const char *server, int64_t max_ms);

const struct mp_reach_options *mp_reach_get_options(const struct mp_reach *r);

/* status: of the server, if it gave no result; else NULL. */
typedef void (*mp_reach_answer_fn)(const struct mp_pool_answer *answer,
				   const struct mp_status *status, void *u);
/*
 * One call at a time. Progress is shown, forms are filled in if the options declare it, and Ctrl-C
 * cancels. Uses server, method, params, tool and timeout_ms of the request. On a negative return fn
 * is not called.
 */
int mp_reach_call(struct mp_reach *r, const struct mp_pool_call_options *rq, mp_reach_answer_fn fn,
		  void *u, struct mcpool_error *reterr) MP_MUST;

/*
 * The call under way creates a task, which an interrupt cannot cancel by cancelling the call: it
 * waits for the answer, a few seconds at most.
 */
void mp_reach_await_task(struct mp_reach *r);
/* m: a result or an error of the hub, valid during the call; NULL: unreadable. */
typedef void (*mp_reach_told_fn)(void *u, const struct mp_message *m);
/*
 * Any other control request, one at a time. heard: notifications until the answer; may be NULL.
 * Ctrl-C ends the command.
 */
int mp_reach_ask(struct mp_reach *r, const char *method, struct mp_str params,
		 mp_reach_told_fn heard, mp_reach_told_fn answered, void *u) MP_MUST;
/* The same beside that one. */
int mp_reach_say(struct mp_reach *r, const char *method, struct mp_str params,
		 mp_reach_told_fn answered, void *u) MP_MUST;
struct mp_loop *mp_reach_get_loop(struct mp_reach *r);

/* Pause between two calls; fn is called when the time is over, or at once on an interrupt. */
void mp_reach_wait(struct mp_reach *r, int64_t ms, void (*fn)(void *u), void *u);

#endif
