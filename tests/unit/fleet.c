/* fleet.c - a pool whose servers, processes and time belong to the test; see fleet.h. */
#include "fleet.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

#include "base/error.h"
#include "base/mem.h"
#include "config/values/trust.h"
#include "store/digest.h"
#include "memory.h"
#include "heap_pool_call.h"
#include "outgoing.h"

/* --- a configuration without files ----------------------------------------------------------- */

static const struct mp_origin origin = {
	.file = "test.json",
	.real = "test.json",
	.line = 1,
	.column = 1,
	.tool = "mcpool",
	.label = "mcpool",
	.level = MP_CONFIG_USER,
	.root = "",
	.scope = "",
	.quirks = MP_QUIRK_OWN,
};

static bool add_entries(struct mp_config_set *set, const struct mp_tape *t, mp_value servers)
{
	set->entries = mp_arena_alloc_array(&set->arena, mp_value_count(t, servers) + 1,
					    sizeof(*set->entries));
	REQUIRE(set->entries);
	MP_VALUE_EACH(t, servers, key) {
		struct mp_str name;
		struct mp_entry *e;

		REQUIRE(mp_value_text(t, key, &set->arena, &name) == 0);
		REQUIRE(mp_entry_read(name, t, mp_value_of(key), &origin, &set->settings,
				      &set->arena, NULL, NULL, &e) == 0);
		e->trust = MP_TRUST_YES;
		set->entries[set->n++] = e;
	}
	return true;
}

static bool fill_set(struct mp_config_set *set, const char *json)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value settings;
	const char *text = mp_arena_dup(&set->arena, mp_str_of(json));

	mp_tape_init(&t, 0);
	REQUIRE(text);
	REQUIRE(mp_settings_init(&set->settings, &set->arena) == 0);
	REQUIRE(mp_tape_parse(&t, mp_str_of(text), NULL) == 0);
	settings = mp_value_get(&t, MP_ROOT, "mcpool");
	if (settings != MP_NONE)
		REQUIRE(mp_settings_read(&set->settings, &t, settings, "test", &set->arena, NULL,
					 NULL) == 0);
	return add_entries(set, &t, mp_value_get(&t, MP_ROOT, "mcpServers"));
}

struct mp_config_set *fleet_make_set(const char *json)
{
	struct mp_config_set *set = mp_alloc(sizeof(*set));

	set->refs = 1;
	mp_arena_init(&set->arena, MP_MIB(16));
	set->cwd = set->root = set->home = "/";
	return fill_set(set, json) ? set : mp_config_set_unref(set);
}

/* --- the servers' end ------------------------------------------------------------------------ */

struct fleet_life {
	struct fleet_server *server;
	struct mp_transport *end, *ours;
	struct fleet_life *next;
	const void *owner; /* the instance that dialled */
	bool is_over;      /* the pool has left it, or it broke */
};

struct fleet_server *fleet_get(struct fleet *f, const char *name)
{
	for (int i = 0; i < f->n; i++)
		if (strcmp(f->servers[i].name, name) == 0)
			return &f->servers[i];
	mp_check(f->n < FLEET_SERVERS);
	f->servers[f->n].fleet = f;
	snprintf(f->servers[f->n].name, sizeof(f->servers[0].name), "%s", name);
	return &f->servers[f->n++];
}

bool fleet_say(struct fleet_server *s, const char *text)
{
	REQUIRE(s->end);
	return outgoing_send(s->end, mp_str_of(text), NULL) == 0;
}

/* To the instance that sent the request; one that has gone gets nothing. */
static void reply(struct fleet_server *s, struct mp_str id, const char *key, const char *value)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_MIB(1));
	if (mp_buf_addf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"%s\":%s}", MP_STR_ARGS(id), key,
			value) < 0)
		return;
	r = outgoing_send(s->speaking, mp_buf_get(&text), NULL);
	(void)r; /* see above */
}

static struct fleet_life *find_life(struct fleet_server *s, const struct mp_transport *end)
{
	for (struct fleet_life *life = s->lives_of_it; life; life = life->next)
		if (life->end == end)
			return life;
	return NULL;
}

