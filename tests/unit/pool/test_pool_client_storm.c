/*
 * test_pool_client_storm.c - servers that ask at any moment, sessions that come, go, answer and
 * switch servers off: no session gets a request about another one's call, and nothing is left over.
 */
#include "test.h"

#include "fleet.h"

#include <stdio.h>

#include "pool/instance.h"
#include "pool/pool_client.h"
#include "heap_pool_call.h"

enum { VOICES = 4, SEEDS = 150, STEPS = 250, CALLS = 200, QUESTIONS = 40 };

#define SERVERS                                                                                   \
	"{\"mcpServers\":{\"serial\":{\"command\":\"a\",\"mode\":\"serial\",\"start\":\"lazy\"}," \
	"\"private\":{\"command\":\"b\",\"mode\":\"session\"},\"shared\":{\"command\":\"c\","     \
	"\"start\":\"lazy\"}}}"

static const char *const names[] = {"serial", "private", "shared"};

struct storm;

struct voice {
	struct storm *storm;
	mp_id session; /* 0: not there */
	mp_id questions[QUESTIONS];
	int n;
};

struct call {
	struct storm *storm;
	mp_id call, session;
	int answers;
};

struct storm {
	struct fleet f;
	uint64_t random;
	struct voice voices[VOICES];
	struct call calls[CALLS];
	int n_calls, asked, crossed;
	bool borrows; /* some sessions use the private servers of others */
	unsigned long long kept_for[3][FLEET_KEPT]; /* whose calls the servers keep */
};

static unsigned pick(struct storm *s, unsigned n)
{
	return (unsigned)(test_random(&s->random) % n);
}

static void forget(struct voice *v, mp_id question)
{
	for (int i = 0; i < v->n; i++)
		if (v->questions[i] == question)
			v->questions[i] = v->questions[--v->n];
}

static void answer(struct voice *v, mp_id question)
{
	struct mp_pool *p = v->storm->f.pool;

	forget(v, question);
	if (pick(v->storm, 3))
		mp_pool_client_reply(p, question, MP_STR("{}"));
	else
		mp_pool_client_decline(p, question, -1, MP_STR("no"));
}

static void leave(struct voice *v)
{
	mp_id session = v->session;

	v->session = 0;
	v->n = 0;
	mp_pool_client_leave(v->storm->f.pool, session);
}

/* Whose call is it? */
static bool is_own(const struct voice *v, mp_id call)
{
	for (int i = 0; i < v->storm->n_calls; i++)
		if (v->storm->calls[i].call == call)
			return v->storm->calls[i].session == v->session;
	return false;
}

static void was_asked(void *u, const struct mp_pool_server_request *rq)
{
	struct voice *v = u;
	unsigned long long whose;
	char params[64];

	snprintf(params, sizeof(params), "%.*s", MP_STR_ARGS(rq->params));
	v->storm->asked++;
	v->storm->crossed +=
		!v->session || (rq->call && !is_own(v, heap_pool_call_get_id(rq->call)));
	if (sscanf(params, "{\"for\":%llu", &whose) == 1 && whose)
		v->storm->crossed += whose != v->session;
	if (v->n < QUESTIONS)
		v->questions[v->n++] = rq->id;
	if (pick(v->storm, 4) == 0)
		answer(v, rq->id);
	else if (pick(v->storm, 20) == 0)
		leave(v);
}

static void was_unasked(void *u, mp_id question)
{
	struct voice *v = u;

	forget(v, question);
	if (v->session && pick(v->storm, 20) == 0)
		leave(v);
}

static void has_heard(void *u, const char *server, struct mp_pool_call *call,
		      const struct mp_message *m)
{
	struct voice *v = u;

	(void)m;
	v->storm->crossed += !v->session || (call && !is_own(v, heap_pool_call_get_id(call)));
	if (pick(v->storm, 10) == 0)
		mp_pool_client_unsubscribe(v->storm->f.workspace, server, v->session,
					   MP_STR("f:/"));
	else if (pick(v->storm, 20) == 0)
		leave(v);
}

