/*
 * test_launch_plan.c - the real launch_ops: launch keys, what a start needs, is it still what was
 * approved.
 */
#include "home.h"
#include "process.h"

#include "base/log.h"
#include "base/secrets.h"
#include "client/upstream.h"
#include "config/read/load.h"
#include "config/values/resolve.h"
#include "config/values/trust.h"
#include "files/file.h"
#include "pool/launch_plan.h"
#include "store/local_key.h"

static const struct mp_launch_ops *const launch_ops = &mp_launch_planner_ops;

struct desk {
	struct mp_loop *loop;
	struct mp_launch_planner *planner;
	struct mp_config_set *set;
	struct mp_keys *keys;
	struct mp_launch_plan *plan;
	struct mp_upstream *up;
	int told, ready, closed;
	bool drop_at_once;
	struct mcpool_error error;
};

static void tidy(struct desk *d)
{
	mp_upstream_free(d->up);
	launch_ops->drop(d->planner, d->plan);
	mp_launch_planner_free(d->planner);
	mp_loop_free(d->loop); /* workers finish here */
	mp_keys_free(d->keys);
	mp_config_set_unref(d->set);
	mp_secret_remove_all();
	kill_all_tagged();
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {0}

static bool open_desk(struct desk *d)
{
	REQUIRE(home_make());
	new_tag();
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(mp_loop_new(&d->loop) == 0);
	REQUIRE(mp_launch_planner_new(d->loop, MCPOOL_EXE, &d->planner, &why) == 0);
	return true;
}

/* Load the files; without a store all entries count as approved. */
static bool load(struct desk *d, struct mp_db *db)
{
	mp_config_set_unref(d->set);
	d->set = home_load(db);
	REQUIRE(d->set->n > 0);
	for (size_t i = 0; i < d->set->n && !db; i++)
		d->set->entries[i]->trust = MP_TRUST_YES;
	return true;
}

static void got_keys(struct mp_keys *keys, const struct mcpool_error *error, void *u)
{
	struct desk *d = u;

	d->told++;
	d->keys = keys;
	if (error)
		d->error = *error;
}

static void got_plan(struct mp_launch_plan *plan, const struct mcpool_error *error, void *u)
{
	struct desk *d = u;

	d->told++;
	d->error = error ? *error : (struct mcpool_error){0};
	if (d->drop_at_once)
		d->plan = launch_ops->drop(d->planner, plan);
}

static bool identify(struct desk *d)
{
	d->told = 0;
	d->keys = mp_keys_free(d->keys);
	REQUIRE(launch_ops->identify(d->planner, d->set, home_env, got_keys, d) == 0);
	REQUIRE(d->told == 0);
	REQUIRE(TURN_UNTIL(d->loop, d->told));
	REQUIRE(d->keys && d->keys->n == d->set->n);
	return true;
}

static bool begin(struct desk *d, const char *name)
{
	const struct mp_entry *e = nth(d->set, name, 0);

	REQUIRE(e);
	d->told = 0;
	d->plan = launch_ops->drop(d->planner, d->plan);
	REQUIRE(launch_ops->prepare(d->planner, d->set, e, home_env, "MCPOOL_SESSION=7", got_plan,
				    d, &d->plan) == 0);
	REQUIRE(d->told == 0);
	return true;
}

static bool prepare(struct desk *d, const char *name)
{
	REQUIRE(begin(d, name));
	REQUIRE(TURN_UNTIL(d->loop, d->told));
	return true;
}

/* --- keys ----------------------------------------------------------------------------------- */

#define SERVERS                                                                           \
	"{\"mcpServers\": {"                                                              \
	"\"plain\": {\"command\": \"c\", \"args\": [\"1\", \"${V}\"]},"                   \
	"\"program\": {\"command\": \"sh\"},"                                             \
	"\"env\": {\"command\": \"c\", \"env\": {\"A\": \"${V}\", \"B\": \"b\"}},"        \
	"\"cwd\": {\"command\": \"c\", \"cwd\": \"${V}\"},"                               \
	"\"file\": {\"command\": \"c\", \"envFile\": \"~/x.env\", \"args\": [\"${F}\"]}," \
	"\"cmd\": {\"command\": \"c\", \"env\": {\"A\": \"!echo 1 >>ran; cat secret\"}}," \
	"\"url\": {\"url\": \"https://${V}/\", \"headers\": {\"H\": \"${V}\"}},"          \
	"\"urlcmd\": {\"url\": \"https://b/\", \"headers\": {\"H\": \"!echo value2\"}},"  \
	"\"auth\": {\"url\": \"https://c/\", \"oauth\": {\"clientId\": \"${V}\","         \
	"\"clientSecret\": \"!echo s\"}}}}"
#define CODEX                                                                                 \
	"[mcp_servers.bearer]\nurl = \"https://d\"\nbearer_token_env_var = \"V\"\n"           \
	"env_http_headers = { \"Y\" = \"V\" }\n[mcp_servers.handed]\ncommand = \"./bin/x\"\n" \
	"cwd = \"w\"\nenv_vars = [\"V\", \"NOPE\"]\n"

static bool make_servers(struct desk *d)
{
	REQUIRE(open_desk(d));
	home_env[1] = "V=value-of-v";
	home_env[2] = "PATH=/usr/bin:/bin";
	REQUIRE(put("home/.config/mcpool/mcp.json", SERVERS));
	REQUIRE(put("home/.codex/config.toml", CODEX));
	REQUIRE(put("home/x.env", "F=from-file\n") && put("home/secret", "first-value"));
	return load(d, NULL);
}

HEAVY_TEST(keys_are_those_of_the_start)
{
	DESK;

	CHECK(make_servers(&d));
	CHECK(identify(&d));
	CHECK(access(in("home/ran"), F_OK) < 0); /* no command ran */
	CHECK_EQ(d.set->n, 11);
	for (size_t i = 0; i < d.set->n; i++) {
		CHECK(test_true(d.keys->of[i].is_known, d.set->entries[i]->name, __FILE__,
				__LINE__));
		CHECK(prepare(&d, d.set->entries[i]->name));
		CHECK_EQ(d.error.code, 0);
		CHECK(test_true(memcmp(launch_ops->get_key(d.plan), d.keys->of[i].bytes,
				       MP_DIGEST_SIZE) == 0,
				d.set->entries[i]->name, __FILE__, __LINE__));
		for (size_t k = 0; k < i; k++)
			CHECK(memcmp(d.keys->of[k].bytes, d.keys->of[i].bytes, MP_DIGEST_SIZE) !=
			      0);
	}
	CHECK(access(in("home/ran"), F_OK) == 0);
}

HEAVY_TEST(a_key_follows_the_environment)
{
	unsigned char before[MP_DIGEST_SIZE];
	DESK;

	CHECK(make_servers(&d));
	CHECK(identify(&d));
	memcpy(before, d.keys->of[0].bytes, sizeof(before));
	CHECK(identify(&d));
	CHECK(memcmp(before, d.keys->of[0].bytes, sizeof(before)) == 0);
	home_env[1] = "V=another-value";
	CHECK(identify(&d));
	CHECK(memcmp(before, d.keys->of[0].bytes, sizeof(before)) != 0);
}

HEAVY_TEST(what_has_no_key_says_why)
{
	DESK;

	CHECK(open_desk(&d));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"missing\": {\"command\": \"${NO}\"}, \"off\": {\"command\": "
		  "\"c\", \"enabled\": false}, \"new\": {\"command\": \"d\"}}}"));
	CHECK(load(&d, NULL));
	d.set->entries[2]->trust = MP_TRUST_NEW;
	CHECK(identify(&d));
	CHECK(!d.keys->of[0].is_known && !d.keys->of[2].is_known);
	CHECK(d.keys->of[1].is_known); /* somebody may switch it on */
	CHECK_EQ(d.keys->of[0].code, MCPOOL_ENOENT);
	CHECK(strstr(d.keys->of[0].problem, "${NO}"));
	CHECK_EQ(d.keys->of[1].code, 0);
	CHECK(!d.keys->of[1].problem && !d.keys->of[2].problem);
	CHECK(prepare(&d, "missing"));
	CHECK_EQ(d.error.code, MCPOOL_ENOENT);
	CHECK(strstr(d.error.message, "${NO}"));
}