bool fleet_say_during(struct fleet_server *s, int kept, const char *text)
{
	struct fleet_life *life = kept < 0 ? s->lives_of_it : find_life(s, s->kept_by[kept]);

	REQUIRE(life && kept < s->n_kept);
	fleet_settle(s->fleet);
	if (life->is_over)
		return true; /* there is no reader */
	if (kept >= 0 && s->traits & MP_TRANSPORT_PER_REQUEST)
		life->ours->during = mp_str_of(s->kept[kept]);
	REQUIRE(outgoing_send(life->end, mp_str_of(text), NULL) == 0);
	fleet_settle(s->fleet);
	if (!life->is_over)
		life->ours->during = MP_STR("");
	return true;
}

bool fleet_answer_kept(struct fleet_server *s, int i, const char *result)
{
	REQUIRE(i >= 0 && i < s->n_kept);
	s->speaking = s->kept_by[i];
	reply(s, mp_str_of(s->kept[i]), "result", result);
	fleet_settle(s->fleet);
	return true;
}

static void keep(struct fleet_server *s, const struct mp_message *m, struct mp_str params)
{
	struct mp_str token = mp_value_source(m->tape, m->progress_token);
	const char *who = params.len ? memmem(params.p, params.len, "\"who\":", 6) : NULL;

	s->kept_by[s->n_kept] = s->speaking;
	s->kept_who[s->n_kept] = who ? strtoll(who + 6, NULL, 10) : 0;
	snprintf(s->kept_token[s->n_kept], sizeof(s->kept_token[0]), "%.*s", MP_STR_ARGS(token));
	snprintf(s->kept[s->n_kept++], sizeof(s->kept[0]), "%.*s", MP_STR_ARGS(m->id));
}

static void on_call(struct fleet_server *s, const struct mp_message *m)
{
	struct mp_str params = mp_value_source(m->tape, m->params);

	s->calls++;
	snprintf(s->last_params, sizeof(s->last_params), "%.*s", MP_STR_ARGS(params));
	if (!s->holds_calls) {
		reply(s, m->id, "result", "{\"content\":[]}");
		return;
	}
	if (s->n_kept < FLEET_KEPT)
		keep(s, m, params);
}

static void on_cancel(struct fleet_server *s, const struct mp_message *m)
{
	struct mp_str id = mp_value_source(m->tape, mp_value_get(m->tape, m->params, "requestId"));

	s->cancels++;
	snprintf(s->cancelled, sizeof(s->cancelled), "%.*s", MP_STR_ARGS(id));
	for (int i = 0; i < s->n_kept; i++)
		if (s->kept_by[i] == s->speaking && mp_str_eq(mp_str_of(s->kept[i]), id))
			s->kept_who[i] = 0;
}

static void on_list(struct fleet_server *s, const struct mp_message *m)
{
	static const char one[] =
		"{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}";

	if (s->lists++ == 0)
		s->pings_before_lists = s->pings;
	if (s->holds_list)
		return;
	if (s->no_list)
		reply(s, m->id, "error", "{\"code\":-32603,\"message\":\"no list today\"}");
	else
		reply(s, m->id, "result", s->tools ? s->tools : one);
}

static void on_initialize(struct fleet_server *s, const struct mp_message *m)
{
	struct mp_str params = mp_value_source(m->tape, m->params);
	char result[500];

	s->lives++;
	snprintf(s->declared, sizeof(s->declared), "%.*s", MP_STR_ARGS(params));
	snprintf(result, sizeof(result),
		 "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":%s,\"serverInfo\":"
		 "{\"name\":\"fake\",\"version\":\"1\"},\"instructions\":\"be kind\"}",
		 s->capabilities ? s->capabilities : "{\"tools\":{\"listChanged\":true}}");
	if (s->dies_at_once)
		mp_memory_break(s->speaking);
	else if (!s->mute)
		reply(s, m->id, "result", result);
	s->dead |= s->dead_once_up;
}

