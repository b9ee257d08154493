/*
 * reach_hub.c - to the servers of one command by the running hub, over its socket (control.h is the
 * other end). Whatever goes wrong before a call went out means: by a hub of its own, then.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/forms.h"
#include "cli/hub_client.h"
#include "cli/interrupt.h"
#include "cli/reach_parts.h"
#include "face/line_conn.h"

/* How much longer than it was told to take may it take? */
#define GRACE_MS MP_SECONDS(10)

struct by_hub {
	struct mp_reach *r;
	struct mp_loop *loop;
	struct mp_line_conn *conn; /* NULL: closed */
	struct mp_progress_line line;
	struct mp_timer blink, patience, pause;
	struct mp_interrupt interrupt;
	int exit_code; /* -2: not yet known; MP_REACH_NOBODY */
	uint64_t last_id;
	enum { IDLE, LOOKING, CALLING, PAUSING } state;
	char server[MP_LIMIT_NAME + 1]; /* that is being called */
	struct mp_forms forms;          /* ids are those of the hub's requests */
};
enum { UNKNOWN = -2 };

/* --- the end --------------------------------------------------------------------------------- */

static void closed(void *u)
{
	struct by_hub *h = u;

	mp_loop_stop(h->loop);
}

static void end(struct by_hub *h, int exit_code)
{
	mp_timer_stop(&h->blink);
	mp_timer_stop(&h->patience);
	mp_timer_stop(&h->pause);
	mp_forms_drop_all(&h->forms);
	mp_progress_line_clear(&h->line);
	if (h->exit_code != UNKNOWN)
		return;
	h->exit_code = exit_code;
	h->conn = mp_line_conn_free(h->conn);
	mp_interrupt_close(&h->interrupt, closed);
}

static void finish(void *w, int exit_code)
{
	struct by_hub *h = w;

	end(h, h->interrupt.happened ? MP_EXIT_INTERRUPTED : exit_code);
}

/* Nothing was done yet: somebody else shall do it. */
static void give_up(struct by_hub *h)
{
	end(h, h->interrupt.happened ? MP_EXIT_INTERRUPTED : MP_REACH_NOBODY);
}

/* --- questions ------------------------------------------------------------------------------- */

static int say(struct by_hub *h, const char *method, struct mp_str params)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	r = mp_buf_addf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\",\"params\":",
			(unsigned long long)++h->last_id, method);
	if (r == 0)
		r = mp_buf_add_str(&text, params);
	if (r == 0)
		r = mp_buf_add_char(&text, '}');
	if (r == 0)
		mp_line_conn_say(h->conn, mp_buf_get(&text));
	return r;
}

static void write_names(struct mp_writer *w, const struct mp_reach *r, const bool *only)
{
	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	for (size_t i = 0; r->o->entries && i < r->o->n; i++)
		mp_write_text(w, mp_str_of(r->o->entries[i]->name));
	mp_write_end_array(w);
	mp_write_key(w, MP_STR("only"));
	mp_write_begin_array(w);
	for (size_t i = 0; only && i < r->servers->n; i++)
		if (only[i])
			mp_write_text(w, mp_str_of(r->servers->items[i].name));
	mp_write_end_array(w);
}

static void look(void *w, const struct mp_reach_look *look)
{
	static const char *const starts[] = {"none", "unknown", "all"};
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct by_hub *h = w;
	struct mp_writer writer;

	mp_buf_init(&params, MP_MIB(4));
	mp_write_init(&writer, &params, NULL);
	mp_write_begin_object(&writer);
	write_names(&writer, h->r, look->only);
	mp_write_member_text(&writer, "start", mp_str_of(starts[look->start]));
	mp_write_member_bool(&writer, "fresh", look->fresh);
	mp_write_member_bool(&writer, "catalogs", true);
	mp_write_member_i64(&writer, "maxMs", look->max_ms);
	mp_write_end_object(&writer);
	h->state = LOOKING;
	mp_timer_start(&h->patience, look->max_ms + GRACE_MS);
	if (mp_write_finish(&writer) < 0 || say(h, "mcpool/status", mp_buf_get(&params)) < 0)
		give_up(h);
}

