/* test_socket.c - who is let in at the unix socket, and what becomes of them. */
#include "home.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "face/greeting.h"
#include "face/socket.h"
#include "session/sessions.h"

#define FILE_AT "home/.config/mcpool/mcp.json"
#define OFF     "\"command\":\"x\",\"enabled\":false"

static const struct mp_identity me = {.name = "test", .version = "1", .capabilities = {"{}", 2}};

struct desk {
	struct mp_hub *hub;
	struct mp_socket_face *face;
	int peer;
	char said[65536];
	size_t n;
	int ready, stopped, asked, drained;
};

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct desk *d = u;

	(void)error;
	d->ready++;
}

static void is_stopped(void *u)
{
	struct desk *d = u;

	d->stopped++;
}

static bool asked_to_stop(void *u, bool drain, bool replace)
{
	struct desk *d = u;

	d->asked += 1 + 10 * replace;
	d->drained = drain;
	return true;
}

static const struct mp_hub_hooks hub_hooks = {.ready = is_ready, .stopped = is_stopped};
static const struct mp_socket_hooks hooks = {.stop = asked_to_stop};

static void tidy(struct desk *d)
{
	mp_socket_face_free(d->face);
	if (d->peer >= 0)
		close(d->peer);
	if (d->hub)
		mp_loop_turn(d->hub->loop, false);
	mp_hub_free(d->hub);
	mp_log_set_level(MP_LEVEL_INF);
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {.peer = -1}

static bool open_desk(struct desk *d)
{
	struct mp_hub_options options = {.me = &me, .one_shot = true};

	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(put(FILE_AT, "{\"mcpServers\":{\"a\":{" OFF "},\"b\":{" OFF "}}}"));
	REQUIRE(put("project/.mcpool/mcp.json", "{\"mcpServers\":{\"p\":{" OFF "}}}"));
	options.request = home_request(NULL);
	options.request.cwd = home_at;
	REQUIRE(mp_hub_new(&options, &hub_hooks, d, &d->hub, &why) == 0);
	d->face = mp_socket_face_open(d->hub, -1, &hooks, d);
	mp_hub_start(d->hub);
	return true;
}

static bool knock(struct desk *d)
{
	int fds[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	if (d->peer >= 0)
		close(d->peer);
	d->peer = fds[1];
	d->n = 0;
	mp_socket_face_admit(d->face, fds[0]);
	return true;
}

static bool tell(struct desk *d, const char *text)
{
	return write(d->peer, text, strlen(text)) == (ssize_t)strlen(text);
}

static void listen_on(struct desk *d)
{
	ssize_t n = read(d->peer, d->said + d->n, sizeof(d->said) - 1 - d->n);

	if (n > 0)
		d->n += (size_t)n;
	d->said[d->n] = '\0';
}

/* Until these words were heard. */
static bool hear(struct desk *d, const char *words)
{
	for (int i = 0; i < 300; i++) {
		listen_on(d);
		if (strstr(d->said, words))
			return true;
		mp_loop_turn(d->hub->loop, false);
		usleep(1000); /* keys are found by a worker */
	}
	fprintf(stderr, "heard: %s\n", d->said);
	return false;
}

/* Until so many have drained; the hub waits 1 s for a bridge. */
static bool settles(struct desk *d, int drained)
{
	for (int i = 0; i < 3000 && d->drained < drained; i++) {
		mp_loop_turn(d->hub->loop, false);
		usleep(1000);
	}
	return d->drained == drained;
}

static bool is_shut(struct desk *d)
{
	char byte;

	for (int i = 0; i < 100; i++) {
		ssize_t n = read(d->peer, &byte, 1);

		if (n == 0)
			return true;
		mp_loop_turn(d->hub->loop, false);
	}
	return false;
}

static bool greet(struct desk *d, const char *role, const char *more)
{
	char text[1000];

	REQUIRE(knock(d));
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/hello\",\"params\":"
		 "{\"protocol\":1,\"role\":\"%s\",\"cwd\":\"%s\",\"env\":{\"HOME\":\"%s\"}%s}}\n",
		 role, project_at, home_at, more);
	REQUIRE(tell(d, text));
	REQUIRE(hear(d, "\"result\":{\"protocol\":1"));
	return true;
}

#define INITIALIZE                                                                               \
	"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{"               \
	"\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"x\"," \
	"\"version\":\"1\"}}}\n"

/* What is said behind the hello waits until there is somebody to hear it. */
HEAVY_TEST(a_bridge_has_a_session)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(greet(&d, "bridge", "") && tell(&d, INITIALIZE));
	CHECK(hear(&d, "\"id\":\"i\",\"result\""));
	CHECK_EQ(mp_sessions_count(d.hub->sessions), 1);
	CHECK(tell(&d, "not json\n"));
	CHECK(hear(&d, "-32700"));
	close(d.peer);
	d.peer = -1;
	for (int i = 0; i < 10; i++)
		mp_loop_turn(d.hub->loop, false);
	CHECK_EQ(mp_sessions_count(d.hub->sessions), 0);
	CHECK_EQ(mp_socket_face_count(d.face), 0);
}

