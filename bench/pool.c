/*
 * pool.c - what a call through the pool costs, beside the same call on a bare upstream.
 * Two lives of the demo server, one behind an upstream and one behind a hub, on the same processor;
 * rounds by turns; the ratio of the minima is the figure. Wanted: p50 of serial calls at most 1.25
 * times the upstream's, and with 64 in flight at least 0.75 of what it carries.
 */
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../tests/unit/heap_call.h"
#include "hub/hub.h"
#include "../tests/unit/heap_pool_call.h"
#include "pool/pool_call.h"
#include "process/stdio.h"

enum { ROUNDS = 9, WARM_UP = 500, FLIGHT = 64 };

#define PARAMS                                                                                     \
	"{\"name\":\"echo\",\"arguments\":{\"message\":\"The quick brown fox jumps over the lazy " \
	"dog\"}}"

struct bench {
	struct mp_loop *loop;
	void (*call)(struct bench *b); /* start one */
	struct mp_launcher *launcher;
	struct mp_upstream *up;
	struct mp_hub *hub;
	const char *argv[3];
	int64_t *v, before; /* of serial calls */
	int todo, sent, answered;
};

static int n_serial = 10000, n_flight = 100000;

static const struct mp_identity me = {.name = "bench", .version = "1", .capabilities = {"{}", 2}};

static void die(const char *what)
{
	fprintf(stderr, "bench_pool: %s\n", what);
	exit(1);
}

static int64_t read_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

/* This thread, and whatever it starts from now on. */
static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		perror("pinning failed, the figures are noisy");
}

/* --- rounds ---------------------------------------------------------------------------------- */

static void start_call(struct bench *b)
{
	if (b->v)
		b->before = now_ns();
	b->sent++;
	b->call(b);
}