static void join(struct voice *v)
{
	static const struct mp_pool_client_hooks hooks = {was_asked, was_unasked, has_heard};

	v->session = mp_pool_client_join(v->storm->f.pool, &hooks, v);
	if (v->storm->borrows && pick(v->storm, 3) == 0)
		mp_pool_client_borrow(v->storm->f.pool, v->session,
				      v->storm->voices[pick(v->storm, VOICES)].session);
}

static void note(const struct mp_pool_answer *a, void *u)
{
	(void)a;
	((struct call *)u)->answers++;
}

static void call(struct storm *s, struct voice *v, const char *server)
{
	struct call *c = &s->calls[s->n_calls];
	char params[64];
	struct mp_pool_call_options rq = {.server = server,
					  .call.params = {params, 0},
					  .session = v->session,
					  .call.method = MP_METHOD_TOOLS_CALL,
					  .call.log_level = "info",
					  .call.timeout_ms = pick(s, 3) ? 0 : 1000};

	if (s->n_calls == CALLS || !v->session)
		return;
	rq.call.params.len =
		(size_t)snprintf(params, sizeof(params), "{\"name\":\"%s\",\"session\":%llu}",
				 server, (unsigned long long)v->session);
	s->n_calls++;
	*c = (struct call){.storm = s, .session = v->session};
	mp_check(heap_pool_call(s->f.workspace, &rq, note, c, &c->call, NULL) == 0);
}

/* The server says something, on the stream of a call that it has, or of none. */
static void speak(struct storm *s, struct fleet_server *server)
{
	static const char *const notes[] = {
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":"
		"\"error\"}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":"
		"{\"uri\":\"f:/\"}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
		"{\"requestId\":3}}",
	};
	int kept = server->n_kept ? (int)pick(s, (unsigned)server->n_kept + 1) - 1 : -1;
	/* On pipes a server request does not name its call, so serial and borrowed do not either.
	 */
	bool says_whose = kept >= 0 && server != fleet_get(&s->f, "serial") &&
			  !(s->borrows && server == fleet_get(&s->f, "private"));
	char text[200];

	if (!server->end)
		return;
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"elicitation/create\",\"params\":"
		 "{\"for\":%llu}}",
		 pick(s, 8), says_whose ? s->kept_for[server - s->f.servers][kept] : 0);
	/* A life that is over cannot be heard. */
	(void)(fleet_say_during(server, kept, pick(s, 2) ? text : notes[pick(s, 3)]));
}

static void act_as_server(struct storm *s)
{
	struct fleet_server *server = fleet_get(&s->f, names[pick(s, 3)]);
	unsigned what = pick(s, 12);

	if (what < 8)
		speak(s, server);
	else if (what < 11 && server->n_kept)
		(void)(fleet_answer_kept(server, (int)pick(s, (unsigned)server->n_kept), "{}"));
	else if (what == 11 && pick(s, 3) == 0)
		fleet_die(server);
}

static void act_as_session(struct storm *s)
{
	struct voice *v = &s->voices[pick(s, VOICES)];
	const char *server = names[pick(s, 3)];
	int r = 0;

	if (!v->session)
		join(v);
	switch (pick(s, 9)) {
	case 0:
		leave(v);
		break;
	case 1:
		if (v->n)
			answer(v, v->questions[pick(s, (unsigned)v->n)]);
		break;
	case 2:
		r = mp_pool_client_subscribe(s->f.workspace, server, v->session, MP_STR("f:/"),
					     NULL);
		break;
	case 3:
		mp_pool_client_unsubscribe(s->f.workspace, server, v->session, MP_STR("f:/"));
		break;
	case 4:
		mp_pool_client_set_level(s->f.workspace, v->session, pick(s, 2) ? "error" : NULL);
		break;
	case 5:
		if (s->n_calls)
			heap_pool_cancel(s->calls[pick(s, (unsigned)s->n_calls)].call);
		break;
	default:
		call(s, v, server);
	}
	(void)r; /* a server that is switched off cannot be listened to */
}

