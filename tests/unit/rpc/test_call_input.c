/*
 * test_call_input.c - calls that a modern server answers with requests of its own; the test plays
 * the wire and the side that answers.
 */
#include "fake_transport.h"

#include <inttypes.h>

#include "base/mem.h"
#include "rpc/era.h"
#include "rpc/call_input.h"

struct asked {
	mp_id id;
	struct mp_call *call;
	enum mp_method_id method;
	char params[128];
};

struct fixture {
	struct fake_transport w; /* first */
	struct asked asked[MP_CALL_INPUT_REQUESTS];
	size_t n_asked;
	unsigned n_withdrawn;
	mp_id withdrawn;
	void (*on_ask)(struct fixture *f, const struct mp_server_request *rq);
	void (*on_withdraw)(struct fixture *f, mp_id request);
	bool (*retry)(struct mp_call *c, const struct mp_message *error);
	int retried;
};

static void heard_request(void *u, const struct mp_server_request *rq)
{
	struct fixture *f = u;
	struct asked *a = &f->asked[f->n_asked++ % MP_ARRAY_LEN(f->asked)];

	*a = (struct asked){.id = rq->id, .call = rq->origin, .method = rq->method};
	fake_copy(a->params, sizeof(a->params), rq->params);
	if (f->on_ask)
		f->on_ask(f, rq);
}

static void heard_withdrawal(void *u, mp_id request)
{
	struct fixture *f = u;

	f->n_withdrawn++;
	f->withdrawn = request;
	if (f->on_withdraw)
		f->on_withdraw(f, request);
}

static bool asked_to_retry(void *u, struct mp_call *c, const struct mp_message *error)
{
	struct fixture *f = u;

	f->retried += f->retry != NULL;
	return f->retry && f->retry(c, error);
}

static const struct mp_peer_hooks hooks = {
	.send = fake_transport_send,
	.request = heard_request,
	.withdrawn = heard_withdrawal,
	.may_retry = asked_to_retry,
};

static bool fixture_start(struct fixture *f, bool serves)
{
	if (!fake_transport_start(&f->w, &hooks, f))
		return false;
	f->w.peer.is_modern = true;
	f->w.peer.serves = serves;
	return true;
}

static void fixture_done(struct fixture *f)
{
	fake_transport_done(&f->w);
}

/* Our side answers the request with this place among all that were asked. */
static void reply(struct fixture *f, size_t place, const char *result)
{
	mp_peer_reply(&f->w.peer, f->asked[place].id, mp_str_of(result));
}

#define WITH_ROUNDS(f)                                   \
	MP_CLEANUP(fixture_done) struct fixture f = {0}; \
	CHECK(fixture_start(&(f), true))

static int start_method(struct fixture *f, struct fake_caller *c, enum mp_method_id method,
			struct mp_str params)
{
	struct mp_call_options rq = {.method = method,
				     .params = params,
				     .meta = MP_STR("{\"m\":1}"),
				     .timeout_ms = 5000};

	return fake_start(&f->w, c, &rq);
}

static int start(struct fixture *f, struct fake_caller *c)
{
	return start_method(f, c, MP_METHOD_TOOLS_CALL,
			    MP_STR("{ \"name\":\"t\", \"arguments\":{\"n\":1e5} }"));
}

/* The server answers the request with this id of the wire. */
static void answer(struct fixture *f, int id, const char *result)
{
	fake_transport_flush(&f->w);
	fake_transport_sayf(&f->w, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}", id, result);
}

#define ASK_A    "\"a\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"?\"}}"
#define ASK_B    "\"b\\u0062\":{\"method\":\"roots/list\"}"
#define ASK_C    "\"c\":{\"method\":\"sampling/createMessage\",\"params\":{ }}"
#define NEEDS(x) "{\"resultType\":\"input_required\",\"inputRequests\":{" x "}}"
#define COMPLETE "{\"resultType\":\"complete\",\"content\":[]}"

static bool is_quiet(struct fixture *f)
{
	mp_loop_advance(f->w.loop, 0);
	REQUIRE(f->w.peer.calls.len == 0 && f->w.peer.server_requests.len == 0);
	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		REQUIRE(f->w.peer.in_state[i].len == 0);
	return true;
}

static bool ended(const struct fake_caller *c, enum mp_outcome outcome)
{
	REQUIRE(c->answers == 1);
	return test_equal(c->outcome, outcome, mp_outcome_get_name(c->outcome), __FILE__, __LINE__);
}

static void lose(struct fixture *f)
{
	fake_transport_lose(&f->w);
}

