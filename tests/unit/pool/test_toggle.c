/* test_toggle.c - servers are switched in a workspace or by a session, and no file knows. */
#include "test.h"

#include "fleet.h"

#include "base/error.h"
#include "memory.h"
#include "pool/pool_client.h"

#define ONE    "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"
#define OFF    "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"enabled\":false}}}"
#define DENIED "{\"mcpServers\":{\"a\":{\"command\":\"a\"}},\"mcpool\":{\"deny\":[\"a\"]}}"

static bool open_up(struct fleet *f, const char *json)
{
	REQUIRE(fleet_init(f));
	return fleet_open(f, json);
}

static int toggle(struct fleet *f, enum mp_toggle how)
{
	int r = mp_workspace_toggle(f->workspace, "a", 0, how, NULL);

	fleet_settle(f);
	return r;
}

static void hear_nothing(struct mp_workspace *v, const struct mcpool_error *error, void *u)
{
	(void)v;
	(void)error;
	(void)u;
}

/* A60 */
/* What is with the server may finish; what comes later is refused. */
TEST(a_server_is_switched_off_and_on)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r, late;

	CHECK(open_up(&f, ONE));
	fleet_get(&f, "a")->holds_calls = true;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(toggle(&f, MP_TOGGLE_OFF), 0);
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK(fleet_call(&f, "a", 1, 0, &late));
	fleet_settle(&f);
	CHECK_EQ(late.code, MCPOOL_EDISABLED);
	CHECK_EQ(r.answers, 0);
	CHECK(fleet_answer_kept(fleet_get(&f, "a"), 0, "{}"));
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	fleet_advance(&f, 2000);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
	CHECK_EQ(fleet_count_open(fleet_get(&f, "a")), 0);
	CHECK_EQ(toggle(&f, MP_TOGGLE_ON), 0);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
	CHECK_EQ(mp_workspace_toggle(f.workspace, "b", 0, MP_TOGGLE_ON, NULL), MCPOOL_ENOENT);
	CHECK(fleet_count_events(&f, NULL, "toggled") == 2);
}

/* U3 */
TEST(a_toggle_is_stronger_than_the_entry_and_weaker_than_deny)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_up(&f, OFF));
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(toggle(&f, MP_TOGGLE_ON), 0);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK(fleet_reload(&f, DENIED));
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(toggle(&f, MP_TOGGLE_ON), 0);
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
}

TEST(a_reload_does_not_undo_it)
{
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_up(&f, ONE));
	CHECK_EQ(toggle(&f, MP_TOGGLE_OFF), 0);
	CHECK(fleet_reload(&f, ONE));
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK(fleet_reload(&f, "{\"mcpServers\":{}}")); /* nor does it being gone for a while */
	CHECK(fleet_reload(&f, ONE));
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(toggle(&f, MP_TOGGLE_NONE), 0);
	CHECK_TEXT(fleet_state(&f, "a"), "connected");
}

/* Another workspace has it as well: it stays for that one. */
/* C20 */
TEST(what_others_use_stays)
{
	static char *env[] = {NULL};
	MP_CLEANUP(fleet_done) struct fleet f;

	CHECK(open_up(&f, ONE));
	f.other = mp_workspace_open(f.pool, f.set, env, hear_nothing, NULL);
	fleet_settle(&f);
	CHECK(mp_workspace_get_set(f.other));
	mp_workspace_start_server(f.workspace, 0, 0, false);
	mp_workspace_start_server(f.other, 0, 0, false);
	fleet_settle(&f);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
	CHECK_EQ(toggle(&f, MP_TOGGLE_OFF), 0);
	CHECK_TEXT(fleet_state(&f, "a"), "disabled");
	CHECK_EQ(mp_workspace_get_state(f.other, 0, 0), MP_STATUS_CONNECTED);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
}

