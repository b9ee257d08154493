/* test_workspaces.c - who shares a workspace, who does not, and when one is closed. */
#include "home.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "hub/hub.h"
#include "hub/workspaces.h"
#include "store/approvals.h"

#define USER_FILE "home/.config/mcpool/mcp.json"
#define OFF       "\"command\":\"x\",\"enabled\":false"

static const struct mp_identity me = {.name = "test", .version = "1", .capabilities = {"{}", 2}};

struct looker {
	struct mp_workspace_user *user;
	struct mp_workspace *workspace;
	int told, code;
};

struct desk {
	struct mp_hub *hub;
	struct looker l[6];
	int ready, stopped;
	bool follows; /* files */
	bool has_store;
	struct mp_db *db; /* owned; NULL: none */
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

static const struct mp_hub_hooks hooks = {.ready = is_ready, .stopped = is_stopped};

static void tidy(struct desk *d)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(d->l); i++)
		mp_workspace_user_free(d->l[i].user);
	mp_hub_free(d->hub);
	mp_db_close(d->db);
	mp_log_set_level(MP_LEVEL_INF);
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {0}

static bool open_desk(struct desk *d, const char *user)
{
	struct mp_hub_options options = {.me = &me, .one_shot = true};

	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(put(USER_FILE, user));
	REQUIRE(put("other/.git/HEAD", ""));
	REQUIRE(put("other/deep/x", ""));
	REQUIRE(put("other/.mcpool/mcp.json", "{\"mcpServers\":{\"p\":{" OFF "}}}"));
	options.one_shot = !d->follows;
	if (d->has_store)
		REQUIRE((d->db = home_open_store()));
	options.request = home_request(d->db);
	options.request.cwd = home_at;
	REQUIRE(mp_hub_new(&options, &hooks, d, &d->hub, &why) == 0);
	mp_hub_start(d->hub);
	for (int i = 0; i < 1000 && !d->ready; i++)
		mp_loop_turn(d->hub->loop, true);
	REQUIRE(d->ready == 1);
	return true;
}

static void found(void *u, struct mp_workspace *workspace, const struct mcpool_error *error)
{
	struct looker *l = u;

	l->told++;
	l->workspace = workspace;
	l->code = error ? error->code : 0;
}

static int ask(struct desk *d, int i, const char *cwd, char *const *env, const char *profile)
{
	struct mp_workspace_request r = {.cwd = cwd, .env = env, .profile = profile};

	d->l[i] = (struct looker){0};
	return mp_workspaces_join(d->hub->workspaces, &r, found, &d->l[i], &d->l[i].user, &why);
}

static bool look(struct desk *d, int i, const char *cwd, char *const *env, const char *profile)
{
	REQUIRE(ask(d, i, cwd, env, profile) == 0);
	REQUIRE(d->l[i].told == 0); /* never from within */
	for (int n = 0; n < 1000 && !d->l[i].told; n++)
		mp_loop_turn(d->hub->loop, true);
	REQUIRE(d->l[i].told == 1 && d->l[i].workspace);
	return true;
}

HEAVY_TEST(the_agents_of_a_project_share_a_workspace)
{
	DESK;

	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF "}}}"));
	CHECK(look(&d, 0, in("other"), home_env, NULL));
	CHECK(look(&d, 1, in("other"), home_env, NULL));
	CHECK(look(&d, 2, in("other/deep"), home_env, NULL)); /* the same project */
	CHECK(look(&d, 3, project_at, home_env, NULL));
	CHECK(d.l[0].workspace == d.l[1].workspace && d.l[0].workspace == d.l[2].workspace);
	CHECK(d.l[0].workspace != d.l[3].workspace);
	CHECK_EQ(mp_workspace_count(d.l[0].workspace), 2);
	CHECK_EQ(mp_workspace_count(d.l[3].workspace), 1);
	CHECK_EQ(mp_workspaces_count(d.hub->workspaces), 3);
	CHECK(look(&d, 4, home_at, home_env, NULL)); /* the hub's own */
	CHECK(d.l[4].workspace == d.hub->workspace);
	CHECK(look(&d, 5, NULL, NULL, NULL));
	CHECK(d.l[5].workspace == d.hub->workspace);
	CHECK_EQ(mp_workspaces_count(d.hub->workspaces), 3);
}