/* --- without questions ---------------------------------------------------------------------- */

TEST(a_call_that_is_complete_at_once)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		  "{\"name\":\"t\", \"arguments\":{\"n\":1e5},\"_meta\":{\"m\":1}}}");
	answer(&f, 1, COMPLETE);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(a.text, COMPLETE);
	CHECK_EQ(f.n_asked, 0);
	CHECK(is_quiet(&f));
}

TEST(a_result_without_a_kind_and_an_error_are_complete)
{
	struct fake_caller a = {0}, b = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK_EQ(start(&f, &b), 0);
	CHECK(a.call != b.call);
	answer(&f, 1, "{\"content\":[]}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32602}}");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED) && ended(&b, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(b.text, "{\"code\":-32602}");
	CHECK(is_quiet(&f));
}

static bool retry(struct mp_call *c, const struct mp_message *error)
{
	(void)c;
	return mp_error_read_code(error) == -7;
}

static void refuse(struct fixture *f, int id)
{
	fake_transport_flush(&f->w);
	fake_transport_sayf(
		&f->w, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"error\":{\"code\":-7,\"message\":\"\"}}",
		id);
}

/* The same again, with a new id; but only once. */
TEST(an_error_whose_cause_is_removed_is_retried)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	f.retry = retry;
	CHECK_EQ(start(&f, &a), 0);
	(void)fake_transport_next(&f.w);
	refuse(&f, 1);
	CHECK_EQ(a.answers, 0);
	mp_peer_retry(&f.w.peer);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
		  "{\"name\":\"t\", \"arguments\":{\"n\":1e5},\"_meta\":{\"m\":1}}}");
	refuse(&f, 2);
	CHECK_EQ(f.retried, 1);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK(is_quiet(&f));
}

TEST(how_a_call_ends_while_it_waits_for_a_retry)
{
	for (int i = 0; i < 3; i++) {
		struct fake_caller a = {0};
		WITH_ROUNDS(f);

		f.retry = retry;
		CHECK_EQ(start(&f, &a), 0);
		refuse(&f, 1);
		CHECK_EQ(f.retried, 1);
		if (i == 0)
			mp_peer_cancel(&a.part);
		else if (i == 1)
			lose(&f);
		else
			f.w.refusal = MCPOOL_ECLOSED;
		mp_peer_retry(&f.w.peer);
		CHECK(is_quiet(&f));
		CHECK(ended(&a, i == 0 ? MP_OUTCOME_CANCELLED : MP_OUTCOME_NOT_SENT));
	}
}

TEST(a_kind_nobody_knows_is_refused)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, "{\"resultType\":\"task\",\"taskId\":\"1\"}");
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK_EQ(a.code, MCPOOL_EPROTO);
	CHECK_TEXT(a.text, "the result is of a kind mcpool does not know");
	CHECK(is_quiet(&f));
}

TEST(only_three_methods_may_take_rounds)
{
	for (int method = 1; method < MP_METHODS; method++) {
		bool may = method == MP_METHOD_TOOLS_CALL || method == MP_METHOD_PROMPTS_GET ||
			   method == MP_METHOD_RESOURCES_READ;
		struct fake_caller a = {0};
		WITH_ROUNDS(f);

		if (!mp_method_get((enum mp_method_id)method)->is_request)
			continue;
		CHECK_EQ(start_method(&f, &a, (enum mp_method_id)method, MP_STR("{\"x\":1}")), 0);
		answer(&f, 1, NEEDS(ASK_A));
		CHECK_EQ(f.n_asked, may);
		CHECK_EQ(a.answers, !may);
		if (may)
			mp_peer_cancel(&a.part);
		else
			CHECK(ended(&a, MP_OUTCOME_REFUSED));
		CHECK(is_quiet(&f));
	}
}

TEST(what_cannot_be_sent_is_refused_at_once)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	f.w.refusal = MCPOOL_ELIMIT;
	CHECK_EQ(start(&f, &a), MCPOOL_ELIMIT);
	CHECK_EQ(a.answers, 0);
	CHECK(is_quiet(&f));
}

TEST(progress_of_each_round_reaches_the_caller)
{
	static const struct mp_call_hooks with_progress = {.answered = fake_answered,
							   .progress = fake_progressed};
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL};
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(fake_start_with(&f.w, &a, &rq, &with_progress), 0);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		  "{\"_meta\":{\"progressToken\":1}}}");
	fake_transport_flush(&f.w);
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			   "{\"progressToken\":1,\"progress\":5}}");
	answer(&f, 1, "{\"resultType\":\"input_required\",\"requestState\":\"s\"}");
	mp_loop_advance(f.w.loop, 0);
	fake_transport_flush(&f.w);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
		  "{\"requestState\":\"s\",\"_meta\":{\"progressToken\":2}}}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			   "{\"progressToken\":1,\"progress\":6}}"); /* of the round before */
	CHECK_EQ(a.progressed, 1);
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			   "{\"progressToken\":2,\"progress\":1}}");
	CHECK_EQ(a.progressed, 2);
	answer(&f, 2, COMPLETE);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
}

