/*
 * test_launcher.c - the chain of processes between hub and server, link by link killed.
 * Real processes and, but for one test, real time. Each test ends with nothing left alive of what
 * it started.
 */
#include "process.h"

#include <linux/sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "process/spec.h"

static struct mp_loop *loop;
static struct mp_launcher *launcher;

enum { KIDS = 3, PROMISE_MS = 2000 };

struct kid {
	struct mp_child *child;
	int fds[3];
	pid_t pid;
	int status; /* -1: not exited */
	bool failed, gone;
	char why[200];
};
static struct kid kids[KIDS];

static void on_running(void *u, pid_t pid)
{
	((struct kid *)u)->pid = pid;
}

static void on_failed(void *u, const struct mcpool_error *why)
{
	struct kid *k = u;

	k->failed = true;
	snprintf(k->why, sizeof(k->why), "%.199s", why->message);
}

static void on_exited(void *u, int status)
{
	((struct kid *)u)->status = status;
}

static void on_hang_up(void *u)
{
	struct kid *k = u;

	close(k->fds[0]);
	k->fds[0] = -1;
}

static void on_gone(void *u)
{
	((struct kid *)u)->gone = true;
}

static const struct mp_child_hooks hooks = {on_running, on_failed, on_exited, on_hang_up, on_gone};

static bool begin_with(bool by_hand)
{
	new_tag();
	for (int i = 0; i < KIDS; i++)
		kids[i] = (struct kid){.status = -1, .fds = {-1, -1, -1}};
	if ((by_hand ? mp_loop_new_by_hand(1000000, &loop) : mp_loop_new(&loop)) < 0)
		return false;
	return mp_launcher_new(loop, MCPOOL_EXE, &launcher, NULL) == 0;
}

static bool begin(void)
{
	return begin_with(false);
}

/* What a test must not leave: processes, zombies, handles. */
static void finish(bool *begun)
{
	if (!*begun)
		return;
	for (int i = 0; i < KIDS; i++) {
		kids[i].child = mp_child_free(kids[i].child);
		for (int n = 0; n < 3; n++)
			if (kids[i].fds[n] >= 0)
				close(kids[i].fds[n]);
	}
	launcher = mp_launcher_free(launcher);
	loop = mp_loop_free(loop);
	(void)test_true(all_gone_within(PATIENCE_MS), "nothing is left", __FILE__, __LINE__);
	(void)test_equal(count_zombies_of_ours(), 0, "zombies", __FILE__, __LINE__);
	kill_all_tagged();
}

static bool spawn(struct kid *k, const char *what, const char *argument)
{
	struct recipe r;

	return mp_child_spawn(launcher, run_helper(&r, what, argument), &hooks, k, &k->child,
			      k->fds, NULL) == 0;
}

/* The server says so when all of its tree is there. */
static bool is_ready(struct kid *k)
{
	char bytes[64];

	return read(k->fds[1], bytes, sizeof(bytes)) > 0;
}

static bool start_stubborn(int n)
{
	for (int i = 0; i < n; i++)
		REQUIRE(spawn(&kids[i], "stubborn", NULL));
	for (int i = 0; i < n; i++)
		REQUIRE(TURN_UNTIL(loop, is_ready(&kids[i])) && TURN_UNTIL(loop, kids[i].pid > 0));
	return true;
}

static bool all_told_gone(int n)
{
	for (int i = 0; i < n; i++)
		if (!kids[i].gone)
			return false;
	return true;
}

/* --- in peace ------------------------------------------------------------------------------- */

HEAVY_TEST(a_launcher_comes_and_goes)
{
	MP_CLEANUP(finish) bool begun = begin();
	struct mp_proc p;

	CHECK(begun);
	CHECK(mp_launcher_get_pid(launcher) > 0);
	CHECK(mp_launcher_get_loop(launcher) == loop);
	CHECK(TURN_UNTIL(loop, count_alive("mcpool launcher", NULL) == 1));
	CHECK_EQ(mp_tree_read(mp_launcher_get_pid(launcher), &p), 0);
	CHECK_EQ(p.parent, getpid());
	CHECK(getsid(mp_launcher_get_pid(launcher)) == mp_launcher_get_pid(launcher));
}

