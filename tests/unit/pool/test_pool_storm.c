/*
 * test_pool_storm.c - the whole pool at random: everything that can happen to it, in any order.
 * A seed is one life of a pool. What every call was told is compared with what its server saw.
 */
#include "test.h"

#include "fleet.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "pool/gate.h"
#include "pool/instance.h"
#include "memory.h"
#include "heap_pool_call.h"
#include "outgoing.h"

enum { NAMES = 5, SESSIONS = 4, VIEWS = 3, CALLS = 1200, STEPS = 400, BUDGET_MS = 15000 };

struct storm;

struct call {
	struct storm *storm;
	int answers, seen;
	enum mp_outcome outcome;
	mp_id call;
	int workspace;
	bool is_held;
};

struct storm {
	struct fleet f;
	uint64_t seed, random;
	struct mp_workspace *workspaces[VIEWS];
	struct mp_gate *gates[VIEWS];
	struct call calls[CALLS];
	int n_calls;
	size_t slots;
	bool is_stopped, is_freed;
	bool is_calm; /* hooks do nothing */
	int stops_told;
	int starts_then; /* when it was stopped */
	int depth;       /* of callbacks that do something */
};

static unsigned pick(struct storm *s, unsigned n)
{
	return (unsigned)(test_random(&s->random) % n);
}

static bool once_in(struct storm *s, unsigned n)
{
	return pick(s, n) == 0;
}

static const char *pick_name(struct storm *s)
{
	static const char *const names[NAMES] = {"a", "b", "c", "d", "e"};

	return names[pick(s, NAMES)];
}

/* --- configurations ------------------------------------------------------------------------- */

static void write_server(struct storm *s, struct mp_buf *out, char name, bool first)
{
	static const char *const modes[] = {"shared", "shared", "session", "serial", "project"};
	static const char *const restarts[] = {"relentless", "relentless", "once", "none"};
	static const char *const idles[] = {"keep", "idle:50", "idle:5000"};
	int r = mp_buf_addf(
		out,
		"%s\"%c\":{\"command\":\"%c\",\"env\":{\"V\":\"%u\"},\"mode\":\"%s\","
		"\"restart\":{\"mode\":\"%s\",\"callers\":\"%s\"},\"residency\":\"%s\","
		"\"start\":\"%s\",\"timeout\":%u,\"toolTimeout\":%u%s%s}",
		first ? "" : ",", name, name, pick(s, 5) == 0, modes[pick(s, 5)],
		restarts[pick(s, 4)], once_in(s, 4) ? "fail" : "wait", idles[pick(s, 3)],
		once_in(s, 2) ? "eager" : "lazy", 100 + pick(s, 20000), 10 + pick(s, 90000),
		once_in(s, 4) ? ",\"queue\":\"q\"" : "", once_in(s, 8) ? ",\"disabled\":true" : "");

	mp_check(r == 0);
}

static struct mp_config_set *make_set(struct storm *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int n = 0, r;

	mp_buf_init(&text, MP_KIB(16));
	r = mp_buf_addf(&text, "{\"mcpServers\":{");
	for (char name = 'a'; name < 'a' + NAMES && r == 0; name++)
		if (!once_in(s, 8))
			write_server(s, &text, name, n++ == 0);
	if (r == 0)
		r = mp_buf_addf(&text,
				"},\"mcpool\":{\"queues\":{\"default\":{\"slots\":%zu,\"line\":6},"
				"\"q\":{\"slots\":%zu,\"line\":6}}}}",
				s->slots, s->slots);
	mp_check(r == 0 && mp_buf_add_char(&text, '\0') == 0);
	return fleet_make_set(text.data);
}

/* --- calls ----------------------------------------------------------------------------------- */

static void do_mischief(struct storm *s);

static void saw_call(void *u, struct mp_str text)
{
	struct storm *s = u;
	ptrdiff_t at = mp_str_find(text, MP_STR("\"n\":"), 0);

	if (at >= 0)
		s->calls[strtol(text.p + at + 4, NULL, 10)].seen++;
}

static void answered(const struct mp_pool_answer *answer, void *u)
{
	struct call *c = u;

	c->answers++;
	c->outcome = answer->outcome;
	if (c->storm->f.pool && once_in(c->storm, 8)) /* it may just be going */
		mp_pool_end_session(c->storm->f.pool, pick(c->storm, SESSIONS));
	if (c->storm->f.pool && once_in(c->storm, 8))
		heap_pool_cancel(c->call);
	do_mischief(c->storm);
}

static void progressed(const struct mp_message *m, void *u)
{
	(void)m;
	do_mischief(((struct call *)u)->storm);
}

