/*
 * test_session_storm.c - agents of both eras, in sessions and without one, who say anything at any
 * moment, and servers that ask, change, tell and die: each request is answered exactly once, or was
 * cancelled, or its agent is gone; and nothing is left over. STORM_SEED runs one storm, STORMS
 * more.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent.h"
#include "base/limits.h"
#include "base/log.h"
#include "pool/instance.h"
#include "pool/pool_client.h"
#include "session/index.h"
#include "session/request.h"
#include "session/scope.h"

enum { VOICES = 4, SEEDS = 60, STEPS = 300, REQUESTS = 1500, STREAMS = 1500, TEXT = 6000 };

#define SERVERS                                                                              \
	"{\"mcpServers\":{\"serial\":{\"command\":\"a\",\"mode\":\"serial\"},\"private\":{"  \
	"\"command\":\"b\",\"mode\":\"session\"},\"shared\":{\"command\":\"c\"},\"plain\":{" \
	"\"command\":\"d\",\"start\":\"lazy\"}}}"

static const char *const names[] = {"serial", "private", "shared", "plain"};

static const unsigned traits[VOICES] = {MP_SESSION_ONE_STREAM, MP_SESSION_ONE_STREAM, 0,
					MP_SESSION_STATELESS};

enum kind { CALL, OPENING, OTHER }; /* an opening is never cancelled */

struct request {
	int voice, id;
	mp_id stream;
	enum kind kind;
	bool is_open;
};

/* Where the requests of one message are answered. */
struct stream {
	int open; /* answers to come */
	bool is_over, is_left;
};

struct storm;

struct voice {
	struct storm *storm;
	int index;
	struct mp_session *session;
	/* The last question that it was sent away with, and what it had asked for. */
	char state[200];
	int server, x;
	uint64_t question; /* the last one of a server; 0: none */
	int last_server, last_x;
};

struct storm {
	struct fleet f;
	struct mp_sessions *sessions;
	uint64_t random;
	struct voice voices[VOICES];
	struct request requests[REQUESTS];
	int n;
	struct stream streams[STREAMS];
	int n_streams;
	int answers, parked, asked, wrong, drained;
	const char *what; /* was wrong first */
};

static unsigned pick(struct storm *s, unsigned n)
{
	return (unsigned)(test_random(&s->random) % n);
}

static void complain(struct storm *s, const char *what)
{
	s->what = s->wrong++ ? s->what : what;
}

/* --- what agents hear ------------------------------------------------------------------------ */

static struct request *find(struct storm *s, int voice, int id, mp_id stream)
{
	for (int i = 0; i < s->n; i++) {
		struct request *r = &s->requests[i];

		if (r->is_open && r->voice == voice && r->id == id &&
		    (stream == UINT64_MAX || r->stream == stream))
			return r;
	}
	return NULL;
}

static void close_request(struct storm *s, struct request *r)
{
	r->is_open = false;
	if (r->stream)
		s->streams[r->stream].open--;
}

static void note_state(struct voice *v, struct mp_str text)
{
	const char *at = memmem(text.p, text.len, "\"requestState\":\"", 16);

	if (!at)
		return;
	v->storm->parked++;
	snprintf(v->state, sizeof(v->state), "%.*s", (int)strcspn(at + 16, "\""), at + 16);
	v->server = v->last_server;
	v->x = v->last_x;
}

static void hear_answer(struct voice *v, const struct mp_message *m, const struct mp_delivery *d)
{
	struct request *r;

	if (!m->id.len)
		return; /* what could not be read */
	r = find(v->storm, v->index, atoi(m->id.p), d->stream);
	if (!r) {
		complain(v->storm, "an answer to nothing, or a second one");
		return;
	}
	v->storm->answers++;
	close_request(v->storm, r);
	if (m->kind == MP_MESSAGE_RESULT)
		note_state(v, d->text);
}

static void hear(struct voice *v, const struct mp_delivery *d)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;

	mp_message_tape_init(&t);
	if (mp_message_scan(&t, d->text, &m, NULL) < 0)
		complain(v->storm, "a message that is none");
	else if (m.kind == MP_MESSAGE_RESULT || m.kind == MP_MESSAGE_ERROR)
		hear_answer(v, &m, d);
	else if (m.kind == MP_MESSAGE_REQUEST && mp_str_to_u64(m.id, &v->question) < 0)
		complain(v->storm, "a question whose id is no number");
	else if (m.kind == MP_MESSAGE_REQUEST)
		v->storm->asked++;
}

