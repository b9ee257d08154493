/* test_bridge.c - between an agent and the hub: who is answered, what is said again, cell by cell.
 */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "bridge/bridge.h"

/* A bridge whose other ends are texts. */
struct ends {
	struct mp_bridge *b;
	struct mp_buf hub, agent; /* lines said to them */
	uint64_t hub_bytes;
	int connects, starts, hang_ups;
	int connect_result, start_result;
	int64_t now, timer; /* -1: none */
	bool left;
};

static int connect_hub(void *u, struct mcpool_error *reterr)
{
	struct ends *d = u;

	d->connects++;
	if (d->connect_result < 0 && reterr)
		*reterr = (struct mcpool_error){.code = d->connect_result, .message = "no hub"};
	return d->connect_result;
}

static int start_hub(void *u, struct mcpool_error *reterr)
{
	struct ends *d = u;

	(void)reterr;
	d->starts++;
	return d->start_result;
}

static void disconnect(void *u)
{
	struct ends *d = u;

	d->hang_ups++;
}

static void send_hub_lines(void *u, struct mp_str lines)
{
	struct ends *d = u;

	d->hub_bytes += lines.len;
	if (mp_buf_add_str(&d->hub, lines) < 0)
		mp_buf_clear(&d->hub);
}

static void send_hub(void *u, struct mp_str line)
{
	send_hub_lines(u, line);
	send_hub_lines(u, MP_STR("\n"));
}

static void send_agent(void *u, struct mp_str line)
{
	struct ends *d = u;

	if (mp_buf_add_str(&d->agent, line) < 0 || mp_buf_add_char(&d->agent, '\n') < 0)
		mp_buf_clear(&d->agent);
}

static void set_timer(void *u, int64_t ms)
{
	struct ends *d = u;

	d->timer = ms;
}

static int64_t now_ms(void *u)
{
	struct ends *d = u;

	return d->now;
}

static void leave(void *u)
{
	struct ends *d = u;

	d->left = true;
}

static const struct mp_bridge_hooks hooks = {connect_hub, start_hub,      disconnect,
					     send_hub,    send_hub_lines, send_agent,
					     set_timer,   now_ms,         leave};

static void tidy(struct ends *d)
{
	mp_bridge_free(d->b);
	mp_buf_done(&d->hub);
	mp_buf_done(&d->agent);
}

static void open_desk(struct ends *d)
{
	struct mp_bridge_options o = {
		.hello = MP_STR("HELLO"), .version = "0.2.0", .log = "the.log"};

	mp_buf_init(&d->hub, MP_MIB(1));
	mp_buf_init(&d->agent, MP_MIB(1));
	d->timer = -1;
	d->b = mp_bridge_new(&o, &hooks, d);
}

#define DESK                                  \
	MP_CLEANUP(tidy) struct ends d = {0}; \
	open_desk(&d)

static enum mp_bridge_state state(const struct ends *d)
{
	return mp_bridge_get_state(d->b);
}

#define IS_IN(d, s) CHECK_EQ(state(&(d)), MP_BRIDGE_##s)

/* As the io does: what passes is written. */
static void agent(struct ends *d, const char *line)
{
	if (mp_bridge_from_agent(d->b, mp_str_of(line), strlen(line) + 1) == MP_BRIDGE_FORWARD)
		send_hub(d, mp_str_of(line));
}

static void hub(struct ends *d, const char *line)
{
	if (mp_bridge_from_hub(d->b, mp_str_of(line)) == MP_BRIDGE_FORWARD)
		send_agent(d, mp_str_of(line));
}

static void forget(struct ends *d)
{
	mp_buf_clear(&d->hub);
	mp_buf_clear(&d->agent);
}

/* All that was said to it was written. */
static void lose(struct ends *d)
{
	mp_bridge_lost(d->b, d->hub_bytes, MP_STR(""), d->hub_bytes);
	d->hub_bytes = 0;
}

static bool has(const struct mp_buf *b, const char *words)
{
	return mp_str_find(mp_buf_get(b), mp_str_of(words), 0) >= 0;
}

#define HELLO_BACK                                                                                \
	"{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"result\":{\"protocol\":1,\"version\":\"0.2.0\"," \
	"\"pid\":7}}"
