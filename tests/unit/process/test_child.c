/*
 * test_child.c - one server process as the hub sees it: every cell of the table with a shepherd
 * that is played by the test, then real servers.
 */
#include "process.h"
#include "folder.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "process/exec.h"
#include "files/identity.h"
#include "process/shepherd.h"

static struct mp_loop *loop;
static struct mp_launcher *launcher;
static struct mp_child *child;
static int fds[3];   /* of a real server */
static int shepherd; /* the other end of control, where the test plays it */
static char journal[64];
static int last_status;
static pid_t last_pid;
static struct mcpool_error last_why;
static void (*meddle)(void); /* from within a hook */

static void note(const char *what)
{
	strncat(journal, what, sizeof(journal) - strlen(journal) - 1);
}

static void on_running(void *u, pid_t pid)
{
	note(u);
	note("R");
	last_pid = pid;
	if (meddle)
		meddle();
}

static void on_failed(void *u, const struct mcpool_error *why)
{
	note(u);
	note("F");
	last_why = *why;
	if (meddle)
		meddle();
}

static void on_exited(void *u, int status)
{
	note(u);
	note("X");
	last_status = status;
	if (meddle)
		meddle();
}

static void on_hang_up(void *u)
{
	note(u);
	note("H");
	if (fds[0] >= 0)
		close(fds[0]);
	fds[0] = -1;
}

static void on_gone(void *u)
{
	note(u);
	note("G");
	if (meddle)
		meddle();
}

static const struct mp_child_hooks hooks = {on_running, on_failed, on_exited, on_hang_up, on_gone};

static bool begin(void)
{
	new_tag();
	child = NULL;
	meddle = NULL;
	journal[0] = '\0';
	last_status = -1;
	last_pid = 0;
	fds[0] = fds[1] = fds[2] = shepherd = -1;
	if (mp_loop_new_by_hand(1000000, &loop) < 0)
		return false;
	return mp_launcher_new(loop, MCPOOL_EXE, &launcher, NULL) == 0;
}

static void close_all(void)
{
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (shepherd >= 0)
		close(shepherd);
	fds[0] = fds[1] = fds[2] = shepherd = -1;
}

static void finish(bool *begun)
{
	if (!*begun)
		return;
	child = mp_child_free(child);
	close_all();
	launcher = mp_launcher_free(launcher);
	loop = mp_loop_free(loop);
	(void)test_true(all_gone_within(PATIENCE_MS), "nothing is left", __FILE__, __LINE__);
	(void)test_equal(count_zombies_of_ours(), 0, "zombies", __FILE__, __LINE__);
	kill_all_tagged();
}

/* --- every cell ----------------------------------------------------------------------------- */

static bool adopt(void)
{
	const char *const argv[] = {"files", NULL}, *const env[] = {NULL};
	struct mp_launch launch = {argv, env, "/srv", NULL};
	int ends[2];

	REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	shepherd = ends[1];
	return mp_child_adopt(launcher, ends[0], &launch, &hooks, (void *)"", &child, NULL) == 0;
}

static void tell(enum mp_news news, int stage, int value)
{
	struct mp_report report = {news, stage, value, 0};

	(void)!send(shepherd, &report, sizeof(report), MSG_NOSIGNAL);
}

static void note_orders(void)
{
	uint32_t order;

	while (shepherd >= 0 && recv(shepherd, &order, sizeof(order), MSG_DONTWAIT) > 0)
		note(order == MP_ORDER_TERM ? "t" : order == MP_ORDER_KILL ? "k" : "?");
}

/* One letter of a script: news in lower case, our wishes in upper, digits let time pass. */
static void play(char step)
{
	switch (step) {
	case 'r':
		tell(MP_NEWS_RUNNING, 0, 4711);
		break;
	case 'f':
		tell(MP_NEWS_FAILED, MP_STAGE_FOLDER, ENOENT);
		break;
	case 'e':
		tell(MP_NEWS_EXITED, 0, 3 << 8);
		break;
	case 'g':
		tell(MP_NEWS_GONE, 0, 0);
		break;
	case 'b': /* not a word we know */
		(void)!send(shepherd, "bad", 3, MSG_NOSIGNAL);
		break;
	case 'c':
		close(shepherd);
		shepherd = -1;
		break;
	case 'S':
		mp_child_stop(child);
		break;
	case 'K':
		mp_child_kill(child);
		break;
	case '1':
		mp_loop_advance(loop, MP_CHILD_EOF_MS);
		break;
	case '2':
		mp_loop_advance(loop, MP_CHILD_TERM_MS);
		break;
	case '3':
		mp_loop_advance(loop, MP_CHILD_KILL_MS);
		break;
	default:
		mp_loop_advance(loop, MP_CHILD_TERM_MS + MP_CHILD_KILL_MS);
	}
	mp_loop_advance(loop, 0);
	note_orders();
}

