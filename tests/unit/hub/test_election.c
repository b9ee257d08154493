/* test_election.c - one hub per user; planted files are refused. */
#include "home.h"

#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <sys/wait.h>

#include "hub/election.h"

struct desk {
	struct mp_election a, b;
	pid_t winner;
};

static void tidy(struct desk *d)
{
	mp_election_resign(&d->a);
	mp_election_resign(&d->b);
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {.a = {.lock = -1, .listener = -1}, .b = {.lock = -1, .listener = -1}}

static bool make_place(void)
{
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_RUNTIME_DIR", in("run"), 1) == 0);
	REQUIRE(setenv("XDG_STATE_HOME", in("state"), 1) == 0);
	REQUIRE(mkdir(in("run"), 0700) == 0);
	return true;
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static int knock(const struct mp_hub_place *p)
{
	int fd = mp_hub_place_connect(p, &why);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

TEST(a_place_is_below_the_runtime_folder)
{
	struct mp_hub_place p;

	CHECK(make_place());
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.folder, in("run/mcpool"));
	CHECK_TEXT(p.socket, in("run/mcpool/hub.sock"));
	CHECK_TEXT(p.lock, in("run/mcpool/hub.lock"));
	CHECK_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.folder, in("state/mcpool/run"));
	CHECK_EQ(setenv("XDG_RUNTIME_DIR", "not/absolute", 1), 0);
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.folder, in("state/mcpool/run"));
}

static void stop_pretending(const int *unused)
{
	(void)unused;
	mp_hub_place_pretend(NULL, NULL);
}

/* Agents on the SDKs hand HOME and PATH to what they start: there is one hub all the same. */
TEST(without_the_variable_the_folder_of_the_login_is_found)
{
	MP_CLEANUP(stop_pretending) const int pretending = 0;
	struct mp_hub_place p;
	char login[400];

	CHECK(make_place());
	snprintf(login, sizeof(login), "%s/%u", in("run"), (unsigned)geteuid());
	CHECK_EQ(unsetenv("XDG_RUNTIME_DIR"), 0);
	CHECK_EQ(mkdir(login, 0700), 0);
	mp_hub_place_pretend(in("run"), getenv("HOME"));
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK(mp_str_starts(mp_str_of(p.folder), mp_str_of(login)));
	mp_hub_place_pretend(in("run"), "/home/of/somebody");
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.folder, in("state/mcpool/run"));
	mp_hub_place_pretend(in("run"), getenv("HOME"));
	CHECK_EQ(chmod(login, 0755), 0); /* no folder that a login makes */
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.folder, in("state/mcpool/run"));
	(void)pretending;
}

/* The kernel takes 107 bytes; each long path has a short one of its own. */
TEST(a_path_that_is_too_long_is_replaced)
{
	char longer[120], other[120];
	struct mp_hub_place p, q;

	CHECK(make_place());
	memset(longer, 'x', sizeof(longer) - 1);
	longer[0] = '/';
	longer[sizeof(longer) - 1] = '\0';
	memcpy(other, longer, sizeof(other));
	other[50] = 'y';
	CHECK_EQ(setenv("XDG_RUNTIME_DIR", longer, 1), 0);
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK(strncmp(p.folder, P_tmpdir "/mcpool-", 12) == 0);
	CHECK(strlen(p.socket) < 108 && strncmp(p.socket, p.folder, strlen(p.folder)) == 0);
	CHECK_EQ(setenv("XDG_RUNTIME_DIR", other, 1), 0);
	CHECK_EQ(mp_hub_place_find(&q, &why), 0);
	CHECK(strcmp(p.folder, q.folder) != 0);
	longer[107 - strlen("/mcpool/hub.sock")] = '\0'; /* the longest that fits */
	CHECK_EQ(setenv("XDG_RUNTIME_DIR", longer, 1), 0);
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_EQ(strlen(p.socket), 107);
	CHECK_EQ(p.socket[0] == '/' && p.socket[1] == 'x', true);
}

TEST(one_wins_and_the_other_is_told_who)
{
	DESK;
	struct stat st;

	CHECK(make_place());
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	CHECK_EQ(mp_hub_place_get_pid(&d.a.place), getpid());
	CHECK_EQ(knock(&d.a.place), 0);
	CHECK_EQ(mp_election_stand(&d.b, -1, 10000, &d.winner, &why), MCPOOL_EEXIST);
	CHECK_EQ(d.winner, getpid());
	CHECK_EQ(knock(&d.a.place), 0); /* the loser removed nothing */
	CHECK(stat(d.a.place.folder, &st) == 0 && (st.st_mode & 0777) == 0700);
	CHECK(stat(d.a.place.socket, &st) == 0 && (st.st_mode & 0777) == 0600);
	CHECK(stat(d.a.place.lock, &st) == 0 && (st.st_mode & 0777) == 0600);
	mp_election_resign(&d.a);
	CHECK_EQ(knock(&d.a.place), MCPOOL_ENOENT);
	CHECK(!exists(d.a.place.socket));
	CHECK_EQ(mp_election_stand(&d.b, -1, 0, &d.winner, &why), 0);
}

