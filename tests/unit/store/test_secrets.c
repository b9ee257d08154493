/*
 * test_secrets.c - secrets in the sealed file: kept, replaced, removed; a file that is damaged,
 * open to others or sealed with another key is refused and stays as it is. The Secret Service is
 * tested with a real one in tests/cli/test_secret_service.sh.
 */
#include "test.h"
#include "store.h"
#include "child.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/local_key.h"
#include "store/secret_records.h"
#include "store/secrets.h"

static char secrets_folder[80], secrets_path[100];

static bool clear(void)
{
	if (!store_clear() || !store_make_folder(0700))
		return false;
	snprintf(secrets_folder, sizeof(secrets_folder), "%s/mcpool", test_folder);
	snprintf(secrets_path, sizeof(secrets_path), "%s/mcpool/secrets", test_folder);
	return true;
}

static struct mp_secrets *open_file(void)
{
	struct mp_secrets_options o = {.folder = secrets_folder, .no_keyring = true};
	struct mp_secrets *s = NULL;

	return mp_secrets_open(&s, &o, &why) < 0 ? NULL : s;
}

static bool has(struct mp_secrets *s, const char *name, const char *value)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf got;

	mp_buf_init(&got, MP_LIMIT_SECRET_VALUE);
	REQUIRE(mp_secrets_get(s, name, &got, &why) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&got), mp_str_of(value)));
	return true;
}

static int get_code(struct mp_secrets *s, const char *name)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf got;

	mp_buf_init(&got, MP_LIMIT_SECRET_VALUE);
	return mp_secrets_get(s, name, &got, &why);
}

static bool contains(const char *text, const char *part)
{
	return strstr(text, part) != NULL;
}

/* --- what is kept ---------------------------------------------------------------------------- */

TEST(a_secret_is_kept_replaced_and_removed)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;

	CHECK(clear());
	s = open_file();
	CHECK(s);
	CHECK_EQ(get_code(s, "user/A"), MCPOOL_ENOENT);
	CHECK_EQ(store_mode(secrets_path, ""), -1);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("one"), &why), 0);
	CHECK_EQ(mp_secrets_set(s, "user/B", MP_STR("two"), &why), 0);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("three"), &why), 0);
	CHECK_EQ(store_mode(secrets_path, ""), 0600);
	CHECK_TEXT(mp_secrets_get_place(s), secrets_path);
	CHECK(has(s, "user/A", "three") && has(s, "user/B", "two"));
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), 0);
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), MCPOOL_ENOENT);
	CHECK_EQ(get_code(s, "user/A"), MCPOOL_ENOENT);
	CHECK(has(s, "user/B", "two"));
	CHECK_EQ(mp_secrets_remove(s, "user/B", &why), 0);
	CHECK_EQ(store_mode(secrets_path, ""), -1);
}

TEST(another_process_finds_it_and_the_file_does_not_show_it)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *other = NULL;
	char bytes[4096];
	ssize_t n;
	int fd;

	CHECK(clear());
	s = open_file();
	CHECK(s);
	CHECK_EQ(mp_secrets_set(s, "user/NAME", MP_STR("canary-value"), &why), 0);
	other = open_file();
	CHECK(other && has(other, "user/NAME", "canary-value"));
	fd = open(secrets_path, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0);
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	CHECK(n > 0);
	CHECK(!memmem(bytes, (size_t)n, "canary", 6) && !memmem(bytes, (size_t)n, "NAME", 4));
}

TEST(the_longest_value_and_any_bytes_are_kept)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf got;
	static char value[MP_LIMIT_SECRET_VALUE + 1], name[MP_LIMIT_SECRET_NAME + 2];

	mp_buf_init(&got, MP_LIMIT_SECRET_VALUE);
	for (size_t i = 0; i < sizeof(value); i++)
		value[i] = (char)i;
	memset(name, '~', MP_LIMIT_SECRET_NAME);
	CHECK(clear());
	s = open_file();
	CHECK(s);
	CHECK_EQ(mp_secrets_set(s, name, (struct mp_str){value, MP_LIMIT_SECRET_VALUE}, &why), 0);
	CHECK_EQ(mp_secrets_get(s, name, &got, &why), 0);
	CHECK(mp_str_eq(mp_buf_get(&got), (struct mp_str){value, MP_LIMIT_SECRET_VALUE}));
	CHECK_EQ(mp_secrets_set(s, "a", (struct mp_str){value, sizeof(value)}, &why),
		 MCPOOL_EINVAL);
	CHECK_EQ(mp_secrets_set(s, "a", MP_STR(""), &why), MCPOOL_EINVAL);
	name[MP_LIMIT_SECRET_NAME] = '~';
	CHECK_EQ(mp_secrets_set(s, name, MP_STR("x"), &why), MCPOOL_EINVAL);
	CHECK_EQ(mp_secrets_set(s, "", MP_STR("x"), &why), MCPOOL_EINVAL);
	CHECK_EQ(mp_secrets_set(s, "a\nb", MP_STR("x"), &why), MCPOOL_EINVAL);
	CHECK_EQ(get_code(s, "\xc3\xa4"), MCPOOL_EINVAL);
}

