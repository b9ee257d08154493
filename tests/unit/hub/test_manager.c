/* test_manager.c - what a service manager leaves for us, and what it hears. */
#include "home.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "hub/manager.h"

struct desk {
	struct mp_manager m;
	struct mp_loop *loop;
	int ear;
	char heard[200];
};

static void tidy(struct desk *d)
{
	mp_manager_done(&d->m);
	if (d->ear >= 0)
		close(d->ear);
	mp_loop_free(d->loop);
}

#define DESK             \
	MP_CLEANUP(tidy) \
	struct desk d = {.ear = -1}

/* Where the manager listens: a path, or a name in the kernel. */
static bool listen_at(struct desk *d, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t n = strlen(path);

	memcpy(a.sun_path, path, n);
	if (path[0] == '@')
		a.sun_path[0] = '\0';
	d->ear = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return d->ear >= 0 &&
	       bind(d->ear, (struct sockaddr *)&a,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) == 0 &&
	       setenv("NOTIFY_SOCKET", path, 1) == 0;
}

static const char *hear(struct desk *d)
{
	ssize_t n = read(d->ear, d->heard, sizeof(d->heard) - 1);

	d->heard[n > 0 ? n : 0] = '\0';
	return d->heard;
}

TEST(without_a_manager_nothing_happens)
{
	DESK;

	mp_manager_find(&d.m);
	CHECK(!mp_manager_is_there(&d.m));
	mp_manager_tell(&d.m, "READY=1");
	CHECK_EQ(mp_manager_take_socket(&d.m, AF_UNIX), -1);
}

TEST(it_hears_what_it_is_told)
{
	static const char *const paths[] = {NULL, "@mcpool-test-manager"};

	for (size_t i = 0; i < MP_ARRAY_LEN(paths); i++) {
		DESK;
		char name[80];

		CHECK(home_make());
		if (i == 0)
			snprintf(name, sizeof(name), "%s", in("notify"));
		else
			snprintf(name, sizeof(name), "%s-%d", paths[i], getpid());
		CHECK(listen_at(&d, name));
		mp_manager_find(&d.m);
		CHECK(mp_manager_is_there(&d.m));
		CHECK(!getenv("NOTIFY_SOCKET")); /* servers do not speak to it */
		mp_manager_tell(&d.m, "READY=1\nSTATUS=%d servers", 3);
		CHECK_TEXT(hear(&d), "READY=1\nSTATUS=3 servers");
	}
}

TEST(a_watchdog_hears_of_us_in_half_its_time)
{
	DESK;

	CHECK(home_make());
	CHECK(listen_at(&d, in("notify")));
	CHECK(setenv("WATCHDOG_USEC", "2000000", 1) == 0);
	CHECK_EQ(mp_loop_new_by_hand(1000, &d.loop), 0);
	mp_manager_find(&d.m);
	CHECK_EQ(d.m.watchdog_ms, 2000);
	mp_manager_keep_watch(&d.m, d.loop);
	CHECK_TEXT(hear(&d), "WATCHDOG=1");
	mp_loop_advance(d.loop, 999);
	CHECK_TEXT(hear(&d), "");
	mp_loop_advance(d.loop, 1);
	CHECK_TEXT(hear(&d), "WATCHDOG=1");
	mp_manager_done(&d.m);
	mp_loop_advance(d.loop, 5000);
	CHECK_TEXT(hear(&d), "");
}

/* Somebody else's watchdog, and somebody else's sockets, are not ours. */
TEST(what_is_meant_for_another_process_is_left)
{
	DESK;

	CHECK(home_make());
	CHECK(listen_at(&d, in("notify")));
	CHECK(setenv("WATCHDOG_USEC", "2000000", 1) == 0 && setenv("WATCHDOG_PID", "1", 1) == 0);
	CHECK(setenv("LISTEN_FDS", "1", 1) == 0 && setenv("LISTEN_PID", "1", 1) == 0);
	mp_manager_find(&d.m);
	CHECK_EQ(d.m.watchdog_ms, 0);
	CHECK_EQ(d.m.n_sockets, 0);
	CHECK(!getenv("LISTEN_PID"));
}

/* They begin at 3, so this is done in a process that has nothing else there. */
HEAVY_TEST(sockets_are_taken_by_their_family)
{
	int status;
	pid_t child;

	CHECK(home_make());
	child = fork();
	if (child == 0) {
		struct sockaddr_un a = {.sun_family = AF_UNIX};
		struct mp_manager m;
		char pid[16];
		int ours, theirs;

		snprintf(a.sun_path, sizeof(a.sun_path), "%s", in("s"));
		ours = socket(AF_UNIX, SOCK_STREAM, 0);
		theirs = socket(AF_INET, SOCK_STREAM, 0);
		if (bind(ours, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(ours, 1) < 0 ||
		    listen(theirs, 1) < 0)
			_exit(1);
		dup2(ours, 100);
		dup2(theirs, 101);
		dup2(100, 3);
		dup2(101, 4);
		dup2(0, 5); /* no socket */
		snprintf(pid, sizeof(pid), "%d", getpid());
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "3", 1);
		mp_manager_find(&m);
		if (m.n_sockets != 2 || mp_manager_take_socket(&m, AF_INET) != 4 ||
		    mp_manager_take_socket(&m, AF_UNIX) != 3 ||
		    mp_manager_take_socket(&m, AF_UNIX) != -1)
			_exit(2);
		_exit(fcntl(3, F_GETFD) & FD_CLOEXEC ? 0 : 3);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
}
