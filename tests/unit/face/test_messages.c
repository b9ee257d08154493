/*
 * test_messages.c - agents that say anything, over the bridge's socket and over HTTP of both eras,
 * to servers that ask back, change and die. Each request is answered exactly once or its agent has
 * left, no agent hears what was meant for another, and nothing is left over (attack-S2). The seed
 * is fixed. MESSAGES: how many each way, more than usual; `make fuzz` has two million.
 */
#include "messages_stage.h"

#include <sys/socket.h>
#include <unistd.h>

#include "face/line_conn.h"
#include "messages_http.h"
#include "pool/instance.h"
#include "pool/pool_client.h"
#include "session/index.h"
#include "session/request.h"
#include "session/scope.h"

enum { USUAL = 20000, EPOCH = 4000, SERVERS = 5 };

#define CONFIG                                                                               \
	"{\"mcpServers\":{\"serial\":{\"command\":\"a\",\"mode\":\"serial\"},\"private\":{"  \
	"\"command\":\"b\",\"mode\":\"session\"},\"shared\":{\"command\":\"c\"},\"plain\":{" \
	"\"command\":\"d\",\"start\":\"lazy\"},\"tasks\":{\"command\":\"e\"}}}"

static const char *const names[SERVERS] = {"serial", "private", "shared", "plain", "tasks"};

/* --- the bridge ------------------------------------------------------------------------------ */

/* As face/socket.c has it behind the hello. */
static void line(void *u, struct mp_str text)
{
	struct client *c = u;

	(void)mp_session_receive_text(c->session, text, 0);
}

static void oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct client *c = u;

	(void)mp_session_receive_oversize(c->session, head, tail, 0);
}

static void ended(void *u, int why)
{
	struct client *c = u;

	(void)why;
	c->session = mp_session_free(c->session);
	c->conn = mp_line_conn_free(c->conn);
}

static void deliver(void *u, const struct mp_delivery *d)
{
	struct client *c = u;

	if (!c->session)
		complain(c->stage, "an agent that left was told something", d->text);
	else if (d->text.len)
		mp_line_conn_say(c->conn, d->text);
}

static const struct mp_line_conn_hooks conn_hooks = {line, oversize, ended, NULL};
static const struct mp_session_hooks session_hooks = {deliver};

static void read_lines(struct client *c)
{
	char bytes[65536];
	const char *end;
	ssize_t n;

	while (c->peer >= 0 && (n = read(c->peer, bytes, sizeof(bytes))) > 0)
		mp_check(mp_buf_add(&c->heard, bytes, (size_t)n) == 0);
	while (c->heard.len && (end = memchr(c->heard.data, '\n', c->heard.len))) {
		size_t len = (size_t)(end - c->heard.data);

		hear(c, NULL, (struct mp_str){c->heard.data, len});
		c->heard.len -= len + 1;
		memmove(c->heard.data, end + 1, c->heard.len);
	}
}

static void leave_bridge(struct client *c)
{
	if (c->peer < 0)
		return;
	read_lines(c);
	close(c->peer);
	c->peer = -1;
	fleet_settle(&c->stage->front.f);
	if (c->session)
		complain(c->stage, "a bridge that left has a session", MP_STR(""));
	promises_done(&c->owed);
	mp_buf_clear(&c->heard);
}

static void say_line(struct client *c, struct mp_str text)
{
	struct mp_message m;

	expect(c, &c->owed, text, &m);
	mp_buf_clear(&c->stage->request);
	mp_check(mp_buf_add_str(&c->stage->request, text) == 0 &&
		 mp_buf_add(&c->stage->request, "\n", 1) == 0);
	mp_check(write(c->peer, c->stage->request.data, c->stage->request.len) ==
		 (ssize_t)c->stage->request.len);
}

static void join_bridge(struct client *c)
{
	struct mp_session_options o = {.workspace = c->stage->front.f.workspace,
				       .principal = "uid:1",
				       .way = "stdio",
				       .traits = MP_SESSION_ONE_STREAM};
	int fds[2];

	mp_check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	c->peer = fds[1];
	c->conn =
		mp_line_conn_new(c->stage->front.f.loop, fds[0], MP_LIMIT_MESSAGE, &conn_hooks, c);
	mp_check(mp_session_new(c->stage->front.sessions, &o, &session_hooks, c, &c->session,
				NULL) == 0);
	say_line(c, mp_str_of(initialize));
	say_line(c, mp_str_of(initialized));
}

