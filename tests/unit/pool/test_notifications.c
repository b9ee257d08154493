/* test_notifications.c - what servers said by themselves: what is kept, of loud servers, for late
 * readers. */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "fake_message.h"
#include "pool/notifications.h"

struct desk {
	struct mp_loop *loop;
	struct mp_notifications said;
	struct mp_notification_source source;
	struct fake_message f;
	int told;
};

static void desk_done(struct desk *d)
{
	if (d->loop) {
		mp_notification_source_done(&d->said, &d->source);
		mp_notifications_done(&d->said);
	}
	fake_message_done(&d->f);
	mp_loop_free(d->loop);
}

static bool desk_open(struct desk *d)
{
	fake_message_start(&d->f);
	REQUIRE(mp_loop_new_by_hand(1000000, &d->loop) == 0);
	mp_notifications_init(&d->said, d->loop);
	mp_notification_source_init(&d->source);
	return true;
}

#define WITH_DESK(d)                               \
	MP_CLEANUP(desk_done) struct desk d = {0}; \
	CHECK(desk_open(&(d)))

static bool say(struct desk *d, const char *json)
{
	mp_buf_clear(&d->f.text);
	REQUIRE(mp_buf_add_str(&d->f.text, mp_str_of(json)) == 0);
	REQUIRE(mp_message_scan(&d->f.tape, mp_buf_get(&d->f.text), &d->f.m, &d->f.error) == 0);
	mp_notifications_add(&d->said, &d->source, "files", &d->f.m);
	return true;
}

#define LOG(data)                                          \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/" \
	"message\",\"params\":{\"level\":\"error\","       \
	"\"data\":" data "}}"

static void told(void *u)
{
	((struct desk *)u)->told++;
}

static bool written_is(const struct mp_notification *one, uint64_t missed, const char *piece)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_writer w;

	mp_buf_init(&out, MP_KIB(64));
	mp_write_init(&w, &out, NULL);
	mp_notification_write(&w, one, missed);
	REQUIRE(mp_write_finish(&w) == 0 && mp_buf_terminate(&out) == 0);
	if (!strstr(out.data, piece))
		fprintf(stderr, "no %s in %s\n", piece, out.data);
	return strstr(out.data, piece) != NULL;
}

TEST(each_kind_is_kept)
{
	const struct mp_notification *one;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	CHECK(say(&d, LOG("\"disk full\"")));
	CHECK(say(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"));
	CHECK(say(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
		      "\"params\":{\"uri\":\"file:///x\"}}"));
	CHECK(say(&d, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
		      "\"params\":{\"progressToken\":1,\"progress\":1}}"));
	CHECK(say(&d, LOG("{\"a\":1}")));
	CHECK_EQ(d.said.last, 4);
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(one && missed == 0);
	CHECK(written_is(one, 0, "{\"number\":1,\"time\":"));
	CHECK(written_is(one, 0,
			 "\"server\":\"files\",\"method\":\"notifications/message\","
			 "\"text\":\"disk full\",\"level\":\"error\"}"));
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(written_is(one, 0, "\"method\":\"notifications/tools/list_changed\",\"text\":\"\"}"));
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(written_is(one, 0, "\"text\":\"file:///x\"}"));
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(one && !mp_notifications_read(&d.said, &cursor, &missed));
	CHECK_TEXT(one->text, "{\"a\":1}");
}

TEST(texts_are_cut_and_have_no_secrets_or_escapes)
{
	static char json[MP_KIB(40)];
	const struct mp_notification *one;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	CHECK(say(&d, LOG("\"token=abcdefgh12345678 \\u001b[31m\"")));
	memset(json, 'x', sizeof(json));
	memcpy(json, LOG("\""), sizeof(LOG("\"")) - 3);
	memcpy(json + sizeof(json) - 4, "\"}}", 4);
	CHECK(say(&d, json));
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(one && !strstr(one->text, "abcdefgh") && !strchr(one->text, '\033'));
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(one && strlen(one->text) <= MP_LIMIT_NOTIFICATION_TEXT);
}

/* What is not kept is counted, and told a second later, or with the next that is kept. */
TEST(a_loud_server_is_counted)
{
	const struct mp_notification *one = NULL, *next;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	for (int i = 0; i < 1000; i++)
		CHECK(say(&d, LOG("1")));
	CHECK_EQ(d.said.last, MP_LIMIT_NOTIFICATION_RATE);
	mp_loop_advance(d.loop, 1000);
	mp_loop_turn(d.loop, false);
	CHECK_EQ(d.said.last, MP_LIMIT_NOTIFICATION_RATE + 1);
	while ((next = mp_notifications_read(&d.said, &cursor, &missed)))
		one = next;
	CHECK(one && one->more == 1000 - MP_LIMIT_NOTIFICATION_RATE);
	CHECK(written_is(one, 0, "\"server\":\"files\",\"more\":980}"));
	CHECK(say(&d, LOG("2")));
	CHECK_EQ(d.said.last, MP_LIMIT_NOTIFICATION_RATE + 2);
}

TEST(a_loud_server_that_goes_leaves_its_count)
{
	const struct mp_notification *one;
	uint64_t cursor = MP_LIMIT_NOTIFICATION_RATE + 1, missed;

	WITH_DESK(d);
	for (int i = 0; i <= MP_LIMIT_NOTIFICATION_RATE; i++)
		CHECK(say(&d, LOG("1")));
	mp_notification_source_done(&d.said, &d.source);
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(one && one->more == 1);
	CHECK_TEXT(one->server, "files");
}

/* However many there are in a turn, listeners run once. */
TEST(a_late_reader_of_notifications_learns_what_it_missed)
{
	struct mp_notification_listener listener;
	const struct mp_notification *one;
	uint64_t cursor = 1, missed;

	WITH_DESK(d);
	mp_notification_listener_join(&d.said, &listener, told, &d);
	for (int i = 0; i < MP_LIMIT_NOTIFICATION_RING + 3; i++) {
		d.source.kept = 0;
		if (!say(&d, LOG("1")))
			break;
	}
	mp_loop_turn(d.loop, false);
	mp_notification_listener_leave(&d.said, &listener);
	CHECK_EQ(d.said.last, MP_LIMIT_NOTIFICATION_RING + 3);
	CHECK_EQ(d.told, 1);
	one = mp_notifications_read(&d.said, &cursor, &missed);
	CHECK(one && one->number == 4 && missed == 3);
	CHECK(written_is(one, missed, "\"missed\":3}"));
}
