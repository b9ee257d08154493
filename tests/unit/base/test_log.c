/* test_log.c - levels, prefixes, sinks, and that nothing passes which redaction should hold back.
 */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/redact.h"

#define D "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"

static struct {
	size_t lines;
	enum mp_level level;
	int64_t wall_ms;
	char object[600];
	char text[8 * MP_LIMIT_LOG_LINE];
} got;

static void keep(const struct mp_log_line *line, void *u)
{
	got.lines++;
	got.level = line->level;
	got.wall_ms = line->wall_ms;
	snprintf(got.object, sizeof(got.object), "%s", line->object);
	snprintf(got.text, sizeof(got.text), "%s", line->text);
	*(int *)u += 1;
}

static int kept; /* counted through the sink's own pointer */

static void restore(int *unused)
{
	(void)unused;
	mp_log_set_sink(NULL, NULL);
	mp_log_set_level(MP_LEVEL_INF);
	mp_secret_remove_all();
}

#define WITH_SINK                               \
	MP_CLEANUP(restore) int sink_scope = 0; \
	(void)sink_scope;                       \
	memset(&got, 0, sizeof(got));           \
	kept = 0;                               \
	mp_log_set_sink(keep, &kept)

TEST(a_line_reaches_the_sink)
{
	struct mp_log log;
	WITH_SINK;

	mp_log_init(&log, "files#%d", 3);
	mp_log_warn(&log, "gave up after %d tries", 5);
	CHECK_EQ(kept, 1);
	CHECK_EQ(got.level, MP_LEVEL_WRN);
	CHECK(got.wall_ms > (int64_t)1600000000 * 1000); /* after 2020 */
	CHECK_TEXT(got.object, "files#3");
	CHECK_TEXT(got.text, "gave up after 5 tries");
	mp_log_info(NULL, "nobody in particular");
	CHECK_TEXT(got.object, "");
	CHECK_TEXT(got.text, "nobody in particular");
}

TEST(every_level_against_every_threshold)
{
	WITH_SINK;

	for (int least = MP_LEVEL_TRC; least <= MP_LEVEL_OFF; least++) {
		for (int level = MP_LEVEL_TRC; level <= MP_LEVEL_ERR; level++) {
			size_t before = got.lines;

			mp_log_set_level((enum mp_level)least);
			CHECK_EQ(mp_log_wants((enum mp_level)level), level >= least);
			mp_log_write(NULL, (enum mp_level)level, "x");
			CHECK_EQ(got.lines - before, level >= least);
		}
	}
}

TEST(each_word_has_its_level)
{
	WITH_SINK;

	mp_log_set_level(MP_LEVEL_TRC);
	mp_log_trace(NULL, "x");
	CHECK_EQ(got.level, MP_LEVEL_TRC);
	mp_log_verbose(NULL, "x");
	CHECK_EQ(got.level, MP_LEVEL_VRB);
	mp_log_info(NULL, "x");
	CHECK_EQ(got.level, MP_LEVEL_INF);
	mp_log_warn(NULL, "x");
	CHECK_EQ(got.level, MP_LEVEL_WRN);
	mp_log_error(NULL, "x");
	CHECK_EQ(got.level, MP_LEVEL_ERR);
}

static int evaluated;

static int evaluate(void)
{
	return ++evaluated;
}

TEST(arguments_are_not_evaluated_for_nobody)
{
	WITH_SINK;

	evaluated = 0;
	mp_log_set_level(MP_LEVEL_WRN);
	mp_log_info(NULL, "%d", evaluate());
	mp_log_trace(NULL, "%d", evaluate());
	CHECK_EQ(evaluated, 0);
	mp_log_warn(NULL, "%d", evaluate());
	CHECK_EQ(evaluated, 1);
	CHECK_TEXT(got.text, "1");
}

/* --- what a line looks like ----------------------------------------------------------------- */

