/*
 * test_writer.c - the old file or the new one, whatever happens.
 */
#include "test.h"
#include "config.h"
#include "child.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "files/writer.h"

/* Replaces the text by what u says; counts. */
struct wish {
	const char *text; /* NULL: nothing to change */
	int result;       /* where text is given: 1, or a failure */
	int calls;
	char old[200]; /* what it was called with last */
};

static int grant(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr)
{
	struct wish *w = u;

	(void)reterr;
	w->calls++;
	snprintf(w->old, sizeof(w->old), "%.*s", MP_STR_ARGS(old));
	if (!w->text)
		return 0;
	if (mp_buf_add_str(out, mp_str_of(w->text)) < 0)
		return MCPOOL_ENOMEM;
	return w->result;
}

static int change_to(const char *path, const char *text)
{
	struct wish w = {text, 1, 0, ""};

	return mp_config_change(path, grant, &w, &why);
}

/* What the file had when a change was synced, for the next test; fsync() of libc is replaced here.
 */
static char at_sync[40];
static int n_syncs;

int fsync(int fd)
{
	if (n_syncs++ == 0)
		snprintf(at_sync, sizeof(at_sync), "%s", config_get(file_path));
	return (int)syscall(SYS_fsync, fd);
}

/* U32 B56 */
TEST(a_change_is_synced_before_it_takes_the_place_of_the_file)
{
	CHECK(config_clear() && config_put(file_path, "{\"old\":1}"));
	n_syncs = 0;
	CHECK_EQ(change_to(file_path, "{\"new\":1}"), 1);
	CHECK(n_syncs > 0);
	CHECK_TEXT(at_sync, "{\"old\":1}");
	CHECK_TEXT(config_get(file_path), "{\"new\":1}");
}

TEST(a_new_file_is_private) /* U32 B56 */
{
	struct wish w = {"{}\n", 1, 0, "?"};
	char folder[100], path[100];

	CHECK(config_clear());
	snprintf(folder, sizeof(folder), "%s/a", test_folder);
	snprintf(path, sizeof(path), "%s/a/b/mcp.json", test_folder);
	CHECK_EQ(mp_config_change(path, grant, &w, &why), 1);
	CHECK_EQ(w.calls, 1);
	CHECK_TEXT(w.old, "");
	CHECK_TEXT(config_get(path), "{}\n");
	CHECK_EQ(config_mode(path), 0600);
	CHECK_EQ(config_mode(folder), 0700);
	*strrchr(path, '/') = '\0';
	CHECK_EQ(config_count(path), 1); /* nothing is left lying about */
}

TEST(an_old_file_keeps_its_mode)
{
	static const mode_t modes[] = {0600, 0644, 0664, 0400, 0666};

	for (size_t i = 0; i < MP_ARRAY_LEN(modes); i++) {
		CHECK(config_clear() && config_put(file_path, "{}"));
		CHECK(chmod(file_path, modes[i]) == 0);
		CHECK_EQ(change_to(file_path, "{\"a\":1}"), 1);
		CHECK_EQ(config_mode(file_path), modes[i]);
		CHECK_TEXT(config_get(file_path), "{\"a\":1}");
	}
}

TEST(nothing_to_change_leaves_the_file_alone)
{
	struct wish w = {NULL, 0, 0, ""};
	struct stat before, after;

	CHECK(config_clear());
	CHECK_EQ(mp_config_change(file_path, grant, &w, &why), 0);
	CHECK_EQ(config_mode(file_path), -1);
	CHECK(config_put(file_path, "{\"a\": 1}"));
	CHECK(stat(file_path, &before) == 0);
	CHECK_EQ(mp_config_change(file_path, grant, &w, &why), 0);
	CHECK_TEXT(w.old, "{\"a\": 1}");
	CHECK_EQ(change_to(file_path, "{\"a\": 1}"), 0);
	CHECK(stat(file_path, &after) == 0);
	CHECK_EQ(after.st_ino, before.st_ino);
}

