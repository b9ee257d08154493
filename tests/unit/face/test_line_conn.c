/* test_line_conn.c - lines over a socket: whole, in pieces, too long, unread. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "face/line_conn.h"

struct desk {
	struct mp_loop *loop;
	struct mp_line_conn *conn;
	int peer;
	struct mp_buf heard; /* lines, each with a bar behind it */
	int ended, why, hush_after;
	bool free_on_line;
};

static void heard(void *u, struct mp_str text)
{
	struct desk *d = u;

	if (mp_buf_add_str(&d->heard, text) < 0 || mp_buf_add_char(&d->heard, '|') < 0)
		mp_buf_clear(&d->heard);
	if (d->hush_after && --d->hush_after == 0)
		mp_line_conn_hush(d->conn, true);
	if (d->free_on_line)
		d->conn = mp_line_conn_free(d->conn);
}

static void heard_too_much(void *u, struct mp_str head, struct mp_str tail)
{
	struct desk *d = u;

	if (head.len < 4 || tail.len < 3) /* memory did not suffice for them */
		return;
	if (mp_buf_addf(&d->heard, "(%.4s..%.3s)|", head.p, tail.p + tail.len - 3) < 0)
		mp_buf_clear(&d->heard);
}

static void is_over(void *u, int why)
{
	struct desk *d = u;

	d->ended++;
	d->why = why;
}

static const struct mp_line_conn_hooks hooks = {heard, heard_too_much, is_over, NULL};

static void tidy(struct desk *d)
{
	mp_line_conn_free(d->conn);
	if (d->peer >= 0)
		close(d->peer);
	mp_buf_done(&d->heard);
	if (d->loop)
		mp_loop_turn(d->loop, false);
	mp_loop_free(d->loop);
}

