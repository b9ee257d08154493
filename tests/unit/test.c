/*
 * test.c - runs the tests of one file, plain and then with faults.
 * cmocka reports; the checks are ours because a failing one must return, not jump, so that
 * clean-ups run. After each fault the number of live blocks must be what it was: no leak on any
 * path.
 */
#include "test.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/mem.h"

enum { MAX_TESTS = 200, EXIT_EXHAUSTED = 77, CHILD_SECONDS = 60 };

struct test {
	const char *name;
	test_fn fn;
	enum test_kind kind;
};

static struct test tests[MAX_TESTS];
static size_t n_tests;
static bool failed, quiet;

void test_register(const char *name, test_fn fn, enum test_kind kind)
{
	if (n_tests == MAX_TESTS)
		abort();
	tests[n_tests++] = (struct test){name, fn, kind};
}

static bool note(bool ok)
{
	failed = failed || !ok;
	return ok;
}

bool test_true(bool ok, const char *what, const char *file, int line)
{
	if (!ok && !quiet)
		fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
	return note(ok);
}

bool test_equal(long long got, long long want, const char *what, const char *file, int line)
{
	if (got != want && !quiet)
		fprintf(stderr, "%s:%d: %s is %lld, not %lld\n", file, line, what, got, want);
	return note(got == want);
}

bool test_same_text(struct mp_str got, struct mp_str want, const char *what, const char *file,
		    int line)
{
	bool ok = mp_str_eq(got, want);

	if (!ok && !quiet)
		fprintf(stderr, "%s:%d: %s is\n[%.*s]\nnot\n[%.*s]\n", file, line, what,
			MP_STR_ARGS(got), MP_STR_ARGS(want));
	return note(ok);
}

bool test_is_faulty(void)
{
	return quiet;
}

static void stop_quietly(size_t size)
{
	(void)size;
	_exit(EXIT_EXHAUSTED);
}

/* How fn ends in a child: 0 it returned, 1 it stopped as it should, -1 it crashed or hung. */
static int end_in_child(void (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		alarm(CHILD_SECONDS);
		mp_mem_on_exhausted(stop_quietly);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		fn();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_EXHAUSTED)
		return 1;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT ? 1 : -1;
}

bool test_stops(void (*fn)(void))
{
	return end_in_child(fn) == 1;
}

/* Peer-sized allocations: each failing once must be survived without a leak. */
static uint64_t fail_tries(const struct test *t, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t before = mp_mem_get_live();

		mp_fault_arm(MP_FAULT_TRY, i);
		t->fn();
		mp_fault_arm(MP_FAULT_TRY, 0);
		if (mp_mem_get_live() != before)
			return i;
	}
	return 0;
}

static const struct test *fixed_test;
static uint64_t fixed_nth;

static void with_fixed_fault(void)
{
	mp_fault_arm(MP_FAULT_FIXED, fixed_nth);
	fixed_test->fn();
}

/*
 * Fixed-size allocations: a failing one must end in the hook, nowhere else. Each costs a fork, and
 * all of them take the same way out, so of many only some are tried, spread evenly.
 */
static uint64_t fail_fixed(const struct test *t, uint64_t n)
{
	enum { MOST = 24 };
	uint64_t step = n > MOST ? n / MOST : 1;

	for (uint64_t i = 1; i <= n; i += step) {
		fixed_test = t;
		fixed_nth = i;
		if (end_in_child(with_fixed_fault) < 0)
			return i;
	}
	return 0;
}

static char complaint_text[256];

static const char *MP_PRINTF(1, 2) complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(complaint_text, sizeof(complaint_text), format, args);
	va_end(args);
	return complaint_text;
}

static const char *judge_with_faults(const struct test *t, uint64_t n_try, uint64_t n_fixed)
{
	uint64_t leak, crash;

	quiet = true;
	leak = fail_tries(t, n_try);
	crash = fail_fixed(t, n_fixed);
	quiet = false;
	if (leak)
		return complain("%s leaks when allocation %llu fails", t->name,
				(unsigned long long)leak);
	if (crash)
		return complain("%s crashes when fixed allocation %llu fails", t->name,
				(unsigned long long)crash);
	printf("             %llu allocations failed in turn\n",
	       (unsigned long long)(n_try + n_fixed));
	return NULL;
}

/* One line per test for tools/run-tests, which counts them. */
static void report(const char *verdict, const char *name)
{
	const char *path = getenv("MCPOOL_TEST_RESULTS");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s %s/%s\n", verdict, program_invocation_short_name, name);
	fclose(f);
}

/* NULL, or what is wrong. */
static const char *judge(const struct test *t)
{
	uint64_t before = mp_mem_get_live(), n_try, n_fixed;

	failed = false;
	mp_fault_arm(MP_FAULT_TRY, 0);
	mp_fault_arm(MP_FAULT_FIXED, 0);
	t->fn();
	n_try = mp_fault_get_count(MP_FAULT_TRY);
	n_fixed = mp_fault_get_count(MP_FAULT_FIXED);
	if (failed)
		return complain("%s", t->name);
	if (mp_mem_get_live() != before)
		return complain("%s leaks", t->name);
	if (!mp_fault_is_built_in())
		return NULL;
	if (t->kind == TEST_PLAIN)
		return judge_with_faults(t, n_try, n_fixed);
	printf("             heavy: not repeated with failing allocations\n");
	return NULL;
}

static void run(void **state)
{
	const struct test *t = *state;
	const char *complaint = judge(t);

	report(complaint ? "FAIL" : "ok", t->name);
	if (complaint)
		fail_msg("%s", complaint);
}

char *test_read_file(const char *name, size_t *ret_len)
{
	char path[512];
	char *bytes = NULL;
	FILE *f;
	long len;

	snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);
	f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) < 0 || (len = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) < 0)
		goto out;
	bytes = malloc((size_t)len + 1);
	if (bytes && fread(bytes, 1, (size_t)len, f) != (size_t)len) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes) {
		bytes[len] = '\0';
		*ret_len = (size_t)len;
	}
out:
	if (f)
		fclose(f);
	return bytes;
}

uint64_t test_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

int main(void)
{
	struct CMUnitTest all[MAX_TESTS];

	for (size_t i = 0; i < n_tests; i++)
		all[i] = (struct CMUnitTest){tests[i].name, run, NULL, NULL, &tests[i]};
	return _cmocka_run_group_tests("tests", all, n_tests, NULL, NULL);
}