static int call(void *w, const struct mp_pool_call_options *rq, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct by_hub *h = w;
	struct mp_writer writer;
	int r;

	mp_buf_init(&params, 2 * MP_LIMIT_MESSAGE);
	mp_write_init(&writer, &params, NULL);
	mp_write_begin_object(&writer);
	mp_write_member_text(&writer, "server", mp_str_of(rq->server));
	mp_write_member_text(&writer, "method", mp_str_of(mp_method_get(rq->call.method)->name));
	if (rq->tool.len)
		mp_write_member_text(&writer, "tool", rq->tool);
	mp_write_member_raw(&writer, "params", rq->call.params);
	mp_write_member_i64(&writer, "timeoutMs", rq->call.timeout_ms);
	if (rq->call.capabilities.len)
		mp_write_member_raw(&writer, "capabilities", rq->call.capabilities);
	mp_write_end_object(&writer);
	snprintf(h->server, sizeof(h->server), "%s", rq->server);
	h->state = CALLING;
	r = mp_write_finish(&writer);
	if (r == 0)
		r = say(h, "mcpool/call", mp_buf_get(&params));
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

/* --- answers --------------------------------------------------------------------------------- */

/* One that was asked for and is not there: the hub has other files than we have. */
static void take_servers(struct by_hub *h, const struct mp_message *m)
{
	struct mp_status_list *servers = NULL;

	if (mp_status_list_read(m->tape, m->result, &servers, NULL) < 0 ||
	    (h->r->o->entries && servers->n < h->r->o->n)) {
		mp_status_list_free(servers);
		give_up(h);
		return;
	}
	h->state = IDLE;
	mp_timer_stop(&h->patience);
	mp_reach_looked(h->r, servers);
}

static int64_t get_number(const struct mp_message *m, const char *key)
{
	int64_t n;

	return mp_value_i64(m->tape, mp_value_get(m->tape, m->result, key), &n) < 0 ? 0 : n;
}

static struct mp_str get_text(const struct mp_message *m, const char *key, struct mp_arena *arena)
{
	struct mp_str text;

	if (mp_value_text(m->tape, mp_value_get(m->tape, m->result, key), arena, &text) < 0)
		return MP_STR("");
	return text;
}

static bool get_bool(const struct mp_message *m, const char *key)
{
	bool b;

	return mp_value_bool(m->tape, mp_value_get(m->tape, m->result, key), &b) == 0 && b;
}

static enum mp_outcome get_outcome(const struct mp_message *m)
{
	mp_value v = mp_value_get(m->tape, m->result, "outcome");

	for (int o = MP_OUTCOME_ANSWERED; o <= MP_OUTCOME_CANCELLED; o++)
		if (mp_value_text_is(m->tape, v,
				     mp_str_of(mp_outcome_get_name((enum mp_outcome)o))))
			return (enum mp_outcome)o;
	return MP_OUTCOME_UNKNOWN;
}

static void tell_failure(struct by_hub *h, const struct mp_message *m, enum mp_outcome outcome)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value v = mp_value_get(m->tape, m->result, "status");
	struct mp_status status;
	struct mp_pool_answer a = {.outcome = outcome, .server = h->server};
	struct mcpool_error why;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	(void)mp_fail(&why, (int)get_number(m, "code"), "%.*s",
		      MP_STR_ARGS(get_text(m, "message", &arena)));
	why.rpc_code = (int)get_number(m, "rpcCode");
	why.fault = (int)get_number(m, "fault");
	a.error = &why;
	a.attempt = (unsigned)get_number(m, "attempt");
	a.next_at_ms = get_number(m, "nextAt");
	a.tail = get_text(m, "stderr", &arena);
	a.retryable = get_bool(m, "retryable");
	a.was_up = get_bool(m, "wasUp");
	a.was_out = get_bool(m, "wasOut");
	if (mp_status_read(m->tape, v, &arena, &status, NULL) < 0) {
		mp_reach_answered(h->r, &a, NULL);
		return;
	}
	a.environment = status.environment;
	a.transport = status.transport;
	mp_reach_answered(h->r, &a, &status);
}

static void take_answer(struct by_hub *h, const struct mp_message *m)
{
	enum mp_outcome outcome = get_outcome(m);
	mp_value error = mp_value_get(m->tape, m->result, "error");
	mp_value result = mp_value_get(m->tape, m->result, "result");
	struct mp_message theirs;
	struct mp_pool_answer a = {.outcome = outcome, .server = h->server, .message = &theirs};

	mp_message_clear(&theirs, m->tape);
	theirs.kind = result == MP_NONE ? MP_MESSAGE_ERROR : MP_MESSAGE_RESULT;
	theirs.result = result;
	theirs.error = error;
	h->state = IDLE;
	mp_forms_drop_all(&h->forms);
	if (outcome == MP_OUTCOME_ANSWERED)
		mp_reach_answered(h->r, &a, NULL);
	else
		tell_failure(h, m, outcome);
}

