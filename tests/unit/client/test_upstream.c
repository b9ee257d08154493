/* test_upstream.c - one conversation: dial, handshake, ready, drain, and what each state makes of
 * each event. */
#include "test.h"

#include <stdio.h>

#include "fake_server.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/secrets.h"
#include "client/upstream.h"

/* --- opening and closing --------------------------------------------------------------------- */

TEST(a_dial_that_fails_ends_it)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	f.refuse_dial = true;
	CHECK(fake_open(&f));
	CHECK_TEXT(f.news, "ended ");
	CHECK_TEXT(f.why.message, "start: nobody is there");
	CHECK_EQ(f.why.code, MCPOOL_ENOENT);
	mp_upstream_close(f.up);
	fake_settle(&f);
	CHECK_TEXT(f.news, "ended closed ");
	mp_upstream_close(f.up); /* in its last state, nothing happens */
	fake_settle(&f);
	CHECK_TEXT(f.news, "ended closed ");
}

TEST(it_is_opened_once)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	CHECK_EQ(mp_upstream_open(f.up, NULL), MCPOOL_EINVAL);
}

TEST(close_is_possible_in_every_state)
{
	enum { IDLE, DIALING, HANDSHAKE, HANGING_UP, READY, OVER, CLOSING, STATES };

	for (int state = IDLE; state < STATES; state++) {
		MP_CLEANUP(fake_done) struct fake f;

		CHECK(fake_init(&f));
		if (state == IDLE || state == DIALING) {
			static const struct mp_upstream_hooks none = {0};

			f.up = mp_upstream_new(f.loop, &f.options, &none, &f);
			if (state == DIALING)
				CHECK_EQ(mp_upstream_open(f.up, NULL), 0);
			mp_upstream_close(f.up);
			fake_settle(&f);
			continue;
		}
		if (state == READY || state == OVER || state == CLOSING)
			CHECK(fake_open_legacy(&f));
		else
			CHECK(fake_open(&f));
		if (state == HANGING_UP)
			mp_memory_break(f.end); /* ended is told in the next turn, with the close */
		if (state == OVER)
			fake_die(&f);
		if (state == CLOSING)
			mp_upstream_close(f.up);
		mp_upstream_close(f.up);
		fake_settle(&f);
		CHECK(strstr(f.news, "closed "));
		CHECK(!strstr(strstr(f.news, "closed ") + 1, "closed "));
		CHECK_EQ(heap_call(f.up, &(struct mp_call_options){.method = MP_METHOD_PING},
				   fake_note, &f, NULL),
			 MCPOOL_ECLOSED);
	}
}

TEST(free_is_possible_in_every_state)
{
	for (int state = 0; state < 5; state++) {
		MP_CLEANUP(fake_done) struct fake f;

		CHECK(fake_init(&f));
		CHECK(state < 3 ? fake_open(&f) : fake_open_legacy(&f));
		if (state == 1)
			fake_advance(&f, 1500);
		if (state == 2)
			fake_die(&f);
		if (state == 4)
			CHECK(fake_call(&f, MP_METHOD_PING, "", 1000, NULL));
	}
}

TEST(the_deadline_of_the_start_counts_in_every_state)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	fake_advance(&f, 30000);
	CHECK_TEXT(f.news, "ended ");
	CHECK_EQ(f.why.code, MCPOOL_ETIMEDOUT);
	mp_upstream_close(f.up);
	fake_settle(&f);
	CHECK_TEXT(f.news, "ended closed ");

	CHECK(fake_open_legacy(&f));
	f.news[0] = '\0';
	fake_advance(&f, 100000); /* once ready there is none */
	CHECK_TEXT(f.news, "");
}

TEST(noise_is_named_when_nothing_else_came) /* E73 */
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open(&f));
	CHECK(fake_say(&f, "Starting up, please wait"));
	fake_advance(&f, 30000);
	CHECK_TEXT(f.why.message,
		   "handshake: no answer within 30 s; it writes to stdout what is not MCP, "
		   "such as 'Starting up, please wait'");
	CHECK_EQ(f.up->peer.counts.noise, 1);
}

