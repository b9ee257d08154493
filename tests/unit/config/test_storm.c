/*
 * test_storm.c - twenty processes change one file at the same time, and some are killed.
 * Each reports what it has done. In the end the file holds exactly that, and a reader always finds
 * it complete, with every comment.
 */
#include "test.h"
#include "config.h"
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "config/read/changes.h"
#include "json/tape.h"
#include "json/value.h"

enum { WORKERS = 20, ROUNDS = 50, KILL_ONE_IN = 16 };

static const char commented[] = "// first line\n"
				"{\n"
				"  /* before all */\n"
				"  \"unknown\": {\"big\": 12345678901234567890}, // kept\n"
				"  \"mcpServers\": {\n"
				"    // the oldest\n"
				"    \"first\": {\"command\": \"f\"}, // behind it\n"
				"    \"second\": {\n"
				"      \"command\": \"s\", // inside\n"
				"    },\n"
				"  },\n"
				"}\n"
				"// last line\n";

static const char *const comments[] = {
	"// first line\n{\n", "/* before all */",
	"}, // kept\n",       "// the oldest\n    \"first\": {\"command\": \"f\"}, // behind it\n",
	"\"s\", // inside\n", "}\n// last line\n"};

/* --- workers -------------------------------------------------------------------------------- */

enum what { ADDED = 1, REMOVING = 2, REMOVED = 4, DONE = 8 };

struct report {
	int worker, round;
	enum what what;
};

static int reports[2], stop[2];
static int first_round;   /* of the worker that is started next */
static bool added_before; /* its first round has been added in an earlier life */

static bool is_removed_later(int round)
{
	return round % 3 != 0;
}

static bool report(int worker, int round, enum what what)
{
	struct report r = {worker, round, what};

	return write(reports[1], &r, sizeof(r)) == (ssize_t)sizeof(r);
}

static int change(mp_writer_fn fn, int worker, int round)
{
	char name[40], json[80];
	struct mp_server_change c = {name, {json, 0}, file_path};
	int r;

	snprintf(name, sizeof(name), "w%d-%d", worker, round);
	snprintf(json, sizeof(json), "{\"command\":\"c\",\"args\":[\"%d\"]}", round);
	c.json.len = strlen(json);
	do
		r = mp_config_change(file_path, fn, &c, &why);
	while (r == MCPOOL_EAGAIN); /* as the error advises; a slow disk is not a failure */
	return r;
}

/* What is there already was added in an earlier life that ended before it could say so. */
static bool add_one(int worker, int round)
{
	int r = change(mp_change_add_server, worker, round);

	REQUIRE(r == MCPOOL_EEXIST || test_equal(r, 1, why.message, __FILE__, __LINE__));
	return report(worker, round, ADDED);
}

static bool remove_one(int worker, int round)
{
	REQUIRE(report(worker, round, REMOVING));
	REQUIRE(test_equal(change(mp_change_remove_server, worker, round), 1, why.message, __FILE__,
			   __LINE__));
	return report(worker, round, REMOVED);
}

static bool work(int worker)
{
	for (int round = first_round; round < ROUNDS; round++) {
		if ((round != first_round || !added_before) && !add_one(worker, round))
			return false;
		if (is_removed_later(round) && !remove_one(worker, round))
			return false;
	}
	return report(worker, ROUNDS, DONE);
}

/* --- the reader ----------------------------------------------------------------------------- */

static bool is_whole(const char *text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape tape;

	mp_tape_init(&tape, MP_TAPE_JSONC);
	REQUIRE(mp_tape_parse(&tape, mp_str_of(text), &why) == 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(comments); i++)
		REQUIRE(test_true(strstr(text, comments[i]), comments[i], __FILE__, __LINE__));
	return true;
}

static bool keep_reading(int number)
{
	struct pollfd end = {stop[0], POLLIN, 0};
	int n = 0;

	(void)number;
	do {
		REQUIRE(is_whole(config_get(file_path)));
		n++;
	} while (poll(&end, 1, 1) == 0);
	REQUIRE(n > 10);
	return true;
}

/* --- the storm ------------------------------------------------------------------------------ */

struct storm {
	pid_t pids[WORKERS], reader;
	unsigned said[WORKERS][ROUNDS + 1]; /* enum what, or-ed */
	int n_done, n_reports, n_kills;
	uint64_t seed;
};

static void start(struct storm *s, int worker)
{
	for (first_round = 0; first_round < ROUNDS; first_round++) {
		unsigned said = s->said[worker][first_round];

		added_before = said & ADDED;
		if (!added_before || (is_removed_later(first_round) && !(said & REMOVING)))
			break; /* what was being removed when it was killed is left at that */
	}
	if (first_round == ROUNDS)
		added_before = false;
	s->pids[worker] = child_start(work, worker);
}

