/*
 * rounds.c - one request and the rounds of questions it takes (2026-07-28).
 */
#include "rpc/rounds.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"

#define ROUND_STATES(X)                                                              \
	X(ASKING, "asking", "the request is with the server")                        \
	X(ANSWERING, "answering", "its questions are with us")                       \
	X(MENDING, "mending", "it was refused for a reason that is being put right") \
	X(OVER, "over", "the caller has the answer")

#define ROUND_EVENTS(X)                                                                \
	X(COMPLETE, "complete", "the result is complete, or is an error")              \
	X(QUESTIONS, "questions", "the server has questions, or a state to hand back") \
	X(ANSWERED, "answered", "all questions are answered")                          \
	X(SPOILED, "spoiled", "the result is an error that may be mended")             \
	X(MENDED, "mended", "it may be tried again")                                   \
	X(FAILED, "failed", "it cannot go on; why is written down")                    \
	X(CANCEL, "cancel", "the caller no longer wants to know")

MP_MACHINE_ENUM(round_state, ROUND_STATES);
MP_MACHINE_ENUM(round_event, ROUND_EVENTS);

struct question {
	mp_value key;         /* on the round's tape */
	struct mp_buf answer; /* empty: not yet */
};

struct round {
	struct mp_link link;
	struct mp_rounds *rs;
	mp_id id;
	enum round_state state;
	struct mp_request rq; /* what it points to is in said */
	struct mp_buf said;   /* of the first request: params, meta, foreign */
	mp_id call;           /* the peer's, while ASKING */
	unsigned rounds;
	bool was_mended;
	mp_answer_fn fn;
	void *u;

	struct mp_buf asks; /* the inputRequests of this round, and their tape */
	struct mp_tape tape;
	struct mp_buf request_state; /* as written, or empty */
	struct question *questions;  /* owned */
	size_t n_questions, unanswered;
	struct mp_timer patience; /* while ANSWERING */
	struct mp_task task;      /* takes the next step at the end of the turn */

	struct mp_answer answer; /* the one the caller gets */
	struct mcpool_error why;
	struct mp_grave grave;
};

MP_MACHINE_TYPES(round, struct round, enum round_event, ROUND_STATES, ROUND_EVENTS);
static round_action finish, ask, send_again, call_off, take_back, finish_soon;

MP_MACHINE_STEPS(round) = {
	[ASKING] =
		{
			[COMPLETE] = MP_TO(OVER, finish),
			[QUESTIONS] = MP_TO(ANSWERING, ask),
			[SPOILED] = MP_TO(MENDING, NULL),
			[FAILED] = MP_TO(OVER, finish),
			[CANCEL] = MP_DO(call_off), /* the peer's CANCELLED then ends it */
		},
	[ANSWERING] =
		{
			[ANSWERED] = MP_TO(ASKING, send_again),
			[FAILED] = MP_TO(OVER, take_back),
			[CANCEL] = MP_TO(OVER, take_back),
		},
	[MENDING] =
		{
			[MENDED] = MP_TO(ASKING, send_again),
			[FAILED] = MP_TO(OVER, finish_soon),
			[CANCEL] = MP_TO(OVER, finish_soon),
		},
	[OVER] =
		{
			[FAILED] = MP_STAY,
			[CANCEL] = MP_STAY,
		},
};

static void round_describe(const struct round *r, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "round %llu", (unsigned long long)r->id);
}

MP_MACHINE(round, struct round, .describe = round_describe)

/* --- life ----------------------------------------------------------------------------------- */

static void forget_questions(struct round *r)
{
	for (size_t i = 0; i < r->n_questions; i++)
		mp_buf_done(&r->questions[i].answer);
	r->questions = mp_free(r->questions);
	r->n_questions = r->unanswered = 0;
}

/* From here on nobody finds it, and nothing of it happens any more. */
static void leave(struct round *r)
{
	mp_ids_remove(&r->rs->calls, r->id);
	if (mp_list_linked(&r->link))
		mp_list_remove(&r->rs->open, &r->link);
	mp_timer_stop(&r->patience);
	mp_loop_unpost(r->rs->peer->loop, &r->task);
}

