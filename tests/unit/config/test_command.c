/*
 * test_command.c - commands that print a value: judged, shared, remembered, and gone afterwards.
 * Real shells. Time limits are short where one is meant to be reached, and never reached otherwise.
 */
#include "test.h"
#include "folder.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "base/mem.h"
#include "base/redact.h"
#include "base/secrets.h"
#include "process/capture.h"
#include "config/values/command.h"
#include "process/tree.h"

static char *const env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "WORD=hello", NULL};
static char *const other_env[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "WORD=other", NULL};

struct desk {
	struct mp_commands *commands;
	struct mp_buf out;
	struct mcpool_error error;
	int64_t now_ms;
	int r;
};

static void tidy(struct desk *d)
{
	mp_commands_free(d->commands);
	mp_buf_done(&d->out);
}

static bool sit_down(struct desk *d)
{
	*d = (struct desk){.now_ms = 5000};
	mp_buf_init(&d->out, 1 << 20);
	if (!folder_make())
		return false;
	d->commands = mp_commands_new();
	return true;
}

static int run_with(struct desk *d, const char *command, char *const *variables)
{
	mp_buf_clear(&d->out);
	memset(&d->error, 0, sizeof(d->error));
	d->r = mp_commands_run(d->commands, command, test_folder, variables, d->now_ms, 0, &d->out,
			       &d->error);
	return d->r;
}

static int run(struct desk *d, const char *command)
{
	return run_with(d, command, env);
}

static void wait_a_moment(void)
{
	nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* What a test's command wrote to a file of its folder. */
static const char *read_note(const char *name)
{
	static char text[200];
	char path[100];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", test_folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static pid_t read_pid(const char *name)
{
	return (pid_t)strtol(read_note(name), NULL, 10);
}

/* Killed processes take a moment to end. */
static bool is_gone(pid_t pid)
{
	struct mp_proc p;

	for (int i = 0; i < 5000; i++) {
		if (pid <= 0)
			return false;
		if (mp_tree_read(pid, &p) < 0 || !mp_tree_is_alive(&p))
			return true;
		wait_a_moment();
	}
	return false;
}

/* --- one run -------------------------------------------------------------------------------- */

/* B38 U5 */
TEST(output_is_trimmed_and_the_rest_is_as_it_should_be)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "printf ' \\n s3cret value\\t\\r\\n\\n'"), 0);
	CHECK_STR(mp_buf_get(&d.out), "s3cret value");
	CHECK_EQ(run(&d, "echo $WORD; echo $HOME; cat; pwd"), 0);
	CHECK(mp_str_starts(mp_buf_get(&d.out), MP_STR("hello\n\n/")));
	CHECK(mp_str_find(mp_buf_get(&d.out), mp_str_of(test_folder), 0) >= 0);
	CHECK_EQ(mp_commands_run(d.commands, "echo ok", NULL, NULL, 0, 0, &d.out, NULL), 0);
}

/* B38 */
TEST(it_has_a_session_of_its_own_and_no_descriptor_of_ours)
{
	MP_CLEANUP(tidy) struct desk d;
	long pid, group, session;
	char command[100];
	int fd;

	CHECK(sit_down(&d));
	fd = open("/", O_RDONLY); /* without O_CLOEXEC on purpose */
	CHECK(fd > 2);
	CHECK_EQ(run(&d, "sed 's/.*) //' /proc/$$/stat | cut -d' ' -f3,4; echo $$"), 0);
	CHECK_EQ(mp_buf_terminate(&d.out), 0);
	CHECK_EQ(sscanf(d.out.data, "%ld %ld %ld", &group, &session, &pid), 3);
	CHECK(group == pid && session == pid);
	/* No pipe and no $( ): the shell has a descriptor of its own for those, for a moment. */
	snprintf(command, sizeof(command), "test -e /proc/$$/fd/%d && echo open || echo closed",
		 fd);
	CHECK_EQ(run(&d, command), 0);
	close(fd);
	CHECK_STR(mp_buf_get(&d.out), "closed");
}

