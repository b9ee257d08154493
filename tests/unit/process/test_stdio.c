/*
 * test_stdio.c - a server process as a transport: what is told, in which order, and why it ended.
 */
#include "process.h"
#include "folder.h"

#include "base/limits.h"
#include "process/stdio.h"
#include "outgoing.h"

static struct mp_loop *loop;
static struct mp_launcher *launcher;
static struct mp_transport *transport;
static char journal[512];
static char why[200];
static char exited[100]; /* pid and how its process ended */
static uint64_t written;
static void (*meddle)(void); /* from within a hook */

static void note(const char *what, struct mp_str s)
{
	size_t n = strlen(journal);

	snprintf(journal + n, sizeof(journal) - n, "%s%.*s ", what, MP_STR_ARGS(s));
}

static void interfere(void)
{
	if (meddle)
		meddle();
}

static void on_opened(void *u)
{
	(void)u;
	note("opened", MP_STR(""));
	interfere();
}

static void on_message(void *u, struct mp_str text)
{
	(void)u;
	note("", text);
	interfere();
}

static void on_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	(void)u;
	(void)tail;
	note("oversize ", (struct mp_str){head.p, 3});
}

static void on_written(void *u, uint64_t total)
{
	(void)u;
	written = total;
}

static void on_ended(void *u, const struct mcpool_error *e)
{
	(void)u;
	note("ended", MP_STR(""));
	snprintf(why, sizeof(why), "%.199s", e->message);
	interfere();
}

static void on_exited(void *u, int pid, const char *how)
{
	(void)u;
	snprintf(exited, sizeof(exited), "%d %s", pid, how);
}

static void on_closed(void *u)
{
	(void)u;
	note("closed", MP_STR(""));
	interfere();
}

static const struct mp_transport_hooks hooks = {.opened = on_opened,
						.message = on_message,
						.oversize = on_oversize,
						.written = on_written,
						.exited = on_exited,
						.ended = on_ended,
						.closed = on_closed};

static bool begin(void)
{
	new_tag();
	journal[0] = why[0] = exited[0] = '\0';
	written = 0;
	meddle = NULL;
	transport = NULL;
	if (mp_loop_new_by_hand(1000000, &loop) < 0)
		return false;
	return mp_launcher_new(loop, MCPOOL_EXE, &launcher, NULL) == 0;
}

static void finish(bool *begun)
{
	if (!*begun)
		return;
	transport = mp_transport_free(transport);
	launcher = mp_launcher_free(launcher);
	loop = mp_loop_free(loop);
	(void)test_true(all_gone_within(PATIENCE_MS), "nothing is left", __FILE__, __LINE__);
	(void)test_equal(count_zombies_of_ours(), 0, "zombies", __FILE__, __LINE__);
	kill_all_tagged();
}

static void make(const struct mp_launch *launch, const char *log_file)
{
	transport = mp_stdio_new(launcher, launch, log_file);
	transport->hooks = &hooks;
}

static bool start(const char *what, const char *argument)
{
	struct recipe r;

	make(run_helper(&r, what, argument), NULL);
	memset(&r, 0x55, sizeof(r)); /* it has a copy */
	return transport->impl->start(transport, NULL) == 0;
}

static bool send_text(const char *text)
{
	return outgoing_send(transport, mp_str_of(text), NULL) == 0;
}

static void hang_up(void)
{
	transport->impl->close(transport);
}

static bool told(const char *what)
{
	return strstr(journal, what) != NULL;
}

/* Real time passes for the server, and as much on the clock by hand. */
static bool wait_for(const char *what)
{
	int64_t last = real_ms();

	return TURN_UNTIL(loop,
			  (mp_loop_advance(loop, real_ms() - last), last = real_ms(), told(what)));
}