TEST(a_line_is_one_line)
{
	WITH_SINK;

	mp_log_info(NULL, "%s", "first\nsecond\r\nthird\tand\x1b[31m red \x7f \xc2\x9b \xff");
	CHECK_TEXT(got.text, "first\\nsecond\\x0d\\nthird and\\x1b[31m red \\x7f \\xc2\\x9b \\xff");
}

TEST(an_object_cannot_break_out_of_its_line)
{
	struct mp_log log;
	WITH_SINK;

	mp_log_init(&log, "%s", "evil\n2026-01-01 ERR all is lost\x1b[2J");
	mp_log_info(&log, "hello");
	CHECK_TEXT(got.object, "evil\\n2026-01-01 ERR all is lost\\x1b[2J");
	mp_log_init(&log, "https://u:p@h/?a=%s", "b");
	mp_log_info(&log, "hello");
	CHECK_TEXT(got.object, "https://" D "@h/?" D);
}

TEST(long_objects_are_cut_between_characters)
{
	struct mp_log log;

	mp_log_init(&log, "%062d\xc3\xa9", 1); /* 64 bytes, and no room for NUL */
	CHECK_EQ(strlen(log.object), 63);
	CHECK_TEXT(log.object + 60, MP_STR_CUT_MARK);
	mp_log_init(&log, "%061d\xc3\xa9", 1);
	CHECK_EQ(strlen(log.object), 63);
}

TEST(long_lines_are_cut_between_characters)
{
	static char long_text[2 * MP_LIMIT_LOG_LINE];
	WITH_SINK;

	for (size_t shift = 0; shift < 3; shift++) {
		size_t len;

		memset(long_text, 'x', shift);
		for (size_t i = shift; i + 4 < sizeof(long_text); i += 3)
			memcpy(long_text + i, "\xe2\x82\xac", 4);
		mp_log_info(NULL, "%s", long_text);
		len = strlen(got.text);
		CHECK(len < MP_LIMIT_LOG_LINE && len > MP_LIMIT_LOG_LINE - 4);
		CHECK_EQ((len - shift) % 3, 0);
		CHECK(mp_utf8_valid(mp_str_of(got.text)));
	}
}

TEST(a_line_of_nothing_but_escapes_fits)
{
	static char bytes[MP_LIMIT_LOG_LINE];
	WITH_SINK;

	memset(bytes, '\x01', sizeof(bytes) - 1);
	bytes[sizeof(bytes) - 1] = '\0';
	mp_log_info(NULL, "%s", bytes);
	CHECK_EQ(strlen(got.text), 4 * (sizeof(bytes) - 1));
}

/* --- secrets, end to end -------------------------------------------------------------------- */

TEST(secrets_do_not_reach_the_sink)
{
	struct mp_log log;
	WITH_SINK;

	CHECK_EQ(mp_secret_add(MP_STR("hunter22")), 0);
	mp_log_init(&log, "%s", "hunter22#1");
	mp_log_error(&log, "no %s here, no token=%s, no https://u:%s@h/?q=%s", "hunter22", "abc",
		     "pw", "x");
	CHECK_EQ(kept, 1);
	CHECK_TEXT(got.object, D "#1");
	CHECK_TEXT(got.text, "no " D " here, no token=" D " no https://" D "@h/?" D);
}

TEST(a_secret_at_the_limit_of_a_line_is_hidden)
{
	static char filler[MP_LIMIT_LOG_LINE];
	WITH_SINK;

	memset(filler, '.', sizeof(filler) - 1);
	CHECK_EQ(mp_secret_add(MP_STR("hunter22hunter22")), 0);
	for (int room = 6; room < 20; room++) { /* so many bytes of it fit, less the mark */
		mp_log_info(NULL, "%.*shunter22hunter22", (int)MP_LIMIT_LOG_LINE - 1 - room,
			    filler);
		CHECK(!strstr(got.text, "hun"));
		CHECK(strstr(got.text, D));
	}
}

