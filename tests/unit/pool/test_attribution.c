/* test_attribution.c - what servers ask and tell reaches the one session that it concerns, or
 * none. */
#include "stage.h"

#include "base/limits.h"
#include "pool/attribution.h"
#include "pool/workspace.h"
#include "transport/transport.h"
#include "heap_pool_call.h"

/* --- the table ------------------------------------------------------------------------------- */

enum kind { LOG, SAMPLE, ELICIT, ROOTS, UPDATED, ELICITED, TASK, KINDS };

/* A: only session a, whose call it is about. -: none. space: there is no such thing.
 */
static const struct row {
	const char *name, *json;
	bool modern;
	unsigned traits;
	bool on_stream; /* what it says comes on the stream of a's call, where there are streams */
	const char *who;
} rows[] = {
	{"legacy stdio shared", SERVER("shared"), false, 0, true, "----A-A"},
	{"legacy stdio project", SERVER("project"), false, 0, true, "----A-A"},
	{"legacy stdio serial", SERVER("serial"), false, 0, true, "AAAAAAA"},
	{"legacy stdio session", SERVER("session"), false, 0, true, "AAAAAAA"},
	{"legacy sse shared", SERVER("shared"), false, MP_TRANSPORT_LEGACY, true, "----A-A"},
	{"legacy sse serial", SERVER("serial"), false, MP_TRANSPORT_LEGACY, true, "AAAAAAA"},
	{"legacy sse session", SERVER("session"), false, MP_TRANSPORT_LEGACY, true, "AAAAAAA"},
	{"legacy http shared", SERVER("shared"), false, MP_TRANSPORT_PER_REQUEST, true, "AAAAAAA"},
	{"legacy http shared, standing stream", SERVER("shared"), false, MP_TRANSPORT_PER_REQUEST,
	 false, "----A-A"},
	{"legacy http project", SERVER("project"), false, MP_TRANSPORT_PER_REQUEST, true,
	 "AAAAAAA"},
	{"legacy http serial", SERVER("serial"), false, MP_TRANSPORT_PER_REQUEST, true, "AAAAAAA"},
	{"legacy http session", SERVER("session"), false, MP_TRANSPORT_PER_REQUEST, true,
	 "AAAAAAA"},
	{"modern stdio shared", SERVER("shared"), true, 0, true, "-AAAA  "},
	{"modern stdio serial", SERVER("serial"), true, 0, true, "AAAAA  "},
	{"modern stdio session", SERVER("session"), true, 0, true, "AAAAA  "},
	{"modern http shared", SERVER("shared"), true, MP_TRANSPORT_PER_REQUEST, true, "AAAAA  "},
	{"modern http project", SERVER("project"), true, MP_TRANSPORT_PER_REQUEST, true, "AAAAA  "},
};

static const char *const said[KINDS] = {
	[LOG] = SAID_LOG,
	[SAMPLE] = SAID_SAMPLE,
	[ELICIT] = SAID_ELICIT,
	[ROOTS] = SAID_ROOTS,
	[UPDATED] = SAID_UPDATED,
	[ELICITED] = NOTE("elicitation/complete", "{\"elicitationId\":\"e1\"}"),
	[TASK] = NOTE("tasks/status", "{\"taskId\":\"t1\"}"),
};

static const char *const embedded[KINDS] = {
	[SAMPLE] = "sampling/createMessage",
	[ELICIT] = "elicitation/create",
	[ROOTS] = "roots/list",
};

static bool is_question(enum kind kind)
{
	return embedded[kind] != NULL;
}

/* In a modern conversation a question is the answer to a call, until it is answered. */
static bool say(struct stage *s, const struct row *row, enum kind kind)
{
	char result[200];

	if (!row->modern || !is_question(kind))
		return fleet_say_during(s->server, row->on_stream ? 0 : -1, said[kind]);
	snprintf(
		result, sizeof(result),
		"{\"resultType\":\"input_required\",\"inputRequests\":{\"k\":{\"method\":\"%s\"}}}",
		embedded[kind]);
	return fleet_answer_kept(s->server, 0, result);
}