/* --- questions ------------------------------------------------------------------------------ */

TEST(one_question_answered_later)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK(fake_transport_next(&f.w).len);
	answer(&f, 1, NEEDS(ASK_A));
	CHECK_EQ(f.n_asked, 1);
	CHECK(f.asked[0].call == &a.part);
	CHECK_EQ(f.asked[0].method, MP_METHOD_ELICIT);
	CHECK_TEXT(f.asked[0].params, "{\"message\":\"?\"}");
	mp_loop_advance(f.w.loop, 60 * 1000); /* a person thinks; no call times out meanwhile */
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	reply(&f, 0, "{\"action\":\"accept\"}");
	reply(&f, 0, "{\"action\":\"again\"}");     /* too late */
	CHECK_EQ(fake_transport_next(&f.w).len, 0); /* not from under the answerer */
	mp_loop_advance(f.w.loop, 0);
	/* A new id, the same params, the answer. */
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
		  "{\"name\":\"t\", \"arguments\":{\"n\":1e5},"
		  "\"inputResponses\":{\"a\":{\"action\":\"accept\"}},\"_meta\":{\"m\":1}}}");
	answer(&f, 2, COMPLETE);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(a.text, COMPLETE);
	CHECK_EQ(f.n_withdrawn, 0);
	CHECK(is_quiet(&f));
}

TEST(several_questions_answered_in_another_order)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK(fake_transport_next(&f.w).len);
	answer(&f, 1,
	       "{\"resultType\":\"input_required\",\"requestState\":\"s\\/"
	       "1\",\"inputRequests\":{" ASK_A "," ASK_B "," ASK_C "}}");
	CHECK_EQ(f.n_asked, 3);
	CHECK_EQ(f.asked[1].method, MP_METHOD_ROOTS_LIST);
	CHECK_TEXT(f.asked[1].params, "");
	CHECK_EQ(f.asked[2].method, MP_METHOD_SAMPLE);
	CHECK_TEXT(f.asked[2].params, "{ }");
	reply(&f, 2, "{\"c\":3}");
	reply(&f, 0, "{\"a\":1}");
	mp_peer_reply(&f.w.peer, 99, MP_STR("{}")); /* no such request */
	mp_loop_advance(f.w.loop, 0);
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	reply(&f, 1, "{ \"b\":2 }");
	mp_loop_advance(f.w.loop, 0);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
		  "{\"name\":\"t\", \"arguments\":{\"n\":1e5},\"inputResponses\":"
		  "{\"a\":{\"a\":1},\"b\\u0062\":{ \"b\":2 },\"c\":{\"c\":3}},"
		  "\"requestState\":\"s\\/1\",\"_meta\":{\"m\":1}}}");
}

static void answer_at_once(struct fixture *f, const struct mp_server_request *rq)
{
	mp_peer_reply(&f->w.peer, rq->id, MP_STR("{\"now\":1}"));
}

TEST(answers_given_while_being_asked)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	f.on_ask = answer_at_once;
	CHECK_EQ(start_method(&f, &a, MP_METHOD_PROMPTS_GET, MP_STR(" { } ")), 0);
	CHECK(fake_transport_next(&f.w).len);
	answer(&f, 1, NEEDS(ASK_A "," ASK_C));
	CHECK_EQ(f.n_asked, 2);
	mp_loop_advance(f.w.loop, 0);
	CHECK_STR(
		fake_transport_next(&f.w),
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"prompts/get\",\"params\":"
		"{\"inputResponses\":{\"a\":{\"now\":1},\"c\":{\"now\":1}},\"_meta\":{\"m\":1}}}");
	answer(&f, 2, COMPLETE);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
}

