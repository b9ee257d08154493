/* test_write_queue.c - write first, copy the rest: short writes, watermarks, lines, failures. */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/write_queue.h"

/* A descriptor by hand: how much it takes, how it fails, and all that it took. */
static struct {
	size_t room;    /* bytes that it still takes; then EAGAIN */
	int interrupts; /* EINTR so often, first */
	int fails;      /* an errno; 0: it does not */
	int calls;      /* system calls */
	size_t pieces;  /* of the last one */
	char got[1024]; /* its first bytes */
	size_t len;     /* of all */
} peer;

static void peer_take(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++, peer.len++)
		if (peer.len < sizeof(peer.got))
			peer.got[peer.len] = p[i];
}

static ssize_t peer_write(int fd, const struct iovec *pieces, size_t n)
{
	size_t before = peer.len;

	(void)fd;
	peer.calls++;
	peer.pieces = n;
	if (peer.interrupts > 0 || peer.fails || peer.room == 0) {
		errno = peer.interrupts-- > 0 ? EINTR : peer.fails ? peer.fails : EAGAIN;
		return -1;
	}
	for (size_t i = 0; i < n && peer.room; i++) {
		size_t k = pieces[i].iov_len < peer.room ? pieces[i].iov_len : peer.room;

		peer_take(pieces[i].iov_base, k);
		peer.room -= k;
	}
	return (ssize_t)(peer.len - before);
}

static const struct mp_write_queue_options plain = {
	.write = peer_write, .ceiling = 1 << 20, .keep = 100, .high = 20, .low = 10};
static const struct mp_write_queue_options by_line = {
	.write = peer_write, .ceiling = 1 << 20, .high = 20, .low = 20, .keeps_lines = true};

static void begin(struct mp_write_queue *q, const struct mp_write_queue_options *o, size_t room)
{
	memset(&peer, 0, sizeof(peer));
	peer.room = room;
	mp_write_queue_init(q, -1, o);
}

static struct mp_str get_got(void)
{
	return (struct mp_str){peer.got, peer.len < sizeof(peer.got) ? peer.len : sizeof(peer.got)};
}

static int write_text(struct mp_write_queue *q, struct mp_str text)
{
	return mp_write_queue_write(q, &text, 1);
}

TEST(what_is_taken_at_once_is_not_copied)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;
	struct mp_str pieces[] = {MP_STR("ab"), MP_STR(""), MP_STR("cde")};

	begin(&q, &plain, 100);
	CHECK_EQ(mp_write_queue_write(&q, pieces, 3), 0);
	CHECK_STR(get_got(), "abcde");
	CHECK_EQ(peer.calls, 1);
	CHECK_EQ(peer.pieces, 3);
	CHECK(!q.buf.data);
	CHECK_EQ(q.written, 5);
	CHECK_EQ(mp_write_queue_flush(&q), 0);
	CHECK_EQ(mp_write_queue_write(&q, pieces, 0), 0);
	CHECK_EQ(write_text(&q, MP_STR("")), 0);
	CHECK_EQ(peer.calls, 1);
}

TEST(the_rest_waits_and_keeps_its_order)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;
	struct mp_str pieces[] = {MP_STR("abc"), MP_STR("def"), MP_STR("ghi")};

	begin(&q, &plain, 4);
	CHECK_EQ(mp_write_queue_write(&q, pieces, 3), 0);
	CHECK_EQ(peer.calls, 1); /* a short write is not tried a second time */
	CHECK_EQ(mp_write_queue_get_waiting(&q), 5);
	CHECK_EQ(q.written, 4);
	peer.room = 3;
	CHECK_EQ(write_text(&q, MP_STR("jk")), 0);
	CHECK_EQ(peer.calls, 1); /* nor is anything written before what waits */
	CHECK_EQ(mp_write_queue_get_end(&q), 11);
	CHECK_EQ(mp_write_queue_flush(&q), 3);
	CHECK_STR(get_got(), "abcdefg");
	CHECK_EQ(mp_write_queue_flush(&q), 0);
	CHECK_EQ(mp_write_queue_get_waiting(&q), 4);
	peer.room = 100;
	CHECK_EQ(mp_write_queue_flush(&q), 4);
	CHECK_STR(get_got(), "abcdefghijk");
	CHECK_EQ(q.written, 11);
	CHECK_EQ(mp_write_queue_get_end(&q), 11);
}

