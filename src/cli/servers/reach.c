/*
 * reach.c - the servers of one command, through a control client. If the running hub fails before a
 * call was sent, the command uses a hub of its own.
 */
#include "cli/servers/reach.h"

#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/servers/control_client.h"
#include "cli/display/forms.h"
#include "cli/servers/hub_client.h"
#include "cli/display/interrupt.h"
#include "cli/servers/own_hub.h"
#include "cli/servers/reach_answer.h"

/* Extra time for the running hub beyond its own timeout. */
#define GRACE_MS MP_SECONDS(10)

/* Not exit codes: not known yet; nothing was done, use a hub of its own. */
enum { UNKNOWN = -2, UNDONE = -1 };
enum { TASK_MS = 3000 }; /* from an interrupt to the answer that names the task to cancel */

struct mp_reach {
	const struct mp_reach_options *o;
	mp_reach_fn begin;
	void *u;
	struct mp_loop *loop;
	struct mp_own_hub *own;           /* NULL: uses the running hub */
	struct mp_control_client *client; /* NULL: not connected */
	struct mp_progress_line line;
	struct mp_timer blink, patience, pause;
	struct mp_timer cancel; /* runs after an interrupt of a call that creates a task */
	struct mp_interrupt interrupt;
	int exit_code; /* or UNKNOWN, UNDONE */
	enum { IDLE, LOOKING, CALLING, ASKING, PAUSING } state;
	struct mp_status_list *servers; /* owned; NULL: none yet */
	void (*looked)(void *u);
	void *looked_u;
	char server[MP_LIMIT_NAME + 1]; /* the server being called */
	uint64_t call_id;
	bool creates_task; /* the call does; an interrupt waits for its answer */
	mp_reach_answer_fn answered;
	void *answered_u;
	void (*waited)(void *u);
	void *waited_u;
	mp_reach_told_fn heard, told; /* ASKING */
	void *told_u;
	struct mp_forms forms; /* ids are those of the hub's requests */
};

/* --- the end --------------------------------------------------------------------------------- */

static void reach_closed(void *u)
{
	struct mp_reach *r = u;

	mp_loop_stop(r->loop);
}

static void reach_stopped(void *u)
{
	struct mp_reach *r = u;

	mp_interrupt_close(&r->interrupt, reach_closed);
}

static void reach_end(struct mp_reach *r, int exit_code)
{
	mp_timer_stop(&r->blink);
	mp_timer_stop(&r->patience);
	mp_timer_stop(&r->pause);
	mp_timer_stop(&r->cancel);
	mp_forms_drop_all(&r->forms);
	mp_progress_line_clear(&r->line);
	if (r->exit_code != UNKNOWN)
		return;
	r->exit_code = r->interrupt.happened ? MP_EXIT_INTERRUPTED : exit_code;
	r->client = mp_control_client_free(r->client);
	if (!r->own) {
		reach_stopped(r);
		return;
	}
	fflush(stdout); /* readers need not wait for servers that exit slowly */
	mp_own_hub_stop(r->own);
}

void mp_reach_finish(struct mp_reach *r, int exit_code)
{
	reach_end(r, exit_code);
}

/* Nothing was done yet. A hub of its own is the last attempt. */
static void reach_give_up(struct mp_reach *r, struct mp_str why)
{
	if (!r->own) {
		reach_end(r, UNDONE);
		return;
	}
	mp_progress_line_clear(&r->line);
	mp_cli_complain("%.*s", MP_STR_ARGS(why));
	reach_end(r, MP_EXIT_START);
}

/* --- statuses -------------------------------------------------------------------------------- */

#define UNREADABLE MP_STR("the answer of the hub is too large or cannot be read")

/* m: an error; NULL: the answer is unreadable. */
static void reach_refused(struct mp_reach *r, const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str words = MP_STR("");

	mp_arena_init(&arena, MP_KIB(64));
	if (m)
		words = mp_error_read_words(m, &arena);
	reach_give_up(r, words.len ? words : UNREADABLE);
}