static void on_discover(struct fleet_server *s, const struct mp_message *m)
{
	char result[500];

	s->lives++;
	snprintf(result, sizeof(result),
		 "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
		 "\"capabilities\":%s}",
		 s->capabilities ? s->capabilities : "{\"tools\":{}}");
	reply(s, m->id, "result", result);
}

/* A subscription, a level, a stream of changes, a task: taken, and noted. */
static void on_other(struct fleet_server *s, const struct mp_message *m)
{
	struct mp_str params = mp_value_source(m->tape, m->params);
	size_t len = strlen(s->others);

	snprintf(s->others + len, sizeof(s->others) - len, "%s %.*s\n",
		 mp_method_get(m->method)->name, MP_STR_ARGS(params));
	if (m->kind == MP_MESSAGE_REQUEST && m->method != MP_METHOD_LISTEN)
		reply(s, m->id, "result",
		      m->method == MP_METHOD_TASKS_RESULT && s->task_result ? s->task_result
									    : "{}");
}

static void on_message(void *u, struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct fleet_life *life = u;
	struct fleet_server *s = life->server;
	struct mp_message m;

	s->speaking = life->end;
	mp_message_tape_init(&t);
	if (mp_message_scan(&t, text, &m, NULL) < 0)
		return;
	if (m.method == MP_METHOD_TOOLS_CALL && s->fleet->saw_call)
		s->fleet->saw_call(s->fleet->saw_u, text);
	if (m.method == MP_METHOD_CANCELLED)
		on_cancel(s, &m);
	if (m.kind == MP_MESSAGE_RESULT || m.kind == MP_MESSAGE_ERROR) {
		s->replies++;
		snprintf(s->replied, sizeof(s->replied), "%.*s", MP_STR_ARGS(text));
	}
	if (s->dead)
		return;
	if (m.method == MP_METHOD_ROOTS_CHANGED)
		on_other(s, &m);
	if (m.kind != MP_MESSAGE_REQUEST)
		return;
	if (m.method == MP_METHOD_DISCOVER && s->modern) {
		on_discover(s, &m);
	} else if (m.method == MP_METHOD_RESOURCES_SUBSCRIBE ||
		   m.method == MP_METHOD_RESOURCES_UNSUBSCRIBE || m.method == MP_METHOD_SET_LEVEL ||
		   m.method == MP_METHOD_LISTEN || m.method == MP_METHOD_TASKS_GET ||
		   m.method == MP_METHOD_TASKS_UPDATE || m.method == MP_METHOD_TASKS_CANCEL ||
		   m.method == MP_METHOD_TASKS_RESULT) {
		on_other(s, &m);
	} else if (m.method == MP_METHOD_INITIALIZE && !s->modern) {
		on_initialize(s, &m);
	} else if (m.method == MP_METHOD_TOOLS_LIST) {
		on_list(s, &m);
	} else if (m.method == MP_METHOD_RESOURCES_LIST && s->resources) {
		reply(s, m.id, "result", s->resources);
	} else if (m.method == MP_METHOD_PROMPTS_LIST && s->prompts) {
		reply(s, m.id, "result", s->prompts);
	} else if (m.method == MP_METHOD_TOOLS_CALL ||
		   (s->prompts &&
		    (m.method == MP_METHOD_PROMPTS_GET || m.method == MP_METHOD_RESOURCES_READ ||
		     m.method == MP_METHOD_COMPLETE))) {
		on_call(s, &m);
	} else if (m.method == MP_METHOD_PING) {
		s->pings++;
		reply(s, m.id, "result", "{}");
	} else {
		reply(s, m.id, "error", "{\"code\":-32601,\"message\":\"Method not found\"}");
	}
}

static void on_ended(void *u, const struct mcpool_error *why)
{
	struct fleet_life *life = u;

	(void)why;
	life->is_over = true;
}

static const struct mp_transport_hooks server_hooks = {.message = on_message, .ended = on_ended};

void fleet_hold(struct fleet_server *s, bool hold)
{
	if (s->lives_of_it && !s->lives_of_it->is_over)
		mp_memory_hold(s->ours, hold);
}

void fleet_die(struct fleet_server *s)
{
	if (s->end)
		mp_memory_break(s->end);
	fleet_settle(s->fleet);
}