TEST(an_owner_may_add_to_the_buffer_itself)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;

	begin(&q, &plain, 2);
	CHECK_EQ(mp_buf_add(&q.buf, "abc", 3), 0);
	CHECK_EQ(mp_write_queue_get_end(&q), 3);
	CHECK_EQ(mp_write_queue_flush(&q), 2);
	CHECK_EQ(mp_buf_add(&q.buf, "de", 2), 0);
	peer.room = 100;
	CHECK_EQ(mp_write_queue_flush(&q), 3);
	CHECK_STR(get_got(), "abcde");
}

TEST(an_interrupted_write_is_repeated)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;

	begin(&q, &plain, 100);
	peer.interrupts = 2;
	CHECK_EQ(write_text(&q, MP_STR("abc")), 0);
	CHECK_EQ(peer.calls, 3);
	CHECK_STR(get_got(), "abc");
}

TEST(no_memory_in_the_kernel_is_not_the_end)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;

	begin(&q, &plain, 100);
	peer.fails = ENOBUFS;
	CHECK_EQ(write_text(&q, MP_STR("abc")), 0);
	CHECK_EQ(mp_write_queue_get_waiting(&q), 3);
	peer.fails = 0;
	CHECK_EQ(mp_write_queue_flush(&q), 3);
	CHECK_STR(get_got(), "abc");
}

TEST(a_failed_write_says_why_and_takes_nothing)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;

	begin(&q, &plain, 1);
	peer.fails = EPIPE;
	CHECK_EQ(write_text(&q, MP_STR("abc")), MCPOOL_ECLOSED);
	CHECK_EQ(errno, EPIPE);
	CHECK_EQ(mp_write_queue_get_waiting(&q), 0);
	peer.fails = 0;
	CHECK_EQ(write_text(&q, MP_STR("abc")), 0);
	peer.fails = ECONNRESET;
	CHECK_EQ(mp_write_queue_flush(&q), MCPOOL_ECLOSED);
	CHECK_EQ(errno, ECONNRESET);
	CHECK_EQ(mp_write_queue_get_waiting(&q), 2);
	CHECK_EQ(q.written, 1);
}

TEST(what_may_wait_has_a_ceiling)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;
	static const struct mp_write_queue_options small = {.write = peer_write, .ceiling = 6};

	begin(&q, &small, 2);
	CHECK_EQ(write_text(&q, MP_STR("abcdef")), 0);
	CHECK_EQ(write_text(&q, MP_STR("gh")), 0);
	CHECK_EQ(write_text(&q, MP_STR("i")), MCPOOL_ELIMIT);
	CHECK_EQ(mp_write_queue_get_waiting(&q), 6);
}

TEST(full_and_not_full_have_marks_of_their_own)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;

	begin(&q, &plain, 0);
	CHECK_EQ(write_text(&q, MP_STR("12345678901234567890")), 0);
	CHECK(!q.is_full);
	CHECK_EQ(write_text(&q, MP_STR("1")), 0);
	CHECK(q.is_full);
	peer.room = 10;
	CHECK_EQ(mp_write_queue_flush(&q), 10);
	CHECK(q.is_full); /* 11 wait: between the marks nothing changes */
	peer.room = 1;
	CHECK_EQ(mp_write_queue_flush(&q), 1);
	CHECK(!q.is_full);
	CHECK_EQ(write_text(&q, MP_STR("1234567890")), 0);
	CHECK(!q.is_full);
	CHECK_EQ(write_text(&q, MP_STR("1")), 0);
	CHECK(q.is_full);
	mp_write_queue_clear(&q);
	CHECK(!q.is_full);
	CHECK_EQ(mp_write_queue_get_waiting(&q), 0);
}

TEST(an_empty_queue_keeps_only_so_much_memory)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;
	static const struct mp_write_queue_options keeps = {
		.write = peer_write, .ceiling = 1 << 20, .keep = 512};
	char large[600] = {0};

	begin(&q, &keeps, 0);
	CHECK_EQ(write_text(&q, MP_STR("abc")), 0);
	peer.room = 2000;
	CHECK_EQ(mp_write_queue_flush(&q), 3);
	CHECK(q.buf.data);
	peer.room = 0;
	CHECK_EQ(write_text(&q, (struct mp_str){large, sizeof(large)}), 0);
	peer.room = 2000;
	CHECK_EQ(mp_write_queue_flush(&q), 600);
	CHECK(!q.buf.data);
}

