/*
 * test_peer.c - one conversation over a wire the test plays: who gets which answer, what ends when,
 * and what is dropped and counted.
 */
#include "fake_transport.h"

#include <inttypes.h>

#include "base/mem.h"

struct fixture {
	struct fake_transport w; /* first: the hooks know both by one pointer */
	char journal[512];       /* what the hooks heard */
	mp_id asked[4];          /* the last requests of theirs */
	size_t n_asked;
	void (*on_request)(struct fixture *f, mp_id call);
	void (*on_withdrawn)(struct fixture *f, mp_id call);
};

static void MP_PRINTF(2, 3) write_down(struct fixture *f, const char *format, ...)
{
	size_t len = strlen(f->journal);
	va_list args;

	va_start(args, format);
	vsnprintf(f->journal + len, sizeof(f->journal) - len, format, args);
	va_end(args);
}

static const char *read_journal(struct fixture *f)
{
	static char copy[sizeof(f->journal)];

	memcpy(copy, f->journal, sizeof(copy));
	f->journal[0] = '\0';
	return copy;
}

static void heard_request(void *u, const struct mp_server_request *rq)
{
	struct fixture *f = u;

	write_down(f, "[%.*s %s]", MP_STR_ARGS(f->w.peer.arriving->id),
		   mp_method_get(rq->method)->name);
	f->asked[f->n_asked++ % MP_ARRAY_LEN(f->asked)] = rq->id;
	if (f->on_request)
		f->on_request(f, rq->id);
}

static void heard_withdrawn(void *u, mp_id call)
{
	struct fixture *f = u;

	write_down(f, "[withdrawn %" PRIu64 "]", call);
	if (f->on_withdrawn)
		f->on_withdrawn(f, call);
}

static void heard_notification(void *u, const struct mp_message *m)
{
	write_down(u, "[%s]", mp_method_get(m->method)->name);
}

static const struct mp_peer_hooks hooks = {
	.send = fake_transport_send,
	.request = heard_request,
	.withdrawn = heard_withdrawn,
	.notification = heard_notification,
};
static const struct mp_peer_hooks mute_hooks = {.send = fake_transport_send};

static void fixture_done(struct fixture *f)
{
	fake_transport_done(&f->w);
}

#define WITH_HOOKS(f, hooks)                             \
	MP_CLEANUP(fixture_done) struct fixture f = {0}; \
	CHECK(fake_transport_start(&(f).w, (hooks), &(f)))
#define WITH_PEER(f)           \
	WITH_HOOKS(f, &hooks); \
	(f).w.peer.serves = true

/* Nothing is open any more, and nothing was lost on the way. */
static bool is_quiet(const struct fixture *f)
{
	const struct mp_peer *p = &f->w.peer;

	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		REQUIRE(p->in_state[i].len == 0);
	REQUIRE(p->calls.len == 0);
	REQUIRE(p->theirs.len == 0 && p->serving.len == 0 && p->server_requests.len == 0);
	return true;
}

static bool ended(const struct fake_caller *c, enum mp_outcome outcome)
{
	REQUIRE(c->answers == 1);
	return test_equal(c->outcome, outcome, mp_outcome_get_name(c->outcome), __FILE__, __LINE__);
}

static void answer(struct fixture *f, const struct fake_caller *c, const char *result)
{
	fake_transport_sayf(&f->w, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"result\":%s}",
			    c->call, result);
}

static void progress(struct fixture *f, const struct fake_caller *c, const char *value)
{
	fake_transport_sayf(&f->w,
			    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			    "{\"progressToken\":%" PRIu64 ",\"progress\":%s}}",
			    c->call, value);
}

/* --- calls and their answers ---------------------------------------------------------------- */

TEST(a_call_and_its_answer)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(a.call, 1);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		  "{\"name\":\"echo\",\"_meta\":{\"progressToken\":1}}}");
	fake_transport_flush(&f.w);
	CHECK_EQ(a.answers, 0);
	answer(&f, &a, "{ \"n\":1 }");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(a.text, "{ \"n\":1 }");
	CHECK(is_quiet(&f));
}

TEST(an_error_is_an_answer_too)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	fake_transport_say(&f.w, "{\"error\":{\"code\":-1},\"jsonrpc\":\"2.0\",\"id\":1}");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(a.text, "{\"code\":-1}");
}

TEST(two_calls_answered_in_the_other_order)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
	CHECK(a.call != b.call);
	fake_transport_flush(&f.w);
	answer(&f, &b, "\"for b\"");
	CHECK(b.answers == 1 && a.answers == 0);
	answer(&f, &a, "\"for a\"");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED) && ended(&b, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(a.text, "\"for a\"");
	CHECK_TEXT(b.text, "\"for b\"");
	CHECK_EQ(f.w.peer.counts.strays, 0);
}