HEAVY_TEST(messages_go_both_ways)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && start("echo", NULL));
	CHECK_TEXT(journal, "");
	CHECK_EQ(mp_stdio_get_pid(transport), 0);
	CHECK(!send_text("too early"));
	CHECK(wait_for("opened"));
	CHECK(mp_stdio_get_pid(transport) > 0);
	CHECK(send_text("{\"id\":1}") && send_text("{\"id\":2}"));
	CHECK(wait_for("{\"id\":2}"));
	CHECK_TEXT(journal, "opened {\"id\":1} {\"id\":2} ");
	CHECK_EQ(written, 18);
	hang_up();
	hang_up();
	CHECK(!send_text("too late"));
	CHECK(wait_for("closed"));
	CHECK_TEXT(journal, "opened {\"id\":1} {\"id\":2} closed ");
	CHECK(strstr(exited, " exited with code 0"));
}

/* E12 */
HEAVY_TEST(an_exit_is_told_in_words_with_its_last_ones)
{
	MP_CLEANUP(finish) bool begun = begin();
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	char how[100];

	mp_buf_init(&tail, MP_MIB(1));
	CHECK(begun && start("exit", "7"));
	CHECK(wait_for("ended"));
	CHECK_TEXT(why, "exited with code 7");
	snprintf(how, sizeof(how), "%d exited with code 7", mp_stdio_get_pid(transport));
	CHECK_TEXT(exited, how);
	CHECK_EQ(transport->impl->get_tail(transport, 5, &tail), 0);
	CHECK_STR(mp_buf_get(&tail), "leaving with 7\n");
	CHECK(!send_text("too late"));
	hang_up();
	CHECK(wait_for("closed"));
	CHECK_TEXT(journal, "opened ended closed ");
}

HEAVY_TEST(a_crash_is_told_in_words)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && start("crash", NULL));
	CHECK(wait_for("ended"));
	CHECK_TEXT(why, "was killed by SIGSEGV");
}

/* D22 */
HEAVY_TEST(a_closed_stdout_of_a_living_server)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && start("deaf", NULL));
	CHECK(wait_for("ended"));
	CHECK_TEXT(why, "closed its stdout but is still running");
	CHECK(count_alive("helper_server", NULL) == 1);
	hang_up();
	CHECK(wait_for("closed"));
}

/* The server exits and a daemon of its keeps stdout: its last message arrives, and the end, too. */
HEAVY_TEST(a_descendant_that_holds_stdout_hides_no_end)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && start("litter", NULL));
	CHECK(wait_for("ended"));
	CHECK_TEXT(journal, "opened {\"last\":true} ended ");
	CHECK_TEXT(why, "exited with code 3");
	hang_up();
	CHECK(wait_for("closed"));
}

HEAVY_TEST(a_failed_start_is_an_end)
{
	const char *const argv[] = {"nothing-of-that-name", NULL}, *const env[] = {tag, NULL};
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun);
	make(&(struct mp_launch){argv, env, NULL, NULL}, NULL);
	CHECK_EQ(transport->impl->start(transport, NULL), 0);
	CHECK(wait_for("ended"));
	CHECK_TEXT(why, "the command 'nothing-of-that-name' was not found in PATH");
	CHECK_EQ(mp_stdio_get_pid(transport), 0);
	hang_up();
	CHECK(wait_for("closed"));
	CHECK_TEXT(journal, "ended closed ");
}

HEAVY_TEST(a_launch_that_makes_no_sense_is_refused_by_start)
{
	const char *const argv[] = {"", NULL}, *const env[] = {NULL};
	MP_CLEANUP(finish) bool begun = begin();
	struct mcpool_error e;

	CHECK(begun);
	make(&(struct mp_launch){argv, env, NULL, NULL}, NULL);
	CHECK_EQ(transport->impl->start(transport, &e), MCPOOL_EINVAL);
	CHECK_TEXT(e.message, "no command to run");
	hang_up();
	CHECK_TEXT(journal, ""); /* not from within close */
	CHECK(wait_for("closed"));
	CHECK_TEXT(journal, "closed ");
}

/* E67 U29 X19 */
HEAVY_TEST(closing_takes_a_stubborn_tree_down)
{
	MP_CLEANUP(finish) bool begun = begin();
	int64_t began_ms;

	CHECK(begun && start("stubborn", NULL));
	CHECK(wait_for("ready"));
	began_ms = real_ms();
	hang_up();
	CHECK(wait_for("closed"));
	CHECK(real_ms() - began_ms < 3000 + 1000); /* 2.5 s of ladder, and a busy machine */
	CHECK_EQ(count_alive("helper_server", NULL), 0);
	CHECK_TEXT(journal, "opened {\"ready\":true} closed ");
}