/* Both are in a call, as far as the mode lets them; a's is the server's first. */
static bool set_out(struct stage *s, const struct row *row, enum kind kind)
{
	REQUIRE(stage_open(s, row->json));
	s->server->modern = row->modern;
	s->server->traits = row->traits;
	REQUIRE(stage_call(s, &s->a, &s->ra));
	REQUIRE(stage_call(s, &s->b, &s->rb));
	REQUIRE(s->server->n_kept > 0);
	if (kind == UPDATED)
		REQUIRE(mp_pool_client_subscribe(s->f.workspace, "a", s->a.session, MP_STR("f:/"),
						 NULL) == 0);
	fleet_settle(&s->f);
	if (kind == ELICITED) { /* of a question that went to a */
		REQUIRE(say(s, row, ELICIT));
		REQUIRE(s->b.asked == 0);
		mp_pool_client_reply(s->f.pool, s->a.question, MP_STR("{}"));
		fleet_settle(&s->f);
		s->a.asked = 0;
	}
	if (kind == TASK) /* of a task that a's call began */
		REQUIRE(fleet_answer_kept(s->server, 0, "{\"task\":{\"taskId\":\"t1\"}}"));
	return true;
}

static bool try_cell(const struct row *row, enum kind kind)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};
	int before, got;

	if (row->who[kind] == ' ')
		return true;
	REQUIRE(set_out(&s, row, kind));
	before = s.server->replies;
	REQUIRE(say(&s, row, kind));
	got = is_question(kind) ? s.a.asked : s.a.heard;
	if (got != (row->who[kind] == 'A') || s.b.asked || s.b.heard) {
		printf("%s, %s: a %d, b %d\n", row->name, said[kind], got, s.b.asked + s.b.heard);
		return false;
	}
	if (is_question(kind) && got == 0) { /* never left hanging */
		REQUIRE(s.server->replies == before + 1);
		REQUIRE(strstr(s.server->replied, "-32601"));
		REQUIRE(strstr(s.server->replied, "mcp_no_owner"));
		REQUIRE(fleet_count_events(&s.f, "a", "no-owner") == 1);
	}
	return true;
}

/* V24 U26 */
HEAVY_TEST(who_may_receive_what)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		for (int kind = 0; kind < KINDS; kind++)
			CHECK(try_cell(&rows[i], (enum kind)kind));
}

/* What cannot be attributed is not offered either; a session's own server hears of roots. */
TEST(what_a_server_is_told_that_it_can_ask)
{
	static const char questions[] = "\"sampling\":{},\"elicitation\":{\"form\":{},\"url\":{}}}";

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(stage_done) struct stage s = {.server = NULL};
		bool is_private = strstr(rows[i].name, "session") != NULL;
		bool is_known = is_private || strstr(rows[i].name, "serial") ||
				rows[i].traits & MP_TRANSPORT_PER_REQUEST;
		char want[200];

		if (rows[i].modern)
			continue;
		CHECK(stage_open(&s, rows[i].json));
		s.server->traits = rows[i].traits;
		CHECK(stage_call(&s, &s.a, &s.ra));
		snprintf(want, sizeof(want), "\"capabilities\":%s%s",
			 !is_known    ? "{}"
			 : is_private ? "{\"roots\":{\"listChanged\":true},"
				      : "{\"roots\":{},",
			 is_known ? questions : "");
		CHECK(strstr(s.server->declared, want));
	}
}

TEST(a_run_with_nobody_to_ask_offers_nothing)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct fleet_result r;

	CHECK(fleet_init(&f));
	f.one_shot = true;
	CHECK(fleet_open(&f, SERVER("session")));
	CHECK(fleet_call(&f, "a", 7, 0, &r));
	fleet_settle(&f);
	CHECK_EQ(r.answers, 1);
	CHECK(strstr(fleet_get(&f, "a")->declared, "\"capabilities\":{}"));
}

/* --- serial ---------------------------------------------------------------------------------- */

