/*
 * call_input.c - a call that a modern server answers with "input required" (2026-07-28).
 */
#include "rpc/call_input.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "rpc/era.h"

struct mp_call_input {
	struct mp_buf requests; /* inputRequests as the server wrote them, and their tape */
	struct mp_tape tape;
	struct mp_buf request_state;  /* as written, or empty */
	struct mp_server_slot *slots; /* owned; one for each request */
	size_t n_slots, n_open;
	bool *is_over; /* set when it is freed while its requests are handed out; or NULL */
};

/* --- life ------------------------------------------------------------------------------------ */

static struct mp_call_input *input_new(void)
{
	struct mp_call_input *input = mp_alloc(sizeof(*input));

	mp_tape_init(&input->tape, 0);
	mp_buf_init(&input->requests, MP_LIMIT_MESSAGE);
	mp_buf_init(&input->request_state, MP_LIMIT_MESSAGE);
	return input;
}

static void input_forget_slots(struct mp_peer *p, struct mp_call_input *input)
{
	for (size_t i = 0; i < input->n_slots; i++) {
		mp_ids_remove(&p->server_requests, input->slots[i].id);
		mp_buf_done(&input->slots[i].answer);
	}
	input->slots = mp_free(input->slots);
	input->n_slots = input->n_open = 0;
}

struct mp_call_input *mp_call_input_free(struct mp_peer *p, struct mp_call_input *input)
{
	if (!input)
		return NULL;
	if (input->is_over)
		*input->is_over = true;
	input_forget_slots(p, input);
	mp_tape_done(&input->tape);
	mp_buf_done(&input->requests);
	mp_buf_done(&input->request_state);
	return mp_free(input);
}

/* All of them are closed before the first is told of: that hook may do anything. */
void mp_call_input_withdraw(struct mp_peer *p, struct mp_call_input *input)
{
	const struct mp_peer_hooks *hooks = p->hooks;
	mp_id open[MP_CALL_INPUT_REQUESTS];
	void *u = p->u;
	size_t n = 0;

	if (!input)
		return;
	for (size_t i = 0; i < input->n_slots; i++)
		if (mp_ids_get(&p->server_requests, input->slots[i].id))
			open[n++] = input->slots[i].id;
	mp_call_input_free(p, input);
	for (size_t i = 0; i < n && hooks->withdrawn; i++)
		hooks->withdrawn(u, open[i]);
}

/* --- a result -------------------------------------------------------------------------------- */

static bool input_is_allowed(enum mp_method_id method)
{
	return method == MP_METHOD_TOOLS_CALL || method == MP_METHOD_PROMPTS_GET ||
	       method == MP_METHOD_RESOURCES_READ;
}

/* It is handed on as it is. */
static bool is_for_caller(const struct mp_call *c, enum mp_result_kind kind)
{
	switch (kind) {
	case MP_RESULT_COMPLETE:
		return true;
	case MP_RESULT_INPUT_REQUIRED:
		return c->o.keeps_input_required && input_is_allowed(c->o.method);
	case MP_RESULT_TASK:
		return c->o.takes_tasks && c->o.method == MP_METHOD_TOOLS_CALL;
	default:
		return false;
	}
}

static enum mp_call_event input_refuse(struct mp_call *c, int code, const char *words)
{
	mp_call_fail(c, MP_OUTCOME_REFUSED, code, "%s", words);
	return MP_CALL_ON_FAIL;
}

/* Copy what the server handed us: its message is gone when this turn ends. */
static int input_keep(struct mp_call *c, const struct mp_result *result)
{
	struct mp_call_input *input;
	int r;

	if (!c->input)
		c->input = input_new();
	input = c->input;
	mp_buf_clear(&input->requests);
	mp_buf_clear(&input->request_state);
	input_forget_slots(c->peer, input);
	r = mp_buf_add_str(&input->requests, result->input_requests);
	if (r == 0)
		r = mp_buf_add_str(&input->request_state, result->request_state);
	if (r == 0 && input->requests.len)
		r = mp_tape_parse(&input->tape, mp_buf_get(&input->requests), NULL);
	return r;
}

enum mp_call_event mp_call_input_judge(struct mp_call *c, const struct mp_message *m)
{
	struct mp_result result;

	mp_modern_read_result(m, &result);
	if (is_for_caller(c, result.kind))
		return MP_CALL_ON_COMPLETE;
	if (result.kind != MP_RESULT_INPUT_REQUIRED || !input_is_allowed(c->o.method))
		return input_refuse(c, MCPOOL_EPROTO,
				    "the result is of a kind mcpool does not know");
	if (++c->n_inputs > MP_CALL_INPUT_MAX)
		return input_refuse(c, MCPOOL_EPROTO, "the server asks again and again");
	if (!c->peer->serves && result.input_requests.len)
		return input_refuse(c, MCPOOL_EPROTO,
				    "the server asked for user input, and `mcpool call` cannot "
				    "answer questions");
	if (input_keep(c, &result) < 0)
		return input_refuse(c, MCPOOL_ENOMEM, "the server's questions are too large");
	return MP_CALL_ON_ASK;
}

/* --- its requests ---------------------------------------------------------------------------- */

