/* test_sse.c - event streams: every rule in every cut, limits, and writing them. */
#include "test.h"

#include <stdio.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/sse.h"

/* What came out: "type|id|data;" for each event; "!" before one that has an id of its own. */
struct seen {
	struct mp_sse s;
	char log[600];
	size_t len;
};

static void seen_done(struct seen *seen)
{
	mp_sse_done(&seen->s);
}

static void tell(struct seen *seen, const struct mp_sse_event *e)
{
	int n = snprintf(seen->log + seen->len, sizeof(seen->log) - seen->len,
			 "%s%.*s|%.*s|%.*s%s%.*s;", e->has_id ? "!" : "", MP_STR_ARGS(e->type),
			 MP_STR_ARGS(e->id), MP_STR_ARGS(e->data), e->oversize ? "..." : "",
			 MP_STR_ARGS(e->tail));

	seen->len += (size_t)n;
}

static bool feed(struct seen *seen, struct mp_str bytes)
{
	struct mp_sse_event e;
	int r;

	mp_sse_feed(&seen->s, bytes);
	while ((r = mp_sse_next(&seen->s, &e)) > 0)
		tell(seen, &e);
	REQUIRE(r == 0);
	return true;
}

struct sample {
	struct mp_str text;
	const char *events;
	const char *last_id;
	int64_t retry_ms;
};

#define S(text, events, id, retry)                          \
	{                                                   \
		{text, sizeof(text) - 1}, events, id, retry \
	}

static const struct sample samples[] = {
	S("data: a\n\n", "message||a;", "", -1),
	S("data:a\r\rdata: b\r\n\r\ndata:c\n\n", "message||a;message||b;message||c;", "", -1),
	S("data: one\ndata: two\rdata:three\r\n\n", "message||one\ntwo\nthree;", "", -1),
	S("\xef\xbb\xbf"
	  "data: a\n\n",
	  "message||a;", "", -1),
	S("\xef\xbb"
	  "data: a\n\ndata: b\n\n",
	  "message||b;", "", -1),
	S("data: a\n\n\xef\xbb\xbf"
	  "data: b\n\ndata: c\n\n",
	  "message||a;message||c;", "", -1),
	S(": hello\n:\n\n: x: y\ndata: a\n:more\n\n", "message||a;", "", -1),
	S("data\n\ndata\ndata\n\ndata:\n\n", "message||;message||\n;message||;", "", -1),
	S("data:\ndata: a\n\ndata: a\ndata:\n\n", "message||\na;message||a\n;", "", -1),
	S("data:  two blanks\n\ndata:\ttab\n\n", "message|| two blanks;message||\ttab;", "", -1),
	S("event: ping\ndata: a\n\ndata: b\n\n", "ping||a;message||b;", "", -1),
	S("event: one\nevent: two\ndata: a\n\nevent: lost\n\ndata: b\n\n", "two||a;message||b;", "",
	  -1),
	S("event\ndata: a\n\n", "message||a;", "", -1),
	S("id: 7\ndata: a\n\ndata: b\n\n", "!message|7|a;message|7|b;", "7", -1),
	S("id: 7\n\ndata: b\n\n", "message|7|b;", "7", -1),
	S("id: 7\ndata: a\n\nid\ndata: b\n\n", "!message|7|a;!message||b;", "", -1),
	S("id: 7\ndata: a\n\nid: 8\ndata: lost", "!message|7|a;", "7", -1),
	S("id: a\0b\ndata: a\n\n", "message||a;", "", -1),
	S("retry: 2500\n\n", "", "", 2500),
	S("retry: 10\nretry: 2s\nretry: -5\nretry:\nretry: +3\nretry: 1.5\n\n", "", "", 10),
	S("retry: 99999999999999999999999\n\n", "", "", -1),
	S("data : a\nDATA: a\ndatax: b\ndat: c\n data: d\n\n", "", "", -1),
	S("data: unfinished\n", "", "", -1),
	S("\n\n\r\r\n\ndata: a\n\n", "message||a;", "", -1),
	S("data: {\"a\":\"b: c\"}\n\n", "message||{\"a\":\"b: c\"};", "", -1),
};