/* A requested server is missing: the hub uses other files. */
static void reach_take_servers(void *u, const struct mp_message *m)
{
	struct mp_reach *r = u;
	struct mp_status_list *servers = NULL;
	void (*fn)(void *u) = r->looked;

	if (!m || m->kind == MP_MESSAGE_ERROR) {
		reach_refused(r, m);
		return;
	}
	if (mp_status_list_read(m->tape, m->result, &servers, NULL) < 0 ||
	    (r->o->entries && servers->n < r->o->n)) {
		mp_status_list_free(servers);
		reach_give_up(r, mp_str_of(mcpool_error_text(MCPOOL_ENOMEM)));
		return;
	}
	r->state = IDLE;
	mp_timer_stop(&r->patience);
	mp_status_list_free(r->servers);
	r->servers = servers;
	r->looked = NULL;
	fn(r->looked_u);
}

void mp_reach_look(struct mp_reach *r, const struct mp_reach_look *look, void (*fn)(void *u),
		   void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int result;

	mp_buf_init(&params, MP_MIB(4));
	/* a hub of its own has no other servers */
	result = mp_reach_params_write_look(look, r->own ? NULL : r->o->entries, r->o->n,
					    r->servers, &params);
	r->looked = fn;
	r->looked_u = u;
	r->state = LOOKING;
	if (!r->own)
		mp_timer_start(&r->patience, look->max_ms + GRACE_MS);
	if (result == 0)
		result = mp_control_client_ask(r->client, "mcpool/status", mp_buf_get(&params),
					       reach_take_servers, r, NULL);
	if (result < 0)
		reach_give_up(r, mp_str_of(mcpool_error_text(result)));
}

/* --- one server ------------------------------------------------------------------------------ */

static void trial_take(void *u, const struct mp_message *m)
{
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *servers = NULL;
	struct mp_reach_trial *t = u;

	if (!m || m->kind == MP_MESSAGE_ERROR)
		reach_refused(t->reach, m);
	else if (mp_status_list_read(m->tape, m->result, &servers, NULL) < 0 || servers->n != 1)
		reach_give_up(t->reach, mp_str_of(mcpool_error_text(MCPOOL_ENOMEM)));
	else
		t->fn(t, &servers->items[0]);
}

void mp_reach_try(struct mp_reach *r, struct mp_reach_trial *t, const char *server, int64_t max_ms)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int result;

	t->reach = r;
	mp_buf_init(&params, MP_MIB(1));
	result = mp_reach_params_write_trial(server, max_ms, &params);
	if (result == 0)
		result = mp_control_client_ask(r->client, "mcpool/status", mp_buf_get(&params),
					       trial_take, t, NULL);
	if (result < 0)
		reach_give_up(r, mp_str_of(mcpool_error_text(result)));
}

/* --- calls ----------------------------------------------------------------------------------- */

static void reach_answer(struct mp_reach *r, const struct mp_pool_answer *a,
			 const struct mp_status *status)
{
	r->state = IDLE;
	r->creates_task = false;
	mp_timer_stop(&r->cancel);
	mp_timer_stop(&r->blink);
	mp_forms_drop_all(&r->forms);
	mp_progress_line_end_call(&r->line);
	r->answered(a, status, r->answered_u);
}

static void reach_lose_call(struct mp_reach *r, enum mp_outcome outcome, int code,
			    struct mp_str words)
{
	struct mp_pool_answer a = {.outcome = outcome, .server = r->server};
	struct mcpool_error why;

	(void)mp_fail(&why, code, "MCP error: %.*s", MP_STR_ARGS(words));
	a.error = &why;
	reach_answer(r, &a, NULL);
}

