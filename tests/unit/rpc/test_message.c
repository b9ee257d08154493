/*
 * test_message.c - the envelope: what is taken, what is refused and with which code, and that what
 * passes through us keeps every byte that is not ours to change.
 */
#include "test.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/mem.h"
#include "rpc/message.h"

struct fixture {
	struct mp_tape tape, again; /* of what came, and of what was written */
	struct mp_message m;
	struct mcpool_error error;
	struct mp_buf text, out;
};

static void fixture_start(struct fixture *f)
{
	*f = (struct fixture){0};
	mp_message_tape_init(&f->tape);
	mp_message_tape_init(&f->again);
	mp_buf_init(&f->text, MP_MIB(1));
	mp_buf_init(&f->out, MP_MIB(1));
}

static void fixture_done(struct fixture *f)
{
	mp_tape_done(&f->tape);
	mp_tape_done(&f->again);
	mp_buf_done(&f->text);
	mp_buf_done(&f->out);
}

#define WITH_FIXTURE(f)                            \
	MP_CLEANUP(fixture_done) struct fixture f; \
	fixture_start(&(f))

static int scan_str(struct fixture *f, struct mp_str text)
{
	f->error = (struct mcpool_error){0};
	return mp_message_scan(&f->tape, text, &f->m, &f->error);
}

static int scan(struct fixture *f, const char *text)
{
	return scan_str(f, mp_str_of(text));
}

static struct mp_str source(const struct fixture *f, mp_value v)
{
	return mp_value_source(f->m.tape, v);
}

/* --- methods -------------------------------------------------------------------------------- */

TEST(each_method_is_found_by_its_name)
{
	static const struct {
		const char *name;
		enum mp_method_id id;
	} rows[] = {
#define METHOD(name, text, from, kind, eras, capability, subject, answerer) \
	{text, MP_METHOD_##name},
#include "rpc/methods.def"
#undef METHOD
	};

	CHECK_EQ(MP_ARRAY_LEN(rows), MP_METHODS - 1);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(mp_method_find(mp_str_of(rows[i].name)), rows[i].id);
		CHECK_TEXT(mp_method_get(rows[i].id)->name, rows[i].name);
		CHECK_EQ(mp_method_get(rows[i].id)->is_request,
			 strncmp(rows[i].name, "notifications/", 14) != 0);
	}
	CHECK_EQ(mp_method_find(MP_STR("")), MP_METHOD_UNKNOWN);
	CHECK_EQ(mp_method_find(MP_STR("Tools/Call")), MP_METHOD_UNKNOWN); /* V43: byte exact */
	CHECK_EQ(mp_method_find(MP_STR("tools/call\0")), MP_METHOD_UNKNOWN);
	CHECK_TEXT(mp_method_get(MP_METHOD_UNKNOWN)->name, "");
}

TEST(what_the_table_says_of_a_method)
{
	const struct mp_method *call = mp_method_get(MP_METHOD_TOOLS_CALL);
	const struct mp_method *sample = mp_method_get(MP_METHOD_SAMPLE);
	const struct mp_method *discover = mp_method_get(MP_METHOD_DISCOVER);

	CHECK(call->from == MP_SIDE_CLIENT && call->eras == MP_ERA_BOTH);
	CHECK_TEXT(call->capability, "tools");
	CHECK_TEXT(call->subject, "name");
	CHECK(sample->from == MP_SIDE_SERVER && !sample->subject);
	CHECK(discover->eras == MP_ERA_MODERN && !discover->capability);
	CHECK_TEXT(mp_method_get(MP_METHOD_RESOURCES_READ)->subject, "uri");
	CHECK_TEXT(mp_method_get(MP_METHOD_TASKS_GET)->subject, "taskId");
	CHECK_TEXT(mp_method_get(MP_METHOD_RESOURCES_SUBSCRIBE)->capability, "resources.subscribe");
}

static void get_a_method_that_is_none(void)
{
	(void)mp_method_get(MP_METHODS);
}

TEST(a_number_behind_the_table_is_a_broken_promise)
{
	CHECK(test_stops(get_a_method_that_is_none));
}

TEST(a_method_is_known_however_it_is_spelled)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools\\/c\\u0061ll\"}"), 0);
	CHECK_EQ(f.m.method, MP_METHOD_TOOLS_CALL);
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\\u0000\"}"), 0);
	CHECK_EQ(f.m.method, MP_METHOD_UNKNOWN);
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"METHOD\":\"tools/call\"}"),
		 MCPOOL_EPROTO);
}