struct scene {
	const char *script;
	const char *journal; /* hooks in upper case, orders in lower */
};

static const struct scene scenes[] = {
	/* starting */
	{"r", "R"},
	{"f", "F"},
	{"c", "FG"},
	{"b", "FG"},
	{"S", "H"},
	{"K", "k"},
	/* running */
	{"re", "RX"},
	{"rc", "RXG"},
	{"rS", "RH"},
	{"rK", "Rk"},
	/* closing */
	{"Sr", "HR"},
	{"Sfg", "HFG"},
	{"rSeg", "RHXG"},
	{"rSc", "RHXG"},
	{"Sc", "HG"},
	{"SS", "H"},
	{"SK", "Hk"},
	{"S1", "Ht"},
	/* termed */
	{"S1r", "HtR"},
	{"S1fg", "HtFG"},
	{"rS1eg", "RHtXG"},
	{"rS1c", "RHtXG"},
	{"S1S", "Ht"},
	{"S1K", "Htk"},
	{"S12", "Htk"},
	/* leaving */
	{"reg", "RXG"},
	{"fg", "FG"},
	{"rec", "RXG"},
	{"fc", "FG"},
	{"reS", "RX"},
	{"reK", "RXk"},
	{"re4", "RXk"},
	{"f4", "Fk"},
	/* killing */
	{"Kreg", "kRXG"},
	{"Kfg", "kFG"},
	{"rKeg", "RkXG"},
	{"rKc", "RkXG"},
	{"Kc", "kG"},
	{"KS", "k"},
	{"KK", "k"},
	{"rK3", "RkXG"},
	{"rS123", "RHtkXG"},
	/* gone */
	{"regSK", "RXG"},
};

HEAVY_TEST(every_cell_of_the_table)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(scenes); i++) {
		MP_CLEANUP(finish) bool begun = begin();
		char got[100], want[100];

		CHECK(begun && adopt());
		for (const char *p = scenes[i].script; *p; p++)
			play(*p);
		snprintf(got, sizeof(got), "%s: %s", scenes[i].script, journal);
		snprintf(want, sizeof(want), "%s: %s", scenes[i].script, scenes[i].journal);
		CHECK_TEXT(got, want);
	}
}

static void wish_again(void)
{
	mp_child_stop(child);
	mp_child_kill(child);
}

/* Of a lost child nothing can be wished any more: its end is under way. */
HEAVY_TEST(wishes_for_a_lost_child)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && adopt());
	play('r');
	meddle = wish_again;
	play('c');
	CHECK_TEXT(journal, "RXG");
	CHECK(WIFSIGNALED(last_status) && WTERMSIG(last_status) == SIGKILL);
}

HEAVY_TEST(the_rungs_are_not_early)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && adopt());
	play('r');
	play('S');
	mp_loop_advance(loop, MP_CHILD_EOF_MS - 1);
	note_orders();
	CHECK_TEXT(journal, "RH");
	mp_loop_advance(loop, 1);
	note_orders();
	CHECK_TEXT(journal, "RHt");
	mp_loop_advance(loop, MP_CHILD_TERM_MS - 1);
	note_orders();
	CHECK_TEXT(journal, "RHt");
	mp_loop_advance(loop, 1);
	note_orders();
	CHECK_TEXT(journal, "RHtk");
}

static void run_twice(void)
{
	if (!begin() || !adopt())
		return;
	play('r');
	play('r');
}

static void exit_before_running(void)
{
	if (!begin() || !adopt())
		return;
	play('e');
}

HEAVY_TEST(an_empty_cell_is_a_broken_promise)
{
	CHECK(test_stops(run_twice));
	CHECK(test_stops(exit_before_running));
	while (waitpid(-1, NULL, 0) > 0)
		; /* their launchers, which fell to us */
}

static void free_it(void)
{
	child = mp_child_free(child);
}

