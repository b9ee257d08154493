/* test_control_client.c - a control client: answers by id, what the hub says by itself, ends. */
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/servers/control_client.h"
#include "cli/servers/reach_answer.h"

struct scene {
	struct mp_loop *loop;
	struct mp_control_client *client;
	int hub; /* its end */
	char heard[2000];
	bool frees;
};

static void note(struct scene *s, const char *word, struct mp_str text)
{
	size_t n = strlen(s->heard);

	snprintf(s->heard + n, sizeof(s->heard) - n, "%s%.*s;", word, MP_STR_ARGS(text));
	if (s->frees)
		s->client = mp_control_client_free(s->client);
}

static void on_request(void *u, uint64_t id, const struct mp_message *m)
{
	note(u, id == 9 ? "request " : "odd ", mp_value_source(m->tape, m->params));
}

static void on_notification(void *u, const struct mp_message *m)
{
	note(u, "told ", mp_value_source(m->tape, m->params));
}

static void on_ended(void *u)
{
	note(u, "ended", MP_STR(""));
}

static void on_first(void *u, const struct mp_message *m)
{
	note(u, "first ", m ? mp_value_source(m->tape, m->result) : MP_STR("too large"));
}

static void on_second(void *u, const struct mp_message *m)
{
	note(u, "second ", m ? mp_value_source(m->tape, m->error) : MP_STR("too large"));
}

static void turn(struct mp_loop *loop)
{
	for (int i = 0; i < 10; i++)
		mp_loop_turn(loop, false);
}

static void scene_done(struct scene *s)
{
	mp_control_client_free(s->client);
	if (s->hub >= 0)
		close(s->hub);
	if (s->loop)
		turn(s->loop);
	mp_loop_free(s->loop);
}

static bool scene_open(struct scene *s)
{
	static const struct mp_control_client_hooks hooks = {on_request, on_notification, on_ended};
	int fds[2];

	REQUIRE(mp_loop_new(&s->loop) == 0);
	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
	s->hub = fds[0];
	s->client = mp_control_client_new(s->loop, fds[1], 200, &hooks, s);
	return true;
}

#define SCENE(s)                                             \
	MP_CLEANUP(scene_done) struct scene s = {.hub = -1}; \
	CHECK(scene_open(&s))

/* What the client sent until now. */
static bool sent(struct scene *s, const char *want)
{
	char text[2000];
	ssize_t n;

	turn(s->loop);
	n = read(s->hub, text, sizeof(text) - 1);
	REQUIRE(n >= 0);
	text[n] = '\0';
	return test_same_text(mp_str_of(text), mp_str_of(want), "sent", __FILE__, __LINE__);
}

static bool says(struct scene *s, const char *text)
{
	REQUIRE(write(s->hub, text, strlen(text)) == (ssize_t)strlen(text));
	turn(s->loop);
	return true;
}

static bool ask_both(struct scene *s)
{
	uint64_t id = 0;

	REQUIRE(mp_control_client_ask(s->client, "a", MP_STR("{}"), on_first, s, &id) == 0);
	REQUIRE(id == 1);
	REQUIRE(mp_control_client_ask(s->client, "b", MP_STR("{\"x\":1}"), on_second, s, NULL) ==
		0);
	return true;
}