#define CALL(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"tools/call\",\"params\":{}}"
#define DONE(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"result\":{}}"
#define BYE      "{\"jsonrpc\":\"2.0\",\"method\":\"mcpool/bye\"}"
#define INITIALIZE                                                                    \
	"{\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}," \
	"\"jsonrpc\":\"2.0\",\"id\":0}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"

/* A hub is there and lets us in. */
static bool open_bridge(struct ends *d)
{
	mp_bridge_start(d->b);
	REQUIRE(state(d) == MP_BRIDGE_GREETING);
	REQUIRE(has(&d->hub, "HELLO\n"));
	hub(d, HELLO_BACK);
	REQUIRE(state(d) == MP_BRIDGE_OPEN);
	forget(d);
	return true;
}

/* The next one: found at once, greeted. */
static bool greet_next(struct ends *d)
{
	REQUIRE(state(d) == MP_BRIDGE_GREETING);
	hub(d, HELLO_BACK);
	return true;
}

TEST(lines_pass_unchanged)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, CALL(1));
	CHECK_STR(mp_buf_get(&d.hub), CALL(1) "\n");
	hub(&d, DONE(1));
	CHECK_STR(mp_buf_get(&d.agent), DONE(1) "\n");
	agent(&d, "not json at all");
	CHECK(has(&d.hub, "not json at all\n"));
}

/* The promise: a written request is answered at once, and never sent again. */
TEST(calls_under_way_are_answered_when_the_hub_dies)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, CALL(1));
	agent(&d, CALL("a"));
	agent(&d, CALL(3));
	hub(&d, DONE(3));
	forget(&d);
	lose(&d);
	CHECK(has(&d.agent, "\"id\":1,\"error\":{\"code\":1003,\"message\":\"MCP error: "
			    "mcp_outcome_unknown: "));
	CHECK(has(&d.agent, "\"id\":\"a\",\"error\":{\"code\":1003"));
	CHECK(has(&d.agent, "\"outcome\":\"unknown\",\"retryable\":false"));
	CHECK(!has(&d.agent, "\"id\":3"));
	CHECK(greet_next(&d));
	IS_IN(d, OPEN);
	CHECK(!has(&d.hub, "tools/call"));
	forget(&d);
	lose(&d); /* answered once */
	CHECK_EQ(d.agent.len, 0);
}

/* What was not written in whole did not happen: the next hub gets it. */
TEST(what_was_not_written_goes_to_the_next_hub)
{
	static const char two[] = CALL(2) "\n" CALL(3) "\n";
	DESK;
	uint64_t before;

	CHECK(open_bridge(&d));
	agent(&d, CALL(1));
	before = d.hub_bytes;
	agent(&d, CALL(2));
	agent(&d, CALL(3));
	forget(&d);
	/* the first went out, and five bytes of the second */
	mp_bridge_lost(d.b, before + 5, (struct mp_str){two, sizeof(two) - 1}, before);
	d.hub_bytes = 0;
	CHECK(has(&d.agent, "\"id\":1,\"error\""));
	CHECK(!has(&d.agent, "\"id\":2") && !has(&d.agent, "\"id\":3"));
	agent(&d, CALL(4));
	forget(&d);
	CHECK(greet_next(&d));
	CHECK_STR(mp_buf_get(&d.hub), CALL(2) "\n" CALL(3) "\n" CALL(4) "\n");
	hub(&d, DONE(2));
	forget(&d);
	/* of these only the third one was written when this hub dies, too */
	mp_bridge_lost(d.b, 6 + 2 * (sizeof(CALL(2))),
		       (struct mp_str){CALL(4) "\n", sizeof(CALL(4))}, 6 + 2 * (sizeof(CALL(2))));
	CHECK(has(&d.agent, "\"id\":3,\"error\":{\"code\":1003"));
	CHECK(!has(&d.agent, "\"id\":4"));
	CHECK(greet_next(&d));
	CHECK(has(&d.hub, CALL(4) "\n"));
}