TEST(each_round_has_its_own_questions_answers_and_state)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	f.on_ask = answer_at_once;
	CHECK_EQ(start_method(&f, &a, MP_METHOD_RESOURCES_READ, MP_STR("{\"uri\":\"u\"}")), 0);
	answer(&f, 1,
	       "{\"resultType\":\"input_required\",\"requestState\":\"one\",\"inputRequests\":"
	       "{" ASK_A "}}");
	mp_loop_advance(f.w.loop, 0);
	answer(&f, 2, NEEDS(ASK_B));
	mp_loop_advance(f.w.loop, 0);
	answer(&f, 3, "{\"resultType\":\"input_required\",\"requestState\":\"three\"}");
	mp_loop_advance(f.w.loop, 0);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":"
		  "{\"uri\":\"u\",\"_meta\":{\"m\":1}}}");
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/read\",\"params\":"
		  "{\"uri\":\"u\",\"inputResponses\":{\"a\":{\"now\":1}},\"requestState\":\"one\","
		  "\"_meta\":{\"m\":1}}}");
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/read\",\"params\":"
		  "{\"uri\":\"u\",\"inputResponses\":{\"b\\u0062\":{\"now\":1}},"
		  "\"_meta\":{\"m\":1}}}");
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/read\",\"params\":"
		  "{\"uri\":\"u\",\"requestState\":\"three\",\"_meta\":{\"m\":1}}}");
	answer(&f, 4, COMPLETE);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK(is_quiet(&f));
}

TEST(an_answer_goes_to_its_own_call_only)
{
	struct fake_caller a = {0}, b = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK_EQ(start(&f, &b), 0);
	CHECK(fake_transport_next(&f.w).len && fake_transport_next(&f.w).len);
	answer(&f, 1, NEEDS(ASK_A));
	answer(&f, 2, NEEDS(ASK_A));
	reply(&f, 1, "{\"for\":\"b\"}");
	mp_loop_advance(f.w.loop, 0);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":"
		  "{\"name\":\"t\", \"arguments\":{\"n\":1e5},"
		  "\"inputResponses\":{\"a\":{\"for\":\"b\"}},\"_meta\":{\"m\":1}}}");
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	{
		struct fake_caller c = {0};

		CHECK_EQ(start(&f, &c), 0); /* a fresh one has no answers in it */
		CHECK_STR(fake_transport_next(&f.w),
			  "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":"
			  "{\"name\":\"t\", \"arguments\":{\"n\":1e5},\"_meta\":{\"m\":1}}}");
		fake_transport_flush(&f.w);
		lose(&f);
		CHECK(ended(&c, MP_OUTCOME_UNKNOWN));
	}
	CHECK(ended(&a, MP_OUTCOME_UNKNOWN) && ended(&b, MP_OUTCOME_UNKNOWN));
	CHECK(is_quiet(&f));
}

/* The state is opaque to us and bound to its bytes. */
TEST(a_large_state_comes_back_byte_for_byte)
{
	enum { LEN = 64 * 1024 };
	static const char letters[] = "abcXYZ0189+/=_- {}[],:";
	MP_CLEANUP(mp_freep) char *text = mp_try_alloc(LEN + 256);
	struct fake_caller a = {0};
	uint64_t seed = 99;
	struct mp_str again;
	size_t at, begin;
	WITH_ROUNDS(f);

	CHECK(text);
	at = (size_t)snprintf(text, 256, "%s",
			      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":"
			      "\"input_required\",\"requestState\":");
	begin = at;
	text[at++] = '"';
	while (at - begin < LEN) {
		uint64_t dice = test_random(&seed);

		if (dice % 50 == 0) { /* an unusual spelling */
			memcpy(text + at, "\\u004a", 6);
			at += 6;
		} else if (dice % 50 == 1) {
			memcpy(text + at, "\xe2\x82\xac", 3);
			at += 3;
		} else {
			text[at++] = letters[dice / 50 % (sizeof(letters) - 1)];
		}
	}
	text[at++] = '"';
	CHECK_EQ(start(&f, &a), 0);
	CHECK(fake_transport_next(&f.w).len);
	fake_transport_flush(&f.w);
	memcpy(text + at, "}}", 2);
	mp_peer_receive(&f.w.peer, (struct mp_str){text, at + 2});
	mp_loop_advance(f.w.loop, 0);
	again = fake_transport_next(&f.w);
	CHECK(again.len > LEN);
	CHECK(mp_str_find(again, (struct mp_str){text + begin, at - begin}, 0) > 0);
	CHECK(mp_str_find(again, MP_STR("inputResponses"), 0) < 0);
}

/* --- what ends it --------------------------------------------------------------------------- */

