/*
 * test_shepherd.c - the guardian of one server, with the test as its hub and its launcher.
 */
#include "process.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include "process/exec.h"
#include "base/guard.h"
#include "process/shepherd.h"
#include "process/spec.h"

static pid_t shepherd;
static int control, lifeline; /* our ends; -1: closed */
static int from_server;       /* its stdout */
static struct mp_report last;
static bool without_proc; /* as far as the next shepherd can see */

/* As the launcher does it. */
static _Noreturn void be_shepherd(int fds[MP_FDS], int line)
{
	sigset_t all;

	if (without_proc &&
	    (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	     umount2("/proc", MNT_DETACH) < 0))
		dprintf(2, "             /proc stays: only root may take it away\n");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	_exit(mp_shepherd_main(fds, line));
}

static bool begin_launch(const struct mp_launch *launch)
{
	int fds[MP_FDS] = {-1, -1, -1, -1, -1}, sockets[2], line[2], out[2];

	last = (struct mp_report){0, 0, 0, 0};
	control = lifeline = from_server = -1;
	REQUIRE(pipe2(line, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
	REQUIRE(mp_spec_write(launch, &fds[MP_FD_SPEC], NULL) == 0);
	fds[MP_FD_STDIN] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fds[MP_FD_STDOUT] = out[1];
	fds[MP_FD_STDERR] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fds[MP_FD_CONTROL] = sockets[1];
	fflush(NULL);
	shepherd = fork();
	if (shepherd == 0)
		be_shepherd(fds, line[0]);
	for (int i = 0; i < MP_FDS; i++)
		close(fds[i]);
	close(line[0]);
	control = sockets[0];
	lifeline = line[1];
	from_server = out[0];
	return shepherd > 0;
}

static bool begin(const char *what)
{
	struct recipe r;

	new_tag();
	return begin_launch(run_helper(&r, what, NULL));
}

static void finish(bool *begun)
{
	int status = -1;

	mp_guard_close(&control);
	mp_guard_close(&lifeline);
	mp_guard_close(&from_server);
	if (!*begun)
		return;
	waitpid(shepherd, &status, 0);
	(void)test_equal(status, 0, "exit of the shepherd", __FILE__, __LINE__);
	(void)test_true(all_gone_within(PATIENCE_MS), "nothing is left", __FILE__, __LINE__);
	kill_all_tagged();
}

static bool is_ready(void)
{
	char byte;

	return read(from_server, &byte, 1) == 1;
}

static void order(uint32_t what)
{
	(void)!send(control, &what, sizeof(what), MSG_NOSIGNAL);
}

/* The next word; 0 when the shepherd has left, -1 when it says nothing. */
static int hear(void)
{
	struct pollfd p = {control, POLLIN, 0};

	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return -1;
	return recv(control, &last, sizeof(last), 0) == (ssize_t)sizeof(last) ? (int)last.news : 0;
}

HEAVY_TEST(a_server_that_ends_by_itself)
{
	MP_CLEANUP(finish) bool begun = begin("echo");

	CHECK(begun);
	CHECK_EQ(hear(), MP_NEWS_RUNNING);
	CHECK_EQ(last.shepherd, shepherd);
	CHECK_EQ(hear(), MP_NEWS_EXITED);
	CHECK_EQ(last.value, 0);
	CHECK_EQ(hear(), MP_NEWS_GONE);
	CHECK_EQ(hear(), 0);
}

HEAVY_TEST(term_is_for_the_group_and_kill_for_all)
{
	MP_CLEANUP(finish) bool begun = begin("stubborn");

	CHECK(begun);
	CHECK_EQ(hear(), MP_NEWS_RUNNING);
	CHECK(is_ready());
	order(MP_ORDER_TERM);
	order(MP_ORDER_TERM);
	nap_ms(50);
	CHECK_EQ(count_alive("helper_server", NULL), 4);
	order(MP_ORDER_KILL);
	order(MP_ORDER_KILL);
	order(MP_ORDER_TERM);
	CHECK_EQ(hear(), MP_NEWS_EXITED);
	CHECK_EQ(last.value, SIGKILL);
	CHECK_EQ(hear(), MP_NEWS_GONE);
	CHECK_EQ(count_alive("helper_server", NULL), 0);
}

/* Orders may be there before the server is. */
HEAVY_TEST(orders_given_while_it_starts)
{
	static const uint32_t orders[] = {MP_ORDER_TERM, MP_ORDER_KILL};

	for (size_t i = 0; i < MP_ARRAY_LEN(orders); i++) {
		const char *const argv[] = {"/bin/sleep", "1000", NULL}, *const env[] = {tag, NULL};
		MP_CLEANUP(finish) bool begun = false;

		new_tag();
		begun = begin_launch(&(struct mp_launch){argv, env, NULL, NULL});
		CHECK(begun);
		order(orders[i]);
		CHECK_EQ(hear(), MP_NEWS_RUNNING);
		CHECK_EQ(hear(), MP_NEWS_EXITED);
		CHECK_EQ(last.value, orders[i] == MP_ORDER_TERM ? SIGTERM : SIGKILL);
		CHECK_EQ(hear(), MP_NEWS_GONE);
	}
}

static void see_proc_again(const bool *hidden)
{
	without_proc = !*hidden;
}

HEAVY_TEST(a_server_is_killed_also_without_proc)
{
	const char *const argv[] = {"/bin/sh", "-c", "trap '' TERM; sleep 1000; :", NULL};
	const char *const env[] = {tag, "PATH=/usr/bin:/bin", NULL};
	MP_CLEANUP(see_proc_again) bool hidden = true;
	MP_CLEANUP(finish) bool begun = false;

	new_tag();
	without_proc = hidden;
	begun = begin_launch(&(struct mp_launch){argv, env, NULL, NULL});
	CHECK(begun);
	CHECK_EQ(hear(), MP_NEWS_RUNNING);
	order(MP_ORDER_KILL);
	CHECK_EQ(hear(), MP_NEWS_EXITED);
	CHECK_EQ(last.value, SIGKILL);
	CHECK_EQ(hear(), MP_NEWS_GONE);
}

/* The last order counts, also that of a hub which never heard the news and left. */
HEAVY_TEST(an_order_of_a_hub_that_does_not_wait)
{
	const char *const argv[] = {"/bin/sh", "-c",
				    "trap 'echo term' TERM; echo; while :; do sleep 1; done", NULL};
	const char *const env[] = {tag, "PATH=/usr/bin:/bin", NULL};
	MP_CLEANUP(finish) bool begun = false;
	char said[16];

	new_tag();
	begun = begin_launch(&(struct mp_launch){argv, env, NULL, NULL});
	CHECK(begun && is_ready());
	order(MP_ORDER_KILL);
	mp_guard_close(&control);
	CHECK(all_gone_within(PATIENCE_MS));
	CHECK_EQ(read(from_server, said, sizeof(said)), 0); /* killed, not asked */
}

static bool takes_about_a_second(int64_t began_ms)
{
	int64_t ms = real_ms() - began_ms;

	return ms >= 950 && ms < 2000;
}

HEAVY_TEST(a_hub_that_is_gone)
{
	MP_CLEANUP(finish) bool begun = begin("stubborn");
	int64_t began_ms = real_ms();

	CHECK(begun && is_ready());
	mp_guard_close(&control);
	CHECK(all_gone_within(PATIENCE_MS));
	CHECK(takes_about_a_second(began_ms));
}

HEAVY_TEST(a_launcher_that_is_gone)
{
	MP_CLEANUP(finish) bool begun = begin("stubborn");
	int64_t began_ms = real_ms();

	CHECK(begun && is_ready());
	CHECK_EQ(hear(), MP_NEWS_RUNNING);
	mp_guard_close(&lifeline);
	CHECK_EQ(hear(), MP_NEWS_EXITED); /* the hub is there, and told */
	CHECK_EQ(hear(), MP_NEWS_GONE);
	CHECK(takes_about_a_second(began_ms));
}

HEAVY_TEST(a_hub_that_raves_is_as_good_as_gone)
{
	MP_CLEANUP(finish) bool begun = begin("stubborn");

	CHECK(begun && is_ready());
	order(4711);
	CHECK(all_gone_within(PATIENCE_MS));
}

HEAVY_TEST(orphaned_while_it_starts)
{
	MP_CLEANUP(finish) bool begun = begin("stubborn");

	mp_guard_close(&control);
	mp_guard_close(&lifeline);
	CHECK(begun);
	CHECK(all_gone_within(PATIENCE_MS));
}

/* Those left behind may ignore TERM; then a second passes, or the hub is impatient. */
HEAVY_TEST(leftovers_that_ignore_term)
{
	for (int impatient = 0; impatient < 2; impatient++) {
		const char *const argv[] = {"/bin/sh", "-c", "trap '' TERM; sleep 1000 & exit 5",
					    NULL};
		const char *const env[] = {tag, "PATH=/usr/bin:/bin", NULL};
		MP_CLEANUP(finish) bool begun = false;
		int64_t began_ms = real_ms();

		new_tag();
		begun = begin_launch(&(struct mp_launch){argv, env, NULL, NULL});
		CHECK(begun);
		CHECK_EQ(hear(), MP_NEWS_RUNNING);
		CHECK_EQ(hear(), MP_NEWS_EXITED);
		CHECK_EQ(WEXITSTATUS(last.value), 5);
		order(MP_ORDER_TERM);
		if (impatient)
			order(MP_ORDER_KILL);
		CHECK_EQ(hear(), MP_NEWS_GONE);
		CHECK(impatient || takes_about_a_second(began_ms));
	}
}

HEAVY_TEST(a_failed_start_is_told_with_stage_and_cause)
{
	const char *const argv[] = {"/nonexistent/server", NULL}, *const env[] = {tag, NULL};
	MP_CLEANUP(finish) bool begun = false;

	new_tag();
	begun = begin_launch(&(struct mp_launch){argv, env, NULL, NULL});
	CHECK(begun);
	CHECK_EQ(hear(), MP_NEWS_FAILED);
	CHECK_EQ(last.stage, MP_STAGE_COMMAND);
	CHECK_EQ(last.value, ENOENT);
	CHECK_EQ(hear(), MP_NEWS_GONE);
	CHECK_EQ(hear(), 0);
}

HEAVY_TEST(a_request_that_cannot_be_read_has_failed)
{
	int fds[MP_FDS], sockets[2], status = -1;

	new_tag();
	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	for (int i = 0; i < MP_FDS; i++)
		fds[i] = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(sockets[1], fds[MP_FD_CONTROL]);
	control = sockets[0];
	fflush(NULL);
	shepherd = fork();
	if (shepherd == 0)
		be_shepherd(fds, fds[MP_FD_STDIN]);
	close(sockets[1]);
	for (int i = 0; i < MP_FDS; i++)
		close(fds[i]);
	CHECK_EQ(hear(), MP_NEWS_FAILED);
	CHECK_EQ(last.stage, MP_STAGE_LAUNCH);
	CHECK_EQ(hear(), MP_NEWS_GONE);
	waitpid(shepherd, &status, 0);
	CHECK_EQ(status, 0);
	mp_guard_close(&control);
}