static void free_memory(struct mp_grave *grave)
{
	struct round *r = mp_container_of(grave, struct round, grave);

	forget_questions(r);
	mp_tape_done(&r->tape);
	mp_buf_done(&r->said);
	mp_buf_done(&r->asks);
	mp_buf_done(&r->request_state);
	mp_free(r);
}

static void free_round(struct round *r)
{
	leave(r);
	free_memory(&r->grave);
}

struct mp_str mp_question_get_refusal(enum mp_method_id method)
{
	switch (method) {
	case MP_METHOD_ELICIT:
		return MP_STR("the server asked for user input, and `mcpool call` cannot answer "
			      "questions here; call the tool from an agent, or on a terminal, "
			      "where `mcpool call` shows forms");
	case MP_METHOD_SAMPLE:
		return MP_STR("the server asked for an answer of a model, and `mcpool call` has "
			      "none; call the tool from an agent that has");
	case MP_METHOD_ROOTS_LIST:
		return MP_STR("the server asked for the folders of the client, and `mcpool call` "
			      "names none; call the tool from an agent that does");
	default:
		return MP_STR("this client does not do that");
	}
}

void mp_rounds_init(struct mp_rounds *rs, struct mp_peer *peer, const struct mp_answerer *answerer)
{
	*rs = (struct mp_rounds){.peer = peer, .answerer = answerer};
	mp_ids_init(&rs->calls);
	mp_list_init(&rs->open);
}

void mp_rounds_done(struct mp_rounds *rs)
{
	MP_LIST_EACH(&rs->open, link)
		free_round(mp_container_of(link, struct round, link));
	mp_ids_done(&rs->calls);
}

/* --- endings -------------------------------------------------------------------------------- */

/* Whoever is told may cancel it, lose all, or be asked a question of it at this moment. */
static enum round_event finish(struct round *r)
{
	leave(r);
	mp_loop_bury(r->rs->peer->loop, &r->grave, free_memory);
	r->fn(&r->answer, r->u);
	return MP_QUIET;
}

static void finish_later(void *u)
{
	finish(u);
}

/* Whoever cancels may be on the stack. */
static enum round_event finish_soon(struct round *r)
{
	mp_loop_unpost(r->rs->peer->loop, &r->task);
	mp_task_init(&r->task, finish_later, r);
	mp_loop_post(r->rs->peer->loop, &r->task);
	return MP_QUIET;
}

/* The questions are no longer ours to answer. */
static enum round_event take_back(struct round *r)
{
	const struct mp_answerer *a = r->rs->answerer;

	mp_timer_stop(&r->patience);
	finish_soon(r);
	if (a && a->withdraw)
		a->withdraw(a->u, r->id);
	return MP_QUIET;
}

static enum round_event call_off(struct round *r)
{
	mp_peer_cancel(r->rs->peer, r->call);
	return MP_QUIET;
}

/* Once it had questions it has begun: whatever keeps it from the end, it may have happened. */
static enum mp_outcome fate_of(const struct round *r)
{
	return r->rounds ? MP_OUTCOME_UNKNOWN : MP_OUTCOME_NOT_SENT;
}

static void fail(struct round *r, enum mp_outcome outcome, int code, const char *words)
{
	if (outcome == MP_OUTCOME_UNKNOWN)
		code = MCPOOL_EOUTCOME_UNKNOWN;

	(void)mp_fail(&r->why, code, "%s", words);
	r->answer = (struct mp_answer){.outcome = outcome, .error = &r->why};
	round_advance(r, FAILED);
}

static void ran_out_of_patience(void *u)
{
	fail(u, MP_OUTCOME_TIMEOUT, MCPOOL_ECALL_TIMEOUT,
	     "the server's question was not answered in time");
}

/* --- a round -------------------------------------------------------------------------------- */

/* Copy what the server handed us, because its message goes when this turn ends. */
static int keep(struct round *r, const struct mp_result *result)
{
	int rc;

	mp_buf_clear(&r->asks);
	mp_buf_clear(&r->request_state);
	forget_questions(r);
	rc = mp_buf_add_str(&r->asks, result->input_requests);
	if (rc == 0)
		rc = mp_buf_add_str(&r->request_state, result->request_state);
	if (rc == 0 && r->asks.len)
		rc = mp_tape_parse(&r->tape, mp_buf_get(&r->asks), NULL);
	return rc;
}