TEST(a_declined_question_ends_the_call)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, NEEDS(ASK_A "," ASK_B));
	reply(&f, 1, "");
	CHECK_EQ(a.answers, 0); /* later */
	CHECK_EQ(f.n_withdrawn, 1);
	CHECK_EQ(f.withdrawn, f.asked[0].id);
	reply(&f, 0, "{}"); /* too late */
	reply(&f, 0, "");
	mp_peer_cancel(&a.part); /* it is over already */
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK_TEXT(a.text, "the server's question was declined");
	CHECK_EQ(f.n_withdrawn, 1);
	CHECK(is_quiet(&f));
}

static void decline(struct fixture *f, const struct mp_server_request *rq)
{
	mp_peer_reply(&f->w.peer, rq->id, MP_STR(""));
}

TEST(a_question_declined_while_being_asked_is_the_last)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	f.on_ask = decline;
	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, NEEDS(ASK_A "," ASK_B));
	CHECK_EQ(f.n_asked, 1);
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK(is_quiet(&f));
}

TEST(questions_no_client_answers)
{
	static const char *const bad[] = {
		NEEDS("\"a\":{\"method\":\"ping\"}"),
		NEEDS("\"a\":{\"method\":\"tools/call\",\"params\":{}}"),
		NEEDS("\"a\":{\"method\":\"nonsense\"}"),
		NEEDS("\"a\":{\"method\":1}"),
		NEEDS("\"a\":{\"params\":{}}"),
		NEEDS("\"a\":[]"),
		NEEDS("\"a\":null"),
		NEEDS("\"a\":{\"method\":\"roots/list\",\"params\":[]}"),
		NEEDS("\"a\":{\"method\":\"roots/list\",\"params\":null}"),
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		struct fake_caller a = {0};
		WITH_ROUNDS(f);

		CHECK_EQ(start(&f, &a), 0);
		answer(&f, 1, bad[i]);
		mp_loop_advance(f.w.loop, 0);
		CHECK(ended(&a, MP_OUTCOME_REFUSED));
		CHECK_TEXT(a.text, "the server asks what no client answers");
		CHECK_EQ(f.n_asked, 0);
		CHECK(is_quiet(&f));
	}
}

TEST(questions_with_one_key_cannot_be_told_apart)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, NEEDS(ASK_A ",\"\\u0061\":{\"method\":\"roots/list\"}"));
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK_TEXT(a.text, "the server's questions cannot be told apart");
	CHECK_EQ(f.n_asked, 0);
}

static bool ask_so_many(struct fixture *f, int n)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	bool ok;

	mp_buf_init(&text, MP_MIB(1));
	ok = mp_buf_add_str(&text,
			    MP_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":"
				   "\"input_required\",\"inputRequests\":{")) == 0;
	for (int i = 0; ok && i < n; i++)
		ok = mp_buf_addf(&text, "%s\"%d\":{\"method\":\"roots/list\"}", i ? "," : "", i) ==
		     0;
	ok = ok && mp_buf_add_str(&text, MP_STR("}}}")) == 0;
	fake_transport_flush(&f->w);
	if (ok)
		mp_peer_receive(&f->w.peer, mp_buf_get(&text));
	mp_loop_advance(f->w.loop, 0);
	return ok;
}

TEST(so_many_questions_at_once_and_no_more)
{
	for (int more = 0; more < 2; more++) {
		struct fake_caller a = {0};
		WITH_ROUNDS(f);

		CHECK_EQ(start(&f, &a), 0);
		CHECK(ask_so_many(&f, MP_CALL_INPUT_REQUESTS + more));
		CHECK_EQ(f.n_asked, more ? 0 : MP_CALL_INPUT_REQUESTS);
		CHECK_EQ(a.answers, more);
		if (more) {
			CHECK(ended(&a, MP_OUTCOME_REFUSED));
			CHECK_TEXT(a.text, "the server has too many questions at once");
		}
	}
}

TEST(so_many_rounds_and_no_more)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	for (int i = 1; i <= MP_CALL_INPUT_MAX; i++) {
		answer(&f, i, "{\"resultType\":\"input_required\",\"requestState\":\"s\"}");
		mp_loop_advance(f.w.loop, 0);
		CHECK_EQ(a.answers, 0);
	}
	answer(&f, MP_CALL_INPUT_MAX + 1,
	       "{\"resultType\":\"input_required\",\"requestState\":\"s\"}");
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK_TEXT(a.text, "the server asks again and again");
	CHECK(is_quiet(&f));
}