static void deliver(void *u, const struct mp_delivery *d)
{
	struct voice *v = u;
	struct stream *stream = d->stream ? &v->storm->streams[d->stream] : NULL;

	if (!v->session)
		complain(v->storm, "somebody who is gone was told something");
	if (d->text.len)
		hear(v, d);
	else if (!d->is_last)
		complain(v->storm, "an empty message");
	if (!stream || !d->is_last)
		return;
	if (stream->is_over || stream->is_left)
		complain(v->storm, "a stream ends twice, or after it was left");
	if (stream->open > 0 && d->text.len)
		complain(v->storm, "a stream ends before its answers");
	stream->is_over = true;
}

static const struct mp_session_hooks hooks = {deliver};

/* --- what agents say ------------------------------------------------------------------------- */

static void join(struct voice *v)
{
	struct mp_session_options o = {.workspace = v->storm->f.workspace,
				       .principal = "uid:1",
				       .way = "test",
				       .traits = traits[v->index]};

	v->state[0] = '\0';
	v->question = 0;
	mp_check(mp_session_new(v->storm->sessions, &o, &hooks, v, &v->session, NULL) == 0);
}

static void leave(struct voice *v)
{
	struct storm *s = v->storm;
	struct mp_session *session = MP_TAKE(v->session);

	for (int i = 0; i < s->n; i++)
		if (s->requests[i].is_open && s->requests[i].voice == v->index) {
			s->streams[s->requests[i].stream].is_left = true;
			close_request(s, &s->requests[i]);
		}
	mp_session_free(session);
}

/* A request that will be answered; its id. */
static int expect(struct voice *v, enum kind kind, mp_id stream, int id)
{
	struct storm *s = v->storm;

	s->requests[s->n] = (struct request){v->index, id ? id : s->n + 1, stream, kind, true};
	if (stream)
		s->streams[stream].open++;
	return s->requests[s->n++].id;
}

static int find_repeat(struct voice *v)
{
	for (int i = v->storm->n - 1; i >= 0; i--) {
		struct request *r = &v->storm->requests[i];

		if (r->is_open && r->voice == v->index && r->kind == CALL)
			return pick(v->storm, 8) ? 0 : r->id;
	}
	return 0;
}

static const char *make_meta(bool is_modern, int id, char out[400])
{
	snprintf(out, 400, "\"_meta\":{\"progressToken\":%d%s}", id,
		 !is_modern ? ""
			    : ",\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
			      "\"io.modelcontextprotocol/logLevel\":\"debug\","
			      "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{},"
			      "\"roots\":{}}");
	return out;
}

static void write_call(struct voice *v, bool is_modern, mp_id stream, char *out)
{
	int server = (int)pick(v->storm, 5), x = (int)pick(v->storm, 3);
	int id = expect(v, CALL, stream, find_repeat(v));
	char meta[400];

	v->last_server = server;
	v->last_x = x;
	snprintf(out, TEXT,
		 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"mcp__%s__t\",\"arguments\":{\"x\":%d},%s}}",
		 id, server < 4 ? names[server] : "nobody", x, make_meta(is_modern, id, meta));
}

/* The same request again, with answers and the seal; or nearly. */
static void write_return(struct voice *v, mp_id stream, char *out)
{
	int id = expect(v, OTHER, stream, 0), x = pick(v->storm, 5) ? v->x : 9;
	char meta[400];

	if (pick(v->storm, 8) == 0 && strlen(v->state) > 20)
		v->state[15] = '0';
	v->last_server = v->server;
	v->last_x = x;
	snprintf(out, TEXT,
		 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"mcp__%s__t\",\"arguments\":{\"x\":%d},\"inputResponses\":{\"q%u\":{\"action\":"
		 "\"accept\"},\"q%u\":{},\"q1\":3},\"requestState\":\"%s\",%s}}",
		 id, v->server < 4 ? names[v->server] : "nobody", x, pick(v->storm, 6),
		 6 + pick(v->storm, 9), v->state, make_meta(true, id, meta));
}