static bool matches(const struct seen *seen, const struct sample *sample)
{
	REQUIRE(test_same_text((struct mp_str){seen->log, seen->len}, mp_str_of(sample->events),
			       "events", sample->text.p, 0));
	REQUIRE(mp_str_eq(mp_sse_get_last_id(&seen->s), mp_str_of(sample->last_id)));
	REQUIRE(mp_sse_get_retry_ms(&seen->s) == sample->retry_ms);
	return true;
}

static bool play(const struct sample *sample, size_t cut, size_t second)
{
	MP_CLEANUP(seen_done) struct seen seen = {.len = 0};
	const char *p = sample->text.p;

	mp_sse_init(&seen.s, 100);
	REQUIRE(feed(&seen, (struct mp_str){p, cut}));
	REQUIRE(feed(&seen, (struct mp_str){p + cut, second - cut}));
	REQUIRE(feed(&seen, (struct mp_str){p + second, sample->text.len - second}));
	return matches(&seen, sample);
}

HEAVY_TEST(every_sample_in_every_cut)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(samples); i++)
		for (size_t a = 0; a <= samples[i].text.len; a++)
			for (size_t b = a; b <= samples[i].text.len; b++)
				CHECK(play(&samples[i], a, b));
}

static bool play_in_steps(const struct sample *sample, size_t step)
{
	MP_CLEANUP(seen_done) struct seen seen = {.len = 0};

	mp_sse_init(&seen.s, 100);
	for (size_t at = 0; at < sample->text.len; at += step) {
		size_t left = sample->text.len - at;

		REQUIRE(feed(&seen,
			     (struct mp_str){sample->text.p + at, left < step ? left : step}));
	}
	return matches(&seen, sample);
}

TEST(every_sample_whole_and_byte_by_byte)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(samples); i++) {
		CHECK(play_in_steps(&samples[i], samples[i].text.len));
		CHECK(play_in_steps(&samples[i], 1));
	}
}

TEST(an_event_in_one_piece_is_not_copied)
{
	MP_CLEANUP(mp_sse_done) struct mp_sse s;
	struct mp_str text = MP_STR("data: {\"a\":1}\n\ndata: second\n\n");
	struct mp_sse_event e;

	mp_sse_init(&s, 100);
	mp_sse_feed(&s, text);
	CHECK_EQ(mp_sse_next(&s, &e), 1);
	CHECK(e.data.p == text.p + 6);
	CHECK_EQ(mp_sse_next(&s, &e), 1);
	CHECK_STR(e.data, "second");
	CHECK_EQ(mp_sse_next(&s, &e), 0);
	CHECK(!s.data.data);
}

/* V49: told once, with both ends, in every cut; the next one is read. */
TEST(an_event_over_the_limit_is_told_by_its_ends)
{
	static const struct sample over[] = {
		S("data: 12345678901\n\ndata: next\n\n",
		  "message||12345678901...12345678901;"
		  "message||next;",
		  "", -1),
		S("data: 12345\ndata: 67890\ndata: x\n\ndata: next\n\n",
		  "message||12345\n67890\nx...12345\n67890\nx;message||next;", "", -1),
		S("id: 3\ndata: 1234567890\ndata\n\ndata: 1234567890\n\n",
		  "!message|3|1234567890\n...1234567890\n;message|3|1234567890;", "3", -1),
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(over); i++) {
		for (size_t step = 1; step <= over[i].text.len; step++) {
			MP_CLEANUP(seen_done) struct seen seen = {.len = 0};

			mp_sse_init(&seen.s, 10);
			for (size_t at = 0; at < over[i].text.len; at += step) {
				size_t left = over[i].text.len - at;

				CHECK(feed(&seen, (struct mp_str){over[i].text.p + at,
								  left < step ? left : step}));
			}
			CHECK(matches(&seen, &over[i]));
		}
	}
}

static bool feed_many(struct mp_sse *s, const char *piece, size_t len, int times)
{
	struct mp_sse_event e;

	for (int i = 0; i < times; i++) {
		mp_sse_feed(s, (struct mp_str){piece, len});
		REQUIRE(mp_sse_next(s, &e) == 0);
		REQUIRE(s->data.cap <= s->max + MP_SSE_HEAD && s->line.cap <= 2 * MP_SSE_ID);
	}
	return true;
}