TEST(private_servers_go_too)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(open_up(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"mode\":\"session\"}}}"));
	CHECK(fleet_call(&f, "a", 5, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
	CHECK_EQ(toggle(&f, MP_TOGGLE_OFF), 0);
	fleet_advance(&f, 2000);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
}

/* --- by one session for itself --------------------------------------------------------------- */

static mp_id join(struct fleet *f)
{
	static const struct mp_pool_client_hooks hooks = {0};

	return mp_pool_client_join(f->pool, &hooks, NULL);
}

static int toggle_for(struct fleet *f, mp_id session, enum mp_toggle how)
{
	int r = mp_workspace_toggle(f->workspace, "a", session, how, NULL);

	fleet_settle(f);
	return r;
}

static enum mp_status_state state_for(struct fleet *f, mp_id session)
{
	return mp_workspace_get_state(f->workspace, 0, session);
}

static int call_for(struct fleet *f, mp_id session)
{
	static struct fleet_result r; /* without memory the call may stay open */

	if (!fleet_call(f, "a", session, 0, &r))
		return MCPOOL_ENOMEM;
	fleet_settle(f);
	return r.outcome == MP_OUTCOME_ANSWERED ? 0 : r.code;
}

/* C20 */
TEST(a_session_switches_off_for_itself)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	mp_id one, other;

	CHECK(open_up(&f, ONE));
	one = join(&f);
	other = join(&f);
	CHECK_EQ(call_for(&f, other), 0);
	CHECK_EQ(toggle_for(&f, one, MP_TOGGLE_OFF), 0);
	CHECK(mp_workspace_has_toggles(f.workspace, one));
	CHECK(!mp_workspace_has_toggles(f.workspace, other));
	CHECK_EQ(state_for(&f, one), MP_STATUS_DISABLED);
	CHECK_EQ(state_for(&f, other), MP_STATUS_CONNECTED);
	CHECK_EQ(state_for(&f, 0), MP_STATUS_CONNECTED);
	CHECK(fleet_call(&f, "a", one, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.code, MCPOOL_EDISABLED);
	CHECK(strstr(r.text, "switched off for this session"));
	CHECK_EQ(call_for(&f, other), 0);
	CHECK(fleet_reload(&f, ONE));
	CHECK_EQ(state_for(&f, one), MP_STATUS_DISABLED);
	CHECK_EQ(toggle_for(&f, one, MP_TOGGLE_NONE), 0);
	CHECK_EQ(call_for(&f, one), 0);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	CHECK_EQ(toggle_for(&f, 99, MP_TOGGLE_OFF), MCPOOL_ENOENT);
}

/* It starts what the folder has off, for that session alone and until it ends. */
/* A17 C20 U3 B76 X18 */
TEST(a_session_switches_on_for_itself)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	mp_id one, other;

	CHECK(open_up(&f, OFF));
	one = join(&f);
	other = join(&f);
	CHECK_EQ(toggle_for(&f, one, MP_TOGGLE_ON), 0);
	CHECK_EQ(state_for(&f, one), MP_STATUS_CONNECTED);
	CHECK_EQ(state_for(&f, other), MP_STATUS_DISABLED);
	CHECK_EQ(state_for(&f, 0), MP_STATUS_DISABLED);
	CHECK_EQ(call_for(&f, one), 0);
	CHECK_EQ(call_for(&f, other), MCPOOL_EDISABLED);
	CHECK(fleet_reload(&f, OFF));
	CHECK_EQ(call_for(&f, one), 0);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	mp_pool_client_leave(f.pool, one);
	fleet_advance(&f, 2000);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
	CHECK(fleet_reload(&f, DENIED));
	CHECK_EQ(toggle_for(&f, other, MP_TOGGLE_ON), 0);
	CHECK_EQ(state_for(&f, other), MP_STATUS_DISABLED);
}

/* What one session switched on stays for it when the folder switches it off. */
/* C20 */
TEST(a_session_is_stronger_than_its_folder)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	mp_id one, other;

	CHECK(open_up(&f, ONE));
	one = join(&f);
	other = join(&f);
	CHECK_EQ(toggle_for(&f, one, MP_TOGGLE_ON), 0);
	CHECK_EQ(toggle(&f, MP_TOGGLE_OFF), 0);
	CHECK_EQ(call_for(&f, one), 0);
	CHECK_EQ(call_for(&f, other), MCPOOL_EDISABLED);
	CHECK_EQ(fleet_get(&f, "a")->lives, 1);
	CHECK_EQ(toggle_for(&f, one, MP_TOGGLE_NONE), 0);
	fleet_advance(&f, 2000);
	CHECK_EQ(mp_pool_count_instances(f.pool), 0);
}

/* C20 */
TEST(a_private_server_goes_with_its_session_only)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	mp_id one, other;

	CHECK(open_up(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"mode\":\"session\"}}}"));
	one = join(&f);
	other = join(&f);
	CHECK_EQ(call_for(&f, one), 0);
	CHECK_EQ(call_for(&f, other), 0);
	CHECK_EQ(mp_pool_count_instances(f.pool), 2);
	CHECK_EQ(toggle_for(&f, one, MP_TOGGLE_OFF), 0);
	fleet_advance(&f, 2000);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
	CHECK_EQ(call_for(&f, other), 0);
	CHECK_EQ(fleet_get(&f, "a")->lives, 2);
}
