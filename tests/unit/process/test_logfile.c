/*
 * test_logfile.c - a file that is private, bounded in size, and written at a bounded rate.
 */
#include "test.h"
#include "folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "process/logfile.h"

static char path[80], older[90];
static int warnings;

static void count_warning(const struct mp_log_line *line, void *u)
{
	(void)u;
	warnings += line->level == MP_LEVEL_WRN;
}

struct desk {
	struct mp_loop *loop;
	struct mp_logfile *file;
};

static void tidy(struct desk *d)
{
	mp_logfile_free(d->file);
	mp_loop_free(d->loop);
	mp_log_set_sink(NULL, NULL);
}

static bool sit_down(struct desk *d)
{
	*d = (struct desk){NULL, NULL};
	warnings = 0;
	mp_log_set_sink(count_warning, NULL);
	if (!folder_make() || mp_loop_new_by_hand(1000000, &d->loop) < 0)
		return false;
	snprintf(path, sizeof(path), "%s/a/b/files.log", test_folder);
	snprintf(older, sizeof(older), "%s.1", path);
	d->file = mp_logfile_new(d->loop, path);
	return true;
}

static long get_size(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 ? (long)st.st_size : -1;
}

static mode_t get_mode(const char *name)
{
	struct stat st;

	return stat(name, &st) == 0 ? st.st_mode & 0777 : 0;
}

static const char *read_all(void)
{
	static char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

TEST(file_and_folders_are_private)
{
	MP_CLEANUP(tidy) struct desk d;
	char inner[80];

	CHECK(sit_down(&d));
	CHECK_EQ(get_size(path), -1); /* nothing written, nothing made */
	mp_logfile_flush(d.file);
	CHECK_EQ(get_size(path), -1);
	mp_logfile_add(d.file, MP_STR("one"), false);
	mp_logfile_flush(d.file);
	CHECK_EQ(get_mode(path), 0600);
	snprintf(inner, sizeof(inner), "%s/a", test_folder);
	CHECK_EQ(get_mode(inner), 0700);
	CHECK_TEXT(read_all(), "1970-01-01T00:16:40.000Z one\n");
}

TEST(lines_are_written_when_flushed_and_cut_ones_are_marked)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	mp_logfile_add(d.file, MP_STR("one"), false);
	mp_loop_advance(d.loop, 1);
	mp_logfile_add(d.file, MP_STR("two"), true);
	CHECK_EQ(get_size(path), -1);
	mp_logfile_flush(d.file);
	CHECK_TEXT(read_all(), "1970-01-01T00:16:40.000Z one\n"
			       "1970-01-01T00:16:40.001Z two\xe2\x80\xa6\n");
	d.file = mp_logfile_free(d.file);
	d.file = mp_logfile_new(d.loop, path); /* it goes on where it was */
	mp_logfile_add(d.file, MP_STR("three"), false);
	mp_logfile_flush(d.file);
	CHECK(strstr(read_all(), "two\xe2\x80\xa6\n1970-01-01T00:16:40.001Z three\n"));
}

HEAVY_TEST(a_full_file_makes_room_for_the_next)
{
	MP_CLEANUP(tidy) struct desk d;
	static char line[10000];
	struct mp_str s = {line, sizeof(line)};

	CHECK(sit_down(&d));
	memset(line, 'x', sizeof(line));
	for (int i = 0; i < 700; i++) { /* 7 MB, slowly */
		mp_logfile_add(d.file, s, false);
		mp_logfile_flush(d.file);
		mp_loop_advance(d.loop, 100);
	}
	CHECK(get_size(path) > 0 && get_size(path) <= MP_LOGFILE_SIZE);
	CHECK(get_size(older) > MP_LOGFILE_SIZE - 20000 && get_size(older) <= MP_LOGFILE_SIZE);
	CHECK_EQ(get_mode(older), 0600);
	CHECK_EQ(warnings, 0);
}

HEAVY_TEST(lines_that_come_too_fast_are_counted)
{
	MP_CLEANUP(tidy) struct desk d;
	static char line[1000];
	char words[80];
	long size;

	CHECK(sit_down(&d));
	memset(line, 'x', sizeof(line));
	for (int i = 0; i < 5000; i++) { /* 5 MB in no time */
		mp_logfile_add(d.file, (struct mp_str){line, sizeof(line)}, false);
		if (i % 50 == 0)
			mp_logfile_flush(d.file);
	}
	mp_logfile_flush(d.file);
	size = get_size(path);
	CHECK(size > MP_LOGFILE_RATE / 2 && size < MP_LOGFILE_RATE + 2000);
	mp_loop_advance(d.loop, 1000);
	mp_logfile_add(d.file, MP_STR("calm"), false);
	mp_logfile_flush(d.file);
	snprintf(words, sizeof(words), "%ld lines left out", 5000 - size / 1026);
	CHECK(get_size(path) > size);
	{
		static char all[2 << 20];
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = read(fd, all, sizeof(all) - 1);

		close(fd);
		CHECK(n > 0);
		all[n] = '\0';
		CHECK(strstr(all, words) && strstr(all, "Z calm\n"));
	}
}

TEST(a_link_in_its_place_is_not_followed)
{
	MP_CLEANUP(tidy) struct desk d;
	char elsewhere[80], a[80];

	CHECK(sit_down(&d));
	snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", test_folder);
	snprintf(a, sizeof(a), "%s/a", test_folder);
	CHECK(mkdir(a, 0700) == 0);
	strncat(a, "/b", sizeof(a) - strlen(a) - 1);
	CHECK(mkdir(a, 0700) == 0 && symlink(elsewhere, path) == 0);
	mp_logfile_add(d.file, MP_STR("one"), false);
	mp_logfile_flush(d.file);
	CHECK_EQ(get_size(elsewhere), -1);
	mp_logfile_add(d.file, MP_STR("two"), false);
	mp_logfile_flush(d.file);
	CHECK_EQ(warnings, 1);
}

TEST(what_is_no_file_is_given_up)
{
	MP_CLEANUP(tidy) struct desk d;
	char a[80];

	CHECK(sit_down(&d));
	snprintf(a, sizeof(a), "%s/a", test_folder);
	CHECK(mkdir(a, 0700) == 0);
	strncat(a, "/b", sizeof(a) - strlen(a) - 1);
	CHECK(mkdir(a, 0700) == 0 && mkfifo(path, 0600) == 0);
	mp_logfile_add(d.file, MP_STR("one"), false);
	mp_logfile_flush(d.file); /* would wait for a reader for ever */
	mp_logfile_add(d.file, MP_STR("two"), false);
	mp_logfile_flush(d.file);
	CHECK_EQ(warnings, 1);
}

static void lift_limit(const struct rlimit *before)
{
	setrlimit(RLIMIT_FSIZE, before);
}

/* ulimit -f */
HEAVY_TEST(a_file_over_the_limit_of_the_process_is_given_up)
{
	MP_CLEANUP(lift_limit) struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY};
	MP_CLEANUP(tidy) struct desk d = {NULL, NULL};
	struct rlimit small;

	CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = (struct rlimit){40, before.rlim_max};
	signal(SIGXFSZ, SIG_DFL);
	CHECK(sit_down(&d));
	CHECK_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
	mp_logfile_add(d.file, MP_STR("longer than what may be written"), false);
	mp_logfile_flush(d.file);
	CHECK_EQ(warnings, 1);
	CHECK_EQ(get_size(path), 40);
}