/* E61 */
TEST(calls_before_ready_are_refused)
{
	MP_CLEANUP(fake_done) struct fake f;
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL};

	CHECK(fake_init(&f));
	CHECK(fake_open(&f)); /* dialled: server/discover or initialize is out */
	CHECK(!mp_upstream_is_ready(f.up));
	CHECK_EQ(heap_call(f.up, &rq, fake_note, &f, NULL), MCPOOL_EAGAIN);
	fake_settle(&f);
	CHECK(f.n > 0);
	CHECK_EQ(fake_find(&f, "tools/call"), -1);
}

/* --- calls ----------------------------------------------------------------------------------- */

TEST(a_legacy_call_has_no_meta)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open_legacy(&f));
	CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{\"name\":\"echo\"}", 1000, NULL));
	CHECK(strstr(f.got[f.n - 1].text, "\"params\":{\"name\":\"echo\"}}"));
	CHECK(fake_answer(&f, f.n - 1, "{\"content\":[]}"));
	CHECK_EQ(f.answers, 1);
	CHECK_EQ(f.outcome, MP_OUTCOME_ANSWERED);
	CHECK_TEXT(f.result, "{\"content\":[]}");
}

TEST(a_modern_call_says_who_asks)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open_modern(&f));
	CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{\"name\":\"echo\"}", 1000, NULL));
	CHECK(strstr(f.got[f.n - 1].text, "\"params\":{\"name\":\"echo\",\"_meta\":{\"io."
					  "modelcontextprotocol/protocolVersion\""));
	CHECK(fake_answer(&f, f.n - 1, "{\"resultType\":\"complete\"}"));
	CHECK_EQ(f.outcome, MP_OUTCOME_ANSWERED);
}

/* R03, G1: waiting calls end at once; written means unknown. */
TEST(a_dead_server_answers_nobody)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open_legacy(&f));
	CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{}", 1000, NULL));
	fake_die(&f);
	CHECK_EQ(f.answers, 1);
	CHECK_EQ(f.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_TEXT(f.news, "ready ended ");
	CHECK_TEXT(f.why.message, "the other side closed the stream");
}

static void see_whether_ready(const struct mp_answer *answer, void *u)
{
	struct fake *f = u;

	fake_note(answer, f);
	snprintf(f->news, sizeof(f->news), "%s", mp_upstream_is_ready(f->up) ? "ready" : "gone");
}

/* The hook of a lost call may send it again, but not to the same server. */
TEST(it_is_not_ready_while_its_calls_are_being_lost)
{
	MP_CLEANUP(fake_done) struct fake f;
	struct mp_call_options rq = {.method = MP_METHOD_PING};

	CHECK(fake_init(&f) && fake_open_legacy(&f));
	CHECK_EQ(heap_call(f.up, &rq, see_whether_ready, &f, NULL), 0);
	fake_die(&f);
	fake_settle(&f);
	CHECK_EQ(f.answers, 1);
	CHECK_EQ(strncmp(f.news, "gone", 4), 0);
}

/* The transport takes nothing any more, and has not come round to saying so. */
TEST(it_is_not_ready_once_it_takes_no_call)
{
	MP_CLEANUP(fake_done) struct fake f;
	struct mp_call_options rq = {.method = MP_METHOD_PING};

	CHECK(fake_init(&f) && fake_open_legacy(&f));
	mp_memory_break(f.end);
	CHECK(mp_upstream_is_ready(f.up));
	CHECK_EQ(heap_call(f.up, &rq, fake_note, &f, NULL), MCPOOL_ECLOSED);
	CHECK(!mp_upstream_is_ready(f.up));
	fake_settle(&f);
	CHECK_EQ(f.answers, 0);
	CHECK_TEXT(f.news, "ready ended ");
}