/* V21: ids are never used again. */
TEST(answers_that_belong_to_no_call_are_dropped_and_counted)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}"); /* another type */
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":-1,\"result\":{}}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551617,\"result\":{}}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}");
	CHECK_EQ(f.w.peer.counts.strays, 6);
	CHECK_EQ(a.answers, 0);
	answer(&f, &a, "1");
	answer(&f, &a, "2"); /* a second time */
	CHECK_EQ(f.w.peer.counts.strays, 7);
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(a.text, "1");
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
	CHECK(b.call > a.call);
	fake_transport_flush(&f.w);
	answer(&f, &a, "3"); /* late, and not for b */
	CHECK_EQ(f.w.peer.counts.strays, 8);
	CHECK_EQ(b.answers, 0);
}

TEST(nobody_answers_what_was_not_yet_written)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
	answer(&f, &a, "{}");
	progress(&f, &a, "1");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}");
	CHECK_EQ(f.w.peer.counts.strays, 3);
	CHECK_EQ(f.w.peer.counts.garbled, 1);
	CHECK_EQ(a.answers, 0);
	mp_peer_written(&f.w.peer, 0); /* not even its first byte */
	answer(&f, &a, "{}");
	CHECK_EQ(a.answers, 0);
	mp_peer_written(&f.w.peer, 1); /* that of a, not that of b */
	answer(&f, &b, "{}");
	answer(&f, &a, "{}");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
	CHECK_EQ(b.answers, 0);
}

TEST(a_call_without_a_wish_for_progress_has_no_token)
{
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_LIST};
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_start(&f.w, &a, &rq), 0);
	a.call = 1;
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	fake_transport_flush(&f.w);
	progress(&f, &a, "1");
	CHECK_EQ(f.w.peer.counts.strays, 1);
	CHECK_EQ(a.progressed, 0);
}

TEST(what_cannot_be_sent_is_refused_at_once)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	f.w.refusal = MCPOOL_ELIMIT;
	CHECK_EQ(fake_call(&f.w, &a, 1000, 0), MCPOOL_ELIMIT);
	CHECK(is_quiet(&f));
	mp_loop_advance(f.w.loop, 5000);
	CHECK_EQ(a.answers, 0); /* a refusal is the answer */
	CHECK_EQ(mp_peer_notify(&f.w.peer, MP_METHOD_INITIALIZED, MP_STR("")), MCPOOL_ELIMIT);
	f.w.refusal = 0;
	CHECK_EQ(mp_peer_notify(&f.w.peer, MP_METHOD_INITIALIZED, MP_STR("")), 0);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

HEAVY_TEST(a_message_over_the_ceiling_is_too_large)
{
	char *params = mp_try_alloc(MP_LIMIT_MESSAGE + 16);
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL};
	MP_CLEANUP(mp_freep) char *owned = params;
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK(owned);
	memset(params, ' ', MP_LIMIT_MESSAGE);
	memcpy(params, "{\"a\":1", 6);
	memcpy(params + MP_LIMIT_MESSAGE - 5, ",\"b\"",
	       4); /* blanks at the end would be left off */
	memcpy(params + MP_LIMIT_MESSAGE - 1, ":2}", 3);
	rq.params = (struct mp_str){params, MP_LIMIT_MESSAGE + 2};
	CHECK_EQ(fake_start(&f.w, &a, &rq), MCPOOL_ETOO_LARGE);
	CHECK(is_quiet(&f));
	rq.params = MP_STR("{}");
	CHECK_EQ(fake_start(&f.w, &a, &rq), 0);
}

HEAVY_TEST(a_large_message_is_sent_whole)
{
	MP_CLEANUP(mp_freep) char *params = mp_try_alloc(MP_MIB(2));
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL};
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK(params);
	memset(params, 'x', MP_MIB(2));
	memcpy(params, "{\"a\":\"", 6);
	memcpy(params + MP_MIB(2) - 2, "\"}", 2);
	rq.params = (struct mp_str){params, MP_MIB(2)};
	CHECK_EQ(fake_start(&f.w, &a, &rq), 0);
	CHECK(fake_transport_next(&f.w).len > MP_MIB(2));
}

/* --- time ----------------------------------------------------------------------------------- */

TEST(a_timeout_tells_the_peer_which_call)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_call(&f.w, &b, 1500, 0), 0);
	fake_transport_flush(&f.w);
	CHECK(fake_transport_next(&f.w).len && fake_transport_next(&f.w).len);
	mp_loop_advance(f.w.loop, 1499);
	CHECK_EQ(b.answers, 0);
	mp_loop_advance(f.w.loop, 1);
	CHECK(ended(&b, MP_OUTCOME_TIMEOUT));
	CHECK_EQ(b.code, MCPOOL_ECALL_TIMEOUT);
	CHECK_TEXT(b.text, "no answer within 1.5 s");
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		  "{\"requestId\":2,\"reason\":\"timeout\"}}");
	answer(&f, &b, "{}"); /* too late */
	CHECK_EQ(f.w.peer.counts.strays, 1);
	CHECK_EQ(b.answers, 1);
	CHECK_EQ(a.answers, 0);
}