static char listed[200];

static void note_name(void *u, const char *name, const char *place, int64_t saved_ms)
{
	size_t n = strlen(listed);

	(void)u;
	snprintf(listed + n, sizeof(listed) - n, "%s%s ", name,
		 strcmp(place, secrets_path) == 0 && saved_ms > 1000000000000 ? "" : "?");
}

TEST(names_are_listed_by_prefix)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;

	CHECK(clear());
	s = open_file();
	CHECK(s);
	listed[0] = '\0';
	CHECK_EQ(mp_secrets_list(s, "", note_name, NULL, &why), 0);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("one"), &why), 0);
	CHECK_EQ(mp_secrets_set(s, "oauth/https://example.com/mcp", MP_STR("two"), &why), 0);
	CHECK_EQ(mp_secrets_set(s, "user/B", MP_STR("three"), &why), 0);
	CHECK_EQ(mp_secrets_list(s, "user/", note_name, NULL, &why), 2);
	CHECK_TEXT(listed, "user/A user/B ");
	CHECK_EQ(mp_secrets_list(s, "", note_name, NULL, &why), 3);
}

static bool write_ten(int number)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = open_file();
	char name[20];

	REQUIRE(s);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "user/%d.%d", number, i);
		REQUIRE(mp_secrets_set(s, name, mp_str_of(name), &why) == 0);
		REQUIRE(mp_secrets_set(s, "user/shared", mp_str_of(name), &why) == 0);
	}
	return true;
}

HEAVY_TEST(writers_at_the_same_time_lose_nothing)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	char name[20];

	CHECK(clear());
	CHECK(child_run(write_ten, 6));
	s = open_file();
	CHECK(s);
	for (int number = 0; number < 6; number++)
		for (int i = 0; i < 10; i++) {
			snprintf(name, sizeof(name), "user/%d.%d", number, i);
			CHECK(has(s, name, name));
		}
	listed[0] = '\0';
	CHECK_EQ(mp_secrets_list(s, "", note_name, NULL, &why), 61);
}

/* --- what is refused ------------------------------------------------------------------------- */

/* A file with one short secret; its bytes. */
static ssize_t make_small(char *bytes, size_t size)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	ssize_t n;
	int fd;

	if (!clear())
		return -1;
	s = open_file();
	if (!s || mp_secrets_set(s, "user/A", MP_STR("value"), &why) < 0)
		return -1;
	fd = open(secrets_path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, bytes, size);
	if (fd >= 0)
		close(fd);
	return n;
}

/* Neither reading nor writing changes it, and both say what is wrong. */
static bool is_refused(const void *bytes, size_t n, int code)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = open_file();

	REQUIRE(s);
	REQUIRE(get_code(s, "user/A") == code);
	REQUIRE(contains(why.message, secrets_folder));
	REQUIRE(mp_secrets_set(s, "user/B", MP_STR("other"), &why) == code);
	REQUIRE(mp_secrets_remove(s, "user/A", &why) == code);
	REQUIRE(mp_secrets_list(s, "", note_name, NULL, &why) == code);
	REQUIRE(store_file_is(secrets_path, bytes, n));
	return true;
}

HEAVY_TEST(a_file_cut_at_any_length_is_refused_and_kept)
{
	char bytes[400];
	ssize_t n = make_small(bytes, sizeof(bytes));

	CHECK(n > 60);
	for (ssize_t len = 0; len < n; len++) {
		CHECK(store_put_file(secrets_path, bytes, (size_t)len, 0600));
		CHECK(is_refused(bytes, (size_t)len, MCPOOL_EIO));
		CHECK(contains(why.message, "It was not changed. Restore it from a backup"));
	}
	bytes[n] = 'x';
	CHECK(store_put_file(secrets_path, bytes, (size_t)n + 1, 0600));
	CHECK(is_refused(bytes, (size_t)n + 1, MCPOOL_EIO));
}