static bool may_take_rounds(enum mp_method_id method)
{
	return method == MP_METHOD_TOOLS_CALL || method == MP_METHOD_PROMPTS_GET ||
	       method == MP_METHOD_RESOURCES_READ;
}

/* It is handed on as it is. */
static bool is_for_caller(const struct round *r, enum mp_result_kind kind)
{
	switch (kind) {
	case MP_RESULT_COMPLETE:
		return true;
	case MP_RESULT_INPUT_REQUIRED:
		return r->rq.keeps_rounds && may_take_rounds(r->rq.method);
	case MP_RESULT_TASK:
		return r->rq.takes_tasks && r->rq.method == MP_METHOD_TOOLS_CALL;
	default:
		return false;
	}
}

static void take_result(struct round *r, const struct mp_answer *answer)
{
	struct mp_result result;

	r->answer = *answer;
	mp_modern_read_result(answer->message, &result);
	if (is_for_caller(r, result.kind))
		round_advance(r, COMPLETE);
	else if (result.kind != MP_RESULT_INPUT_REQUIRED || !may_take_rounds(r->rq.method))
		fail(r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO,
		     "the result is of a kind mcpool does not know");
	else if (++r->rounds > MP_ROUNDS_MAX)
		fail(r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO, "the server asks again and again");
	else if (!r->rs->answerer && result.input_requests.len)
		fail(r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO,
		     "the server asked for user input, and `mcpool call` cannot answer questions");
	else if (keep(r, &result) < 0)
		fail(r, MP_OUTCOME_REFUSED, MCPOOL_ENOMEM, "the server's questions are too large");
	else
		round_advance(r, QUESTIONS);
}

static void take_error(struct round *r, const struct mp_answer *answer)
{
	struct mp_rounds *rs = r->rs;

	r->answer = *answer;
	if (!r->was_mended && rs->mend && rs->mend(rs->mend_u, r->rq.method, answer->message)) {
		r->was_mended = true;
		round_advance(r, SPOILED);
	} else {
		round_advance(r, COMPLETE);
	}
}

static void got_answer(const struct mp_answer *answer, void *u)
{
	struct round *r = u;

	if (answer->outcome == MP_OUTCOME_NOT_SENT) {
		fail(r, fate_of(r), answer->error->code, answer->error->message);
	} else if (answer->outcome != MP_OUTCOME_ANSWERED) {
		r->answer = *answer;
		round_advance(r, FAILED);
	} else if (answer->message->kind == MP_MESSAGE_RESULT) {
		take_result(r, answer);
	} else {
		take_error(r, answer);
	}
}

static void got_progress(const struct mp_message *m, void *u)
{
	struct round *r = u;

	r->rq.on_progress(m, r->u);
}

static int start_call(struct round *r, struct mp_str params)
{
	struct mp_request rq = r->rq;

	rq.params = params;
	if (rq.on_progress)
		rq.on_progress = got_progress;
	return mp_peer_call(r->rs->peer, &rq, got_answer, r, &r->call);
}

/* All answers are in, or there were no questions: on with it, but not from under the answerer. */
static void resume(void *u)
{
	round_advance(u, ANSWERED);
}

static int read_questions(struct round *r)
{
	mp_value twice;
	int rc;

	if (r->asks.len == 0)
		return 0;
	if (mp_value_count(&r->tape, MP_ROOT) > MP_ROUNDS_QUESTIONS)
		return MCPOOL_ELIMIT;
	rc = mp_value_find_duplicate(&r->tape, MP_ROOT, &twice);
	if (rc < 0 || twice != MP_NONE)
		return rc < 0 ? rc : MCPOOL_EPROTO;
	r->questions = mp_alloc(MP_ROUNDS_QUESTIONS * sizeof(*r->questions));
	MP_VALUE_EACH(&r->tape, MP_ROOT, key) {
		r->questions[r->n_questions].key = key;
		mp_buf_init(&r->questions[r->n_questions++].answer, MP_LIMIT_MESSAGE);
	}
	r->unanswered = r->n_questions;
	return 0;
}