/* The next hub is told how the session began; the agent hears that its lists may differ. */
TEST(a_session_goes_on_with_the_next_hub)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, INITIALIZE);
	hub(&d, DONE(0));
	agent(&d, INITIALIZED);
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"logging/setLevel\",\"params\":"
		  "{\"level\":\"debug\"}}");
	hub(&d, DONE(1));
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/subscribe\",\"params\":"
		  "{\"uri\":\"a:b\"}}");
	hub(&d, DONE(2));
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/subscribe\",\"params\":"
		  "{\"uri\":\"gone\"}}");
	hub(&d, DONE(3));
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"resources/unsubscribe\",\"params\":"
		  "{\"uri\":\"gone\"}}");
	hub(&d, DONE(4));
	forget(&d);
	lose(&d);
	CHECK_EQ(d.agent.len, 0);
	CHECK(greet_next(&d));
	IS_IN(d, RESUMING);
	CHECK_STR(mp_buf_get(&d.hub),
		  "HELLO\n"
		  "{\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"},"
		  "\"jsonrpc\":\"2.0\",\"id\":\"mcpool-bridge-1\"}\n" INITIALIZED "\n"
		  "{\"jsonrpc\":\"2.0\",\"id\":\"mcpool-bridge-2\",\"method\":\"logging/setLevel\","
		  "\"params\":{\"level\":\"debug\"}}\n"
		  "{\"jsonrpc\":\"2.0\",\"id\":\"mcpool-bridge-3\",\"method\":"
		  "\"resources/subscribe\",\"params\":{\"uri\":\"a:b\"}}\n");
	agent(&d, CALL(9)); /* waits until all of that is answered */
	forget(&d);
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"mcpool-bridge-1\",\"result\":{\"capabilities\":"
		"{\"tools\":{\"listChanged\":true},\"prompts\":{}}}}");
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"mcpool-bridge-2\",\"result\":{}}");
	CHECK_EQ(d.agent.len + d.hub.len, 0);
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"mcpool-bridge-3\",\"error\":{\"code\":1,"
		"\"message\":\"x\"}}");
	IS_IN(d, OPEN);
	CHECK_STR(mp_buf_get(&d.hub), CALL(9) "\n");
	CHECK_STR(mp_buf_get(&d.agent),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n");
}

/* An agent in the middle of its opening is not told of any trouble. */
TEST(an_opening_is_said_again)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, INITIALIZE);
	lose(&d);
	CHECK_EQ(d.agent.len, 0);
	forget(&d);
	CHECK(greet_next(&d));
	IS_IN(d, OPEN);
	CHECK_STR(mp_buf_get(&d.hub), INITIALIZE "\n");
	hub(&d, DONE(0));
	CHECK_STR(mp_buf_get(&d.agent), DONE(0) "\n");
}

/* A modern agent has no session; what it listens to goes on. */
TEST(listening_goes_on)
{
	static const char listen[] =
		"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"subscriptions/listen\",\"params\":{}}";
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, listen);
	agent(&d, CALL(6));
	forget(&d);
	lose(&d);
	CHECK(!has(&d.agent, "\"id\":5"));
	CHECK(has(&d.agent, "\"id\":6"));
	forget(&d);
	CHECK(greet_next(&d));
	IS_IN(d, OPEN);
	CHECK(has(&d.hub, listen));
	CHECK_EQ(d.agent.len, 0); /* no list_changed either: it is told by what it listens to */
}

TEST(questions_of_a_dead_hub_are_withdrawn)
{
	DESK;

	CHECK(open_bridge(&d));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"elicitation/create\"}");
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"q2\",\"method\":\"roots/list\"}");
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"q2\",\"result\":{}}");
	forget(&d);
	lose(&d);
	CHECK_STR(mp_buf_get(&d.agent),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		  "{\"requestId\":\"q1\",\"reason\":\"the hub ended\"}}\n");
	CHECK(greet_next(&d));
	forget(&d);
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":{}}"); /* too late */
	CHECK_EQ(d.hub.len, 0);
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"roots/list\"}"); /* a new one */
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"result\":{}}");
	CHECK(has(&d.hub, "\"q1\""));
}

TEST(a_cancelled_call_is_not_waited_for)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, CALL(1));
	agent(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		  "{\"requestId\":1}}");
	forget(&d);
	lose(&d);
	CHECK_EQ(d.agent.len, 0);
}