TEST(without_an_answerer_questions_end_the_call)
{
	struct fake_caller a = {0}, b = {0};
	MP_CLEANUP(fixture_done) struct fixture f = {0};

	CHECK(fixture_start(&f, false));
	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, NEEDS(ASK_A));
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK_TEXT(a.text,
		   "the server asked for user input, and `mcpool call` cannot answer questions");
	/* A state to hand back is not a question. */
	CHECK_EQ(start(&f, &b), 0);
	answer(&f, 2, "{\"resultType\":\"input_required\",\"requestState\":\"s\"}");
	mp_peer_cancel(&b.part); /* before it is handed back */
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&b, MP_OUTCOME_CANCELLED));
	CHECK(is_quiet(&f));
}

TEST(a_question_waits_ten_minutes)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK(fake_transport_next(&f.w).len);
	answer(&f, 1, NEEDS(ASK_A "," ASK_B));
	mp_loop_advance(f.w.loop, 5 * 60 * 1000);
	reply(&f, 0, "{}"); /* one of two buys no time */
	mp_loop_advance(f.w.loop, 5 * 60 * 1000 - 1);
	CHECK_EQ(a.answers, 0);
	mp_loop_advance(f.w.loop, 1);
	CHECK(ended(&a, MP_OUTCOME_TIMEOUT));
	CHECK_EQ(a.code, MCPOOL_ECALL_TIMEOUT);
	CHECK_EQ(f.n_withdrawn, 1);
	CHECK_EQ(fake_transport_next(&f.w).len, 0); /* nothing is pending at the server */
	CHECK(is_quiet(&f));
}

TEST(an_answered_question_has_no_time_limit)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, NEEDS(ASK_A));
	reply(&f, 0, "{}");
	mp_loop_advance(f.w.loop, 0);
	fake_transport_flush(&f.w);
	mp_loop_advance(f.w.loop, 4999);
	CHECK_EQ(a.answers, 0);
	mp_loop_advance(f.w.loop, 1); /* the request's own timeout, restarted for this round */
	CHECK(ended(&a, MP_OUTCOME_TIMEOUT));
	CHECK_EQ(f.n_withdrawn, 0);
	CHECK(is_quiet(&f));
}

TEST(answers_that_do_not_fit_a_message_end_the_call)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, NEEDS(ASK_A));
	f.w.refusal = MCPOOL_ELIMIT; /* the peer does not read */
	reply(&f, 0, "{}");
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_UNKNOWN)); /* it had begun */
	CHECK_EQ(a.code, MCPOOL_EOUTCOME_UNKNOWN);
	CHECK(is_quiet(&f));
}

/* The next message on the wire has this in it. */
static bool says(struct fixture *f, const char *words)
{
	return mp_str_find(fake_transport_next(&f->w), mp_str_of(words), 0) >= 0;
}

/* A client that supports rounds gets the questions unchanged, and no hook here is asked. */
TEST(rounds_that_are_kept_are_handed_on)
{
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL, .keeps_input_required = true};
	struct fake_caller a = {0}, b = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(fake_start(&f.w, &a, &rq), 0);
	answer(&f, 1, NEEDS(ASK_A));
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK(strstr(a.text, "\"input_required\",\"inputRequests\":{\"a\":"));
	CHECK_EQ(f.n_asked, 0);
	rq.method = MP_METHOD_TOOLS_LIST; /* which may not ask anything */
	CHECK_EQ(fake_start(&f.w, &b, &rq), 0);
	answer(&f, 2, NEEDS(ASK_A));
	CHECK(ended(&b, MP_OUTCOME_REFUSED));
	CHECK(is_quiet(&f));
}

#define TASK "{\"resultType\":\"task\",\"taskId\":\"t1\",\"status\":\"working\"}"

/* A task is for those who said that they know tasks, and only a tool becomes one. */
TEST(a_task_is_handed_on_to_whoever_takes_it)
{
	static const struct {
		struct mp_call_options rq;
		enum mp_outcome outcome;
	} rows[] = {
		{{.method = MP_METHOD_TOOLS_CALL, .takes_tasks = true}, MP_OUTCOME_ANSWERED},
		{{.method = MP_METHOD_TOOLS_CALL, .keeps_input_required = true},
		 MP_OUTCOME_REFUSED},
		{{.method = MP_METHOD_PROMPTS_GET, .takes_tasks = true}, MP_OUTCOME_REFUSED},
		{{.method = MP_METHOD_TOOLS_LIST, .takes_tasks = true}, MP_OUTCOME_REFUSED},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct fake_caller a = {0};
		WITH_ROUNDS(f);

		CHECK_EQ(fake_start(&f.w, &a, &rows[i].rq), 0);
		answer(&f, 1, TASK);
		CHECK(ended(&a, rows[i].outcome));
		CHECK_EQ(f.n_asked, 0);
		CHECK(is_quiet(&f));
	}
}

