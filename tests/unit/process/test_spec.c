/*
 * test_spec.c - a launch as bytes and back, whole and damaged.
 */
#include "test.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "process/spec.h"

static const char *const argv[] = {"files", "--root", "", NULL};
static const char *const env[] = {"PATH=/bin", "EMPTY=", "ODD=a=b", NULL};
static const char *const seen[] = {"1 2 3 4 5 /srv/a", "", NULL};
static const struct mp_launch everything = {argv, env, "/srv", seen};

static bool same_words(const char *const *got, const char *const *want)
{
	for (; *want; got++, want++)
		if (!*got || strcmp(*got, *want) != 0)
			return false;
	return !*got;
}

static bool encode(const struct mp_launch *launch, struct mp_buf *out)
{
	mp_buf_init(out, MP_SPEC_MAX);
	return mp_spec_encode(launch, out, NULL) == 0;
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

TEST(a_launch_comes_back_as_it_was)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	MP_CLEANUP(mp_spec_done) struct mp_spec spec = {.bytes = NULL};

	CHECK(encode(&everything, &bytes));
	CHECK_EQ(mp_spec_decode(mp_buf_get(&bytes), &spec), 0);
	CHECK(same_words(spec.launch.argv, argv));
	CHECK(same_words(spec.launch.env, env));
	CHECK(same_words(spec.launch.seen, seen));
	CHECK_TEXT(spec.launch.cwd, "/srv");
}

TEST(neither_folder_nor_environment_is_needed)
{
	const char *const none[] = {NULL};
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	MP_CLEANUP(mp_spec_done) struct mp_spec spec = {.bytes = NULL};

	CHECK(encode(&(struct mp_launch){argv, none, NULL, NULL}, &bytes));
	CHECK_EQ(mp_spec_decode(mp_buf_get(&bytes), &spec), 0);
	CHECK(same_words(spec.launch.argv, argv));
	CHECK(!spec.launch.env[0] && !spec.launch.cwd);
}

TEST(a_launch_travels_through_a_memory_file)
{
	MP_CLEANUP(close_fd) int fd = -1;
	MP_CLEANUP(mp_spec_done) struct mp_spec spec = {.bytes = NULL};

	CHECK_EQ(mp_spec_write(&everything, &fd, NULL), 0);
	CHECK_EQ(mp_spec_read(fd, &spec), 0);
	CHECK(same_words(spec.launch.argv, argv));
}

TEST(a_file_that_is_none_is_refused)
{
	struct mp_spec spec;
	int ends[2];

	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(mp_spec_read(ends[0], &spec), MCPOOL_EPROTO);
	close(ends[0]);
	close(ends[1]);
	CHECK_EQ(mp_spec_read(-1, &spec), MCPOOL_EPROTO);
}

TEST(what_no_exec_would_take_is_not_written)
{
	const char *const nothing[] = {NULL}, *const empty[] = {"", NULL};
	const char *const nameless[] = {"A=1", "=2", NULL}, *const bare[] = {"A", NULL};
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	struct mcpool_error e;

	mp_buf_init(&bytes, MP_SPEC_MAX);
	CHECK_EQ(mp_spec_encode(&(struct mp_launch){nothing, env, NULL, NULL}, &bytes, &e),
		 MCPOOL_EINVAL);
	CHECK_EQ(mp_spec_encode(&(struct mp_launch){empty, env, NULL, NULL}, &bytes, &e),
		 MCPOOL_EINVAL);
	CHECK_EQ(mp_spec_encode(&(struct mp_launch){argv, bare, NULL, NULL}, &bytes, &e),
		 MCPOOL_EINVAL);
	CHECK_EQ(mp_spec_encode(&(struct mp_launch){argv, nameless, NULL, NULL}, &bytes, &e),
		 MCPOOL_EINVAL);
	CHECK_TEXT(e.message, "variable 2 of the environment has no name");
	CHECK_EQ(bytes.len, 0);
}

TEST(too_much_is_refused_in_words)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	struct mcpool_error e;

	mp_buf_init(&bytes, 30);
	CHECK_EQ(mp_spec_encode(&everything, &bytes, &e), MCPOOL_ELIMIT);
	CHECK(strstr(e.message, "'files' are too large"));
	CHECK_EQ(bytes.len, 0);
}

/* Cut anywhere, and with any byte changed: refused, or a launch that makes sense. */
static bool makes_sense(const struct mp_spec *s)
{
	size_t n = 0;

	while (s->launch.argv[n])
		n++;
	for (size_t i = 0; s->launch.env[i]; i++)
		if (!strchr(s->launch.env[i], '='))
			return false;
	return n > 0 && s->launch.argv[0][0];
}

HEAVY_TEST(damaged_bytes_are_refused)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	struct mp_spec spec;

	CHECK(encode(&everything, &bytes));
	for (size_t n = 0; n < bytes.len; n++)
		CHECK_EQ(mp_spec_decode((struct mp_str){bytes.data, n}, &spec), MCPOOL_EPROTO);
	for (size_t at = 0; at < bytes.len; at++)
		for (int flip = 1; flip < 256; flip++) {
			bytes.data[at] = (char)(bytes.data[at] ^ flip);
			if (mp_spec_decode(mp_buf_get(&bytes), &spec) == 0) {
				CHECK(at >= 16 && makes_sense(&spec));
				mp_spec_done(&spec);
			}
			bytes.data[at] = (char)(bytes.data[at] ^ flip);
		}
	CHECK_EQ(mp_buf_add_char(&bytes, 'x'), 0);
	CHECK_EQ(mp_spec_decode(mp_buf_get(&bytes), &spec), MCPOOL_EPROTO);
}