/* One that sends every request with id 1 is served. */
TEST(the_same_id_may_be_out_twice)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, CALL(1));
	agent(&d, CALL(1));
	agent(&d, CALL(1));
	hub(&d, DONE(1));
	forget(&d);
	lose(&d);
	CHECK(has(&d.agent, "\"id\":1,\"error\""));
	CHECK(mp_str_find(mp_buf_get(&d.agent), MP_STR("\"id\":1,\"error\""), 20) > 0);
	CHECK_EQ(d.agent.len % 2, 0); /* two, and both alike */
}

TEST(a_batch_is_answered_one_by_one)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, "[" CALL(1) "," INITIALIZED "," CALL(2) "]");
	hub(&d, "[" DONE(2) "]");
	forget(&d);
	lose(&d);
	CHECK(has(&d.agent, "\"id\":1,\"error\""));
	CHECK(!has(&d.agent, "\"id\":2"));
}

/* Odd spellings are read by the real parser. */
TEST(odd_spellings_count)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, "{\"jsonrpc\":\"2.0\",\"\\u0069d\":8,\"method\":\"tools\\/call\",\"params\":{}}");
	forget(&d);
	lose(&d);
	CHECK(has(&d.agent, "\"id\":8,\"error\":{\"code\":1003"));
}

/* A hub that leaves in order gets nothing new; what is open is answered by it. */
TEST(a_hub_that_leaves_is_left_in_peace)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, CALL(1));
	hub(&d, BYE);
	IS_IN(d, DRAINING);
	CHECK_STR(mp_buf_get(&d.hub), CALL(1) "\n" BYE "\n"); /* behind all that it was sent */
	forget(&d);
	agent(&d, CALL(2));
	CHECK_EQ(d.hub.len, 0);
	agent(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{}}"); /* answers still pass */
	CHECK(has(&d.hub, "\"q\""));
	hub(&d, DONE(1));
	CHECK(has(&d.agent, DONE(1)));
	forget(&d);
	lose(&d);
	CHECK_EQ(d.agent.len, 0);
	IS_IN(d, GREETING); /* for the second one */
	CHECK(greet_next(&d));
	CHECK(has(&d.hub, CALL(2)));
}

/* It was sent none of the agent's requests; they go to the next hub at once. */
TEST(a_hub_that_leaves_during_a_resume_is_left)
{
	DESK;

	CHECK(open_bridge(&d));
	agent(&d, INITIALIZE);
	hub(&d, DONE(0));
	lose(&d);
	CHECK(greet_next(&d));
	IS_IN(d, RESUMING);
	agent(&d, CALL(1));
	d.hang_ups = 0;
	forget(&d);
	hub(&d, BYE);
	IS_IN(d, SEEKING);
	CHECK_EQ(d.hang_ups, 1);
	CHECK_EQ(d.agent.len + d.hub.len, 0);
	mp_bridge_timer(d.b);
	CHECK(greet_next(&d));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"mcpool-bridge-1\",\"result\":{}}");
	IS_IN(d, OPEN);
	CHECK(has(&d.hub, CALL(1)));
}

TEST(without_traffic_no_hub_is_started)
{
	DESK;

	CHECK(open_bridge(&d));
	hub(&d, BYE);
	lose(&d);
	IS_IN(d, RESTING);
	CHECK_EQ(d.connects, 1);
	d.connect_result = MCPOOL_ENOENT;
	agent(&d, CALL(1));
	IS_IN(d, STARTING);
	CHECK_EQ(d.starts, 1);
	d.connect_result = 0;
	forget(&d);
	mp_bridge_hub_ready(d.b);
	CHECK(greet_next(&d));
	CHECK(has(&d.hub, CALL(1)));
}