static char warnings[2000];

static void keep_warning(const struct mp_log_line *line, void *u)
{
	size_t n = strlen(warnings);

	(void)u;
	if (line->level == MP_LEVEL_WRN)
		snprintf(warnings + n, sizeof(warnings) - n, "%s: %s\n", line->object, line->text);
}

/* B37 B41 B77 */
/* Each value that is left out or missing is in the log, and the server is started all the same. */
HEAVY_TEST(what_a_start_goes_without_is_logged)
{
	DESK;

	CHECK(open_desk(&d));
	home_env[1] = "PATH=/usr/bin:/bin";
	CHECK(put(
		"home/.config/mcpool/mcp.json",
		"{\"mcpool\": {\"profile\": \"omp\"}, \"mcpServers\": {\"a\": {\"command\": \"c\", "
		"\"env\": {\"LEFT\": \"!false\", \"LITERAL\": \"${NO}\"}}, \"b\": {\"url\": "
		"\"http://127.0.0.1:1/\", \"auth\": {\"type\": \"oauth\"}}}}"));
	CHECK(load(&d, NULL));
	warnings[0] = '\0';
	mp_log_set_sink(keep_warning, NULL);
	for (size_t i = 0; i < 2; i++) {
		bool is_prepared = prepare(&d, i ? "b" : "a");

		if (!is_prepared || d.error.code) {
			mp_log_set_sink(NULL, NULL);
			CHECK(is_prepared && !d.error.code);
		}
	}
	mp_log_set_sink(NULL, NULL);
	CHECK(strstr(warnings, "LEFT is left out"));
	CHECK(strstr(warnings, "Unresolved variable ${NO} for mcp 'a'"));
	CHECK(strstr(warnings, "Server \"b\": there is no stored credential; it is tried without"));
}

