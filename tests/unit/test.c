/*
 * test.c - runs the tests of one file, plain and then with faults: PROGRAM FILE [TEST].
 * A process runs one file, so that a crash or a changed environment does not reach the next.
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

#ifndef TEST_VARIANT /* of the same tests, compiled otherwise */
#define TEST_VARIANT ""
#endif

#ifdef __SANITIZE_ADDRESS__
/* Tests are short: 16 MiB of freed blocks kept aside find what 256 find, with fewer new pages. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
	return "quarantine_size_mb=16";
}
#endif

enum { EXIT_EXHAUSTED = 77, CHILD_SECONDS = 60 };

static struct test *tests, **tests_end = &tests; /* in the order of their files */
static bool failed, quiet;

void test_register(struct test *t)
{
	*tests_end = t;
	tests_end = &t->next;
}

/* "buf" of ".../test_buf.c" */
static struct mp_str file_get_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	struct mp_str name = mp_str_of(slash ? slash + 1 : path);

	if (mp_str_starts(name, MP_STR("test_")) && name.len > strlen("test_.c"))
		name = (struct mp_str){name.p + strlen("test_"), name.len - strlen("test_.c")};
	return name;
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

/* Of a test with more allocations, so many are chosen, evenly; `make check` tries them all. */
enum { FAULTS = 200 };
static bool all_faults; /* --all-faults */

static uint64_t get_step(uint64_t n)
{
	return all_faults || n <= FAULTS ? 1 : (n + FAULTS - 1) / FAULTS;
}

/* Peer-sized allocations: each failing once must be survived without a leak. */
static uint64_t fail_tries(const struct test *t, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i += get_step(n)) {
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
 * Fixed-size allocations: a failing one must end in the hook, nowhere else. It costs a fork (10 ms
 * with sanitizers), and each of them leaves at once by the same lines of mem.c, so one is tried,
 * the middle one.
 */
static uint64_t fail_fixed(const struct test *t, uint64_t n)
{
	fixed_test = t;
	fixed_nth = n / 2 + 1;
	return n > 0 && end_in_child(with_fixed_fault) < 0 ? fixed_nth : 0;
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
	printf("             %llu allocations%s failed in turn\n",
	       (unsigned long long)(n_try + (n_fixed > 0)),
	       get_step(n_try) > 1 ? ", some of them," : "");
	return NULL;
}

/* One line per test for tools/run-tests, which counts them. */
static void report(const char *verdict, const struct test *t)
{
	const char *path = getenv("MCPOOL_TEST_RESULTS");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s test_%.*s" TEST_VARIANT "/%s\n", verdict,
		MP_STR_ARGS(file_get_name(t->file)), t->name);
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

	report(complaint ? "FAIL" : "ok", t);
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

static bool is_chosen(const struct test *t, const char *file, const char *name)
{
	return mp_str_eq(file_get_name(t->file), mp_str_of(file)) &&
	       (!name || strcmp(t->name, name) == 0);
}

/* The files of this program, a line each. */
static int list_files(const char *program)
{
	struct mp_str last = MP_STR("");

	printf("usage: %s FILE [TEST]; the files:\n", program);
	for (const struct test *t = tests; t; t = t->next) {
		struct mp_str name = file_get_name(t->file);

		if (!mp_str_eq(name, last))
			printf("%.*s\n", MP_STR_ARGS(name));
		last = name;
	}
	return 2;
}

/* The proxies of this machine do not concern the tests. */
static void forget_proxies(void)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "all_proxy", "no_proxy",
					    "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		unsetenv(names[i]);
}

int main(int argc, char **argv)
{
	const char *file, *name;
	struct CMUnitTest *chosen;
	size_t n = 0;
	int r;

	if (argc > 1 && strcmp(argv[argc - 1], "--all-faults") == 0) {
		all_faults = true;
		argc--;
	}
	file = argc > 1 ? argv[1] : NULL;
	name = argc > 2 ? argv[2] : NULL;
	if (!file)
		return list_files(argv[0]);
	forget_proxies();
	for (struct test *t = tests; t; t = t->next)
		n += is_chosen(t, file, name);
	if (n == 0) {
		fprintf(stderr, "%s: no such test: %s %s\n", argv[0], file, name ? name : "");
		return 2;
	}
	chosen = calloc(n, sizeof(*chosen));
	if (!chosen)
		return 2;
	n = 0;
	for (struct test *t = tests; t; t = t->next) {
		if (is_chosen(t, file, name))
			chosen[n++] = (struct CMUnitTest){t->name, run, NULL, NULL, t};
	}
	r = _cmocka_run_group_tests(file, chosen, n, NULL, NULL);
	free(chosen);
	return r;
}
