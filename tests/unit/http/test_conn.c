/*
 * test_conn.c - a socket as a conn: bytes both ways, a peer that does not read, ends and breaks.
 */
#include "test.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/loop.h"
#include "base/mem.h"
#include "http/conn.h"

struct stage {
	struct mp_loop *loop;
	struct mp_conn_room *room;
	struct mp_conn *conn;
	int peer; /* -1: closed */
	struct mp_buf in;
	int drained, ended, broken;
	bool ready;
};

static void bytes(void *u, struct mp_str b)
{
	struct stage *s = u;

	if (mp_buf_add_str(&s->in, b) < 0)
		s->broken += 100;
}

static void taken(void *u)
{
	struct stage *s = u;

	s->drained += mp_conn_get_waiting(s->conn) == 0;
}

static void ended(void *u)
{
	((struct stage *)u)->ended++;
}

static void broken(void *u)
{
	((struct stage *)u)->broken++;
}

static const struct mp_conn_hooks hooks = {bytes, taken, ended, broken};

static bool stage_open(struct stage *s)
{
	int fds[2], small = 4096;

	*s = (struct stage){.peer = -1};
	REQUIRE(mp_loop_new_by_hand(0, &s->loop) == 0);
	s->room = mp_alloc(sizeof(*s->room));
	mp_buf_init(&s->in, 1 << 26);
	s->ready = true;
	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	(void)setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	s->peer = fds[1];
	REQUIRE(mp_conn_open(s->loop, fds[0], s->room, &s->conn) == 0);
	mp_conn_set_hooks(s->conn, &hooks, s);
	return true;
}

static void stage_done(struct stage *s)
{
	if (!s->ready)
		return;
	mp_conn_close(s->conn);
	if (s->peer >= 0)
		close(s->peer);
	mp_loop_advance(s->loop, 0);
	mp_loop_free(s->loop);
	mp_free(s->room);
	mp_buf_done(&s->in);
}

#define STAGE(s)                                                  \
	MP_CLEANUP(stage_done) struct stage s = {.ready = false}; \
	CHECK(stage_open(&s))

static void turn(struct stage *s)
{
	for (int i = 0; i < 5; i++)
		mp_loop_turn(s->loop, false);
}

/* All that is there at the peer's end. */
static size_t take(struct stage *s, char *room, size_t size)
{
	ssize_t n = read(s->peer, room, size);

	return n > 0 ? (size_t)n : 0;
}

TEST(bytes_go_both_ways)
{
	STAGE(s);
	struct mp_str pieces[3] = {MP_STR("ab"), MP_STR(""), MP_STR("cde")};
	char room[100];

	CHECK_EQ(write(s.peer, "hello", 5), 5);
	turn(&s);
	CHECK_STR(mp_buf_get(&s.in), "hello");
	CHECK_EQ(mp_conn_write(s.conn, pieces, 3), 0);
	CHECK_EQ(take(&s, room, sizeof(room)), 5);
	CHECK(memcmp(room, "abcde", 5) == 0);
	CHECK_EQ(mp_conn_get_waiting(s.conn), 0);
	CHECK_EQ(mp_conn_get_sent(s.conn), 5);
	CHECK_EQ(s.drained, 0);
}

TEST(what_does_not_fit_waits_in_order)
{
	STAGE(s);
	static char large[300000], got[400000];
	struct mp_str piece = {large, sizeof(large)}, tail = MP_STR("tail");
	size_t n = 0;

	for (size_t i = 0; i < sizeof(large); i++)
		large[i] = (char)(i * 7 / 3);
	CHECK_EQ(mp_conn_write(s.conn, &piece, 1), 0);
	CHECK(mp_conn_get_waiting(s.conn) > 0);
	CHECK_EQ(mp_conn_write(s.conn, &tail, 1), 0);
	mp_conn_shut(s.conn);
	while (mp_conn_get_waiting(s.conn)) {
		size_t more = take(&s, got + n, sizeof(got) - n);

		n += more;
		turn(&s);
		CHECK(n <= sizeof(large) + 4);
	}
	n += take(&s, got + n, sizeof(got) - n);
	CHECK_EQ(n, sizeof(large) + 4);
	CHECK(memcmp(got, large, sizeof(large)) == 0);
	CHECK(memcmp(got + sizeof(large), "tail", 4) == 0);
	CHECK_EQ(s.drained, 1);
	CHECK_EQ(read(s.peer, got, 1), 0); /* the end that was asked for before */
}

HEAVY_TEST(a_peer_that_does_not_read_has_a_limit)
{
	STAGE(s);
	static char large[1 << 20];
	struct mp_str piece = {large, sizeof(large)};
	int r = 0, n = 0;

	while (r == 0 && n++ < 100)
		r = mp_conn_write(s.conn, &piece, 1);
	CHECK_EQ(r, MCPOOL_ELIMIT);
	CHECK(mp_conn_get_waiting(s.conn) >= MP_LIMIT_MESSAGE);
}

TEST(reading_can_be_stopped)
{
	STAGE(s);

	mp_conn_read_on(s.conn, false);
	CHECK_EQ(write(s.peer, "hello", 5), 5);
	turn(&s);
	CHECK_EQ(s.in.len, 0);
	mp_conn_read_on(s.conn, true);
	turn(&s);
	CHECK_EQ(s.in.len, 5);
}

TEST(an_end_is_told_once_and_writing_goes_on)
{
	STAGE(s);
	struct mp_str piece = MP_STR("late");
	char room[10];

	CHECK_EQ(shutdown(s.peer, SHUT_WR), 0);
	turn(&s);
	turn(&s);
	CHECK_EQ(s.ended, 1);
	CHECK_EQ(mp_conn_write(s.conn, &piece, 1), 0);
	CHECK_EQ(take(&s, room, sizeof(room)), 4);
}

TEST(a_break_is_a_result_and_then_told)
{
	STAGE(s);
	struct mp_str piece = MP_STR("lost");

	close(s.peer);
	s.peer = -1;
	CHECK_EQ(mp_conn_write(s.conn, &piece, 1), MCPOOL_ECLOSED);
	CHECK_EQ(s.broken, 0);
	turn(&s);
	CHECK_EQ(s.broken, 1);
	CHECK_EQ(mp_conn_write(s.conn, &piece, 1), MCPOOL_ECLOSED);
}