/* --- kinds ---------------------------------------------------------------------------------- */

TEST(a_request)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":"
			  "{\"name\":\"echo\",\"arguments\":{\"a\":1},"
			  "\"_meta\":{\"progressToken\":\"p\"}}}"),
		 0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_REQUEST);
	CHECK_EQ(f.m.method, MP_METHOD_TOOLS_CALL);
	CHECK_STR(f.m.id, "7");
	CHECK_STR(source(&f, f.m.subject), "\"echo\"");
	CHECK_STR(source(&f, f.m.progress_token), "\"p\"");
	CHECK_STR(source(&f, f.m.meta), "{\"progressToken\":\"p\"}");
	CHECK_STR(source(&f, f.m.method_name), "\"tools/call\"");
	CHECK(f.m.result == MP_NONE && f.m.error == MP_NONE);
}

TEST(a_request_without_params)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"tools/call\"}"), 0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_REQUEST);
	CHECK_STR(f.m.id, "\"x\"");
	CHECK(f.m.params == MP_NONE && f.m.meta == MP_NONE && f.m.subject == MP_NONE);
	CHECK_EQ(f.m.progress_token, MP_NONE);
}

TEST(a_notification)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f,
		      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
		      "{\"progressToken\":3,\"progress\":0.5,\"_meta\":{\"progressToken\":4}}}"),
		 0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_NOTIFICATION);
	CHECK_EQ(f.m.method, MP_METHOD_PROGRESS);
	CHECK_EQ(f.m.id.len, 0);
	CHECK_STR(source(&f, f.m.progress_token), "3"); /* not the one of _meta */
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"method\":\"vendor/thing\"}"), 0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_NOTIFICATION);
	CHECK_EQ(f.m.method, MP_METHOD_UNKNOWN);
}

TEST(a_result_is_whatever_it_is)
{
	static const char *const results[] = {"{}", "[1]", "null", "true", "-0.5e3", "\"text\""};

	for (size_t i = 0; i < MP_ARRAY_LEN(results); i++) {
		char text[128];
		WITH_FIXTURE(f);

		snprintf(text, sizeof(text), "{\"result\":%s,\"jsonrpc\":\"2.0\",\"id\":0}",
			 results[i]);
		CHECK_EQ(scan(&f, text), 0);
		CHECK_EQ(f.m.kind, MP_MESSAGE_RESULT);
		CHECK_STR(f.m.id, "0");
		CHECK(test_same_text(source(&f, f.m.result), mp_str_of(results[i]), "result",
				     __FILE__, __LINE__));
	}
}

TEST(an_error_with_and_without_an_id)
{
	WITH_FIXTURE(f);

	CHECK_EQ(
		scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-1,\"message\":\"\"}}"),
		0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_ERROR);
	CHECK_STR(f.m.id, "7");
	CHECK_STR(source(&f, f.m.error), "{\"code\":-1,\"message\":\"\"}");
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}"), 0);
	CHECK(f.m.kind == MP_MESSAGE_ERROR && f.m.id.len == 0);
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"error\":{}}"), 0);
	CHECK(f.m.kind == MP_MESSAGE_ERROR && f.m.id.len == 0);
}

TEST(a_batch_is_told_and_not_taken_apart)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "[{\"jsonrpc\":\"2.0\"},1]"), 0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_BATCH);
	CHECK_EQ(scan(&f, "[]"), 0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_BATCH);
}

TEST(unknown_members_of_the_envelope_do_no_harm)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, " { \"x\" : [ { } ] , \"jsonrpc\" : \"2.0\" , \"method\" : \"ping\" ,"
			  " \"id\" : 1 , \"Id\" : 2 } "),
		 0);
	CHECK_EQ(f.m.kind, MP_MESSAGE_REQUEST);
	CHECK_STR(f.m.id, "1");
}

TEST(a_message_that_was_fed_in_pieces)
{
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}";
	WITH_FIXTURE(f);

	mp_tape_begin(&f.tape);
	for (size_t n = 1; n < sizeof(text) - 1; n++)
		CHECK_EQ(mp_tape_feed(&f.tape, text, n, false), 0);
	CHECK_EQ(mp_tape_feed(&f.tape, text, sizeof(text) - 1, true), 1);
	CHECK_EQ(mp_message_classify(&f.tape, &f.m, &f.error), 0);
	CHECK_EQ(f.m.method, MP_METHOD_PING);
	CHECK_STR(f.m.id, "7");
}