/* B37 B77 */
HEAVY_TEST(without_its_credential_a_server_waits_for_a_login)
{
	static const char *const names[] = {"a", "b"};
	char next[60];
	DESK;

	CHECK(open_desk(&d));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"c\", \"auth\": {\"type\": \"oauth\", "
		  "\"credentialId\": \"i\"}}, \"b\": {\"url\": \"http://127.0.0.1:1/\", \"auth\": "
		  "{\"type\": \"oauth\"}}}}"));
	CHECK(load(&d, NULL));
	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		CHECK(prepare(&d, names[i]));
		CHECK_EQ(d.error.code, MCPOOL_ENEEDS_AUTH);
		snprintf(next, sizeof(next), "there is no credential; log in: mcpool login %s",
			 names[i]);
		CHECK(strstr(d.error.message, next));
	}
}

/* --- plans ---------------------------------------------------------------------------------- */

static bool approve(struct desk *d, struct mp_db *db)
{
	MP_SET set = home_load(db);

	for (size_t i = 0; i < set->n; i++)
		REQUIRE(mp_trust_approve(db, set->entries[i], "trust", 1000, &why) == 0);
	return load(d, db);
}

HEAVY_TEST(a_script_that_changed_since_is_not_started)
{
	MP_STORE db = NULL;
	DESK;

	CHECK(open_desk(&d));
	db = home_open_store();
	CHECK(db && put("project/run.sh", "echo one\n") &&
	      put("project/.mcp.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"sh\", \"args\": [\"run.sh\"]}}}"));
	CHECK(approve(&d, db));
	CHECK_EQ(d.set->entries[0]->trust, MP_TRUST_YES);
	CHECK(prepare(&d, "a"));
	CHECK_EQ(d.error.code, 0);
	CHECK(put("project/run.sh", "rm -rf /\n"));
	CHECK(prepare(&d, "a"));
	CHECK_EQ(d.error.code, MCPOOL_ENEEDS_APPROVAL);
	CHECK_TEXT(d.error.message,
		   "Server \"a\": run.sh changed since it was approved: mcpool trust a");
	CHECK(unlink(in("project/run.sh")) == 0);
	CHECK(prepare(&d, "a"));
	CHECK_EQ(d.error.code, MCPOOL_ENEEDS_APPROVAL);
	CHECK_TEXT(d.error.message, "Server \"a\": a file that it names is gone since it was "
				    "approved: mcpool trust a");
	CHECK(put("project/run.sh", "echo one\n"));
	CHECK(prepare(&d, "a"));
	CHECK_EQ(d.error.code, 0);
}

