/*
 * test_failed_call.c - stage, class and next step of every failure that the pool can produce.
 */
#include "test.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "json/tape.h"
#include "session/failed_call.h"

enum { WAY_NONE, WAY_UP, WAY_OUT }; /* how far it came */

struct cell {
	enum mp_outcome outcome;
	int code;
	enum mcpool_fault fault; /* what the lower layers noted; UNKNOWN: nothing */
	int way;
	const char *transport;
	const char *stage, *class;
	const char *step; /* a part of it; "": there is none */
};

#define NOT_SENT  MP_OUTCOME_NOT_SENT
#define UNKNOWN   MP_OUTCOME_UNKNOWN
#define REFUSED   MP_OUTCOME_REFUSED
#define TIMEOUT   MP_OUTCOME_TIMEOUT
#define CANCELLED MP_OUTCOME_CANCELLED
#define NONE      MCPOOL_FAULT_UNKNOWN
#define FAULT(x)  MCPOOL_FAULT_##x

/* clang-format off */
static const struct cell cells[] = {
	/* The server is not there, and why. */
	{NOT_SENT, MCPOOL_EUNAVAILABLE, NONE, WAY_NONE, "stdio", "connect", "connect", "mcpool config show files"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, NONE, WAY_NONE, "http", "connect", "connect", "\"url\" is right: mcpool config show files"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(CONNECT), WAY_NONE, "http", "connect", "connect", "\"url\" is right"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(TIMEOUT), WAY_NONE, "stdio", "connect", "timeout", "a larger \"timeout\""},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(END), WAY_NONE, "stdio", "connect", "eof", "last words may say why; start it alone: mcpool test files"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(END), WAY_NONE, "http", "connect", "eof", "mcpool test files"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(RESET), WAY_NONE, "websocket", "connect", "reset", "mcpool test files"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(MALFORMED), WAY_NONE, "stdio", "connect", "malformed_response", "not MCP; see what: mcpool test files"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(JSON_RPC), WAY_NONE, "sse", "connect", "json_rpc", "mcpool test files"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(HTTP_STATUS), WAY_NONE, "http", "connect", "http_status", "\"url\" is right"},
	/* chaos-C1: no descriptors are left; its command is right. */
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(LIMIT), WAY_NONE, "stdio", "connect", "limit", "ulimit -n"},
	{NOT_SENT, MCPOOL_ERESTART_FAILED, FAULT(LIMIT), WAY_NONE, "http", "connect", "limit", "LimitNOFILE"},
	/* mcpool itself leaves; whether the server is up does not matter then. */
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(CLOSED), WAY_NONE, "stdio", "connect", "closed", "mcpool up"},
	{NOT_SENT, MCPOOL_EUNAVAILABLE, FAULT(CLOSED), WAY_UP, "stdio", "connect", "closed", "mcpool up"},
	{NOT_SENT, MCPOOL_ERESTARTING, NONE, WAY_NONE, "stdio", "connect", "connect", "mcpool reconnect files"},
	{NOT_SENT, MCPOOL_ERESTARTING, FAULT(END), WAY_NONE, "stdio", "connect", "eof", "call again in a moment"},
	{NOT_SENT, MCPOOL_ERESTART_FAILED, FAULT(END), WAY_NONE, "stdio", "connect", "eof", "mcpool test files"},
	{NOT_SENT, MCPOOL_ERESTART_FAILED, FAULT(TIMEOUT), WAY_NONE, "http", "connect", "timeout", "mcpool reconnect files"},
	{NOT_SENT, MCPOOL_ENEEDS_APPROVAL, NONE, WAY_NONE, "stdio", "connect", "closed", "mcpool trust files"},
	{NOT_SENT, MCPOOL_ENEEDS_AUTH, FAULT(HTTP_STATUS), WAY_NONE, "http", "connect", "http_status", "\"headers\""},
	{NOT_SENT, MCPOOL_ENEEDS_AUTH, NONE, WAY_NONE, "sse", "connect", "http_status", "mcpool reconnect files"},
	{NOT_SENT, MCPOOL_EDISABLED, NONE, WAY_NONE, "stdio", "connect", "closed", "mcpool enable files"},
	{NOT_SENT, MCPOOL_EINVAL, NONE, WAY_NONE, "stdio", "connect", "connect", "mcpool config show files"},
	{NOT_SENT, MCPOOL_ENOENT, NONE, WAY_NONE, "stdio", "connect", "connect", "mcpool config show files"},
	{NOT_SENT, MCPOOL_ENOENT, NONE, WAY_NONE, NULL, "connect", "connect", "mcpool"},
	{NOT_SENT, MCPOOL_ELIMIT, NONE, WAY_NONE, "stdio", "connect", "unknown", "mcpool"},
	{NOT_SENT, MCPOOL_ENOMEM, NONE, WAY_NONE, "stdio", "connect", "unknown", ""},
	/* It is there, and did not take the call. */
	{NOT_SENT, MCPOOL_EAGAIN, FAULT(HTTP_STATUS), WAY_UP, "http", "send", "http_status", "call again later"},
	{NOT_SENT, MCPOOL_EAGAIN, FAULT(HTTP_STATUS), WAY_OUT, "http", "send", "http_status", "call again later"},
	{NOT_SENT, MCPOOL_EIO, FAULT(RESET), WAY_UP, "http", "send", "reset", "mcpool status"},
	{NOT_SENT, MCPOOL_ECLOSED, NONE, WAY_UP, "http", "send", "eof", "mcpool status"},
	{NOT_SENT, MCPOOL_ELIMIT, NONE, WAY_UP, "stdio", "send", "unknown", "mcpool test files"},
	{NOT_SENT, MCPOOL_ENOMEM, NONE, WAY_UP, "stdio", "send", "unknown", ""},
	/* It was sent: the outcome is unknown. */
	{UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, FAULT(END), WAY_OUT, "stdio", "receive", "eof", "find out whether it happened"},
	{UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, FAULT(RESET), WAY_OUT, "http", "receive", "reset", "find out whether it happened"},
	{UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, FAULT(TIMEOUT), WAY_OUT, "websocket", "receive", "timeout", "find out whether it happened"},
	{UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, FAULT(HTTP_STATUS), WAY_OUT, "http", "receive", "http_status", "find out whether it happened"},
	{UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, FAULT(CLOSED), WAY_OUT, "sse", "receive", "closed", "find out whether it happened"},
	{UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, FAULT(MALFORMED), WAY_OUT, "http", "decode", "malformed_response", "find out whether it happened"},
	{UNKNOWN, MCPOOL_EOUTCOME_UNKNOWN, NONE, WAY_OUT, "stdio", "receive", "unknown", "find out whether it happened"},
	/* It took too long: with the server, in its line, or until the server was there. */
	{TIMEOUT, MCPOOL_ECALL_TIMEOUT, NONE, WAY_OUT, "stdio", "receive", "timeout", "\"toolTimeout\""},
	{TIMEOUT, MCPOOL_ECALL_TIMEOUT, NONE, WAY_UP, "stdio", "send", "timeout", "\"queues\""},
	{TIMEOUT, MCPOOL_ECALL_TIMEOUT, NONE, WAY_NONE, "stdio", "connect", "timeout", "a larger \"timeout\""},
	/* The answer cannot be used. */
	{REFUSED, MCPOOL_EPROTO, NONE, WAY_OUT, "stdio", "decode", "malformed_response", "does not keep to the protocol"},
	{REFUSED, MCPOOL_EPARSE, NONE, WAY_OUT, "stdio", "decode", "malformed_response", "does not keep to the protocol"},
	{REFUSED, MCPOOL_ETYPE, NONE, WAY_OUT, "http", "decode", "malformed_response", "does not keep to the protocol"},
	{REFUSED, MCPOOL_ETOO_LARGE, NONE, WAY_OUT, "stdio", "decode", "malformed_response", "ask for less"},
	{REFUSED, MCPOOL_ENEEDS_AUTH, FAULT(HTTP_STATUS), WAY_OUT, "http", "receive", "http_status", "\"headers\""},
	{REFUSED, MCPOOL_EAGAIN, FAULT(HTTP_STATUS), WAY_OUT, "http", "receive", "http_status", "call again later"},
	{REFUSED, MCPOOL_ENOENT, FAULT(HTTP_STATUS), WAY_OUT, "http", "receive", "http_status", "mcpool status"},
	{REFUSED, MCPOOL_EPROTO, FAULT(HTTP_STATUS), WAY_OUT, "http", "receive", "http_status", "mcpool status"},
	{REFUSED, MCPOOL_EPROTO, FAULT(JSON_RPC), WAY_OUT, "http", "protocol", "json_rpc", "mcpool tools --schema files/read"},
	/* There is no room, or the tool is not what was approved. */
	{REFUSED, MCPOOL_EQUEUE_FULL, NONE, WAY_UP, "stdio", "send", "closed", "\"queues\""},
	{REFUSED, MCPOOL_EQUEUE_FULL, NONE, WAY_NONE, "stdio", "connect", "closed", "fewer calls"},
	{REFUSED, MCPOOL_ENEEDS_APPROVAL, NONE, WAY_UP, "stdio", "send", "closed", "mcpool trust files"},
	/* It was cancelled. */
	{CANCELLED, MCPOOL_ECANCELED, NONE, WAY_OUT, "stdio", "receive", "closed", ""},
	{CANCELLED, MCPOOL_ECANCELED, NONE, WAY_UP, "stdio", "send", "closed", ""},
	{CANCELLED, MCPOOL_ECANCELED, NONE, WAY_NONE, "stdio", "connect", "closed", ""},
	{CANCELLED, MCPOOL_ECLOSED, FAULT(CLOSED), WAY_NONE, "stdio", "connect", "closed", "mcpool up"},
	{CANCELLED, MCPOOL_ECLOSED, FAULT(CLOSED), WAY_OUT, "stdio", "receive", "closed", "mcpool status"},
	/* The server itself says no. */
	{MP_OUTCOME_ANSWERED, MCPOOL_EPROTO, FAULT(JSON_RPC), WAY_OUT, "stdio", "protocol", "json_rpc", "mcpool tools --schema files/read"},
};
/* clang-format on */