/* use-B1 */
TEST(a_removed_socket_is_made_again)
{
	DESK;

	CHECK(make_place());
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	CHECK(mp_election_is_intact(&d.a));
	CHECK_EQ(mp_election_restore(&d.a, &why), 0);
	CHECK(unlink(d.a.place.socket) == 0);
	CHECK(!mp_election_is_intact(&d.a));
	CHECK_EQ(knock(&d.a.place), MCPOOL_ENOENT);
	CHECK_EQ(mp_election_restore(&d.a, &why), 1);
	CHECK_EQ(knock(&d.a.place), 0);
	CHECK_EQ(mp_election_stand(&d.b, -1, 0, &d.winner, &why), MCPOOL_EEXIST);
}

/* use-B2 */
TEST(a_removed_folder_is_made_again)
{
	DESK;

	CHECK(make_place());
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	CHECK(unlink(d.a.place.socket) == 0 && unlink(d.a.place.lock) == 0 &&
	      rmdir(d.a.place.folder) == 0);
	CHECK_EQ(mp_election_restore(&d.a, &why), 1);
	CHECK_EQ(knock(&d.a.place), 0);
	CHECK_EQ(mp_hub_place_get_pid(&d.a.place), getpid());
	CHECK_EQ(mp_election_stand(&d.b, -1, 0, &d.winner, &why), MCPOOL_EEXIST);
}

/* use-B2: the one that lost its place takes nothing from the one that has it now. */
TEST(a_hub_without_its_place_leaves_the_next_one_alone)
{
	DESK;

	CHECK(make_place());
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	CHECK(unlink(d.a.place.socket) == 0 && unlink(d.a.place.lock) == 0);
	CHECK_EQ(mp_election_stand(&d.b, -1, 0, &d.winner, &why), 0);
	CHECK_EQ(mp_election_restore(&d.a, &why), MCPOOL_EEXIST);
	mp_election_resign(&d.a);
	CHECK(exists(d.b.place.socket));
	CHECK_EQ(knock(&d.b.place), 0);
}

/*
 * An older bridge that comes in between must not put an older hub where a newer one is about to
 * start (versions/many_newer_ones_at_once was flaky for that reason).
 */
HEAVY_TEST(a_place_that_is_left_to_a_newer_hub_is_kept_for_it)
{
	DESK;
	struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}}, began, ended;

	CHECK(make_place());
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	mp_election_reserve(&d.a);
	CHECK_EQ(mp_hub_place_get_pid(&d.a.place), getpid());
	mp_election_resign(&d.a);
	clock_gettime(CLOCK_MONOTONIC, &began);
	CHECK_EQ(mp_election_stand(&d.b, -1, 60, &d.winner, &why), 0); /* none came meanwhile */
	clock_gettime(CLOCK_MONOTONIC, &ended);
	CHECK((ended.tv_sec - began.tv_sec) * 1000 + (ended.tv_nsec - began.tv_nsec) / 1000000 >=
	      50);
	mp_election_resign(&d.b);
	CHECK(put("run/mcpool/hub.lock", "1\nnewer than 0.0.1\n")); /* we are newer */
	CHECK_EQ(mp_election_stand(&d.b, -1, 10000, &d.winner, &why), 0);
	mp_election_resign(&d.b);
	CHECK(put("run/mcpool/hub.lock", "1\nnewer than 99.0.0\n"));
	CHECK(utimensat(AT_FDCWD, in("run/mcpool/hub.lock"), long_ago, 0) == 0);
	CHECK_EQ(mp_election_stand(&d.b, -1, 10000, &d.winner, &why), 0); /* it did not come */
}

/* use-A1 */
TEST(a_hub_elsewhere_with_the_same_state_is_found)
{
	struct mp_hub_place p;
	DESK;

	CHECK(make_place());
	mp_hub_place_pretend(in("none"), NULL);
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	CHECK(unsetenv("XDG_RUNTIME_DIR") == 0);
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.socket, d.a.place.socket);
	CHECK_EQ(mp_election_stand(&d.b, -1, 0, &d.winner, &why), MCPOOL_EEXIST);
	mp_election_resign(&d.a);
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.folder, in("state/mcpool/run")); /* it runs no more */
	CHECK(put("state/mcpool/hub.place", "relative\n"));
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_TEXT(p.folder, in("state/mcpool/run"));
	mp_hub_place_pretend(NULL, NULL);
}

/* A dead one leaves its socket behind; its lock is gone with it. */
TEST(what_a_dead_hub_left_is_cleared_away)
{
	DESK;
	int fd;

	CHECK(make_place());
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	fd = d.a.listener;
	d.a.listener = -1;
	close(fd); /* as a crash does */
	mp_election_resign(&d.a);
	CHECK(exists(d.a.place.socket));
	CHECK_EQ(knock(&d.a.place), MCPOOL_ENOENT);
	CHECK_EQ(mp_election_stand(&d.b, -1, 0, &d.winner, &why), 0);
	CHECK_EQ(knock(&d.b.place), 0);
}