HEAVY_TEST(a_launcher_that_is_none_is_told)
{
	struct mp_launcher *l = NULL;
	struct mcpool_error e;

	CHECK_EQ(mp_loop_new(&loop), 0);
	CHECK_EQ(mp_launcher_new(loop, "/nonexistent/mcpool", &l, &e), MCPOOL_ESYSTEM);
	loop = mp_loop_free(loop);
	CHECK(!l);
	CHECK(strstr(e.message, "/nonexistent/mcpool"));
	CHECK_EQ(count_zombies_of_ours(), 0);
}

HEAVY_TEST(signals_that_are_meant_for_the_hub_end_no_launcher)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1};
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && spawn(&kids[0], "echo", NULL));
	CHECK(TURN_UNTIL(loop, kids[0].pid > 0));
	for (size_t i = 0; i < MP_ARRAY_LEN(signals); i++) {
		pid_t shepherd = 0;

		CHECK_EQ(count_alive("mcpool shepherd", &shepherd), 1);
		kill(shepherd, signals[i]);
		kill(mp_launcher_get_pid(launcher), signals[i]);
	}
	CHECK(spawn(&kids[1], "echo", NULL));
	CHECK(TURN_UNTIL(loop, kids[1].pid > 0));
	CHECK_EQ(kids[0].status, -1);
}

/* What we may have open is our business; servers get what is usual. */
HEAVY_TEST(servers_do_not_get_our_limit_of_descriptors)
{
	MP_CLEANUP(finish) bool begun = false;
	struct rlimit before, ours, theirs;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	ours = (struct rlimit){before.rlim_cur / 2, before.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &ours), 0);
	mp_launcher_raise_files();
	begun = begin();
	CHECK(begun);
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &ours), 0);
	CHECK_EQ(ours.rlim_cur, before.rlim_max);
	CHECK_EQ(prlimit(mp_launcher_get_pid(launcher), RLIMIT_NOFILE, NULL, &theirs), 0);
	CHECK_EQ(theirs.rlim_cur, before.rlim_cur / 2);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

HEAVY_TEST(many_at_once)
{
	enum { MANY = 150 };
	static struct kid many[MANY];
	MP_CLEANUP(finish) bool begun = begin();
	bool ok = true;

	CHECK(begun);
	for (int i = 0; i < MANY; i++) {
		many[i] = (struct kid){.status = -1, .fds = {-1, -1, -1}};
		ok = ok && spawn(&many[i], "echo", NULL);
	}
	for (int i = 0; i < MANY && ok; i++)
		ok = TURN_UNTIL(loop, many[i].pid > 0);
	for (int i = 0; i < MANY; i++) {
		if (many[i].child)
			mp_child_kill(many[i].child);
	}
	for (int i = 0; i < MANY; i++) {
		ok = ok && TURN_UNTIL(loop, many[i].gone);
		many[i].child = mp_child_free(many[i].child);
		for (int n = 0; n < 3; n++)
			close(many[i].fds[n]);
	}
	CHECK(ok);
}

/* Two trees that ignore everything and a server that does not, stopped at the same time. */
/* A61 A63 U29 E67 */
HEAVY_TEST(a_stop_of_all_takes_less_than_three_seconds)
{
	MP_CLEANUP(finish) bool begun = begin_with(true);

	CHECK(begun && spawn(&kids[2], "echo", NULL) && start_stubborn(2));
	CHECK(TURN_UNTIL(loop, kids[2].pid > 0));
	for (int i = 0; i < KIDS; i++)
		mp_child_stop(kids[i].child);
	CHECK(TURN_UNTIL(loop, kids[2].gone)); /* it waits for no other */
	CHECK(!kids[0].gone && !kids[1].gone);
	CHECK(MP_CHILD_EOF_MS + MP_CHILD_TERM_MS < 3000);
	mp_loop_advance(loop, MP_CHILD_EOF_MS); /* one clock for all */
	mp_loop_advance(loop, MP_CHILD_TERM_MS);
	CHECK(TURN_UNTIL(loop, all_told_gone(KIDS)));
	CHECK_EQ(count_alive("helper_server", NULL), 0);
}