/* Two values of what an entry refers to are two workspaces; of anything else they are one. */
HEAVY_TEST(variables_that_servers_refer_to_count)
{
	DESK;
	char *one[] = {home_variable, "TOKEN=1", "PWD=/a", NULL};
	char *same[] = {home_variable, "TOKEN=1", "PWD=/b", "TERM=x", NULL};
	char *two[] = {home_variable, "TOKEN=2", "PWD=/a", NULL};
	char *path[] = {home_variable, "TOKEN=1", "PATH=/x", NULL};

	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF ",\"env\":{\"T\":\"${TOKEN}\"}}}}"));
	CHECK(look(&d, 0, in("other"), one, NULL));
	CHECK(look(&d, 1, in("other"), same, NULL));
	CHECK(look(&d, 2, in("other"), two, NULL));
	CHECK(look(&d, 3, in("other/deep"), path, NULL));
	CHECK(d.l[0].workspace == d.l[1].workspace);
	CHECK(d.l[0].workspace != d.l[2].workspace);
	CHECK(d.l[0].workspace != d.l[3].workspace && d.l[2].workspace != d.l[3].workspace);
}

static void look_from_outside(struct desk *d, int i, const char *cwd)
{
	struct mp_workspace_request r = {.cwd = cwd, .env = home_env, .starts_nothing = true};

	d->l[i] = (struct looker){0};
	if (mp_workspaces_join(d->hub->workspaces, &r, found, &d->l[i], &d->l[i].user, &why) < 0)
		return;
	for (int n = 0; n < 1000 && !d->l[i].told; n++)
		mp_loop_turn(d->hub->loop, true);
}

/* The command line may have just changed a file: it sees what it wrote, and need not wait. */
HEAVY_TEST(a_look_from_outside_has_what_was_just_written)
{
	DESK;

	d.follows = true;
	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF "}}}"));
	look_from_outside(&d, 0, in("other"));
	CHECK(d.l[0].workspace);
	CHECK_EQ(mp_workspace_count(d.l[0].workspace), 2);
	CHECK(put("other/.mcpool/mcp.json",
		  "{\"mcpServers\":{\"p\":{" OFF "},\"q\":{" OFF ",\"args\":[\"q\"]}}}"));
	look_from_outside(&d, 1, in("other"));
	CHECK(d.l[1].workspace == d.l[0].workspace);
	CHECK_EQ(mp_workspace_count(d.l[1].workspace), 3);
	CHECK(put("other/.mcpool/mcp.json", "{\"mcpServers\":{\"p\":")); /* half a file */
	look_from_outside(&d, 2, in("other"));
	CHECK_EQ(d.l[2].told, 1); /* what holds is shown all the same */
	CHECK_EQ(mp_workspace_count(d.l[2].workspace), 3);
}

HEAVY_TEST(a_profile_has_a_view_of_its_own)
{
	DESK;

	CHECK(open_desk(&d, "{\"mcpool\":{\"profile\":\"omp\"},\"mcpServers\":{\"a\":{" OFF "}}}"));
	CHECK(look(&d, 0, in("other"), home_env, NULL));
	CHECK(look(&d, 1, in("other"), home_env, "claude"));
	CHECK(look(&d, 2, in("other"), home_env, "claude"));
	CHECK(d.l[0].workspace != d.l[1].workspace && d.l[1].workspace == d.l[2].workspace);
	CHECK_EQ(mp_workspace_get_set(d.l[0].workspace)->settings.profile, MP_PROFILE_OMP);
	CHECK_EQ(mp_workspace_get_set(d.l[1].workspace)->settings.profile, MP_PROFILE_CLAUDE);
	CHECK_EQ(ask(&d, 3, in("other"), home_env, "nonsense"), MCPOOL_EINVAL);
}

HEAVY_TEST(what_cannot_be_looked_at_is_refused)
{
	DESK;

	CHECK(open_desk(&d, "{}"));
	CHECK_EQ(ask(&d, 0, "relative", home_env, NULL), MCPOOL_ENOENT);
	CHECK_EQ(ask(&d, 0, in(USER_FILE), home_env, NULL), MCPOOL_ENOENT); /* no folder */
	mp_hub_stop(d.hub);
	CHECK_EQ(ask(&d, 0, home_at, home_env, NULL), MCPOOL_ECLOSED);
	for (int i = 0; i < 1000 && !d.stopped; i++)
		mp_loop_turn(d.hub->loop, true);
	CHECK_EQ(d.stopped, 1);
}

/* A session that leaves before the answer gets nothing; the workspace stays for the next one. */
HEAVY_TEST(a_look_that_is_freed_is_not_told)
{
	DESK;

	CHECK(open_desk(&d, "{}"));
	CHECK_EQ(ask(&d, 0, in("other"), home_env, NULL), 0);
	d.l[0].user = mp_workspace_user_free(d.l[0].user);
	CHECK(look(&d, 1, in("other"), home_env, NULL));
	CHECK_EQ(d.l[0].told, 0);
	CHECK_EQ(mp_workspaces_count(d.hub->workspaces), 2);
}