TEST(a_blank_file_counts_as_none)
{
	static const char *const blanks[] = {"", " ", "\n\t \r\n", "\xef\xbb\xbf",
					     "\xef\xbb\xbf\n"};
	struct wish w = {"{}", 1, 0, ""};

	for (size_t i = 0; i < MP_ARRAY_LEN(blanks); i++) {
		CHECK(config_clear() && config_put(file_path, blanks[i]));
		CHECK_EQ(mp_config_change(file_path, grant, &w, &why), 1);
		CHECK_TEXT(w.old, "");
		CHECK_TEXT(config_get(file_path), "{}");
	}
}

TEST(broken_json_is_not_touched) /* U32 B72 */
{
	struct wish w = {"{}", 1, 0, ""};
	char words[200];

	CHECK(config_clear() && config_put(file_path, "{\n  \"a\": 1\n  \"b\": 2\n}"));
	CHECK_EQ(mp_config_change(file_path, grant, &w, &why), MCPOOL_EPARSE);
	snprintf(words, sizeof(words),
		 "%s:3:3: is not valid JSON; it was not changed: ", file_path);
	CHECK(strncmp(why.message, words, strlen(words)) == 0);
	CHECK_EQ(w.calls, 0);
	CHECK_TEXT(config_get(file_path), "{\n  \"a\": 1\n  \"b\": 2\n}");
	CHECK_EQ(config_count(test_folder), 1);
	CHECK(config_put(file_path, "// a comment is no value"));
	CHECK_EQ(mp_config_change(file_path, grant, &w, &why), MCPOOL_EPARSE);
}

/* Another tool's file, on request: the same promises. */
TEST(toml_is_changed_and_broken_toml_is_not_touched)
{
	struct wish w = {"a = 1 # one\n", 1, 0, ""};

	CHECK(config_clear());
	snprintf(file_path, sizeof(file_path), "%s/config.toml", test_folder);
	CHECK_EQ(mp_config_change_as(file_path, MP_FORMAT_TOML, grant, &w, &why), 1);
	CHECK_TEXT(config_get(file_path), "a = 1 # one\n");
	w.text = "a = = 2\n";
	CHECK_EQ(mp_config_change_as(file_path, MP_FORMAT_TOML, grant, &w, &why), MCPOOL_EPARSE);
	CHECK(strstr(why.message, "would not be valid any more"));
	CHECK_TEXT(config_get(file_path), "a = 1 # one\n");
	CHECK(config_put(file_path, "a = 1\nb = [\n"));
	CHECK_EQ(mp_config_change_as(file_path, MP_FORMAT_TOML, grant, &w, &why), MCPOOL_EPARSE);
	CHECK(strstr(why.message, "config.toml:3:1: is not valid TOML; it was not changed"));
	CHECK_TEXT(config_get(file_path), "a = 1\nb = [\n");
}

TEST(a_result_that_is_not_valid_is_not_written)
{
	CHECK(config_clear() && config_put(file_path, "{}"));
	CHECK_EQ(change_to(file_path, "{\"a\":}"), MCPOOL_EPARSE);
	CHECK(strstr(why.message, "would not be valid any more: line 1, column 6"));
	CHECK_EQ(change_to(file_path, ""), MCPOOL_EPARSE);
	CHECK_TEXT(config_get(file_path), "{}");
	CHECK_EQ(config_count(test_folder), 1);
}

TEST(a_refusal_is_passed_on)
{
	struct wish w = {"{\"a\":1}", MCPOOL_EEXIST, 0, ""};

	CHECK(config_clear() && config_put(file_path, "{}"));
	CHECK_EQ(mp_config_change(file_path, grant, &w, &why), MCPOOL_EEXIST);
	w.result = MCPOOL_EAGAIN; /* also this one: it is not ours to try again */
	w.calls = 0;
	CHECK_EQ(mp_config_change(file_path, grant, &w, NULL), MCPOOL_EAGAIN);
	CHECK_EQ(w.calls, 1);
	CHECK_TEXT(config_get(file_path), "{}");
}