/* B78 */
TEST(failure_is_told_by_code_and_last_line)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "echo first >&2; echo 'no such vault' >&2; echo >&2; exit 3"), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command ended with exit code 3: no such vault");
	CHECK_EQ(d.out.len, 0);
	/* attack-S14: what may be a credential is not repeated, nor what follows its name. */
	CHECK_EQ(run(&d, "echo 'refused: q8Zr1TmX0vLw93Kd, token=abc' >&2; exit 3"), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command ended with exit code 3: refused: "
				    "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2, "
				    "token=\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2");
	CHECK_EQ(run(&d, "exit 4"), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command ended with exit code 4");
	CHECK_EQ(run(&d, "kill -9 $$"), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command was ended by signal 9");
	CHECK_EQ(run(&d, "/no/such/program"), MCPOOL_EIO);
	CHECK(strstr(d.error.message, "exit code 127: "));
	CHECK_EQ(
		run(&d, "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; false"),
		MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command ended with exit code 1: line 2999");
	CHECK_EQ(mp_commands_run(d.commands, "echo x", "/no/such/folder", env, 0, 0, &d.out,
				 &d.error),
		 MCPOOL_EIO);
	CHECK(strstr(d.error.message, "/no/such/folder"));
}

/* B78 */
TEST(nothing_and_nul_are_no_values)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "true"), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command printed nothing");
	CHECK_EQ(run(&d, "printf ' \\n\\t'; echo locked >&2"), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command printed nothing: locked");
	CHECK_EQ(run(&d, "printf 'a\\000b'"), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command printed a NUL byte");
}

TEST(messages_hold_nothing_of_what_was_printed)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "echo hunter2hunter2; echo got hunter2hunter2 >&2; exit 1"), MCPOOL_EIO);
	CHECK(strstr(d.error.message, "got ") && !strstr(d.error.message, "hunter2"));
	CHECK_EQ(run(&d, "echo hunter2hunter2; exit 5"), MCPOOL_EIO);
	CHECK(!strstr(d.error.message, "hunter2"));
	CHECK_EQ(run(&d, "echo 'Authorization: Bearer abcdefghijklmnop' >&2; exit 1"), MCPOOL_EIO);
	CHECK(!strstr(d.error.message, "abcdefgh"));
}

TEST(at_most_64_kib_are_taken)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "head -c 65536 /dev/zero | tr '\\0' x"), 0);
	CHECK_EQ(d.out.len, 65536);
	CHECK_EQ(run(&d, "head -c 65537 /dev/zero | tr '\\0' x"), MCPOOL_ELIMIT);
	CHECK_TEXT(d.error.message, "the command printed more than 64 KiB");
	CHECK_EQ(run(&d, "yes $$ | tee pid"), MCPOOL_ELIMIT); /* for ever, if it were left alone */
	CHECK(is_gone(read_pid("pid")));
}

static struct mp_str show(struct mp_str text, struct mp_buf *out)
{
	mp_buf_clear(out);
	return mp_redact(text, false, out) < 0 ? MP_STR("?") : mp_buf_get(out);
}

/* B38 */
TEST(output_is_a_secret_as_long_as_it_is_kept)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf shown;
	MP_CLEANUP(tidy) struct desk d = {.r = 0};
	struct mp_str text = MP_STR("x correct-horse x");

	mp_buf_init(&shown, 1000);
	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "echo correct-horse"), 0);
	CHECK(mp_str_find(show(text, &shown), MP_STR("horse"), 0) < 0);
	d.commands = mp_commands_free(d.commands);
	CHECK(mp_str_eq(show(text, &shown), text));
}

/* --- limits and leftovers ------------------------------------------------------------------- */

/* A limit that is reached when all are there: longer where the machine is slow. */
static int64_t run_into_limit(struct desk *d, const char *command)
{
	int64_t limit = 200;

	for (;; limit *= 2) {
		mp_commands_set_timeout(d->commands, limit);
		if (run(d, command) != MCPOOL_ETIMEDOUT || read_pid("shell") > 0 || limit > 10000)
			return limit;
		d->now_ms += MP_COMMAND_FAILURE_MS;
	}
}