static struct mp_question describe(struct round *r, size_t place)
{
	mp_value v = mp_value_of(r->questions[place].key);
	mp_value params = mp_value_get(&r->tape, v, "params");
	mp_value method = mp_value_get(&r->tape, v, "method");
	struct mp_question q = {.call = r->id, .place = place, .origin = r->id};

	if (params != MP_NONE && !mp_value_is(&r->tape, params, MP_TAPE_OBJECT))
		return q; /* nothing that can be asked */
	q.params = mp_value_source(&r->tape, params);
	for (int i = 1; i < MP_METHODS; i++)
		if (mp_value_text_is(&r->tape, method,
				     mp_str_of(mp_method_get((enum mp_method_id)i)->name)))
			q.method = (enum mp_method_id)i;
	return q;
}

static bool is_question(enum mp_method_id method)
{
	return method == MP_METHOD_ELICIT || method == MP_METHOD_SAMPLE ||
	       method == MP_METHOD_ROOTS_LIST;
}

static enum round_event ask(struct round *r)
{
	const struct mp_answerer *a = r->rs->answerer;

	int rc = read_questions(r);

	if (rc < 0) {
		fail(r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO,
		     rc == MCPOOL_ELIMIT ? "the server has too many questions at once"
					 : "the server's questions cannot be told apart");
		return MP_QUIET;
	}
	mp_task_init(&r->task, resume, r);
	if (r->n_questions == 0) {
		mp_loop_post(r->rs->peer->loop, &r->task);
		return MP_QUIET;
	}
	mp_timer_start(&r->patience, MP_LIMIT_PARKED_MS);
	for (size_t i = 0; i < r->n_questions && r->state == ANSWERING; i++) {
		struct mp_question q = describe(r, i);

		if (is_question(q.method))
			a->ask(a->u, &q);
		else
			fail(r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO,
			     "the server asks what no client answers");
	}
	return MP_QUIET;
}

/* The round, if that question of it is still open. */
static struct round *find_asking(struct mp_rounds *rs, mp_id call, size_t place)
{
	struct round *r = mp_ids_get(&rs->calls, call);

	return r && r->state == ANSWERING && place < r->n_questions &&
			       r->questions[place].answer.len == 0
		       ? r
		       : NULL;
}

void mp_rounds_decline(struct mp_rounds *rs, mp_id call, size_t place, struct mp_str words)
{
	struct round *r = find_asking(rs, call, place);
	char text[200];

	if (!r)
		return;
	snprintf(text, sizeof(text), "%.*s", MP_STR_ARGS(words)); /* cut is fine */
	fail(r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO, text);
}

void mp_rounds_answer(struct mp_rounds *rs, mp_id call, size_t place, struct mp_str result)
{
	struct round *r = find_asking(rs, call, place);

	if (!r)
		return;
	if (result.len == 0) {
		fail(r, MP_OUTCOME_REFUSED, MCPOOL_EPROTO, "the server's question was declined");
		return;
	}
	if (mp_buf_add_str(&r->questions[place].answer, result) < 0) {
		fail(r, MP_OUTCOME_REFUSED, MCPOOL_ELIMIT,
		     "the answer to the server's question is too large");
		return;
	}
	if (--r->unanswered == 0) {
		mp_timer_stop(&r->patience);
		mp_loop_post(rs->peer->loop, &r->task);
	}
}