TEST(a_link_stays_a_link)
{
	char real[100], to[100];
	ssize_t n;

	CHECK(config_clear());
	snprintf(real, sizeof(real), "%s/dotfiles.json", test_folder);
	CHECK(symlink("dotfiles.json", file_path) == 0);
	CHECK_EQ(change_to(file_path, "{}"), 1); /* leads nowhere yet */
	CHECK_TEXT(config_get(real), "{}");
	CHECK(chmod(real, 0640) == 0);
	CHECK_EQ(change_to(file_path, "{\"a\":1}"), 1);
	CHECK_TEXT(config_get(real), "{\"a\":1}");
	CHECK_EQ(config_mode(real), 0640);
	n = readlink(file_path, to, sizeof(to));
	CHECK_EQ(n, 13);
	CHECK_EQ(config_count(test_folder), 2);
	CHECK(unlink(file_path) == 0 && symlink("no/folder.json", file_path) == 0);
	CHECK_EQ(change_to(file_path, "{}"), MCPOOL_EIO);
}

TEST(what_is_no_file_is_refused)
{
	CHECK(config_clear() && mkdir(file_path, 0700) == 0);
	CHECK_EQ(change_to(file_path, "{}"), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "is a folder and no file; it was not changed"));
	CHECK(rmdir(file_path) == 0 && mkfifo(file_path, 0600) == 0);
	CHECK_EQ(change_to(file_path, "{}"), MCPOOL_EINVAL);
	CHECK(unlink(file_path) == 0 && symlink("/dev/null", file_path) == 0);
	CHECK_EQ(change_to(file_path, "{}"), MCPOOL_EINVAL);
}

TEST(what_is_too_large_is_refused)
{
	CHECK(config_clear() && config_put(file_path, "{}"));
	CHECK(truncate(file_path, (off_t)MP_LIMIT_OWN_FILE + 1) == 0);
	CHECK_EQ(change_to(file_path, "{}"), MCPOOL_ELIMIT);
	CHECK(strstr(why.message, "more than 8 MiB"));
}

HEAVY_TEST(a_large_file_is_changed)
{
	static char text[MP_LIMIT_OWN_FILE - 100];
	struct stat st;

	CHECK(config_clear());
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "{}", 2);
	CHECK(config_put(file_path, text));
	text[0] = ' ';
	text[1] = '{';
	text[2] = '}';
	CHECK_EQ(change_to(file_path, text), 1);
	CHECK(stat(file_path, &st) == 0 && st.st_size == sizeof(text) - 1);
}

/* --- others --------------------------------------------------------------------------------- */

/* Adds a digit behind those that are there, {"n": "123"}; others do so in the middle of it. */
struct meddler {
	int calls, meddle; /* how often */
	bool replace;      /* as editors do; else in place */
};

static int add_digit(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr)
{
	struct mp_str digits = old.len ? (struct mp_str){old.p + 7, old.len - 9} : MP_STR("");
	struct meddler *m = u;
	char text[100], other[120];

	(void)reterr;
	if (m->calls++ < m->meddle) {
		snprintf(text, sizeof(text), "{\"n\": \"%.*s7\"}", MP_STR_ARGS(digits));
		snprintf(other, sizeof(other), "%s.new", file_path);
		if (!config_put(m->replace ? other : file_path, text) ||
		    (m->replace && rename(other, file_path) < 0))
			return MCPOOL_EIO;
	}
	return mp_buf_addf(out, "{\"n\": \"%.*s1\"}", MP_STR_ARGS(digits)) < 0 ? MCPOOL_ENOMEM : 1;
}