/* The hub refuses: it is shutting down, does not know the request, or the answer is too large. */
static void reach_take_refusal(struct mp_reach *r, const struct mp_message *m)
{
	mp_value data = m ? mp_value_get(m->tape, m->error, "data") : MP_NONE;

	if (!m || mp_value_text_is(m->tape, mp_value_get(m->tape, data, "code"), MP_STR("limit")))
		reach_lose_call(r, MP_OUTCOME_REFUSED, MCPOOL_ETOO_LARGE,
				m ? MP_STR("the answer is too large") : UNREADABLE);
	else
		reach_refused(r, m);
}

static void reach_take_answer(void *u, const struct mp_message *m)
{
	MP_CLEANUP(mp_reach_answer_done) struct mp_reach_answer a;
	struct mp_reach *r = u;

	mp_reach_answer_init(&a);
	if (!m || m->kind == MP_MESSAGE_ERROR) {
		reach_take_refusal(r, m);
		return;
	}
	mp_reach_answer_read(&a, m, r->server);
	reach_answer(r, &a.answer, a.has_status ? &a.status : NULL);
}

int mp_reach_call(struct mp_reach *r, const struct mp_pool_call_options *rq, mp_reach_answer_fn fn,
		  void *u, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int result;

	mp_buf_init(&params, 2 * MP_LIMIT_MESSAGE);
	result = mp_reach_params_write_call(rq, r->o->capabilities, &params);
	snprintf(r->server, sizeof(r->server), "%s", rq->server);
	if (result == 0)
		result = mp_control_client_ask(r->client, "mcpool/call", mp_buf_get(&params),
					       reach_take_answer, r, &r->call_id);
	if (result < 0)
		return mp_fail(reterr, result, "%s", mcpool_error_text(result));
	r->state = CALLING;
	mp_progress_line_begin_call(&r->line);
	mp_timer_start(&r->blink, MP_BLINK_MS);
	r->answered = fn;
	r->answered_u = u;
	return 0;
}

void mp_reach_await_task(struct mp_reach *r)
{
	r->creates_task = r->state == CALLING;
}

/* --- other requests --------------------------------------------------------------------------- */

static void reach_take_other(void *u, const struct mp_message *m)
{
	struct mp_reach *r = u;

	r->state = IDLE;
	r->told(r->told_u, m);
}

int mp_reach_ask(struct mp_reach *r, const char *method, struct mp_str params,
		 mp_reach_told_fn heard, mp_reach_told_fn answered, void *u)
{
	mp_timer_stop(&r->blink);
	mp_progress_line_clear(&r->line);
	r->state = ASKING;
	r->heard = heard;
	r->told = answered;
	r->told_u = u;
	return mp_control_client_ask(r->client, method, params, reach_take_other, r, NULL);
}

int mp_reach_say(struct mp_reach *r, const char *method, struct mp_str params,
		 mp_reach_told_fn answered, void *u)
{
	return mp_control_client_ask(r->client, method, params, answered, u, NULL);
}

/* --- messages of the hub --------------------------------------------------------------------- */

static void reach_form_filled(void *u, uint64_t id, struct mp_str result)
{
	struct mp_reach *r = u;

	mp_control_client_reply(r->client, id, result, mp_forms_refusal);
}

static void on_request(void *u, uint64_t id, const struct mp_message *m)
{
	struct mp_reach *r = u;

	if (r->state == CALLING && m->method == MP_METHOD_ELICIT)
		mp_forms_add(&r->forms, id, r->server, mp_value_source(m->tape, m->params));
	else
		reach_form_filled(r, id, MP_STR(""));
}

static void on_notification(void *u, const struct mp_message *m)
{
	struct mp_reach *r = u;
	mp_value v = mp_value_get(m->tape, m->params, "requestId");
	uint64_t id;

	if (m->method == MP_METHOD_CANCELLED && mp_value_u64(m->tape, v, &id) == 0)
		mp_forms_drop(&r->forms, id);
	if (r->state == ASKING && r->heard)
		r->heard(r->told_u, m);
	if (m->method != MP_METHOD_PROGRESS)
		return;
	mp_progress_line_show_progress(&r->line, m);
}