/* U5 */
/* A command of a changed project is not run either. */
HEAVY_TEST(nothing_runs_before_the_approval_is_looked_at)
{
	MP_STORE db = NULL;
	DESK;

	CHECK(open_desk(&d));
	home_env[1] = "PATH=/usr/bin:/bin";
	db = home_open_store();
	CHECK(db && put("project/give.sh", "echo value-1\n"));
	CHECK(put("project/.mcpool/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"c\", "
					      "\"env\": {\"A\": \"!sh give.sh\"}}}}"));
	CHECK(approve(&d, db));
	CHECK(put("project/give.sh", "touch pwned; echo value-1\n"));
	CHECK(prepare(&d, "a"));
	CHECK_EQ(d.error.code, MCPOOL_ENEEDS_APPROVAL);
	CHECK(access(in("project/pwned"), F_OK) < 0);
}

/* A file that is named on the command line is approved by that. */
HEAVY_TEST(what_a_person_just_named_needs_no_approval)
{
	const char *file;
	struct mp_config_request req;
	DESK;

	CHECK(open_desk(&d));
	CHECK(put("project/run.sh", "echo one\n") &&
	      put("project/mine.json",
		  "{\"mcpServers\": {\"a\": {\"command\": \"sh\", \"args\": [\"run.sh\"]}}}"));
	file = in("project/mine.json");
	req = home_request(NULL);
	req.files = &file;
	req.n_files = 1;
	d.set = mp_config_load(&req);
	CHECK(d.set->n == 1 && d.set->entries[0]->trust == MP_TRUST_YES);
	CHECK(put("project/run.sh", "echo two\n"));
	CHECK(prepare(&d, "a"));
	CHECK_EQ(d.error.code, 0);
}

HEAVY_TEST(those_that_start_together_share_a_command)
{
	struct mp_launch_plan *plans[4] = {NULL};
	DESK;

	CHECK(make_servers(&d));
	for (size_t i = 0; i < MP_ARRAY_LEN(plans); i++)
		CHECK(launch_ops->prepare(d.planner, d.set, nth(d.set, "cmd", 0), home_env, NULL,
					  got_plan, &d, &plans[i]) == 0);
	CHECK(TURN_UNTIL(d.loop, d.told == (int)MP_ARRAY_LEN(plans)));
	for (size_t i = 0; i < MP_ARRAY_LEN(plans); i++)
		launch_ops->drop(d.planner, plans[i]);
	CHECK_EQ(d.error.code, 0);
	{
		struct stat st;

		CHECK(stat(in("home/ran"), &st) == 0);
		CHECK_EQ(st.st_size, 2); /* "1\n", once */
	}
}

/* A caller who drops a plan takes the environment along, whatever the worker is at. */
HEAVY_TEST(a_plan_may_be_dropped_while_a_worker_has_it)
{
	static char path[] = "PATH=/usr/bin:/bin";
	MP_CLEANUP(mp_freep) char **own = NULL;
	DESK;

	CHECK(open_desk(&d));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"slow\": {\"command\": \"c\", \"env\": {\"A\": \"!: >began; "
		  "until [ -e go ]; do sleep 0.01; done; echo value-3; : >over\"}}}}"));
	CHECK(load(&d, NULL));
	own = mp_alloc(2 * sizeof(*own));
	own[0] = path;
	CHECK_EQ(launch_ops->prepare(d.planner, d.set, d.set->entries[0], own, NULL, got_plan, &d,
				     &d.plan),
		 0);
	CHECK(TURN_UNTIL(d.loop, access(in("home/began"), F_OK) == 0));
	d.plan = launch_ops->drop(d.planner, d.plan);
	d.set = mp_config_set_unref(d.set);
	own = mp_free(own);
	CHECK(put("home/go", ""));
	CHECK(TURN_UNTIL(d.loop, access(in("home/over"), F_OK) == 0));
	d.planner = mp_launch_planner_free(d.planner);
	d.loop = mp_loop_free(d.loop); /* the worker is done when this returns */
	CHECK_EQ(d.told, 0);
}

