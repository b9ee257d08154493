/*
 * reach.c - the servers of one command, wherever they run.
 */
#include "base/error.h"
#include "cli/reach_parts.h"

/* --- what the ways tell ---------------------------------------------------------------------- */

void mp_reach_looked(struct mp_reach *r, struct mp_status_list *servers)
{
	void (*fn)(void *u) = r->looked;

	mp_status_list_free(r->servers);
	r->servers = servers;
	r->looked = NULL;
	fn(r->looked_u);
}

void mp_reach_answered(struct mp_reach *r, const struct mp_pool_answer *answer,
		       const struct mp_status *status)
{
	mp_reach_answer_fn fn = r->answered;

	r->answered = NULL;
	mp_progress_line_clear(mp_reach_get_line(r));
	fn(answer, status, r->answered_u);
}

void mp_reach_waited(struct mp_reach *r)
{
	void (*fn)(void *u) = r->waited;

	r->waited = NULL;
	if (fn)
		fn(r->waited_u);
}

/* --- what the verbs ask ---------------------------------------------------------------------- */

void mp_reach_look(struct mp_reach *r, const struct mp_reach_look *look, void (*fn)(void *u),
		   void *u)
{
	r->looked = fn;
	r->looked_u = u;
	r->way->look(r->w, look);
}

int mp_reach_call(struct mp_reach *r, const struct mp_pool_call_options *rq, mp_reach_answer_fn fn,
		  void *u, struct mcpool_error *reterr)
{
	struct mp_pool_call_options ours = *rq;
	int result;

	ours.call.capabilities = r->o->capabilities;
	r->answered = fn;
	r->answered_u = u;
	result = r->way->call(r->w, &ours, reterr);
	if (result < 0)
		r->answered = NULL;
	return result;
}

void mp_reach_wait(struct mp_reach *r, int64_t ms, void (*fn)(void *u), void *u)
{
	r->waited = fn;
	r->waited_u = u;
	r->way->wait(r->w, ms);
}

unsigned mp_reach_get_skipped_lists(const struct mp_reach *r)
{
	return r->o->skipped_lists;
}

const struct mp_cli_args *mp_reach_get_args(const struct mp_reach *r)
{
	return r->o->args;
}

const struct mp_configured *mp_reach_get_configured(const struct mp_reach *r)
{
	return r->o->c;
}

const struct mp_status_list *mp_reach_get_servers(const struct mp_reach *r)
{
	return r->servers;
}

void mp_reach_finish(struct mp_reach *r, int exit_code)
{
	r->way->finish(r->w, exit_code);
}

bool mp_reach_is_interrupted(const struct mp_reach *r)
{
	return r->way->is_interrupted(r->w);
}

struct mp_progress_line *mp_reach_get_line(struct mp_reach *r)
{
	return r->way->get_line(r->w);
}

/* What a running hub has up already was started without these. */
static bool wants_hub(const struct mp_reach_options *o)
{
	return o->args->config.n == 0 && !o->args->strict_config && o->args->era == MP_ERA_BOTH &&
	       !o->c->set->is_typed;
}

int mp_reach_run(const struct mp_reach_options *options, mp_reach_fn begin, void *u)
{
	struct mp_reach r = {.o = options, .begin = begin, .u = u};
	int exit_code = MP_REACH_NOBODY;

	if (wants_hub(options))
		exit_code = mp_reach_go_to_hub(&r);
	if (exit_code == MP_REACH_NOBODY)
		exit_code = mp_reach_go_alone(&r);
	mp_status_list_free(r.servers);
	return exit_code;
}