/* --- servers --------------------------------------------------------------------------------- */

/* The pattern with the mark for each @. */
static int fill(char *out, size_t size, const char *pattern, long long mark)
{
	int n = 0;

	for (; *pattern && (size_t)n + 24 < size; pattern++)
		n += *pattern == '@' ? snprintf(out + n, size - (size_t)n, "%lld", mark)
				     : snprintf(out + n, size - (size_t)n, "%c", *pattern);
	return n;
}

static void answer(struct stage *s, struct fleet_server *server, int kept)
{
	static const char *const results[] = {
		"{\"content\":[{\"type\":\"text\",\"text\":\"for #@\"}]}",
		"{\"content\":[],\"structuredContent\":{\"a\":\"for #@\"}}",
		"{\"task\":{\"taskId\":\"x@\",\"status\":\"working\"}}",
		"{\"resultType\":\"task\",\"taskId\":\"y@\",\"status\":\"working\"}",
		"{\"contents\":[{\"uri\":\"f:/1\",\"text\":\"for #@\"}]}",
		"[@]",
	};
	char text[200];

	(void)fill(text, sizeof(text), CHOOSE(&s->g, results), server->kept_who[kept]);
	(void)fleet_answer_kept(server, kept, text);
	server->kept_who[kept] = 0;
	if (pick(&s->g, 8) == 0 || kept >= server->n_kept)
		return; /* and it is answered again */
	server->n_kept--;
	server->kept_by[kept] = server->kept_by[server->n_kept];
	server->kept_who[kept] = server->kept_who[server->n_kept];
	memmove(server->kept[kept], server->kept[server->n_kept], sizeof(server->kept[0]));
	memmove(server->kept_token[kept], server->kept_token[server->n_kept],
		sizeof(server->kept_token[0]));
}

static void answer_all(struct stage *s, struct fleet_server *server)
{
	for (int i = server->n_kept - 1; i >= 0; i--)
		answer(s, server, i);
	server->n_kept = 0;
}

static void speak(struct stage *s, struct fleet_server *server)
{
	static const char *const questions[] = {
		"\"method\":\"elicitation/create\",\"params\":{\"message\":\"for #@\"}",
		"\"method\":\"elicitation/create\",\"params\":{\"message\":\"for #@\"}",
		"\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[\"for #@\"]}",
		"\"method\":\"roots/list\",\"params\":{\"_meta\":{\"a\":\"for #@\"}}",
	};
	static const char *const notes[] = {
		"\"method\":\"notifications/message\",\"params\":{\"level\":\"error\"}",
		"\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"f:/1\"}",
		"\"method\":\"notifications/tools/list_changed\"",
		"\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}",
		"\"method\":\"notifications/tasks/status\",\"params\":{\"taskId\":\"x\"}",
	};
	int kept = server->n_kept ? (int)pick(&s->g, (unsigned)server->n_kept) : -1;
	char text[300];
	int n = snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",");

	if (kept >= 0 && pick(&s->g, 3) == 0 && server->kept_token[kept][0]) {
		snprintf(text + n, sizeof(text) - (size_t)n,
			 "\"method\":\"notifications/progress\",\"params\":{\"progressToken\":%s,"
			 "\"progress\":1}}",
			 server->kept_token[kept]);
	} else if (kept >= 0 && pick(&s->g, 2)) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, "\"id\":%lld,",
			      server->kept_who[kept] * 64 + ++s->asked % 64);
		n += fill(text + n, sizeof(text) - (size_t)n, CHOOSE(&s->g, questions),
			  server->kept_who[kept]);
		snprintf(text + n, sizeof(text) - (size_t)n, "}");
	} else {
		snprintf(text + n, sizeof(text) - (size_t)n, "%s}", CHOOSE(&s->g, notes));
	}
	if (server->end)
		(void)fleet_say_during(server, kept, text);
}

/* The server got a reply of the agent that it asked, and of no other. */
static void check_replies(struct stage *s, struct fleet_server *server)
{
	const char *by = server->replies ? strstr(server->replied, "\"by\":") : NULL;
	const char *id = by ? strstr(server->replied, "\"id\":") : NULL;

	unsigned long long asked = id ? strtoull(id + 5, NULL, 10) / 64 : 0;

	if (asked && by[5] >= '0' && by[5] < '0' + SPEAKERS &&
	    is_foreign(asked, &s->clients[by[5] - '0'].speaker))
		complain(s, "a server got the answer of another agent", mp_str_of(server->replied));
	server->replies = 0;
}

