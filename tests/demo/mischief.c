/*
 * mischief.c - what the knobs do to the process: failing starts, floods, grandchildren, the ledger.
 * Nothing here is good manners; each is something real servers have done to those who run them.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "demo/demo.h"

/* What outstays its welcome does so for five minutes: a test that fails leaves nothing for ever. */
enum { OUTSTAY_S = 300, LEDGER_ARGUMENTS = 512 };

/* --- writing past the loop ---------------------------------------------------------------------
 */

int mp_demo_pour(int fd, struct mp_str s)
{
	while (s.len) {
		ssize_t n = write(fd, s.p, s.len);

		if (n > 0) {
			s.p += n;
			s.len -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			struct pollfd p = {.fd = fd, .events = POLLOUT};

			(void)poll(&p, 1, -1); /* interrupted or not, write() tells */
		} else if (n < 0 && errno != EINTR) {
			return MCPOOL_ECLOSED;
		}
	}
	return 0;
}

void mp_demo_flood(int fd, int64_t bytes)
{
	static const char line[] = "demo-server: this line is noise, and no JSON at all\n";
	char lines[(sizeof(line) - 1) * 256];

	for (size_t i = 0; i < sizeof(lines); i++)
		lines[i] = line[i % (sizeof(line) - 1)];
	while (bytes > 0) {
		size_t n = bytes < (int64_t)sizeof(lines) ? (size_t)bytes : sizeof(lines);

		/* The last line is whole, so that what follows begins on its own. */
		if (mp_demo_pour(fd, (struct mp_str){lines + sizeof(lines) - n, n}) < 0)
			return;
		bytes -= (int64_t)n;
	}
}

/* --- at the start ------------------------------------------------------------------------------
 */

static void wait_ms(int64_t ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	if (ms == MP_DEMO_FOREVER)
		for (;;)
			pause();
	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* A byte more per start; the offset after our own byte is our number, also if others start at the
 * same time. */
static int64_t count_start(const char *file)
{
	int fd = open(file, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int64_t number = -1;

	if (fd >= 0 && write(fd, ".", 1) == 1)
		number = lseek(fd, 0, SEEK_CUR);
	if (fd >= 0)
		close(fd);
	return number;
}

/* It keeps our descriptors, as a forgotten daemon does, and is hard to find and to stop. */
static void be_grandchild(void)
{
	setsid();
	if (fork() != 0)
		_exit(0);
	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_NAME, "demo-orphan");
	alarm(OUTSTAY_S);
	for (;;)
		pause();
}

static void fork_away(int64_t n)
{
	for (; n > 0; n--) {
		pid_t child = fork();

		if (child == 0)
			be_grandchild();
		if (child > 0)
			waitpid(child, NULL, 0);
	}
}

int mp_demo_mischief_at_start(const struct mp_demo_knobs *k)
{
	int64_t start = k->state ? count_start(k->state) : 0;

	if (start < 0) {
		fprintf(stderr, "demo-server: %s: %s\n", k->state, strerror(errno));
		return 1;
	}
	if (start && start >= k->fail_from && start <= k->fail_to) {
		fprintf(stderr, "demo-server: start %lld fails as it was told to\n",
			(long long)start);
		return 1;
	}
	if (k->ignore_term)
		signal(SIGTERM, SIG_IGN);
	fork_away(k->fork);
	mp_demo_flood(STDERR_FILENO, k->flood_stderr);
	wait_ms(k->slow_start_ms);
	return -1;
}

/* --- in a request ------------------------------------------------------------------------------
 */

/* The times of one run are those of the next, and no two neighbours are alike. */
static int64_t jitter(const struct mp_demo_call *c)
{
	uint64_t scattered = (uint64_t)c->number * 0x9e3779b97f4a7c15u;

	return (int64_t)((scattered >> 33) % (uint64_t)(c->demo->knobs.jitter_ms + 1));
}

static bool is_reached(const struct mp_demo_call *c)
{
	return c->number >= c->demo->knobs.from_call;
}

int64_t mp_demo_mischief_delay(const struct mp_demo_call *c)
{
	const struct mp_demo_knobs *k = &c->demo->knobs;

	if (c->demo->is_mute)
		return MP_DEMO_FOREVER;
	switch (c->method) {
	case MP_METHOD_INITIALIZE:
	case MP_METHOD_DISCOVER:
		return k->hang_ms;
	case MP_METHOD_TOOLS_LIST:
	case MP_METHOD_PROMPTS_LIST:
	case MP_METHOD_RESOURCES_LIST:
	case MP_METHOD_TEMPLATES_LIST:
		return k->list_delay_ms;
	case MP_METHOD_TOOLS_CALL:
		return k->hang_calls && is_reached(c) ? MP_DEMO_FOREVER : jitter(c);
	default:
		return 0;
	}
}

/* One write to a file opened for appending, so lines of several servers never mix. */
static void enter(const char *file, struct mp_str id, struct mp_str tool, struct mp_str arguments)
{
	char line[LEDGER_ARGUMENTS + 2 * MP_LIMIT_ID + 64];
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	int n;

	if (arguments.len > LEDGER_ARGUMENTS)
		arguments.len = LEDGER_ARGUMENTS;
	n = snprintf(line, sizeof(line), "%ld %.*s %.*s %.*s\n", (long)getpid(), MP_STR_ARGS(id),
		     MP_STR_ARGS(tool), MP_STR_ARGS(arguments));
	if (fd < 0 || n < 0 || write(fd, line, (size_t)n) != n || fsync(fd) < 0) {
		/* A ledger with gaps would prove the wrong thing. */
		fprintf(stderr, "demo-server: %s: %s\n", file, strerror(errno));
		_exit(1);
	}
	close(fd);
}

void mp_demo_mischief_in_call(struct mp_demo_call *c, struct mp_str tool, struct mp_str arguments)
{
	const struct mp_demo_knobs *k = &c->demo->knobs;

	c->number = ++c->demo->called;
	if (k->ledger)
		enter(k->ledger, mp_demo_id(c), tool, arguments);
	if (k->mute && is_reached(c))
		c->demo->is_mute = true;
	if (k->block_ms && is_reached(c))
		wait_ms(k->block_ms);
}

void mp_demo_mischief_at_end(const struct mp_demo_call *c, const char *how)
{
	if (c->demo->knobs.ends && c->number)
		enter(c->demo->knobs.ends, mp_demo_id(c), MP_STR("end"), mp_str_of(how));
}

bool mp_demo_mischief_may_leave(const struct mp_demo_knobs *k)
{
	if (k->ignore_eof)
		alarm(OUTSTAY_S);
	return !k->ignore_eof;
}
