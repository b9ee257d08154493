/*
 * test_secret_service.c - secrets without a Secret Service, and with a bus that does not answer. A
 * real one (GNOME Keyring on a bus of its own) is tested by tests/cli/test_secret_service.sh, which
 * sets MCPOOL_TEST_KEYRING to what it expects of it: `unlocked`, `locked`.
 */
#include "test.h"
#include "store.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/guard.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/secret_records.h"
#include "store/secret_service.h"
#include "store/secrets.h"

static char place_folder[80];

static struct mp_secrets *open_both(bool no_keyring)
{
	struct mp_secrets_options o = {.folder = place_folder, .no_keyring = no_keyring};
	struct mp_secrets *s = NULL;

	return mp_secrets_open(&s, &o, &why) < 0 ? NULL : s;
}

static bool clear(void)
{
	snprintf(place_folder, sizeof(place_folder), "%s/mcpool", test_folder);
	return store_clear() && store_make_folder(0700) &&
	       snprintf(place_folder, sizeof(place_folder), "%s/mcpool", test_folder) > 0;
}

static bool gives(struct mp_secrets *s, const char *name, struct mp_str value)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf got;

	mp_buf_init(&got, MP_LIMIT_SECRET_VALUE + 16);
	REQUIRE(mp_secrets_get(s, name, &got, &why) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&got), value));
	return true;
}

static int try_get(struct mp_secrets *s, const char *name)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf got;

	mp_buf_init(&got, MP_LIMIT_SECRET_VALUE + 16);
	return mp_secrets_get(s, name, &got, &why);
}

static bool in_file(void)
{
	return store_mode(place_folder, "/secrets") == 0600;
}

static bool expects(const char *what)
{
	const char *keyring = getenv("MCPOOL_TEST_KEYRING");

	return strcmp(keyring ? keyring : "none", what) == 0;
}

/* --- none ------------------------------------------------------------------------------------ */

static bool uses_the_file(void)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	char words[600];

	REQUIRE(clear());
	s = open_both(false);
	REQUIRE(s && mp_secrets_set(s, "user/A", MP_STR("value"), &why) == 0);
	mp_secrets_get_warning(s, words, sizeof(words));
	REQUIRE(words[0] == '\0' && in_file() && gives(s, "user/A", MP_STR("value")));
	REQUIRE(try_get(s, "user/B") == MCPOOL_ENOENT);
	return true;
}

/* A program is never started for an address. */
TEST(without_a_bus_the_file_is_used)
{
	char address[160];

	if (!expects("none"))
		return;
	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	CHECK(uses_the_file());
	setenv("XDG_RUNTIME_DIR", test_folder, 1);
	CHECK(uses_the_file());
	unsetenv("XDG_RUNTIME_DIR");
	setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nothing/there", 1);
	CHECK(uses_the_file());
	snprintf(address, sizeof(address), "unixexec:path=/usr/bin/touch,argv1=%s/started",
		 test_folder);
	setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
	CHECK(uses_the_file());
	CHECK_EQ(store_mode(test_folder, "/started"), -1);
	snprintf(address, sizeof(address),
		 "unix:path=/nothing;unixexec:path=/usr/bin/touch,argv1=%s/s", test_folder);
	setenv("DBUS_SESSION_BUS_ADDRESS", address, 1);
	CHECK(uses_the_file());
	CHECK_EQ(store_mode(test_folder, "/s"), -1);
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
}

static int listen_at(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 8) == 0)
		return fd;
	mp_guard_close(&fd);
	return -1;
}

HEAVY_TEST(a_bus_that_does_not_answer_is_waited_for_once)
{
	MP_CLEANUP(mp_guard_close) int fd = -1;
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	char path[100], words[600];
	int64_t from;

	if (!expects("none"))
		return;
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	CHECK(clear());
	setenv("XDG_RUNTIME_DIR", test_folder, 1);
	snprintf(path, sizeof(path), "%s/bus", test_folder);
	fd = listen_at(path);
	s = open_both(false);
	CHECK(fd >= 0 && s);
	from = mp_guard_now_ms();
	CHECK_EQ(try_get(s, "user/A"), MCPOOL_ETIMEDOUT);
	CHECK(mp_guard_now_ms() - from >= 2900 && mp_guard_now_ms() - from < 6000);
	from = mp_guard_now_ms();
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("value"), &why), 0);
	mp_secrets_get_warning(s, words, sizeof(words));
	CHECK_TEXT(words,
		   "the Secret Service does not answer; the secret is kept in a sealed file");
	CHECK(in_file() && gives(s, "user/A", MP_STR("value")));
	CHECK_EQ(try_get(s, "user/B"), MCPOOL_ETIMEDOUT);
	CHECK(mp_guard_now_ms() - from < 2000);
	unsetenv("XDG_RUNTIME_DIR");
}

/* --- a real one ------------------------------------------------------------------------------ */

static int n_listed;
static char listed_place[100];

static void note_item(void *u, const char *name, const char *place, int64_t saved_ms)
{
	(void)u;
	n_listed += strncmp(name, "user/", 5) == 0 && saved_ms > 1600000000000;
	snprintf(listed_place, sizeof(listed_place), "%s", place);
}

