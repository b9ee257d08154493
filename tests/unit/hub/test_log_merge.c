/* test_log_merge.c - many servers, one cause, one line. */
#include "hub/log_merge.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static char lines[8192];

static void keep_line(const struct mp_log_line *line, void *u)
{
	size_t n = strlen(lines);

	(void)u;
	snprintf(lines + n, sizeof(lines) - n, "%s %s: %s\n", mp_level_get_name(line->level),
		 line->object, line->text);
}

struct desk {
	struct mp_loop *loop;
	struct mp_log_merge *merge;
};

static void desk_done(struct desk *d)
{
	mp_log_merge_free(d->merge);
	mp_loop_free(d->loop);
	mp_log_set_sink(NULL, NULL);
}

static bool desk_init(struct desk *d)
{
	lines[0] = '\0';
	mp_log_set_sink(keep_line, NULL);
	REQUIRE(mp_loop_new_by_hand(0, &d->loop) == 0);
	d->merge = mp_log_merge_new(d->loop);
	return true;
}

#define DESK                                       \
	MP_CLEANUP(desk_done) struct desk d = {0}; \
	CHECK(desk_init(&d))

static void say(struct desk *d, int from, int to, const char *text)
{
	for (int i = from; i < to; i++) {
		char who[20];

		snprintf(who, sizeof(who), "s%d#%d", i, i);
		mp_log_merge_say(d->merge, who, MP_LEVEL_ERR, "failed", text);
	}
}

/* P32 */
TEST(one_fault_of_many_is_one_line)
{
	DESK;

	for (int i = 0; i < 12; i++) {
		char who[20], text[100];

		snprintf(who, sizeof(who), "s%d#%d", i, i);
		snprintf(text, sizeof(text), "no address is known for https://h%d.example", i);
		mp_log_merge_say(d.merge, who, MP_LEVEL_ERR, "failed", text);
	}
	CHECK_TEXT(lines, "");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK_TEXT(lines, "ERR hub: 12 servers failed: no address is known for several addresses: "
			  "s0#0, s1#1, s2#2, s3#3, s4#4, s5#5, s6#6, s7#7 and 4 more\n");
}

TEST(the_same_address_is_named)
{
	DESK;

	for (int i = 0; i < 3; i++)
		mp_log_merge_say(d.merge, "x#1", MP_LEVEL_ERR, "failed",
				 "could not connect to http://127.0.0.1:9: refused");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK_TEXT(lines, "ERR hub: 3 servers failed: could not connect to http://127.0.0.1:9: "
			  "refused: x#1, x#1, x#1\n");
}

TEST(few_are_not_merged)
{
	DESK;

	mp_log_merge_say(d.merge, "a#1", MP_LEVEL_ERR, "failed", "no way to http://a/: x");
	mp_log_merge_say(d.merge, "b#2", MP_LEVEL_ERR, "failed", "no way to http://b/: x");
	mp_log_merge_say(d.merge, "c#3", MP_LEVEL_ERR, "failed", "something else");
	mp_log_merge_say(d.merge, "d#4", MP_LEVEL_WRN, "failed", "no way to http://d/: x");
	mp_log_merge_say(d.merge, "e#5", MP_LEVEL_WRN, "starting", "");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK_TEXT(lines, "ERR a#1: failed: no way to http://a/: x\n"
			  "ERR b#2: failed: no way to http://b/: x\n"
			  "ERR c#3: failed: something else\n"
			  "WRN d#4: failed: no way to http://d/: x\n"
			  "WRN e#5: starting\n");
}

/* Retries are spread in time, but the fault is one. */
TEST(a_fault_that_goes_on_is_told_now_and_then)
{
	DESK;

	say(&d, 0, 5, "down");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK(strstr(lines, "5 servers failed"));
	lines[0] = '\0';
	say(&d, 0, 2, "down");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	say(&d, 2, 5, "down");
	mp_loop_advance(d.loop, MP_LOG_MERGE_LONG_MS / 2);
	CHECK_TEXT(lines, "");
	mp_loop_advance(d.loop, MP_LOG_MERGE_LONG_MS / 2);
	CHECK(strstr(lines, "5 servers failed"));
	lines[0] = '\0';
	mp_loop_advance(d.loop, 3 * MP_LOG_MERGE_LONG_MS);
	CHECK_TEXT(lines, "");
	say(&d, 0, 1, "down"); /* that was another fault: it is told at once again */
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK(strstr(lines, "s0#0: failed: down"));
}

/* E55 */
/* The time that each start took does not make it another fault. */
TEST(times_do_not_tell_faults_apart)
{
	DESK;

	mp_log_merge_say(d.merge, "a#1", MP_LEVEL_ERR, "failed", "x after 3 ms: http://h/ down");
	mp_log_merge_say(d.merge, "b#2", MP_LEVEL_ERR, "failed", "x after 12 ms: http://h/ down");
	mp_log_merge_say(d.merge, "c#3", MP_LEVEL_ERR, "failed", "x after 4 ms: http://h/ down");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK_TEXT(lines,
		   "ERR hub: 3 servers failed: x after 3 ms: http://h/ down: a#1, b#2, c#3\n");
	lines[0] = '\0';
	mp_log_merge_say(d.merge, "a#1", MP_LEVEL_ERR, "failed", "y: down after 3 ms");
	mp_log_merge_say(d.merge, "b#2", MP_LEVEL_ERR, "failed", "y: down after noon");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK_TEXT(lines, "ERR a#1: failed: y: down after 3 ms\n"
			  "ERR b#2: failed: y: down after noon\n");
}

TEST(what_is_held_is_not_lost)
{
	DESK;

	mp_log_merge_say(d.merge, "a#1", MP_LEVEL_ERR, "failed", "x");
	d.merge = mp_log_merge_free(d.merge);
	CHECK_TEXT(lines, "ERR a#1: failed: x\n");
}

TEST(later_news_come_later)
{
	DESK;

	mp_log_merge_say(d.merge, "a#1", MP_LEVEL_WRN, "starting", "attempt 3");
	mp_log_merge_say(d.merge, "b#2", MP_LEVEL_WRN, "starting", "attempt 4");
	mp_log_merge_release(d.merge, "a#1");
	CHECK_TEXT(lines, "WRN a#1: starting: attempt 3\n");
	mp_loop_advance(d.loop, MP_LOG_MERGE_HOLD_MS);
	CHECK_TEXT(lines, "WRN a#1: starting: attempt 3\nWRN b#2: starting: attempt 4\n");
}

TEST(causes_without_number_are_written_at_once)
{
	DESK;

	for (int i = 0; i < 70; i++) {
		char text[20];

		snprintf(text, sizeof(text), "cause %d", i);
		mp_log_merge_say(d.merge, "a#1", MP_LEVEL_ERR, "failed", text);
	}
	CHECK(strstr(lines, "cause 64\n"));
	CHECK(!strstr(lines, "cause 63\n"));
}