/* Everything that has been said so far; wait: for at least one word. */
static bool listen(struct storm *s, bool wait)
{
	struct pollfd p = {reports[0], POLLIN, 0};
	struct report r;

	while (poll(&p, 1, wait ? CHILD_PATIENCE * 1000 : 0) == 1) {
		REQUIRE(read(reports[0], &r, sizeof(r)) == (ssize_t)sizeof(r));
		REQUIRE(r.worker < WORKERS && r.round <= ROUNDS);
		s->said[r.worker][r.round] |= r.what;
		s->n_done += r.what == DONE;
		s->n_reports++;
		wait = false;
	}
	REQUIRE(!wait); /* no report for two minutes */
	return true;
}

static bool kill_somebody(struct storm *s)
{
	int worker = (int)(test_random(&s->seed) % WORKERS), status;

	if (s->said[worker][ROUNDS] & DONE)
		return true;
	usleep((useconds_t)(test_random(&s->seed) % 3000));
	kill(s->pids[worker], SIGKILL);
	status = child_wait(s->pids[worker]);
	s->pids[worker] = 0;
	REQUIRE(status == 0 || WIFSIGNALED(status));
	REQUIRE(listen(s, false));
	if (s->said[worker][ROUNDS] & DONE)
		return true; /* it was over just before */
	s->n_kills++;
	start(s, worker);
	return true;
}

static bool rage(struct storm *s)
{
	int next_kill = KILL_ONE_IN;

	s->reader = child_start(keep_reading, 0);
	for (int i = 0; i < WORKERS; i++)
		start(s, i);
	while (s->n_done < WORKERS) {
		REQUIRE(listen(s, true));
		if (s->n_reports < next_kill)
			continue;
		next_kill += 1 + (int)(test_random(&s->seed) % (2 * KILL_ONE_IN));
		REQUIRE(kill_somebody(s));
	}
	for (int i = 0; i < WORKERS; i++) {
		pid_t pid = s->pids[i];

		s->pids[i] = 0;
		REQUIRE(pid == 0 || child_wait(pid) == 0);
	}
	return true;
}

/* End all remaining processes. */
static void calm(struct storm *s)
{
	for (int i = 0; i < WORKERS; i++)
		if (s->pids[i] > 0) {
			kill(s->pids[i], SIGKILL);
			child_wait(s->pids[i]);
		}
	if (s->reader > 0) {
		kill(s->reader, SIGKILL);
		child_wait(s->reader);
	}
}

static bool is_as_said(const struct storm *s)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape tape;
	mp_value servers;
	size_t n = 2;
	char name[40];

	mp_tape_init(&tape, MP_TAPE_JSONC);
	REQUIRE(mp_tape_parse(&tape, mp_str_of(config_get(file_path)), &why) == 0);
	servers = mp_value_get(&tape, MP_ROOT, "mcpServers");
	for (int w = 0; w < WORKERS; w++)
		for (int r = 0; r < ROUNDS; r++) {
			unsigned said = s->said[w][r];
			bool there;

			snprintf(name, sizeof(name), "w%d-%d", w, r);
			there = mp_value_get(&tape, servers, name) != MP_NONE;
			n += there;
			REQUIRE(said & ADDED);
			REQUIRE(test_true(!(said & REMOVED) || !there, name, __FILE__, __LINE__));
			REQUIRE(test_true((said & REMOVING) || there, name, __FILE__, __LINE__));
		}
	REQUIRE(test_equal((long long)mp_value_count(&tape, servers), (long long)n, "servers",
			   __FILE__, __LINE__));
	return true;
}

HEAVY_TEST(every_change_that_was_reported_is_there) /* U32 B56 */
{
	MP_CLEANUP(calm) struct storm s = {.seed = 88172645463325252ull};
	pid_t reader;

	CHECK(config_clear() && config_put(file_path, commented));
	CHECK(pipe(reports) == 0 && pipe(stop) == 0);
	CHECK(rage(&s));
	CHECK(write(stop[1], "x", 1) == 1);
	reader = s.reader;
	s.reader = 0;
	CHECK_EQ(child_wait(reader), 0);
	CHECK(is_whole(config_get(file_path)));
	CHECK(is_as_said(&s));
	CHECK(s.n_kills > 0);
	/* One more change, and nothing is left of those that were killed. */
	CHECK_EQ(change(mp_change_add_server, WORKERS, 0), 1);
	CHECK_EQ(change(mp_change_remove_server, WORKERS, 0), 1);
	CHECK_EQ(config_count(test_folder), 1);
	printf("             %d processes, %d rounds each, %d killed on the way\n", WORKERS, ROUNDS,
	       s.n_kills);
	close(reports[0]);
	close(reports[1]);
	close(stop[0]);
	close(stop[1]);
}