HEAVY_TEST(a_file_with_any_bit_flipped_is_refused_and_kept)
{
	char bytes[400];
	ssize_t n = make_small(bytes, sizeof(bytes));

	CHECK(n > 60);
	for (ssize_t bit = 0; bit < n * 8; bit++) {
		bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
		CHECK(store_put_file(secrets_path, bytes, (size_t)n, 0600));
		CHECK(is_refused(bytes, (size_t)n, MCPOOL_EIO));
		bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
	}
}

TEST(another_key_is_refused_and_the_file_kept)
{
	unsigned char key[MP_LOCAL_KEY_SIZE] = {1, 2, 3};
	char bytes[400], key_path[120];
	ssize_t n = make_small(bytes, sizeof(bytes));

	CHECK(n > 60);
	snprintf(key_path, sizeof(key_path), "%s/local.key", secrets_folder);
	CHECK(store_put_file(key_path, key, sizeof(key), 0600));
	CHECK(is_refused(bytes, (size_t)n, MCPOOL_EIO));
	CHECK(contains(why.message, "local.key is not the key that sealed it"));
	CHECK(store_put_file(key_path, key, sizeof(key), 0644));
	CHECK(is_refused(bytes, (size_t)n, MCPOOL_EPERM));
	CHECK(contains(why.message, "the secrets in it are lost"));
}

TEST(a_file_that_others_may_read_is_refused_and_kept)
{
	static const mode_t modes[] = {0640, 0604, 0660, 0602, 0601, 0700 | 0040};
	char bytes[400];
	ssize_t n = make_small(bytes, sizeof(bytes));

	CHECK(n > 60);
	for (size_t i = 0; i < MP_ARRAY_LEN(modes); i++) {
		CHECK_EQ(chmod(secrets_path, modes[i]), 0);
		CHECK(is_refused(bytes, (size_t)n, MCPOOL_EPERM));
		CHECK(contains(why.message, "chmod 600"));
		CHECK_EQ(store_mode(secrets_path, ""), modes[i]);
	}
	CHECK_EQ(chmod(secrets_path, 0600), 0);
	CHECK_EQ(chmod(secrets_folder, 0770), 0);
	CHECK(is_refused(bytes, (size_t)n, MCPOOL_EPERM));
	CHECK_EQ(chmod(secrets_folder, 0700), 0);
}

TEST(a_link_a_folder_and_a_pipe_are_refused)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	char bytes[400], real[120];
	ssize_t n = make_small(bytes, sizeof(bytes));

	CHECK(n > 60);
	snprintf(real, sizeof(real), "%s/elsewhere", secrets_folder);
	CHECK_EQ(rename(secrets_path, real), 0);
	CHECK_EQ(symlink(real, secrets_path), 0);
	CHECK(is_refused(bytes, (size_t)n, MCPOOL_EPERM));
	CHECK(contains(why.message, "symbolic link"));
	s = open_file();
	CHECK_EQ(unlink(secrets_path), 0);
	CHECK_EQ(mkdir(secrets_path, 0700), 0);
	CHECK(s && get_code(s, "user/A") == MCPOOL_EPERM);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("value"), &why), MCPOOL_EPERM);
	CHECK_EQ(rmdir(secrets_path), 0);
	CHECK_EQ(mkfifo(secrets_path, 0600), 0);
	CHECK_EQ(get_code(s, "user/A"), MCPOOL_EPERM);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("value"), &why), MCPOOL_EPERM);
	CHECK(contains(why.message, "not a regular file"));
}

static bool be_refused_as_nobody(int number)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;

	(void)number;
	REQUIRE(child_be_nobody(test_folder) && chmod(test_folder, 0755) == 0);
	s = open_file();
	REQUIRE(s && get_code(s, "user/A") == MCPOOL_EPERM);
	REQUIRE(contains(why.message, "belongs to another user"));
	return true;
}