static void tell_lost(struct by_hub *h, enum mp_outcome outcome, int code, struct mp_str words)
{
	struct mp_pool_answer a = {.outcome = outcome, .server = h->server};
	struct mcpool_error why;

	h->state = IDLE;
	mp_forms_drop_all(&h->forms);
	(void)mp_fail(&why, code, "MCP error: %.*s", MP_STR_ARGS(words));
	a.error = &why;
	mp_reach_answered(h->r, &a, NULL);
}

/* It says no: it leaves, or knows nothing of such questions, or is out of something. */
static void take_refusal(struct by_hub *h, const struct mp_message *m)
{
	mp_value data = mp_value_get(m->tape, m->error, "data");
	bool is_large =
		mp_value_text_is(m->tape, mp_value_get(m->tape, data, "code"), MP_STR("limit"));

	if (h->state == CALLING && is_large) /* the server has answered, but nobody can read it */
		tell_lost(h, MP_OUTCOME_REFUSED, MCPOOL_ETOO_LARGE,
			  MP_STR("the answer is too large"));
	else
		give_up(h);
}

/* --- what the server asks -------------------------------------------------------------------- */

static void filled(void *u, uint64_t id, struct mp_str result)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct by_hub *h = u;
	char room[MP_STR_DIGITS];
	struct mp_str number = mp_str_from_u64(id, room);
	int r;

	mp_buf_init(&out, MP_LIMIT_MESSAGE + MP_KIB(4));
	r = result.len ? mp_message_result(&out, number, result)
		       : mp_message_error(&out, number, -32601, mp_str_of(mp_forms_refusal),
					  MP_STR(""));
	if (r == 0)
		mp_line_conn_say(h->conn, mp_buf_get(&out));
}

static void take_request(struct by_hub *h, const struct mp_message *m)
{
	uint64_t id;

	if (mp_str_to_u64(m->id, &id) < 0)
		return; /* ids of a hub are numbers */
	if (h->state == CALLING && m->method == MP_METHOD_ELICIT)
		mp_forms_add(&h->forms, id, h->server, mp_value_source(m->tape, m->params));
	else
		filled(h, id, MP_STR(""));
}

static void take_cancelled(struct by_hub *h, const struct mp_message *m)
{
	mp_value v = mp_value_get(m->tape, m->params, "requestId");
	uint64_t id;

	if (mp_value_u64(m->tape, v, &id) == 0)
		mp_forms_drop(&h->forms, id);
}

/* --- messages -------------------------------------------------------------------------------- */

static void show_progress(struct by_hub *h, const struct mp_message *m)
{
	mp_timer_stop(&h->blink); /* it says more than that we wait */
	mp_progress_line_show_progress(&h->line, m);
}

static bool is_ours(const struct by_hub *h, const struct mp_message *m)
{
	char id[24];
	int n = snprintf(id, sizeof(id), "%llu", (unsigned long long)h->last_id);

	return mp_str_eq(m->id, (struct mp_str){id, (size_t)n});
}

static void take(struct by_hub *h, const struct mp_message *m)
{
	if (m->kind == MP_MESSAGE_NOTIFICATION && m->method == MP_METHOD_PROGRESS)
		show_progress(h, m);
	else if (m->kind == MP_MESSAGE_NOTIFICATION && m->method == MP_METHOD_CANCELLED)
		take_cancelled(h, m);
	else if (m->kind == MP_MESSAGE_REQUEST)
		take_request(h, m);
	else if (m->kind == MP_MESSAGE_ERROR && is_ours(h, m))
		take_refusal(h, m);
	else if (m->kind == MP_MESSAGE_RESULT && is_ours(h, m) && h->state == LOOKING)
		take_servers(h, m);
	else if (m->kind == MP_MESSAGE_RESULT && is_ours(h, m) && h->state == CALLING)
		take_answer(h, m);
}

/* The tape is the message's while it is told, and that may be the last of it. */
static void line(void *u, struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct by_hub *h = u;
	struct mp_message m;

	mp_tape_init(&t, 0);
	if (h->exit_code != UNKNOWN)
		return;
	if (mp_message_scan(&t, text, &m, NULL) == 0)
		take(h, &m);
}