int fleet_count_open(const struct fleet_server *s)
{
	int n = 0;

	for (const struct fleet_life *life = s->lives_of_it; life; life = life->next)
		n += !life->is_over;
	return n;
}

/* --- launch_ops
 * ------------------------------------------------------------------------------------ */

struct identifying {
	struct mp_keys *keys;
	mp_keys_fn fn;
	void *u;
	struct mp_task task;
};

static void tell_keys(void *u)
{
	struct identifying *job = u;

	job->fn(job->keys, NULL, job->u);
	mp_free(job);
}

/* The key follows from the entry: its command, and a variable that the test changes. */
static void make_key(const struct mp_entry *e, struct mp_key *key)
{
	struct mp_digest *d = mp_digest_new();

	for (size_t i = 0; i < e->argc; i++)
		mp_digest_add(d, mp_str_of(e->argv[i]));
	for (size_t i = 0; i < e->env.n; i++)
		mp_digest_add(d, mp_str_of(e->env.items[i].value));
	mp_digest_finish(d, key->bytes); /* which frees it */
	key->is_known = true;
}

static void find_key(struct fleet *f, const struct mp_entry *e, struct mp_key *key)
{
	struct fleet_server *s = fleet_get(f, e->name);

	s->identified++;
	if (s->key_code == 0)
		make_key(e, key);
	else
		*key = (struct mp_key){.code = s->key_code, .problem = "a value is missing"};
}

static int identify(void *u, const struct mp_config_set *set, char *const *env, mp_keys_fn fn,
		    void *fn_u)
{
	struct fleet *f = u;
	struct identifying *job;

	(void)env;
	if (f->identify_code)
		return f->identify_code;
	job = mp_alloc(sizeof(*job));
	job->keys = mp_alloc(sizeof(*job->keys));
	mp_arena_init(&job->keys->arena, MP_MIB(1));
	job->keys->of = mp_arena_alloc_array(&job->keys->arena, set->n + 1, sizeof(*job->keys->of));
	if (!job->keys->of) {
		mp_keys_free(job->keys);
		mp_free(job);
		return MCPOOL_ENOMEM;
	}
	job->keys->n = set->n;
	for (size_t i = 0; i < set->n; i++)
		if (mp_config_get_state(set, set->entries[i], MP_TOGGLE_ON) == MP_STATUS_READY)
			find_key(f, set->entries[i], &job->keys->of[i]);
	job->fn = fn;
	job->u = fn_u;
	mp_task_init(&job->task, tell_keys, job);
	mp_loop_post(f->loop, &job->task);
	return 0;
}

struct mp_launch_plan {
	struct fleet_server *server;
	struct mp_timer timer;
	mp_launch_plan_fn fn;
	void *u;
	unsigned char key[MP_DIGEST_SIZE];
};

static void tell_prepared(void *u)
{
	struct mp_launch_plan *plan = u;
	int code = plan->server->prepare_code;
	const char *words = plan->server->prepare_words;
	struct mcpool_error why;

	if (code)
		(void)mp_fail(&why, code, "%s", words ? words : "it cannot be prepared");
	plan->fn(plan, code ? &why : NULL, plan->u);
}

static int prepare(void *u, struct mp_config_set *set, const struct mp_entry *e, char *const *env,
		   const char *mark, mp_launch_plan_fn fn, void *fn_u, struct mp_launch_plan **ret)
{
	struct fleet *f = u;
	struct mp_launch_plan *plan = mp_alloc(sizeof(*plan));

	(void)set;
	(void)env;
	(void)mark;
	*plan = (struct mp_launch_plan){.server = fleet_get(f, e->name), .fn = fn, .u = fn_u};
	plan->server->prepares++;
	mp_timer_init(&plan->timer, f->loop, tell_prepared, plan);
	mp_timer_start(&plan->timer, plan->server->prepare_ms);
	*ret = plan;
	return 0;
}

static int dial(void *u, struct mp_launch_plan *plan, struct mp_transport **ret,
		struct mcpool_error *reterr)
{
	struct fleet *f = u;
	struct fleet_server *s = plan->server;
	struct fleet_life *life;

