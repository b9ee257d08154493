/* test_pool_calls.c - calls that are refused, that end from within, that are not waited for any
 * more.
 */
#include "test.h"

#include "fleet.h"

#include "base/error.h"
#include "heap_pool_call.h"
#include "pool/pool_call.h"
#include "memory.h"

#define ONE "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"

/* --- who cannot be had ----------------------------------------------------------------------- */

/* E27 C7 */
/* No such server, switched off, stopping. */
TEST(what_cannot_be_had_is_said)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result off, late;
	struct mp_pool_call_options rq = {.server = "nobody", .call.method = MP_METHOD_TOOLS_CALL};

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"off\":{\"command\":\"b\",\"enabled\":false}}}"));
	CHECK_EQ(heap_pool_call(f.workspace, &rq, NULL, NULL, NULL, NULL), MCPOOL_ENOENT);
	CHECK(fleet_call(&f, "off", 1, 0, &off));
	fleet_settle(&f);
	CHECK_EQ(off.code, MCPOOL_EDISABLED);
	CHECK(strstr(off.text, "Server \"off\" is disabled. Run `mcpool enable off` first."));
	CHECK_TEXT(fleet_state(&f, "off"), "disabled");
	mp_pool_stop(f.pool, NULL, NULL);
	CHECK(fleet_call(&f, "a", 1, 0, &late));
	fleet_settle(&f);
	CHECK_EQ(late.code, MCPOOL_EUNAVAILABLE);
	CHECK(fleet_acquire(&f, "a", 1, &late));
	fleet_settle(&f);
	CHECK_EQ(late.answers, 1);
	CHECK_EQ(late.code, MCPOOL_EUNAVAILABLE);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 0);
}

/* A pool that is freed tells everybody, once. */
TEST(nobody_is_forgotten_when_the_pool_goes)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result waiting, out, held;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"b\":{\"command\":\"b\"}}}"));
	fleet_get(&f, "a")->holds_calls = true;
	fleet_get(&f, "b")->mute = true;
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_call(&f, "a", 1, 0, &out));
	CHECK(fleet_call(&f, "b", 1, 0, &waiting));
	CHECK(fleet_acquire(&f, "a", 1, &held));
	fleet_settle(&f);
	f.workspace = mp_workspace_close(f.workspace);
	f.pool = mp_pool_free(f.pool);
	fleet_settle(&f);
	CHECK_EQ(out.answers, 1);
	CHECK_EQ(out.outcome, MP_OUTCOME_UNKNOWN);
	CHECK_EQ(waiting.answers, 1);
	CHECK_EQ(held.answers, 1);
}

/* --- from within an answer ------------------------------------------------------------------- */

static void cancel_it(struct fleet *f, struct fleet_result *r)
{
	(void)f;
	heap_pool_cancel(r->call);
}

/* U18 */
/* The hook of a server that is up may release it right there. */
TEST(an_acquired_lease_is_given_back_from_within)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	f.then = cancel_it;
	CHECK(fleet_acquire(&f, "a", 1, &r));
	fleet_settle(&f);
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.unfinished, 0);
}

/* U18 */
TEST(an_acquire_that_is_cancelled_before_it_is_told_is_cancelled)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	CHECK(fleet_acquire(&f, "a", 1, &r));
	heap_pool_cancel(r.call);
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_CANCELLED);
}

static void free_everything(struct fleet *f, struct fleet_result *r)
{
	(void)r;
	f->then = NULL; /* the others are told meanwhile */
	f->workspace = mp_workspace_close(f->workspace);
	f->pool = mp_pool_free(f->pool);
}

/* U29 */
TEST(an_answer_may_end_the_pool)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result first, other;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	f.then = free_everything;
	CHECK(fleet_call(&f, "a", 1, 0, &first));
	CHECK(fleet_call(&f, "a", 2, 0, &other));
	fleet_settle(&f);
	CHECK(!f.pool);
	CHECK_EQ(first.answers, 1);
	CHECK_EQ(other.answers, 1);
}

/* U29 */
/* The same from an answer without a message of the server. */
TEST(a_refusal_may_end_the_pool)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->prepare_code = MCPOOL_EINVAL;
	f.then = free_everything;
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	CHECK(!f.pool);
	CHECK_EQ(r.answers, 1);
}