TEST(answers_come_to_their_requests)
{
	SCENE(s);

	CHECK(ask_both(&s));
	CHECK(sent(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"b\",\"params\":{\"x\":1}}\n"));
	CHECK(says(&s, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":1,\"message\":\"no\"}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"big\":12345678901234567890}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
	CHECK_TEXT(s.heard, "second {\"code\":1,\"message\":\"no\"};"
			    "first {\"big\":12345678901234567890};");
}

TEST(the_hub_says_things_by_itself)
{
	SCENE(s);

	CHECK(says(&s, "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{\"a\":1}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"r\",\"params\":{\"b\":2}}\n"
		       "{\"jsonrpc\":\"2.0\",\"id\":\"odd\",\"method\":\"r\"}\nnonsense\n"));
	CHECK_TEXT(s.heard, "told {\"a\":1};request {\"b\":2};");
	mp_control_client_reply(s.client, 9, MP_STR("{\"c\":3}"), "no");
	mp_control_client_reply(s.client, 9, MP_STR(""), "no");
	mp_control_client_cancel(s.client, 4);
	CHECK(sent(&s,
		   "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"c\":3}}\n"
		   "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,\"message\":\"no\"}}\n"
		   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
		   "\"requestId\":4}}\n"));
}

/* Which request was meant cannot be said; the first is told that there is nothing to read. */
TEST(an_answer_that_is_too_large_is_told)
{
	SCENE(s);
	char text[400];

	memset(text, 'x', sizeof(text));
	memcpy(text + sizeof(text) - 2, "\n", 2);
	CHECK(ask_both(&s));
	CHECK(says(&s, text));
	CHECK_TEXT(s.heard, "first too large;");
}

/* A request whose answer cannot be read must not wait for ever. */
TEST(an_answer_that_cannot_be_read_is_told)
{
	SCENE(s);

	CHECK(ask_both(&s));
	CHECK(says(&s, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{]}\n"));
	CHECK_TEXT(s.heard, "first too large;");
}

TEST(a_hub_that_goes_answers_nothing)
{
	SCENE(s);

	CHECK(ask_both(&s));
	turn(s.loop);
	close(s.hub);
	s.hub = -1;
	turn(s.loop);
	CHECK_TEXT(s.heard, "ended;");
}

TEST(each_hook_may_free_the_client)
{
	static const char *const lines[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
		"{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n",
		"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"r\",\"params\":{}}\n",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(lines); i++) {
		SCENE(s);

		s.frees = true;
		CHECK(ask_both(&s));
		CHECK(says(&s, lines[i]));
		CHECK(!s.client && s.heard[0]);
	}
}

/* --- what mcpool/call answers ---------------------------------------------------------------- */

static bool read_answer(struct mp_reach_answer *a, struct mp_tape *t, const char *text)
{
	struct mp_message m;

	REQUIRE(mp_message_scan(t, mp_str_of(text), &m, NULL) == 0);
	mp_reach_answer_read(a, &m, "s");
	return true;
}

#define ANSWER                                                     \
	MP_CLEANUP(mp_reach_answer_done) struct mp_reach_answer a; \
	MP_CLEANUP(mp_tape_done) struct mp_tape t;                 \
	mp_reach_answer_init(&a);                                  \
	mp_tape_init(&t, 0)

TEST(a_result_is_the_servers)
{
	ANSWER;

	CHECK(read_answer(&a, &t,
			  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":\"answered\","
			  "\"result\":{\"n\" : 1.0}}}"));
	CHECK(a.answer.outcome == MP_OUTCOME_ANSWERED && !a.has_status && !a.answer.error);
	CHECK_EQ(a.answer.message->kind, MP_MESSAGE_RESULT);
	CHECK_STR(mp_value_source(a.answer.message->tape, a.answer.message->result),
		  "{\"n\" : 1.0}");
	CHECK_TEXT(a.answer.server, "s");
}

/* B65 */
TEST(a_failure_has_its_cause_and_a_status)
{
	ANSWER;

	CHECK(read_answer(
		&a, &t,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":\"not_sent\",\"code\":-5,"
		"\"rpcCode\":1005,\"fault\":2,\"message\":\"MCP error: "
		"gone\",\"cause\":{\"code\":-6,"
		"\"message\":\"eof\"},\"wasUp\":true,\"attempt\":3,\"retryable\":true,\"nextAt\":"
		"99,"
		"\"stderr\":\"oops\\n\",\"status\":{\"name\":\"s\",\"state\":\"failed\","
		"\"transport\":\"stdio\",\"environment\":\"the hub\",\"stderr\":\"later\\n\"}}}"));
	CHECK(a.answer.outcome == MP_OUTCOME_NOT_SENT && !a.answer.message);
	CHECK(a.answer.error->code == -5 && a.answer.error->rpc_code == 1005);
	CHECK_EQ(a.answer.error->fault, 2);
	CHECK_TEXT(a.answer.error->message, "MCP error: gone");
	CHECK(a.answer.cause && a.answer.cause->code == -6);
	CHECK_TEXT(a.answer.cause->message, "eof");
	CHECK(a.answer.was_up && !a.answer.was_out && a.answer.retryable);
	CHECK(a.answer.attempt == 3 && a.answer.next_at_ms == 99);
	CHECK_STR(a.answer.tail, "oops\n");
	CHECK(a.has_status && a.status.state == MP_STATUS_FAILED);
	CHECK_TEXT(a.answer.transport, "stdio");
	CHECK_TEXT(a.answer.environment, "the hub");
	CHECK_TEXT(a.status.tail, "later\n");
}

/* Of an older hub, or of none that we know. */
TEST(what_is_missing_is_unknown)
{
	ANSWER;

	CHECK(read_answer(&a, &t,
			  "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":\"odd\","
			  "\"status\":{}}}"));
	CHECK(a.answer.outcome == MP_OUTCOME_UNKNOWN && !a.has_status);
	CHECK(a.answer.error->code == MCPOOL_EPROTO && !a.answer.cause && a.answer.tail.len == 0);
}
