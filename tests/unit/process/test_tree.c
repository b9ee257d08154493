/*
 * test_tree.c - reading /proc, and signals that reach every descendant and no other process.
 */
#include "process.h"

#include <sys/prctl.h>

#define REST " 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 90112 22 9\n"

TEST(a_line_of_stat)
{
	struct mp_proc p;

	CHECK_EQ(mp_tree_parse(MP_STR("12 (cat) S 7" REST), &p), 0);
	CHECK_EQ(p.pid, 12);
	CHECK_EQ(p.parent, 7);
	CHECK_EQ(p.state, 'S');
	CHECK_EQ(p.threads, 1);
	CHECK_EQ(p.started, 4711);
	CHECK_EQ(p.cpu_ticks, 5 + 6 + 7 + 8);
	CHECK_TEXT(p.name, "cat");
}

TEST(names_may_look_like_anything)
{
	struct mp_proc p;

	CHECK_EQ(mp_tree_parse(MP_STR("12 (a) S 1 (b c)) R 7" REST), &p), 0);
	CHECK(p.parent == 7 && p.state == 'R');
	CHECK_TEXT(p.name, "a) S 1 (b c)");
	CHECK_EQ(mp_tree_parse(MP_STR("12 () Z 7" REST), &p), 0);
	CHECK_TEXT(p.name, "");
	CHECK(!mp_tree_is_alive(&p));
	CHECK_EQ(mp_tree_parse(MP_STR("12 (\n) X 7" REST), &p), 0);
	CHECK(!mp_tree_is_alive(&p));
	CHECK_EQ(mp_tree_parse(MP_STR("12 (kworker/u4:2-events_unbound) I 2" REST), &p), 0);
	CHECK_TEXT(p.name, "kworker/u4:2-ev");
}

TEST(what_is_not_stat_is_refused)
{
	static const char *const bad[] = {"",
					  "12",
					  "12 (cat",
					  "12 )cat( S 7" REST,
					  "(cat) S 7" REST,
					  "12 (cat) S",
					  "12 (cat) S 7 1 1",
					  "12 (cat) S 7 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0",
					  "x (cat) S 7" REST};
	char large[3000];
	struct mp_proc p;

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++)
		CHECK_EQ(mp_tree_parse(mp_str_of(bad[i]), &p), MCPOOL_EPARSE);
	CHECK_EQ(mp_tree_parse(MP_STR("12 (c\0t) S 7" REST), &p), MCPOOL_EPARSE);
	memset(large, '1', sizeof(large));
	CHECK_EQ(mp_tree_parse((struct mp_str){large, sizeof(large)}, &p), MCPOOL_EPARSE);
}

TEST(memory_of_a_process_is_its_share)
{
	CHECK_EQ(mp_tree_parse_memory(
			 MP_STR("1000-2000 ---p 0 0 0 [rollup]\nRss:  9 kB\nPss:    1216 kB\n"
				"Pss_Dirty: 5 kB\n")),
		 1216 * 1024);
	CHECK_EQ(mp_tree_parse_memory(MP_STR("x\nPss:\t7")), 7 * 1024);
	CHECK_EQ(mp_tree_parse_memory(MP_STR("")), -1);
	CHECK_EQ(mp_tree_parse_memory(MP_STR("Rss: 9 kB\n")), -1);
	CHECK_EQ(mp_tree_parse_memory(MP_STR("x\nPss:")), -1);
	CHECK_EQ(mp_tree_parse_memory(MP_STR("x\nPss: kB\n")), -1);
	CHECK(mp_tree_parse_memory(MP_STR("x\nPss: 99999999999999999999999 kB\n")) > 0);
}

TEST(this_very_process)
{
	struct mp_proc p;

	CHECK_EQ(mp_tree_read(getpid(), &p), 0);
	CHECK_EQ(p.parent, getppid());
	CHECK(mp_tree_is_alive(&p));
	CHECK_EQ(mp_tree_read(0x3fffffff, &p), MCPOOL_ENOENT);
}

/* --- trees ---------------------------------------------------------------------------------- */

static pid_t start_helper(const char *what)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int ends[2];
	char byte;
	pid_t pid;

	if (null < 0 || pipe2(ends, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(null, 0);
		dup2(ends[1], 1);
		execle(HELPER_SERVER, HELPER_SERVER, what, NULL, (char *const[]){tag, NULL});
		_exit(127);
	}
	close(null);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1) /* it says when all of its tree is there */
		pid = -1;
	close(ends[0]);
	return pid;
}

/* The test is a subreaper, as killing a tree requires: without children, no descendant is left. */
static bool kill_until_childless(void)
{
	int64_t until = real_ms() + PATIENCE_MS;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
		REQUIRE(real_ms() < until);
		if (pid == 0)
			REQUIRE(mp_tree_signal(getpid(), SIGKILL, NULL, NULL) >= 0);
	}
	return true;
}