/* --- killed --------------------------------------------------------------------------------- */

/* E67 U29 */
HEAVY_TEST(a_killed_launcher_leaves_nothing_and_is_replaced)
{
	MP_CLEANUP(finish) bool begun = begin();
	pid_t first;
	int64_t killed_ms;

	CHECK(begun && start_stubborn(2));
	first = mp_launcher_get_pid(launcher);
	kill(first, SIGKILL);
	killed_ms = real_ms();
	CHECK(TURN_UNTIL(loop, all_told_gone(2)));
	CHECK(all_gone_within(PROMISE_MS - (real_ms() - killed_ms)));
	CHECK(kids[0].status >= 0 && kids[1].status >= 0);
	CHECK(TURN_UNTIL(loop, count_zombies_of_ours() == 0));
	CHECK_EQ(mp_launcher_get_pid(launcher), 0);
	CHECK(spawn(&kids[2], "echo", NULL));
	CHECK(TURN_UNTIL(loop, kids[2].pid > 0));
	CHECK(mp_launcher_get_pid(launcher) > 0 && mp_launcher_get_pid(launcher) != first);
}

HEAVY_TEST(a_launcher_killed_just_now_is_replaced_at_once)
{
	MP_CLEANUP(finish) bool begun = begin();
	siginfo_t dead;
	pid_t pid;

	CHECK(begun && spawn(&kids[0], "echo", NULL));
	CHECK(TURN_UNTIL(loop, kids[0].pid > 0));
	pid = mp_launcher_get_pid(launcher);
	kill(pid, SIGKILL);
	CHECK_EQ(waitid(P_PID, (id_t)pid, &dead, WEXITED | WNOWAIT), 0); /* and left a zombie */
	CHECK(spawn(&kids[1], "echo", NULL)); /* before the loop has noticed */
	CHECK(TURN_UNTIL(loop, kids[1].pid > 0));
	CHECK(TURN_UNTIL(loop, kids[0].gone));
	CHECK(!kids[1].gone);
}

/* A launcher that is stopped takes no request; killed then, the request is lost with it. */
HEAVY_TEST(a_start_that_is_lost_with_the_launcher_has_failed)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun);
	kill(mp_launcher_get_pid(launcher), SIGSTOP);
	CHECK(spawn(&kids[0], "echo", NULL));
	kill(mp_launcher_get_pid(launcher), SIGKILL);
	CHECK(TURN_UNTIL(loop, kids[0].gone));
	CHECK(kids[0].failed && kids[0].pid == 0);
	CHECK_TEXT(kids[0].why, "the launcher died before it could start '" HELPER_SERVER "'");
}

HEAVY_TEST(a_killed_shepherd_leaves_nothing)
{
	MP_CLEANUP(finish) bool begun = begin();
	pid_t shepherd = 0;
	char words[64];

	CHECK(begun && start_stubborn(1));
	CHECK_EQ(count_alive("mcpool shepherd", &shepherd), 1);
	kill(shepherd, SIGKILL);
	CHECK(TURN_UNTIL(loop, kids[0].gone));
	CHECK_EQ(count_alive("helper_server", NULL), 0);
	CHECK_TEXT(mp_child_describe_exit(kids[0].status, words, sizeof(words)),
		   "was killed by SIGKILL");
	CHECK_EQ(count_alive("mcpool launcher", NULL), 1);
}

