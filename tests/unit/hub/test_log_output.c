/*
 * test_log_output.c - log lines as JSON, and as entries of a journal.
 */
#include "test.h"
#include "folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/base.h"
#include "hub/log_output.h"

static struct mp_log_line line_of(enum mp_level level, const char *object, const char *text)
{
	return (struct mp_log_line){level, INT64_C(1800000000123), object, text};
}

TEST(a_line_is_an_object)
{
	static const struct {
		const char *object, *more;
	} cases[] = {
		{"hub", ""},
		{"files#3", ",\"server\":\"files\""},
		{"a#b#12", ",\"server\":\"a#b\""},
		{"a#b", ""},
		{"mcp:files", ",\"server\":\"files\""},
		{"mcp:init", ""},
		{"session 12", ",\"session\":12"},
		{"session x", ""},
		{"", ""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out;
		struct mp_log_line line = line_of(MP_LEVEL_WRN, cases[i].object, "it \"failed\"");
		char want[300];

		mp_buf_init(&out, 1000);
		snprintf(want, sizeof(want),
			 "{\"time\":\"2027-01-15T08:00:00.123Z\",\"level\":\"WRN\",\"object\":"
			 "\"%s\",\"message\":\"it \\\"failed\\\"\"%s}",
			 cases[i].object, cases[i].more);
		CHECK_EQ(mp_log_output_write_json(&line, &out), 0);
		CHECK_EQ(mp_buf_terminate(&out), 0);
		CHECK_TEXT(out.data, want);
	}
}

TEST(a_line_is_an_entry)
{
	static const char *const priorities[] = {"7", "7", "6", "4", "3"};
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_log_line line = line_of(MP_LEVEL_ERR, "files#3", "failed");

	mp_buf_init(&out, 1000);
	CHECK_EQ(mp_log_output_write_entry(&line, &out), 0);
	CHECK_STR(mp_buf_get(&out),
		  "PRIORITY=3\nSYSLOG_IDENTIFIER=mcpool\nMESSAGE=files#3: failed\n"
		  "MCPOOL_OBJECT=files#3\nMCPOOL_SERVER=files\n");
	for (int level = MP_LEVEL_TRC; level <= MP_LEVEL_ERR; level++) {
		mp_buf_clear(&out);
		line = line_of((enum mp_level)level, "session 7", "said");
		CHECK_EQ(mp_log_output_write_entry(&line, &out), 0);
		CHECK_EQ(out.data[9], priorities[level][0]);
	}
	CHECK_EQ(mp_buf_terminate(&out), 0);
	CHECK(strstr(out.data, "MCPOOL_SESSION=7\n") && !strstr(out.data, "MCPOOL_SERVER"));
}

/* --- a journal of the test ------------------------------------------------------------------- */

/* stderr is a file, and as far as JOURNAL_STREAM says the journal. */
struct desk {
	int fd, before;
	char path[100], err[120];
};

static void desk_done(struct desk *d)
{
	mp_log_output_end();
	if (d->before > 0) {
		dup2(d->before, STDERR_FILENO);
		close(d->before);
	}
	if (d->fd > 0)
		close(d->fd);
	unsetenv("JOURNAL_STREAM");
}

static bool desk_open(struct desk *d)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	char stream[60];
	struct stat st;
	int fd;

	REQUIRE(folder_make());
	snprintf(d->path, sizeof(d->path), "%s/journal", test_folder);
	snprintf(d->err, sizeof(d->err), "%s/stderr", test_folder);
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", d->path);
	d->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	REQUIRE(d->fd > 0 && bind(d->fd, (struct sockaddr *)&at, sizeof(at)) == 0);
	fd = open(d->err, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	REQUIRE(fd >= 0 && fstat(fd, &st) == 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	fflush(stderr);
	d->before = dup(STDERR_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
	return setenv("JOURNAL_STREAM", stream, 1) == 0;
}

static const char *desk_read_stderr(const struct desk *d)
{
	static char text[2000];
	int fd = open(d->err, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

#define DESK(d)                                    \
	MP_CLEANUP(desk_done) struct desk d = {0}; \
	CHECK(desk_open(&d))

HEAVY_TEST(where_stderr_is_the_journal_lines_have_fields)
{
	static const struct mp_log files = {"files#3"};
	char got[2000];
	ssize_t n;
	DESK(d);

	mp_log_set_level(MP_LEVEL_INF);
	CHECK(mp_log_output_begin(false, d.path));
	mp_log_warn(&files, "it is slow");
	n = recv(d.fd, got, sizeof(got) - 1, 0);
	CHECK(n > 0);
	got[n] = '\0';
	CHECK(strstr(got, "PRIORITY=4\n") && strstr(got, "\nMESSAGE=files#3: it is slow\n"));
	CHECK(strstr(got, "\nMCPOOL_SERVER=files\n"));
	CHECK_TEXT(desk_read_stderr(&d), "");
	/* The journal stops: lines go to stderr, which it reads when it is back. */
	close(d.fd);
	d.fd = -1;
	mp_log_warn(&files, "again");
	CHECK(strstr(desk_read_stderr(&d), " WRN files#3: again\n"));
}

HEAVY_TEST(a_redirected_stderr_is_no_journal)
{
	DESK(d);

	CHECK_EQ(setenv("JOURNAL_STREAM", "1:2", 1), 0);
	CHECK(!mp_log_output_begin(false, d.path));
	unsetenv("JOURNAL_STREAM");
	CHECK(!mp_log_output_begin(false, d.path));
}

HEAVY_TEST(json_goes_to_stderr_even_there)
{
	static const struct mp_log files = {"files#3"};
	char got[100];
	DESK(d);

	mp_log_set_level(MP_LEVEL_INF);
	CHECK(mp_log_output_begin(true, d.path));
	mp_log_warn(&files, "it is slow");
	CHECK(strstr(desk_read_stderr(&d), "\"message\":\"it is slow\",\"server\":\"files\"}\n"));
	CHECK(recv(d.fd, got, sizeof(got), 0) < 0);
}