TEST(what_others_wrote_meanwhile_is_kept)
{
	for (int i = 0; i < 4; i++) {
		struct meddler m = {0, 1 + i / 2, i % 2 == 0};

		CHECK(config_clear() && config_put(file_path, "{\"n\": \"5\"}"));
		CHECK_EQ(mp_config_change(file_path, add_digit, &m, &why), 1);
		CHECK_EQ(m.calls, 2 + i / 2);
		CHECK_TEXT(config_get(file_path), i / 2 ? "{\"n\": \"5771\"}" : "{\"n\": \"571\"}");
		CHECK_EQ(config_count(test_folder), 1);
	}
}

/* Rewrites the file in place with as many bytes; hides it by the old mtime if told to. */
struct twin {
	int calls;
	bool keeps_mtime;
};

static bool write_twin(const struct twin *w)
{
	struct stat before, after;

	if (stat(file_path, &before) < 0)
		return false;
	do { /* until the kernel's clock has moved on, or ctime could not tell */
		const struct timespec times[] = {before.st_atim, before.st_mtim};

		if (!config_put(file_path, "{\"n\": \"7\"}") ||
		    (w->keeps_mtime && utimensat(AT_FDCWD, file_path, times, 0) < 0) ||
		    stat(file_path, &after) < 0)
			return false;
	} while (after.st_ctim.tv_sec == before.st_ctim.tv_sec &&
		 after.st_ctim.tv_nsec == before.st_ctim.tv_nsec);
	return after.st_size == before.st_size && after.st_ino == before.st_ino;
}

static int add_one_behind(struct mp_str old, struct mp_buf *out, void *u,
			  struct mcpool_error *reterr)
{
	struct twin *w = u;

	(void)reterr;
	if (w->calls++ == 0 && !write_twin(w))
		return MCPOOL_EIO;
	return mp_buf_addf(out, "{\"n\": \"%c1\"}", old.p[7]) < 0 ? MCPOOL_ENOMEM : 1;
}

/* mutant-S6: neither size nor inode tells that somebody else wrote. */
TEST(a_same_size_edit_in_place_is_kept)
{
	const struct timespec long_ago[] = {{1000, 0}, {1000, 0}};

	for (int i = 0; i < 2; i++) {
		struct twin w = {0, i == 1};

		CHECK(config_clear() && config_put(file_path, "{\"n\": \"5\"}"));
		CHECK_EQ(utimensat(AT_FDCWD, file_path, long_ago, 0), 0);
		CHECK_EQ(mp_config_change(file_path, add_one_behind, &w, &why), 1);
		CHECK_EQ(w.calls, 2);
		CHECK_TEXT(config_get(file_path), "{\"n\": \"71\"}");
	}
}

TEST(a_file_that_appears_meanwhile_is_kept)
{
	struct meddler m = {0, 1, true};

	CHECK(config_clear());
	CHECK_EQ(mp_config_change(file_path, add_digit, &m, &why), 1);
	CHECK_TEXT(config_get(file_path), "{\"n\": \"71\"}");
}

HEAVY_TEST(a_file_that_never_rests_is_given_up)
{
	struct meddler m = {0, 1000, true};

	CHECK(config_clear());
	CHECK_EQ(mp_config_change(file_path, add_digit, &m, &why), MCPOOL_EAGAIN);
	CHECK_EQ(m.calls, 20);
	CHECK(strstr(why.message, "another program writes to it all the time"));
	CHECK_TEXT(config_get(file_path), "{\"n\": \"77777777777777777777\"}");
	CHECK_EQ(config_count(test_folder), 1);
}

static bool add_digits(int number)
{
	(void)number;
	for (int i = 0; i < 10; i++) {
		struct meddler m = {0, 0, false};

		REQUIRE(test_equal(mp_config_change(file_path, add_digit, &m, &why), 1, why.message,
				   __FILE__, __LINE__));
		REQUIRE(m.calls == 1); /* the lock keeps mcpools apart */
	}
	return true;
}

HEAVY_TEST(four_processes_change_one_file)
{
	CHECK(config_clear());
	CHECK(child_run(add_digits, 4));
	CHECK_EQ(strlen(config_get(file_path)), 9 + 40);
}