/* What is said about hop and caller is said in each round. */
TEST(every_round_says_the_same_of_its_caller)
{
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL,
				     .meta = MP_STR("{\"m\":2}"),
				     .foreign = MP_STR("{\"traceparent\":\"t\"}")};
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(fake_start(&f.w, &a, &rq), 0);
	CHECK(says(&f, "\"_meta\":{\"m\":2,\"traceparent\":\"t\"}"));
	answer(&f, 1, NEEDS(ASK_A));
	reply(&f, 0, "{}");
	mp_loop_advance(f.w.loop, 0);
	CHECK(says(&f, "\"_meta\":{\"m\":2,\"traceparent\":\"t\"}"));
	answer(&f, 2, COMPLETE);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK(is_quiet(&f));
}

/* --- cancelling ----------------------------------------------------------------------------- */

TEST(cancelled_while_asking)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	fake_transport_flush(&f.w);
	CHECK(fake_transport_next(&f.w).len);
	mp_peer_cancel(&a.part);
	mp_peer_cancel(&a.part);
	CHECK_EQ(a.answers, 0);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		  "{\"requestId\":1,\"reason\":\"cancelled\"}}");
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	answer(&f, 1, NEEDS(ASK_A)); /* too late */
	CHECK_EQ(f.n_asked, 0);
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
	CHECK_EQ(f.n_withdrawn, 0);
	mp_peer_cancel(&a.part);
	CHECK(is_quiet(&f));
}

TEST(cancelled_while_answering)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK(fake_transport_next(&f.w).len);
	answer(&f, 1, NEEDS(ASK_A));
	mp_peer_cancel(&a.part);
	CHECK_EQ(a.answers, 0);
	CHECK_EQ(f.n_withdrawn, 1);
	reply(&f, 0, "{}");
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
	CHECK_EQ(a.code, MCPOOL_ECANCELED);
	CHECK_EQ(fake_transport_next(&f.w).len, 0); /* the server waits for nothing */
	CHECK(is_quiet(&f));
}

TEST(cancelled_when_the_answers_are_on_their_way)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	f.on_ask = answer_at_once;
	CHECK_EQ(start(&f, &a), 0);
	CHECK(fake_transport_next(&f.w).len);
	answer(&f, 1, NEEDS(ASK_A));
	mp_peer_cancel(&a.part);
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
}

static void cancel_when_asked(struct fixture *f, const struct mp_server_request *rq)
{
	(void)f;
	mp_peer_cancel(rq->origin);
}

TEST(cancelled_by_the_answerer)
{
	struct fake_caller a = {0};
	WITH_ROUNDS(f);

	f.on_ask = cancel_when_asked;
	CHECK_EQ(start(&f, &a), 0);
	answer(&f, 1, NEEDS(ASK_A "," ASK_B));
	CHECK_EQ(f.n_asked, 1);
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
	CHECK(is_quiet(&f));
}

struct self {
	enum mp_outcome outcome; /* as it was after cancelling */
};

static void cancel_too_late(struct mp_call *part, const struct mp_answer *answer)
{
	struct self *self = mp_container_of(part, struct fake_caller, part)->u;

	mp_peer_cancel(part);
	self->outcome = answer->outcome;
	fake_answered(part, answer);
}

TEST(whoever_has_the_answer_cannot_spoil_it_by_cancelling)
{
	static const struct mp_call_hooks late_hooks = {.answered = cancel_too_late};
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL};
	struct fake_caller a = {0};
	struct self self = {.outcome = MP_OUTCOME_TIMEOUT};
	WITH_ROUNDS(f);

	a.u = &self;
	CHECK_EQ(fake_start_with(&f.w, &a, &rq, &late_hooks), 0);
	answer(&f, 1, COMPLETE);
	CHECK_EQ(self.outcome, MP_OUTCOME_ANSWERED);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(a.text, COMPLETE);
	CHECK(is_quiet(&f));
}

/* --- the end -------------------------------------------------------------------------------- */

TEST(how_rounds_end_when_the_peer_is_lost)
{
	struct fake_caller queued = {0}, written = {0}, answering = {0}, resuming = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &answering), 0);
	CHECK_EQ(start(&f, &resuming), 0);
	CHECK_EQ(start(&f, &written), 0);
	answer(&f, 1, NEEDS(ASK_A));
	answer(&f, 2, "{\"resultType\":\"input_required\",\"requestState\":\"s\"}");
	CHECK_EQ(start(&f, &queued), 0);
	lose(&f);
	CHECK(ended(&queued, MP_OUTCOME_NOT_SENT) && ended(&written, MP_OUTCOME_UNKNOWN));
	CHECK(ended(&answering, MP_OUTCOME_UNKNOWN) && ended(&resuming, MP_OUTCOME_UNKNOWN));
	CHECK_TEXT(answering.text, "the server is gone");
	CHECK(is_quiet(&f));
	reply(&f, 0, "{}");
	CHECK_EQ(start(&f, &queued), MCPOOL_ECLOSED);
	mp_loop_advance(f.w.loop, 20 * 60 * 1000);
	CHECK(answering.answers == 1 && queued.answers == 1);
}