HEAVY_TEST(a_plan_may_be_dropped_as_soon_as_it_is_told)
{
	DESK;

	CHECK(make_servers(&d));
	d.drop_at_once = true;
	CHECK(prepare(&d, "program"));
	CHECK(!d.plan);
	CHECK_EQ(d.told, 1);
}

HEAVY_TEST(a_planner_may_go_while_a_worker_is_busy)
{
	DESK;

	CHECK(make_servers(&d));
	CHECK(begin(&d, "cmd"));
	d.plan = launch_ops->drop(d.planner, d.plan);
	d.told = 0;
	CHECK(launch_ops->identify(d.planner, d.set, home_env, got_keys, &d) == 0);
	d.planner = mp_launch_planner_free(d.planner);
	CHECK(TURN_UNTIL(d.loop, d.told)); /* keys are told all the same */
	CHECK(d.keys && d.keys->of[0].is_known);
}

/* --- dialling ------------------------------------------------------------------------------- */

/* E14 */
HEAVY_TEST(remote_servers_have_no_process)
{
	struct mp_transport *t = NULL;
	DESK;

	CHECK(make_servers(&d));
	CHECK(prepare(&d, "url"));
	CHECK_EQ(d.error.code, 0);
	CHECK_EQ(launch_ops->dial(d.planner, d.plan, &t, &why), 0);
	CHECK_TEXT(t->impl->name, "http_detect");
	CHECK(!t->impl->get_pid);
	mp_transport_free(t);
	CHECK_EQ(count_alive("", NULL), 0); /* and no launcher was started for that */
}

/* D14 */
/* One function, whatever the kind; the two of HTTP are told apart by what they answer. */
HEAVY_TEST(one_factory_builds_every_transport)
{
	static const char *const kinds[][2] = {{"local", "stdio"},
					       {"http", "http_detect"},
					       {"sse", "http_detect"},
					       {"ws", "websocket"},
					       {"bare", "http_detect"}};
	DESK;

	CHECK(open_desk(&d));
	CHECK(put("home/.config/mcpool/mcp.json",
		  "{\"mcpServers\": {\"local\": {\"command\": \"/bin/true\"}, "
		  "\"http\": {\"type\": \"http\", \"url\": \"http://127.0.0.1:1/h\"}, "
		  "\"sse\": {\"type\": \"sse\", \"url\": \"http://127.0.0.1:1/s\"}, "
		  "\"ws\": {\"type\": \"ws\", \"url\": \"ws://127.0.0.1:1/w\"}, "
		  "\"bare\": {\"url\": \"http://127.0.0.1:1/b\"}}}") &&
	      load(&d, NULL));
	for (size_t i = 0; i < MP_ARRAY_LEN(kinds); i++) {
		struct mp_transport *t = NULL;
		const char *name;

		CHECK(prepare(&d, kinds[i][0]));
		CHECK_EQ(d.error.code, 0);
		CHECK_EQ(launch_ops->dial(d.planner, d.plan, &t, &why), 0);
		name = t->impl->name;
		mp_transport_free(t);
		CHECK_TEXT(name, kinds[i][1]);
	}
	d.plan = launch_ops->drop(d.planner, d.plan);
	d.planner = mp_launch_planner_free(d.planner);
	CHECK(all_gone_within(PATIENCE_MS));
}