static void act_as_server(struct stage *s)
{
	struct fleet_server *server = fleet_get(&s->front.f, names[pick(&s->g, SERVERS)]);
	unsigned what = pick(&s->g, 1000);

	if (server->n_kept > FLEET_KEPT / 2)
		answer_all(s, server);
	else if (what < 650)
		speak(s, server);
	else if (what < 998 && server->n_kept)
		answer(s, server, (int)pick(&s->g, (unsigned)server->n_kept));
	else if (what == 999)
		fleet_die(server);
	if (what == 0)
		server->tools = server->tools && pick(&s->g, 2)
					? NULL
					: "{\"tools\":[{\"name\":\"t\"},{\"name\":\"u\"}]}";
	for (int i = 0; i < SERVERS; i++)
		check_replies(s, fleet_get(&s->front.f, names[i]));
}

/* --- one epoch ------------------------------------------------------------------------------- */

static bool stage_open(struct stage *s, uint64_t epoch)
{
	static const char resources[] =
		"{\"resources\":[{\"uri\":\"f:/1\",\"name\":\"1\"},{\"uri\":\"f:/2\",\"name\":"
		"\"2\"}]}";

	for (int i = 0; i < SERVERS; i++) {
		struct fleet_server *server = fleet_get(&s->front.f, names[i]);

		server->holds_calls = i != 3;
		server->modern = i == 2 && epoch % 2;
		server->traits = i == 2 ? MP_TRANSPORT_PER_REQUEST : 0;
		server->capabilities =
			"{\"tools\":{\"listChanged\":true},\"logging\":{},\"prompts\":{},"
			"\"completions\":{},\"tasks\":{},\"resources\":{\"subscribe\":true}}";
		server->resources = i == 2 || i == 3 ? resources : NULL;
		server->prompts = i == 2 || i == 3 ? "{\"prompts\":[{\"name\":\"p\"}]}" : NULL;
	}
	fleet_get(&s->front.f, "tasks")->tools =
		"{\"tools\":[{\"name\":\"t\",\"inputSchema\":{},\"execution\":{\"taskSupport\":"
		"\"required\"}}]}";
	REQUIRE(front_open(&s->front, CONFIG, false));
	return true;
}

static void stage_done(struct stage *s)
{
	for (int i = 0; i < SPEAKERS; i++) {
		if (s->front.f.loop) {
			leave_bridge(&s->clients[i]);
			leave_http(&s->clients[i]);
		}
		mp_buf_done(&s->clients[i].heard);
	}
	front_done(&s->front);
	mp_tape_done(&s->tape);
	mp_tape_done(&s->inner);
	mp_buf_done(&s->out);
	mp_buf_done(&s->request);
}

static void stage_init(struct stage *s, enum way way, uint64_t seed)
{
	s->way = way;
	s->g.random = seed * 0x9e3779b97f4a7c15u + 1;
	mp_message_tape_init(&s->tape);
	mp_message_tape_init(&s->inner);
	mp_buf_init(&s->out, MP_MIB(1));
	mp_buf_init(&s->request, MP_MIB(2));
	for (int i = 0; i < SPEAKERS; i++) {
		struct client *c = &s->clients[i];

		c->stage = s;
		c->peer = -1;
		c->speaker.index = i;
		c->speaker.is_modern = way == MODERN || (way == BRIDGE && i % 2);
		mp_buf_init(&c->heard, MP_MIB(32));
	}
}

static void say(struct stage *s)
{
	struct client *c = &s->clients[pick(&s->g, SPEAKERS)];

	if (s->way == BRIDGE && c->peer >= 0 && pick(&s->g, 400) == 0)
		leave_bridge(c);
	if (s->way == BRIDGE && c->peer < 0)
		join_bridge(c);
	write_message(&s->g, &c->speaker, &s->out);
	if (s->way == BRIDGE)
		say_line(c, mp_buf_get(&s->out));
	else if (s->way == LEGACY)
		say_legacy(c, mp_buf_get(&s->out));
	else
		say_modern(c, mp_buf_get(&s->out));
}

static void listen_to_all(struct stage *s)
{
	for (int i = 0; i < SPEAKERS; i++) {
		read_lines(&s->clients[i]);
		read_answers(&s->clients[i]);
	}
}

static void has_drained(void *u)
{
	(void)u;
}