TEST(a_cancelled_round_that_has_not_heard_yet_hears_of_it_when_all_is_lost)
{
	struct fake_caller a = {0}, b = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK_EQ(start(&f, &b), 0);
	answer(&f, 1, NEEDS(ASK_A));
	mp_peer_cancel(&a.part); /* answering */
	mp_peer_cancel(&b.part); /* asking */
	lose(&f);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED) && ended(&b, MP_OUTCOME_CANCELLED));
	CHECK(is_quiet(&f));
}

static void lose_all(struct fake_caller *c)
{
	lose(c->u);
}

TEST(an_answer_may_lose_all)
{
	for (int kind = 0; kind < 4; kind++) {
		struct fake_caller a = {0}, b = {0}, c = {0};
		WITH_ROUNDS(f);

		a.then = lose_all;
		a.u = &f;
		CHECK_EQ(start(&f, &a), 0);
		CHECK_EQ(start(&f, &b), 0);
		CHECK_EQ(start(&f, &c), 0);
		answer(&f, 2, NEEDS(ASK_A));
		if (kind == 0)
			answer(&f, 1, COMPLETE);
		else if (kind == 1)
			answer(&f, 1, "{\"resultType\":\"task\"}");
		else if (kind == 2)
			answer(&f, 1, NEEDS(ASK_A));
		mp_peer_cancel(&a.part); /* the last two */
		mp_loop_advance(f.w.loop, 0);
		CHECK_EQ(a.answers, 1);
		CHECK(ended(&b, MP_OUTCOME_UNKNOWN) && ended(&c, MP_OUTCOME_UNKNOWN));
		CHECK(is_quiet(&f));
	}
}

static void lose_when_asked(struct fixture *f, const struct mp_server_request *rq)
{
	(void)rq;
	lose(f);
}

TEST(a_question_may_lose_all)
{
	struct fake_caller a = {0}, b = {0};
	WITH_ROUNDS(f);

	f.on_ask = lose_when_asked;
	CHECK_EQ(start(&f, &a), 0);
	CHECK_EQ(start(&f, &b), 0);
	answer(&f, 1, NEEDS(ASK_A "," ASK_B));
	CHECK_EQ(f.n_asked, 1);
	CHECK(ended(&a, MP_OUTCOME_UNKNOWN) && ended(&b, MP_OUTCOME_UNKNOWN));
	CHECK(is_quiet(&f));
}

static void lose_when_withdrawn(struct fixture *f, mp_id call)
{
	(void)call;
	lose(f);
}

TEST(a_withdrawal_may_lose_all)
{
	struct fake_caller a = {0}, b = {0};
	WITH_ROUNDS(f);

	f.on_withdraw = lose_when_withdrawn;
	CHECK_EQ(start(&f, &a), 0);
	CHECK_EQ(start(&f, &b), 0);
	answer(&f, 1, NEEDS(ASK_A "," ASK_B));
	answer(&f, 2, NEEDS(ASK_A));
	reply(&f, 0, "");
	CHECK(ended(&a, MP_OUTCOME_REFUSED) && ended(&b, MP_OUTCOME_UNKNOWN));
	CHECK_EQ(f.n_withdrawn, 2);
	CHECK(is_quiet(&f));
}

TEST(open_rounds_are_forgotten_without_a_word)
{
	struct fake_caller a = {0}, b = {0}, c = {0};
	WITH_ROUNDS(f);

	CHECK_EQ(start(&f, &a), 0);
	CHECK_EQ(start(&f, &b), 0);
	CHECK_EQ(start(&f, &c), 0);
	answer(&f, 1, NEEDS(ASK_A));
	answer(&f, 2, NEEDS(ASK_A));
	reply(&f, 0, "{}");
	mp_peer_cancel(&b.part);
	mp_peer_done(&f.w.peer);
	f.w.has_peer = false;
	mp_loop_advance(f.w.loop, 20 * 60 * 1000);
	CHECK(a.answers == 0 && b.answers == 0 && c.answers == 0);
}