	s->dials++;
	if (s->dial_code)
		return mp_fail(reterr, s->dial_code, "it cannot be dialled");
	for (life = s->lives_of_it; life; life = life->next)
		f->doubles += life->owner == plan->u && !life->is_over;
	life = mp_alloc(sizeof(*life));
	mp_memory_new(f->loop, ret, &s->end);
	*life = (struct fleet_life){s, s->end, *ret, s->lives_of_it, plan->u, false};
	s->lives_of_it = life;
	s->ours = *ret;
	s->ours->traits = s->traits;
	s->end->hooks = &server_hooks;
	s->end->u = life;
	return s->end->impl->start(s->end, reterr);
}

static struct mp_launch_plan *drop(void *u, struct mp_launch_plan *plan)
{
	(void)u;
	if (plan)
		mp_timer_stop(&plan->timer);
	return mp_free(plan);
}

static const unsigned char *get_key(const struct mp_launch_plan *plan)
{
	return plan->key;
}

static bool get_command(const struct mp_launch_plan *plan, struct mp_launch_command *ret)
{
	*ret = (struct mp_launch_command){plan->server->command, "/", NULL};
	return plan->server->command != NULL;
}

static const struct mp_launch_ops launch_ops = {identify, prepare, dial,
						drop,     get_key, get_command};

/* --- life ------------------------------------------------------------------------------------ */

static const struct mp_identity identity = {
	.name = "tester", .title = "A test", .version = "7", .capabilities = {"{}", 2}};

bool fleet_init(struct fleet *f)
{
	*f = (struct fleet){.loop = NULL};
	REQUIRE(mp_loop_new_by_hand(1700000000000 - 1234567, &f->loop) == 0);
	mp_loop_advance(f->loop, 1234567); /* a time is not 0 by chance */
	mp_board_init(&f->board, f->loop);
	mp_events_init(&f->events, f->loop);
	mp_arena_init(&f->texts, MP_MIB(4));
	return true;
}

static void workspace_ready(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	struct fleet *f = u;

	(void)v;
	f->ready += error == NULL;
}

bool fleet_open(struct fleet *f, const char *json)
{
	static char *env[] = {NULL};
	struct mp_pool_options options = {
		.loop = f->loop,
		.db = f->db,
		.board = &f->board,
		.events = &f->events,
		.me = &identity,
		.launch_ops = &launch_ops,
		.launch_ops_u = f,
		.init_concurrency = f->init_concurrency,
		.one_shot = f->one_shot,
	};

	if (!f->set)
		f->set = fleet_make_set(json);
	REQUIRE(f->set);
	f->pool = mp_pool_new(&options);
	f->workspace = mp_workspace_open(f->pool, f->set, env, workspace_ready, f);
	fleet_settle(f);
	REQUIRE(f->ready == 1);
	return true;
}

bool fleet_reload(struct fleet *f, const char *json)
{
	struct mp_config_set *set = fleet_make_set(json);
	int before = f->ready;

	REQUIRE(set);
	mp_workspace_reload(f->workspace, set, workspace_ready, f);
	mp_config_set_unref(f->set);
	f->set = set;
	fleet_settle(f);
	REQUIRE(f->ready == before + 1);
	return true;
}

static void forget_lives(struct fleet_server *s)
{
	while (s->lives_of_it) {
		struct fleet_life *life = s->lives_of_it;

		s->lives_of_it = life->next;
		mp_transport_free(life->end);
		mp_free(life);
	}
}

void fleet_done(struct fleet *f)
{
	mp_arena_done(&f->texts);
	f->then = NULL;
	mp_workspace_close(f->other);
	mp_workspace_close(f->workspace);
	mp_pool_free(f->pool);
	for (int i = 0; i < f->n; i++)
		forget_lives(&f->servers[i]);
	mp_config_set_unref(f->set);
	if (f->loop) {
		fleet_settle(f); /* posted work runs and finds nothing left */
		mp_events_done(&f->events);
		mp_board_done(&f->board);
	}
	mp_loop_free(f->loop);
}

