/* test_greeting.c - the first message on the hub's socket: read, written, refused. */
#include "test.h"

#include <unistd.h>

#include "base/limits.h"
#include "face/greeting.h"

static struct mcpool_error why;

struct desk {
	struct mp_arena arena;
	struct mp_buf out;
	struct mp_greeting h;
};

static void tidy(struct desk *d)
{
	mp_arena_done(&d->arena);
	mp_buf_done(&d->out);
}

#define DESK                                     \
	MP_CLEANUP(tidy) struct desk d = {0};    \
	mp_arena_init(&d.arena, MP_LIMIT_ARENA); \
	mp_buf_init(&d.out, MP_MIB(1))

static int read_text(struct desk *d, const char *text)
{
	return mp_greeting_read(mp_str_of(text), &d->arena, &d->h, &why);
}

#define HELLO(params) \
	"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"mcpool/hello\",\"params\":" params "}"

TEST(a_hello_is_read)
{
	DESK;

	CHECK_EQ(read_text(&d, HELLO("{\"protocol\":1,\"version\":\"0.1.0\",\"role\":\"bridge\","
				     "\"pid\":42,\"cwd\":\"/x\",\"env\":{\"A\":\"1\",\"B\":\"\"},"
				     "\"options\":{\"profile\":\"omp\",\"servers\":[\"a\",\"b\"],"
				     "\"tools\":[\"t*\"],\"project\":\"/p\",\"files\":[\"/f\"],"
				     "\"strict\":true}}")),
		 0);
	CHECK_STR(d.h.id, "7");
	CHECK_EQ(d.h.protocol, 1);
	CHECK_EQ(d.h.role, MP_GREETING_BRIDGE);
	CHECK_TEXT(d.h.cwd, "/x");
	CHECK_TEXT(d.h.env[0], "A=1");
	CHECK_TEXT(d.h.env[1], "B=");
	CHECK(!d.h.env[2]);
	CHECK_TEXT(d.h.options.profile, "omp");
	CHECK_TEXT(d.h.options.project, "/p");
	CHECK_EQ(d.h.options.servers.n, 2);
	CHECK_TEXT(d.h.options.tools.items[0], "t*");
	CHECK_TEXT(d.h.options.files.items[0], "/f");
	CHECK(d.h.options.strict);
}

TEST(what_is_written_is_read)
{
	DESK;
	const char *names[] = {"one", "two \"2\""};
	const char *files[] = {"/one"};
	char *env[] = {"A=b=c", "EMPTY=", "nonsense", "=x", NULL};
	struct mp_greeting said = {.protocol = 1,
				   .version = "0.1.0",
				   .role = MP_GREETING_CONTROL,
				   .pid = 9,
				   .cwd = "/a\nb",
				   .options = {.servers = {names, 2},
					       .files = {files, 1},
					       .strict = true,
					       .parent = "auto"}};

	CHECK_EQ(mp_greeting_write(&d.out, &said, env), 0);
	CHECK(!memchr(d.out.data, '\n', d.out.len));
	CHECK_EQ(mp_greeting_read(mp_buf_get(&d.out), &d.arena, &d.h, &why), 0);
	CHECK_STR(d.h.id, "\"hello\"");
	CHECK_EQ(d.h.role, MP_GREETING_CONTROL);
	CHECK_TEXT(d.h.cwd, "/a\nb");
	CHECK_TEXT(d.h.env[0], "A=b=c");
	CHECK_TEXT(d.h.env[1], "EMPTY=");
	CHECK(!d.h.env[2]);
	CHECK_TEXT(d.h.options.servers.items[1], "two \"2\"");
	CHECK(!d.h.options.profile);
	CHECK_TEXT(d.h.options.files.items[0], "/one");
	CHECK_TEXT(d.h.options.parent, "auto");
	CHECK(d.h.options.strict);
}

/* V18: what somebody claims about itself is looked at with care. */
TEST(nonsense_is_refused_with_its_id)
{
	static const char *const rows[] = {
		"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\",\"params\":{}}",
		HELLO("[]"),
		HELLO("{}"),
		HELLO("{\"protocol\":1,\"role\":\"root\"}"),
		HELLO("{\"protocol\":\"1\",\"role\":\"bridge\"}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"env\":{\"A\":1}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"env\":{\"\":\"1\"}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"env\":{\"A=\":\"1\"}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"env\":{\"A\":\"\\u0000\"}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"cwd\":\"x\"}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"options\":{\"project\":\"x\"}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"options\":{\"files\":[\"x\"]}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"options\":{\"strict\":true}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"options\":{\"parent\":\"1x\"}}"),
		HELLO("{\"protocol\":1,\"role\":\"bridge\",\"options\":{\"files\":[\"/1\",\"/2\","
		      "\"/3\",\"/4\",\"/5\",\"/6\",\"/7\",\"/8\",\"/9\",\"/10\",\"/11\",\"/12\","
		      "\"/13\",\"/14\",\"/15\",\"/16\",\"/17\"]}}"),
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		DESK;

		CHECK(read_text(&d, rows[i]) < 0);
		CHECK(why.message[0]);
		CHECK_STR(d.h.id, "7");
	}
	{
		DESK;

		CHECK_EQ(read_text(&d, "garbage"), MCPOOL_EPARSE);
		CHECK_EQ(d.h.id.len, 0);
	}
}

/* Whatever else a later protocol says is not ours to judge. */
TEST(another_protocol_is_read_as_far_as_it_is_needed)
{
	DESK;

	CHECK_EQ(read_text(&d, HELLO("{\"protocol\":2,\"version\":\"9\",\"role\":\"bridge\","
				     "\"cwd\":\"relative\"}")),
		 0);
	CHECK_EQ(d.h.protocol, 2);
	CHECK_TEXT(d.h.version, "9");
}

TEST(answers_are_read)
{
	DESK;
	struct mp_greeting_answer a;
	struct mcpool_error no = {.code = MCPOOL_ELIMIT, .rpc_code = -32603, .message = "too many"};

	CHECK_EQ(mp_greeting_write_answer(&d.out, MP_STR("\"hello\"")), 0);
	CHECK_EQ(mp_greeting_read_answer(mp_buf_get(&d.out), &a, &why), 0);
	CHECK_EQ(a.protocol, 1);
	CHECK_TEXT(a.version, mcpool_version());
	CHECK_EQ(a.pid, getpid());
	CHECK(!a.is_refused);
	mp_buf_clear(&d.out);
	CHECK_EQ(mp_greeting_write_refusal(&d.out, MP_STR(""), &no), 0);
	CHECK_EQ(mp_greeting_read_answer(mp_buf_get(&d.out), &a, &why), 0);
	CHECK(a.is_refused);
	CHECK(!a.is_leaving);
	CHECK_TEXT(a.why.message, "too many");
	CHECK_EQ(a.why.code, MCPOOL_ELIMIT); /* attack-S9 */
	CHECK_EQ(a.protocol, 1);
	CHECK_TEXT(a.version, mcpool_version());
	mp_buf_clear(&d.out);
	no.code = MCPOOL_ECLOSED;
	CHECK_EQ(mp_greeting_write_refusal(&d.out, MP_STR(""), &no), 0);
	CHECK_EQ(mp_greeting_read_answer(mp_buf_get(&d.out), &a, &why), 0);
	CHECK(a.is_refused && a.is_leaving);
	CHECK_EQ(mp_greeting_read_answer(MP_STR("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), &a,
					 &why),
		 MCPOOL_EPROTO);
	CHECK(mp_greeting_read_answer(MP_STR("x"), &a, &why) < 0);
}