/* Everything between hub and server dies in one moment; the trees fall to the hub. */
HEAVY_TEST(launcher_and_shepherds_killed_together_leave_nothing)
{
	MP_CLEANUP(finish) bool begun = begin();
	pid_t shepherd = 0;
	int64_t killed_ms;

	CHECK(begun && start_stubborn(2));
	kill(mp_launcher_get_pid(launcher), SIGSTOP); /* it shall not help */
	while (count_alive("mcpool shepherd", &shepherd) > 0)
		kill(shepherd, SIGKILL);
	kill(mp_launcher_get_pid(launcher), SIGKILL);
	killed_ms = real_ms();
	CHECK(TURN_UNTIL(loop, all_told_gone(2)));
	CHECK(real_ms() - killed_ms < PROMISE_MS);
	CHECK_EQ(count_alive("", NULL), 0);
	CHECK(TURN_UNTIL(loop, count_zombies_of_ours() == 0));
}

/* Who is stopped hears nothing, until its parent dies. */
HEAVY_TEST(a_stopped_shepherd_sees_the_launcher_die)
{
	MP_CLEANUP(finish) bool begun = begin();
	pid_t shepherd = 0;
	int64_t killed_ms;

	CHECK(begun && start_stubborn(1));
	CHECK_EQ(count_alive("mcpool shepherd", &shepherd), 1);
	kill(shepherd, SIGSTOP);
	kill(mp_launcher_get_pid(launcher), SIGKILL);
	killed_ms = real_ms();
	CHECK(TURN_UNTIL(loop, all_told_gone(1)));
	CHECK(real_ms() - killed_ms < PROMISE_MS);
	CHECK_EQ(count_alive("", NULL), 0);
}

/* A process with this pid, or -1 where that is not allowed. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args how = {
		.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&pid, .set_tid_size = 1};
	long r = syscall(SYS_clone3, &how, sizeof(how));

	if (r == 0) {
		nap_ms(60000);
		_exit(0);
	}
	return (pid_t)r;
}

/* The loop goes on while a launcher takes its time to leave; mp_loop_free() waits for it. */
HEAVY_TEST(a_launcher_that_is_let_go_is_not_waited_for_on_the_loop)
{
	MP_CLEANUP(finish) bool begun = begin();
	pid_t pid;

	CHECK(begun);
	pid = mp_launcher_get_pid(launcher);
	CHECK_EQ(kill(pid, SIGSTOP), 0);
	launcher = mp_launcher_free(launcher);
	CHECK_EQ(kill(pid, 0), 0); /* it is still there: nothing has waited */
	CHECK_EQ(kill(pid, SIGCONT), 0);
}