static void act(struct storm *s)
{
	int r;

	switch (pick(s, 20)) {
	case 0:
		fleet_advance(&s->f, pick(s, 700000));
		break;
	case 1:
		r = mp_workspace_toggle(s->f.workspace, names[pick(s, 3)],
					pick(s, 2) ? s->voices[pick(s, VOICES)].session : 0,
					(enum mp_toggle)pick(s, 3), NULL);
		mp_check(r == 0);
		break;
	case 2:
		(void)(fleet_reload(&s->f, SERVERS));
		break;
	default:
		if (pick(s, 2))
			act_as_server(s);
		else
			act_as_session(s);
	}
	if (pick(s, 2))
		fleet_settle(&s->f);
}

/* Right before the server keeps it. */
static void saw_call(void *u, struct mp_str text)
{
	struct storm *s = u;
	char copy[300], name[20];
	unsigned long long session;
	struct fleet_server *server;
	const char *at;

	snprintf(copy, sizeof(copy), "%.*s", MP_STR_ARGS(text));
	at = strstr(copy, "\"name\":");
	if (!at || sscanf(at, "\"name\":\"%19[a-z]\",\"session\":%llu", name, &session) != 2)
		return;
	server = fleet_get(&s->f, name);
	if (server->n_kept < FLEET_KEPT)
		s->kept_for[server - s->f.servers][server->n_kept] = session;
}

static bool storm_init(struct storm *s, uint64_t seed)
{
	*s = (struct storm){.random = seed, .borrows = seed % 2};
	REQUIRE(fleet_init(&s->f));
	s->f.saw_call = saw_call;
	s->f.saw_u = s;
	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		struct fleet_server *server = fleet_get(&s->f, names[i]);

		server->holds_calls = true;
		server->modern = i == 2 && seed % 3 == 0;
		server->traits = i == 2 ? MP_TRANSPORT_PER_REQUEST : 0;
		server->capabilities = "{\"tools\":{},\"logging\":{},\"resources\":{\"subscribe\":"
				       "true,\"listChanged\":true}}";
	}
	for (int i = 0; i < VOICES; i++)
		s->voices[i].storm = s;
	return fleet_open(&s->f, SERVERS);
}

static void storm_done(struct storm *s)
{
	fleet_done(&s->f);
}

/* Everybody leaves; then nothing is left of them. */
static bool is_clean(struct storm *s)
{
	for (int i = 0; i < VOICES; i++)
		if (s->voices[i].session)
			leave(&s->voices[i]);
	fleet_settle(&s->f);
	REQUIRE(s->crossed == 0);
	REQUIRE(s->f.pool->server_requests.len == 0 && s->f.pool->clients.len == 0);
	MP_LIST_EACH(&s->f.pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		REQUIRE(in->requests.list.len == 0 && in->topics.list.len == 0);
	}
	for (int i = 0; i < s->n_calls; i++)
		REQUIRE(s->calls[i].answers == 1);
	return true;
}

/* V24 */
HEAVY_TEST(whatever_happens_nobody_is_asked_about_another_ones_call)
{
	int asked = 0;

	mp_log_set_level(MP_LEVEL_ERR); /* servers say much */
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		MP_CLEANUP(storm_done) struct storm s;

		CHECK(storm_init(&s, seed));
		for (int i = 0; i < STEPS; i++)
			act(&s);
		if (!is_clean(&s)) {
			printf("seed %llu\n", (unsigned long long)seed);
			CHECK(false);
		}
		asked += s.asked;
	}
	CHECK(asked > SEEDS); /* it was no quiet day */
}