static void write_other(struct voice *v, bool is_modern, mp_id stream, char *out)
{
	static const struct {
		const char *method, *params;
	} others[] = {
		{"tools/list", ""},
		{"ping", ""},
		{"nonsense", ""},
		{"server/discover", ""},
		{"resources/subscribe", "\"uri\":\"f:/1\","},
		{"resources/unsubscribe", "\"uri\":\"f:/1\","},
		{"resources/read", "\"uri\":\"f:/1\","},
		{"completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"p\"},"},
		{"logging/setLevel", "\"level\":\"debug\","},
		{"tasks/get", "\"taskId\":\"x\","},
		{"initialize",
		 "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{},"
		 "\"roots\":{}},\"clientInfo\":{\"name\":\"codex\",\"version\":\"1\"},"},
	};
	unsigned which = pick(v->storm, MP_ARRAY_LEN(others));
	int id = expect(v, strcmp(others[which].method, "initialize") == 0 ? OPENING : OTHER,
			stream, 0);
	char meta[400];

	snprintf(out, TEXT, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{%s%s}}",
		 id, others[which].method, others[which].params, make_meta(is_modern, id, meta));
}

static void write_listen(struct voice *v, mp_id stream, char *out)
{
	int id = expect(v, OTHER, stream, 0);
	char meta[400];

	snprintf(out, TEXT,
		 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"subscriptions/listen\",\"params\":{"
		 "\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":["
		 "\"f:/1\",\"f:/2\",\"f:/1\",7]},%s}}",
		 id, make_meta(true, id, meta));
}

static void write_request(struct voice *v, mp_id stream, char *out)
{
	bool is_modern = traits[v->index] & MP_SESSION_STATELESS ? pick(v->storm, 20) : false;

	if (traits[v->index] & MP_SESSION_ONE_STREAM)
		is_modern = pick(v->storm, 2);
	if (is_modern && v->state[0] && pick(v->storm, 3) == 0)
		write_return(v, stream, out);
	else if (is_modern && pick(v->storm, 8) == 0)
		write_listen(v, stream, out);
	else if (pick(v->storm, 3))
		write_call(v, is_modern, stream, out);
	else
		write_other(v, is_modern, stream, out);
}

static mp_id open_stream(struct voice *v)
{
	if (traits[v->index] & MP_SESSION_ONE_STREAM)
		return 0;
	return (mp_id)(v->storm->n_streams++);
}

static void say(struct voice *v, const char *text, mp_id stream)
{
	size_t n = mp_session_receive_text(v->session, mp_str_of(text), stream);

	if (stream && n == 0)
		v->storm->streams[stream].is_over = true;
}

static void say_request(struct voice *v)
{
	mp_id stream = open_stream(v);
	char text[TEXT];

	write_request(v, stream, text);
	say(v, text, stream);
}

static void say_batch(struct voice *v, mp_id stream)
{
	char text[4 * TEXT + 100], one[TEXT];
	size_t len = (size_t)snprintf(text, sizeof(text), "[3");

	if (traits[v->index] & MP_SESSION_STATELESS) {
		say(v, "[{}]", stream);
		return;
	}
	for (unsigned i = pick(v->storm, 4); i > 0; i--) {
		write_request(v, stream, one);
		len += (size_t)snprintf(text + len, sizeof(text) - len, ",%s", one);
	}
	snprintf(text + len, sizeof(text) - len, "]");
	say(v, text, stream);
}

static void cancel(struct voice *v)
{
	struct storm *s = v->storm;
	struct request *r = s->n ? &s->requests[pick(s, (unsigned)s->n)] : NULL;
	char text[200];

	if (!r)
		return;
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		 "{\"requestId\":%d}}",
		 r->id);
	r = find(s, v->index, r->id, UINT64_MAX);
	if (r && r->kind != OPENING && !(traits[v->index] & MP_SESSION_STATELESS))
		close_request(s, r);
	say(v, text, open_stream(v));
}

static void leave_stream(struct voice *v)
{
	struct storm *s = v->storm;
	struct request *r = s->n ? &s->requests[pick(s, (unsigned)s->n)] : NULL;
	mp_id stream;

	if (!r || !r->is_open || r->voice != v->index || !r->stream)
		return;
	stream = r->stream;
	s->streams[stream].is_left = true;
	for (int i = 0; i < s->n; i++)
		if (s->requests[i].is_open && s->requests[i].stream == stream)
			close_request(s, &s->requests[i]);
	mp_session_leave_stream(v->session, stream);
}