static bool open_desk(struct desk *d, size_t limit)
{
	int fds[2];

	mp_buf_init(&d->heard, MP_MIB(1));
	REQUIRE(mp_loop_new(&d->loop) == 0);
	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	d->peer = fds[1];
	d->conn = mp_line_conn_new(d->loop, fds[0], limit, &hooks, d);
	return true;
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {.peer = -1}

static void turn(struct desk *d)
{
	for (int i = 0; i < 10; i++)
		mp_loop_turn(d->loop, false);
}

static bool tell(struct desk *d, const char *text)
{
	REQUIRE(write(d->peer, text, strlen(text)) == (ssize_t)strlen(text));
	turn(d);
	return true;
}

TEST(lines_come_whole_or_in_pieces)
{
	DESK;

	CHECK(open_desk(&d, 100));
	CHECK(tell(&d, "one\ntwo\r\n\nthr"));
	CHECK_STR(mp_buf_get(&d.heard), "one|two|");
	CHECK(tell(&d, "e"));
	CHECK(tell(&d, "e\nfour\nfi"));
	CHECK_STR(mp_buf_get(&d.heard), "one|two|three|four|");
	CHECK(tell(&d, "ve\n"));
	CHECK_STR(mp_buf_get(&d.heard), "one|two|three|four|five|");
	close(d.peer);
	d.peer = -1;
	turn(&d);
	CHECK_EQ(d.ended, 1);
	CHECK_EQ(d.why, MCPOOL_ECLOSED);
}

TEST(a_line_that_is_too_long_is_told_by_its_ends)
{
	DESK;

	CHECK(open_desk(&d, 10));
	CHECK(tell(&d, "abcd567890xyz\nok\n"));
	CHECK_STR(mp_buf_get(&d.heard), "(abcd..xyz)|ok|");
	CHECK(tell(&d, "abcd567890"));
	CHECK(tell(&d, "1"));
	CHECK(tell(&d, "2345"));
	CHECK(tell(&d, "end\nfine\n"));
	CHECK_STR(mp_buf_get(&d.heard), "(abcd..xyz)|ok|(abcd..end)|fine|");
}

/* An incomplete last line is discarded. */
TEST(what_was_not_said_to_the_end_does_not_count)
{
	DESK;

	CHECK(open_desk(&d, 100));
	CHECK(tell(&d, "whole\nhal"));
	close(d.peer);
	d.peer = -1;
	turn(&d);
	CHECK_STR(mp_buf_get(&d.heard), "whole|");
	CHECK_EQ(d.ended, 1);
}

TEST(a_hushed_conn_keeps_what_it_has_read)
{
	DESK;

	CHECK(open_desk(&d, 100));
	d.hush_after = 1;
	CHECK(tell(&d, "one\ntwo\nthree\nfo"));
	CHECK_STR(mp_buf_get(&d.heard), "one|");
	CHECK(tell(&d, "ur\n"));
	CHECK_STR(mp_buf_get(&d.heard), "one|");
	mp_line_conn_hush(d.conn, false);
	CHECK_STR(mp_buf_get(&d.heard), "one|"); /* never from within */
	turn(&d);
	CHECK_STR(mp_buf_get(&d.heard), "one|two|three|four|");
}

TEST(a_conn_may_be_freed_by_what_it_tells)
{
	DESK;

	CHECK(open_desk(&d, 100));
	d.free_on_line = true;
	CHECK(tell(&d, "one\ntwo\n"));
	CHECK_STR(mp_buf_get(&d.heard), "one|");
	CHECK_EQ(d.ended, 0);
}

TEST(messages_go_out_as_lines)
{
	DESK;
	char text[64];

	CHECK(open_desk(&d, 100));
	mp_line_conn_say(d.conn, MP_STR("a"));
	mp_line_conn_say(d.conn, MP_STR("b\nc"));
	CHECK_EQ(read(d.peer, text, sizeof(text)), -1);
	turn(&d);
	CHECK_EQ(read(d.peer, text, sizeof(text)), 6);
	CHECK(memcmp(text, "a\nb c\n", 6) == 0);
	mp_line_conn_say(d.conn, MP_STR("last"));
	mp_line_conn_finish(d.conn);
	mp_line_conn_say(d.conn, MP_STR("too late"));
	turn(&d);
	CHECK_EQ(d.ended, 1);
	CHECK_EQ(read(d.peer, text, sizeof(text)), 5);
}

/* A peer that does not read is not read from; having read, it is. */
HEAVY_TEST(backpressure)
{
	DESK;
	char *much = mp_alloc(MP_MIB(2)), text[4096];
	ssize_t n;

	memset(much, 'x', MP_MIB(2));
	CHECK(open_desk(&d, 100));
	mp_line_conn_say(d.conn, (struct mp_str){much, MP_MIB(2)});
	mp_free(much);
	turn(&d);
	CHECK(mp_line_conn_get_queued(d.conn) > MP_MIB(1));
	CHECK(tell(&d, "not now\n"));
	CHECK_EQ(d.heard.len, 0);
	while ((n = read(d.peer, text, sizeof(text))) > 0 || mp_line_conn_get_queued(d.conn) > 0)
		turn(&d);
	turn(&d);
	CHECK_STR(mp_buf_get(&d.heard), "not now|");
	CHECK_EQ(d.ended, 0);
}

HEAVY_TEST(who_never_reads_is_cut_off)
{
	DESK;
	char *much = mp_alloc(MP_MIB(16));

	memset(much, 'x', MP_MIB(16));
	CHECK(open_desk(&d, 100));
	for (int i = 0; i < 5 && !d.ended; i++) {
		mp_line_conn_say(d.conn, (struct mp_str){much, MP_MIB(16)});
		turn(&d);
	}
	mp_free(much);
	CHECK_EQ(d.ended, 1);
	CHECK_EQ(d.why, MCPOOL_ELIMIT);
	CHECK_EQ(mp_line_conn_get_queued(d.conn), 0);
}
