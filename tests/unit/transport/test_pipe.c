/* test_pipe.c - descriptors as a transport: order of hooks, ends, full pipes, files. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/loop.h"
#include "base/mem.h"
#include "transport/pipe.h"
#include "outgoing.h"

struct seen {
	struct mp_loop *loop;
	struct mp_transport *t;
	int fds[2];    /* the other side: it reads 0, writes 1 */
	char log[400]; /* what the hooks told, in order */
	uint64_t written;
	int oversize;
	bool close_on_message;
	bool tell_written;
	struct mcpool_error why;
};

static void tell(struct seen *s, const char *what, struct mp_str text)
{
	size_t len = strlen(s->log);

	snprintf(s->log + len, sizeof(s->log) - len, "%s%.*s ", what, MP_STR_ARGS(text));
}

static void opened(void *u)
{
	tell(u, "opened", MP_STR(""));
}

static void message(void *u, struct mp_str text)
{
	struct seen *s = u;

	tell(s, "m:", text.len > 20 ? MP_STR("long") : text);
	if (s->close_on_message)
		s->t->impl->close(s->t);
}

static void oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct seen *s = u;

	(void)head;
	(void)tail;
	s->oversize++;
}

static void written(void *u, uint64_t total)
{
	struct seen *s = u;

	s->written = total;
	if (s->tell_written)
		tell(s, "written", MP_STR(""));
}

static void ended(void *u, const struct mcpool_error *why)
{
	struct seen *s = u;

	s->why = *why;
	tell(s, "ended", MP_STR(""));
}

static void closed(void *u)
{
	tell(u, "closed", MP_STR(""));
}

static const struct mp_transport_hooks hooks = {.opened = opened,
						.message = message,
						.oversize = oversize,
						.written = written,
						.ended = ended,
						.closed = closed};

static void seen_done(struct seen *s)
{
	mp_transport_free(s->t);
	for (int i = 0; i < 2; i++)
		if (s->fds[i] >= 0)
			close(s->fds[i]);
	mp_loop_free(s->loop);
}

static bool seen_init(struct seen *s)
{
	int to[2], from[2];

	*s = (struct seen){.fds = {-1, -1}};
	REQUIRE(mp_loop_new(&s->loop) == 0);
	REQUIRE(pipe2(to, O_CLOEXEC) == 0);
	REQUIRE(pipe2(from, O_CLOEXEC) == 0);
	s->fds[0] = to[0];
	s->fds[1] = from[1];
	s->t = mp_pipe_new(s->loop, from[0], to[1]);
	s->t->hooks = &hooks;
	s->t->u = s;
	REQUIRE(s->t->impl->start(s->t, NULL) == 0);
	return true;
}

static void turn(struct seen *s)
{
	for (int i = 0; i < 5; i++)
		mp_loop_turn(s->loop, false);
}

static bool say(struct seen *s, const char *text)
{
	return write(s->fds[1], text, strlen(text)) == (ssize_t)strlen(text);
}

TEST(messages_flow_both_ways)
{
	MP_CLEANUP(seen_done) struct seen s;
	char got[64];
	uint64_t at;

	CHECK(seen_init(&s));
	CHECK_TEXT(s.log, ""); /* nothing is told from within start */
	CHECK(say(&s, "{\"a\":1}\nbanner\n"));
	CHECK_EQ(outgoing_send(s.t, MP_STR("[1]"), &at), 0);
	CHECK_EQ(at, 0);
	CHECK_EQ(outgoing_send(s.t, MP_STR("[2]"), &at), 0);
	CHECK_EQ(at, 4);
	turn(&s);
	CHECK_TEXT(s.log, "opened m:{\"a\":1} m:banner ");
	CHECK_EQ(s.written, 8);
	CHECK_EQ(read(s.fds[0], got, sizeof(got)), 8);
	CHECK(memcmp(got, "[1]\n[2]\n", 8) == 0);
}

TEST(the_other_side_hangs_up)
{
	MP_CLEANUP(seen_done) struct seen s;

	CHECK(seen_init(&s));
	CHECK(say(&s, "one\nunfinished"));
	close(s.fds[1]);
	s.fds[1] = -1;
	turn(&s);
	CHECK_TEXT(s.log, "opened m:one m:unfinished ended ");
	CHECK_EQ(s.why.code, MCPOOL_ECLOSED);
	CHECK_EQ(outgoing_send(s.t, MP_STR("[]"), NULL), MCPOOL_ECLOSED);
	s.t->impl->close(s.t);
	s.t->impl->close(s.t);
	turn(&s);
	CHECK_TEXT(s.log, "opened m:one m:unfinished ended closed ");
}