/* --- ids ------------------------------------------------------------------------------------ */

TEST(ids_are_strings_and_whole_numbers)
{
	static const char *const good[] = {
		"0",
		"-1",
		"1",
		"18446744073709551616",
		"123456789012345678901234567890",
		"\"\"",
		"\"1\"",
		"\"a\\u0062\\\"\"",
		"\"\xc3\xa4\"",
	};
	static const char *const bad[] = {"1.0", "1e2", "0.5",     "true",      "false",
					  "[]",  "{}",  "[\"1\"]", "{\"id\":1}"};
	char text[256];

	for (size_t i = 0; i < MP_ARRAY_LEN(good); i++) {
		WITH_FIXTURE(f);

		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
			 good[i]);
		CHECK_EQ(scan(&f, text), 0);
		CHECK_EQ(f.m.kind, MP_MESSAGE_REQUEST);
		CHECK(test_same_text(f.m.id, mp_str_of(good[i]), "id", __FILE__, __LINE__));
	}
	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		WITH_FIXTURE(f);

		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
			 bad[i]);
		CHECK_EQ(scan(&f, text), MCPOOL_EPROTO);
		CHECK_EQ(f.error.rpc_code, -32600);
		CHECK_EQ(f.m.id.len, 0);
		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}",
			 bad[i]);
		CHECK_EQ(scan(&f, text), MCPOOL_EPROTO);
	}
}

TEST(null_is_the_id_of_an_error_only)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}"), MCPOOL_EPROTO);
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}"), MCPOOL_EPROTO);
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"result\":{}}"), MCPOOL_EPROTO);
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}"), 0);
}

/* V48: the text with this many digits where its * is. */
static bool scan_with(struct fixture *f, const char *text, size_t digits, int want)
{
	const char *star = strchr(text, '*');
	bool ok = mp_buf_add(&f->text, text, (size_t)(star - text)) == 0;

	for (size_t i = 0; ok && i < digits; i++)
		ok = mp_buf_add_char(&f->text, '1') == 0;
	ok = ok && mp_buf_add_str(&f->text, mp_str_of(star + 1)) == 0;
	ok = ok && test_equal(scan_str(f, mp_buf_get(&f->text)), want, text, __FILE__, (int)digits);
	mp_buf_clear(&f->text);
	return ok;
}

TEST(at_and_above_the_length_of_an_id_a_token_and_a_method)
{
	static const char number[] = "{\"jsonrpc\":\"2.0\",\"id\":*,\"method\":\"ping\"}";
	static const char string[] = "{\"jsonrpc\":\"2.0\",\"id\":\"*\",\"method\":\"ping\"}";
	static const char token[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":"
				    "{\"_meta\":{\"progressToken\":*}}}";
	static const char method[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"*\"}";
	WITH_FIXTURE(f);

	CHECK(scan_with(&f, number, 255, 0));
	CHECK(scan_with(&f, number, 256, 0));
	CHECK_EQ(f.m.id.len, 256);
	CHECK(scan_with(&f, number, 257, MCPOOL_EPROTO));
	CHECK_EQ(f.m.id.len, 0);
	CHECK(scan_with(&f, string, 254, 0)); /* with its quotes 256 */
	CHECK(scan_with(&f, string, 255, MCPOOL_EPROTO));
	CHECK(scan_with(&f, token, 256, 0));
	CHECK(scan_with(&f, token, 257, MCPOOL_EPROTO));
	CHECK_EQ(f.m.progress_token, MP_NONE);
	CHECK(scan_with(&f, method, 255, 0));
	CHECK(scan_with(&f, method, 256, 0));
	CHECK(scan_with(&f, method, 257, MCPOOL_EPROTO));
	CHECK_STR(f.m.id, "1"); /* so that the peer can be told */
}

/* --- what is refused ------------------------------------------------------------------------ */

/* V43: the next parser might use the other value. */
TEST(a_key_that_stands_twice_is_refused_on_every_level_that_decides)
{
	static const char *const bad[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"ping\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"\\u006dethod\":\"tools/"
		"call\"}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":1,\"x\":1}",
		"{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"result\":{}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"name\":\"a\",\"name\":\"b\"}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"name\":\"a\",\"n\\u0061me\":\"b\"}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"_meta\":{},\"_meta\":{}}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"_meta\":{\"a/b\":1,\"a\\/b\":2}}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"arguments\":{\"path\":1,\"path\":2}}}",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		"{\"arguments\":{\"path\":1,\"\\u0070ath\":2}}}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
		"{\"data\":1,\"data\":2}}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		WITH_FIXTURE(f);

		CHECK(test_equal(scan(&f, bad[i]), MCPOOL_EPROTO, bad[i], __FILE__, __LINE__));
		CHECK_EQ(f.error.rpc_code, -32600);
		CHECK(strstr(f.error.message, "occurs twice"));
	}
}

TEST(what_is_deeper_is_the_receivers_business)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f,
		      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		      "{\"arguments\":{\"x\":{\"a\":1,\"a\":2}},\"_meta\":{\"y\":{\"a\":1,\"a\":"
		      "2}}}}"),
		 0);
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":1,\"a\":2}}"), 0);
	/* Keys that differ, even if somebody folds them. */
	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"ID\":2,\"method\":\"ping\",\"params\":"
			  "{\"a\":1,\"A\":2}}"),
		 0);
}