TEST(initialize_is_never_cancelled)
{
	struct mp_call_options rq = {.method = MP_METHOD_INITIALIZE, .timeout_ms = 1000};
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_start(&f.w, &a, &rq), 0);
	CHECK_EQ(fake_start(&f.w, &b, &rq), 0);
	CHECK(fake_transport_next(&f.w).len && fake_transport_next(&f.w).len);
	mp_peer_cancel(&b.part);
	mp_loop_advance(f.w.loop, 1000);
	CHECK(ended(&a, MP_OUTCOME_TIMEOUT) && ended(&b, MP_OUTCOME_CANCELLED));
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
}

TEST(progress_extends_up_to_the_total_and_not_beyond)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 1000, 2500), 0);
	fake_transport_flush(&f.w);
	mp_loop_advance(f.w.loop, 900);
	progress(&f, &a, "1");
	mp_loop_advance(f.w.loop, 900);
	progress(&f, &a, "2");
	mp_loop_advance(f.w.loop, 699);
	progress(&f, &a, "3");
	CHECK_EQ(a.answers, 0);
	mp_loop_advance(f.w.loop, 1);
	CHECK(ended(&a, MP_OUTCOME_TIMEOUT));
	CHECK_EQ(a.progressed, 3);
}

TEST(without_a_total_progress_extends_nothing)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 1000, 0), 0);
	fake_transport_flush(&f.w);
	mp_loop_advance(f.w.loop, 900);
	progress(&f, &a, "1");
	mp_loop_advance(f.w.loop, 100);
	CHECK(ended(&a, MP_OUTCOME_TIMEOUT));
}

TEST(a_peer_that_takes_no_cancellation_does_not_keep_the_call)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 1000, 0), 0);
	f.w.refusal = MCPOOL_ELIMIT;
	mp_loop_advance(f.w.loop, 1000);
	CHECK(ended(&a, MP_OUTCOME_TIMEOUT));
	CHECK_EQ(f.w.peer.counts.undelivered, 1);
	CHECK(is_quiet(&f));
}

/* --- cancelling ----------------------------------------------------------------------------- */

TEST(a_cancelled_call_hears_of_it_once_and_later)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 1000, 0), 0);
	fake_transport_flush(&f.w);
	CHECK(fake_transport_next(&f.w).len);
	mp_peer_cancel(&a.part);
	CHECK_EQ(a.answers, 0); /* cancelling does not call back from within */
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		  "{\"requestId\":1,\"reason\":\"cancelled\"}}");
	mp_peer_cancel(&a.part);
	answer(&f, &a, "{}");
	progress(&f, &a, "1");
	CHECK_EQ(f.w.peer.counts.strays, 2);
	mp_loop_advance(f.w.loop, 5000);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
	CHECK_EQ(a.code, MCPOOL_ECANCELED);
	CHECK_TEXT(a.text, "tools/call was cancelled");
	CHECK_EQ(a.progressed, 0);
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	mp_peer_cancel(&a.part);
	CHECK(is_quiet(&f));
}

TEST(a_queued_call_can_be_cancelled)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	mp_peer_cancel(&a.part);
	fake_transport_flush(&f.w); /* it goes out all the same */
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
}

TEST(a_cancelled_call_may_be_forgotten_before_it_heard)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	mp_peer_cancel(&a.part);
	mp_peer_done(&f.w.peer);
	f.w.has_peer = false;
	mp_loop_advance(f.w.loop, 10);
	CHECK_EQ(a.answers, 0);
}

/* --- progress ------------------------------------------------------------------------------- */

/* V23: a caller gets progress of its own call only, and only increasing values. */
TEST(progress_reaches_its_own_call_and_only_grows)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
	fake_transport_flush(&f.w);
	progress(&f, &b, "-1");
	CHECK(a.progressed == 0 && b.progressed == 1);
	CHECK_TEXT(b.progress, "{\"progressToken\":2,\"progress\":-1}");
	progress(&f, &b, "0.25");
	CHECK_EQ(b.progressed, 2);
	progress(&f, &b, "0.25");
	progress(&f, &b, "0.2");
	progress(&f, &b, "\"1\"");
	progress(&f, &b, "null");
	CHECK_EQ(b.progressed, 2);
	CHECK_EQ(f.w.peer.counts.strays, 4);
	progress(&f, &b, "1e999"); /* infinite; nothing is more */
	progress(&f, &b, "1e999");
	CHECK_EQ(b.progressed, 3);
	progress(&f, &a, "0.1");
	CHECK_EQ(a.progressed, 1);
}