static void freep(char **p)
{
	mp_free(*p);
}

/* A gigabyte in one event, one comment, one id: memory stays where it is. */
HEAVY_TEST(a_huge_event_costs_no_memory)
{
	enum { PIECE = 1 << 20 };
	static const char *const begins[] = {"data: first", ": comment", "id: endless", "other: x"};
	MP_CLEANUP(freep) char *piece = mp_alloc(PIECE);

	memset(piece, 'x', PIECE);
	for (size_t i = 0; i < MP_ARRAY_LEN(begins); i++) {
		MP_CLEANUP(mp_sse_done) struct mp_sse s;
		struct mp_sse_event e;

		mp_sse_init(&s, 1 << 20);
		CHECK(feed_many(&s, begins[i], strlen(begins[i]), 1));
		CHECK(feed_many(&s, piece, PIECE, 1024));
		CHECK(s.data.cap <= MP_SSE_HEAD);
		mp_sse_feed(&s, MP_STR("last\ndata: z\n\n"));
		CHECK_EQ(mp_sse_next(&s, &e), 1);
		CHECK_EQ(e.oversize, i == 0);
		CHECK_EQ(e.has_id, false);
		if (i == 0) {
			CHECK(mp_str_starts(e.data, MP_STR("firstxxx")));
			CHECK_EQ(e.data.len, MP_SSE_HEAD);
			CHECK_EQ(e.tail.len, MP_SSE_TAIL);
			CHECK(memcmp(e.tail.p + MP_SSE_TAIL - 7, "xlast\nz", 7) == 0);
		} else {
			CHECK_STR(e.data, "z");
		}
		CHECK_EQ(mp_sse_next(&s, &e), 0);
	}
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool time_one_event(size_t len, double *ret_seconds)
{
	MP_CLEANUP(mp_sse_done) struct mp_sse s;
	struct mp_sse_event e;
	double start = cpu_seconds();

	mp_sse_init(&s, MP_LIMIT_MESSAGE);
	REQUIRE(feed_many(&s, "data: ", 6, 1));
	for (size_t i = 0; i < len; i++) {
		mp_sse_feed(&s, MP_STR("x"));
		if (mp_sse_next(&s, &e) != 0)
			return false;
	}
	mp_sse_feed(&s, MP_STR("\n\n"));
	REQUIRE(mp_sse_next(&s, &e) == 1);
	REQUIRE(e.oversize == (len > MP_LIMIT_MESSAGE) && (e.oversize || e.data.len == len));
	*ret_seconds = cpu_seconds() - start;
	return true;
}

/* 32 MiB byte by byte cost 16 times what 2 MiB do, give or take. */
HEAVY_TEST(bytes_one_by_one_cost_the_same_each)
{
	double small = 0, large = 0, over = 0;

	CHECK(time_one_event((size_t)2 << 20, &small));
	CHECK(time_one_event(MP_LIMIT_MESSAGE, &large));
	CHECK(time_one_event((size_t)34 << 20, &over));
	CHECK(large < 16 * 4 * small + 0.1);
	CHECK(over < 17 * 4 * small + 0.1);
}

/* One piece full of short lines of the kind that has no LF at all. */
HEAVY_TEST(many_lines_in_one_piece_cost_the_same_each)
{
	enum { N = 1 << 20 };
	MP_CLEANUP(freep) char *piece = mp_alloc(N);
	double start = cpu_seconds();

	for (int kind = 0; kind < 2; kind++) {
		MP_CLEANUP(mp_sse_done) struct mp_sse s;
		struct mp_sse_event e;
		int events = 0;

		for (size_t i = 0; i < N; i++)
			piece[i] = "data\r\r\r\r"[i % 8];
		for (size_t i = 0; i < N && kind; i++)
			piece[i] = piece[i] == '\r' ? '\n' : piece[i];
		mp_sse_init(&s, 100);
		mp_sse_feed(&s, (struct mp_str){piece, N});
		while (mp_sse_next(&s, &e) > 0)
			events++;
		CHECK_EQ(events, N / 8);
	}
	CHECK(cpu_seconds() - start < 2);
}

TEST(the_buffer_of_a_large_event_is_given_back)
{
	enum { LARGE = 1 << 20 };
	MP_CLEANUP(freep) char *text = mp_alloc(LARGE);
	MP_CLEANUP(mp_sse_done) struct mp_sse s;
	struct mp_sse_event e;

	mp_sse_init(&s, MP_LIMIT_MESSAGE);
	memset(text, 'x', LARGE);
	mp_sse_feed(&s, MP_STR("data:"));
	CHECK_EQ(mp_sse_next(&s, &e), 0);
	mp_sse_feed(&s, (struct mp_str){text, LARGE});
	CHECK_EQ(mp_sse_next(&s, &e), 0);
	mp_sse_feed(&s, MP_STR("\n\n"));
	CHECK_EQ(mp_sse_next(&s, &e), 1);
	CHECK_EQ(e.data.len, LARGE);
	CHECK_EQ(mp_sse_next(&s, &e), 0);
	CHECK(!s.data.data);
}

static bool give_id(struct mp_sse *s, size_t len)
{
	MP_CLEANUP(freep) char *text = mp_alloc(len + 5);
	struct mp_sse_event e;

	memcpy(text, "id:", 3);
	memset(text + 3, 'i', len);
	memcpy(text + 3 + len, "\n\n", 2);
	mp_sse_feed(s, (struct mp_str){text, len + 5});
	REQUIRE(mp_sse_next(s, &e) == 0);
	return true;
}

TEST(an_id_over_its_limit_is_ignored)
{
	MP_CLEANUP(mp_sse_done) struct mp_sse s;

	mp_sse_init(&s, 100);
	CHECK(give_id(&s, MP_SSE_ID));
	CHECK_EQ(mp_sse_get_last_id(&s).len, MP_SSE_ID);
	CHECK(give_id(&s, 3));
	CHECK(give_id(&s, MP_SSE_ID + 1));
	CHECK_STR(mp_sse_get_last_id(&s), "iii");
}

TEST(what_is_written_reads_the_same)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	MP_CLEANUP(seen_done) struct seen seen = {.len = 0};
	struct mp_str none = {NULL, 0};

	mp_buf_init(&out, 1000);
	mp_sse_init(&seen.s, 100);
	CHECK_EQ(mp_sse_write_retry(&out, 300), 0);
	CHECK_EQ(mp_sse_write(&out, MP_STR(""), MP_STR("1"), MP_STR("")), 0);
	CHECK_EQ(mp_sse_write_comment(&out), 0);
	CHECK_EQ(mp_sse_write(&out, MP_STR("endpoint"), none, MP_STR("/x?y")), 0);
	CHECK_EQ(mp_sse_write(&out, none, MP_STR(""), MP_STR("a\nb\r\nc\rd\n")), 0);
	CHECK_STR(mp_buf_get(&out), "retry: 300\n\nid: 1\ndata: \n\n:\n\nevent: endpoint\n"
				    "data: /x?y\n\nid: \ndata: a\ndata: b\ndata: c\ndata: d\n"
				    "data: \n\n");
	CHECK(feed(&seen, mp_buf_get(&out)));
	CHECK_TEXT(seen.log, "!message|1|;endpoint|1|/x?y;!message||a\nb\nc\nd\n;");
	CHECK_EQ(mp_sse_get_retry_ms(&seen.s), 300);
}

TEST(what_cannot_be_written_leaves_nothing_behind)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_str none = {NULL, 0};

	mp_buf_init(&out, 20);
	CHECK_EQ(mp_sse_write(&out, MP_STR("a\nb"), none, MP_STR("x")), MCPOOL_EINVAL);
	CHECK_EQ(mp_sse_write(&out, none, MP_STR("a\rb"), MP_STR("x")), MCPOOL_EINVAL);
	CHECK_EQ(mp_sse_write(&out, none, MP_STR("a\0b"), MP_STR("x")), MCPOOL_EINVAL);
	CHECK_EQ(mp_sse_write(&out, none, none, MP_STR("x\ny\nz\nlong")), MCPOOL_ELIMIT);
	CHECK_EQ(out.len, 0);
}