TEST(an_unclear_envelope_is_refused_with_its_reason)
{
	static const struct {
		const char *text, *reason;
	} bad[] = {
		{"1", "a message is an object"},
		{"\"jsonrpc\"", "a message is an object"},
		{"null", "a message is an object"},
		{"{}", "jsonrpc is not"},
		{"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", "jsonrpc is not"},
		{"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", "jsonrpc is not"},
		{"{\"jsonrpc\":\"2.0\"}", "neither a method"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1}", "neither a method"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}", "exactly one"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":null}", "exactly one"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}", "error is not an object"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":null}", "error is not an object"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"result\":{}}", "no result"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"error\":{}}", "no error"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":null}", "the method is not a string"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":[\"ping\"]}",
		 "the method is not a string"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
		 "params is not"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":null}",
		 "params is not"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"_meta\":[]}}",
		 "_meta is not"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":"
		 "{\"_meta\":{\"progressToken\":1.5}}}",
		 "the progress token is"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
		 "{\"progressToken\":null}}",
		 "the progress token is"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		WITH_FIXTURE(f);

		CHECK(test_equal(scan(&f, bad[i].text), MCPOOL_EPROTO, bad[i].text, __FILE__,
				 __LINE__));
		CHECK_EQ(f.error.rpc_code, -32600);
		CHECK(test_true(strstr(f.error.message, bad[i].reason) != NULL, f.error.message,
				__FILE__, __LINE__));
	}
}

TEST(what_is_no_json_is_refused_as_such)
{
	static const struct mp_str bad[] = {
		{"", 0},
		{"{\"jsonrpc\":\"2.0\",\"id\":1", 23},
		{"{'jsonrpc':'2.0'}", 17},
		{"{\"jsonrpc\":\"2.0\",\"id\":01,\"result\":{}}", 36},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}", 36},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\0\"}", 36},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}} {}", 38},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		WITH_FIXTURE(f);

		CHECK(test_equal(scan_str(&f, bad[i]), MCPOOL_EPARSE, bad[i].p, __FILE__,
				 __LINE__));
		CHECK_EQ(f.error.rpc_code, -32700);
		CHECK(f.m.id.len == 0 && f.m.params == MP_NONE && f.m.result == MP_NONE);
	}
}

static bool scan_nested(struct fixture *f, const char *before, size_t depth, const char *behind,
			int want)
{
	bool ok = mp_buf_add_str(&f->text, mp_str_of(before)) == 0;

	for (size_t i = 0; ok && i < depth; i++)
		ok = mp_buf_add_char(&f->text, '[') == 0;
	for (size_t i = 0; ok && i < depth; i++)
		ok = mp_buf_add_char(&f->text, ']') == 0;
	ok = ok && mp_buf_add_str(&f->text, mp_str_of(behind)) == 0;
	ok = ok &&
	     test_equal(scan_str(f, mp_buf_get(&f->text)), want, before, __FILE__, (int)depth);
	mp_buf_clear(&f->text);
	return ok;
}

/* V45: depth costs the sender nothing. */
TEST(nesting_has_an_end_wherever_it_is)
{
	static const struct {
		const char *before, *behind;
		size_t around;
	} places[] = {
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":", "}", 1},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":", "}}", 2},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"unknown\":", "}", 1},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(places); i++) {
		size_t most = MP_LIMIT_JSON_DEPTH - places[i].around;
		WITH_FIXTURE(f);

		CHECK(scan_nested(&f, places[i].before, most - 1, places[i].behind, 0));
		CHECK(scan_nested(&f, places[i].before, most, places[i].behind, 0));
		CHECK(scan_nested(&f, places[i].before, most + 1, places[i].behind, MCPOOL_ELIMIT));
		CHECK_EQ(f.error.rpc_code, -32603);
		CHECK(scan_nested(&f, places[i].before, 100000, places[i].behind, MCPOOL_ELIMIT));
	}
}