static void take_answer(struct bench *b, enum mp_outcome outcome)
{
	if (outcome != MP_OUTCOME_ANSWERED)
		die("a call was not answered");
	if (b->v && b->answered >= WARM_UP)
		b->v[b->answered - WARM_UP] = now_ns() - b->before;
	if (++b->answered == b->todo)
		mp_loop_stop(b->loop);
	else if (b->sent < b->todo)
		start_call(b);
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The median, in microseconds. */
static double run_serial(struct bench *b, int64_t *v)
{
	b->v = v;
	b->todo = n_serial + WARM_UP;
	b->sent = b->answered = 0;
	start_call(b);
	mp_loop_run(b->loop);
	qsort(v, (size_t)n_serial, sizeof(*v), compare);
	return (double)v[n_serial / 2] / 1000;
}

/* Calls per second, and the processor time that each took on our side, in microseconds. */
static double run_flight(struct bench *b, double *ret_cpu_us)
{
	int64_t before = now_ns(), cpu = read_ns(CLOCK_THREAD_CPUTIME_ID);

	b->v = NULL;
	b->todo = n_flight;
	b->sent = b->answered = 0;
	for (int i = 0; i < FLIGHT; i++)
		start_call(b);
	mp_loop_run(b->loop);
	*ret_cpu_us = (double)(read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / 1000 / n_flight;
	return n_flight / ((double)(now_ns() - before) / 1e9);
}

/* --- the yardstick: an upstream -------------------------------------------------------------- */

static void upstream_answered(const struct mp_answer *answer, void *u)
{
	take_answer(u, answer->outcome);
}

static void call_upstream(struct bench *b)
{
	struct mp_call_options o = {
		.method = MP_METHOD_TOOLS_CALL,
		.params = MP_STR(PARAMS),
		.timeout_ms = 300000,
		.max_total_ms = 3600000,
	};

	if (heap_call(b->up, &o, upstream_answered, b, NULL) < 0)
		die("the upstream took no call");
}

static int dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct bench *b = u;
	struct mp_launch launch = {.argv = b->argv, .env = (const char *const *)environ};

	(void)reterr;
	*ret = mp_stdio_new(b->launcher, &launch, NULL);
	return 0;
}

static void stop(void *u)
{
	struct bench *b = u;

	mp_loop_stop(b->loop);
}

static void ended(void *u, const struct mcpool_error *why)
{
	(void)u;
	die(why->message);
}

static const struct mp_upstream_hooks upstream_hooks = {
	.ready = stop, .ended = ended, .closed = stop};

static void open_upstream(struct bench *b, const char *mcpool)
{
	struct mp_upstream_options options = {
		.me = &me,
		.eras = MP_ERA_BOTH,
		.timeout_ms = 10000,
		.dial = dial,
		.dial_u = b,
	};
	struct mcpool_error why;

	*b = (struct bench){.argv = {mcpool, "demo-server"}, .call = call_upstream};
	if (mp_loop_new(&b->loop) < 0 || mp_launcher_new(b->loop, mcpool, &b->launcher, &why) < 0)
		die("no launcher");
	b->up = mp_upstream_new(b->loop, &options, &upstream_hooks, b);
	if (mp_upstream_open(b->up, &why) < 0)
		die(why.message);
	mp_loop_run(b->loop);
}

static void close_upstream(struct bench *b)
{
	mp_upstream_close(b->up);
	mp_loop_run(b->loop);
	mp_upstream_free(b->up);
	mp_launcher_free(b->launcher);
	mp_loop_free(b->loop);
}

/* --- ours: a call of the pool --------------------------------------------------------------- */

static void lease_answered(const struct mp_pool_answer *answer, void *u)
{
	take_answer(u, answer->outcome);
}

static void call_pool(struct bench *b)
{
	struct mp_pool_call_options rq = {
		.server = "demo",
		.session = 1 + (mp_id)(b->sent % 8),
		.call.method = MP_METHOD_TOOLS_CALL,
		.tool = MP_STR("echo"),
		.call.params = MP_STR(PARAMS),
	};
	struct mcpool_error why;

	if (heap_pool_call(b->hub->workspace, &rq, lease_answered, b, NULL, &why) < 0)
		die(why.message);
}

static void hub_is_ready(void *u, const struct mcpool_error *error)
{
	if (error)
		die(error->message);
	stop(u);
}

static const struct mp_hub_hooks hub_hooks = {.ready = hub_is_ready, .stopped = stop};

static void write_config(const char *file, const char *mcpool)
{
	FILE *f = fopen(file, "w");

	if (!f)
		die(file);
	fprintf(f,
		"{\"mcpServers\": {\"demo\": {\"command\": \"%s\", \"args\": [\"demo-server\"]}}}",
		mcpool);
	fclose(f);
}

static void open_pool(struct bench *b, const char *mcpool, const char *folder)
{
	static char file[PATH_MAX];
	static const char *files[] = {file};
	struct mp_hub_options options = {
		.request = {.cwd = folder,
			    .env = environ,
			    .files = files,
			    .n_files = 1,
			    .strict = true},
		.me = &me,
		.exe = mcpool,
	};
	struct mcpool_error why;

	snprintf(file, sizeof(file), "%s/config.json", folder);
	write_config(file, mcpool);
	*b = (struct bench){.call = call_pool};
	if (mp_hub_new(&options, &hub_hooks, b, &b->hub, &why) < 0)
		die(why.message);
	b->loop = b->hub->loop;
	mp_hub_start(b->hub);
	mp_loop_run(b->loop);
	b->todo = 1; /* the first call brings the server up */
	start_call(b);
	mp_loop_run(b->loop);
}

static void close_pool(struct bench *b)
{
	mp_hub_stop(b->hub);
	mp_loop_run(b->loop);
	mp_hub_free(b->hub);
}

/* --- by turns -------------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int print(const double *best)
{
	printf("calls of the demo server, %d rounds by turns, the best of each\n", ROUNDS);
	printf("  one at a time, p50     upstream %7.2f us   pool %7.2f us   ratio %.2f  (wanted: "
	       "at most 1.25), %.2f us more\n",
	       best[0], best[1], best[1] / best[0], best[1] - best[0]);
	printf("  64 in flight, CPU/call upstream %7.2f us   pool %7.2f us   ratio %.2f\n", best[4],
	       best[5], best[5] / best[4]);
	printf("  64 in flight, calls/s  upstream %7.0f      pool %7.0f      ratio %.2f  (wanted: "
	       "at least 0.75)\n",
	       best[2], best[3], best[3] / best[2]);
	return best[1] / best[0] <= 1.25 && best[3] / best[2] >= 0.75 ? 0 : 1;
}

int main(int argc, char **argv)
{
	char path[PATH_MAX], mcpool[PATH_MAX], folder[] = "/tmp/bench_pool_XXXXXX";
	struct bench up, pool;
	double best[] = {1e9, 1e9, 0, 0, 1e9, 1e9};
	char *slash = strrchr(argv[0], '/');
	int64_t *v;

	if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
		n_serial = 1000;
		n_flight = 10000;
	}
	snprintf(path, sizeof(path), "%.*s/../mcpool", slash ? (int)(slash - argv[0]) : 1,
		 slash ? argv[0] : ".");
	if (!realpath(path, mcpool) || !mkdtemp(folder))
		die(strerror(errno));
	setenv("XDG_STATE_HOME", folder, 1);
	pin(1); /* the servers stay there */
	open_upstream(&up, mcpool);
	open_pool(&pool, mcpool, folder);
	pin(0);
	v = calloc((size_t)n_serial + 1, sizeof(*v));
	for (int i = 0; i < ROUNDS; i++) {
		double x[6] = {run_serial(&up, v), run_serial(&pool, v)};

		x[2] = run_flight(&up, &x[4]);
		x[3] = run_flight(&pool, &x[5]);
		for (int k = 0; k < 6; k++)
			if (k == 2 || k == 3 ? x[k] > best[k] : x[k] < best[k])
				best[k] = x[k];
	}
	close_pool(&pool);
	close_upstream(&up);
	free(v);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return print(best);
}