/* 256 KiB and one byte of lines of 16 bytes, of which all but the last 11 are written. */
static bool fill_and_compact(struct mp_write_queue *q, const struct mp_write_queue_options *o)
{
	begin(q, o, 0);
	for (size_t i = 0; i <= MP_WRITE_QUEUE_COMPACT / 16; i++)
		REQUIRE(write_text(q, MP_STR("0123456789abcde\n")) == 0);
	peer.room = MP_WRITE_QUEUE_COMPACT - 1;
	REQUIRE(mp_write_queue_flush(q) == (ssize_t)MP_WRITE_QUEUE_COMPACT - 1);
	REQUIRE(q->done == MP_WRITE_QUEUE_COMPACT - 1); /* not yet worth a move */
	peer.room = 6;
	REQUIRE(mp_write_queue_flush(q) == 6);
	REQUIRE(mp_write_queue_get_waiting(q) == 11);
	REQUIRE(q->written == MP_WRITE_QUEUE_COMPACT + 5);
	return true;
}

TEST(written_bytes_are_dropped_when_they_are_many)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;

	mp_write_queue_init(&q, -1, &plain);
	CHECK(fill_and_compact(&q, &plain));
	CHECK_EQ(q.done, 0);
	CHECK_STR(mp_buf_get(&q.buf), "56789abcde\n");
}

TEST(lines_are_dropped_whole)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;
	uint64_t at;

	mp_write_queue_init(&q, -1, &by_line);
	CHECK(fill_and_compact(&q, &by_line));
	CHECK_EQ(q.done, 5);
	CHECK_STR(mp_buf_get(&q.buf), "0123456789abcde\n");
	CHECK_STR(mp_write_queue_get_unfinished(&q, &at), "0123456789abcde\n");
	CHECK_EQ(at, MP_WRITE_QUEUE_COMPACT);
}

TEST(a_line_is_unfinished_until_its_last_byte_is_out)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;
	uint64_t at;

	begin(&q, &by_line, 5);
	CHECK_STR(mp_write_queue_get_unfinished(&q, &at), "");
	CHECK_EQ(at, 0);
	CHECK_EQ(write_text(&q, MP_STR("ab\ncdef\ngh\n")), 0); /* cut behind "cd" */
	CHECK_EQ(mp_write_queue_get_waiting(&q), 6);
	CHECK_STR(mp_write_queue_get_unfinished(&q, &at), "cdef\ngh\n");
	CHECK_EQ(at, 3);
	peer.room = 3;
	CHECK_EQ(mp_write_queue_flush(&q), 3);
	CHECK_STR(mp_write_queue_get_unfinished(&q, &at), "gh\n");
	CHECK_EQ(at, 8);
	peer.room = 3;
	CHECK_EQ(mp_write_queue_flush(&q), 3);
	CHECK_STR(mp_write_queue_get_unfinished(&q, &at), "");
	CHECK_EQ(at, 11);
	CHECK_STR(get_got(), "ab\ncdef\ngh\n");
}

/* Both ways into a real descriptor, with one piece and with two. */
static bool reaches(mp_write_queue_fn *write_fn, int fd, int other)
{
	MP_CLEANUP(mp_write_queue_done) struct mp_write_queue q;
	const struct mp_write_queue_options options = {.write = write_fn, .ceiling = 100};
	struct mp_str pieces[] = {MP_STR("ab"), MP_STR("cd")};
	char got[8];

	mp_write_queue_init(&q, fd, &options);
	REQUIRE(mp_write_queue_write(&q, pieces, 1) == 0);
	REQUIRE(mp_write_queue_write(&q, pieces, 2) == 0);
	return read(other, got, sizeof(got)) == 6 && memcmp(got, "ababcd", 6) == 0;
}

TEST(descriptors_and_sockets_are_written_to)
{
	int fds[2], pair[2];
	struct iovec byte = {(void *)"x", 1};
	bool is_piped, is_sent, is_refused;

	CHECK_EQ(pipe(fds), 0);
	is_piped = reaches(mp_write_queue_to_fd, fds[1], fds[0]);
	close(fds[0]);
	close(fds[1]);
	CHECK(is_piped);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	is_sent = reaches(mp_write_queue_to_socket, pair[0], pair[1]);
	close(pair[1]);
	is_refused = mp_write_queue_to_socket(pair[0], &byte, 1) < 0 && errno == EPIPE;
	close(pair[0]);
	CHECK(is_sent);
	CHECK(is_refused); /* an error, and not SIGPIPE */
}