HEAVY_TEST(more_members_than_can_be_compared_are_refused)
{
	WITH_FIXTURE(f);

	CHECK_EQ(mp_buf_add_str(&f.text, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\","
						"\"params\":{\"k\":1")),
		 0);
	for (int i = 0; i < MP_LIMIT_JSON_MEMBERS; i++)
		CHECK_EQ(mp_buf_addf(&f.text, ",\"%d\":1", i), 0);
	CHECK_EQ(mp_buf_add_str(&f.text, MP_STR("}}")), 0);
	CHECK_EQ(scan_str(&f, mp_buf_get(&f.text)), MCPOOL_ELIMIT);
	CHECK_EQ(f.error.rpc_code, -32603);
	CHECK_STR(f.m.id, "1");
}

TEST(a_refused_message_tells_its_id_where_it_has_one)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\",\"params\":[]}"),
		 MCPOOL_EPROTO);
	CHECK_STR(f.m.id, "\"a\"");
	CHECK_EQ(scan(&f, "{\"id\":9,\"method\":\"ping\"}"), MCPOOL_EPROTO);
	CHECK_STR(f.m.id, "9");
}

/* --- forwarding ----------------------------------------------------------------------------- */

static int forward(struct fixture *f, const char *text, const struct mp_splice *s)
{
	int r = scan(f, text);

	mp_buf_clear(&f->out);
	return r < 0 ? r : mp_message_forward(&f->m, s, &f->out);
}

TEST(forwarding_changes_the_id_and_keeps_every_byte_of_params)
{
	struct mp_splice s = {.id = MP_STR("42")};
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f,
			 "{ \"id\":\"x\", \"params\": {\"z\" : 123456789012345678901234567890 ,"
			 "\"a\":1.0E+2,\"\\u0061b\":\"\\u00e4\\/\xc3\xa4\",\"name\" : \"n\", "
			 "\"arguments\":{ \"q\":[1, 2 ,{}] }} ,\"method\":\"tools\\/call\","
			 "\"jsonrpc\":\"2.0\", \"extra\":1}",
			 &s),
		 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":42,\"method\":\"tools\\/call\",\"params\":"
		  "{\"z\":123456789012345678901234567890,\"a\":1.0E+2,"
		  "\"\\u0061b\":\"\\u00e4\\/\xc3\xa4\",\"name\":\"n\","
		  "\"arguments\":{ \"q\":[1, 2 ,{}] }}}");
}

TEST(forwarding_without_changes)
{
	struct mp_splice s = {0};
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f, "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}", &s), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\"}");
	CHECK_EQ(forward(&f, "{\"jsonrpc\":\"2.0\",\"method\":\"vendor/x\",\"params\":{}}", &s), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"vendor/x\",\"params\":{}}");
	CHECK_EQ(
		forward(&f, "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"_meta\":{}}}", &s),
		0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"_meta\":{}}}");
}

TEST(a_notification_gets_no_id)
{
	struct mp_splice s = {.id = MP_STR("42")};
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", &s),
		 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
}

TEST(the_progress_token_is_replaced_added_or_left_out)
{
	struct mp_splice with = {.id = MP_STR("5"), .progress_token = MP_STR("5")};
	struct mp_splice without = {.id = MP_STR("5")};
	static const char theirs[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":"
				     "{\"_meta\":{\"a\":1,\"progress\\u0054oken\":\"t\",\"b\":2},"
				     "\"x\":1}}";
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f, theirs, &with), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"m\",\"params\":{\"x\":1,"
		  "\"_meta\":{\"a\":1,\"b\":2,\"progressToken\":5}}}");
	/* The caller's own means nothing on the next hop (V23). */
	CHECK_EQ(forward(&f, theirs, &without), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"m\",\"params\":{\"x\":1,"
		  "\"_meta\":{\"a\":1,\"b\":2}}}");
	CHECK_EQ(forward(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", &with), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"m\",\"params\":"
				      "{\"_meta\":{\"progressToken\":5}}}");
	CHECK_EQ(
		forward(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{}}", &with),
		0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"m\",\"params\":"
				      "{\"_meta\":{\"progressToken\":5}}}");
}

