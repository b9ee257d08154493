/*
 * round.c - a call that a modern server answers with "input required" (2026-07-28).
 */
#include "rpc/round.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "rpc/era.h"

struct mp_round {
	struct mp_buf requests; /* inputRequests as the server wrote them, and their tape */
	struct mp_tape tape;
	struct mp_buf request_state;  /* as written, or empty */
	struct mp_server_slot *slots; /* owned; one for each request */
	size_t n_slots, n_open;
	bool *is_over; /* set when it is freed while its requests are handed out; or NULL */
};

/* --- life ------------------------------------------------------------------------------------ */

static struct mp_round *round_new(void)
{
	struct mp_round *round = mp_alloc(sizeof(*round));

	mp_tape_init(&round->tape, 0);
	mp_buf_init(&round->requests, MP_LIMIT_MESSAGE);
	mp_buf_init(&round->request_state, MP_LIMIT_MESSAGE);
	return round;
}

static void round_forget_slots(struct mp_peer *p, struct mp_round *round)
{
	for (size_t i = 0; i < round->n_slots; i++) {
		mp_ids_remove(&p->server_requests, round->slots[i].id);
		mp_buf_done(&round->slots[i].answer);
	}
	round->slots = mp_free(round->slots);
	round->n_slots = round->n_open = 0;
}

struct mp_round *mp_round_free(struct mp_peer *p, struct mp_round *round)
{
	if (!round)
		return NULL;
	if (round->is_over)
		*round->is_over = true;
	round_forget_slots(p, round);
	mp_tape_done(&round->tape);
	mp_buf_done(&round->requests);
	mp_buf_done(&round->request_state);
	return mp_free(round);
}

/* All of them are closed before the first is told of: that hook may do anything. */
void mp_round_withdraw(struct mp_peer *p, struct mp_round *round)
{
	const struct mp_peer_hooks *hooks = p->hooks;
	mp_id open[MP_ROUND_REQUESTS];
	void *u = p->u;
	size_t n = 0;

	if (!round)
		return;
	for (size_t i = 0; i < round->n_slots; i++)
		if (mp_ids_get(&p->server_requests, round->slots[i].id))
			open[n++] = round->slots[i].id;
	mp_round_free(p, round);
	for (size_t i = 0; i < n && hooks->withdrawn; i++)
		hooks->withdrawn(u, open[i]);
}

/* --- a result -------------------------------------------------------------------------------- */

static bool may_take_rounds(enum mp_method_id method)
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
		return c->o.keeps_rounds && may_take_rounds(c->o.method);
	case MP_RESULT_TASK:
		return c->o.takes_tasks && c->o.method == MP_METHOD_TOOLS_CALL;
	default:
		return false;
	}
}

static enum mp_call_event round_refuse(struct mp_call *c, int code, const char *words)
{
	mp_call_fail(c, MP_OUTCOME_REFUSED, code, "%s", words);
	return MP_CALL_ON_FAIL;
}

/* Copy what the server handed us: its message is gone when this turn ends. */
static int round_keep(struct mp_call *c, const struct mp_result *result)
{
	struct mp_round *round;
	int r;

	if (!c->round)
		c->round = round_new();
	round = c->round;
	mp_buf_clear(&round->requests);
	mp_buf_clear(&round->request_state);
	round_forget_slots(c->peer, round);
	r = mp_buf_add_str(&round->requests, result->input_requests);
	if (r == 0)
		r = mp_buf_add_str(&round->request_state, result->request_state);
	if (r == 0 && round->requests.len)
		r = mp_tape_parse(&round->tape, mp_buf_get(&round->requests), NULL);
	return r;
}

enum mp_call_event mp_round_judge(struct mp_call *c, const struct mp_message *m)
{
	struct mp_result result;

	mp_modern_read_result(m, &result);
	if (is_for_caller(c, result.kind))
		return MP_CALL_ON_COMPLETE;
	if (result.kind != MP_RESULT_INPUT_REQUIRED || !may_take_rounds(c->o.method))
		return round_refuse(c, MCPOOL_EPROTO,
				    "the result is of a kind mcpool does not know");
	if (++c->n_rounds > MP_ROUNDS_MAX)
		return round_refuse(c, MCPOOL_EPROTO, "the server asks again and again");
	if (!c->peer->serves && result.input_requests.len)
		return round_refuse(c, MCPOOL_EPROTO,
				    "the server asked for user input, and `mcpool call` cannot "
				    "answer questions");
	if (round_keep(c, &result) < 0)
		return round_refuse(c, MCPOOL_ENOMEM, "the server's questions are too large");
	return MP_CALL_ON_ASK;
}

/* --- its requests ---------------------------------------------------------------------------- */