/* B38 */
TEST(the_time_limit_takes_grandchildren_along)
{
	MP_CLEANUP(tidy) struct desk d;
	char words[100];
	int64_t limit;

	CHECK(sit_down(&d));
	limit = run_into_limit(&d, "sh -c 'echo $$ > one; sleep 1000' & "
				   "(trap '' TERM HUP; sleep 1000) & echo $! > two; "
				   "setsid sleep 1000 & echo $! > three; "
				   "while [ ! -s one ]; do sleep 0.01; done; "
				   "echo waiting >&2; echo $$ > shell; wait");
	CHECK_EQ(d.r, MCPOOL_ETIMEDOUT);
	snprintf(words, sizeof(words), "the command was not done after %lld ms: waiting",
		 (long long)limit);
	CHECK_TEXT(d.error.message, words);
	CHECK(is_gone(read_pid("shell")));
	CHECK(is_gone(read_pid("one")));
	CHECK(is_gone(read_pid("two")));
	CHECK(is_gone(read_pid("three"))); /* it left the group, but not its parent */
}

/* B38 */
TEST(what_stays_behind_a_success_is_killed_and_not_waited_for)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "sleep 1000 & echo $! > one; echo value"), 0); /* it holds our pipe */
	CHECK_STR(mp_buf_get(&d.out), "value");
	CHECK(is_gone(read_pid("one")));
}

static void be_as_we_were(const int *before)
{
	prctl(PR_SET_CHILD_SUBREAPER, *before);
}

/* The hub adopts orphans; those of a command must not stay zombies. */
TEST(a_subreaper_keeps_no_zombie)
{
	MP_CLEANUP(be_as_we_were) int before = 0;
	MP_CLEANUP(tidy) struct desk d = {.r = 0};

	CHECK_EQ(prctl(PR_GET_CHILD_SUBREAPER, &before), 0);
	CHECK_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "(sleep 1000 & sleep 1000) & sleep 1000 & echo value"), 0);
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1);
}

static void die_at_work(void)
{
	MP_CLEANUP(tidy) struct desk d = {.now_ms = 1};

	mp_buf_init(&d.out, 1000);
	d.commands = mp_commands_new();
	run(&d, "echo $$ > pid.new; mv pid.new pid; exec sleep 1000");
}

/* B38 */
HEAVY_TEST(it_dies_with_us)
{
	pid_t us;

	CHECK(folder_make());
	us = fork();
	if (us == 0) {
		die_at_work();
		_exit(0);
	}
	for (int i = 0; i < 5000 && read_pid("pid") == 0; i++)
		wait_a_moment();
	kill(us, SIGKILL);
	CHECK_EQ(waitpid(us, NULL, 0), us);
	CHECK(is_gone(read_pid("pid")));
}

/* Handlers, masks and ignored signals of ours are not the command's. */
TEST(signals_are_as_a_program_expects_them)
{
	MP_CLEANUP(tidy) struct desk d;
	void (*before)(int) = signal(SIGUSR1, SIG_IGN);

	CHECK(sit_down(&d));
	/* 32 and 33 are the C library's own, and may be ignored where the test is started. */
	run(&d, "for m in $(sed -n 's/^Sig\\(Ign\\|Blk\\):.//p' /proc/$$/status); do "
		"echo $((0x$m & ~0x180000000)); done | tr -d '\\n'");
	signal(SIGUSR1, before);
	CHECK_EQ(d.r, 0);
	CHECK_STR(mp_buf_get(&d.out), "00");
}

/* --- remembering ---------------------------------------------------------------------------- */

static size_t count_runs(void)
{
	return strlen(read_note("runs"));
}