TEST(the_token_of_a_progress_notification_is_in_its_params)
{
	struct mp_splice with = {.progress_token = MP_STR("\"theirs\"")};
	struct mp_splice without = {0};
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
				   "\"params\":{\"progress\":1.50,\"progressToken\":7,"
				   "\"_meta\":{\"progressToken\":8}}}";
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f, text, &with), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
				      "\"params\":{\"progress\":1.50,\"progressToken\":\"theirs\","
				      "\"_meta\":{\"progressToken\":8}}}");
	CHECK_EQ(forward(&f, text, &without), 0);
	CHECK(mp_str_find(mp_buf_get(&f.out), MP_STR("\"progressToken\":7"), 0) >= 0);
}

TEST(the_subject_is_replaced_where_the_method_has_one)
{
	struct mp_splice s = {.id = MP_STR("1"), .subject = MP_STR("\"new\"")};
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f,
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
			 "{\"uri\":\"u\",\"n\\u0061me\":\"old\",\"taskId\":\"t\"}}",
			 &s),
		 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
		  "{\"uri\":\"u\",\"n\\u0061me\":\"new\",\"taskId\":\"t\"}}");
	CHECK_EQ(forward(&f,
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":"
			 "{\"uri\":\"u\",\"name\":\"old\"}}",
			 &s),
		 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":"
		  "{\"uri\":\"new\",\"name\":\"old\"}}");
	CHECK_EQ(forward(&f,
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"vendor/x\",\"params\":"
			 "{\"uri\":\"u\",\"name\":\"old\"}}",
			 &s),
		 0);
	CHECK(mp_str_find(mp_buf_get(&f.out), MP_STR("new"), 0) < 0);
	/* None there: none is added. */
	CHECK_EQ(forward(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}", &s), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\"}");
}

TEST(what_meta_says_of_one_hop_stays_on_it)
{
	struct mp_splice s = {
		.id = MP_STR("1"),
		.meta = MP_STR(" { \"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\" } "),
	};
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f,
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{"
			 "\"traceparent\":\"00-1\",\"io.modelcontextprotocol/"
			 "protocolVersion\":\"x\","
			 "\"io.modelcontextprotocol\\/clientInfo\":{},"
			 "\"\\u0069o.modelcontextprotocol/logLevel\":\"debug\","
			 "\"com.example/k\":{\"io.modelcontextprotocol/in\":1},"
			 "\"io.modelcontextprotocolx/k\":1,\"IO.modelcontextprotocol/k\":2,"
			 "\"baggage\":\"b\",\"tracestate\":\"s\"}}}",
			 &s),
		 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{"
		  "\"traceparent\":\"00-1\",\"com.example/k\":{\"io.modelcontextprotocol/in\":1},"
		  "\"io.modelcontextprotocolx/k\":1,\"IO.modelcontextprotocol/k\":2,"
		  "\"baggage\":\"b\",\"tracestate\":\"s\","
		  "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}");
}

TEST(an_empty_meta_of_ours_adds_nothing)
{
	struct mp_splice s = {.id = MP_STR("1"), .meta = MP_STR("{}")};
	WITH_FIXTURE(f);

	CHECK_EQ(forward(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", &s), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{}}}");
}

TEST(answers_are_forwarded_for_another_id)
{
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "{\"result\":{ \"n\" : 1e999, \"x\":[ ] },\"jsonrpc\":\"2.0\",\"id\":7}"),
		 0);
	CHECK_EQ(mp_message_forward_answer(&f.m, MP_STR("\"c\""), &f.out), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"result\":{ \"n\" : 1e999, \"x\":[ ] }}");
	mp_buf_clear(&f.out);
	CHECK_EQ(scan(&f, "{\"error\":{\"code\" :-1,\"data\":{}},\"jsonrpc\":\"2.0\",\"id\":7}"),
		 0);
	CHECK_EQ(mp_message_forward_answer(&f.m, MP_STR("0"), &f.out), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\" :-1,\"data\":{}}}");
}

static void forward_a_result_as_a_request(void)
{
	struct mp_message m = {.kind = MP_MESSAGE_RESULT};
	struct mp_splice s = {0};
	struct mp_buf out;

	mp_buf_init(&out, 100);
	if (mp_message_forward(&m, &s, &out) < 0)
		return;
}