/* The host program waited for the launcher, and its pid went to somebody else. */
HEAVY_TEST(who_has_the_pid_of_a_dead_launcher_is_spared)
{
	MP_CLEANUP(finish) bool begun = begin();
	pid_t other, pid;

	CHECK(begun);
	pid = mp_launcher_get_pid(launcher);
	kill(pid, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	other = fork_as(pid);
	launcher = mp_launcher_free(launcher);
	if (other < 0) {
		printf("             left out: only root may choose a pid\n");
		return;
	}
	CHECK_EQ(other, pid);
	nap_ms(20);
	CHECK_EQ(waitpid(other, NULL, WNOHANG), 0); /* it lives */
	kill(other, SIGKILL);
	CHECK_EQ(waitpid(other, NULL, 0), other);
}

/* A program that lives beside us in the same process tree is none of our business. */
HEAVY_TEST(children_of_the_host_program_are_spared)
{
	MP_CLEANUP(finish) bool begun = begin();
	pid_t own, shepherd = 0;

	CHECK(begun && start_stubborn(1));
	own = fork();
	if (own == 0) {
		setsid();
		nap_ms(60000);
		_exit(0);
	}
	CHECK_EQ(count_alive("mcpool shepherd", &shepherd), 1);
	kill(shepherd, SIGKILL);
	kill(mp_launcher_get_pid(launcher), SIGKILL);
	CHECK(TURN_UNTIL(loop, kids[0].gone));
	nap_ms(50);
	CHECK_EQ(waitpid(own, NULL, WNOHANG), 0); /* it lives */
	kill(own, SIGKILL);
	CHECK_EQ(waitpid(own, NULL, 0), own);
}

/* --- the hub killed ------------------------------------------------------------------------- */

/* In a process of its own: a hub with two servers that says when they are there. */
static _Noreturn void be_hub(int ready)
{
	if (mp_loop_new(&loop) < 0 || mp_launcher_new(loop, MCPOOL_EXE, &launcher, NULL) < 0 ||
	    !start_stubborn(2))
		_exit(1);
	(void)!write(ready, "r", 1);
	mp_loop_run(loop);
	_exit(0);
}

static pid_t start_hub(void)
{
	int ends[2];
	char byte = 0;
	pid_t pid;

	new_tag();
	for (int i = 0; i < KIDS; i++)
		kids[i] = (struct kid){.status = -1, .fds = {-1, -1, -1}};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		be_hub(ends[1]);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		byte = 0;
	close(ends[0]);
	return byte == 'r' ? pid : -1;
}

static void kill_hub(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* U29 */
HEAVY_TEST(a_killed_hub_leaves_nothing_after_two_seconds)
{
	pid_t hub = start_hub();
	bool gone;

	CHECK(hub > 0);
	CHECK(count_alive("helper_server", NULL) == 8);
	kill_hub(hub);
	gone = all_gone_within(PROMISE_MS);
	kill_all_tagged();
	CHECK(gone);
}

HEAVY_TEST(hub_and_launcher_killed_together_leave_nothing)
{
	pid_t hub = start_hub(), its_launcher = 0;
	bool gone;

	CHECK(hub > 0);
	CHECK_EQ(count_alive("mcpool launcher", &its_launcher), 1);
	kill(its_launcher, SIGKILL);
	kill_hub(hub);
	gone = all_gone_within(PROMISE_MS);
	kill_all_tagged();
	CHECK(gone);
}

HEAVY_TEST(hub_and_shepherds_killed_together_leave_nothing)
{
	pid_t hub = start_hub(), shepherd = 0;
	bool gone;

	CHECK(hub > 0);
	kill_hub(hub);
	while (count_alive("mcpool shepherd", &shepherd) > 0)
		kill(shepherd, SIGKILL);
	gone = all_gone_within(PROMISE_MS);
	kill_all_tagged();
	CHECK(gone);
}

/* With the launcher stopped, or the launcher and a shepherd. */
HEAVY_TEST(a_hub_killed_while_its_helpers_are_stopped_leaves_nothing)
{
	for (int both = 0; both < 2; both++) {
		pid_t hub = start_hub(), its_launcher = 0, shepherd = 0;
		bool gone;

		CHECK(hub > 0);
		CHECK_EQ(count_alive("mcpool launcher", &its_launcher), 1);
		CHECK_EQ(count_alive("mcpool shepherd", &shepherd), 2);
		kill(its_launcher, SIGSTOP);
		if (both)
			kill(shepherd, SIGSTOP);
		kill_hub(hub);
		gone = all_gone_within(PROMISE_MS);
		kill_all_tagged();
		CHECK(gone);
	}
}

/* A fork of the hub that never ends holds its sockets open: the hub's death is seen all the same.
 */
HEAVY_TEST(a_fork_of_the_hub_does_not_hide_its_death)
{
	pid_t hub, holder = 0;
	int ends[2];
	bool gone;

	CHECK_EQ(pipe(ends), 0);
	new_tag();
	fflush(NULL);
	hub = fork();
	if (hub == 0) {
		if (mp_loop_new(&loop) < 0 ||
		    mp_launcher_new(loop, MCPOOL_EXE, &launcher, NULL) < 0 || !start_stubborn(1))
			_exit(1);
		holder = fork();
		if (holder == 0) {
			nap_ms(60000);
			_exit(0);
		}
		(void)!write(ends[1], &holder, sizeof(holder));
		mp_loop_run(loop);
	}
	CHECK_EQ(read(ends[0], &holder, sizeof(holder)), sizeof(holder));
	close(ends[0]);
	close(ends[1]);
	kill_hub(hub);
	gone = all_gone_within(PROMISE_MS);
	kill(holder, SIGKILL);
	kill_all_tagged();
	CHECK(gone);
}
