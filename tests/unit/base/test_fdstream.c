/* test_fdstream.c - a descriptor on the loop: reading, the queue, files, errors, flags. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fdstream.h"
#include "base/mem.h"

struct stage {
	struct mp_fdstream s;
	struct mp_loop *loop;
	int peer; /* -1: closed */
	char in[256];
	size_t len;
	int reads, flushes, errnum;
	ssize_t over;  /* what reading or writing returned at the end */
	ssize_t taken; /* by the last flush */
	bool is_open, close_on_flush;
};

static void stage_readable(struct mp_fdstream *s)
{
	struct stage *st = mp_container_of(s, struct stage, s);
	ssize_t n = mp_fdstream_read(s, st->in + st->len, sizeof(st->in) - st->len);

	st->reads++;
	if (n > 0)
		st->len += (size_t)n;
	if (n < 0) {
		st->over = n;
		st->errnum = errno;
		mp_fdstream_stop(s);
	}
}

static void stage_flushed(struct mp_fdstream *s, ssize_t taken)
{
	struct stage *st = mp_container_of(s, struct stage, s);

	st->flushes++;
	st->taken = taken;
	if (taken < 0) {
		st->errnum = errno;
		mp_fdstream_stop(s);
	}
	if (st->close_on_flush)
		mp_fdstream_close(s);
}

#define KIND(more)                                                         \
	{                                                                  \
		.queue = {.write = mp_write_queue_to_fd,                   \
			  .ceiling = 1 << 22,                              \
			  .high = 100000,                                  \
			  .low = 1000},                                    \
		.readable = stage_readable, .flushed = stage_flushed, more \
	}
static const struct mp_fdstream_kind plain = KIND();
static const struct mp_fdstream_kind files = KIND(.takes_files = true);
static const struct mp_fdstream_kind shared = KIND(.restores_flags = true);

static void stage_done(struct stage *st)
{
	if (st->is_open)
		mp_fdstream_close(&st->s);
	if (st->peer >= 0)
		close(st->peer);
	mp_loop_free(st->loop);
}

static bool stage_open(struct stage *st)
{
	int fds[2], small = 4096;

	REQUIRE(mp_loop_new(&st->loop) == 0);
	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
	(void)setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	st->peer = fds[1];
	REQUIRE(mp_fdstream_open(&st->s, st->loop, fds[0], &plain) == 0);
	st->is_open = true;
	return true;
}

#define STAGE                                                  \
	MP_CLEANUP(stage_done) struct stage st = {.peer = -1}; \
	(void)signal(SIGPIPE, SIG_IGN)

static void turn(struct stage *st)
{
	for (int i = 0; i < 5; i++)
		mp_loop_turn(st->loop, false);
}

static bool say(struct stage *st, const char *text)
{
	REQUIRE(write(st->peer, text, strlen(text)) == (ssize_t)strlen(text));
	turn(st);
	return true;
}

static struct mp_str get_in(const struct stage *st)
{
	return (struct mp_str){st->in, st->len};
}

/* All that the peer can read now. */
static size_t drain(struct stage *st)
{
	char text[4096];
	size_t all = 0;
	ssize_t n;

	while ((n = recv(st->peer, text, sizeof(text), MSG_DONTWAIT)) > 0)
		all += (size_t)n;
	return all;
}

TEST(reading_can_be_turned_on_and_off)
{
	STAGE;

	CHECK(stage_open(&st));
	CHECK(say(&st, "one "));
	CHECK_EQ(st.reads, 0);
	mp_fdstream_read_on(&st.s, true);
	CHECK_EQ(st.reads, 0); /* never from within */
	turn(&st);
	CHECK_STR(get_in(&st), "one ");
	CHECK_EQ(st.reads, 1);
	mp_fdstream_read_on(&st.s, false);
	CHECK(say(&st, "two"));
	CHECK_EQ(st.reads, 1);
	mp_fdstream_read_on(&st.s, true);
	turn(&st);
	CHECK_STR(get_in(&st), "one two");
}