/* The one that is served is asked, and then the other one. */
TEST(two_sessions_take_turns_and_so_do_their_questions)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("serial")));
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(stage_call(&s, &s.b, &s.rb));
	CHECK_EQ(s.server->n_kept, 1);
	CHECK(fleet_say_during(s.server, 0, SAID_SAMPLE));
	CHECK(s.a.asked == 1 && s.b.asked == 0);
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{}"));
	CHECK(fleet_answer_kept(s.server, 0, "{}"));
	CHECK_EQ(s.server->n_kept, 2);
	CHECK(fleet_say_during(s.server, 1, SAID_ELICIT));
	CHECK(s.a.asked == 1 && s.b.asked == 1);
	CHECK_EQ(s.b.call, s.rb.call);
	CHECK(fleet_answer_kept(s.server, 1, "{}"));
	CHECK(fleet_say_during(s.server, -1, SAID_ROOTS)); /* no session is served */
	CHECK(strstr(s.server->replied, "mcp_no_owner"));
}

/* Of a call that was given up the server may still speak while another session is served. */
TEST(nobody_is_asked_what_may_belong_to_a_call_that_was_given_up)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("serial")));
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(stage_call(&s, &s.b, &s.rb));
	heap_pool_cancel(s.ra.call);
	fleet_settle(&s.f);
	CHECK_EQ(s.server->n_kept, 2);
	CHECK(fleet_say_during(s.server, 1, SAID_ELICIT));
	CHECK(s.a.asked == 0 && s.b.asked == 0);
	CHECK(strstr(s.server->replied, "mcp_no_owner"));
	fleet_advance(&s.f, 30000);
	CHECK(fleet_say_during(s.server, 1, SAID_SAMPLE));
	CHECK_EQ(s.b.asked, 1);
}

/* Of two that gave up neither is asked: it may be about the other one's call. */
TEST(two_calls_that_were_given_up_leave_a_doubt_about_both)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("serial")));
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(stage_call(&s, &s.b, &s.rb));
	heap_pool_cancel(s.ra.call);
	fleet_settle(&s.f);
	heap_pool_cancel(s.rb.call);
	fleet_settle(&s.f);
	CHECK(stage_call(&s, &s.b, &s.rb)); /* the last that gave up */
	CHECK(fleet_say_during(s.server, 2, SAID_ELICIT));
	CHECK(s.a.asked == 0 && s.b.asked == 0);
	CHECK(strstr(s.server->replied, "mcp_no_owner"));
}

/* --- a session that borrows private servers -------------------------------------------------- */

/* b borrows from a. */
static bool family_open(struct stage *s)
{
	REQUIRE(stage_open(s, SERVER("session")));
	mp_pool_client_borrow(s->f.pool, s->b.session, s->a.session);
	REQUIRE(stage_call(s, &s->a, &s->ra));
	REQUIRE(fleet_answer_kept(s->server, 0, "{}"));
	return true;
}

/* One process serves both, and each is asked about its own calls only. */
/* A73 V24 */
TEST(a_borrowed_server_asks_the_session_whose_call_it_is)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(family_open(&s));
	CHECK(stage_call(&s, &s.b, &s.rb));
	CHECK_EQ(mp_pool_count_instances(s.f.pool), 1);
	CHECK_EQ(s.server->lives, 1);
	CHECK(fleet_say_during(s.server, 1, SAID_SAMPLE));
	CHECK(s.a.asked == 0 && s.b.asked == 1);
	mp_pool_client_reply(s.f.pool, s.b.question, MP_STR("{}"));
	CHECK(stage_call(&s, &s.a, &s.ra)); /* now both wait */
	CHECK(fleet_say_during(s.server, 1, SAID_ELICIT));
	CHECK(s.a.asked == 0 && s.b.asked == 1);
	CHECK(strstr(s.server->replied, "mcp_no_owner"));
	CHECK(fleet_answer_kept(s.server, 1, "{\"task\":{\"taskId\":\"t1\"}}"));
	CHECK(fleet_answer_kept(s.server, 2, "{}"));
	CHECK(fleet_say_during(s.server, -1, NOTE("tasks/status", "{\"taskId\":\"t1\"}")));
	CHECK(s.a.heard == 0 && s.b.heard == 1);
	CHECK(fleet_say_during(s.server, -1, SAID_ROOTS)); /* of no call */
	CHECK(s.a.asked == 1 && s.b.asked == 1);
}