static struct mp_failed_call make(enum mp_outcome outcome, struct mcpool_error *why, int code,
				  enum mcpool_fault fault, int way, const char *transport)
{
	(void)mp_fail(why, code, "MCP error: server 'files' has trouble");
	why->fault = (int)fault;
	return (struct mp_failed_call){
		.server = "files",
		.is_configured = true,
		.tool = MP_STR("read"),
		.transport = transport,
		.why = why,
		.outcome = outcome,
		.was_up = way >= WAY_UP,
		.was_out = way == WAY_OUT,
	};
}

static bool is_so(const struct cell *c)
{
	struct mcpool_error why;
	struct mp_failed_call f = make(c->outcome, &why, c->code, c->fault, c->way, c->transport);
	char step[400];

	mp_failed_call_get_next_step(&f, step, sizeof(step));
	REQUIRE(strcmp(mp_failed_stage_get_name(mp_failed_call_get_stage(&f)), c->stage) == 0);
	REQUIRE(strcmp(mp_fault_get_name(mp_failed_call_get_class(&f)), c->class) == 0);
	REQUIRE(c->step[0] ? strstr(step, c->step) != NULL : step[0] == '\0');
	return true;
}

/* U23 */
HEAVY_TEST(every_failure_has_its_stage_class_and_next_step)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(cells); i++)
		if (!is_so(&cells[i])) {
			fprintf(stderr, "cell %zu: %s %s, %s\n", i,
				mp_outcome_get_name(cells[i].outcome),
				mcpool_error_word(cells[i].code), cells[i].stage);
			CHECK(false);
		}
}