static void on_ended(void *u)
{
	struct mp_reach *r = u;

	mp_timer_stop(&r->pause);
	if (r->state == PAUSING) {
		mp_cli_complain("the hub went away during the call, which may go on");
		reach_end(r, MP_EXIT_START);
	} else if (r->state == ASKING) {
		mp_cli_complain("the hub went away; try again");
		reach_end(r, MP_EXIT_START);
	} else if (r->state == CALLING) {
		reach_lose_call(
			r, MP_OUTCOME_UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN,
			MP_STR("the hub went away during the call, which may have happened"));
	} else {
		reach_give_up(r, mp_str_of(mcpool_error_text(MCPOOL_ECLOSED)));
	}
}

static const struct mp_control_client_hooks client_hooks = {on_request, on_notification, on_ended};

/* --- time ------------------------------------------------------------------------------------ */

static void reach_go_on(void *u)
{
	struct mp_reach *r = u;
	void (*fn)(void *u) = r->waited;

	mp_timer_stop(&r->pause);
	r->state = IDLE;
	r->waited = NULL;
	if (fn)
		fn(r->waited_u);
}

void mp_reach_wait(struct mp_reach *r, int64_t ms, void (*fn)(void *u), void *u)
{
	r->waited = fn;
	r->waited_u = u;
	r->state = PAUSING;
	mp_timer_start(&r->pause, r->interrupt.happened ? 0 : ms);
}

/* After a moment, show what the command waits for. */
static void reach_show_waiting(void *u)
{
	struct mp_reach *r = u;
	char text[MP_LIMIT_NAME + 40];

	mp_timer_start(&r->blink, MP_TICK_MS);
	if (r->interrupt.happened || mp_progress_line_show_again(&r->line) ||
	    (r->own && (mp_own_hub_show_starts(r->own, &r->line) || r->state != CALLING)))
		return;
	snprintf(text, sizeof(text), "waiting for %s ...",
		 r->state == CALLING ? r->server : "servers of the hub");
	mp_progress_line_show(&r->line, mp_str_of(text));
}

static void reach_lose_patience(void *u)
{
	struct mp_reach *r = u;

	mp_cli_complain("cannot talk to the running hub: it does not answer");
	reach_give_up(r, MP_STR(""));
}

static void reach_cancel(void *u)
{
	struct mp_reach *r = u;

	mp_control_client_cancel(r->client, r->call_id);
}

/* Cancel the call; the server's answer ends the command. */
static void reach_interrupted(void *u)
{
	struct mp_reach *r = u;

	if (r->exit_code != UNKNOWN)
		return;
	mp_forms_drop_all(&r->forms);
	mp_progress_line_clear(&r->line);
	if (r->state == PAUSING)
		reach_go_on(r);
	else if (r->state != CALLING)
		reach_end(r, MP_EXIT_INTERRUPTED);
	else if (r->creates_task)
		mp_timer_start(&r->cancel, TASK_MS);
	else
		reach_cancel(r);
	if (r->own || r->exit_code == UNKNOWN)
		mp_progress_line_show(&r->line, MP_STR("cancelling ..."));
}

/* --- for verbs ------------------------------------------------------------------------------- */

const struct mp_status_list *mp_reach_get_servers(const struct mp_reach *r)
{
	return r->servers;
}

struct mp_status_list *mp_reach_take_servers(struct mp_reach *r)
{
	struct mp_status_list *servers = r->servers;

	r->servers = NULL;
	return servers;
}

const struct mp_reach_options *mp_reach_get_options(const struct mp_reach *r)
{
	return r->o;
}

bool mp_reach_is_interrupted(const struct mp_reach *r)
{
	return r->interrupt.happened;
}

struct mp_loop *mp_reach_get_loop(struct mp_reach *r)
{
	return r->loop;
}

struct mp_progress_line *mp_reach_get_line(struct mp_reach *r)
{
	return &r->line;
}

/* --- choosing the hub ------------------------------------------------------------------------ */