/* A73 V24 */
TEST(a_call_that_a_borrower_gave_up_asks_nobody_else)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(family_open(&s));
	CHECK(stage_call(&s, &s.b, &s.rb));
	heap_pool_cancel(s.rb.call);
	fleet_settle(&s.f);
	CHECK(fleet_say_during(s.server, -1, SAID_ELICIT));
	CHECK(s.a.asked == 0 && s.b.asked == 0);
	fleet_advance(&s.f, 30000);
	CHECK(fleet_say_during(s.server, -1, SAID_SAMPLE));
	CHECK(s.a.asked == 1 && s.b.asked == 0);
}

/* On the stream of a call that has ended: it was not the lender's, though the server is. */
/* A73 */
TEST(a_call_of_a_borrower_that_has_ended_asks_nobody_else)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("session")));
	s.server->traits = MP_TRANSPORT_PER_REQUEST;
	mp_pool_client_borrow(s.f.pool, s.b.session, s.a.session);
	CHECK(stage_call(&s, &s.b, &s.rb));
	CHECK(fleet_answer_kept(s.server, 0, "{}"));
	CHECK(fleet_say_during(s.server, 0, SAID_SAMPLE));
	CHECK(s.a.asked == 0 && s.b.asked == 0);
	CHECK(strstr(s.server->replied, "mcp_no_owner"));
}

/* The servers stay until the last of the family has left. */
/* A73 */
TEST(borrowed_servers_stay_until_the_last_leaves)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(family_open(&s));
	CHECK(stage_call(&s, &s.b, &s.rb));
	mp_pool_client_leave(s.f.pool, s.a.session);
	fleet_advance(&s.f, 2000);
	CHECK_EQ(s.rb.answers, 0);
	CHECK_EQ(mp_pool_count_instances(s.f.pool), 1);
	CHECK(fleet_answer_kept(s.server, 1, "{}"));
	CHECK(fleet_say_during(s.server, -1, SAID_ROOTS)); /* the only one that is left */
	CHECK_EQ(s.b.asked, 1);
	CHECK(stage_call(&s, &s.b, &s.rb));
	CHECK_EQ(s.server->lives, 1);
	mp_pool_client_leave(s.f.pool, s.b.session);
	fleet_advance(&s.f, 20000);
	CHECK_EQ(mp_pool_count_instances(s.f.pool), 0);
}

/* --- one session that speaks for many -------------------------------------------------------- */

static bool call_alone(struct stage *s, mp_id caller, struct fleet_result *ret)
{
	struct mp_pool_call_options rq = {
		.server = "a",
		.session = s->a.session,
		.caller = caller | MP_CALLER_ALONE,
		.call.method = MP_METHOD_TOOLS_CALL,
		.call.params = MP_STR("{}"),
	};
	struct mcpool_error why;

	REQUIRE(heap_pool_call(s->f.workspace, &rq, stage_note, ret, &ret->call, &why) == 0);
	fleet_settle(&s->f);
	return true;
}

/* V24 */
TEST(those_who_share_a_session_take_turns_all_the_same)
{
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("serial")));
	CHECK(call_alone(&s, 1, &s.ra));
	CHECK(call_alone(&s, 2, &s.rb));
	CHECK_EQ(s.server->n_kept, 1);
	CHECK(fleet_say_during(s.server, 0, SAID_SAMPLE));
	CHECK_EQ(s.a.asked, 1);
	CHECK_EQ(s.a.call, s.ra.call);
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{}"));
	CHECK(fleet_answer_kept(s.server, 0, "{}"));
	CHECK(fleet_say_during(s.server, 1, SAID_SAMPLE));
	CHECK_EQ(s.a.asked, 2);
	CHECK_EQ(s.a.call, s.rb.call);
}

