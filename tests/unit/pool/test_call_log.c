/* test_call_log.c - the last calls that ended, their clients, and readers that are late. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/loop.h"
#include "pool/call_log.h"

static const uint64_t key[2] = {1, 2};

struct desk {
	struct mp_loop *loop;
	struct mp_call_log log;
	struct mp_call_client *client;
	int told;
};

static void desk_done(struct desk *d)
{
	mp_call_client_unref(d->client);
	if (d->log.loop)
		mp_call_log_done(&d->log);
	mp_loop_free(d->loop);
}

static bool desk_open(struct desk *d)
{
	REQUIRE(mp_loop_new(&d->loop) == 0);
	mp_call_log_init(&d->log, d->loop, key);
	d->client = mp_call_client_new();
	mp_call_client_name(d->client, "Claude Code", "uid:1", "/here");
	return true;
}

#define WITH_DESK(d)                               \
	MP_CLEANUP(desk_done) struct desk d = {0}; \
	CHECK(desk_open(&(d)))

static void add(struct desk *d, const char *server, const char *tool, const char *params,
		bool keeps)
{
	struct mp_call_record r = {
		.session = 7,
		.client = d->client,
		.server = server,
		.method = MP_METHOD_TOOLS_CALL,
		.took_us = 1500,
	};

	mp_call_log_add(&d->log, &r, mp_str_of(tool), mp_str_of(params), keeps);
}

static void told(void *u)
{
	((struct desk *)u)->told++;
}

static bool written_has(const struct mp_call_record *r, uint64_t missed, const char *piece)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_MIB(1));
	mp_write_init(&w, &out, NULL);
	mp_call_record_write(&w, r, missed);
	REQUIRE(mp_write_finish(&w) == 0 && mp_buf_terminate(&out) == 0);
	if (!strstr(out.data, piece))
		fprintf(stderr, "no %s in %s\n", piece, out.data);
	return strstr(out.data, piece) != NULL;
}

static bool written_has_quietly(const struct mp_call_record *r, const char *piece)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_MIB(1));
	mp_write_init(&w, &out, NULL);
	mp_call_record_write(&w, r, 0);
	return mp_write_finish(&w) == 0 && mp_buf_terminate(&out) == 0 &&
	       strstr(out.data, piece) != NULL;
}

/* D17 */
TEST(a_record_says_who_called_what)
{
	const struct mp_call_record *r;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	add(&d, "files", "read", "{\"path\":\"x\"}", false);
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r && missed == 0);
	CHECK(written_has(r, 0, "{\"number\":1,\"time\":"));
	CHECK(written_has(r, 0,
			  "\"session\":7,\"client\":\"Claude Code\",\"principal\":\"uid:1\","
			  "\"project\":\"/here\",\"server\":\"files\",\"method\":\"tools/call\","
			  "\"tool\":\"read\",\"outcome\":\"answered\",\"code\":null,"
			  "\"latencyUs\":1500,"));
	CHECK(!strstr(r->texts, "path"));
	CHECK(mp_call_log_read(&d.log, &cursor, &missed) == NULL);
}

TEST(arguments_are_kept_only_when_asked)
{
	const struct mp_call_record *a, *b, *c;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	add(&d, "s", "t", "{\"k\":1}", false);
	add(&d, "s", "t", "{\"k\":1}", true);
	add(&d, "s", "t", "{\"k\":2}", false);
	a = mp_call_log_read(&d.log, &cursor, &missed);
	b = mp_call_log_read(&d.log, &cursor, &missed);
	c = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(a && b && c);
	CHECK(a->args_hash == b->args_hash && a->args_hash != c->args_hash);
	CHECK(!a->args && !c->args);
	if (b->args) /* else there was no memory for them */
		CHECK(written_has(b, 0, "\"args\":{\"k\":1}"));
}

/* G10: 512 records of messages of 32 MiB would be 16 GiB. */
HEAVY_TEST(what_is_long_does_not_fill_the_ring)
{
	static char text[MP_LIMIT_AUDIT_TEXT + 2];
	const struct mp_call_record *r;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	memset(text, 'x', sizeof(text) - 1);
	add(&d, "s", text, text, true);
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r && !r->args);
	CHECK_EQ(strlen(r->subject), MP_LIMIT_AUDIT_TEXT);
	text[MP_LIMIT_AUDIT_TEXT] = '\0';
	add(&d, "s", text, text, true);
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r);
	CHECK_EQ(strlen(r->subject), MP_LIMIT_AUDIT_TEXT);
	if (r->args) /* else there was no memory for them */
		CHECK_EQ(strlen(r->args), MP_LIMIT_AUDIT_TEXT);
}