TEST(leftovers_of_the_killed_are_taken_away)
{
	static const char *const ours[] = {".mcp.json.1.0.mcpool-tmp",
					   ".mcp.json.123.00ff00ff00ff00ff.mcpool-tmp"};
	static const char *const others[] = {
		".mcp.json.1.0.mcpool-tmp.bak", ".other.json.1.0.mcpool-tmp",
		".mcp.json.mine.mcpool-tmp", "mcp.json.1.0.mcpool-tmp", ".mcp.json.mcpool-tmp"};
	char path[120];

	CHECK(config_clear());
	for (size_t i = 0; i < MP_ARRAY_LEN(ours) + MP_ARRAY_LEN(others); i++) {
		snprintf(path, sizeof(path), "%s/%s", test_folder, i < 2 ? ours[i] : others[i - 2]);
		CHECK(config_put(path, "{"));
	}
	CHECK_EQ(change_to(file_path, "{}"), 1);
	CHECK_EQ(config_count(test_folder), 1 + (int)MP_ARRAY_LEN(others));
}

/* --- folders and disks ---------------------------------------------------------------------- */

static bool meet_permissions(int number)
{
	(void)number;
	REQUIRE(child_be_nobody(test_folder));
	REQUIRE(config_put(file_path, "{}") && chmod(test_folder, 0500) == 0);
	REQUIRE(change_to(file_path, "{\"a\":1}") == MCPOOL_EIO);
	REQUIRE(strstr(why.message,
		       "cannot be written: Permission denied; nothing was changed, check the "
		       "permissions of "));
	REQUIRE(strcmp(config_get(file_path), "{}") == 0);
	REQUIRE(chmod(test_folder, 0700) == 0 && chmod(file_path, 0) == 0);
	REQUIRE(change_to(file_path, "{\"a\":1}") == MCPOOL_EIO);
	REQUIRE(strstr(why.message, "cannot be read: Permission denied"));
	REQUIRE(chmod(file_path, 0600) == 0);
	return change_to(file_path, "{\"a\":1}") == 1;
}

HEAVY_TEST(a_folder_that_cannot_be_written_is_said)
{
	CHECK(config_clear());
	CHECK(child_run(meet_permissions, 1));
}

static char large[200000];

static bool fill_up(const char *words)
{
	memset(large, ' ', sizeof(large) - 1);
	memcpy(large, "{}", 2);
	REQUIRE(config_put(file_path, "{\"a\": 1}"));
	REQUIRE(change_to(file_path, large) == MCPOOL_EIO);
	REQUIRE(strstr(why.message, words) && strstr(why.message, "nothing was changed"));
	REQUIRE(strcmp(config_get(file_path), "{\"a\": 1}") == 0);
	REQUIRE(config_count(test_folder) == 1);
	return true;
}

static bool fill_file(int number)
{
	(void)number;
	return child_limit_files(100000) && fill_up("larger than files may be here");
}

static bool fill_disk(int number)
{
	(void)number;
	return !child_mount_small(test_folder, 64) || fill_up("the disk is full (");
}

HEAVY_TEST(a_full_disk_leaves_the_old_file)
{
	CHECK(config_clear());
	CHECK(child_run(fill_file, 1));
	CHECK(config_clear());
	CHECK(child_run(fill_disk, 1));
}

HEAVY_TEST(a_file_of_somebody_else_stays_theirs)
{
	struct stat st;

	CHECK(config_clear() && config_put(file_path, "{}"));
	if (chown(file_path, NOBODY, NOBODY) < 0) {
		printf("             only root can give files away: left out\n");
		return;
	}
	CHECK(chmod(file_path, 0660) == 0);
	CHECK_EQ(change_to(file_path, "{\"a\":1}"), 1);
	CHECK(stat(file_path, &st) == 0);
	CHECK_EQ(st.st_uid, NOBODY);
	CHECK_EQ(st.st_gid, NOBODY);
	CHECK_EQ(st.st_mode & 0777, 0660);
}