static void call(struct storm *s)
{
	int workspace = (int)pick(s, VIEWS);
	struct call *c = &s->calls[s->n_calls];
	char params[80];
	struct mp_pool_call_options rq = {
		.server = pick_name(s),
		.session = pick(s, SESSIONS),
		.call.method = MP_METHOD_TOOLS_CALL,
		.tool = MP_STR("t"),
		.call.timeout_ms = once_in(s, 2) ? 0 : 1 + pick(s, 30000),
	};
	int r;

	if (!s->workspaces[workspace] || s->n_calls == CALLS)
		return;
	snprintf(params, sizeof(params), "{\"name\":\"t\",\"arguments\":{\"n\":%d}}", s->n_calls);
	rq.call.params = mp_str_of(params);
	*c = (struct call){.storm = s, .workspace = workspace, .is_held = once_in(s, 5)};
	s->n_calls++;
	if (c->is_held)
		r = heap_pool_acquire(s->workspaces[workspace], rq.server, rq.session, answered, c,
				      &c->call, NULL);
	else
		r = heap_pool_call_with(s->workspaces[workspace], &rq, answered, progressed, c,
					&c->call, NULL);
	if (r < 0)
		s->n_calls--;
}

static void cancel(struct storm *s)
{
	if (s->n_calls)
		heap_pool_cancel(s->calls[pick(s, (unsigned)s->n_calls)].call);
}

/* --- servers --------------------------------------------------------------------------------- */

static void misbehave(struct storm *s)
{
	static const int prepare_codes[] = {MCPOOL_EINVAL, MCPOOL_ENOENT, MCPOOL_ENEEDS_APPROVAL,
					    MCPOOL_ENEEDS_AUTH, MCPOOL_EAGAIN};
	struct fleet_server *server = fleet_get(&s->f, pick_name(s));

	switch (pick(s, 11)) {
	case 0:
		server->prepare_code = prepare_codes[pick(s, 5)];
		break;
	case 1:
		server->prepare_ms = pick(s, 3000);
		break;
	case 2:
		server->dial_code = MCPOOL_EIO;
		break;
	case 3:
		server->mute = true;
		break;
	case 4:
		server->dies_at_once = true;
		break;
	case 5:
		server->no_list = true;
		break;
	case 6:
		server->dead = true;
		break;
	case 7:
	case 8:
		server->holds_calls = true;
		break;
	case 9:
		fleet_hold(server, true);
		break;
	default:
		fleet_hold(server, false);
	}
}

static void heal(struct fleet_server *server)
{
	server->prepare_code = server->dial_code = 0;
	server->prepare_ms = 0;
	server->mute = server->dies_at_once = server->no_list = server->dead = false;
	server->holds_calls = false;
	fleet_hold(server, false);
}

static void recover(struct storm *s)
{
	struct fleet_server *server = fleet_get(&s->f, pick_name(s));

	heal(server);
	server->holds_calls = once_in(s, 3);
}

static void die(struct storm *s)
{
	struct fleet_server *server = fleet_get(&s->f, pick_name(s));

	if (server->end)
		mp_memory_break(server->end);
}

static void speak(struct storm *s)
{
	struct fleet_server *server = fleet_get(&s->f, pick_name(s));
	int r;

	if (once_in(s, 2) && server->end) {
		r = outgoing_send(server->end,
				  MP_STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/"
					 "list_changed\"}"),
				  NULL);
		(void)r; /* there may be none */
	} else if (server->n_kept) {
		int i = (int)pick(s, (unsigned)server->n_kept);
		char text[120];

		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}",
			 server->kept[i]);
		r = outgoing_send(server->kept_by[i], mp_str_of(text), NULL);
		(void)r; /* see above */
		if (server->n_kept == FLEET_KEPT)
			server->n_kept = 0;
	}
}

/* --- workspaces
 * ----------------------------------------------------------------------------------- */

static void workspace_told(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	(void)v;
	(void)error;
	do_mischief(u);
}

static void gate_told(void *u)
{
	do_mischief(u);
}

static void close_view(struct storm *s, int i)
{
	for (int c = 0; c < s->n_calls; c++)
		if (s->calls[c].workspace == i)
			heap_pool_cancel(s->calls[c].call);
	s->gates[i] = mp_gate_free(s->gates[i]);
	s->workspaces[i] = mp_workspace_close(s->workspaces[i]);
}

static void change_view(struct storm *s)
{
	static char *env[] = {NULL};
	int i = (int)pick(s, VIEWS);
	struct mp_config_set *set;

	if (s->workspaces[i] && once_in(s, 3)) {
		close_view(s, i);
		return;
	}
	set = make_set(s);
	if (!set)
		return;
	if (s->workspaces[i])
		mp_workspace_reload(s->workspaces[i], set, workspace_told, s);
	else
		s->workspaces[i] = mp_workspace_open(s->f.pool, set, env, workspace_told, s);
	mp_config_set_unref(set);
}