/* D17: the code of a call that failed is in its record. */
TEST(a_record_has_the_code_of_a_failure)
{
	struct mp_call_record failed = {
		.server = "files",
		.method = MP_METHOD_TOOLS_CALL,
		.outcome = MP_OUTCOME_TIMEOUT,
		.code = MCPOOL_ETIMEDOUT,
	};
	const struct mp_call_record *r;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	mp_call_log_add(&d.log, &failed, MP_STR("read"), MP_STR("{}"), false);
	failed.outcome = MP_OUTCOME_ANSWERED; /* it says itself why */
	failed.is_error = true;
	mp_call_log_add(&d.log, &failed, MP_STR("read"), MP_STR("{}"), false);
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r && written_has(r, 0, "\"outcome\":\"timeout\",\"code\":\"timed_out\","));
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r && written_has(r, 0, "\"outcome\":\"error\",\"code\":null,"));
}

/* What is shown is redacted, as what is stored. */
TEST(secrets_in_records_are_dots)
{
	const struct mp_call_record *r;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	add(&d, "s", "t", "{\"password\":\"hunter2hunter2\"}", true);
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r);
	if (!r->args)
		return; /* there was no memory for them */
	CHECK(written_has(r, 0, "\"args\":"));
	CHECK(!written_has_quietly(r, "hunter2"));
}

TEST(each_outcome_has_its_word)
{
	struct mp_call_record r = {.outcome = MP_OUTCOME_ANSWERED};

	CHECK_TEXT(mp_call_record_get_outcome(&r), "answered");
	r.is_tool_error = true;
	CHECK_TEXT(mp_call_record_get_outcome(&r), "tool_error");
	r.is_tool_error = false;
	r.is_error = true;
	CHECK_TEXT(mp_call_record_get_outcome(&r), "error");
	r.outcome = MP_OUTCOME_UNKNOWN;
	r.code = MCPOOL_EOUTCOME_UNKNOWN;
	CHECK_TEXT(mp_call_record_get_outcome(&r), "unknown");
}

TEST(a_late_reader_learns_what_it_missed)
{
	const struct mp_call_record *r;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	for (int i = 0; i < MP_LIMIT_CALL_RING + 3; i++)
		add(&d, "s", "t", "{}", false);
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r && r->number == 4 && missed == 3 && cursor == 5);
	CHECK(written_has(r, missed, "\"missed\":3}"));
	cursor = MP_LIMIT_CALL_RING + 3;
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r && r->number == MP_LIMIT_CALL_RING + 3 && missed == 0);
}

/* However many calls end in a turn, listeners run once. */
TEST(listeners_run_at_the_end_of_a_turn)
{
	struct mp_call_listener listener;

	WITH_DESK(d);
	mp_call_listener_join(&d.log, &listener, told, &d);
	mp_loop_turn(d.loop, false);
	CHECK_EQ(d.told, 0);
	add(&d, "s", "t", "{}", false);
	add(&d, "s", "t", "{}", false);
	mp_loop_turn(d.loop, false);
	CHECK_EQ(d.told, 1);
	mp_loop_turn(d.loop, false);
	CHECK_EQ(d.told, 1);
	mp_call_listener_leave(&d.log, &listener);
}

/* Records outlive sessions, and name them as they were named last. */
TEST(a_client_counts_its_calls)
{
	const struct mp_call_record *r;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	CHECK_EQ(mp_call_client_count_minute(d.client, mp_loop_now_ms(d.loop)), 0);
	add(&d, "s", "t", "{}", false);
	add(&d, "s", "t", "{}", false);
	CHECK_EQ(d.client->calls, 2);
	CHECK_EQ(mp_call_client_count_minute(d.client, mp_loop_now_ms(d.loop)), 2);
	mp_call_client_name(d.client, "Codex", "uid:1", "/there");
	d.client = mp_call_client_unref(d.client);
	r = mp_call_log_read(&d.log, &cursor, &missed);
	CHECK(r && written_has(r, 0, "\"client\":\"Codex\""));
}