/* The timer itself is the loop's; here only that it runs when it should. */
HEAVY_TEST(a_workspace_rests_when_its_last_user_left)
{
	DESK;
	struct mp_hub_workspace *h;

	CHECK(open_desk(&d, "{}"));
	CHECK(look(&d, 0, in("other"), home_env, NULL));
	CHECK(look(&d, 1, in("other"), home_env, NULL));
	h = mp_container_of(d.hub->workspaces->list.head.prev, struct mp_hub_workspace, link);
	d.l[0].user = mp_workspace_user_free(d.l[0].user);
	CHECK(!mp_timer_is_running(&h->unused));
	d.l[1].user = mp_workspace_user_free(d.l[1].user);
	CHECK(mp_timer_is_running(&h->unused));
	CHECK(look(&d, 2, in("other"), home_env, NULL));
	CHECK(!mp_timer_is_running(&h->unused));
	d.l[2].user = mp_workspace_user_free(d.l[2].user);
	h->unused.fn(h->unused.u); /* five minutes later */
	CHECK_EQ(mp_workspaces_count(d.hub->workspaces), 1);
}

/* Servers of the hub's --config run in the folder where the hub was started, for every session. */
HEAVY_TEST(named_files_belong_to_all_and_run_where_they_were_named)
{
	DESK;
	struct mp_hub_options options = {.me = &me, .one_shot = true};
	char named[300];
	const char *files[] = {named};

	mp_log_set_level(MP_LEVEL_OFF);
	CHECK(home_make());
	CHECK(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	CHECK(put("named.json", "{\"mcpServers\":{\"n\":{" OFF "}}}"));
	snprintf(named, sizeof(named), "%s", in("named.json"));
	options.request = home_request(NULL);
	options.request.cwd = home_at;
	options.request.files = files;
	options.request.n_files = 1;
	CHECK_EQ(mp_hub_new(&options, &hooks, &d, &d.hub, &why), 0);
	mp_hub_start(d.hub);
	CHECK(look(&d, 0, project_at, home_env, NULL));
	CHECK_EQ(mp_workspace_count(d.l[0].workspace), 1);
	CHECK_TEXT(mp_workspace_get_set(d.l[0].workspace)->named_in, home_at);
}

/* The files that a session names make a workspace of their own, shared by equal sessions. */
/* C21 */
HEAVY_TEST(files_of_a_session_make_a_workspace)
{
	DESK;
	char one[300];
	const char *files[] = {one};
	struct mp_workspace_request r = {.env = home_env, .files = files, .n_files = 1};

	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{" OFF "}}}"));
	CHECK(put("one.json", "{\"mcpServers\":{\"x\":{" OFF "}}}"));
	snprintf(one, sizeof(one), "%s", in("one.json"));
	r.cwd = in("other");
	for (int i = 0; i < 3; i++) {
		r.strict = i == 2;
		CHECK_EQ(mp_workspaces_join(d.hub->workspaces, &r, found, &d.l[i], &d.l[i].user,
					    &why),
			 0);
		for (int n = 0; n < 1000 && !d.l[i].told; n++)
			mp_loop_turn(d.hub->loop, true);
		CHECK(d.l[i].workspace);
	}
	CHECK(look(&d, 3, in("other"), home_env, NULL));
	CHECK(d.l[0].workspace == d.l[1].workspace);
	CHECK(d.l[0].workspace != d.l[2].workspace && d.l[0].workspace != d.l[3].workspace);
	CHECK_EQ(mp_workspace_count(d.l[0].workspace), 3); /* the user's, the project's and x */
	CHECK_EQ(mp_workspace_count(d.l[2].workspace), 1);
	CHECK_EQ(mp_workspace_count(d.l[3].workspace), 2);
}

/* The store changes, and no message tells the hub: approvals are compared for each user. */
/* A48 */
HEAVY_TEST(an_approval_counts_for_the_next_user_of_a_workspace)
{
	DESK;

	d.follows = true;
	d.has_store = true;
	CHECK(open_desk(&d, "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"start\":\"lazy\"}}}"));
	CHECK(look(&d, 0, NULL, NULL, NULL));
	CHECK_EQ(mp_workspace_get_state(d.l[0].workspace, 0, 0), MP_STATUS_NEEDS_APPROVAL);
	CHECK_EQ(mp_approvals_set_file(d.db, in(USER_FILE), true, 5, &why), 0);
	CHECK(look(&d, 1, NULL, NULL, NULL)); /* told when it has been reloaded */
	CHECK_EQ(mp_workspace_get_state(d.l[1].workspace, 0, 0), MP_STATUS_READY);
	CHECK_EQ(mp_approvals_set_file(d.db, in(USER_FILE), false, 6, &why), 0);
	CHECK(look(&d, 2, NULL, NULL, NULL));
	CHECK_EQ(mp_workspace_get_state(d.l[2].workspace, 0, 0), MP_STATUS_NEEDS_APPROVAL);
}
