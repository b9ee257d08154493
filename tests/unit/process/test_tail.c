/*
 * test_tail.c - the last lines of stderr: whole ones, cut ones, many, and a flood.
 */
#include "test.h"
#include "folder.h"

#include <fcntl.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/secrets.h"
#include "process/tail.h"

struct pen {
	struct mp_loop *loop;
	struct mp_tail *tail;
	int fd; /* what the server writes to; -1: closed */
};

static void put_down(struct pen *p)
{
	mp_tail_free(p->tail);
	if (p->fd >= 0)
		close(p->fd);
	mp_loop_free(p->loop);
}

static bool take_up(struct pen *p, const char *log_file)
{
	int ends[2];

	*p = (struct pen){NULL, NULL, -1};
	if (mp_loop_new_by_hand(1000000, &p->loop) < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return false;
	p->fd = ends[1];
	p->tail = mp_tail_new(p->loop, ends[0], log_file);
	return true;
}

static void scribble(struct pen *p, const char *text, size_t n)
{
	while (n > 0) {
		size_t some = n < 4096 ? n : 4096;

		(void)!write(p->fd, text, some);
		mp_loop_advance(p->loop, 0);
		text += some;
		n -= some;
	}
}

static void write_text(struct pen *p, const char *text)
{
	scribble(p, text, strlen(text));
}

#define CHECK_TAIL(pen, lines, want)                                        \
	do {                                                                \
		MP_CLEANUP(mp_buf_done) struct mp_buf tail_text;            \
		mp_buf_init(&tail_text, MP_MIB(4));                         \
		CHECK_EQ(mp_tail_get((pen)->tail, (lines), &tail_text), 0); \
		CHECK_STR(mp_buf_get(&tail_text), want);                    \
	} while (0)

TEST(the_last_lines_oldest_first)
{
	MP_CLEANUP(put_down) struct pen p;

	CHECK(take_up(&p, NULL));
	CHECK_TAIL(&p, 10, "");
	write_text(&p, "one\ntwo\r\n\nthree\n");
	CHECK_TAIL(&p, 10, "one\ntwo\n\nthree\n");
	CHECK_TAIL(&p, 3, "two\n\nthree\n");
	CHECK_TAIL(&p, 1, "three\n");
	CHECK_TAIL(&p, 0, "");
	CHECK_EQ(mp_tail_count_bytes(p.tail), 16);
}

TEST(a_line_without_its_newline_is_shown_too)
{
	MP_CLEANUP(put_down) struct pen p;

	CHECK(take_up(&p, NULL));
	write_text(&p, "one\ntw");
	CHECK_TAIL(&p, 10, "one\ntw\n");
	CHECK_TAIL(&p, 1, "tw\n");
	write_text(&p, "o");
	CHECK_TAIL(&p, 1, "two\n");
	close(p.fd);
	p.fd = -1;
	mp_loop_advance(p.loop, 0);
	CHECK_TAIL(&p, 10, "one\ntwo\n");
	mp_tail_drain(p.tail); /* after its end: nothing */
}

static void forget_secrets(const bool *added)
{
	if (*added)
		mp_secret_remove_all();
}

TEST(secrets_are_dots_also_when_announced_later)
{
	MP_CLEANUP(put_down) struct pen p;
	MP_CLEANUP(forget_secrets) bool added = false;

	CHECK(take_up(&p, NULL));
	write_text(&p, "the word is sesame-open\napi_key=12345678\n\033[31mred\n");
	added = mp_secret_add(MP_STR("sesame-open")) == 0;
	CHECK(added);
	CHECK_TAIL(&p, 1, "\\x1b[31mred\n");
	CHECK_TAIL(&p, 3,
		   "the word is \xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\n"
		   "api_key=\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\n\\x1b[31mred\n");
}

/* The rest of it may come, or may have been cut: what is there is a part of the secret. */
HEAVY_TEST(a_secret_that_has_not_ended_is_hidden_too)
{
	MP_CLEANUP(put_down) struct pen p;
	MP_CLEANUP(forget_secrets) bool added = false;
	MP_CLEANUP(mp_buf_done) struct mp_buf shown;
	static char line[MP_LIMIT_STDERR_LINE];

	mp_buf_init(&shown, MP_MIB(1));
	CHECK(take_up(&p, NULL));
	added = mp_secret_add(MP_STR("sesame-open-the-door")) == 0;
	CHECK(added);
	write_text(&p, "the word is sesame-open-the");
	CHECK_TAIL(&p, 1, "the word is \xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\n");
	write_text(&p, "\n");
	memset(line, 'a', sizeof(line));
	scribble(&p, line, sizeof(line) - 12);
	write_text(&p, " sesame-open-the-door and more"); /* and no newline yet */
	CHECK_EQ(mp_tail_get(p.tail, 1, &shown), 0);
	CHECK(!memmem(shown.data, shown.len, "sesame", 6));
	CHECK(memcmp(shown.data + shown.len - 4, "\xe2\x80\xa6\n", 4) == 0);
}

HEAVY_TEST(a_long_line_is_cut_and_says_so)
{
	MP_CLEANUP(put_down) struct pen p;
	MP_CLEANUP(mp_buf_done) struct mp_buf shown;
	static char line[MP_LIMIT_STDERR_LINE + 100];

	mp_buf_init(&shown, MP_MIB(1));
	CHECK(take_up(&p, NULL));
	memset(line, 'a', sizeof(line));
	scribble(&p, line, MP_LIMIT_STDERR_LINE); /* just fits */
	write_text(&p, "\n");
	CHECK_EQ(mp_tail_get(p.tail, 1, &shown), 0);
	CHECK_EQ(shown.len, MP_LIMIT_STDERR_LINE + 1);
	mp_buf_clear(&shown);
	scribble(&p, line, sizeof(line));
	write_text(&p, "tail\nnext\n");
	CHECK_TAIL(&p, 1, "next\n");
	CHECK_EQ(mp_tail_get(p.tail, 2, &shown), 0);
	CHECK_EQ(shown.len, MP_LIMIT_STDERR_LINE + strlen("\xe2\x80\xa6\nnext\n"));
	CHECK(memcmp(shown.data + MP_LIMIT_STDERR_LINE, "\xe2\x80\xa6\nnext\n", 9) == 0);
}

HEAVY_TEST(the_ring_keeps_whole_lines_only)
{
	MP_CLEANUP(put_down) struct pen p;
	MP_CLEANUP(mp_buf_done) struct mp_buf shown;
	char line[64];

	mp_buf_init(&shown, MP_MIB(1));
	CHECK(take_up(&p, NULL));
	for (int i = 0; i < 20000; i++) {
		int n = snprintf(line, sizeof(line), "line number %07d\n", i);

		scribble(&p, line, (size_t)n);
	}
	CHECK_EQ(mp_tail_get(p.tail, 1000000, &shown), 0);
	CHECK(shown.len <= MP_LIMIT_STDERR_RING && shown.len > MP_LIMIT_STDERR_RING - 40);
	CHECK_EQ(shown.len % 20, 0);
	CHECK(memcmp(shown.data, "line number ", 12) == 0);
	CHECK(memcmp(shown.data + shown.len - 20, "line number 0019999\n", 20) == 0);
}

/* R04: one read a turn, so others have their turns too, and no bytes are left in the pipe. */
HEAVY_TEST(a_flood_is_read_in_portions)
{
	MP_CLEANUP(put_down) struct pen p;
	static char bytes[1 << 20];
	ssize_t n;

	CHECK(take_up(&p, NULL));
	memset(bytes, 'x', sizeof(bytes));
	(void)fcntl(p.fd, F_SETPIPE_SZ, (int)sizeof(bytes));
	CHECK(fcntl(p.fd, F_SETFL, O_NONBLOCK) == 0);
	n = write(p.fd, bytes, sizeof(bytes));
	CHECK(n > 0);
	mp_loop_turn(p.loop, false);
	CHECK(mp_tail_count_bytes(p.tail) <= 16384);
	mp_tail_drain(p.tail); /* all of it, without a turn */
	CHECK_EQ(mp_tail_count_bytes(p.tail), n);
}

TEST(lines_go_to_the_file_as_well)
{
	char path[80], text[200] = "";
	MP_CLEANUP(put_down) struct pen p = {NULL, NULL, -1};
	int fd;

	CHECK(folder_make());
	snprintf(path, sizeof(path), "%s/files.log", test_folder);
	CHECK(take_up(&p, path));
	write_text(&p, "one\ntoken=abcdefgh\nlast words");
	p.tail = mp_tail_free(p.tail);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	(void)!read(fd, text, sizeof(text) - 1);
	close(fd);
	CHECK_TEXT(text, "1970-01-01T00:16:40.000Z one\n"
			 "1970-01-01T00:16:40.000Z token=\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2\n"
			 "1970-01-01T00:16:40.000Z last words\n");
}