/* --- next steps ------------------------------------------------------------------------------ */

static bool is_verb(const char *word)
{
	static const char *const verbs[] = {
		"add ",   "config show ", "enable ", "login ",          "reconnect ",
		"status", "test ",        "trust ",  "tools --schema ", "up"};

	for (size_t i = 0; i < MP_ARRAY_LEN(verbs); i++)
		if (strncmp(word, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return strncmp(word, "runs", 4) == 0; /* "when mcpool runs" */
}

static bool has_known_commands(const char *step)
{
	for (const char *p = step; (p = strstr(p, "mcpool ")); p++)
		REQUIRE(is_verb(p + strlen("mcpool ")));
	REQUIRE(!strstr(step, "NAME") && !strstr(step, "TOOL"));
	return true;
}

static bool is_sound(struct mp_failed_call *f)
{
	char step[400];

	mp_failed_call_get_next_step(f, step, sizeof(step));
	REQUIRE(strlen(step) < 320);
	REQUIRE(has_known_commands(step));
	REQUIRE(f->is_configured || !strstr(step, "files"));
	return true;
}

/* Whatever comes together, now or later, there are words for it, and no command that is none. */
HEAVY_TEST(no_combination_is_without_words)
{
	static const int codes[] = {
#define X(name, number, rpc, word, sentence) MCPOOL_E##name,
		MCPOOL_ERRORS(X)
#undef X
	};
	static const char *const transports[] = {"stdio", "http", "sse", "websocket", NULL};
	struct mcpool_error why;

	for (int o = MP_OUTCOME_ANSWERED; o <= MP_OUTCOME_CANCELLED; o++)
		for (size_t i = 0; i < MP_ARRAY_LEN(codes); i++)
			for (int fault = 0; fault <= MCPOOL_FAULT_CLOSED; fault++)
				for (int n = 0; n < 30; n++) {
					struct mp_failed_call f =
						make((enum mp_outcome)o, &why, codes[i],
						     (enum mcpool_fault)fault, n % 3,
						     transports[n / 3 % 5]);

					f.is_configured = n >= 15;
					CHECK(is_sound(&f));
				}
}

TEST(a_server_on_the_command_line_has_no_name_for_verbs)
{
	struct mcpool_error why;
	struct mp_failed_call f = make(TIMEOUT, &why, MCPOOL_ECALL_TIMEOUT, NONE, WAY_OUT, "stdio");
	char step[400];

	f.is_configured = false;
	mp_failed_call_get_next_step(&f, step, sizeof(step));
	CHECK_TEXT(step, "a call that needs longer needs a larger --timeout");
	f = make(MP_OUTCOME_ANSWERED, &why, MCPOOL_EPROTO, NONE, WAY_OUT, "stdio");
	f.tool = MP_STR(""); /* a resource, say */
	mp_failed_call_get_next_step(&f, step, sizeof(step));
	CHECK_TEXT(step, "see how it does: mcpool status; whether it answers: mcpool test files");
	f.next_step = "look at the NAME on the door";
	mp_failed_call_get_next_step(&f, step, sizeof(step));
	CHECK_TEXT(step, "look at the NAME on the door");
	mp_failed_call_get_next_step(&f, step, 9);
	CHECK_TEXT(step, "look at ");
	f.next_step = NULL;
	f.server = NULL;
	mp_failed_call_get_next_step(&f, step, sizeof(step));
	CHECK_TEXT(step, "");
}

/* --- text ------------------------------------------------------------------------------------ */

static bool reads(const struct mp_failed_call *f, const char *text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(64));
	REQUIRE(mp_failed_call_project(f, 1000000, &out) == 0);
	return test_same_text(mp_buf_get(&out), mp_str_of(text), "text", __FILE__, __LINE__);
}

/* U23 A47 B53 */
TEST(a_failure_as_text)
{
	struct mcpool_error why;
	struct mp_failed_call f =
		make(NOT_SENT, &why, MCPOOL_ERESTART_FAILED, FAULT(END), WAY_NONE, "stdio");

	f.retryable = true;
	f.next_at_ms = 1002500;
	f.tail = MP_STR("starting\nError: no database\n");
	CHECK(reads(&f, "MCP error: server 'files' has trouble\n"
			"  server:    files\n"
			"  tool:      read\n"
			"  transport: stdio\n"
			"  stage:     connect\n"
			"  class:     eof\n"
			"  retryable: yes\n"
			"  next try:  in 2.5 s\n"
			"  code:      1002 mcp_restart_failed\n"
			"  next step: see how far it comes: mcpool test files; when it is tried "
			"again: mcpool status; at once: mcpool reconnect files\n"
			"its last words on stderr:\n"
			"  | starting\n"
			"  | Error: no database\n"));
}

/* U23 */
TEST(what_is_not_known_has_no_line)
{
	struct mcpool_error why;
	struct mp_failed_call f = make(CANCELLED, &why, MCPOOL_ECANCELED, NONE, WAY_NONE, NULL);

	f.tool = MP_STR("");
	f.server = NULL;
	f.next_at_ms = 999000; /* was due before now */
	CHECK(reads(&f, "MCP error: server 'files' has trouble\n"
			"  class:     closed\n"
			"  retryable: no\n"
			"  next try:  in 0.0 s\n"
			"  code:      -32603 canceled\n"));
}

/* U23 */
TEST(an_error_of_the_server_has_its_code_and_its_data)
{
	struct mcpool_error why;
	struct mp_failed_call f =
		make(MP_OUTCOME_ANSWERED, &why, MCPOOL_EPROTO, FAULT(JSON_RPC), WAY_OUT, "http");

	why.rpc_code = -32602;
	f.data = MP_STR("{\"field\":\"path\",\"password\":\"hunter2222\"}");
	CHECK(reads(&f, "MCP error: server 'files' has trouble\n"
			"  server:    files\n"
			"  tool:      read\n"
			"  transport: http\n"
			"  stage:     protocol\n"
			"  class:     json_rpc\n"
			"  retryable: no\n"
			"  code:      -32602\n"
			"  data:      {\"field\":\"path\",\"password\":\"•••\"}\n"
			"  next step: see what it takes: mcpool tools --schema files/read\n"));
}

static bool project(const struct mp_failed_call *f, struct mp_buf *out)
{
	mp_buf_clear(out);
	return mp_failed_call_project(f, 0, out) == 0 && mp_buf_terminate(out) == 0;
}

/* U23 */
TEST(secrets_are_dots_and_long_data_is_cut)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out, data;
	struct mcpool_error why;
	struct mp_failed_call f =
		make(MP_OUTCOME_ANSWERED, &why, MCPOOL_EPROTO, FAULT(JSON_RPC), WAY_OUT, "http");

	bool is_there;

	mp_buf_init(&out, MP_KIB(64));
	mp_buf_init(&data, MP_KIB(64));
	(void)mp_fail(&why, MCPOOL_EPROTO, "MCP error: two\nlines with s3cr3t-of-mine in them");
	for (int i = 0; i < 1500; i++)
		CHECK_EQ(mp_buf_addf(&data, "é"), 0);
	f.data = mp_buf_get(&data);
	f.tail = MP_STR("it was s3cr3t-of-mine");
	CHECK_EQ(mp_secret_add(MP_STR("s3cr3t-of-mine")), 0);
	is_there = project(&f, &out);
	mp_secret_remove_all();
	CHECK(is_there);
	CHECK(!strstr(out.data, "s3cr3t"));
	CHECK(strncmp(out.data, "MCP error: two\\nlines with •••", 31) == 0);
	CHECK(strstr(out.data, "é…\n  next step:") != NULL);
	CHECK(out.len < 2600);
}