static int dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct desk *d = u;

	return launch_ops->dial(d->planner, d->plan, ret, reterr);
}

static void up_ready(void *u)
{
	((struct desk *)u)->ready++;
}

static void up_ended(void *u, const struct mcpool_error *error)
{
	((struct desk *)u)->error = *error;
}

static void up_closed(void *u)
{
	((struct desk *)u)->closed++;
}

static const struct mp_upstream_hooks hooks = {
	.ready = up_ready, .ended = up_ended, .closed = up_closed};

static bool has_line(const char *path, const char *line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char wanted[200];

	mp_buf_init(&text, MP_MIB(1));
	if (mp_file_read(path, MP_MIB(1), &text, NULL) < 0)
		return false;
	snprintf(wanted, sizeof(wanted), "%s\n", line);
	return mp_str_find(mp_buf_get(&text), mp_str_of(wanted), 0) >= 0;
}

/* U6: as the entry says, down to the process; what is configured is there in each. */
HEAVY_TEST(a_process_has_the_environment_of_its_entry)
{
	static const char *const modes[] = {"inherit", "minimal", "none"};
	static const struct mp_transport_hooks unheard = {0};
	DESK;

	CHECK(open_desk(&d));
	home_env[1] = "PATH=/usr/bin:/bin";
	home_env[2] = "V=ours";
	home_env[3] = "OPENAI_API_KEY=agents";
	for (int i = 0; i < 3; i++) {
		struct mp_transport *t = NULL;
		char text[600], path[200];

		snprintf(path, sizeof(path), "%s", in(modes[i]));
		snprintf(text, sizeof(text),
			 "{\"mcpServers\": {\"a\": {\"command\": \"/bin/sh\", \"args\": [\"-c\", "
			 "\"/usr/bin/env >'%s'; echo end >>'%s'; read x\"], \"environment\": "
			 "\"%s\", "
			 "\"env\": {\"OWN\": \"mine\", \"MCPOOL_TEST_MARK\": \"%s\"}}}}",
			 path, path, modes[i], tag + strlen("MCPOOL_TEST_MARK="));
		CHECK(put("home/.config/mcpool/mcp.json", text) && load(&d, NULL));
		CHECK(prepare(&d, "a"));
		CHECK_EQ(d.error.code, 0);
		CHECK_EQ(launch_ops->dial(d.planner, d.plan, &t, &why), 0);
		t->hooks = &unheard;
		CHECK_EQ(t->impl->start(t, &why), 0);
		CHECK(TURN_UNTIL(d.loop, has_line(path, "end")));
		mp_transport_free(t);
		CHECK(has_line(path, "OWN=mine"));
		CHECK_EQ(has_line(path, "V=ours"), i == 0);
		CHECK_EQ(has_line(path, "PATH=/usr/bin:/bin"), i < 2);
		CHECK(!has_line(path, "OPENAI_API_KEY=agents"));
	}
	d.plan = launch_ops->drop(d.planner, d.plan);
	d.planner = mp_launch_planner_free(d.planner);
	CHECK(all_gone_within(PATIENCE_MS));
}