TEST(messages_wait_ten_seconds_for_a_hub)
{
	DESK;

	d.connect_result = MCPOOL_ENOENT;
	mp_bridge_start(d.b);
	IS_IN(d, STARTING);
	agent(&d, CALL(1));
	agent(&d, INITIALIZED);
	CHECK(d.timer > 0);
	while (d.now + d.timer < 10000) {
		CHECK(d.timer > 0 && d.timer <= 250);
		d.now += d.timer;
		mp_bridge_timer(d.b);
	}
	CHECK_EQ(d.agent.len, 0);
	CHECK(d.starts > 1); /* the one that was started may have died */
	d.now = 10000;
	mp_bridge_timer(d.b);
	IS_IN(d, RESTING);
	CHECK(has(&d.agent, "\"id\":1,\"error\":{\"code\":1005"));
	CHECK(has(&d.agent, "\"outcome\":\"not_sent\",\"retryable\":true"));
	CHECK(has(&d.agent, "the.log"));
	forget(&d);
	d.connect_result = 0;
	agent(&d, CALL(2)); /* a new attempt */
	CHECK(greet_next(&d));
	CHECK(has(&d.hub, CALL(2)) && !has(&d.hub, CALL(1)));
}

TEST(a_hub_that_refuses_us_is_quoted)
{
	DESK;

	mp_bridge_start(d.b);
	agent(&d, CALL(1));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"error\":{\"code\":-32603,\"message\":"
		"\"there is no folder /x\",\"data\":{\"protocol\":1,\"version\":\"0.2.0\"}}}");
	IS_IN(d, RESTING);
	CHECK(has(&d.agent, "there is no folder /x"));
	CHECK_EQ(d.hang_ups, 1);
}

/* attack-S9: it is there, so `mcpool up` would not help. */
TEST(a_full_hub_is_said_to_be_full)
{
	DESK;

	mp_bridge_start(d.b);
	agent(&d, CALL(1));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"error\":{\"code\":-32603,\"message\":"
		"\"there are 9 sessions\",\"data\":{\"protocol\":1,\"full\":true}}}");
	IS_IN(d, RESTING);
	CHECK(has(&d.agent, "the hub accepts no more agents: there are 9 sessions"));
	CHECK(has(&d.agent, "end agents that are not needed") && !has(&d.agent, "mcpool up"));
}

#define OLDER                                                                           \
	"{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"result\":{\"protocol\":1,\"version\":" \
	"\"0.1.9\",\"pid\":7}}"
#define LEAVES "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"pid\":7}}"

/* Greeted as the command line, it is still the older one: then it is asked to go. */
static bool replace(struct ends *d)
{
	REQUIRE(state(d) == MP_BRIDGE_GREETING);
	forget(d);
	hub(d, OLDER);
	REQUIRE(state(d) == MP_BRIDGE_REPLACING);
	REQUIRE(has(&d->hub, "\"role\":\"control\"") && !has(&d->hub, "mcpool/shutdown"));
	hub(d, OLDER);
	REQUIRE(state(d) == MP_BRIDGE_REPLACING);
	REQUIRE(has(&d->hub, "\"drain\":true,\"replace\":true"));
	return true;
}

/* It has given up its place: ours is started at once, whatever it still has to do. */
TEST(an_older_hub_is_replaced)
{
	DESK;

	mp_bridge_start(d.b);
	agent(&d, CALL(1));
	CHECK(replace(&d));
	CHECK_EQ(d.hang_ups, 1);
	d.connect_result = MCPOOL_ENOENT;
	hub(&d, LEAVES);
	IS_IN(d, STARTING);
	CHECK_EQ(d.starts, 1);
	CHECK_EQ(d.hang_ups, 2);
	d.connect_result = 0;
	mp_bridge_hub_ready(d.b);
	forget(&d);
	hub(&d, HELLO_BACK);
	IS_IN(d, OPEN);
	CHECK(has(&d.hub, CALL(1)));
}

/* Whatever starts old ones all the time: they are taken as they are. */
TEST(older_hubs_are_not_replaced_for_ever)
{
	DESK;

	mp_bridge_start(d.b);
	for (int i = 0; i < 3; i++) {
		CHECK(replace(&d));
		lose(&d);
		IS_IN(d, STARTING);
		mp_bridge_hub_ready(d.b);
	}
	hub(&d, OLDER);
	IS_IN(d, OPEN);
}