/* U23 */
TEST(the_last_ten_lines_of_stderr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out, tail;
	struct mcpool_error why;
	struct mp_failed_call f =
		make(NOT_SENT, &why, MCPOOL_EUNAVAILABLE, FAULT(END), WAY_NONE, "stdio");

	mp_buf_init(&out, MP_KIB(64));
	mp_buf_init(&tail, MP_KIB(64));
	for (int i = 1; i <= 12; i++)
		CHECK_EQ(mp_buf_addf(&tail, "line %d\n", i), 0);
	f.tail = mp_buf_get(&tail);
	CHECK(project(&f, &out));
	CHECK(!strstr(out.data, "| line 2\n"));
	CHECK(strstr(out.data, "stderr:\n  | line 3\n") != NULL);
	CHECK(strstr(out.data, "  | line 12\n") != NULL);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static bool writes(const struct mp_failed_call *f, const char *json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_KIB(64));
	mp_write_init(&w, &out, NULL);
	mp_write_begin_object(&w);
	mp_failed_call_write(&w, f);
	mp_write_end_object(&w);
	REQUIRE(mp_write_finish(&w) == 0);
	return test_same_text(mp_buf_get(&out), mp_str_of(json), "json", __FILE__, __LINE__);
}

/* U23 D10 */
TEST(a_failure_as_json)
{
	struct mcpool_error why;
	struct mp_pool_answer a = {
		.outcome = NOT_SENT,
		.error = &why,
		.server = "files",
		.transport = "http",
		.attempt = 3,
		.retryable = true,
		.next_at_ms = 77,
		.tail = MP_STR("oh"),
	};
	struct mp_failed_call f;

	(void)mp_fail(&why, MCPOOL_ERESTARTING, "MCP error: server 'files' has trouble");
	why.fault = (int)FAULT(RESET);
	f = mp_failed_call_of(&a, MP_STR("read"));
	CHECK(writes(&f,
		     "{\"code\":\"mcp_restart_in_progress\",\"server\":\"files\",\"outcome\":"
		     "\"not_sent\",\"attempt\":3,\"retryable\":true,\"nextAt\":77,\"tool\":"
		     "\"read\",\"transport\":\"http\",\"stage\":\"connect\",\"class\":\"reset\","
		     "\"nextStep\":\"call again in a moment; what it does: mcpool status; at "
		     "once: mcpool reconnect files\",\"stderr\":\"oh\"}"));
	f = make(REFUSED, &why, MCPOOL_ENOMEM, NONE, WAY_NONE, NULL);
	f.server = NULL;
	f.tool = MP_STR("");
	CHECK(writes(&f, "{\"code\":\"no_memory\",\"outcome\":\"refused\",\"retryable\":false,"
			 "\"class\":\"unknown\"}"));
	f = make(MP_OUTCOME_ANSWERED, &why, MCPOOL_EPROTO, FAULT(JSON_RPC), WAY_OUT, "sse");
	CHECK(writes(&f, "{\"server\":\"files\",\"outcome\":\"answered\",\"retryable\":false,"
			 "\"tool\":\"read\",\"transport\":\"sse\",\"stage\":\"protocol\",\"class\":"
			 "\"json_rpc\",\"nextStep\":\"see what it takes: mcpool tools --schema "
			 "files/read\"}"));
}