HEAVY_TEST(a_child_may_be_freed_from_every_hook)
{
	static const char *const scripts[] = {"r", "f", "re", "rc", "c"};

	for (size_t i = 0; i < MP_ARRAY_LEN(scripts); i++) {
		MP_CLEANUP(finish) bool begun = begin();
		size_t last = strlen(scripts[i]) - 1;

		CHECK(begun && adopt());
		for (size_t n = 0; n < last; n++)
			play(scripts[i][n]);
		meddle = free_it;
		play(scripts[i][last]);
		CHECK(!child);
		mp_loop_advance(loop, 10000); /* nothing comes any more */
		CHECK_EQ(strlen(journal), last + 1 + (shepherd >= 0));
	}
}

/* --- real servers --------------------------------------------------------------------------- */

static bool spawn_launch(const struct mp_launch *launch)
{
	return mp_child_spawn(launcher, launch, &hooks, (void *)"", &child, fds, NULL) == 0;
}

static bool spawn(const char *what, const char *argument)
{
	struct recipe r;

	return spawn_launch(run_helper(&r, what, argument));
}

static bool is_gone(void)
{
	return strchr(journal, 'G') != NULL;
}

static char output[8192];

/* What it wrote, once it is gone. */
static bool read_output(void)
{
	ssize_t n;

	if (!TURN_UNTIL(loop, is_gone()))
		return false;
	n = read(fds[1], output, sizeof(output) - 1);
	output[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/* E12 */
HEAVY_TEST(a_server_gets_pipes_and_its_pid_is_known)
{
	MP_CLEANUP(finish) bool begun = begin();
	char bytes[8] = "";

	CHECK(begun && spawn("echo", NULL));
	CHECK_TEXT(journal, ""); /* nothing is told from within spawn */
	for (int i = 0; i < 3; i++) {
		CHECK(is_pipe(fds[i]));
		CHECK(fcntl(fds[i], F_GETFL) & O_NONBLOCK);
		CHECK(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
	}
	CHECK(TURN_UNTIL(loop, last_pid > 0));
	CHECK_EQ(mp_child_get_pid(child), last_pid);
	CHECK_EQ(kill(last_pid, 0), 0);
	CHECK_EQ(write(fds[0], "ping", 4), 4);
	CHECK(TURN_UNTIL(loop, read(fds[1], bytes, sizeof(bytes)) == 4));
	CHECK_TEXT(bytes, "ping");
	mp_child_stop(child);
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_TEXT(journal, "RHXG");
	CHECK_EQ(last_status, 0); /* it left by itself when its input ended */
}

/* V55: exactly these variables and descriptors, and signals as a program expects them. */
HEAVY_TEST(a_server_finds_what_it_was_given_and_nothing_else)
{
	MP_CLEANUP(finish) bool begun = begin();
	const char *const argv[] = {HELPER_SERVER, "show", NULL};
	const char *const env[] = {tag, "A=1", "EMPTY=", NULL};
	char want[300];
	int left_open = open("/dev/null", O_RDONLY); /* a host program is not always careful */

	CHECK(begun && spawn_launch(&(struct mp_launch){argv, env, "/usr", NULL}));
	CHECK(read_output());
	close(left_open);
	snprintf(want, sizeof(want),
		 "env %s\nenv A=1\nenv EMPTY=\nfd 0\nfd 1\nfd 2\ncwd /usr\nleader 1\n", tag);
	CHECK_TEXT(output, want);
	CHECK_EQ(last_status, 0);
}

/* The identity of this file, as it was read when it was approved. */
static const char *identity_of(const char *path)
{
	static char texts[2][500];
	static unsigned next;
	char *text = texts[next++ % 2];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct stat st;

	mp_buf_init(&out, sizeof(texts[0]));
	if (stat(path, &st) < 0 || mp_identity_add(&st, path, &out) < 0)
		return "";
	snprintf(text, sizeof(texts[0]), "%.*s", (int)out.len, out.data);
	return text;
}

/* attack-S6: a checked program is run from its descriptor, which the server does not get. */
HEAVY_TEST(a_checked_program_runs_as_any_other)
{
	MP_CLEANUP(finish) bool begun = begin();
	const char *const argv[] = {HELPER_SERVER, "show", NULL};
	const char *const env[] = {tag, NULL};
	const char *const seen[] = {identity_of("/dev/null"), identity_of(HELPER_SERVER), NULL};
	char want[300];

	CHECK(begun && spawn_launch(&(struct mp_launch){argv, env, "/usr", seen}));
	CHECK(read_output());
	snprintf(want, sizeof(want), "env %s\nfd 0\nfd 1\nfd 2\ncwd /usr\nleader 1\n", tag);
	CHECK_TEXT(output, want);
}

HEAVY_TEST(servers_go_first_when_memory_runs_out)
{
	MP_CLEANUP(finish) bool begun = begin();
	int ours, theirs;

	CHECK(begun && spawn("echo", NULL));
	CHECK(TURN_UNTIL(loop, last_pid > 0));
	CHECK_EQ(mp_exec_get_oom(getpid(), &ours), 0);
	CHECK_EQ(mp_exec_get_oom(last_pid, &theirs), 0);
	CHECK(theirs > ours || ours == MP_EXEC_OOM_MAX);
}

HEAVY_TEST(a_large_environment_arrives_whole)
{
	enum { VARIABLES = 30, EACH = 10000 };
	static char values[VARIABLES][EACH + 20];
	static const char *env[VARIABLES + 2];
	const char *const argv[] = {"/bin/sh", "-c", "echo ${#V0} ${#V29}", NULL};
	MP_CLEANUP(finish) bool begun = begin();

	for (int i = 0; i < VARIABLES; i++) {
		int n = snprintf(values[i], sizeof(values[i]), "V%d=", i);

		memset(values[i] + n, 'v', EACH);
		env[i] = values[i];
	}
	env[VARIABLES] = tag;
	CHECK(begun && spawn_launch(&(struct mp_launch){argv, env, NULL, NULL}));
	CHECK(read_output());
	CHECK_TEXT(output, "10000 10000\n");
}

/* --- starts that fail ----------------------------------------------------------------------- */

static bool write_file(const char *name, const char *text, mode_t mode)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", test_folder, name);
	f = fopen(path, "w");
	if (!f)
		return false;
	fputs(text, f);
	fclose(f);
	return chmod(path, mode) == 0;
}

static bool make_folder(void)
{
	char path[300];

	if (!folder_make())
		return false;
	snprintf(path, sizeof(path), "%s/dir", test_folder);
	return mkdir(path, 0700) == 0 && write_file("mine", "#!/bin/sh\necho mine\n", 0700) &&
	       write_file("plain", "#!/bin/sh\n", 0600) && write_file("text", "echo no\n", 0700) &&
	       write_file("lost", "#!/nonexistent/interpreter\n", 0700);
}

/* Run `command` in cwd with our folder as its PATH; the words of its failure. */
static const char *fail(const char *command, const char *cwd)
{
	MP_CLEANUP(finish) bool begun = begin();
	const char *const argv[] = {command, NULL};
	char path[300];
	const char *const env[] = {tag, path, NULL};

	snprintf(path, sizeof(path), "PATH=/nonexistent:%s", test_folder);
	last_why.message[0] = '\0';
	if (!begun || !spawn_launch(&(struct mp_launch){argv, env, cwd, NULL}) ||
	    !TURN_UNTIL(loop, is_gone()) || strcmp(journal, "FG") != 0)
		return "it did not fail";
	return last_why.message;
}

HEAVY_TEST(a_failed_start_names_stage_and_cause)
{
	bool made = make_folder();

	CHECK(made);
	CHECK_TEXT(fail("foo", NULL), "the command 'foo' was not found in PATH");
	CHECK_TEXT(fail("sh", NULL), "the command 'sh' was not found in PATH"); /* ours has it */
	CHECK_TEXT(fail("dir", NULL), "the command 'dir' was not found in PATH");
	CHECK_TEXT(fail("plain", NULL), "'plain' is not executable (chmod +x?)");
	CHECK_TEXT(fail("./plain", test_folder), "'./plain' is not executable (chmod +x?)");
	CHECK_TEXT(fail("./foo", test_folder), "'./foo' does not exist");
	CHECK_TEXT(fail("./dir", test_folder), "'./dir' is a folder, not a program");
	CHECK_TEXT(fail("./text", test_folder),
		   "'./text' is not a program: no #! line and no executable format");
	CHECK_TEXT(fail("text", test_folder),
		   "'text' is not a program: no #! line and no executable format");
	CHECK_TEXT(fail("./lost", test_folder),
		   "'./lost' is there, but the interpreter it names does not exist");
	CHECK_TEXT(fail("mine", "/nonexistent"), "the folder '/nonexistent' does not exist");
	CHECK_TEXT(fail("mine", "/dev/null"), "'/dev/null' is not a folder");
}

/* Run ./mine of our folder where this must still hold. */
static const char *run_mine(const char *identity)
{
	MP_CLEANUP(finish) bool begun = begin();
	const char *const argv[] = {"./mine", NULL}, *const env[] = {tag, NULL};
	const char *const seen[] = {identity, NULL};

	output[0] = last_why.message[0] = '\0';
	if (!begun || !spawn_launch(&(struct mp_launch){argv, env, test_folder, seen}))
		return "not spawned";
	if (!read_output() && !TURN_UNTIL(loop, is_gone()))
		return "it does not end";
	return output[0] ? output : last_why.message;
}

/* attack-S6: between the check and exec a file was written, replaced or removed. */
HEAVY_TEST(a_file_that_changed_meanwhile_is_not_run)
{
	static const char refused[] =
		"a file that './mine' runs changed in the moment it was started";
	bool made = make_folder();
	char mine[300], other[300], identity[500];

	CHECK(made);
	snprintf(mine, sizeof(mine), "%s/mine", test_folder);
	snprintf(other, sizeof(other), "%s/other", test_folder);
	snprintf(identity, sizeof(identity), "%s", identity_of(mine));
	CHECK_TEXT(run_mine(identity), "mine\n");
	CHECK(write_file("other", "#!/bin/sh\necho evil\n", 0700) && rename(other, mine) == 0);
	CHECK_TEXT(run_mine(identity), refused);
	snprintf(identity, sizeof(identity), "%s", identity_of(mine));
	do /* in place, until the kernel's clock has moved on */
		CHECK(write_file("mine", "#!/bin/sh\necho mean\n", 0700));
	while (strcmp(identity, identity_of(mine)) == 0);
	CHECK_TEXT(run_mine(identity), refused);
	CHECK_EQ(unlink(mine), 0);
	CHECK_TEXT(run_mine(identity), refused);
	CHECK_TEXT(run_mine("garbage"), refused);
}

HEAVY_TEST(a_variable_larger_than_the_system_takes)
{
	static char large[200000] = "V=";
	const char *const argv[] = {"/bin/true", NULL}, *const env[] = {large, NULL};
	MP_CLEANUP(finish) bool begun = begin();

	memset(large + 2, 'v', sizeof(large) - 3);
	CHECK(begun && spawn_launch(&(struct mp_launch){argv, env, NULL, NULL}));
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_TEXT(last_why.message,
		   "arguments and environment of '/bin/true' are too large for the system");
}

HEAVY_TEST(a_command_is_found_in_the_path_of_the_server)
{
	bool made = make_folder();
	MP_CLEANUP(finish) bool begun = begin();
	const char *const argv[] = {"mine", NULL};
	char path[300];
	const char *const env[] = {tag, path, NULL};

	snprintf(path, sizeof(path), "PATH=%s", test_folder);
	CHECK(made && begun && spawn_launch(&(struct mp_launch){argv, env, NULL, NULL}));
	CHECK(read_output());
	CHECK_TEXT(output, "mine\n");
}

HEAVY_TEST(arguments_that_cannot_be_passed_are_refused_at_once)
{
	MP_CLEANUP(finish) bool begun = begin();
	const char *const argv[] = {"", NULL}, *const env[] = {NULL};
	struct mcpool_error e;

	CHECK(begun);
	CHECK_EQ(mp_child_spawn(launcher, &(struct mp_launch){argv, env, NULL, NULL}, &hooks,
				(void *)"", &child, fds, &e),
		 MCPOOL_EINVAL);
	CHECK_TEXT(e.message, "no command to run");
}

/* --- ends ----------------------------------------------------------------------------------- */

HEAVY_TEST(an_exit_is_told_with_its_status)
{
	MP_CLEANUP(finish) bool begun = begin();
	char words[64];

	CHECK(begun && spawn("exit", "7"));
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_TEXT(journal, "RXG");
	CHECK_TEXT(mp_child_describe_exit(last_status, words, sizeof(words)), "exited with code 7");
}

HEAVY_TEST(a_crash_is_told_with_its_signal)
{
	MP_CLEANUP(finish) bool begun = begin();
	char words[64];

	CHECK(begun && spawn("crash", NULL));
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_TEXT(mp_child_describe_exit(last_status, words, sizeof(words)),
		   "was killed by SIGSEGV");
	CHECK_TEXT(mp_child_describe_exit(0x3f, words, sizeof(words)), "was killed by signal 63");
	CHECK_TEXT(mp_child_describe_exit(0x137f, words, sizeof(words)),
		   "ended with wait status 4991");
}

/* The test moves the hub's clock; the server reacts in real time. */
HEAVY_TEST(a_server_that_waits_for_term_gets_it)
{
	const char *const argv[] = {"/bin/sleep", "1000", NULL};
	const char *const env[] = {tag, NULL};
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && spawn_launch(&(struct mp_launch){argv, env, NULL, NULL}));
	CHECK(TURN_UNTIL(loop, last_pid > 0));
	mp_child_stop(child);
	mp_loop_advance(loop, MP_CHILD_EOF_MS);
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_TEXT(journal, "RHXG");
	CHECK(WIFSIGNALED(last_status) && WTERMSIG(last_status) == SIGTERM);
}

/* E67 U29 */
HEAVY_TEST(a_tree_that_ignores_everything_is_killed)
{
	MP_CLEANUP(finish) bool begun = begin();
	char bytes[64];

	CHECK_EQ(MP_CHILD_EOF_MS, 1500);
	CHECK_EQ(MP_CHILD_TERM_MS, 1000); /* together below 3 s */
	CHECK(begun && spawn("stubborn", NULL));
	CHECK(TURN_UNTIL(loop, read(fds[1], bytes, sizeof(bytes)) > 0));
	CHECK_EQ(count_alive("helper_server", NULL), 4);
	CHECK(TURN_UNTIL(loop, last_pid > 0));
	mp_child_stop(child);
	mp_loop_advance(loop, MP_CHILD_EOF_MS);
	nap_ms(50);
	CHECK_EQ(count_alive("helper_server", NULL), 4);
	mp_loop_advance(loop, MP_CHILD_TERM_MS);
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_EQ(count_alive("helper_server", NULL), 0); /* gone means gone */
	CHECK_TEXT(journal, "RHXG");
}

HEAVY_TEST(a_tree_that_forks_all_the_time_is_killed)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && spawn("breeder", NULL));
	CHECK(TURN_UNTIL(loop, last_pid > 0));
	nap_ms(50);
	mp_child_kill(child);
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_EQ(count_alive("helper_server", NULL), 0);
}

