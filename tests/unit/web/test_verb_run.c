/*
 * test_verb_run.c - a command as a process: what it prints, its end, and ending it.
 */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "web/verb_run.h"

struct seen {
	struct mp_loop *loop;
	struct mp_verb_run *run;
	char out[4096], err[4096], lines[4096];
	int code, ends;
};

static void seen_done(struct seen *s)
{
	if (!s->ends)
		mp_verb_run_free(s->run);
	s->loop = mp_loop_free(s->loop);
}

static void take_line(void *u, struct mp_str line)
{
	struct seen *s = u;
	size_t n = strlen(s->lines);

	snprintf(s->lines + n, sizeof(s->lines) - n, "%.*s|", MP_STR_ARGS(line));
}

static void take_end(void *u, int code, struct mp_str out, struct mp_str err)
{
	struct seen *s = u;

	s->ends++;
	s->code = code;
	snprintf(s->out, sizeof(s->out), "%.*s", MP_STR_ARGS(out));
	snprintf(s->err, sizeof(s->err), "%.*s", MP_STR_ARGS(err));
}

/* A shell stands for the program. */
static bool begin(struct seen *s, const char *script, const char *input, bool by_line)
{
	char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL};
	struct mp_verb_run_options o = {
		.folder = "/",
		.argv = argv,
		.input = mp_str_of(input),
		.line = by_line ? take_line : NULL,
		.done = take_end,
		.u = s,
	};
	struct mcpool_error why;

	REQUIRE(s->loop || mp_loop_new(&s->loop) == 0);
	o.loop = s->loop;
	REQUIRE(mp_verb_run_start(&o, &s->run, &why) == 0);
	return true;
}

static bool ends(struct seen *s)
{
	for (int i = 0; i < 5000 && !s->ends; i++)
		mp_loop_turn(s->loop, true);
	return s->ends == 1;
}

HEAVY_TEST(what_it_prints_is_kept)
{
	MP_CLEANUP(seen_done) struct seen s = {0};

	CHECK(begin(&s, "cat; pwd; echo no >&2; exit 7", "given\n", false));
	CHECK(ends(&s));
	CHECK_EQ(s.code, 7);
	CHECK_TEXT(s.out, "given\n/\n");
	CHECK_TEXT(s.err, "no\n");
}

HEAVY_TEST(lines_are_told_as_they_come)
{
	MP_CLEANUP(seen_done) struct seen s = {0};

	CHECK(begin(&s, "printf 'a\\nb\\nno newline'", "", true));
	CHECK(ends(&s));
	CHECK_TEXT(s.lines, "a|b|no newline|");
	CHECK_TEXT(s.out, "");
	CHECK_EQ(s.code, 0);
}

HEAVY_TEST(one_that_prints_too_much_is_ended)
{
	MP_CLEANUP(seen_done) struct seen s = {0};

	CHECK(begin(&s, "exec yes", "", false));
	CHECK(ends(&s));
	CHECK(s.code > 128);
	CHECK(strstr(s.err, "it printed more than is kept"));
}

/* Its whole group ends, also a child that ignores SIGTERM. */
HEAVY_TEST(ending_it_ends_its_group)
{
	MP_CLEANUP(seen_done) struct seen s = {0};

	CHECK(begin(&s, "trap '' TERM; (trap '' TERM; sleep 1000) & echo up; wait", "", true));
	for (int i = 0; i < 1000 && !s.lines[0]; i++)
		mp_loop_turn(s.loop, true);
	CHECK_TEXT(s.lines, "up|");
	mp_verb_run_end(s.run);
	CHECK(ends(&s));
	CHECK_EQ(s.code, 128 + 9);
}

HEAVY_TEST(freeing_it_kills_it)
{
	MP_CLEANUP(seen_done) struct seen s = {0};

	CHECK(begin(&s, "sleep 1000", "", false));
	s.run = mp_verb_run_free(s.run);
	CHECK_EQ(s.ends, 0);
}

HEAVY_TEST(a_program_that_is_not_there)
{
	MP_CLEANUP(seen_done) struct seen s = {0};
	char *argv[] = {"/nowhere/mcpool", NULL};
	struct mp_verb_run_options o = {.argv = argv, .done = take_end, .u = &s};
	struct mcpool_error why;

	CHECK(mp_loop_new(&s.loop) == 0);
	o.loop = s.loop;
	CHECK(mp_verb_run_start(&o, &s.run, &why) == 0);
	CHECK(ends(&s));
	CHECK_EQ(s.code, 127);
}