static void forward_a_request_as_an_answer(void)
{
	struct mp_message m = {.kind = MP_MESSAGE_REQUEST};
	struct mp_buf out;

	mp_buf_init(&out, 100);
	if (mp_message_forward_answer(&m, MP_STR("1"), &out) < 0)
		return;
}

TEST(each_kind_has_its_own_way)
{
	CHECK(test_stops(forward_a_result_as_a_request));
	CHECK(test_stops(forward_a_request_as_an_answer));
}

/* --- messages of our own -------------------------------------------------------------------- */

TEST(a_request_of_our_own)
{
	struct mp_splice bare = {.id = MP_STR("1")};
	struct mp_splice full = {
		.id = MP_STR("2"), .progress_token = MP_STR("2"), .meta = MP_STR("{\"a\":1}")};
	WITH_FIXTURE(f);

	CHECK_EQ(mp_message_request(&f.out, MP_METHOD_PING, MP_STR(""), &bare), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_message_request(&f.out, MP_METHOD_TOOLS_CALL, MP_STR(" { \"name\" : \"x\" } "),
				    &full),
		 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":"
		  "{\"name\" : \"x\",\"_meta\":{\"progressToken\":2,\"a\":1}}}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_message_request(&f.out, MP_METHOD_TOOLS_LIST, MP_STR("{}"), &bare), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}");
	mp_buf_clear(&f.out);
	full.progress_token = MP_STR("");
	CHECK_EQ(mp_message_request(&f.out, MP_METHOD_TOOLS_LIST, MP_STR(""), &full), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":"
		  "{\"_meta\":{\"a\":1}}}");
}

TEST(notifications_results_and_errors_of_our_own)
{
	WITH_FIXTURE(f);

	CHECK_EQ(mp_message_notify(&f.out, MP_METHOD_INITIALIZED, MP_STR("")), 0);
	CHECK_STR(mp_buf_get(&f.out),
		  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_message_notify(&f.out, MP_METHOD_CANCELLED, MP_STR("{\"requestId\":1}")), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				      "\"params\":{\"requestId\":1}}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_message_result(&f.out, MP_STR("\"x\""), MP_STR("{}")), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_message_error(&f.out, MP_STR("3"), -32601, MP_STR("no \"\xff\"\n"), MP_STR("")),
		 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32601,"
				      "\"message\":\"no \\\"\xef\xbf\xbd\\\"\\n\"}}");
	mp_buf_clear(&f.out);
	CHECK_EQ(mp_message_error(&f.out, MP_STR(""), 1004, MP_STR("late"), MP_STR("[1]")), 0);
	CHECK_STR(mp_buf_get(&f.out), "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1004,"
				      "\"message\":\"late\",\"data\":[1]}}");
}

static void request_without_an_id(void)
{
	struct mp_splice s = {0};
	struct mp_buf out;

	mp_buf_init(&out, 1000);
	if (mp_message_request(&out, MP_METHOD_PING, MP_STR(""), &s) < 0)
		return;
}

TEST(a_request_of_our_own_has_an_id)
{
	CHECK(test_stops(request_without_an_id));
}

TEST(half_a_message_is_no_message)
{
	struct mp_splice s = {.id = MP_STR("1"), .progress_token = MP_STR("1")};
	WITH_FIXTURE(f);

	CHECK_EQ(scan(&f, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":1}}"),
		 0);
	for (size_t ceiling = 4;; ceiling++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf small;
		int r;

		mp_buf_init(&small, ceiling);
		CHECK_EQ(mp_buf_add_str(&small, MP_STR("kept")), 0);
		r = mp_message_forward(&f.m, &s, &small);
		if (r == 0)
			break;
		CHECK_EQ(r, MCPOOL_ELIMIT);
		CHECK_STR(mp_buf_get(&small), "kept");
		CHECK(ceiling < 200);
	}
}

/* --- random documents ----------------------------------------------------------------------- */

static int add_space(struct mp_buf *b, uint64_t *seed)
{
	static const char *const spaces[] = {"", "", "", "", " ", "\t", "  "};

	return mp_buf_add_str(b, mp_str_of(spaces[test_random(seed) % MP_ARRAY_LEN(spaces)]));
}

static int add_random_value(struct mp_buf *b, uint64_t *seed, int depth);