TEST(progress_with_tokens_of_nobody_is_dropped)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			   "{\"progress\":1}}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			   "{\"progressToken\":\"1\",\"progress\":1}}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			   "{\"progressToken\":77,\"progress\":1}}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
			   "{\"progressToken\":1}}");
	CHECK_EQ(f.w.peer.counts.strays, 5);
	answer(&f, &a, "{}");
	progress(&f, &a, "1"); /* the call is over */
	CHECK_EQ(f.w.peer.counts.strays, 6);
	CHECK_EQ(a.progressed, 0);
	CHECK_TEXT(read_journal(&f), ""); /* and no other hook was called */
}

TEST(other_notifications_are_passed_on)
{
	WITH_PEER(f);

	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
	fake_transport_say(
		&f.w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"method\":\"vendor/unheard\"}");
	CHECK_TEXT(read_journal(&f), "[notifications/tools/list_changed][notifications/message][]");
}

TEST(a_peer_without_hooks_hears_nothing)
{
	WITH_HOOKS(f, &mute_hooks);

	fake_transport_say(
		&f.w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
		  "\"message\":\"the server asked for the folders of the client, "
		  "and `mcpool call` names none; call the tool from an agent "
		  "that does\"}}");
	CHECK_EQ(f.w.peer.counts.refused, 1);
}

/* --- their requests ------------------------------------------------------------------------- */

TEST(ping_is_answered_by_itself)
{
	WITH_PEER(f);

	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
	CHECK_STR(fake_transport_next(&f.w), "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}");
	CHECK_TEXT(read_journal(&f), "");
	CHECK(is_quiet(&f));
}

TEST(a_request_is_answered_now_or_later_with_its_id_as_written)
{
	WITH_PEER(f);

	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"method\":\"roots/list\"}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"elicitation/create\"}");
	CHECK_TEXT(read_journal(&f), "[\"a\\u0062\" roots/list][0 elicitation/create]");
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	mp_peer_reply(&f.w.peer, f.asked[1], MP_STR("{\"action\":\"accept\"}"));
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"action\":\"accept\"}}");
	mp_peer_refuse(&f.w.peer, f.asked[0], -32601, MP_STR("no"));
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":\"a\\u0062\",\"error\":{\"code\":-32601,"
		  "\"message\":\"no\"}}");
	mp_peer_reply(&f.w.peer, f.asked[0], MP_STR("{}")); /* a second answer is none */
	mp_peer_refuse(&f.w.peer, f.asked[1], -1, MP_STR("no"));
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	CHECK(is_quiet(&f));
}

/* V22: some clients send every request with the same id. */
TEST(a_second_request_with_an_id_in_flight_is_refused_and_the_first_untouched)
{
	WITH_PEER(f);

	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}");
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,"
		  "\"message\":\"a request with this id is still open\"}}");
	CHECK_TEXT(read_journal(&f), "[1 roots/list]");
	CHECK_EQ(f.w.peer.counts.refused, 1);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"roots/list\"}");
	CHECK_TEXT(read_journal(&f), "[\"1\" roots/list]"); /* a string is another id */
	mp_peer_reply(&f.w.peer, f.asked[0], MP_STR("\"first\""));
	CHECK_STR(fake_transport_next(&f.w), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"first\"}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\"}");
	CHECK_TEXT(read_journal(&f), "[1 elicitation/create]"); /* the id is free again */
}

static void reply_at_once(struct fixture *f, mp_id call)
{
	mp_peer_reply(&f->w.peer, call, MP_STR("{}"));
}

TEST(an_id_may_come_again_and_again_once_it_is_answered)
{
	WITH_PEER(f);

	f.on_request = reply_at_once;
	for (int i = 0; i < 50; i++) {
		fake_transport_say(&f.w,
				   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
		CHECK_STR(fake_transport_next(&f.w),
			  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
		f.journal[0] = '\0';
	}
	CHECK_EQ(f.w.peer.counts.refused, 0);
	CHECK(is_quiet(&f));
}

static void reply_though_withdrawn(struct fixture *f, mp_id call)
{
	mp_peer_reply(&f->w.peer, call, MP_STR("{}"));
	mp_peer_refuse(&f->w.peer, call, -1, MP_STR("no"));
}

TEST(what_they_cancel_is_withdrawn_and_never_answered)
{
	WITH_PEER(f);

	f.on_withdrawn = reply_though_withdrawn;
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}");
	CHECK_TEXT(read_journal(&f), "[\"q\" roots/list]");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":\"q\",\"reason\":\"enough\"}}");
	CHECK_TEXT(read_journal(&f), "[withdrawn 1]");
	mp_peer_reply(&f.w.peer, f.asked[0], MP_STR("{}"));
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	CHECK(is_quiet(&f));
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":\"q\"}}");
	CHECK_EQ(f.w.peer.counts.strays, 1);
	CHECK_TEXT(read_journal(&f), "");
}