static void oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct by_hub *h = u;

	(void)head;
	(void)tail;
	if (h->state == CALLING)
		tell_lost(h, MP_OUTCOME_REFUSED, MCPOOL_ETOO_LARGE,
			  MP_STR("the answer is too large"));
	else
		give_up(h);
}

static void ended(void *u, int why)
{
	struct by_hub *h = u;

	(void)why;
	if (h->state == PAUSING || h->state == CALLING)
		mp_timer_stop(&h->pause);
	if (h->state == PAUSING) {
		mp_cli_complain("the hub went away during the call, which may go on");
		end(h, MP_EXIT_START);
	} else if (h->state == CALLING)
		tell_lost(h, MP_OUTCOME_UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN,
			  MP_STR("the hub went away during the call, which may have happened"));
	else
		give_up(h);
}

static const struct mp_line_conn_hooks conn_hooks = {line, oversize, ended};

/* --- between two calls ----------------------------------------------------------------------- */

static void go_on(void *u)
{
	struct by_hub *h = u;

	mp_timer_stop(&h->pause);
	h->state = IDLE;
	mp_reach_waited(h->r);
}

static void pause_for(void *w, int64_t ms)
{
	struct by_hub *h = w;

	h->state = PAUSING;
	mp_timer_start(&h->pause, h->interrupt.happened ? 0 : ms);
}

/* --- time ------------------------------------------------------------------------------------ */

/* Longer than a blink: say for whom we wait. */
static void say_waiting(void *u)
{
	struct by_hub *h = u;
	char text[MP_LIMIT_NAME + 40];

	snprintf(text, sizeof(text), "waiting for %s ...",
		 h->state == CALLING ? h->server : "servers of the hub");
	mp_progress_line_show(&h->line, mp_str_of(text));
}

static void too_long(void *u)
{
	struct by_hub *h = u;

	mp_cli_complain("a hub runs and does not answer");
	give_up(h);
}

/* The server is told, and its answer to that is the end. */
static void interrupted(void *u)
{
	struct by_hub *h = u;
	char text[120];

	mp_forms_drop_all(&h->forms);
	mp_progress_line_clear(&h->line);
	if (h->state == PAUSING) {
		go_on(h);
		return;
	}
	if (h->state != CALLING) {
		end(h, MP_EXIT_INTERRUPTED);
		return;
	}
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":%llu}}",
		 (unsigned long long)h->last_id);
	mp_line_conn_say(h->conn, mp_str_of(text));
}

/* --- life ------------------------------------------------------------------------------------ */

static bool is_interrupted(const void *w)
{
	const struct by_hub *h = w;

	return h->interrupt.happened;
}

static struct mp_progress_line *get_line(void *w)
{
	struct by_hub *h = w;

	return &h->line;
}

static const struct mp_reach_way way = {look, call, pause_for, finish, is_interrupted, get_line};

static int speak(struct mp_reach *r, int fd)
{
	struct by_hub h = {.r = r, .exit_code = UNKNOWN};

	if (mp_loop_new(&h.loop) < 0) {
		close(fd);
		return MP_REACH_NOBODY;
	}
	h.conn = mp_line_conn_new(h.loop, fd, MP_LIMIT_MESSAGE + MP_MIB(1), &conn_hooks, &h);
	mp_timer_init(&h.blink, h.loop, say_waiting, &h);
	mp_timer_init(&h.patience, h.loop, too_long, &h);
	mp_timer_init(&h.pause, h.loop, go_on, &h);
	mp_timer_start(&h.blink, MP_BLINK_MS);
	mp_forms_init(&h.forms, h.loop, &h.line, filled, &h);
	mp_interrupt_open(&h.interrupt, h.loop, interrupted, &h);
	r->way = &way;
	r->w = &h; /* cppcheck-suppress autoVariables ; r is not used after this function */
	r->begin(r, r->u);
	mp_loop_run(h.loop);
	h.loop = mp_loop_free(h.loop);
	return h.exit_code == MP_REACH_NOBODY ? h.exit_code : mp_print_finish(h.exit_code);
}

int mp_reach_go_to_hub(struct mp_reach *r)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	struct mcpool_error why;
	int result = mp_hub_client_open(&c, &why);

	mp_log_set_level(MP_LEVEL_WRN);
	if (result == 0)
		return speak(r, mp_hub_client_take_fd(c));
	if (result != MCPOOL_ENOENT && result != MCPOOL_ECLOSED && result != MCPOOL_EAGAIN)
		mp_cli_complain("a hub runs and cannot be asked: %s", why.message);
	return MP_REACH_NOBODY;
}