static void reply(struct voice *v)
{
	char text[200];

	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%llu,%s}",
		 (unsigned long long)v->question,
		 pick(v->storm, 3) ? "\"result\":{\"action\":\"accept\"}"
				   : "\"error\":{\"code\":-1,\"message\":\"no\"}");
	say(v, text, open_stream(v));
}

static void act_as_agent(struct storm *s)
{
	struct voice *v = &s->voices[pick(s, VOICES)];

	if (s->n > REQUESTS - 10 || s->n_streams > STREAMS - 10)
		return;
	if (!v->session)
		join(v);
	switch (pick(s, 18)) {
	case 0:
		leave(v);
		break;
	case 1:
		cancel(v);
		break;
	case 2:
		leave_stream(v);
		break;
	case 3:
		reply(v);
		break;
	case 4:
		say_batch(v, open_stream(v));
		break;
	case 5:
		say(v, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
		    open_stream(v));
		break;
	case 6:
		say(v, pick(s, 2) ? "{" : "{\"jsonrpc\":\"2.0\",\"method\":7}", open_stream(v));
		break;
	default:
		say_request(v);
	}
}

/* --- servers --------------------------------------------------------------------------------- */

static void speak(struct storm *s, struct fleet_server *server)
{
	static const char *const notes[] = {
		"\"method\":\"notifications/message\",\"params\":{\"level\":\"error\"}",
		"\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"f:/1\"}",
		"\"method\":\"notifications/tools/list_changed\"",
		"\"method\":\"notifications/progress\",\"params\":{\"progressToken\":3}",
		"\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":3}",
		"\"id\":1,\"method\":\"roots/list\"",
		"\"id\":2,\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\"}",
		"\"id\":3,\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\"}",
		"\"id\":4,\"method\":\"elicitation/create\",\"params\":{\"message\":[1]}",
		"\"id\":5,\"method\":\"sampling/createMessage\",\"params\":{}",
	};
	int kept = server->n_kept ? (int)pick(s, (unsigned)server->n_kept + 1) - 1 : -1;
	char text[200];

	if (!server->end)
		return;
	if (pick(s, 4) == 0)
		server->tools =
			pick(s, 2) ? NULL : "{\"tools\":[{\"name\":\"t\"},{\"name\":\"u\"}]}";
	snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",%s}",
		 notes[pick(s, MP_ARRAY_LEN(notes))]);
	(void)(fleet_say_during(server, kept, text));
}

static void answer_all(struct fleet_server *server)
{
	for (int i = 0; i < server->n_kept; i++)
		(void)(fleet_answer_kept(server, i, "{\"content\":[]}"));
	server->n_kept = 0;
}

static void act_as_server(struct storm *s)
{
	static const char *const results[] = {
		"{\"content\":[]}", "[1]", "{\"task\":{\"taskId\":\"x\"}}",
		"{\"content\":[{\"uri\":\"f:/1\"}],\"structuredContent\":[1]}"};
	struct fleet_server *server = fleet_get(&s->f, names[pick(s, 4)]);
	unsigned what = pick(s, 14);

	if (server->n_kept > FLEET_KEPT - 5)
		answer_all(server);
	if (what < 9)
		speak(s, server);
	else if (what < 13 && server->n_kept)
		(void)(fleet_answer_kept(server, (int)pick(s, (unsigned)server->n_kept),
					 results[pick(s, MP_ARRAY_LEN(results))]));
	else if (what == 13 && pick(s, 3) == 0)
		fleet_die(server);
}

static void act(struct storm *s)
{
	const struct mp_session *one;
	int r;

	switch (pick(s, 40)) {
	case 0:
		fleet_advance(&s->f, pick(s, 2) ? pick(s, 20000) : pick(s, 700000));
		break;
	case 1:
		one = s->voices[pick(s, VOICES)].session;
		r = mp_workspace_toggle(s->f.workspace, names[pick(s, 4)],
					one && pick(s, 2) ? one->id : 0, (enum mp_toggle)pick(s, 3),
					NULL);
		mp_check(r == 0);
		mp_sessions_note_workspace(s->sessions, s->f.workspace);
		break;
	case 2:
		(void)(fleet_reload(&s->f, SERVERS));
		mp_sessions_note_workspace(s->sessions, s->f.workspace);
		break;
	default:
		if (pick(s, 2))
			act_as_server(s);
		else
			act_as_agent(s);
	}
	if (pick(s, 2))
		fleet_settle(&s->f);
}