TEST(they_cannot_cancel_what_is_ours)
{
	struct mp_call_options listen = {.method = MP_METHOD_LISTEN};
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_start(&f.w, &b, &listen), 0);
	fake_transport_flush(&f.w);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":{}}}");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":1}}");
	CHECK_EQ(f.w.peer.counts.strays, 3);
	CHECK_EQ(a.answers, 0);
	/* But for a stream we listen to, which ends so. */
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":2}}");
	CHECK(ended(&b, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(b.text, "");
}

HEAVY_TEST(they_may_have_so_many_requests_open_and_no_more)
{
	enum { MOST = 1024 };
	WITH_PEER(f);

	for (int i = 0; i < MOST; i++) {
		fake_transport_sayf(&f.w,
				    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}", i);
		f.journal[0] = '\0';
	}
	CHECK_EQ(f.w.peer.counts.refused, 0);
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	fake_transport_sayf(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}",
			    MOST);
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1024,\"error\":{\"code\":-32603,"
		  "\"message\":\"too many requests are open\"}}");
	CHECK_EQ(f.w.peer.counts.refused, 1);
	CHECK_TEXT(read_journal(&f), "");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
	CHECK_STR(fake_transport_next(&f.w), "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}");
	mp_peer_reply(&f.w.peer, f.asked[0], MP_STR("{}"));
	CHECK(fake_transport_next(&f.w).len);
	fake_transport_sayf(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"roots/list\"}",
			    MOST);
	CHECK_TEXT(read_journal(&f), "[1024 roots/list]");
	fake_transport_lose(&f.w);
	CHECK(is_quiet(&f));
}

TEST(in_the_modern_era_they_have_no_requests)
{
	WITH_PEER(f);

	f.w.peer.is_modern = true;
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}");
	fake_transport_say(
		&f.w, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"roots/list\",\"params\":[]}");
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	CHECK_TEXT(read_journal(&f), "");
	CHECK_EQ(f.w.peer.counts.refused, 2);
	CHECK_EQ(f.w.peer.counts.garbled, 1);
}

TEST(answers_they_do_not_take_are_counted)
{
	WITH_PEER(f);

	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}");
	f.w.refusal = MCPOOL_ELIMIT;
	mp_peer_reply(&f.w.peer, f.asked[0], MP_STR("{}"));
	mp_peer_refuse(&f.w.peer, f.asked[1], -1, MP_STR("no"));
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}");
	CHECK_EQ(f.w.peer.counts.undelivered, 3);
	CHECK(is_quiet(&f));
}

/* --- batches -------------------------------------------------------------------------------- */

TEST(a_batch_is_its_messages)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
	fake_transport_flush(&f.w);
	CHECK(fake_transport_next(&f.w).len && fake_transport_next(&f.w).len);
	fake_transport_say(&f.w, " [ {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":\"b\"} , "
				 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"},"
				 "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"},"
				 "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}, 17, "
				 "[{\"jsonrpc\":\"2.0\",\"id\":10,\"method\":\"ping\"}],"
				 "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}} ] ");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED) && ended(&b, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(b.text, "\"b\"");
	CHECK_TEXT(read_journal(&f), "[notifications/message]");
	CHECK_STR(fake_transport_next(&f.w), "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}");
	CHECK_EQ(fake_transport_next(&f.w).len, 0); /* batches do not nest */
	CHECK_EQ(f.w.peer.counts.garbled, 1);
	CHECK_EQ(f.w.peer.counts.noise, 1);
	CHECK_EQ(f.w.peer.counts.strays, 1);
	fake_transport_say(&f.w, "[]");
	CHECK_EQ(f.w.peer.counts.garbled, 1);
}

static void lose_the_peer(struct fake_caller *c)
{
	fake_transport_lose(c->u);
}

TEST(the_conversation_may_end_in_the_middle_of_a_batch)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	a.then = lose_the_peer;
	a.u = &f.w;
	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
	fake_transport_flush(&f.w);
	fake_transport_say(&f.w, "[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1},"
				 "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":2}]");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED) && ended(&b, MP_OUTCOME_UNKNOWN));
	CHECK(is_quiet(&f));
}

/* --- what cannot be read -------------------------------------------------------------------- */