TEST(an_end_is_told_without_an_errno)
{
	STAGE;

	CHECK(stage_open(&st));
	mp_fdstream_read_on(&st.s, true);
	CHECK(say(&st, "last"));
	close(st.peer);
	st.peer = -1;
	turn(&st);
	CHECK_STR(get_in(&st), "last");
	CHECK_EQ(st.over, MCPOOL_ECLOSED);
	CHECK_EQ(st.errnum, 0);
	CHECK_EQ(st.reads, 2);
}

/* A peer that goes without having read: libuv tells an error and stops to watch. */
TEST(what_came_before_an_error_is_read_first)
{
	STAGE;

	CHECK(stage_open(&st));
	CHECK_EQ(mp_fdstream_write(&st.s, &MP_STR("unread"), 1), 0);
	CHECK(say(&st, "last words"));
	close(st.peer);
	st.peer = -1;
	mp_fdstream_read_on(&st.s, true);
	turn(&st);
	CHECK_STR(get_in(&st), "last words");
	CHECK(st.s.is_broken);
	CHECK_EQ(st.over, MCPOOL_ECLOSED);
	CHECK_EQ(st.errnum, ECONNRESET);
}

TEST(a_write_goes_out_at_once)
{
	struct mp_str pieces[] = {MP_STR("ab"), MP_STR("cd")};
	STAGE;

	CHECK(stage_open(&st));
	CHECK_EQ(mp_fdstream_write(&st.s, pieces, 2), 0);
	CHECK_EQ(drain(&st), 4);
	turn(&st);
	CHECK_EQ(st.flushes, 0);
}

TEST(a_flush_waits_for_the_end_of_the_turn)
{
	STAGE;

	CHECK(stage_open(&st));
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(mp_buf_add(&st.s.queue.buf, "abc", 3), 0);
		mp_fdstream_flush_later(&st.s);
	}
	CHECK_EQ(drain(&st), 0);
	turn(&st);
	CHECK_EQ(drain(&st), 9);
	CHECK_EQ(st.flushes, 1);
	CHECK_EQ(st.taken, 9);
}

/* While more waits than the queue's high mark, the peer is not read from. */
TEST(a_full_queue_stops_the_reading)
{
	MP_CLEANUP(mp_freep) char *much = mp_alloc(200000);
	struct mp_str text = {much, 200000};
	size_t got = 0;
	STAGE;

	CHECK(stage_open(&st));
	mp_fdstream_read_on(&st.s, true);
	CHECK_EQ(mp_fdstream_write(&st.s, &text, 1), 0);
	CHECK(say(&st, "hello"));
	CHECK_EQ(st.reads, 0);
	for (int i = 0; i < 1000 && got < text.len; i++) {
		got += drain(&st);
		turn(&st);
	}
	CHECK_EQ(got, text.len);
	CHECK(st.flushes > 1);
	CHECK_STR(get_in(&st), "hello");
	CHECK_EQ(st.s.queue.written, text.len);
}

TEST(a_peer_that_is_gone_fails_the_flush)
{
	STAGE;

	CHECK(stage_open(&st));
	close(st.peer);
	st.peer = -1;
	CHECK_EQ(mp_buf_add(&st.s.queue.buf, "abc", 3), 0);
	mp_fdstream_flush_later(&st.s);
	turn(&st);
	CHECK_EQ(st.taken, MCPOOL_ECLOSED);
	CHECK_EQ(st.errnum, EPIPE);
	CHECK_EQ(st.flushes, 1);
}

TEST(what_is_stopped_stays_open_and_still_tells_when_asked)
{
	STAGE;

	CHECK(stage_open(&st));
	mp_fdstream_read_on(&st.s, true);
	CHECK_EQ(mp_buf_add(&st.s.queue.buf, "abc", 3), 0);
	mp_fdstream_flush_later(&st.s);
	mp_fdstream_stop(&st.s);
	CHECK(say(&st, "hello"));
	CHECK_EQ(st.reads + st.flushes, 0);
	CHECK_EQ(drain(&st), 0);
	CHECK_EQ(mp_write_queue_get_waiting(&st.s.queue), 3);
	mp_fdstream_flush_later(&st.s);
	turn(&st);
	CHECK_EQ(st.flushes, 1);
	CHECK_EQ(st.taken, 0);
	CHECK_EQ(drain(&st), 0);
}