HEAVY_TEST(a_file_of_another_user_is_refused)
{
	char bytes[400];

	if (geteuid() != 0)
		return; /* only root can give it away */
	CHECK(make_small(bytes, sizeof(bytes)) > 60);
	CHECK_EQ(chmod(secrets_folder, 0755), 0);
	CHECK_EQ(chown(secrets_folder, NOBODY, NOBODY), 0);
	CHECK(child_run(be_refused_as_nobody, 1));
	CHECK_EQ(chown(secrets_folder, 0, 0), 0);
	CHECK_EQ(chown(secrets_path, NOBODY, NOBODY), 0);
	CHECK_EQ(store_mode(secrets_path, ""), 0600);
	{
		MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = open_file();

		CHECK(s && get_code(s, "user/A") == MCPOOL_EPERM);
		CHECK(contains(why.message, "belongs to another user"));
	}
}

/* --- passphrases ----------------------------------------------------------------------------- */

static struct mp_secrets *open_with(const char *command)
{
	struct mp_secrets_options o = {
		.folder = secrets_folder, .passphrase_command = command, .no_keyring = true};
	struct mp_secrets *s = NULL;

	return mp_secrets_open(&s, &o, &why) < 0 ? NULL : s;
}

static int try_with(const char *command)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = open_with(command);

	return s ? get_code(s, "user/A") : MCPOOL_ENOMEM;
}

HEAVY_TEST(a_passphrase_opens_the_file_and_another_does_not)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	char asked[120], command[300];

	CHECK(clear());
	snprintf(asked, sizeof(asked), "%s/asked", test_folder);
	snprintf(command, sizeof(command), "sh -c 'echo x >>\"$0\"; printf \"right\\nmore\"' %s",
		 asked);
	s = open_with(command);
	CHECK(s);
	CHECK_EQ(get_code(s, "user/A"), MCPOOL_ENOENT);
	CHECK_EQ(store_mode(asked, ""), -1); /* not for a file that is not there */
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("value"), &why), 0);
	CHECK_EQ(mp_secrets_set(s, "user/B", MP_STR("value"), &why), 0);
	CHECK(has(s, "user/A", "value") && store_file_is(asked, "x\n", 2)); /* asked once */
	CHECK_EQ(try_with("echo right"), 0);
	CHECK_EQ(try_with("echo wrong"), MCPOOL_EIO);
	CHECK(contains(why.message, "the passphrase is another one"));
	CHECK_EQ(try_with(NULL), MCPOOL_EIO);
	CHECK(contains(why.message, "passphraseCommand"));
	CHECK_EQ(try_with("false"), MCPOOL_EIO);
	CHECK(contains(why.message, "passphraseCommand\" failed: "));
	CHECK_EQ(try_with("echo 'open"), MCPOOL_EINVAL);
	CHECK_EQ(try_with("/nothing/there"), MCPOOL_EIO);
	CHECK(contains(why.message, "it cannot be run"));
	CHECK_EQ(try_with("echo $(echo right)"), MCPOOL_EIO); /* no shell */
}

HEAVY_TEST(a_file_gets_its_passphrase_with_the_next_change)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	char bytes[400];

	CHECK(make_small(bytes, sizeof(bytes)) > 60);
	s = open_with("echo right");
	CHECK(s && has(s, "user/A", "value"));
	CHECK_EQ(try_with(NULL), 0);
	CHECK_EQ(mp_secrets_set(s, "user/B", MP_STR("other"), &why), 0);
	CHECK_EQ(try_with(NULL), MCPOOL_EIO);
	CHECK_EQ(try_with("echo right"), 0);
	CHECK(has(s, "user/A", "value") && has(s, "user/B", "other"));
}

/* --- records --------------------------------------------------------------------------------- */

TEST(records_that_do_not_fit_are_refused)
{
	static const char good[] = "\0\0\0\0\0\0\0\0\1\0\2\0\0\0axy";
	static const char none[] = "\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	static const char huge[] = "\0\0\0\0\0\0\0\0\1\0\377\377\377\377axy";
	struct mp_secret_record record;
	struct mp_str text = {good, sizeof(good) - 1};

	CHECK_EQ(mp_secret_records_check(text), 0);
	CHECK(mp_secret_records_find(text, MP_STR("a"), &record));
	CHECK_STR(record.value, "xy");
	for (size_t n = 1; n < text.len; n++)
		CHECK_EQ(mp_secret_records_check((struct mp_str){good, n}), MCPOOL_EPARSE);
	CHECK_EQ(mp_secret_records_check((struct mp_str){none, sizeof(none) - 1}), MCPOOL_EPARSE);
	CHECK_EQ(mp_secret_records_check((struct mp_str){huge, sizeof(huge) - 1}), MCPOOL_EPARSE);
	CHECK_EQ(mp_secret_records_check(MP_STR("")), 0);
}