static bool reach_all(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	new_tag();
	REQUIRE(start_helper("stubborn") > 0);
	REQUIRE(mp_tree_signal(getpid(), 0, NULL, NULL) == 4);
	REQUIRE(mp_tree_signal(getpid(), SIGTERM, NULL, NULL) == 4); /* which they ignore */
	REQUIRE(count_alive("", NULL) == 4);
	REQUIRE(kill_until_childless());
	REQUIRE(all_gone_within(PATIENCE_MS));
	return count_zombies_of_ours() == 0;
}

/* E67 */
TEST(who_is_below_whom)
{
	CHECK(mp_tree_is_below(getpid(), getppid()));
	CHECK(!mp_tree_is_below(getpid(), getpid()));
	CHECK(!mp_tree_is_below(getppid(), getpid()));
	CHECK(!mp_tree_is_below(0, getpid()));
	CHECK(!mp_tree_is_below(0x3fffffff, getpid()));
}

HEAVY_TEST(every_descendant_is_reached)
{
	CHECK(reach_all());
}

static void list_again(const bool *scanned)
{
	mp_tree_set_only_scan(!*scanned);
}

HEAVY_TEST(every_descendant_is_reached_without_lists_of_children)
{
	MP_CLEANUP(list_again) bool scanned = true;

	mp_tree_set_only_scan(scanned);
	CHECK(reach_all());
}

static bool is_other(const struct mp_proc *p, void *u)
{
	return p->pid != *(pid_t *)u;
}

HEAVY_TEST(some_children_are_spared_with_all_below_them)
{
	pid_t spared;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	new_tag();
	spared = start_helper("stubborn");
	CHECK(spared > 0 && start_helper("stubborn") > 0);
	for (int i = 0; i < 1000 && mp_tree_signal(getpid(), SIGKILL, is_other, &spared) > 0; i++)
		nap_ms(5);
	CHECK_EQ(count_alive("", NULL), 2); /* itself, and the child that did not leave it */
	CHECK(kill_until_childless());
	CHECK(all_gone_within(PATIENCE_MS));
}

HEAVY_TEST(those_who_fork_faster_than_we_look_are_caught)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	new_tag();
	CHECK(start_helper("breeder") > 0);
	CHECK(kill_until_childless());
	CHECK(all_gone_within(PATIENCE_MS));
}

/* --- our own -------------------------------------------------------------------------------- */

HEAVY_TEST(children_are_struck_and_some_spared)
{
	pid_t spared, other;
	int status = 0;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	new_tag();
	spared = start_helper("stubborn");
	other = start_helper("stubborn");
	CHECK(spared > 0 && other > 0);
	mp_tree_strike(SIGKILL, is_other, &spared);
	CHECK_EQ(waitpid(other, &status, 0), other);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	CHECK_EQ(waitpid(spared, NULL, WNOHANG), 0);
	CHECK(kill_until_childless());
	CHECK(all_gone_within(PATIENCE_MS));
}

HEAVY_TEST(a_pid_with_another_owner_is_not_signalled)
{
	struct mp_proc p;
	pid_t pid;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	new_tag();
	pid = start_helper("stubborn");
	CHECK(pid > 0 && mp_tree_read(pid, &p) == 0);
	p.started--; /* as if it had begun earlier, and ended since */
	mp_tree_signal_one(&p, SIGKILL);
	nap_ms(20);
	CHECK_EQ(waitpid(pid, NULL, WNOHANG), 0);
	p.started++;
	mp_tree_signal_one(&p, SIGKILL);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	CHECK(kill_until_childless());
}

static bool measure(int64_t processes)
{
	struct mp_tree_usage all = {0};

	REQUIRE(mp_tree_measure(getpid(), &all) == 0);
	return all.processes == processes && all.cpu_us >= 0 && (processes > 0) == (all.memory > 0);
}

HEAVY_TEST(what_a_tree_uses)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	new_tag();
	CHECK(start_helper("stubborn") > 0);
	CHECK(measure(4));
	mp_tree_set_only_scan(true);
	CHECK(measure(4));
	mp_tree_set_only_scan(false);
	CHECK(kill_until_childless());
}

TEST(what_a_process_uses)
{
	struct mp_tree_usage usage = {0};

	mp_tree_measure_one(0x3fffffff, &usage);
	CHECK_EQ(usage.processes, 0);
	mp_tree_measure_one(getpid(), &usage);
	CHECK_EQ(usage.processes, 1);
	CHECK(usage.memory > 0);
	CHECK(measure(0));
}