/* A peer that no longer reads may still have said why. */
TEST(the_other_side_stops_reading)
{
	MP_CLEANUP(seen_done) struct seen s;

	CHECK(seen_init(&s));
	turn(&s);
	close(s.fds[0]);
	s.fds[0] = -1;
	CHECK(say(&s, "last words\n"));
	CHECK_EQ(outgoing_send(s.t, MP_STR("[]"), NULL), 0);
	turn(&s);
	CHECK_TEXT(s.log, "opened m:last words ended ");
	CHECK_EQ(s.why.code, MCPOOL_ESYSTEM);
}

TEST(close_from_a_message_stops_all_others)
{
	MP_CLEANUP(seen_done) struct seen s;

	CHECK(seen_init(&s));
	s.close_on_message = true;
	turn(&s);
	CHECK(say(&s, "one\ntwo\n"));
	turn(&s);
	CHECK_TEXT(s.log, "opened m:one closed ");
}

/* Backpressure: nothing is lost, and what does not fit is refused. */
TEST(a_peer_that_does_not_read_fills_the_queue)
{
	MP_CLEANUP(seen_done) struct seen s;
	enum { SIZE = 1 << 20 };
	char *text = mp_alloc(SIZE);
	uint64_t at = 0, total = 0;
	int r = 0, sent = 0;

	memset(text, 'x', SIZE);
	if (!seen_init(&s)) {
		mp_free(text);
		return;
	}
	for (sent = 0; r == 0 && sent < 100; sent++) {
		r = outgoing_send(s.t, (struct mp_str){text, SIZE - 1}, &at);
		turn(&s);
	}
	mp_free(text);
	CHECK(r == MCPOOL_ELIMIT || r == MCPOOL_ENOMEM);
	CHECK(r != MCPOOL_ELIMIT || sent > 30);
	CHECK(s.written < SIZE); /* only what the pipe holds */
	CHECK_EQ(fcntl(s.fds[0], F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 100000 && total < at; i++) {
		static char sink[1 << 16];
		ssize_t n = read(s.fds[0], sink, sizeof(sink));

		total += n > 0 ? (uint64_t)n : 0;
		mp_loop_turn(s.loop, false);
	}
	CHECK(total >= at);
}

TEST(ending_the_writing_waits_for_what_is_queued)
{
	MP_CLEANUP(seen_done) struct seen s;
	char got[8];

	CHECK(seen_init(&s));
	CHECK_EQ(outgoing_send(s.t, MP_STR("bye"), NULL), 0);
	mp_pipe_end_writing(s.t);
	CHECK_EQ(outgoing_send(s.t, MP_STR("no"), NULL), MCPOOL_ECLOSED);
	turn(&s);
	CHECK_EQ(read(s.fds[0], got, sizeof(got)), 4);
	CHECK_EQ(read(s.fds[0], got, sizeof(got)), 0); /* its end */
	CHECK(say(&s, "still here\n"));
	turn(&s);
	CHECK_TEXT(s.log, "opened m:still here ");
}

TEST(what_is_queued_when_we_close_still_goes_out)
{
	MP_CLEANUP(seen_done) struct seen s;
	char got[8];

	CHECK(seen_init(&s));
	CHECK_EQ(outgoing_send(s.t, MP_STR("bye"), NULL), 0);
	s.t->impl->close(s.t);
	CHECK_EQ(read(s.fds[0], got, sizeof(got)), 4);
	turn(&s);
	CHECK_TEXT(s.log, "closed ");
}

TEST(a_socket_is_both_ends)
{
	MP_CLEANUP(seen_done) struct seen s = {.fds = {-1, -1}};
	int pair[2];
	char got[16];

	CHECK_EQ(mp_loop_new(&s.loop), 0);
	CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	s.fds[1] = pair[1];
	s.t = mp_pipe_new(s.loop, pair[0], pair[0]);
	s.t->hooks = &hooks;
	s.t->u = &s;
	CHECK_EQ(s.t->impl->start(s.t, NULL), 0);
	CHECK(say(&s, "hello\n"));
	CHECK_EQ(outgoing_send(s.t, MP_STR("[]"), NULL), 0);
	turn(&s);
	CHECK_TEXT(s.log, "opened m:hello ");
	CHECK_EQ(read(s.fds[1], got, sizeof(got)), 3);
}

/* libuv cannot watch files; they are always ready. */
TEST(a_file_is_read_to_its_end)
{
	MP_CLEANUP(seen_done) struct seen s = {.fds = {-1, -1}};
	FILE *file = tmpfile();
	int in, out;

	CHECK(file);
	fputs("one\ntwo\n", file);
	rewind(file);
	in = dup(fileno(file));
	fclose(file);
	out = open("/dev/null", O_WRONLY | O_CLOEXEC);
	CHECK(in >= 0 && out >= 0);
	if (mp_loop_new(&s.loop) < 0) {
		close(in);
		close(out);
		return;
	}
	s.t = mp_pipe_new(s.loop, in, out);
	s.t->hooks = &hooks;
	s.t->u = &s;
	CHECK_EQ(s.t->impl->start(s.t, NULL), 0);
	turn(&s);
	CHECK_TEXT(s.log, "opened m:one m:two ended ");
}

/* A write to it is short, and no poll tells that another is worth it: the next one fails. */
TEST(a_file_that_is_full_ends_the_pipe)
{
	MP_CLEANUP(seen_done) struct seen s = {.fds = {-1, -1}};
	struct rlimit before, limit;
	FILE *file = tmpfile();
	int from[2], out;

	CHECK(file);
	out = dup(fileno(file));
	fclose(file);
	CHECK(out >= 0 && pipe2(from, O_CLOEXEC) == 0);
	s.fds[1] = from[1];
	if (mp_loop_new(&s.loop) < 0) {
		close(from[0]);
		close(out);
		return;
	}
	s.t = mp_pipe_new(s.loop, from[0], out);
	s.t->hooks = &hooks;
	s.t->u = &s;
	CHECK_EQ(s.t->impl->start(s.t, NULL), 0);
	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = (struct rlimit){10, before.rlim_max};
	(void)signal(SIGXFSZ, SIG_IGN);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
	if (outgoing_send(s.t, MP_STR("a message of 24 letters."), NULL) == 0)
		turn(&s);
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
	CHECK_TEXT(s.log, "opened ended ");
	CHECK_EQ(s.written, 10);
}

/* A descriptor that others share gets its flags back. */
TEST(descriptors_are_left_as_they_were)
{
	int to[2], from[2], kept;
	struct mp_loop *loop;
	struct mp_transport *t;
	struct seen s = {.fds = {-1, -1}};

	CHECK_EQ(pipe2(to, O_CLOEXEC), 0);
	CHECK_EQ(pipe2(from, O_CLOEXEC), 0);
	kept = dup(from[0]);
	if (mp_loop_new(&loop) < 0)
		loop = NULL;
	else {
		t = mp_pipe_new(loop, from[0], to[1]);
		t->hooks = &hooks;
		t->u = &s;
		test_true(fcntl(kept, F_GETFL) & O_NONBLOCK, "non-blocking meanwhile", __FILE__,
			  __LINE__);
		mp_transport_free(t);
		mp_loop_free(loop);
		test_true(!(fcntl(kept, F_GETFL) & O_NONBLOCK), "as before", __FILE__, __LINE__);
	}
	close(kept);
	close(to[0]);
	close(from[1]);
}

TEST(a_message_over_the_limit_is_told_as_such)
{
	MP_CLEANUP(seen_done) struct seen s;
	enum { PIECE = 32768 };
	char *piece = mp_alloc(PIECE);
	bool ok = seen_init(&s);

	memset(piece, 'x', PIECE);
	for (size_t total = 0; ok && total <= MP_LIMIT_MESSAGE; total += PIECE) {
		ok = write(s.fds[1], piece, PIECE) == PIECE;
		mp_loop_turn(s.loop, false);
	}
	mp_free(piece);
	CHECK(ok);
	CHECK(say(&s, "\nnext\n"));
	turn(&s);
	CHECK_EQ(s.oversize, 1);
	CHECK(strstr(s.log, "m:next"));
}

/* A peer that is gone is met while closing: its last message is dropped. */
TEST(after_close_only_closed_comes)
{
	MP_CLEANUP(seen_done) struct seen s;

	CHECK(seen_init(&s));
	turn(&s);
	s.close_on_message = true;
	CHECK(say(&s, "late\n"));
	close(s.fds[0]);
	s.fds[0] = -1;
	CHECK_EQ(outgoing_send(s.t, MP_STR("unheard"), NULL), 0);
	s.t->impl->close(s.t);
	CHECK_TEXT(s.log, "opened ");
	turn(&s);
	CHECK_TEXT(s.log, "opened closed ");
}

/* Outside of a turn a burst goes out before the loop knows; its answers must not come too early. */
TEST(written_is_told_before_an_answer)
{
	MP_CLEANUP(seen_done) struct seen s;
	char text[5000];

	CHECK(seen_init(&s));
	turn(&s);
	memset(text, 'x', sizeof(text));
	s.log[0] = '\0';
	s.tell_written = true;
	CHECK_EQ(outgoing_send(s.t, (struct mp_str){text, sizeof(text)}, NULL), 0);
	CHECK_TEXT(s.log, ""); /* but not from within send */
	CHECK(say(&s, "answer\n"));
	turn(&s);
	CHECK_TEXT(s.log, "written m:answer ");
	CHECK_EQ(s.written, sizeof(text) + 1);
}