static int write_params(struct round *r, struct mp_buf *out)
{
	struct mp_str given = mp_str_trim(r->rq.params);
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (given.len > 2)
		mp_write_raw_members(&w, mp_str_trim((struct mp_str){given.p + 1, given.len - 2}));
	if (r->n_questions) {
		mp_write_key(&w, MP_STR("inputResponses"));
		mp_write_begin_object(&w);
		for (size_t i = 0; i < r->n_questions; i++) {
			mp_write_raw_key(&w, mp_value_source(&r->tape, r->questions[i].key));
			mp_write_raw(&w, mp_buf_get(&r->questions[i].answer));
		}
		mp_write_end_object(&w);
	}
	if (r->request_state.len)
		mp_write_member_raw(&w, "requestState", mp_buf_get(&r->request_state));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static enum round_event send_again(struct round *r)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	int rc;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	rc = write_params(r, &params);
	if (rc == 0)
		rc = start_call(r, mp_buf_get(&params));
	if (rc < 0)
		fail(r, fate_of(r), rc, mcpool_error_text(rc));
	return MP_QUIET;
}

/* --- the outside ---------------------------------------------------------------------------- */

/* What may be said again. */
static int keep_words(struct round *r, const struct mp_request *rq)
{
	struct mp_str *const words[] = {&r->rq.params, &r->rq.meta, &r->rq.foreign};
	int rc;

	if (!may_take_rounds(rq->method))
		return 0; /* it goes out once, and now */
	rc = mp_buf_reserve(&r->said, rq->params.len + rq->meta.len + rq->foreign.len + 1);
	for (size_t i = 0; i < MP_ARRAY_LEN(words) && rc == 0; i++) {
		const char *at = r->said.data + r->said.len;

		rc = mp_buf_add_str(&r->said, *words[i]);
		*words[i] = (struct mp_str){at, words[i]->len};
	}
	return rc;
}

int mp_rounds_call(struct mp_rounds *rs, const struct mp_request *rq, mp_answer_fn fn, void *u,
		   mp_id *ret_call)
{
	struct round *r = mp_alloc(sizeof(*r));
	int rc;

	*r = (struct round){.rs = rs, .state = ASKING, .rq = *rq, .fn = fn, .u = u};
	r->id = mp_ids_add(&rs->calls, r);
	mp_list_append(&rs->open, &r->link);
	mp_timer_init(&r->patience, rs->peer->loop, ran_out_of_patience, r);
	mp_task_init(&r->task, resume, r);
	mp_tape_init(&r->tape, 0);
	mp_buf_init(&r->said, 3 * MP_LIMIT_MESSAGE);
	mp_buf_init(&r->asks, MP_LIMIT_MESSAGE);
	mp_buf_init(&r->request_state, MP_LIMIT_MESSAGE);
	rc = keep_words(r, rq);
	if (rc == 0)
		rc = start_call(r, rq->params);
	if (rc < 0) {
		free_round(r);
		return rc;
	}
	if (ret_call)
		*ret_call = r->id;
	return 0;
}

void mp_rounds_lost(struct mp_rounds *rs, const struct mcpool_error *why)
{
	struct mcpool_error copy = *why; /* as in mp_peer_lost() */

	if (rs->losing)
		return;
	rs->losing = true;
	MP_LIST_WALK(&rs->open, link) {
		struct round *r = mp_container_of(link, struct round, link);

		if (r->state == ANSWERING || r->state == MENDING)
			fail(r, fate_of(r), copy.code, copy.message);
		if (r->state == OVER)
			finish(r); /* its turn would have come */
	}
	rs->losing = false;
}

void mp_rounds_mended(struct mp_rounds *rs)
{
	MP_LIST_WALK(&rs->open, link) {
		struct round *r = mp_container_of(link, struct round, link);

		if (r->state == MENDING)
			round_advance(r, MENDED);
	}
}

mp_id mp_rounds_find(const struct mp_rounds *rs, mp_id of_peer)
{
	MP_LIST_EACH(&rs->open, link) {
		const struct round *r = mp_container_of(link, struct round, link);

		if (r->state == ASKING && r->call == of_peer && of_peer != 0)
			return r->id;
	}
	return 0;
}

void mp_rounds_cancel(struct mp_rounds *rs, mp_id call)
{
	struct round *r = mp_ids_get(&rs->calls, call);

	if (!r || r->state == OVER)
		return;
	(void)mp_fail(&r->why, MCPOOL_ECANCELED, "the call was cancelled");
	r->answer = (struct mp_answer){.outcome = MP_OUTCOME_CANCELLED, .error = &r->why};
	round_advance(r, CANCEL);
}