HEAVY_TEST(what_a_server_leaves_behind_is_taken_down)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && spawn("litter", NULL));
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_TEXT(journal, "RXG");
	CHECK_EQ(WEXITSTATUS(last_status), 3);
	CHECK_EQ(count_alive("helper_server", NULL), 0);
}

HEAVY_TEST(a_child_killed_while_it_starts)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && spawn("echo", NULL));
	mp_child_kill(child);
	CHECK(TURN_UNTIL(loop, is_gone()));
	CHECK_TEXT(journal, "RXG");
	CHECK(WIFSIGNALED(last_status) && WTERMSIG(last_status) == SIGKILL);
}

HEAVY_TEST(a_freed_child_is_killed_though_nobody_waits)
{
	MP_CLEANUP(finish) bool begun = begin();
	char bytes[64];

	CHECK(begun && spawn("stubborn", NULL));
	CHECK(TURN_UNTIL(loop, read(fds[1], bytes, sizeof(bytes)) > 0));
	child = mp_child_free(child);
	for (int i = 0; i < PATIENCE_MS / 5 && count_alive("helper_server", NULL) > 0; i++)
		nap_ms(5);
	CHECK_EQ(count_alive("helper_server", NULL), 0);
	CHECK_EQ(count_alive("mcpool launcher", NULL), 1);
}

/* Whatever keeps a shepherd from obeying, its tree falls to the launcher when it dies. */
HEAVY_TEST(a_stopped_shepherd_is_deposed)
{
	MP_CLEANUP(finish) bool begun = begin();
	char bytes[64];
	pid_t pid = 0;

	CHECK(begun && spawn("stubborn", NULL));
	CHECK(TURN_UNTIL(loop, read(fds[1], bytes, sizeof(bytes)) > 0));
	CHECK(TURN_UNTIL(loop, last_pid > 0));
	CHECK_EQ(count_alive("mcpool shepherd", &pid), 1);
	kill(pid, SIGSTOP);
	mp_child_kill(child);
	mp_loop_advance(loop, MP_CHILD_KILL_MS);
	for (int i = 0; i < 1000 && !is_gone(); i++) {
		nap_ms(20);
		mp_loop_advance(loop, 10);
	}
	CHECK_TEXT(journal, "RXG");
	CHECK_EQ(count_alive("helper_server", NULL), 0);
	CHECK_EQ(count_alive("mcpool shepherd", NULL), 0);
	CHECK_EQ(count_alive("mcpool launcher", NULL), 1);
}
