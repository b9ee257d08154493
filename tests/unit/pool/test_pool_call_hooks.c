/*
 * test_pool_call_hooks.c - what a user may do when its call has ended, however it ended: start the
 * same call again, free it, end its session, take the server away, free the pool.
 */
#include "test.h"

#include "fleet.h"

#include "base/mem.h"
#include "pool/pool_call.h"

#define ONE "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"

enum ending {
	ANSWERED,
	LOST,
	CANCELLED,
	CANCELLED_WAITING,
	TIMED_OUT,
	REFUSED,
	POOL_GONE,
	ENDINGS
};
enum act { NOTHING, AGAIN, FREE, LEAVE, CLOSE_VIEW, END_POOL, ACTS };

struct caller {
	struct mp_pool_call call;
	struct user *user;
};

struct user {
	struct fleet f;
	bool has_fleet;
	struct caller *caller; /* owned; NULL: it was freed by the hook */
	struct caller *beside; /* another call of the session, which is with the server */
	enum act act;
	int answers, answers_beside;
	enum mp_outcome outcome; /* the first */
};

static void start(struct user *u, struct caller *c)
{
	struct mp_pool_call_options o = {
		.server = "a",
		.session = 1,
		.tool = MP_STR("t"),
		.call = {.method = MP_METHOD_TOOLS_CALL,
			 .params = MP_STR("{\"name\":\"t\"}"),
			 .timeout_ms = 5000},
	};

	if (u->f.workspace)
		(void)!mp_pool_call_start(u->f.workspace, &c->call, &o, NULL);
}

static void drop(struct caller **c)
{
	if (*c)
		mp_pool_call_done(&(*c)->call);
	*c = mp_free(*c);
}

static void act(struct user *u)
{
	switch (u->act) {
	case AGAIN:
		if (u->answers == 1)
			start(u, u->caller);
		break;
	case FREE:
		drop(&u->caller);
		break;
	case LEAVE:
		if (u->f.pool)
			mp_pool_end_session(u->f.pool, 1);
		break;
	case CLOSE_VIEW:
		u->f.workspace = u->f.workspace ? mp_workspace_close(u->f.workspace) : NULL;
		break;
	case END_POOL:
		u->f.workspace = u->f.workspace ? mp_workspace_close(u->f.workspace) : NULL;
		u->f.pool = u->f.pool ? mp_pool_free(u->f.pool) : NULL;
		break;
	default:
		break;
	}
}

static void answered(struct mp_pool_call *c, const struct mp_pool_answer *answer)
{
	struct caller *caller = mp_container_of(c, struct caller, call);
	struct user *u = caller->user;

	if (caller == u->beside) {
		u->answers_beside++;
		return;
	}
	if (u->answers++ == 0)
		u->outcome = answer->outcome;
	act(u);
}

static struct caller *caller_new(struct user *u)
{
	static const struct mp_pool_call_hooks hooks = {.answered = answered};
	struct caller *c = mp_alloc(sizeof(*c));

	c->user = u;
	mp_pool_call_init(&c->call, u->f.loop, &hooks);
	return c;
}

static void user_done(struct user *u)
{
	u->act = NOTHING;
	if (u->has_fleet) {
		u->f.workspace = u->f.workspace ? mp_workspace_close(u->f.workspace) : NULL;
		u->f.pool = u->f.pool ? mp_pool_free(u->f.pool) : NULL;
	}
	drop(&u->caller);
	drop(&u->beside);
	if (u->has_fleet)
		fleet_done(&u->f);
}

static bool user_init(struct user *u, enum ending ending, enum act what)
{
	REQUIRE(fleet_init(&u->f));
	u->has_fleet = true;
	u->act = what;
	REQUIRE(fleet_open(&u->f, ONE));
	u->caller = caller_new(u);
	u->beside = caller_new(u);
	fleet_get(&u->f, "a")->holds_calls = ending != ANSWERED;
	if (ending == REFUSED)
		fleet_get(&u->f, "a")->prepare_code = MCPOOL_EINVAL;
	if (ending == CANCELLED_WAITING)
		fleet_get(&u->f, "a")->prepare_ms = 1000;
	if (ending != REFUSED && ending != CANCELLED_WAITING)
		REQUIRE(fleet_start(&u->f, "a"));
	return true;
}

static void bring_about(struct user *u, enum ending ending)
{
	struct fleet_server *server = fleet_get(&u->f, "a");

	start(u, u->beside);
	start(u, u->caller);
	if (ending != CANCELLED_WAITING)
		fleet_settle(&u->f);
	if (ending == LOST)
		fleet_die(server);
	else if (ending == TIMED_OUT)
		fleet_advance(&u->f, 5000);
	else if (ending == POOL_GONE && u->act != END_POOL) {
		u->f.workspace = mp_workspace_close(u->f.workspace);
		u->f.pool = mp_pool_free(u->f.pool);
	} else if (ending == CANCELLED || ending == CANCELLED_WAITING)
		mp_pool_call_cancel(&u->caller->call);
	fleet_settle(&u->f);
}

static const enum mp_outcome outcomes[ENDINGS] = {
	[ANSWERED] = MP_OUTCOME_ANSWERED,   [LOST] = MP_OUTCOME_UNKNOWN,
	[CANCELLED] = MP_OUTCOME_CANCELLED, [CANCELLED_WAITING] = MP_OUTCOME_CANCELLED,
	[TIMED_OUT] = MP_OUTCOME_TIMEOUT,   [REFUSED] = MP_OUTCOME_NOT_SENT,
	[POOL_GONE] = MP_OUTCOME_UNKNOWN, /* it was with the server */
};

/* Whatever the hook does, each call ends once for each time it was started. */
static bool try_one(enum ending ending, enum act what)
{
	MP_CLEANUP(user_done) struct user u = {0};

	REQUIRE(user_init(&u, ending, what));
	bring_about(&u, ending);
	if (ending == POOL_GONE && what == END_POOL)
		return true; /* it is the same thing */
	REQUIRE(u.answers >= 1);
	REQUIRE(test_equal(u.outcome, outcomes[ending], "outcome", __FILE__, (int)ending));
	if (u.f.pool)
		fleet_advance(&u.f, 120000);
	if (what == AGAIN && ending == ANSWERED)
		REQUIRE(u.answers == 2);
	if (what == NOTHING)
		REQUIRE(u.answers == 1);
	user_done(&u);
	u = (struct user){0};
	return true;
}

HEAVY_TEST(a_hook_may_do_anything_however_the_call_ended)
{
	for (int ending = 0; ending < ENDINGS; ending++)
		for (int what = 0; what < ACTS; what++)
			CHECK(try_one((enum ending)ending, (enum act)what));
}