HEAVY_TEST(what_comes_with_the_hello_is_not_lost)
{
	DESK;
	char text[2000];

	CHECK(open_desk(&d));
	CHECK(knock(&d));
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/hello\",\"params\":"
		 "{\"protocol\":1,\"role\":\"bridge\",\"cwd\":\"%s\",\"env\":{}}}\n" INITIALIZE,
		 project_at);
	CHECK(tell(&d, text));
	CHECK(hear(&d, "\"id\":\"i\",\"result\""));
}

/* V18 */
HEAVY_TEST(whoever_does_not_say_hello_is_refused)
{
	static const struct {
		const char *said, *heard;
	} rows[] = {
		{"garbage\n", "\"id\":null,\"error\":{\"code\":-32700"},
		{INITIALIZE, "the first message must be mcpool/hello"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/hello\",\"params\":"
		 "{\"protocol\":9,\"version\":\"7.7\",\"role\":\"bridge\"}}\n",
		 "speaks protocol 1; you are 7.7 and speak protocol 9"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/hello\",\"params\":"
		 "{\"protocol\":1,\"role\":\"bridge\",\"cwd\":\"/\",\"options\":"
		 "{\"project\":\"/there/is/none\"}}}\n",
		 "there is no folder"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/hello\",\"params\":"
		 "{\"protocol\":1,\"role\":\"bridge\",\"cwd\":\"relative\"}}\n",
		 "must be an absolute path"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/hello\",\"params\":"
		 "{\"protocol\":1,\"role\":\"bridge\",\"cwd\":\"/\",\"options\":"
		 "{\"profile\":\"none\"}}}\n",
		 "there is no profile"},
	};
	DESK;

	CHECK(open_desk(&d));
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK(knock(&d));
		CHECK(tell(&d, rows[i].said));
		CHECK(hear(&d, rows[i].heard));
		CHECK(is_shut(&d));
		for (int n = 0; n < 5; n++)
			mp_loop_turn(d.hub->loop, false);
		CHECK_EQ(mp_socket_face_count(d.face), 0);
	}
	CHECK_EQ(mp_sessions_count(d.hub->sessions), 0);
}