/* --- a storm --------------------------------------------------------------------------------- */

static bool storm_init(struct storm *s, uint64_t seed)
{
	s->random = seed;
	s->n_streams = 1;
	REQUIRE(fleet_init(&s->f));
	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		struct fleet_server *server = fleet_get(&s->f, names[i]);

		server->holds_calls = i != 3;
		server->modern = i == 2 && seed % 3 == 0;
		server->traits = i == 2 ? MP_TRANSPORT_PER_REQUEST : 0;
		server->capabilities = "{\"tools\":{\"listChanged\":true},\"logging\":{},"
				       "\"resources\":{\"subscribe\":true,\"listChanged\":true}}";
		server->resources = i == 1 || i == 2 ? "{\"resources\":[{\"uri\":\"f:/1\",\"name\":"
						       "\"1\"},{\"uri\":\"f:/2\",\"name\":\"2\"}]}"
						     : NULL;
	}
	for (int i = 0; i < VOICES; i++) {
		s->voices[i].storm = s;
		s->voices[i].index = i;
	}
	REQUIRE(fleet_open(&s->f, SERVERS));
	s->sessions = agent_sessions(&s->f);
	return true;
}

static void storm_done(struct storm *s)
{
	for (int i = 0; i < VOICES; i++)
		s->voices[i].session = mp_session_free(s->voices[i].session);
	mp_sessions_free(s->sessions);
	fleet_done(&s->f);
}

static void has_drained(void *u)
{
	((struct storm *)u)->drained++;
}

/* The hub stops: open requests get their answers. */
static bool ends_well(struct storm *s)
{
	mp_sessions_drain(s->sessions, has_drained, s);
	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		fleet_get(&s->f, names[i])->holds_calls = false;
		answer_all(fleet_get(&s->f, names[i]));
	}
	fleet_advance(&s->f, 700000);
	for (int i = 0; i < s->n; i++)
		if (s->requests[i].is_open)
			complain(s, "a request was not answered");
	for (int i = 1; i < s->n_streams; i++)
		if (!s->streams[i].is_over && !s->streams[i].is_left)
			complain(s, "a stream does not end");
	REQUIRE(s->wrong == 0);
	REQUIRE(s->sessions->open == 0 && s->drained >= 1);
	for (int i = 0; i < VOICES; i++)
		if (s->voices[i].session)
			leave(&s->voices[i]);
	fleet_settle(&s->f);
	REQUIRE(s->sessions->open == 0 && s->sessions->parked.len == 0);
	REQUIRE(s->f.pool->server_requests.len == 0 && s->f.pool->clients.len == 0);
	REQUIRE(s->wrong == 0);
	return true;
}

/* U18 V22 V24 V42 */
HEAVY_TEST(whatever_happens_each_request_has_one_answer)
{
	const char *one = getenv("STORM_SEED"), *many = getenv("STORMS");
	uint64_t first = one ? strtoull(one, NULL, 10) : 1;
	uint64_t last = one ? first : many ? strtoull(many, NULL, 10) : SEEDS;
	int answers = 0, parked = 0, asked = 0;

	mp_log_set_level(MP_LEVEL_ERR);
	for (uint64_t seed = first; seed <= last; seed++) {
		MP_CLEANUP(storm_done) struct storm s = {0};
		bool is_fine;

		CHECK(storm_init(&s, seed));
		for (int i = 0; i < STEPS && !s.wrong; i++)
			act(&s);
		is_fine = ends_well(&s);
		if (!is_fine)
			printf("seed %llu: %s\n", (unsigned long long)seed,
			       s.what ? s.what : "something is left over");
		CHECK(is_fine);
		answers += s.answers;
		parked += s.parked;
		asked += s.asked;
	}
	printf("%d answers, %d parked, %d asked\n", answers, parked, asked);
	if (first != last)
		CHECK(answers > 1000 && parked > 5 && asked > 5); /* it was no quiet day */
}