static int round_open_slots(struct mp_call *c)
{
	struct mp_round *round = c->round;
	mp_value twice;
	int r;

	if (round->requests.len == 0)
		return 0;
	if (mp_value_count(&round->tape, MP_ROOT) > MP_ROUND_REQUESTS)
		return MCPOOL_ELIMIT;
	r = mp_value_find_duplicate(&round->tape, MP_ROOT, &twice);
	if (r < 0 || twice != MP_NONE)
		return r < 0 ? r : MCPOOL_EPROTO;
	round->slots = mp_alloc(MP_ROUND_REQUESTS * sizeof(*round->slots));
	MP_VALUE_EACH(&round->tape, MP_ROOT, key) {
		struct mp_server_slot *slot = &round->slots[round->n_slots++];

		*slot = (struct mp_server_slot){.call = c, .key = key};
		slot->id = mp_ids_add(&c->peer->server_requests, slot);
		mp_buf_init(&slot->answer, MP_LIMIT_MESSAGE);
	}
	round->n_open = round->n_slots;
	return 0;
}

static struct mp_server_request round_describe(const struct mp_round *round, size_t place)
{
	const struct mp_server_slot *slot = &round->slots[place];
	mp_value v = mp_value_of(slot->key);
	mp_value params = mp_value_get(&round->tape, v, "params");
	mp_value method = mp_value_get(&round->tape, v, "method");
	struct mp_server_request rq = {.id = slot->id, .has_origin = true, .origin = slot->call};

	if (params != MP_NONE && !mp_value_is(&round->tape, params, MP_TAPE_OBJECT))
		return rq; /* nothing that can be asked */
	rq.params = mp_value_source(&round->tape, params);
	for (int i = 1; i < MP_METHODS; i++)
		if (mp_value_text_is(&round->tape, method,
				     mp_str_of(mp_method_get((enum mp_method_id)i)->name)))
			rq.method = (enum mp_method_id)i;
	return rq;
}

enum mp_call_event mp_round_ask(struct mp_call *c)
{
	struct mp_round *round = c->round;
	struct mp_peer *p = c->peer;
	int r = round_open_slots(c);
	bool is_over = false;

	if (r < 0)
		return round_refuse(c, MCPOOL_EPROTO,
				    r == MCPOOL_ELIMIT
					    ? "the server has too many questions at once"
					    : "the server's questions cannot be told apart");
	if (round->n_slots == 0) {
		mp_call_resume_later(c);
		return MP_QUIET;
	}
	mp_call_set_limit(c, MP_LIMIT_PARKED_MS);
	round->is_over = &is_over;
	for (size_t i = 0; !is_over && i < round->n_slots; i++) {
		struct mp_server_request rq = round_describe(round, i);

		if (!mp_server_request_is(rq.method)) {
			round->is_over = NULL;
			return round_refuse(c, MCPOOL_EPROTO,
					    "the server asks what no client answers");
		}
		p->hooks->request(p->u, &rq);
	}
	if (!is_over)
		round->is_over = NULL;
	return MP_QUIET;
}

void mp_round_decline(struct mp_server_slot *slot, struct mp_str words)
{
	struct mp_call *c = slot->call;

	mp_ids_remove(&c->peer->server_requests, slot->id);
	mp_call_fail(c, MP_OUTCOME_REFUSED, MCPOOL_EPROTO, "%.*s", MP_STR_ARGS(words));
	mp_call_advance(c, MP_CALL_ON_FAIL);
}

void mp_round_answer(struct mp_server_slot *slot, struct mp_str result)
{
	struct mp_call *c = slot->call;

	if (result.len == 0) {
		mp_round_decline(slot, MP_STR("the server's question was declined"));
		return;
	}
	mp_ids_remove(&c->peer->server_requests, slot->id);
	if (mp_buf_add_str(&slot->answer, result) < 0) {
		mp_call_fail(c, MP_OUTCOME_REFUSED, MCPOOL_ELIMIT,
			     "the answer to the server's question is too large");
		mp_call_advance(c, MP_CALL_ON_FAIL);
	} else if (--c->round->n_open == 0) {
		mp_call_resume_later(c);
	}
}

/* --- again ----------------------------------------------------------------------------------- */

static int round_write_params(const struct mp_call *c, struct mp_buf *out)
{
	struct mp_str given = mp_str_trim(c->o.params);
	const struct mp_round *round = c->round;
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (given.len > 2)
		mp_write_raw_members(&w, mp_str_trim((struct mp_str){given.p + 1, given.len - 2}));
	if (round->n_slots) {
		mp_write_key(&w, MP_STR("inputResponses"));
		mp_write_begin_object(&w);
		for (size_t i = 0; i < round->n_slots; i++) {
			mp_write_raw_key(&w, mp_value_source(&round->tape, round->slots[i].key));
			mp_write_raw(&w, mp_buf_get(&round->slots[i].answer));
		}
		mp_write_end_object(&w);
	}
	if (round->request_state.len)
		mp_write_member_raw(&w, "requestState", mp_buf_get(&round->request_state));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_round_send(struct mp_call *c)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (!c->round)
		return mp_peer_send(c, c->o.params);
	r = round_write_params(c, &params);
	return r < 0 ? r : mp_peer_send(c, mp_buf_get(&params));
}