static int input_open_slots(struct mp_call *c)
{
	struct mp_call_input *input = c->input;
	mp_value twice;
	int r;

	if (input->requests.len == 0)
		return 0;
	if (mp_value_count(&input->tape, MP_ROOT) > MP_CALL_INPUT_REQUESTS)
		return MCPOOL_ELIMIT;
	r = mp_value_find_duplicate(&input->tape, MP_ROOT, &twice);
	if (r < 0 || twice != MP_NONE)
		return r < 0 ? r : MCPOOL_EPROTO;
	input->slots = mp_alloc(MP_CALL_INPUT_REQUESTS * sizeof(*input->slots));
	MP_VALUE_EACH(&input->tape, MP_ROOT, key) {
		struct mp_server_slot *slot = &input->slots[input->n_slots++];

		*slot = (struct mp_server_slot){.call = c, .key = key};
		slot->id = mp_ids_add(&c->peer->server_requests, slot);
		mp_buf_init(&slot->answer, MP_LIMIT_MESSAGE);
	}
	input->n_open = input->n_slots;
	return 0;
}

static struct mp_server_request input_describe(const struct mp_call_input *input, size_t place)
{
	const struct mp_server_slot *slot = &input->slots[place];
	mp_value v = mp_value_of(slot->key);
	mp_value params = mp_value_get(&input->tape, v, "params");
	mp_value method = mp_value_get(&input->tape, v, "method");
	struct mp_server_request rq = {.id = slot->id, .has_origin = true, .origin = slot->call};

	if (params != MP_NONE && !mp_value_is(&input->tape, params, MP_TAPE_OBJECT))
		return rq; /* nothing that can be asked */
	rq.params = mp_value_source(&input->tape, params);
	for (int i = 1; i < MP_METHODS; i++)
		if (mp_value_text_is(&input->tape, method,
				     mp_str_of(mp_method_get((enum mp_method_id)i)->name)))
			rq.method = (enum mp_method_id)i;
	return rq;
}

enum mp_call_event mp_call_input_serve(struct mp_call *c)
{
	struct mp_call_input *input = c->input;
	struct mp_peer *p = c->peer;
	int r = input_open_slots(c);
	bool is_over = false;

	if (r < 0)
		return input_refuse(c, MCPOOL_EPROTO,
				    r == MCPOOL_ELIMIT
					    ? "the server has too many questions at once"
					    : "the server's questions cannot be told apart");
	if (input->n_slots == 0) {
		mp_call_resume_later(c);
		return MP_QUIET;
	}
	mp_call_set_limit(c, MP_LIMIT_PARKED_MS);
	input->is_over = &is_over;
	for (size_t i = 0; !is_over && i < input->n_slots; i++) {
		struct mp_server_request rq = input_describe(input, i);

		if (!mp_server_request_is(rq.method)) {
			input->is_over = NULL;
			return input_refuse(c, MCPOOL_EPROTO,
					    "the server asks what no client answers");
		}
		p->hooks->request(p->u, &rq);
	}
	if (!is_over)
		input->is_over = NULL;
	return MP_QUIET;
}

void mp_call_input_decline(struct mp_server_slot *slot, struct mp_str words)
{
	struct mp_call *c = slot->call;

	mp_ids_remove(&c->peer->server_requests, slot->id);
	mp_call_fail(c, MP_OUTCOME_REFUSED, MCPOOL_EPROTO, "%.*s", MP_STR_ARGS(words));
	mp_call_advance(c, MP_CALL_ON_FAIL);
}

void mp_call_input_answer(struct mp_server_slot *slot, struct mp_str result)
{
	struct mp_call *c = slot->call;

	if (result.len == 0) {
		mp_call_input_decline(slot, MP_STR("the server's question was declined"));
		return;
	}
	mp_ids_remove(&c->peer->server_requests, slot->id);
	if (mp_buf_add_str(&slot->answer, result) < 0) {
		mp_call_fail(c, MP_OUTCOME_REFUSED, MCPOOL_ELIMIT,
			     "the answer to the server's question is too large");
		mp_call_advance(c, MP_CALL_ON_FAIL);
	} else if (--c->input->n_open == 0) {
		mp_call_resume_later(c);
	}
}

/* --- again ----------------------------------------------------------------------------------- */

static int input_write_params(const struct mp_call *c, struct mp_buf *out)
{
	const struct mp_call_input *input = c->input;
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_raw_members(&w, mp_message_get_members(c->o.params));
	if (input->n_slots) {
		mp_write_key(&w, MP_STR("inputResponses"));
		mp_write_begin_object(&w);
		for (size_t i = 0; i < input->n_slots; i++) {
			mp_write_raw_key(&w, mp_value_source(&input->tape, input->slots[i].key));
			mp_write_raw(&w, mp_buf_get(&input->slots[i].answer));
		}
		mp_write_end_object(&w);
	}
	if (input->request_state.len)
		mp_write_member_raw(&w, "requestState", mp_buf_get(&input->request_state));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_call_input_send(struct mp_call *c)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (!c->input)
		return mp_peer_send(c, c->o.params);
	r = input_write_params(c, &params);
	return r < 0 ? r : mp_peer_send(c, mp_buf_get(&params));
}