/* Two newer bridges at once: the second finds the first one's hub, and leaves it alone. */
TEST(a_hub_that_was_replaced_meanwhile_stays)
{
	DESK;

	mp_bridge_start(d.b);
	forget(&d);
	hub(&d, OLDER);
	IS_IN(d, REPLACING);
	hub(&d, HELLO_BACK);
	IS_IN(d, GREETING);
	CHECK(!has(&d.hub, "mcpool/shutdown"));
	hub(&d, HELLO_BACK);
	IS_IN(d, OPEN);
	CHECK_EQ(d.starts, 0);
}

TEST(an_older_hub_that_stays_will_do)
{
	DESK;

	mp_bridge_start(d.b);
	CHECK(replace(&d));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,\"message\":\"no\"}}");
	IS_IN(d, GREETING);
	hub(&d, OLDER);
	IS_IN(d, OPEN);
	CHECK_EQ(d.starts, 0);
}

/* One that is about to stop is as good as none; the next one is looked for. */
TEST(a_hub_that_is_about_to_leave_is_not_the_last_word)
{
	DESK;

	mp_bridge_start(d.b);
	agent(&d, CALL(1));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"error\":{\"code\":-32603,\"message\":"
		"\"it stops\",\"data\":{\"protocol\":1,\"version\":\"0.2.0\",\"leaving\":true}}}");
	IS_IN(d, SEEKING);
	CHECK_EQ(d.hang_ups, 1);
	CHECK_EQ(d.agent.len, 0);
	mp_bridge_timer(d.b);
	IS_IN(d, GREETING);
}

/* Replaced: there is a next one, or will be, and it is not ours to start for a while. */
TEST(who_is_replaced_looks_for_the_newer_hub)
{
	DESK;

	d.now = 1000;
	CHECK(open_bridge(&d));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"mcpool/bye\",\"params\":{\"replaced\":true}}");
	IS_IN(d, DRAINING);
	d.connect_result = MCPOOL_ENOENT;
	lose(&d);
	IS_IN(d, SEEKING);
	CHECK_EQ(d.starts, 0);
	d.now += 2900;
	mp_bridge_timer(d.b);
	IS_IN(d, SEEKING);
	CHECK_EQ(d.starts, 0);
	d.now += 200;
	mp_bridge_timer(d.b);
	IS_IN(d, STARTING);
	CHECK_EQ(d.starts, 1);
}

TEST(an_older_protocol_is_replaced_a_newer_one_is_told)
{
	DESK;

	mp_bridge_start(d.b);
	agent(&d, CALL(1));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"error\":{\"code\":-32600,\"message\":"
		"\"other\",\"data\":{\"protocol\":2,\"version\":\"9.0.0\"}}}");
	IS_IN(d, RESTING);
	CHECK(has(&d.agent, "other"));
	agent(&d, CALL(2));
	hub(&d, "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"error\":{\"code\":-32600,\"message\":"
		"\"other\",\"data\":{\"protocol\":0,\"version\":\"0.0.1\"}}}");
	IS_IN(d, REPLACING);
	CHECK(has(&d.hub,
		  "\"protocol\":0,\"version\":\"0.2.0\",\"role\":\"control\"")); /* its own */
}

TEST(an_agent_that_goes_ends_it)
{
	DESK;

	CHECK(open_bridge(&d));
	mp_bridge_agent_gone(d.b);
	IS_IN(d, LEAVING);
	CHECK(d.left);
	mp_bridge_agent_gone(d.b);
	mp_bridge_timer(d.b);
}

TEST(a_message_that_is_too_large_is_answered)
{
	DESK;

	CHECK(open_bridge(&d));
	mp_bridge_refuse_oversize(d.b,
				  MP_STR("{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"x\",\"pa"),
				  MP_STR("xxx\"}}"));
	CHECK(has(&d.agent, "\"id\":4,\"error\":{\"code\":1010"));
	CHECK_EQ(d.hub.len, 0);
}

/* Too much that waits stops the reading. */
HEAVY_TEST(what_waits_is_bounded)
{
	char line[70000];
	DESK;

	d.connect_result = MCPOOL_ENOENT;
	mp_bridge_start(d.b);
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	for (int i = 0; i < 15; i++) {
		CHECK(mp_bridge_wants_more(d.b));
		agent(&d, line);
	}
	CHECK(!mp_bridge_wants_more(d.b));
}
