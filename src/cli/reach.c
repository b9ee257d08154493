/*
 * reach.c - the servers of one command, wherever they run.
 */
#include <stdio.h>

#include "base/error.h"
#include "cli/reach_parts.h"
#include "session/failed_call.h"

/* --- what the ways tell ---------------------------------------------------------------------- */

void mp_reach_looked(struct mp_reach *r, struct mp_roster *roster)
{
	void (*fn)(void *u) = r->looked;

	mp_roster_free(r->roster);
	r->roster = roster;
	r->looked = NULL;
	fn(r->looked_u);
}

void mp_reach_answered(struct mp_reach *r, const struct mp_pool_answer *answer,
		       const struct mp_roster_row *row)
{
	mp_reach_answer_fn fn = r->answered;

	r->answered = NULL;
	mp_progress_line_clear(mp_reach_get_line(r));
	fn(answer, row, r->answered_u);
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

const struct mp_roster *mp_reach_get_roster(const struct mp_reach *r)
{
	return r->roster;
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
	mp_roster_free(r.roster);
	return exit_code;
}

/* --- what became of a server ----------------------------------------------------------------- */

/* A command that is not there is no missing tool, and no wrong word on our command line. */
static int code_of(const struct mp_roster_row *row)
{
	struct mcpool_error why = {.code = (int)row->code};

	if (!row->has_instance)
		return MP_EXIT_CONFIG; /* it is not valid, or a value of it is missing */
	if (why.code == MCPOOL_ENOENT || why.code == MCPOOL_EINVAL)
		return MP_EXIT_START;
	return mp_cli_exit_code(&why);
}

void mp_fate_read(const struct mp_roster_row *row, int64_t waited_ms, struct mp_fate *ret)
{
	*ret = (struct mp_fate){.row = row,
				.name = row->name,
				.exit_code = MP_EXIT_START,
				.tail = mp_str_of(row->tail)};
	snprintf(ret->message, sizeof(ret->message), "%s", row->error);
	switch ((enum mp_status_state)row->state) {
	case MP_STATUS_CONNECTED:
	case MP_STATUS_READY:
		ret->is_listed = row->tools >= 0;
		ret->exit_code = MP_EXIT_DONE;
		break;
	case MP_STATUS_PENDING:
		snprintf(ret->message, sizeof(ret->message), "not ready within %g s (%s)",
			 (double)waited_ms / 1000, row->detail);
		ret->exit_code = MP_EXIT_TIMEOUT;
		break;
	case MP_STATUS_FAILED:
		ret->exit_code = code_of(row);
		break;
	case MP_STATUS_DISABLED:
		ret->is_off = true;
		ret->exit_code = MP_EXIT_CONFIG;
		break;
	case MP_STATUS_NEEDS_APPROVAL:
		ret->is_waiting = true;
		ret->exit_code = MP_EXIT_NEEDS_APPROVAL;
		if (!row->error[0])
			snprintf(ret->message, sizeof(ret->message),
				 "it waits for your approval: mcpool trust %s", ret->name);
		break;
	case MP_STATUS_NEEDS_AUTH:
		ret->exit_code = MP_EXIT_NEEDS_AUTH;
		break;
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
}

struct mcpool_error mp_fate_explain(const struct mp_fate *f)
{
	struct mcpool_error why;

	(void)mp_fail(&why, mp_cli_code_of(f->exit_code),
		      "MCP error: Failed to connect to \"%s\": %s", f->name, f->message);
	why.fault =
		f->row->state == MP_STATUS_PENDING ? (int)MCPOOL_FAULT_TIMEOUT : (int)f->row->fault;
	return why;
}

void mp_fate_complain(const struct mp_fate *f, const char *larger, int64_t now_ms)
{
	mp_cli_complain("Failed to connect to \"%s\": %s", f->name, f->message);
	if (f->exit_code == MP_EXIT_TIMEOUT)
		mp_cli_complain("A server that starts slowly needs a larger %s (now %lld ms).",
				larger, (long long)now_ms);
	if (f->exit_code == MP_EXIT_NEEDS_AUTH) /* B67 */
		mp_cli_complain(
			"It wants to know who you are: put a token into its headers, as "
			"\"Authorization\": \"Bearer ${TOKEN}\". `mcpool get %s` shows where it "
			"stands.",
			f->name);
	mp_print_tail(mp_failed_call_get_last_lines(f->tail));
}