/* Both are ready in the same turn; the flush is told first. */
TEST(closing_from_a_hook_ends_all_others)
{
	MP_CLEANUP(mp_freep) char *much = mp_alloc(50000);
	struct mp_str text = {much, 50000};
	STAGE;

	CHECK(stage_open(&st));
	mp_fdstream_read_on(&st.s, true);
	CHECK_EQ(mp_fdstream_write(&st.s, &text, 1), 0);
	CHECK(mp_write_queue_get_waiting(&st.s.queue) > 0);
	CHECK_EQ(write(st.peer, "x", 1), 1);
	CHECK(drain(&st) > 0);
	st.close_on_flush = true;
	turn(&st);
	CHECK_EQ(st.flushes, 1);
	CHECK_EQ(st.reads, 0);
	CHECK(!mp_fdstream_is_open(&st.s));
	mp_fdstream_read_on(&st.s, true);
	mp_fdstream_flush_later(&st.s);
	turn(&st);
	CHECK_EQ(st.flushes + st.reads, 1);
}

/* A file of these bytes, opened for both. */
static int make_file(const char *text)
{
	FILE *file = tmpfile();
	int fd;

	if (!file)
		return -1;
	fputs(text, file);
	rewind(file);
	fd = dup(fileno(file));
	fclose(file);
	return fd;
}

TEST(a_file_is_always_ready)
{
	int fd = make_file("content");
	STAGE;

	CHECK(fd >= 0);
	if (mp_loop_new(&st.loop) < 0 || mp_fdstream_open(&st.s, st.loop, fd, &files) < 0) {
		close(fd);
		return;
	}
	st.is_open = true;
	mp_fdstream_read_on(&st.s, true);
	CHECK_EQ(st.reads, 0);
	turn(&st);
	CHECK_STR(get_in(&st), "content");
	CHECK_EQ(st.over, MCPOOL_ECLOSED);
	CHECK_EQ(st.reads, 2);
}

TEST(a_file_is_refused_where_none_is_expected)
{
	int fd = make_file(""), r = 0;
	STAGE;

	CHECK(fd >= 0);
	if (mp_loop_new(&st.loop) == 0)
		r = mp_fdstream_open(&st.s, st.loop, fd, &plain);
	close(fd);
	CHECK_EQ(r, MCPOOL_ESYSTEM);
	CHECK(!mp_fdstream_is_open(&st.s));
	CHECK_EQ(mp_fdstream_open(&st.s, st.loop, -1, &files), MCPOOL_ESYSTEM);
	mp_fdstream_close(&st.s);
}

/* Does a descriptor that others share block again when the stream is closed? */
static bool blocks_again(const struct mp_fdstream_kind *kind)
{
	MP_CLEANUP(stage_done) struct stage st = {.peer = -1};
	int fds[2], r;

	REQUIRE(mp_loop_new(&st.loop) == 0);
	REQUIRE(pipe2(fds, O_CLOEXEC) == 0);
	close(fds[1]);
	st.peer = dup(fds[0]);
	r = mp_fdstream_open(&st.s, st.loop, fds[0], kind);
	if (r < 0)
		close(fds[0]);
	REQUIRE(r == 0);
	st.is_open = true;
	REQUIRE(fcntl(st.peer, F_GETFL) & O_NONBLOCK);
	mp_fdstream_close(&st.s);
	return !(fcntl(st.peer, F_GETFL) & O_NONBLOCK);
}

TEST(flags_are_given_back_where_others_share_them)
{
	CHECK(blocks_again(&shared));
	CHECK(!blocks_again(&plain));
}