void fleet_settle(struct fleet *f)
{
	mp_loop_advance(f->loop, 0);
}

void fleet_advance(struct fleet *f, int64_t ms)
{
	mp_loop_advance(f->loop, ms);
	mp_loop_advance(f->loop, 0);
}

bool fleet_start(struct fleet *f, const char *name)
{
	ptrdiff_t i = mp_workspace_find(f->workspace, name);

	REQUIRE(i >= 0);
	mp_workspace_start_server(f->workspace, (size_t)i, 0, false);
	fleet_settle(f);
	return true;
}

/* --- calls ----------------------------------------------------------------------------------- */

static void note_answer(const struct mp_pool_answer *answer, void *u)
{
	struct fleet_result *r = u;
	struct mp_str text = {"", 0};

	r->answers++;
	r->outcome = answer->outcome;
	r->retryable = answer->retryable;
	r->attempt = answer->attempt;
	r->was_up = answer->was_up;
	r->was_out = answer->was_out;
	r->transport = answer->transport;
	snprintf(r->server, sizeof(r->server), "%s", answer->server ? answer->server : "");
	r->error = answer->error ? *answer->error : (struct mcpool_error){0};
	r->code = r->error.code;
	r->cause = answer->cause ? *answer->cause : (struct mcpool_error){0};
	if (answer->message)
		text = mp_value_source(answer->message->tape,
				       answer->message->kind == MP_MESSAGE_ERROR
					       ? answer->message->error
					       : answer->message->result);
	else if (answer->error)
		text = mp_str_of(answer->error->message);
	snprintf(r->text, sizeof(r->text), "%.*s", MP_STR_ARGS(text));
	if (r->fleet->then)
		r->fleet->then(r->fleet, r);
}

bool fleet_call(struct fleet *f, const char *server, mp_id session, int64_t timeout_ms,
		struct fleet_result *ret)
{
	struct mp_pool_call_options rq = {
		.server = server,
		.session = session,
		.call.method = MP_METHOD_TOOLS_CALL,
		.call.params = MP_STR("{\"name\":\"t\",\"arguments\":{}}"),
		.tool = MP_STR("t"),
		.call.timeout_ms = timeout_ms,
	};

	*ret = (struct fleet_result){.fleet = f, .outcome = FLEET_NO_OUTCOME};
	REQUIRE(heap_pool_call(f->workspace, &rq, note_answer, ret, &ret->call, NULL) == 0);
	return true;
}

bool fleet_acquire(struct fleet *f, const char *server, mp_id session, struct fleet_result *ret)
{
	*ret = (struct fleet_result){.fleet = f, .outcome = FLEET_NO_OUTCOME};
	REQUIRE(heap_pool_acquire(f->workspace, server, session, note_answer, ret, &ret->call,
				  NULL) == 0);
	return true;
}

void fleet_status(struct fleet *f, const char *server, struct mp_status *ret)
{
	ptrdiff_t i = mp_workspace_find(f->workspace, server);

	mp_status_init(ret);
	if (i >= 0)
		mp_status_take(f->workspace, (size_t)i, 0, &f->texts, ret);
}

const struct mp_stats *fleet_stats(struct fleet *f, const char *server)
{
	ptrdiff_t i = mp_workspace_find(f->workspace, server);

	return i < 0 ? NULL : mp_workspace_get_stats(f->workspace, (size_t)i, 0);
}

const char *fleet_state(struct fleet *f, const char *server)
{
	ptrdiff_t i = mp_workspace_find(f->workspace, server);

	return i < 0 ? "none"
		     : mp_status_state_get_name(mp_workspace_get_state(f->workspace, (size_t)i, 0));
}

int fleet_count_events(struct fleet *f, const char *server, const char *what)
{
	uint64_t cursor = 1, missed;
	const struct mp_event *e;
	struct mp_status s = {0};
	int n = 0;

	if (server)
		fleet_status(f, server, &s);
	while ((e = mp_events_read(&f->events, &cursor, &missed)))
		n += strcmp(e->what, what) == 0 && (!server || e->id == s.instance);
	return n;
}