/* D14 E2 */
/* And twice from one plan, as a server that dies of the probe needs it. */
HEAVY_TEST(a_server_is_started_from_its_plan)
{
	static const struct mp_identity me = {
		.name = "tester", .version = "7", .capabilities = {"{}", 2}};
	char text[600];
	DESK;

	CHECK(open_desk(&d));
	snprintf(text, sizeof(text),
		 "{\"mcpServers\": {\"demo\": {\"command\": \"/bin/sh\", \"args\": [\"-c\", "
		 "\"echo hello >&2; [ $A$(pwd) = 1/usr ] && exec '%s' demo-server\"], "
		 "\"env\": {\"MCPOOL_TEST_MARK\": \"%s\", \"A\": \"1\"}, \"cwd\": \"/usr\"}}}",
		 MCPOOL_EXE, tag + strlen("MCPOOL_TEST_MARK="));
	CHECK(put("home/.config/mcpool/mcp.json", text) && load(&d, NULL));
	CHECK(prepare(&d, "demo"));
	CHECK_EQ(d.error.code, 0);
	for (int i = 1; i <= 2; i++) {
		struct mp_upstream_options o = {.me = &me,
						.eras = MP_ERA_BOTH,
						.timeout_ms = PATIENCE_MS,
						.dial = dial,
						.dial_u = &d};

		d.up = mp_upstream_free(d.up);
		d.up = mp_upstream_new(d.loop, &o, &hooks, &d);
		CHECK_EQ(mp_upstream_open(d.up, &why), 0);
		CHECK(TURN_UNTIL(d.loop, d.ready == i || d.error.code));
		CHECK_EQ(d.error.code, 0);
		mp_upstream_close(d.up);
		CHECK(TURN_UNTIL(d.loop, d.closed == i));
	}
	CHECK(access(in("xdg/mcpool/logs/demo.log"), F_OK) == 0);
	d.up = mp_upstream_free(d.up);
	d.plan = launch_ops->drop(d.planner, d.plan);
	d.planner = mp_launch_planner_free(d.planner);
	CHECK(all_gone_within(PATIENCE_MS));
}

/* X16 */
/* What the process itself sees of our variables, and of its own. */
HEAVY_TEST(a_process_gets_the_environment_of_its_setting)
{
	static const char *const cases[][2] = {
		{"\"profile\": \"default\"", "[ours][own]"},
		{"\"profile\": \"omp\"", "[ours][own]"},
		{"\"profile\": \"claude\"", "[ours][own]"},
		{"\"profile\": \"netdata\"", "[][own]"},
		{"\"profile\": \"netdata\", \"environment\": \"inherit\"", "[ours][own]"},
		{"\"environment\": \"minimal\"", "[][own]"},
	};
	static const struct mp_identity me = {
		.name = "tester", .version = "7", .capabilities = {"{}", 2}};
	DESK;

	CHECK(open_desk(&d));
	home_env[1] = "OURS=ours";
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		struct mp_upstream_options o = {.me = &me,
						.eras = MP_ERA_BOTH,
						.timeout_ms = PATIENCE_MS,
						.dial = dial,
						.dial_u = &d};
		char text[600], log[60];

		snprintf(
			text, sizeof(text),
			"{\"mcpServers\": {\"s%zu\": {\"command\": \"/bin/sh\", \"args\": [\"-c\", "
			"\"echo \\\"[$OURS][$OWN]\\\" >&2\"], \"env\": {\"OWN\": \"own\", "
			"\"MCPOOL_TEST_MARK\": \"%s\"}}}, \"mcpool\": {%s}}",
			i, tag + strlen("MCPOOL_TEST_MARK="), cases[i][0]);
		CHECK(put("home/.config/mcpool/mcp.json", text) && load(&d, NULL));
		CHECK(prepare(&d, d.set->entries[0]->name));
		CHECK_EQ(d.error.code, 0);
		d.up = mp_upstream_free(d.up);
		d.up = mp_upstream_new(d.loop, &o, &hooks, &d);
		CHECK_EQ(mp_upstream_open(d.up, &why), 0);
		snprintf(log, sizeof(log), "xdg/mcpool/logs/s%zu.log", i);
		CHECK(TURN_UNTIL(d.loop, has_line(in(log), cases[i][1])));
		mp_upstream_close(d.up);
		CHECK(TURN_UNTIL(d.loop, d.closed == (int)i + 1));
	}
	d.up = mp_upstream_free(d.up);
	d.plan = launch_ops->drop(d.planner, d.plan);
	d.planner = mp_launch_planner_free(d.planner);
	CHECK(all_gone_within(PATIENCE_MS));
}

TEST(without_a_local_key_there_is_no_planner)
{
	struct mp_launch_planner *p = NULL;

	CHECK(home_make() && put("file", "") && setenv("XDG_STATE_HOME", in("file"), 1) == 0);
	CHECK(mp_launch_planner_new(NULL, NULL, &p, &why) < 0);
	CHECK(!p && why.message[0]);
}