/* B38 */
TEST(success_is_kept_by_command_folder_and_environment)
{
	MP_CLEANUP(tidy) struct desk d;
	const char *command = "printf x >> runs; echo value-$WORD";
	static char *const turned[] = {"WORD=hello", "PATH=/usr/local/bin:/usr/bin:/bin", NULL};
	char inner[100];

	CHECK(sit_down(&d));
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(run(&d, command), 0);
		CHECK_STR(mp_buf_get(&d.out), "value-hello");
		d.now_ms += 3600 * 1000;
	}
	CHECK_EQ(count_runs(), 1);
	CHECK_EQ(run_with(&d, command, turned), 0); /* the order of variables says nothing */
	CHECK_EQ(count_runs(), 1);
	CHECK_EQ(run_with(&d, command, other_env), 0);
	CHECK_STR(mp_buf_get(&d.out), "value-other");
	CHECK_EQ(count_runs(), 2);
	CHECK_EQ(run(&d, "printf x >> runs; echo value-$WORD "), 0);
	CHECK_EQ(count_runs(), 3);
	snprintf(inner, sizeof(inner), "%s/inner", test_folder);
	CHECK_EQ(mkdir(inner, 0700), 0);
	CHECK_EQ(mp_commands_run(d.commands, command, inner, env, d.now_ms, 0, &d.out, NULL), 0);
	CHECK_EQ(strlen(read_note("inner/runs")), 1);
}

/* B78 */
TEST(failure_is_kept_for_30_seconds)
{
	MP_CLEANUP(tidy) struct desk d;
	const char *command = "printf x >> runs; [ -e good ] && echo value";
	char path[100];

	CHECK(sit_down(&d));
	CHECK_EQ(MP_COMMAND_FAILURE_MS, 30000);
	CHECK_EQ(run(&d, command), MCPOOL_EIO);
	d.now_ms += MP_COMMAND_FAILURE_MS - 1;
	CHECK_EQ(run(&d, command), MCPOOL_EIO);
	CHECK_TEXT(d.error.message, "the command ended with exit code 1");
	CHECK_EQ(count_runs(), 1);
	d.now_ms += 1;
	CHECK_EQ(run(&d, command), MCPOOL_EIO);
	CHECK_EQ(count_runs(), 2);
	snprintf(path, sizeof(path), "%s/good", test_folder);
	CHECK_EQ(mkdir(path, 0700), 0);
	d.now_ms += MP_COMMAND_FAILURE_MS;
	CHECK_EQ(run(&d, command), 0);
	CHECK_STR(mp_buf_get(&d.out), "value");
	CHECK_EQ(count_runs(), 3);
	command = "printf x >> runs"; /* prints nothing */
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(run(&d, command), MCPOOL_EIO);
		CHECK_TEXT(d.error.message, "the command printed nothing");
		CHECK_EQ(count_runs(), 4 + i);
		d.now_ms += MP_COMMAND_FAILURE_MS - 1;
		CHECK_EQ(run(&d, command), MCPOOL_EIO);
		CHECK_EQ(count_runs(), 4 + i);
		d.now_ms += 1;
	}
}

/* What does not fit the caller's buf is the caller's trouble: the value is kept. */
TEST(a_small_buf_spoils_nothing)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf small;
	MP_CLEANUP(tidy) struct desk d = {.r = 0};
	const char *command = "printf x >> runs; echo a long value";

	mp_buf_init(&small, 3);
	CHECK(sit_down(&d));
	CHECK_EQ(mp_commands_run(d.commands, command, test_folder, env, 0, 0, &small, &d.error),
		 MCPOOL_ELIMIT);
	CHECK_EQ(small.len, 0);
	CHECK_EQ(run(&d, command), 0);
	CHECK_EQ(count_runs(), 1);
}