static void reach_open(struct mp_reach *r, struct mp_loop *loop)
{
	r->loop = loop;
	r->exit_code = UNKNOWN;
	r->state = IDLE;
	mp_timer_init(&r->blink, loop, reach_show_waiting, r);
	mp_timer_init(&r->patience, loop, reach_lose_patience, r);
	mp_timer_init(&r->pause, loop, reach_go_on, r);
	mp_timer_init(&r->cancel, loop, reach_cancel, r);
	mp_timer_start(&r->blink, MP_BLINK_MS);
	mp_forms_init(&r->forms, loop, &r->line, reach_form_filled, r);
	r->interrupt = (struct mp_interrupt){0};
	mp_interrupt_open(&r->interrupt, loop, reach_interrupted, r);
}

static int reach_run_by_hub(struct mp_reach *r)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *hub = NULL;
	struct mcpool_error why;
	struct mp_loop *loop;
	int result = mp_hub_client_open(&hub, &why);

	if (result < 0) {
		if (result != MCPOOL_ENOENT && result != MCPOOL_ECLOSED && result != MCPOOL_EAGAIN)
			mp_cli_complain("cannot talk to the running hub: %s", why.message);
		return UNDONE;
	}
	if (mp_loop_new(&loop) < 0)
		return UNDONE;
	reach_open(r, loop);
	r->client = mp_control_client_new(loop, mp_hub_client_take_fd(hub),
					  MP_LIMIT_MESSAGE + MP_MIB(1), &client_hooks, r);
	r->begin(r, r->u);
	mp_loop_run(loop);
	mp_progress_line_clear(&r->line);
	mp_loop_free(loop);
	return r->exit_code;
}

static void own_hub_ready(void *u, const struct mcpool_error *error)
{
	struct mp_reach *r = u;
	struct mcpool_error why;
	int fd;

	if (r->exit_code != UNKNOWN)
		return;
	fd = error ? MCPOOL_EINVAL : mp_own_hub_connect(r->own, &why);
	if (fd < 0) {
		mp_progress_line_clear(&r->line);
		mp_cli_complain("%s", error ? error->message : why.message);
		reach_end(r, MP_EXIT_CONFIG);
		return;
	}
	r->client = mp_control_client_new(r->loop, fd, MP_OWN_HUB_MAX_RESULT + MP_KIB(4),
					  &client_hooks, r);
	r->begin(r, r->u);
}

static int reach_run_alone(struct mp_reach *r)
{
	const struct mp_reach_options *o = r->o;
	struct mp_own_hub_options options = {.c = o->c,
					     .args = o->args,
					     .entries = o->entries,
					     .n = o->n,
					     .start_timeout_ms = o->start_timeout_ms,
					     .skipped_lists = o->skipped_lists,
					     .capabilities = o->capabilities,
					     .ready = own_hub_ready,
					     .stopped = reach_stopped,
					     .u = r};
	struct mcpool_error why;

	if (mp_own_hub_new(&options, &r->own, &why) < 0) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_START;
	}
	reach_open(r, mp_own_hub_get_loop(r->own));
	mp_loop_run(r->loop);
	mp_progress_line_clear(&r->line);
	r->own = mp_own_hub_free(r->own);
	return r->exit_code;
}

/* The running hub started its servers without these options. */
static bool wants_running_hub(const struct mp_reach_options *o)
{
	return !o->is_alone && o->args->config.n == 0 && !o->args->strict_config &&
	       o->args->era == MP_ERA_BOTH && !o->c->set->is_typed;
}

int mp_reach_run(const struct mp_reach_options *options, mp_reach_fn begin, void *u)
{
	struct mp_reach r = {.o = options, .begin = begin, .u = u};
	int exit_code = UNDONE;

	mp_log_set_level(MP_LEVEL_WRN);
	if (wants_running_hub(options))
		exit_code = reach_run_by_hub(&r);
	if (exit_code == UNDONE)
		exit_code = reach_run_alone(&r);
	mp_status_list_free(r.servers);
	return mp_print_finish(exit_code);
}