TEST(a_call_can_be_cancelled_in_both_eras)
{
	for (int modern = 0; modern < 2; modern++) {
		MP_CLEANUP(fake_done) struct fake f;
		char want[40];
		struct mp_call *call;

		CHECK(fake_init(&f));
		CHECK(modern ? fake_open_modern(&f) : fake_open_legacy(&f));
		CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{}", 1000, &call));
		snprintf(want, sizeof(want), "\"requestId\":%s,", f.got[f.n - 1].id);
		mp_peer_cancel(call);
		mp_peer_cancel(call);   /* and again */
		CHECK_EQ(f.answers, 0); /* not from within the cancel */
		fake_settle(&f);
		CHECK_EQ(f.answers, 1);
		CHECK_EQ(f.outcome, MP_OUTCOME_CANCELLED);
		CHECK_TEXT(f.got[f.n - 1].method, "notifications/cancelled");
		CHECK(strstr(f.got[f.n - 1].text, want));
	}
}

/* --- questions ------------------------------------------------------------------------------- */

struct answerer {
	struct mp_answerer a;
	struct fake *f;
	struct mp_server_request q;
	int asked, withdrawn;
	char params[100];
	const char *answer; /* given at once; NULL: later */
};

static void ask(void *u, const struct mp_server_request *q)
{
	struct answerer *a = u;

	a->asked++;
	a->q = *q;
	snprintf(a->params, sizeof(a->params), "%.*s", MP_STR_ARGS(q->params));
	if (a->answer)
		mp_upstream_reply(a->f->up, q->id, mp_str_of(a->answer));
}

static void withdraw(void *u, mp_id call)
{
	(void)call;
	((struct answerer *)u)->withdrawn++;
}

static bool open_with_answerer(struct fake *f, struct answerer *a, bool modern)
{
	*a = (struct answerer){.a = {.ask = ask, .withdraw = withdraw, .u = a}, .f = f};
	REQUIRE(fake_init(f));
	f->options.answerer = &a->a;
	return modern ? fake_open_modern(f) : fake_open_legacy(f);
}

TEST(a_legacy_question_is_answered)
{
	MP_CLEANUP(fake_done) struct fake f;
	struct answerer a;

	CHECK(open_with_answerer(&f, &a, false));
	CHECK(fake_say(&f, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\","
			   "\"params\":{\"message\":\"who?\"}}"));
	CHECK_EQ(a.asked, 1);
	CHECK_EQ(a.q.method, MP_METHOD_ELICIT);
	CHECK_TEXT(a.params, "{\"message\":\"who?\"}");
	mp_upstream_reply(f.up, a.q.id, MP_STR("{\"action\":\"accept\"}"));
	fake_settle(&f);
	CHECK_TEXT(f.got[f.n - 1].text,
		   "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{\"action\":\"accept\"}}");
	mp_upstream_reply(f.up, a.q.id, MP_STR("{}")); /* once is enough */
	fake_settle(&f);
	CHECK(strstr(f.got[f.n - 1].text, "accept"));
}

TEST(a_legacy_question_is_declined_or_withdrawn)
{
	MP_CLEANUP(fake_done) struct fake f;
	struct answerer a;

	CHECK(open_with_answerer(&f, &a, false));
	a.answer = "";
	CHECK(fake_say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}"));
	CHECK(strstr(f.got[f.n - 1].text, "\"error\":{\"code\":-1,"));
	a.answer = NULL;
	CHECK(fake_say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}"));
	CHECK(fake_say(&f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			   "\"params\":{\"requestId\":1}}"));
	CHECK_EQ(a.withdrawn, 1);
}