static void change_gate(struct storm *s)
{
	int i = (int)pick(s, VIEWS);
	struct mp_gate_options o = {
		.session = pick(s, SESSIONS),
		.due = (enum mp_gate_due)pick(s, 3),
		.window_ms = pick(s, 400),
		.uncached = (int)pick(s, 3),
		.max_wait_ms = pick(s, 60000),
	};

	if (s->gates[i])
		s->gates[i] = mp_gate_free(s->gates[i]);
	else if (s->workspaces[i] && mp_workspace_get_set(s->workspaces[i]))
		s->gates[i] = mp_gate_open(s->workspaces[i], &o, gate_told, s);
}

static void poke_server(struct storm *s)
{
	struct mp_workspace *v = s->workspaces[pick(s, VIEWS)];
	mp_id session = pick(s, SESSIONS);
	struct mcpool_error why;
	size_t i;
	int r;

	if (!v || mp_workspace_count(v) == 0)
		return;
	i = pick(s, (unsigned)mp_workspace_count(v));
	if (once_in(s, 2)) {
		mp_workspace_start_server(v, i, session, once_in(s, 2));
	} else {
		r = mp_workspace_reconnect(v, i, session, &why);
		(void)r; /* it may be switched off */
	}
}

/* --- the end --------------------------------------------------------------------------------- */

static int count_starts(const struct storm *s)
{
	int n = 0;

	for (int i = 0; i < s->f.n; i++)
		n += s->f.servers[i].prepares + s->f.servers[i].dials;
	return n;
}

static void stop_told(void *u)
{
	struct storm *s = u;

	s->stops_told++;
	do_mischief(s);
}

static void stop(struct storm *s)
{
	if (s->is_stopped)
		return;
	s->is_stopped = true;
	mp_pool_stop(s->f.pool, stop_told, s);
	s->starts_then = count_starts(s);
}

static void free_all(struct storm *s)
{
	if (s->is_freed)
		return;
	s->is_freed = true;
	for (int i = 0; i < VIEWS; i++) {
		s->gates[i] = mp_gate_free(s->gates[i]);
		s->workspaces[i] = mp_workspace_close(s->workspaces[i]);
	}
	s->f.workspace = NULL;
	mp_pool_free(s->f.pool);
	s->f.pool = NULL;
}

/* --- steps ----------------------------------------------------------------------------------- */

static void (*const deeds[])(struct storm *s) = {
	call,    call, call,  call,        call,        cancel,      misbehave,
	recover, die,  speak, change_view, change_gate, poke_server,
};

/* What those do who are told something. */
static void do_mischief(struct storm *s)
{
	if (s->is_freed || s->is_calm || s->depth > 2 || !once_in(s, 6))
		return;
	s->depth++;
	if (once_in(s, 400))
		stop(s);
	else if (once_in(s, 400))
		free_all(s);
	else if (once_in(s, 20))
		mp_pool_end_session(s->f.pool, pick(s, SESSIONS));
	else
		deeds[pick(s, MP_ARRAY_LEN(deeds))](s);
	s->depth--;
}

static int64_t pick_delay(struct storm *s)
{
	static const unsigned most[] = {1, 20, 1000, 5000, 70000};

	return pick(s, most[pick(s, MP_ARRAY_LEN(most))]);
}

static void step(struct storm *s)
{
	unsigned what = pick(s, 100);

	if (what < 70)
		deeds[pick(s, MP_ARRAY_LEN(deeds))](s);
	else if (what < 95)
		fleet_advance(&s->f, pick_delay(s));
	else if (what < 98)
		mp_pool_end_session(s->f.pool, pick(s, SESSIONS));
	else
		mp_loop_suspend(s->f.loop, pick(s, 100000));
	if (what < 70 && !once_in(s, 3) && !s->is_freed)
		fleet_settle(&s->f);
}

/* --- what must be true ----------------------------------------------------------------------- */

static size_t count_open(const struct mp_list *instances, size_t slots, bool *ret_fits)
{
	size_t n = 0;

	MP_LIST_EACH(instances, link) {
		const struct mp_instance *in = mp_container_of(link, struct mp_instance, link);
		size_t out = in->calls[MP_POOL_CALL_OUT].len;

		n += in->calls[MP_POOL_CALL_WAITING].len + in->calls[MP_POOL_CALL_LINED].len + out;
		*ret_fits = *ret_fits && out <= 2 * slots; /* a reload may change its queue */
	}
	return n;
}