HEAVY_TEST(an_unlocked_keyring_keeps_secrets)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	static char large[MP_LIMIT_SECRET_VALUE];

	if (!expects("unlocked"))
		return;
	CHECK(clear());
	s = open_both(false);
	CHECK(s);
	CHECK_EQ(try_get(s, "user/A"), MCPOOL_ENOENT);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("one"), &why), 0);
	CHECK_TEXT(mp_secrets_get_place(s), "the Secret Service");
	CHECK(gives(s, "user/A", MP_STR("one")));
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("two"), &why), 0);
	CHECK_EQ(mp_secrets_set(s, "user/B b", MP_STR("three"), &why), 0);
	CHECK(gives(s, "user/A", MP_STR("two")) && gives(s, "user/B b", MP_STR("three")));
	CHECK(!in_file());
	memset(large, 'x', sizeof(large));
	CHECK_EQ(mp_secrets_set(s, "large", (struct mp_str){large, sizeof(large)}, &why), 0);
	CHECK(gives(s, "large", (struct mp_str){large, sizeof(large)}));
	n_listed = 0;
	CHECK_EQ(mp_secrets_list(s, "user/", note_item, NULL, &why), 2);
	CHECK_EQ(n_listed, 2);
	CHECK_TEXT(listed_place, "the Secret Service");
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), 0);
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), MCPOOL_ENOENT);
	CHECK_EQ(mp_secrets_remove(s, "user/B b", &why), 0);
	CHECK_EQ(mp_secrets_remove(s, "large", &why), 0);
	CHECK_EQ(mp_secrets_list(s, "", note_item, NULL, &why), 0);
}

/* One shared secret in 256 begins with a zero: each call has a session of its own. */
HEAVY_TEST(no_session_of_many_reads_something_else)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;

	if (!expects("unlocked"))
		return;
	CHECK(clear());
	s = open_both(false);
	CHECK(s);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("value"), &why), 0);
	for (int i = 0; i < 600; i++)
		CHECK(gives(s, "user/A", MP_STR("value")));
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), 0);
}

/* The socket to the bus, as an inode, which no other has while it is open; 0: none. */
static ino_t find_connection(int *ret_fd)
{
	for (*ret_fd = 3; *ret_fd < 64; ++*ret_fd) {
		struct sockaddr_un a;
		socklen_t size = sizeof(a);
		struct stat st;

		if (getpeername(*ret_fd, (struct sockaddr *)&a, &size) == 0 &&
		    a.sun_family == AF_UNIX && fstat(*ret_fd, &st) == 0)
			return st.st_ino;
	}
	return 0;
}

/* secret_bus.c says why. One that breaks is replaced. */
HEAVY_TEST(all_calls_have_one_connection)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	ino_t first;
	int fd;

	if (!expects("unlocked"))
		return;
	CHECK(clear());
	s = open_both(false);
	CHECK(s);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("value"), &why), 0);
	first = find_connection(&fd);
	CHECK(first);
	CHECK(gives(s, "user/A", MP_STR("value")));
	CHECK_EQ(try_get(s, "user/B"), MCPOOL_ENOENT);
	CHECK_EQ(mp_secrets_list(s, "", note_item, NULL, &why), 1);
	CHECK(find_connection(&fd) == first);
	CHECK_EQ(shutdown(fd, SHUT_RDWR), 0);
	CHECK(gives(s, "user/A", MP_STR("value")));
	CHECK(find_connection(&fd) != first);
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), 0);
}

/* What was saved without the keyring is newer than what the keyring has. */
HEAVY_TEST(a_value_of_the_file_is_found_and_moves_to_the_keyring)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *without = NULL;

	if (!expects("unlocked"))
		return;
	CHECK(clear());
	s = open_both(false);
	without = open_both(true);
	CHECK(s && without);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("old"), &why), 0);
	CHECK_EQ(mp_secrets_set(without, "user/A", MP_STR("newer"), &why), 0);
	CHECK(in_file() && gives(s, "user/A", MP_STR("newer")));
	CHECK_EQ(mp_secrets_list(s, "", note_item, NULL, &why), 1);
	CHECK(strstr(listed_place, "/secrets"));
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("newest"), &why), 0);
	CHECK(!in_file() && gives(s, "user/A", MP_STR("newest")));
	CHECK_EQ(mp_secrets_set(without, "user/A", MP_STR("again"), &why), 0);
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), 0); /* from both */
	CHECK(!in_file());
	CHECK_EQ(try_get(s, "user/A"), MCPOOL_ENOENT);
}

HEAVY_TEST(a_locked_keyring_is_not_used_and_said)
{
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *s = NULL;
	char words[600];

	if (!expects("locked"))
		return;
	CHECK(clear());
	s = open_both(false);
	CHECK(s);
	/* The script saved this one before it locked the keyring. */
	CHECK_EQ(try_get(s, "user/LOCKED"), MCPOOL_EPERM);
	CHECK(strstr(why.message, "locked; unlock it and try again"));
	CHECK_EQ(mp_secrets_remove(s, "user/LOCKED", &why), MCPOOL_EPERM);
	CHECK_EQ(mp_secrets_set(s, "user/A", MP_STR("value"), &why), 0);
	mp_secrets_get_warning(s, words, sizeof(words));
	CHECK_TEXT(words,
		   "the default keyring of the Secret Service is locked; the secret is kept in "
		   "a sealed file");
	CHECK(in_file() && gives(s, "user/A", MP_STR("value")));
	mp_secrets_get_warning(s, words, sizeof(words));
	CHECK_TEXT(words, "");
	CHECK_EQ(try_get(s, "user/B"), MCPOOL_ENOENT);
	CHECK_EQ(mp_secrets_list(s, "", note_item, NULL, &why), 1);
	mp_secrets_get_warning(s, words, sizeof(words));
	CHECK(strstr(words, "is locked; secrets in it are not listed"));
	CHECK_EQ(mp_secrets_remove(s, "user/A", &why), 0);
}