/* V24 */
TEST(those_who_share_a_session_are_not_asked_for_each_other)
{
	static const char *const modes[] = {SERVER("session"), SERVER("serial")};

	for (size_t i = 0; i < MP_ARRAY_LEN(modes); i++) {
		MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

		CHECK(stage_open(&s, modes[i]));
		CHECK(call_alone(&s, 1, &s.ra));
		CHECK(call_alone(&s, 2, &s.rb));
		if (i == 0) { /* both are with the server */
			CHECK(fleet_say_during(s.server, 0, SAID_SAMPLE));
			CHECK_EQ(s.a.asked, 0);
			CHECK(strstr(s.server->replied, "mcp_no_owner"));
		}
		heap_pool_cancel(s.ra.call);
		fleet_settle(&s.f);
		CHECK(fleet_say_during(s.server, 1, SAID_ELICIT));
		CHECK_EQ(s.a.asked, 0);
		fleet_advance(&s.f, 30000);
		CHECK(fleet_say_during(s.server, 1, SAID_SAMPLE));
		CHECK_EQ(s.a.asked, 1);
		CHECK_EQ(s.a.call, s.rb.call);
	}
}

/* mutant-S4: of an id that two sessions were told, neither hears (V24). */
HEAVY_TEST(an_id_that_two_sessions_were_told_reaches_neither)
{
	static const char done[] = NOTE("elicitation/complete", "{\"elicitationId\":\"e1\"}");
	static const char task[] = NOTE("tasks/status", "{\"taskId\":\"t1\"}");
	MP_CLEANUP(stage_done) struct stage s = {.server = NULL};

	CHECK(stage_open(&s, SERVER("serial")));
	CHECK(stage_call(&s, &s.a, &s.ra));
	CHECK(stage_call(&s, &s.b, &s.rb));
	CHECK(fleet_say_during(s.server, 0, SAID_ELICIT));
	mp_pool_client_reply(s.f.pool, s.a.question, MP_STR("{}"));
	fleet_settle(&s.f);
	CHECK(fleet_say_during(s.server, -1, done));
	CHECK(s.a.heard == 1 && s.b.heard == 0); /* so far it is the id of a alone */
	CHECK(fleet_answer_kept(s.server, 0, "{\"task\":{\"taskId\":\"t1\"}}"));
	CHECK(fleet_say_during(s.server, -1, task));
	CHECK(s.a.heard == 2 && s.b.heard == 0);
	CHECK(fleet_say_during(s.server, 1, SAID_ELICIT));
	CHECK_EQ(s.b.asked, 1);
	mp_pool_client_reply(s.f.pool, s.b.question, MP_STR("{}"));
	fleet_settle(&s.f);
	CHECK(fleet_answer_kept(s.server, 1, "{\"task\":{\"taskId\":\"t1\"}}"));
	CHECK(fleet_say_during(s.server, -1, done));
	CHECK(fleet_say_during(s.server, -1, task));
	CHECK(s.a.heard == 2 && s.b.heard == 0);
}

/* attack-S3: a session that is told many ids pushes out its own. */
TEST(ids_of_one_session_push_out_its_own)
{
	MP_CLEANUP(fleet_done) struct fleet f;
	struct mp_instance *in;
	char text[60];

	CHECK(fleet_init(&f));
	CHECK(fleet_open(&f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	CHECK(fleet_start(&f, "a"));
	in = mp_workspace_entry_get_instance(f.workspace, 0, 0);
	CHECK(in);
	mp_attribution_note_request(in, 7, MP_STR("{\"elicitationId\":\"first\"}"));
	for (int i = 0; i < 2 * MP_LIMIT_MEMOS; i++) {
		snprintf(text, sizeof(text), "{\"elicitationId\":\"e%d\"}", i);
		mp_attribution_note_request(in, 8, mp_str_of(text));
	}
	CHECK_EQ(mp_attribution_find_id(in, MP_STR("first")), 7);
	CHECK_EQ(mp_attribution_find_id(in, MP_STR("e0")), 0);
	CHECK_EQ(in->attribution.ids.len, MP_LIMIT_MEMOS);
}