/* More keys than are kept: the oldest runs again, and memory stays bounded. */
HEAVY_TEST(the_oldest_make_room)
{
	MP_CLEANUP(tidy) struct desk d;
	char command[80];

	CHECK(sit_down(&d));
	CHECK_EQ(run(&d, "printf x >> runs; echo first"), 0);
	for (int i = 0; i < 1030; i++) {
		snprintf(command, sizeof(command), "exit 1; # %d", i);
		CHECK_EQ(run(&d, command), MCPOOL_EIO);
	}
	CHECK_EQ(run(&d, "printf x >> runs; echo first"), 0);
	CHECK_EQ(count_runs(), 2);
}

/* --- threads -------------------------------------------------------------------------------- */

enum { THREADS = 4 };

struct crowd {
	struct desk *desk;
	const char *command;
	int results[THREADS];
	struct mp_buf outs[THREADS];
	atomic_int next;
};

static void *ask(void *u)
{
	struct crowd *c = u;
	int i = atomic_fetch_add(&c->next, 1);

	mp_buf_init(&c->outs[i], 1000);
	c->results[i] = mp_commands_run(c->desk->commands, c->command, test_folder, env, 1, 0,
					&c->outs[i], NULL);
	return NULL;
}

/* The command waits until all callers could arrive; later callers share its result. */
static bool ask_together(struct crowd *c)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, ask, c) == 0);
	for (int i = 0; i < THREADS; i++)
		REQUIRE(pthread_join(threads[i], NULL) == 0);
	return true;
}

static void leave(struct crowd *c)
{
	for (int i = 0; i < THREADS; i++)
		mp_buf_done(&c->outs[i]);
}

/* B38 */
HEAVY_TEST(threads_share_one_run)
{
	MP_CLEANUP(tidy) struct desk d;
	MP_CLEANUP(leave)
	struct crowd good = {.command = "printf x >> runs; sleep 0.2; echo value"};
	MP_CLEANUP(leave) struct crowd bad = {.command = "printf y >> runs; sleep 0.2; exit 9"};

	CHECK(sit_down(&d));
	good.desk = bad.desk = &d;
	CHECK(ask_together(&good));
	CHECK_EQ(count_runs(), 1);
	CHECK(ask_together(&bad));
	CHECK_EQ(count_runs(), 2);
	for (int i = 0; i < THREADS; i++) {
		CHECK_EQ(good.results[i], 0);
		CHECK_STR(mp_buf_get(&good.outs[i]), "value");
		CHECK_EQ(bad.results[i], MCPOOL_EIO);
	}
}

static void *ask_own(void *u)
{
	struct desk *d = u;
	struct mp_buf out;
	char command[64];
	int r;

	mp_buf_init(&out, 1000);
	snprintf(command, sizeof(command), "echo value-%lx", (unsigned long)pthread_self());
	r = mp_commands_run(d->commands, command, test_folder, env, 1, 0, &out, NULL);
	mp_buf_done(&out);
	return r == 0 ? u : NULL;
}

HEAVY_TEST(different_commands_run_at_the_same_time)
{
	MP_CLEANUP(tidy) struct desk d;
	pthread_t threads[THREADS];
	void *result;

	CHECK(sit_down(&d));
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, ask_own, &d), 0);
	for (int i = 0; i < THREADS; i++) {
		CHECK_EQ(pthread_join(threads[i], &result), 0);
		CHECK(result == &d);
	}
}

HEAVY_TEST(a_result_that_may_become_old_is_made_again)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(mp_commands_run(d.commands, "date +%N >>aged; wc -l <aged", test_folder, env, 1000,
				 500, &d.out, NULL),
		 0);
	CHECK_STR(mp_buf_get(&d.out), "1");
	mp_buf_clear(&d.out);
	CHECK_EQ(mp_commands_run(d.commands, "date +%N >>aged; wc -l <aged", test_folder, env, 1499,
				 500, &d.out, NULL),
		 0);
	CHECK_STR(mp_buf_get(&d.out), "1");
	mp_buf_clear(&d.out);
	CHECK_EQ(mp_commands_run(d.commands, "date +%N >>aged; wc -l <aged", test_folder, env, 1500,
				 500, &d.out, NULL),
		 0);
	CHECK_STR(mp_buf_get(&d.out), "2");
}