/* Who is leaving holds the lock and does not listen any more: the next one waits for it. */
HEAVY_TEST(the_next_one_waits_for_who_is_leaving)
{
	DESK;
	pid_t child;
	int status, ready[2];
	char byte;

	CHECK(make_place());
	CHECK_EQ(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (mp_election_stand(&d.a, -1, 0, &d.winner, &why) < 0)
			_exit(1);
		mp_election_stop_listening(&d.a);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		usleep(100000);
		_exit(0);
	}
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(mp_election_stand(&d.b, -1, 0, &d.winner, &why), MCPOOL_EEXIST);
	CHECK_EQ(d.winner, child);
	CHECK_EQ(mp_election_stand(&d.b, -1, 10000, &d.winner, &why), 0);
	close(ready[0]);
	close(ready[1]);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* V20 */
TEST(planted_things_are_refused)
{
	DESK;

	CHECK(make_place());
	CHECK_EQ(mkdir(in("elsewhere"), 0700), 0);
	CHECK_EQ(symlink(in("elsewhere"), in("run/mcpool")), 0);
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "symbolic link") != NULL);
	CHECK_EQ(unlink(in("run/mcpool")), 0);

	CHECK_EQ(mkdir(in("run/mcpool"), 0700), 0);
	CHECK_EQ(chmod(in("run/mcpool"), 0770), 0);
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "others may write") != NULL);
	CHECK_EQ(chmod(in("run/mcpool"), 0700), 0);

	CHECK_EQ(symlink(in("victim"), in("run/mcpool/hub.lock")), 0);
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), MCPOOL_EPERM);
	CHECK(!exists(in("victim")));
	CHECK_EQ(unlink(in("run/mcpool/hub.lock")), 0);

	CHECK(put("run/mcpool/hub.sock", "not a socket"));
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), MCPOOL_EPERM);
	CHECK(exists(in("run/mcpool/hub.sock")));
	CHECK_EQ(unlink(in("run/mcpool/hub.sock")), 0);
	CHECK_EQ(symlink(in("victim"), in("run/mcpool/hub.sock")), 0);
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), MCPOOL_EPERM);
	CHECK(!exists(in("victim")));
}

/* V20: what is another user's; only root can make such a thing. */
TEST(another_users_folder_is_refused)
{
	DESK;

	CHECK(make_place());
	CHECK_EQ(mkdir(in("run/mcpool"), 0700), 0);
	if (chown(in("run/mcpool"), 12345, 12345) < 0)
		return;
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), MCPOOL_EPERM);
	CHECK(strstr(why.message, "another user (12345)") != NULL);
}

/* A readable folder is made private, without a word. */
TEST(a_readable_folder_is_made_private)
{
	DESK;
	struct stat st;

	CHECK(make_place());
	CHECK_EQ(mkdir(in("run/mcpool"), 0700), 0);
	CHECK_EQ(chmod(in("run/mcpool"), 0755), 0);
	CHECK_EQ(mp_election_stand(&d.a, -1, 0, &d.winner, &why), 0);
	CHECK(stat(in("run/mcpool"), &st) == 0 && (st.st_mode & 0777) == 0700);
}

/* V19: a socket that somebody else listens at hears nothing from us. */
HEAVY_TEST(another_users_socket_is_not_spoken_to)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct mp_hub_place p;
	pid_t child;
	int ready[2], done[2], status;
	char byte;

	CHECK(make_place());
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_EQ(mkdir(p.folder, 0777), 0);
	if (geteuid() != 0 || chmod(test_folder, 0777) < 0 || chmod(in("run"), 0777) < 0 ||
	    chmod(p.folder, 0777) < 0)
		return; /* there is no other user */
	CHECK(pipe(ready) == 0 && pipe(done) == 0);
	memcpy(a.sun_path, p.socket, strlen(p.socket) + 1);
	child = fork();
	if (child == 0) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		close(done[1]);
		if (setuid(12345) < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
		    listen(fd, 5) < 0 || write(ready[1], "x", 1) != 1)
			_exit(1);
		_exit(read(done[0], &byte, 1) == 0 ? 0 : 1);
	}
	close(ready[1]);
	close(done[0]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_EQ(knock(&p), MCPOOL_EPERM);
	close(ready[0]);
	close(done[1]);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* What a service manager listens at is used and left where it is. */
TEST(a_given_socket_is_used_and_stays)
{
	DESK;
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	struct mp_hub_place p;
	int fd, seconds[2];

	CHECK(make_place());
	CHECK_EQ(mp_hub_place_find(&p, &why), 0);
	CHECK_EQ(mkdir(p.folder, 0700), 0);
	memcpy(a.sun_path, p.socket, strlen(p.socket) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 5) == 0);
	seconds[0] = mp_election_stand(&d.a, -1, 0, &d.winner, &why);
	seconds[1] = mp_election_stand(&d.b, fd, 0, &d.winner, &why);
	if (seconds[1] < 0)
		close(fd);
	CHECK_EQ(seconds[0], MCPOOL_EEXIST); /* it would take the manager's name away */
	CHECK_EQ(seconds[1], 0);
	mp_election_resign(&d.b);
	CHECK(exists(p.socket));
}