TEST(what_was_not_declared_is_not_answered)
{
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(fake_open_legacy(&f));
	CHECK(fake_say(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}"));
	CHECK(strstr(f.got[f.n - 1].text, "\"code\":-32601"));
	CHECK(fake_say(&f, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}"));
	CHECK_TEXT(f.got[f.n - 1].text, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
}

TEST(a_modern_question_is_answered_in_a_second_round)
{
	MP_CLEANUP(fake_done) struct fake f;
	struct answerer a;

	CHECK(open_with_answerer(&f, &a, true));
	a.answer = "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}";
	CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{\"name\":\"ask\"}", 1000, NULL));
	CHECK(fake_answer(
		&f, f.n - 1,
		"{\"resultType\":\"input_required\",\"requestState\":\"s\\u0041\","
		"\"inputRequests\":{\"who\":{\"method\":\"elicitation/create\",\"params\":{}}}}"));
	CHECK_EQ(a.asked, 1);
	CHECK_EQ(f.answers, 0);
	CHECK(strstr(f.got[f.n - 1].text, "\"inputResponses\":{\"who\":{\"action\":\"accept\""));
	CHECK(strstr(f.got[f.n - 1].text, "\"requestState\":\"s\\u0041\""));
	CHECK(fake_answer(&f, f.n - 1, "{\"resultType\":\"complete\",\"content\":[]}"));
	CHECK_EQ(f.answers, 1);
	CHECK_EQ(f.outcome, MP_OUTCOME_ANSWERED);
}

/* A modern server gets the capabilities of the caller with each call; a legacy one only what passes
 * through. */
TEST(a_call_says_whom_it_is_for)
{
	struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL,
				     .foreign = MP_STR("{\"traceparent\":\"00-1\"}"),
				     .capabilities = MP_STR("{\"elicitation\":{}}"),
				     .log_level = "warning"};

	for (int modern = 0; modern < 2; modern++) {
		MP_CLEANUP(fake_done) struct fake f;
		const char *said;

		CHECK(fake_init(&f));
		CHECK(modern ? fake_open_modern(&f) : fake_open_legacy(&f));
		CHECK_EQ(heap_call(f.up, &rq, fake_note, &f, NULL), 0);
		fake_settle(&f);
		said = f.got[f.n - 1].text;
		CHECK(strstr(said, "\"traceparent\":\"00-1\""));
		CHECK_EQ(strstr(said, "clientInfo") != NULL, modern);
		CHECK_EQ(strstr(said, "clientCapabilities\":{\"elicitation\":{}}") != NULL, modern);
		CHECK_EQ(strstr(said, "logLevel\":\"warning\"") != NULL, modern);
		CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{}", 1000, NULL)); /* as ourselves */
		said = f.got[f.n - 1].text;
		CHECK(!strstr(said, "elicitation") && !strstr(said, "warning"));
	}
}

TEST(a_server_that_dies_takes_its_questions_along)
{
	MP_CLEANUP(fake_done) struct fake f;
	struct answerer a;

	CHECK(open_with_answerer(&f, &a, true));
	CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{\"name\":\"ask\"}", 1000, NULL));
	CHECK(fake_answer(&f, f.n - 1,
			  "{\"resultType\":\"input_required\",\"inputRequests\":{\"who\":"
			  "{\"method\":\"elicitation/create\",\"params\":{}}}}"));
	CHECK_EQ(a.asked, 1);
	fake_die(&f);
	CHECK_EQ(a.withdrawn, 1);
	CHECK_EQ(f.answers, 1);
	CHECK_EQ(f.outcome, MP_OUTCOME_UNKNOWN);
}

/* --- listening ------------------------------------------------------------------------------- */