/* P29 is about these: they are skipped and counted. */
TEST(what_a_server_prints_is_noise)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	CHECK(fake_transport_next(&f.w).len);
	fake_transport_say(&f.w, "Listening on port 3000");
	fake_transport_say(&f.w, "");
	mp_peer_receive(&f.w.peer, (struct mp_str){NULL, 0});
	fake_transport_say(&f.w, "{\"level\":\"info\",\"msg\":\"started\"}");
	fake_transport_say(&f.w, "{\"level\":\"info\",\"result\":\"ok\",\"id\":1}");
	fake_transport_say(&f.w, "{\"method\":\"GET\",\"id\":1,\"path\":\"/\"}");
	fake_transport_say(&f.w, "{\"log\":{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}}");
	fake_transport_say(&f.w, "{not json}");
	fake_transport_say(&f.w, "42");
	fake_transport_say(&f.w, "\xff\xfe");
	mp_peer_receive_oversize(&f.w.peer, MP_STR("xxxxxxx"), MP_STR("yyyy"));
	CHECK_EQ(f.w.peer.counts.noise, 11);
	CHECK_TEXT(f.w.peer.counts.noise_sample, "Listening on port 3000");
	CHECK_EQ(f.w.peer.counts.garbled, 0);
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	CHECK_EQ(a.answers, 0);
}

/* V45, V49: the one who waits for it is told. */
TEST(an_answer_that_cannot_be_read_ends_the_right_call)
{
	static const struct {
		const char *text;
		int ends; /* the first, the second, or none */
	} rows[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"x\":\"\xff\"}}", 2},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"x\":\"\xff\"}}", 1},
		{"{\"result\":{\"id\":1,\"x\":\"\xff\"},\"jsonrpc\":\"2.0\",\"id\":2}", 2},
		{"{\"result\":{\"id\":1,\"jsonrpc\":\"2.0\",\"id\":2}",
		 2}, /* a bracket is missing */
		{"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{},\"error\":{}}", 2},
		{"{\"jsonrpc\":\"2.0\",\"id\":2,\"id\":2,\"result\":{}}", 2},
		{"{\"jsonrpc\":\"2.0\",\"id\":2.0,\"result\":{}}", 2},
		{"{\"jsonrpc\":\"2.0\",\"id\":2}", 2},
		{"{\"jsonrpc\":\"1.0\",\"id\":2,\"result\":{}}", 2},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"2\",\"result\":\"\xff\"}", 0},
		{"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"\xff\"}", 0},
		{"{\"jsonrpc\":\"2.0\",\"result\":\"\xff\"}", 0}, /* whose? there are two */
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct fake_caller c[2] = {0};
		WITH_PEER(f);

		CHECK_EQ(fake_call(&f.w, &c[0], 0, 0), 0);
		CHECK_EQ(fake_call(&f.w, &c[1], 0, 0), 0);
		fake_transport_flush(&f.w);
		fake_transport_say(&f.w, rows[i].text);
		for (int k = 0; k < 2; k++)
			CHECK(test_equal(c[k].answers, rows[i].ends == k + 1, rows[i].text,
					 __FILE__, k));
		CHECK_EQ(f.w.peer.counts.garbled, 1);
		if (rows[i].ends) {
			CHECK(ended(&c[rows[i].ends - 1], MP_OUTCOME_REFUSED));
			CHECK_EQ(c[rows[i].ends - 1].code, MCPOOL_EPROTO);
			CHECK(strstr(c[rows[i].ends - 1].text, "the answer cannot be read: "));
		}
	}
}

TEST(an_answer_without_an_id_can_only_be_that_of_the_one_call_in_flight)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0); /* still with us, so it is not that one's */
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"result\":\"\xff");
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK_EQ(b.answers, 0);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"result\":\"\xff");
	CHECK_EQ(b.answers, 0);
	CHECK_EQ(f.w.peer.counts.garbled, 2);
}

TEST(an_answer_for_somebody_else_does_not_end_the_one_call_in_flight)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\xff\"}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":\"\xff\"}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":\"\xff\"}");
	CHECK_EQ(f.w.peer.counts.garbled, 3);
	CHECK_EQ(a.answers, 0);
}

TEST(an_answer_too_large_ends_its_call)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
	fake_transport_flush(&f.w);
	mp_peer_receive_oversize(&f.w.peer, MP_STR("{\"result\":{\"content\":[{\"text\":\"xx"),
				 MP_STR("xx\"}]},\"jsonrpc\":\"2.0\",\"id\":2}"));
	CHECK(ended(&b, MP_OUTCOME_REFUSED));
	CHECK_EQ(b.code, MCPOOL_ETOO_LARGE);
	CHECK(strstr(b.text, "larger than 32 MiB"));
	CHECK_EQ(a.answers, 0);
	mp_peer_receive_oversize(&f.w.peer, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\""),
				 MP_STR("zzz"));
	CHECK(ended(&a, MP_OUTCOME_REFUSED));
	CHECK_EQ(f.w.peer.counts.garbled, 2);
}

