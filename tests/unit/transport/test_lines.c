/* test_lines.c - newline framing: every cut, every limit, what is kept of a line that is too long.
 */
#include "test.h"

#include "base/limits.h"
#include "base/mem.h"
#include "transport/lines.h"

static bool feed(struct mp_lines *l, struct mp_str bytes)
{
	while (bytes.len) {
		size_t n = bytes.len < MP_LINES_READ ? bytes.len : MP_LINES_READ;
		char *room;
		size_t size;

		REQUIRE(mp_lines_reserve(l, &room, &size) == 0);
		REQUIRE(size >= n);
		memcpy(room, bytes.p, n);
		mp_lines_commit(l, n);
		bytes = (struct mp_str){bytes.p + n, bytes.len - n};
	}
	return true;
}

TEST(lines_come_out_whole)
{
	MP_CLEANUP(mp_lines_done) struct mp_lines l;
	struct mp_line line;

	mp_lines_init(&l, 100);
	CHECK(feed(&l, MP_STR("one\ntwo\r\n\n\r\nthr")));
	CHECK(mp_lines_next(&l, false, &line));
	CHECK_STR(line.text, "one");
	CHECK(mp_lines_next(&l, false, &line));
	CHECK_STR(line.text, "two");
	CHECK(!mp_lines_next(&l, false, &line)); /* empty lines are none */
	CHECK(feed(&l, MP_STR("ee\n")));
	CHECK(mp_lines_next(&l, false, &line));
	CHECK_STR(line.text, "three");
	CHECK(!line.oversize);
	CHECK(!mp_lines_next(&l, true, &line));
}

TEST(what_is_there_at_the_end_is_a_line)
{
	MP_CLEANUP(mp_lines_done) struct mp_lines l;
	struct mp_line line;

	mp_lines_init(&l, 100);
	CHECK(feed(&l, MP_STR("a\nlast")));
	CHECK(mp_lines_next(&l, true, &line));
	CHECK_STR(line.text, "a");
	CHECK(mp_lines_next(&l, true, &line));
	CHECK_STR(line.text, "last");
	CHECK(!mp_lines_next(&l, true, &line));
}

/* However the bytes are cut, the same lines come out. */
TEST(every_cut_gives_the_same_lines)
{
	static const char text[] = "alpha\n{\"b\":1}\r\n\ngamma\n";

	for (size_t cut = 0; cut < sizeof(text); cut++) {
		MP_CLEANUP(mp_lines_done) struct mp_lines l;
		char seen[64] = "";
		struct mp_line line;

		mp_lines_init(&l, 100);
		for (int piece = 0; piece < 2; piece++) {
			struct mp_str bytes =
				piece ? (struct mp_str){text + cut, sizeof(text) - 1 - cut}
				      : (struct mp_str){text, cut};

			if (cut == sizeof(text) - 1 && piece)
				break;
			CHECK(feed(&l, bytes));
			while (mp_lines_next(&l, false, &line)) {
				strncat(seen, line.text.p, line.text.len);
				strcat(seen, "|");
			}
		}
		CHECK_TEXT(seen, "alpha|{\"b\":1}|gamma|");
	}
}

TEST(a_line_of_the_limit_passes_and_one_more_byte_does_not)
{
	for (size_t extra = 0; extra < 2; extra++) {
		MP_CLEANUP(mp_lines_done) struct mp_lines l;
		char text[52];
		struct mp_line line;

		memset(text, 'x', sizeof(text));
		text[50 + extra] = '\n';
		mp_lines_init(&l, 50);
		CHECK(feed(&l, (struct mp_str){text, 51 + extra}));
		CHECK(mp_lines_next(&l, false, &line));
		CHECK_EQ(line.oversize, extra);
		CHECK_EQ(line.text.len, 50 + extra);
	}
}