/* A stream of changes, from its acknowledgement to either of the two ends the spec has. */
TEST(a_modern_server_is_listened_to)
{
	for (int by_result = 0; by_result < 2; by_result++) {
		MP_CLEANUP(fake_done) struct fake f;
		MP_CLEANUP(mp_buf_done) struct mp_buf params;
		struct mp_str uri = MP_STR("demo://counter");
		struct mp_listen_filter filter = {.tools = true, .uris = &uri, .n_uris = 1};
		char text[200];

		mp_buf_init(&params, 1000);
		CHECK(fake_init(&f));
		CHECK(fake_open_modern(&f));
		CHECK_EQ(mp_modern_write_listen(&filter, &params), 0);
		CHECK_EQ(mp_buf_terminate(&params), 0);
		CHECK(fake_call(&f, MP_METHOD_LISTEN, params.data, 0, NULL));
		CHECK(strstr(f.got[f.n - 1].text,
			     "\"notifications\":{\"toolsListChanged\":true,"
			     "\"resourceSubscriptions\":[\"demo://counter\"]}"));
		snprintf(text, sizeof(text),
			 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
			 "acknowledged\","
			 "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}",
			 f.got[f.n - 1].id);
		CHECK(fake_say(&f, text));
		fake_advance(&f, 3600 * 1000); /* a stream has no deadline */
		CHECK(fake_say(
			&f,
			"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
		CHECK_TEXT(f.news, "ready notifications/subscriptions/acknowledged "
				   "notifications/tools/list_changed ");
		CHECK_EQ(f.answers, 0);
		snprintf(text, sizeof(text),
			 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
			 "\"params\":{\"requestId\":%s}}",
			 f.got[f.n - 1].id);
		CHECK(by_result ? fake_answer(&f, f.n - 1, "{\"resultType\":\"complete\"}")
				: fake_say(&f, text));
		CHECK_EQ(f.answers, 1);
		CHECK_EQ(f.outcome, MP_OUTCOME_ANSWERED);
	}
}

TEST(there_is_no_tail_where_there_is_no_stderr)
{
	MP_CLEANUP(fake_done) struct fake f;
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;

	mp_buf_init(&tail, 100);
	CHECK(fake_init(&f));
	CHECK(fake_open_legacy(&f));
	CHECK_EQ(mp_upstream_get_tail(f.up, 5, &tail), 0);
	CHECK_EQ(tail.len, 0);
}

/* --- from within a callback ------------------------------------------------------------------ */

static void free_it(const struct mp_answer *answer, void *u)
{
	struct fake *f = u;

	fake_note(answer, f);
	f->up = mp_upstream_free(f->up);
}

/* The hook of the loss may free the upstream at once. */
TEST(it_can_be_freed_by_the_answer_to_a_call)
{
	enum { DIES, CLOSES, ANSWERS, WAYS };

	for (int way = DIES; way < WAYS; way++) {
		MP_CLEANUP(fake_done) struct fake f;
		struct mp_call_options rq = {.method = MP_METHOD_TOOLS_CALL};

		CHECK(fake_init(&f));
		CHECK(fake_open_legacy(&f));
		CHECK_EQ(heap_call(f.up, &rq, free_it, &f, NULL), 0);
		fake_settle(&f);
		if (way == DIES)
			fake_die(&f);
		else if (way == CLOSES)
			mp_upstream_close(f.up);
		else
			CHECK(fake_answer(&f, f.n - 1, "{}"));
		fake_settle(&f);
		CHECK_EQ(f.answers, 1);
		CHECK(!f.up);
		CHECK_TEXT(f.news, "ready ");
	}
}

/* --- raw messages in the log ------------------------------------------------------------------ */

#define CANARY "canary-of-the-env"

/* The raw messages so far, as "object > text\n"; n_lines counts all lines. */
struct raw_log {
	char text[4 * MP_LIMIT_LOG_LINE];
	int n_lines;
};

static void raw_log_keep(const struct mp_log_line *line, void *u)
{
	struct raw_log *raw = u;
	size_t n = strlen(raw->text);

	raw->n_lines++;
	if (line->text[0] == '<' || line->text[0] == '>')
		snprintf(raw->text + n, sizeof(raw->text) - n, "%s %s\n", line->object, line->text);
}

static void raw_log_done(struct raw_log *raw)
{
	(void)raw;
	mp_log_set_sink(NULL, NULL);
	mp_log_set_level(MP_LEVEL_INF);
	mp_secret_remove_all();
}

static bool raw_log_open(struct raw_log *raw, enum mp_level level)
{
	raw->text[0] = '\0';
	raw->n_lines = 0;
	mp_log_set_sink(raw_log_keep, raw);
	mp_log_set_level(level);
	REQUIRE(mp_secret_add(MP_STR(CANARY)) == 0);
	return true;
}

/* E56: a value of the environment and an argument by its name are dots, in both directions. */
TEST(raw_messages_are_traced_without_secrets)
{
	static const struct mp_log log = {"files#3"};
	MP_CLEANUP(raw_log_done) struct raw_log raw;
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(raw_log_open(&raw, MP_LEVEL_TRC));
	f.options.log = &log;
	CHECK(fake_open_legacy(&f));
	CHECK(strstr(raw.text, "files#3 > {\"jsonrpc\":\"2.0\",\"id\":"));
	CHECK(strstr(raw.text, "\"method\":\"initialize\""));
	CHECK(strstr(raw.text, "files#3 < {"));
	CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL,
			"{\"name\":\"login\",\"arguments\":{\"note\":\"so " CANARY
			"\",\"token\":\"canary-by-name\"}}",
			1000, NULL));
	CHECK(strstr(f.got[f.n - 1].text, CANARY)); /* the server gets it */
	CHECK(fake_answer(&f, f.n - 1,
			  "{\"content\":[{\"type\":\"text\",\"text\":\"you are " CANARY
			  "\"}],\"structuredContent\":{\"password\":\"canary-of-it\"}}"));
	CHECK_EQ(f.answers, 1);
	CHECK(strstr(raw.text, "\"arguments\":{\"note\":\"so \xe2\x80\xa2"));
	CHECK(strstr(raw.text, "\"text\":\"you are \xe2\x80\xa2"));
	CHECK(!strstr(raw.text, "canary"));
}