/* Their ids and ours are separate, and a notification is not an answer. */
TEST(a_garbled_request_or_notification_ends_no_call)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	CHECK(fake_transport_next(&f.w).len);
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
			   "{\"data\":\"\xff\"}}");
	fake_transport_say(
		&f.w, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":[]}");
	fake_transport_say(&f.w,
			   "{\"method\":\"notifications/message\",\"params\":{\"a\":1,\"a\":2},"
			   "\"jsonrpc\":\"2.0\"}");
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	fake_transport_say(
		&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\",\"params\":[]}");
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,"
		  "\"message\":\"params is not an object\"}}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}");
	CHECK_EQ(fake_transport_next(&f.w).len, 0); /* an id from invalid JSON is not echoed */
	mp_peer_receive_oversize(&f.w.peer,
				 MP_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\","),
				 MP_STR("}}"));
	CHECK_STR(fake_transport_next(&f.w),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1010,"
		  "\"message\":\"the message is larger than 32 MiB\"}}");
	mp_peer_receive_oversize(
		&f.w.peer,
		MP_STR("{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"roots/list\","),
		MP_STR("}}"));
	CHECK_EQ(fake_transport_next(&f.w).len, 0);
	CHECK_EQ(f.w.peer.counts.garbled, 7);
	CHECK_TEXT(read_journal(&f), "");
	CHECK_EQ(a.answers, 0);
	answer(&f, &a, "{}");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED));
}

/* --- the end -------------------------------------------------------------------------------- */

TEST(how_calls_end_when_the_peer_is_lost)
{
	struct fake_caller queued = {0}, written = {0}, after = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &written, 1000, 0), 0);
	fake_transport_flush(&f.w);
	CHECK_EQ(fake_call(&f.w, &queued, 1000, 0), 0);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	CHECK_TEXT(read_journal(&f), "[1 roots/list]");
	fake_transport_lose(&f.w);
	CHECK(ended(&written, MP_OUTCOME_UNKNOWN) && ended(&queued, MP_OUTCOME_NOT_SENT));
	CHECK_EQ(written.code, MCPOOL_EOUTCOME_UNKNOWN);
	CHECK_EQ(queued.code, MCPOOL_ECLOSED);
	CHECK_TEXT(written.text, "the server is gone");
	CHECK_TEXT(queued.text, "the server is gone");
	CHECK_TEXT(read_journal(&f), "[withdrawn 1]");
	CHECK(is_quiet(&f));
	fake_transport_lose(&f.w);
	CHECK_EQ(fake_call(&f.w, &after, 1000, 0), MCPOOL_ECLOSED);
	CHECK_EQ(mp_peer_notify(&f.w.peer, MP_METHOD_INITIALIZED, MP_STR("")), MCPOOL_ECLOSED);
	answer(&f, &written, "{}");
	mp_peer_receive_oversize(&f.w.peer, MP_STR("{\"jsonrpc\""), MP_STR("}"));
	mp_peer_reply(&f.w.peer, f.asked[0], MP_STR("{}"));
	mp_loop_advance(f.w.loop, 5000);
	CHECK(written.answers == 1 && queued.answers == 1 && after.answers == 0);
	CHECK_EQ(f.w.peer.counts.strays, 0);
}

TEST(a_cancelled_call_that_has_not_heard_yet_hears_of_it_when_the_peer_is_lost)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	mp_peer_cancel(&a.part);
	fake_transport_lose(&f.w);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
	mp_loop_advance(f.w.loop, 10);
	CHECK_EQ(a.answers, 1);
	CHECK(is_quiet(&f));
}

TEST(open_calls_are_forgotten_without_a_word)
{
	struct fake_caller a = {0}, b = {0};
	WITH_PEER(f);

	CHECK_EQ(fake_call(&f.w, &a, 1000, 0), 0);
	fake_transport_flush(&f.w);
	CHECK_EQ(fake_call(&f.w, &b, 1000, 0), 0);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	mp_peer_done(&f.w.peer);
	f.w.has_peer = false;
	mp_loop_advance(f.w.loop, 5000);
	CHECK(a.answers == 0 && b.answers == 0);
}

/* --- callbacks that do things --------------------------------------------------------------- */

TEST(an_answer_may_lose_the_peer)
{
	static const enum mp_outcome outcomes[] = {MP_OUTCOME_ANSWERED, MP_OUTCOME_TIMEOUT,
						   MP_OUTCOME_CANCELLED, MP_OUTCOME_REFUSED};

	for (size_t i = 0; i < MP_ARRAY_LEN(outcomes); i++) {
		struct fake_caller a = {0}, b = {0};
		WITH_PEER(f);

		a.then = lose_the_peer;
		a.u = &f.w;
		CHECK_EQ(fake_call(&f.w, &a, 1000, 0), 0);
		CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
		fake_transport_flush(&f.w);
		if (outcomes[i] == MP_OUTCOME_ANSWERED)
			answer(&f, &a, "{}");
		else if (outcomes[i] == MP_OUTCOME_REFUSED)
			answer(&f, &a, "\xff");
		else if (outcomes[i] == MP_OUTCOME_CANCELLED)
			mp_peer_cancel(&a.part);
		mp_loop_advance(f.w.loop, 1000);
		CHECK(ended(&a, outcomes[i]) && ended(&b, MP_OUTCOME_UNKNOWN));
		CHECK(is_quiet(&f));
	}
}