static bool is_sound(struct storm *s)
{
	size_t unanswered = 0;
	bool fits = true;

	fleet_settle(&s->f);
	for (int i = 0; i < s->n_calls; i++) {
		REQUIRE(s->calls[i].answers <= 1);
		REQUIRE(s->calls[i].seen <= 1);
		unanswered += s->calls[i].answers == 0;
	}
	REQUIRE(s->f.doubles == 0);
	if (s->is_freed)
		return true;
	REQUIRE(unanswered == count_open(&s->f.pool->instances, s->slots, &fits) +
				      count_open(&s->f.pool->leaving, s->slots, &fits));
	REQUIRE(fits);
	return true;
}

static bool is_consistent(const struct call *c)
{
	REQUIRE(c->answers == 1);
	if (c->is_held)
		return true;
	if (c->outcome == MP_OUTCOME_ANSWERED)
		REQUIRE(c->seen == 1);
	else if (c->outcome == MP_OUTCOME_NOT_SENT || c->outcome == MP_OUTCOME_REFUSED)
		REQUIRE(c->seen == 0);
	return true;
}

static bool has_ended_well(struct storm *s)
{
	for (int i = 0; i < s->n_calls; i++)
		REQUIRE(is_consistent(&s->calls[i]));
	return true;
}

/* Every wait ends, and nothing that is released stays. */
static bool calms_down(struct storm *s)
{
	for (int i = 0; i < s->f.n; i++)
		heal(&s->f.servers[i]);
	s->is_calm = true;
	fleet_advance(&s->f, 400000);
	s->is_calm = false;
	if (s->is_freed)
		return true;
	for (int i = 0; i < s->n_calls; i++)
		REQUIRE(s->calls[i].answers == 1);
	REQUIRE(s->f.pool->leaving.len == 0);
	return true;
}

/* Nothing starts after a stop, whatever happens; then all of it goes. */
static bool wind_up(struct storm *s)
{
	if (s->is_freed)
		return has_ended_well(s);
	if (once_in(s, 2)) {
		stop(s);
		for (int i = 0; i < 20 && !s->is_freed; i++)
			step(s);
		fleet_advance(&s->f, 4000);
		REQUIRE(is_sound(s));
	}
	if (s->is_stopped && !s->is_freed) {
		fleet_advance(&s->f, 4000);
		REQUIRE(s->stops_told == 1);
		REQUIRE(count_starts(s) == s->starts_then);
	}
	for (unsigned i = pick(s, 20); i > 0 && !s->is_freed; i--)
		deeds[pick(s, MP_ARRAY_LEN(deeds))](s);
	free_all(s);
	REQUIRE(is_sound(s));
	return has_ended_well(s);
}

static bool blow(struct storm *s)
{
	struct mp_config_set *set;

	s->random = s->seed * 0x9e3779b97f4a7c15u + 1;
	s->slots = 1 + pick(s, 3);
	s->f.init_concurrency = once_in(s, 3) ? 1 + pick(s, 2) : 0;
	REQUIRE(fleet_open(&s->f, "{\"mcpServers\":{}}"));
	s->f.saw_call = saw_call;
	s->f.saw_u = s;
	s->workspaces[0] = s->f.workspace;
	s->f.workspace = NULL;
	set = make_set(s);
	REQUIRE(set);
	mp_workspace_reload(s->workspaces[0], set, workspace_told, s);
	mp_config_set_unref(set);
	for (int i = 0; i < STEPS && !s->is_freed; i++) {
		step(s);
		if (once_in(s, 4))
			REQUIRE(is_sound(s));
	}
	if (once_in(s, 2))
		REQUIRE(calms_down(s));
	return wind_up(s);
}

static bool run_seed(uint64_t seed)
{
	struct storm *s = mp_alloc(sizeof(*s));
	bool ok = fleet_init(&s->f);

	s->seed = seed;
	ok = ok && blow(s);
	if (!ok)
		fprintf(stderr, "test_pool_storm: seed %llu\n", (unsigned long long)seed);
	free_all(s);
	fleet_done(&s->f);
	mp_free(s);
	return ok;
}

static int64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* U9 U10 U11 U12 U13 U14 U15 U18 U29 D13 D16 D34 E43 */
/* STORM_SEED: that one alone; STORM_MS: for how long. */
HEAVY_TEST(whatever_happens_each_call_ends_once_and_as_it_was)
{
	const char *seed = getenv("STORM_SEED"), *ms = getenv("STORM_MS");
	int64_t end_ms = real_ms() + (ms ? strtol(ms, NULL, 10) : BUDGET_MS);
	const char *from = getenv("STORM_FROM");

	if (seed) {
		CHECK(run_seed(strtoull(seed, NULL, 10)));
		return;
	}
	for (uint64_t i = from ? strtoull(from, NULL, 10) : 1; real_ms() < end_ms; i++)
		CHECK(run_seed(i));
}