/* V49: it is skipped to its newline, the next one is read, and memory stays bounded. */
TEST(a_line_over_the_limit_is_skipped_with_head_and_tail)
{
	MP_CLEANUP(mp_lines_done) struct mp_lines l;
	enum { MAX = 100000, PIECE = 60000 };
	char *piece = mp_alloc(PIECE);
	struct mp_line line;
	bool ok = true;

	mp_lines_init(&l, MAX);
	ok = ok && feed(&l, MP_STR("{\"id\":7,"));
	for (int i = 0; i < 40 && ok; i++) {
		memset(piece, 'a' + i % 26, PIECE);
		ok = feed(&l, (struct mp_str){piece, PIECE}) && !mp_lines_next(&l, false, &line);
		ok = ok && l.in.cap <= MAX + 2 + MP_LINES_READ;
	}
	mp_free(piece);
	CHECK(ok);
	CHECK(feed(&l, MP_STR(",\"end\":8}\nnext\n")));
	CHECK(mp_lines_next(&l, false, &line));
	CHECK(line.oversize);
	CHECK_EQ(line.text.len, MP_LINES_HEAD);
	CHECK(mp_str_starts(line.text, MP_STR("{\"id\":7,aaaa")));
	CHECK_EQ(line.tail.len, MP_LINES_TAIL);
	CHECK_STR(((struct mp_str){line.tail.p + line.tail.len - 9, 9}), ",\"end\":8}");
	CHECK(mp_lines_next(&l, false, &line));
	CHECK(!line.oversize);
	CHECK_STR(line.text, "next");
}

TEST(a_line_over_the_limit_may_be_the_last)
{
	MP_CLEANUP(mp_lines_done) struct mp_lines l;
	struct mp_line line;

	mp_lines_init(&l, 4);
	CHECK(feed(&l, MP_STR("123456789")));
	CHECK(!mp_lines_next(&l, false, &line));
	CHECK(mp_lines_next(&l, true, &line));
	CHECK(line.oversize);
	CHECK_STR(line.text, "123456789");
	CHECK(!mp_lines_next(&l, true, &line));
}

TEST(the_buffer_of_a_large_line_is_given_back)
{
	MP_CLEANUP(mp_lines_done) struct mp_lines l;
	enum { LARGE = 1 << 20 };
	char *text = mp_alloc(LARGE);
	struct mp_line line;
	char *room;
	size_t size;
	bool ok;

	memset(text, 'x', LARGE);
	text[LARGE - 1] = '\n';
	mp_lines_init(&l, MP_LIMIT_MESSAGE);
	ok = feed(&l, (struct mp_str){text, LARGE}) && mp_lines_next(&l, false, &line);
	mp_free(text);
	CHECK(ok);
	CHECK_EQ(line.text.len, LARGE - 1);
	CHECK(!mp_lines_next(&l, false, &line));
	CHECK_EQ(mp_lines_reserve(&l, &room, &size), 0);
	CHECK(l.in.cap < LARGE);
}

/* S23: what leaves us has no line break inside. */
TEST(a_message_is_written_as_one_line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 100);
	CHECK_EQ(mp_lines_write(&out, MP_STR("{\n\t\"a\":\r\n1}")), 0);
	CHECK_EQ(mp_lines_write(&out, MP_STR("[]")), 0);
	CHECK_STR(mp_buf_get(&out), "{ \t\"a\":  1}\n[]\n");
	CHECK_EQ(mp_lines_write(&out, MP_STR("")), 0);
}

TEST(pieces_are_written_as_one_line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_str pieces[] = {MP_STR("{\"a\":\n"), MP_STR(""), MP_STR("1\r"), MP_STR("}")};

	mp_buf_init(&out, 10);
	CHECK_EQ(mp_lines_write_pieces(&out, pieces, MP_ARRAY_LEN(pieces)), 0);
	CHECK_EQ(mp_lines_write_pieces(&out, pieces, 1), MCPOOL_ELIMIT);
	CHECK_STR(mp_buf_get(&out), "{\"a\": 1 }\n");
}

TEST(a_message_that_does_not_fit_leaves_nothing_behind)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4);
	CHECK_EQ(mp_lines_write(&out, MP_STR("abc")), 0);
	CHECK_EQ(mp_lines_write(&out, MP_STR("")), MCPOOL_ELIMIT);
	CHECK_STR(mp_buf_get(&out), "abc\n");
}