/* It neither reads nor ends: what is queued for it holds nothing up. */
HEAVY_TEST(a_server_that_reads_nothing_is_closed_as_well)
{
	MP_CLEANUP(finish) bool begun = begin();
	static char large[300000];

	memset(large, 'x', sizeof(large) - 1);
	CHECK(begun && start("stubborn", NULL));
	CHECK(wait_for("ready"));
	CHECK(send_text(large));
	mp_loop_advance(loop, 0);
	hang_up();
	CHECK(wait_for("closed"));
}

HEAVY_TEST(freeing_kills_at_once)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && start("stubborn", NULL));
	CHECK(wait_for("ready"));
	transport = mp_transport_free(transport);
	for (int i = 0; i < PATIENCE_MS / 5 && count_alive("helper_server", NULL) > 0; i++)
		nap_ms(5);
	CHECK_EQ(count_alive("helper_server", NULL), 0);
}

static void free_it(void)
{
	transport = mp_transport_free(transport);
}

static void close_once(void)
{
	meddle = NULL;
	hang_up();
}

HEAVY_TEST(hooks_may_free_or_close_it)
{
	static const struct {
		const char *what, *until;
		void (*meddle)(void);
		const char *journal;
	} cases[] = {
		{"stubborn", "opened", free_it, "opened "},
		{"litter", "last", free_it, "opened "},
		{"exit", "ended", free_it, "opened "},
		{"echo", "closed", close_once, "opened closed "},
		{"exit", "closed", close_once, "opened closed "},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(finish) bool begun = begin();

		meddle = cases[i].meddle;
		CHECK(begun && start(cases[i].what, "0"));
		CHECK(wait_for(cases[i].meddle == free_it ? "opened" : cases[i].until));
		mp_loop_advance(loop, 10);
		CHECK_TEXT(journal, cases[i].journal);
	}
}

static void close_when_ended(void)
{
	if (told("ended")) {
		meddle = NULL;
		hang_up();
	}
}

HEAVY_TEST(closing_from_ended)
{
	MP_CLEANUP(finish) bool begun = begin();

	meddle = close_when_ended;
	CHECK(begun && start("exit", "1"));
	CHECK(wait_for("closed"));
	CHECK_TEXT(journal, "opened ended closed ");
}

HEAVY_TEST(closing_while_it_starts)
{
	MP_CLEANUP(finish) bool begun = begin();

	CHECK(begun && start("echo", NULL));
	hang_up();
	CHECK(wait_for("closed"));
	CHECK_TEXT(journal, "closed ");
}

/* R04: the tail is drained while calls are answered; E12: and kept. */
HEAVY_TEST(a_flood_of_stderr_holds_nothing_up)
{
	MP_CLEANUP(finish) bool begun = begin();
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;

	mp_buf_init(&tail, MP_MIB(1));
	CHECK(begun && start("flood", "50000000"));
	CHECK(wait_for("opened"));
	CHECK(send_text("{\"id\":1}"));
	CHECK(wait_for("{\"id\":1}"));
	CHECK_EQ(transport->impl->get_tail(transport, 3, &tail), 0);
	CHECK_EQ(tail.len, 100 + 100 + 37); /* the last write ended within a line */
}

/* E12 */
HEAVY_TEST(stderr_is_logged_to_a_file)
{
	char path[80], text[100] = "";
	MP_CLEANUP(finish) bool begun = begin();
	struct recipe r;
	FILE *f;

	CHECK(begun && folder_make());
	snprintf(path, sizeof(path), "%s/x.log", test_folder);
	make(run_helper(&r, "exit", "2"), path);
	CHECK_EQ(transport->impl->start(transport, NULL), 0);
	CHECK(wait_for("ended"));
	transport = mp_transport_free(transport);
	f = fopen(path, "r");
	if (f) {
		(void)!fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	CHECK(strstr(text, "Z leaving with 2\n"));
}