/* Keys end in a number: none stands twice. */
static int add_random_members(struct mp_buf *b, uint64_t *seed, int depth, int n)
{
	static const char *const keys[] = {"a", "\\u0061", "k\\/", "\xe2\x82\xac", "io.x/", ""};
	int r = 0;

	for (int i = 0; r == 0 && i < n; i++) {
		r = add_space(b, seed);
		if (r == 0)
			r = mp_buf_addf(b, "\"%s%d\"", keys[test_random(seed) % 6], i);
		if (r == 0)
			r = add_space(b, seed);
		if (r == 0)
			r = mp_buf_add_char(b, ':');
		if (r == 0)
			r = add_random_value(b, seed, depth);
		if (r == 0 && i + 1 < n)
			r = mp_buf_add_char(b, ',');
	}
	return r;
}

static int add_random_value(struct mp_buf *b, uint64_t *seed, int depth)
{
	static const char *const scalars[] = {
		"null",
		"true",
		"0",
		"-0",
		"1.50",
		"1E400",
		"98765432109876543210987654321",
		"\"\"",
		"\"\\u0000\\ud800\"",
		"\"\\\"\\\\\"",
		"\"\xf0\x9f\x90\xbb\"",
		"[]",
	};
	int r = add_space(b, seed);

	if (r < 0)
		return r;
	if (depth == 0 || test_random(seed) % 3)
		return mp_buf_add_str(
			b, mp_str_of(scalars[test_random(seed) % MP_ARRAY_LEN(scalars)]));
	r = mp_buf_add_char(b, '{');
	if (r == 0)
		r = add_random_members(b, seed, depth - 1, (int)(test_random(seed) % 4));
	if (r == 0)
		r = add_space(b, seed);
	return r < 0 ? r : mp_buf_add_char(b, '}');
}

static int write_random_message(struct mp_buf *b, uint64_t *seed)
{
	int r;

	mp_buf_clear(b);
	r = mp_buf_add_str(b, MP_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
				     "\"params\":{\"name\":\"n\","));
	if (r == 0)
		r = add_random_members(b, seed, 4, 1 + (int)(test_random(seed) % 5));
	if (r == 0)
		r = mp_buf_add_str(b, MP_STR(",\"_meta\":{"));
	if (r == 0)
		r = add_random_members(b, seed, 2, (int)(test_random(seed) % 4));
	return r < 0 ? r : mp_buf_add_str(b, MP_STR("}}}"));
}

/* Same members in the same order, but for name, _meta and the token. */
static bool same_params(const struct mp_message *a, const struct mp_message *b)
{
	mp_value at = mp_value_first(b->tape, b->params);

	MP_VALUE_EACH(a->tape, a->params, key) {
		if (mp_value_of(key) == a->meta)
			continue;
		REQUIRE(at != MP_NONE);
		REQUIRE(mp_str_eq(mp_value_source(a->tape, key), mp_value_source(b->tape, at)));
		if (mp_value_of(key) != a->subject)
			REQUIRE(mp_str_eq(mp_value_source(a->tape, mp_value_of(key)),
					  mp_value_source(b->tape, mp_value_of(at))));
		at = mp_value_next(b->tape, b->params, mp_value_of(at));
	}
	return true;
}

HEAVY_TEST(what_is_forwarded_can_be_read_again_and_says_the_same)
{
	struct mp_splice s = {.id = MP_STR("77"),
			      .subject = MP_STR("\"other\""),
			      .progress_token = MP_STR("77"),
			      .meta = MP_STR("{\"io.modelcontextprotocol/x\":1}")};
	uint64_t seed = 20260728;
	WITH_FIXTURE(f);

	for (int i = 0; i < 5000; i++) {
		struct mp_message again;
		size_t n_meta;

		CHECK_EQ(write_random_message(&f.text, &seed), 0);
		CHECK_EQ(scan_str(&f, mp_buf_get(&f.text)), 0);
		n_meta = mp_value_count(&f.tape, f.m.meta);
		mp_buf_clear(&f.out);
		CHECK_EQ(mp_message_forward(&f.m, &s, &f.out), 0);
		CHECK_EQ(mp_message_scan(&f.again, mp_buf_get(&f.out), &again, &f.error), 0);
		CHECK_EQ(again.method, MP_METHOD_TOOLS_CALL);
		CHECK_STR(again.id, "77");
		CHECK_STR(mp_value_source(&f.again, again.subject), "\"other\"");
		CHECK_STR(mp_value_source(&f.again, again.progress_token), "77");
		CHECK_EQ(mp_value_count(&f.again, again.meta), n_meta + 2);
		CHECK(same_params(&f.m, &again));
	}
}