/* U29 U7 */
/* What has no server at all is not forgotten either when the pool goes first. */
TEST(a_call_that_no_server_has_is_told_when_the_pool_goes)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"disabled\":true}}}"));
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	f.workspace = mp_workspace_close(f.workspace);
	f.pool = mp_pool_free(f.pool);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.code, MCPOOL_EDISABLED);
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
}

static mp_id next_call;

static void cancel_next(struct fleet *f, struct fleet_result *r)
{
	(void)f;
	heap_pool_cancel(r->call);
	heap_pool_cancel(next_call);
}

/* U29 */
/* While all is freed, hooks may still cancel other waiting calls. */
TEST(cancelling_goes_on_while_the_pool_goes)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result first, second;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	fleet_get(&f, "a")->mute = true;
	CHECK(fleet_call(&f, "a", 1, 0, &first));
	CHECK(fleet_call(&f, "a", 1, 0, &second));
	fleet_settle(&f);
	next_call = second.call;
	f.then = cancel_next;
	f.workspace = mp_workspace_close(f.workspace);
	mp_pool_free(f.pool);
	CHECK_EQ(first.answers, 1);
	CHECK_EQ(second.answers, 1);
	f.pool = NULL;
}

/* --- what does not come back ----------------------------------------------------------------- */

#define CHANGED_ONE "{\"mcpServers\":{\"a\":{\"command\":\"a\",\"env\":{\"V\":\"2\"}}}}"

/* U15 C18 */
/* A call that a leaving server never got goes to its successor; the old one is not started again.
 */
TEST(what_a_leaving_server_did_not_get_goes_to_its_successor)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_transport *old;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_hold(fleet_get(&f, "a"), true);
	CHECK(fleet_call(&f, "a", 1, 0, &r));
	fleet_settle(&f);
	old = fleet_get(&f, "a")->end;
	CHECK(fleet_reload(&f, CHANGED_ONE));
	CHECK_EQ(mp_pool_count_instances(f.pool), 2);
	CHECK_EQ(r.answers, 0);
	mp_memory_break(old);
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_EQ(fleet_get(&f, "a")->prepares, 2);
	CHECK_EQ(mp_pool_count_instances(f.pool), 1);
}

/* E31 E33 U10 */
/* During a restart, too, an acquire ends after 60 s. */
/* E31 E33 */
TEST(an_acquire_during_a_restart_ends)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, ONE));
	CHECK(fleet_start(&f, "a"));
	fleet_get(&f, "a")->dial_code = MCPOOL_EIO;
	fleet_die(fleet_get(&f, "a"));
	CHECK(fleet_acquire(&f, "a", 1, &r));
	fleet_advance(&f, 59999);
	CHECK_EQ(r.answers, 0);
	fleet_advance(&f, 1);
	CHECK_EQ(r.answers, 1);
	CHECK_EQ(r.code, MCPOOL_ERESTARTING);
}

/* U28: 64 are with the server, 1,024 wait, and the next is refused. */
HEAVY_TEST(the_default_queue_has_64_slots_and_a_line_of_1024)
{
	static struct fleet_result r[64 + 1024 + 1];
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_status s;

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"},"
			     "\"b\":{\"command\":\"b\"}}}"));
	CHECK(fleet_start(&f, "a") && fleet_start(&f, "b"));
	fleet_get(&f, "a")->holds_calls = true;
	for (size_t i = 0; i < MP_ARRAY_LEN(r); i++)
		CHECK(fleet_call(&f, "a", 1, 0, &r[i]));
	fleet_settle(&f);
	CHECK_EQ(fleet_get(&f, "a")->calls, 64);
	fleet_status(&f, "a", &s);
	CHECK_EQ(s.waiting, 1024);
	CHECK_EQ(r[64 + 1023].answers, 0);
	CHECK_EQ(r[64 + 1024].answers, 1);
	CHECK_EQ(r[64 + 1024].code, MCPOOL_EQUEUE_FULL);
	CHECK(fleet_call(&f, "b", 1, 0, &r[64 + 1024])); /* each server has its own */
	fleet_settle(&f);
	CHECK_EQ(r[64 + 1024].outcome, MP_OUTCOME_ANSWERED);
}