static void log_from_sink(const struct mp_log_line *line, void *u)
{
	int *calls = u;

	(void)line;
	++*calls;
	mp_log_error(NULL, "from within");
	mp_log_set_sink(NULL, NULL);
}

TEST(a_sink_may_log_and_hand_over)
{
	int calls = 0;

	mp_log_set_sink(log_from_sink, &calls);
	mp_log_error(NULL, "once");
	CHECK_EQ(calls, 1);
	mp_log_set_sink(NULL, NULL);
}

TEST(without_memory_the_line_is_withheld)
{
	WITH_SINK;

	if (!mp_fault_is_built_in())
		return;
	for (uint64_t nth = 1; nth <= 2; nth++) {
		struct mp_log log = {"token=abc"};

		mp_fault_arm(MP_FAULT_TRY, nth);
		mp_log_info(&log, "token=%s", "abc");
		mp_fault_arm(MP_FAULT_TRY, 0);
		CHECK_EQ(kept, nth); /* somebody ought to know that there was one */
		CHECK(!strstr(got.text, "abc") && !strstr(got.object, "abc"));
	}
}

/* --- stderr, and threads -------------------------------------------------------------------- */

static void close_pipe(int (*ends)[2])
{
	close((*ends)[0]);
	close((*ends)[1]);
}

/* What mp_log_warn() writes to stderr while there is no sink. */
static size_t catch_stderr(const struct mp_log *log, char *out, size_t size)
{
	MP_CLEANUP(close_pipe) int ends[2] = {-1, -1};
	int real = dup(STDERR_FILENO);
	ssize_t n;

	if (pipe(ends) < 0 || real < 0)
		return 0;
	fflush(stderr);
	dup2(ends[1], STDERR_FILENO);
	mp_log_warn(log, "token=%s", "abc");
	fflush(stderr);
	dup2(real, STDERR_FILENO);
	close(real);
	n = read(ends[0], out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

TEST(without_a_sink_lines_go_to_stderr)
{
	MP_CLEANUP(restore) int scope = 0;
	struct mp_log log;
	char out[200];

	(void)scope;
	mp_log_init(&log, "files#3");
	CHECK(catch_stderr(&log, out, sizeof(out)) > 24);
	CHECK(out[4] == '-' && out[10] == 'T' && out[19] == '.' && out[23] == 'Z');
	CHECK_TEXT(out + 24, " WRN files#3: token=" D "\n");
	CHECK(catch_stderr(NULL, out, sizeof(out)) > 24);
	CHECK_TEXT(out + 24, " WRN token=" D "\n");
}

enum { THREADS = 4, EACH = 50 };

static size_t n_lines, n_broken;
static _Atomic int n_inside;

/* No lock of ours: the log calls for one line at a time. */
static void check_whole(const struct mp_log_line *line, void *u)
{
	size_t len = strlen(line->text);
	bool alone = n_inside++ == 0;

	(void)u;
	sched_yield(); /* lets another thread run here */
	n_lines++;
	n_broken +=
		!alone || len != 100 || strspn(line->text, (char[]){line->text[0], '\0'}) != len;
	n_inside--;
}

static void *chatter(void *u)
{
	char text[101];

	memset(text, *(char *)u, 100);
	text[100] = '\0';
	for (int i = 0; i < EACH; i++)
		mp_log_info(NULL, "%s", text);
	return NULL;
}

TEST(lines_of_many_threads_stay_whole)
{
	static char letters[] = "abcd";
	pthread_t threads[THREADS];
	size_t n = 0;
	WITH_SINK;

	n_lines = n_broken = 0;
	mp_log_set_sink(check_whole, NULL);
	while (n < THREADS && pthread_create(&threads[n], NULL, chatter, &letters[n]) == 0)
		n++;
	for (size_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(n, THREADS);
	CHECK_EQ(n_lines, THREADS * EACH);
	CHECK_EQ(n_broken, 0);
}