/* E56: nor is the beginning of a secret shown where the line ends within it. */
HEAVY_TEST(a_raw_message_is_not_cut_within_a_secret)
{
	static char params[MP_LIMIT_LOG_LINE + 1000], pad[MP_LIMIT_LOG_LINE + 1];
	MP_CLEANUP(raw_log_done) struct raw_log raw;
	MP_CLEANUP(fake_done) struct fake f;

	memset(pad, 'x', sizeof(pad));
	CHECK(fake_init(&f));
	CHECK(raw_log_open(&raw, MP_LEVEL_TRC));
	CHECK(fake_open_legacy(&f));
	for (int n = (int)MP_LIMIT_LOG_LINE - 140; n < (int)MP_LIMIT_LOG_LINE - 40; n++) {
		raw.text[0] = '\0';
		snprintf(params, sizeof(params),
			 "{\"name\":\"t\",\"arguments\":{\"a\":\"%.*s " CANARY " and more\"}}", n,
			 pad);
		CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, params, 1000, NULL));
		CHECK(strstr(raw.text, "> {"));
		CHECK(fake_answer(&f, f.n - 1, params));
		CHECK(strstr(raw.text, "< {"));
		CHECK(!strstr(raw.text, " can"));
	}
}

/* E56: raw messages are in the log only on request. */
TEST(raw_messages_are_not_traced_at_verbose)
{
	MP_CLEANUP(raw_log_done) struct raw_log raw;
	MP_CLEANUP(fake_done) struct fake f;

	CHECK(fake_init(&f));
	CHECK(raw_log_open(&raw, MP_LEVEL_VRB));
	CHECK(fake_open_legacy(&f));
	CHECK(fake_call(&f, MP_METHOD_TOOLS_CALL, "{\"name\":\"t\"}", 1000, NULL));
	CHECK(fake_answer(&f, f.n - 1, "{\"content\":[]}"));
	CHECK_EQ(raw.n_lines, 0);
}
