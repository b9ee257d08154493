/* test_admission.c - now, later, or not at all: every state of a server, for calls and acquires. */
#include "test.h"

#include "fleet.h"

#include "base/error.h"
#include "pool/admission.h"
#include "pool/workspace.h"

#define ONE       "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"
#define WITH(key) "{\"mcpServers\":{\"a\":{\"command\":\"a\"," key "}}}"

static bool judge(struct fleet *f, bool is_acquire, struct mp_admission *ret)
{
	struct mp_instance *in = mp_workspace_get_instance(f->workspace, "a", 0, NULL);

	REQUIRE(in);
	mp_admission_judge(in, is_acquire, ret);
	return true;
}

/* E28 E30 */
/* Not running: started, and waited for; running: at once. */
TEST(the_first_start_is_waited_for)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	struct mp_admission a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(judge(&f, false, &a));
	CHECK_EQ(a.verdict, MP_ADMIT_LATER);
	CHECK(judge(&f, true, &a));
	CHECK_EQ(a.verdict, MP_ADMIT_LATER);
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
	for (int acquire = 0; acquire < 2; acquire++) {
		CHECK(judge(&f, acquire, &a));
		CHECK_EQ(a.verdict, MP_ADMIT);
	}
	CHECK(fleet_acquire(&f, "a", 1, &r));
	fleet_settle(&f);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
}

/* E29 E39 E36 E78 D11 */
/* No call waits for a server that has failed, however long ago. */
TEST(a_failed_start_is_told_with_its_age)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	struct mp_admission a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->dial_code = MCPOOL_ENOENT;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, (int64_t)3610 * 1000);
	for (int acquire = 0; acquire < 2; acquire++) {
		CHECK(judge(&f, acquire, &a));
		CHECK_EQ(a.verdict, MP_ADMIT_NOT);
		CHECK_EQ(a.code, MCPOOL_EUNAVAILABLE);
		CHECK(a.retryable);
		CHECK_TEXT(a.words, "server 'a': initialization failed 3610s ago: start: it cannot "
				    "be dialled; started with the environment of the hub, 0 "
				    "variables; tried again in 290s or when it changes");
	}
	CHECK(fleet_acquire(&f, "a", 1, &r));
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.code, MCPOOL_EUNAVAILABLE);
	CHECK(strstr(r.text, "initialization failed 3610s ago"));
}

/* Where nothing is tried again, nothing is promised. */
TEST(a_start_that_is_not_tried_again_says_so)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_admission a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"restart\":"
			     "{\"finalRetryMs\":0}}}}"));
	fleet_get(&f, "a")->dial_code = MCPOOL_ENOENT;
	CHECK(fleet_start(&f, "a"));
	fleet_advance(&f, (int64_t)3600 * 1000);
	CHECK(judge(&f, false, &a));
	CHECK(!a.retryable);
	CHECK_TEXT(a.words, "server 'a': initialization failed 3600s ago: start: it cannot be "
			    "dialled; started with the environment of the hub, 0 variables");
	CHECK_EQ(fleet_get(&f, "a")->prepares, 1);
}

/* D25 E47 E49 D11 */
/* In progress and failed are two codes, with the number of the attempt. */
TEST(a_restart_is_waited_for_until_it_fails)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_admission a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_get(&f, "a")->prepare_ms = 500;
	fleet_die(fleet_get(&f, "a"));
	CHECK(judge(&f, false, &a));
	CHECK_EQ(a.verdict, MP_ADMIT_LATER);
	mp_admission_give_up(mp_workspace_get_instance(f.workspace, "a", 0, NULL), &a);
	CHECK_EQ(a.code, MCPOOL_ERESTARTING);
	CHECK_EQ(a.attempt, 1);
	fleet_advance(&f, 600);
	CHECK(judge(&f, false, &a));
	CHECK_EQ(a.verdict, MP_ADMIT_NOT);
	CHECK_EQ(a.code, MCPOOL_ERESTART_FAILED);
	CHECK_EQ(a.attempt, 1);
	CHECK(judge(&f, true, &a));
	CHECK_EQ(a.verdict, MP_ADMIT_LATER); /* who acquires has time */
	fleet_advance(&f, 1000);
	CHECK(judge(&f, false, &a)); /* the second attempt is under way */
	CHECK_EQ(a.verdict, MP_ADMIT_LATER);
}

/* D11: nothing has failed while the first attempt is only due. */
TEST(a_restart_that_was_not_tried_has_not_failed)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_admission a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"restart\":{\"schedule\":"
			     "[2000,3000]}}}}"));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "a"));
	fleet_advance(&f, 1999);
	CHECK(judge(&f, false, &a));
	CHECK_EQ(a.verdict, MP_ADMIT_LATER);
	mp_admission_give_up(mp_workspace_get_instance(f.workspace, "a", 0, NULL), &a);
	CHECK_EQ(a.code, MCPOOL_ERESTARTING);
	fleet_advance(&f, 1);
	CHECK(judge(&f, false, &a));
	CHECK_EQ(a.verdict, MP_ADMIT_NOT);
	CHECK_EQ(a.code, MCPOOL_ERESTART_FAILED);
}

TEST(callers_may_be_refused_at_once)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_admission a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, WITH("\"restart\":{\"callers\":\"fail\"}")));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->prepare_ms = 500;
	fleet_die(fleet_get(&f, "a"));
	CHECK(judge(&f, false, &a));
	CHECK_EQ(a.code, MCPOOL_ERESTARTING);
}

/* E27 C5 */
TEST(stopping_and_barred_servers_refuse)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_admission a;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->prepare_code = MCPOOL_ENEEDS_AUTH;
	CHECK(fleet_start(&f, "a"));
	CHECK(judge(&f, false, &a));
	CHECK_EQ(a.code, MCPOOL_ENEEDS_AUTH);
	mp_pool_stop(f.pool, NULL, NULL);
	CHECK(judge(&f, true, &a));
	CHECK_EQ(a.code, MCPOOL_EUNAVAILABLE);
	CHECK_TEXT(a.words, "server 'a': mcpool is stopping");
}

struct stopping {
	struct fleet f;
	struct fleet_result r;
	struct mp_watcher watcher;
	bool is_asked, is_taken;
};

static void call_when_it_stops(void *u, mp_id instance)
{
	struct stopping *s = u;
	struct mp_status status;

	(void)instance;
	fleet_status(&s->f, "a", &status);
	if (strcmp(status.detail, "stopping") != 0 || s->is_asked)
		return;
	s->is_asked = true;
	s->is_taken = fleet_call(&s->f, "a", 1, 0, &s->r);
}

static void stopping_done(struct stopping *s)
{
	fleet_done(&s->f);
}

/* U14 D41 */
/* An idle stop is not a restart: a call waits and starts the server. */
TEST(a_call_to_an_idle_server_that_just_stops_is_no_restart)
{
	MP_CLEANUP(stopping_done) struct stopping s = {.is_asked = false};

	CHECK(fleet_init(&s.f));
	CHECK(fleet_open(&s.f,
			 "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"residency\":\"idle:1000\","
			 "\"restart\":{\"callers\":\"fail\"}}}}"));
	CHECK(fleet_start(&s.f, "a"));
	mp_watcher_join(s.f.pool, &s.watcher, call_when_it_stops, &s);
	fleet_advance(&s.f, 1000);
	fleet_settle(&s.f);
	CHECK(s.is_taken);
	CHECK_EQ(s.r.answers, 1);
	CHECK_EQ(s.r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&s.f, "a")->lives, 2);
}