static void check_owed(struct stage *s, const struct promises *p)
{
	const char *id = promises_get_owed(p);

	if (id)
		complain(s, "a request was not answered", mp_str_of(id));
}

/* The hub stops: what is owed comes now. */
static bool ends_well(struct stage *s)
{
	mp_sessions_drain(s->front.sessions, has_drained, s);
	for (int i = 0; i < SERVERS; i++) {
		fleet_get(&s->front.f, names[i])->holds_calls = false;
		answer_all(s, fleet_get(&s->front.f, names[i]));
	}
	fleet_advance(&s->front.f, 700000);
	listen_to_all(s);
	for (int i = 0; i < SPEAKERS; i++) {
		check_owed(s, &s->clients[i].owed);
		for (int k = 0; k < CONNS; k++)
			check_owed(s, &s->clients[i].conns[k].owed);
	}
	REQUIRE(!s->wrong);
	REQUIRE(s->front.sessions->open == 0);
	for (int i = 0; i < SPEAKERS; i++) {
		leave_bridge(&s->clients[i]);
		leave_http(&s->clients[i]);
	}
	s->front.face = mp_http_face_free(s->front.face);
	fleet_settle(&s->front.f);
	REQUIRE(s->front.sessions->open == 0 && s->front.sessions->parked.len == 0);
	REQUIRE(s->front.sessions->list.len == 0);
	REQUIRE(s->front.f.pool->server_requests.len == 0 && s->front.f.pool->clients.len == 0);
	REQUIRE(!s->wrong);
	return true;
}

struct totals {
	uint64_t n, heard, answers, questions, parked, refused, most;
};

static bool run_epoch(enum way way, uint64_t epoch, struct totals *all)
{
	MP_CLEANUP(stage_done) struct stage s = {.wrong = NULL};
	uint64_t live = mp_mem_get_live();
	bool is_fine;

	stage_init(&s, way, epoch);
	REQUIRE(fleet_init(&s.front.f) && stage_open(&s, epoch));
	for (int i = 0; i < EPOCH && !s.wrong; i++) {
		say(&s);
		if (pick(&s.g, 8))
			fleet_settle(&s.front.f);
		if (pick(&s.g, 3))
			act_as_server(&s);
		if (pick(&s.g, 50) == 0)
			fleet_advance(&s.front.f, pick(&s.g, pick(&s.g, 20) ? 4000 : 700000));
		listen_to_all(&s);
		all->most =
			mp_mem_get_live() - live > all->most ? mp_mem_get_live() - live : all->most;
	}
	is_fine = !s.wrong && ends_well(&s);
	if (!is_fine)
		printf("epoch %llu, message %llu: %s: %s\n", (unsigned long long)epoch,
		       (unsigned long long)s.g.n, s.wrong ? s.wrong : "something is left over",
		       s.about);
	all->n += s.g.n;
	all->heard += (uint64_t)s.heard;
	all->answers += (uint64_t)s.answers;
	all->questions += (uint64_t)s.questions;
	all->parked += (uint64_t)s.parked;
	all->refused += (uint64_t)s.refused;
	return is_fine;
}

static bool run_way(enum way way)
{
	const char *asked = getenv("MESSAGES");
	uint64_t n = asked ? strtoull(asked, NULL, 10) : 0, live = mp_mem_get_live();
	struct totals all = {0};

	for (uint64_t epoch = 1; all.n < (n > USUAL ? n : USUAL); epoch++) {
		REQUIRE(run_epoch(way, epoch, &all));
		REQUIRE(mp_mem_get_live() == live); /* no growth from one to the next */
	}
	printf("%llu messages, %llu heard, %llu answers, %llu questions, %llu parked, %llu "
	       "refused by HTTP, at most %llu blocks\n",
	       (unsigned long long)all.n, (unsigned long long)all.heard,
	       (unsigned long long)all.answers, (unsigned long long)all.questions,
	       (unsigned long long)all.parked, (unsigned long long)all.refused,
	       (unsigned long long)all.most);
	return true;
}

/* V22 V24 V42 */
HEAVY_TEST(anything_may_be_said_over_the_bridge)
{
	CHECK(run_way(BRIDGE));
}

HEAVY_TEST(anything_may_be_said_over_legacy_http)
{
	CHECK(run_way(LEGACY));
}

HEAVY_TEST(anything_may_be_said_over_modern_http)
{
	CHECK(run_way(MODERN));
}