/* A50 */
HEAVY_TEST(the_command_line_is_obeyed)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(greet(&d, "control", ""));
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"mcpool/status\"}\n"));
	CHECK(hear(&d, "\"sessions\":[]"));
	CHECK(strstr(d.said, "\"name\":\"p\"") && strstr(d.said, "\"state\":\"disabled\""));
	CHECK_EQ(mp_sessions_count(d.hub->sessions), 0);
	d.n = 0;
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"mcpool/server/reconnect\","
		       "\"params\":{\"name\":\"zz\"}}\n"));
	CHECK(hear(&d, "Server \\\"zz\\\" not found"));
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"mcpool/server/reconnect\","
		       "\"params\":{\"name\":\"a\"}}\n"));
	CHECK(hear(&d, "is disabled. Run"));
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"mcpool/events\","
		       "\"params\":{\"since\":0}}\n"));
	CHECK(hear(&d, "\"id\":5,\"result\":{\"last\":"));
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"mcpool/reload\"}\n"));
	CHECK(hear(&d, "\"id\":6,\"result\":{\"views\":2,\"noticed\":["));
	CHECK(hear(&d, "\"what\":\"reloaded\""));
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"nonsense\"}\n"));
	CHECK(hear(&d, "\"id\":7,\"error\":{\"code\":-32601"));
	CHECK(tell(&d, "garbage\n"));
	CHECK(hear(&d, "-32700"));
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"mcpool/shutdown\","
		       "\"params\":{\"drain\":false}}\n"));
	CHECK(hear(&d, "\"id\":8,\"result\":{\"pid\""));
	CHECK_EQ(d.asked, 1);
	CHECK_EQ(d.drained, 0);
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"mcpool/shutdown\","
		       "\"params\":{\"replace\":true}}\n"));
	CHECK(hear(&d, "\"id\":9,\"result\":{\"pid\""));
	CHECK_EQ(d.asked, 12);
	CHECK_EQ(d.drained, 1);
}

HEAVY_TEST(a_bridge_is_told_when_the_hub_leaves)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(greet(&d, "bridge", ""));
	mp_socket_face_announce(d.face, false);
	CHECK(hear(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"mcpool/bye\"}\n"));
	CHECK(tell(&d, INITIALIZE) && hear(&d, "\"id\":\"i\"")); /* it is served on */
	d.n = 0;
	mp_socket_face_dismiss(d.face);
	CHECK(is_shut(&d)); /* without a second word */
	CHECK_EQ(mp_sessions_count(d.hub->sessions), 0);
}

static void is_drained(void *u)
{
	struct desk *d = u;

	d->drained++;
}

/* Requests that a bridge sent before it read the bye are served: the hub waits for its reply. */
HEAVY_TEST(a_hub_that_drains_waits_for_the_bye_of_each_bridge)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(greet(&d, "bridge", ""));
	mp_socket_face_announce(d.face, false);
	mp_sessions_drain(d.hub->sessions, is_drained, &d);
	CHECK(hear(&d, "mcpool/bye"));
	mp_loop_turn(d.hub->loop, false);
	CHECK_EQ(d.drained, 0);
	CHECK(tell(&d, INITIALIZE) && hear(&d, "\"id\":\"i\""));
	CHECK_EQ(d.drained, 0);
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"mcpool/bye\"}\n"));
	CHECK(settles(&d, 1));
}

/* Bridges of earlier versions do not reply, and one that is cut off cannot. */
HEAVY_TEST(a_hub_that_drains_does_not_wait_for_ever)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(greet(&d, "bridge", ""));
	mp_socket_face_announce(d.face, false);
	mp_sessions_drain(d.hub->sessions, is_drained, &d);
	CHECK(settles(&d, 1)); /* after 1 s of the clock */
	CHECK(tell(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"mcpool/bye\"}\n"));
	mp_loop_turn(d.hub->loop, false); /* too late, and ignored */
	CHECK_EQ(d.drained, 1);
}

HEAVY_TEST(a_bridge_that_has_gone_is_not_waited_for)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(greet(&d, "bridge", ""));
	mp_socket_face_announce(d.face, false);
	mp_sessions_drain(d.hub->sessions, is_drained, &d);
	close(d.peer);
	d.peer = -1;
	for (int i = 0; i < 300 && !d.drained; i++)
		mp_loop_turn(d.hub->loop, false);
	CHECK_EQ(d.drained, 1);
}

HEAVY_TEST(a_bridge_is_told_that_a_newer_hub_comes)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(greet(&d, "bridge", ""));
	mp_socket_face_announce(d.face, true);
	CHECK(hear(&d, "\"method\":\"mcpool/bye\",\"params\":{\"replaced\":true}}\n"));
}