static void lose_when_withdrawn(struct fixture *f, mp_id call)
{
	(void)call;
	fake_transport_lose(&f->w);
}

TEST(a_withdrawal_may_lose_the_peer)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	f.on_withdrawn = lose_when_withdrawn;
	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}");
	CHECK_TEXT(read_journal(&f), "[1 roots/list][2 roots/list]");
	fake_transport_say(&f.w,
			   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
			   "{\"requestId\":1}}");
	CHECK_TEXT(read_journal(&f), "[withdrawn 1][withdrawn 2]");
	CHECK(ended(&a, MP_OUTCOME_NOT_SENT));
	CHECK(is_quiet(&f));
}

static void lose_when_asked(struct fixture *f, mp_id call)
{
	(void)call;
	fake_transport_lose(&f->w);
}

TEST(a_request_may_lose_the_peer)
{
	WITH_PEER(f);

	f.on_request = lose_when_asked;
	fake_transport_say(&f.w, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	CHECK_TEXT(read_journal(&f), "[1 roots/list][withdrawn 1]");
	CHECK(is_quiet(&f));
}

TEST(progress_may_lose_the_peer)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	a.on_progress = lose_the_peer;
	a.u = &f.w;
	CHECK_EQ(fake_call(&f.w, &a, 1000, 5000), 0);
	fake_transport_flush(&f.w);
	progress(&f, &a, "1");
	CHECK(ended(&a, MP_OUTCOME_UNKNOWN));
	CHECK(is_quiet(&f));
}

struct chain {
	struct fixture *f;
	struct fake_caller *other;
	int r;
};

static void start_another(struct fake_caller *c)
{
	struct chain *chain = c->u;

	chain->r = fake_call(&chain->f->w, chain->other, 0, 0);
}

TEST(an_answer_may_start_the_next_call)
{
	struct fake_caller a = {0}, b = {0};
	struct chain chain = {.other = &b};
	WITH_PEER(f);

	chain.f = &f;
	a.then = start_another;
	a.u = &chain;
	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_flush(&f.w);
	answer(&f, &a, "1");
	CHECK_EQ(chain.r, 0);
	fake_transport_flush(&f.w);
	answer(&f, &b, "2");
	CHECK(ended(&a, MP_OUTCOME_ANSWERED) && ended(&b, MP_OUTCOME_ANSWERED));
	CHECK_TEXT(b.text, "2");
}

TEST(nothing_starts_when_the_peer_is_being_lost)
{
	struct fake_caller a = {0}, b = {0};
	struct chain chain = {.other = &b};
	WITH_PEER(f);

	chain.f = &f;
	a.then = start_another;
	a.u = &chain;
	CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
	fake_transport_lose(&f.w);
	CHECK_EQ(chain.r, MCPOOL_ECLOSED);
	CHECK_EQ(b.answers, 0);
	CHECK(is_quiet(&f));
}

static void cancel_another(struct fake_caller *c)
{
	struct chain *chain = c->u;

	mp_peer_cancel(&chain->other->part);
	mp_peer_cancel(&c->part); /* and itself, which is too late */
}

TEST(an_answer_may_cancel_another_call)
{
	for (int lost = 0; lost < 2; lost++) {
		struct fake_caller a = {0}, b = {0};
		struct chain chain = {.other = &b};
		WITH_PEER(f);

		chain.f = &f;
		a.then = cancel_another;
		a.u = &chain;
		CHECK_EQ(fake_call(&f.w, &a, 0, 0), 0);
		CHECK_EQ(fake_call(&f.w, &b, 0, 0), 0);
		fake_transport_flush(&f.w);
		if (lost)
			fake_transport_lose(&f.w);
		else
			answer(&f, &a, "1");
		mp_loop_advance(f.w.loop, 0);
		CHECK(ended(&a, lost ? MP_OUTCOME_UNKNOWN : MP_OUTCOME_ANSWERED));
		CHECK(ended(&b, MP_OUTCOME_CANCELLED));
		CHECK(is_quiet(&f));
	}
}

static void cancel_itself(struct fake_caller *c)
{
	mp_peer_cancel(&c->part);
}

TEST(progress_may_cancel_its_own_call)
{
	struct fake_caller a = {0};
	WITH_PEER(f);

	a.on_progress = cancel_itself;
	a.u = &f.w.peer;
	CHECK_EQ(fake_call(&f.w, &a, 1000, 5000), 0);
	fake_transport_flush(&f.w);
	progress(&f, &a, "1");
	progress(&f, &a, "2");
	CHECK_EQ(a.answers, 0);
	mp_loop_advance(f.w.loop, 0);
	CHECK(ended(&a, MP_OUTCOME_CANCELLED));
	CHECK_EQ(a.progressed, 1);
}
