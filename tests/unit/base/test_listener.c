/*
 * test_listener.c - accepting connections, also without descriptors (attack-S13, chaos-C1).
 */
#include "test.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/listener.h"

enum { MANY = 40 };

struct stage {
	struct mp_loop *loop;
	struct mp_listener *listener;
	int fd, clients[MANY], accepted[MANY];
	int n_clients, n_accepted;
	struct rlimit usual;
};

static void accepted(void *u, int fd)
{
	struct stage *s = u;

	if (s->n_accepted < MANY)
		s->accepted[s->n_accepted++] = fd;
	else
		close(fd);
}

static void stage_done(struct stage *s)
{
	mp_log_set_sink(NULL, NULL);
	if (s->usual.rlim_max)
		setrlimit(RLIMIT_NOFILE, &s->usual);
	mp_listener_free(s->listener);
	for (int i = 0; i < s->n_clients; i++)
		close(s->clients[i]);
	for (int i = 0; i < s->n_accepted; i++)
		close(s->accepted[i]);
	if (s->fd > 0)
		close(s->fd);
	if (s->loop)
		mp_loop_advance(s->loop, 0);
	mp_loop_free(s->loop);
}

static bool stage_open(struct stage *s)
{
	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(mp_loop_new_by_hand(0, &s->loop) == 0);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	REQUIRE(s->fd > 0);
	REQUIRE(bind(s->fd, &(struct sockaddr){.sa_family = AF_UNIX}, sizeof(sa_family_t)) == 0);
	REQUIRE(listen(s->fd, MANY) == 0);
	s->listener = mp_listener_new(s->loop, s->fd, "test", accepted, s);
	REQUIRE(s->listener);
	mp_listener_open(s->listener);
	return true;
}

static bool come(struct stage *s, int n)
{
	struct sockaddr_storage at;
	socklen_t size = sizeof(at);

	REQUIRE(getsockname(s->fd, (struct sockaddr *)&at, &size) == 0);
	for (int i = 0; i < n; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		REQUIRE(fd > 0);
		s->clients[s->n_clients++] = fd;
		REQUIRE(connect(fd, (struct sockaddr *)&at, size) == 0);
	}
	return true;
}

/* No more descriptors than there are. */
static bool run_out(struct stage *s)
{
	int next = fcntl(0, F_DUPFD_CLOEXEC, 0);
	struct rlimit none;

	REQUIRE(next > 0);
	close(next);
	REQUIRE(getrlimit(RLIMIT_NOFILE, &s->usual) == 0);
	none = s->usual;
	none.rlim_cur = (rlim_t)next;
	return setrlimit(RLIMIT_NOFILE, &none) == 0;
}

static void count_line(const struct mp_log_line *line, void *u)
{
	(void)line;
	++*(int *)u;
}

TEST(all_who_come_are_accepted)
{
	MP_CLEANUP(stage_done) struct stage s = {.fd = -1};

	CHECK(stage_open(&s));
	CHECK(come(&s, MANY));
	for (int i = 0; i < MANY && s.n_accepted < MANY; i++)
		mp_loop_turn(s.loop, false);
	CHECK_EQ(s.n_accepted, MANY);
}

TEST(without_descriptors_it_pauses_and_goes_on)
{
	MP_CLEANUP(stage_done) struct stage s = {.fd = -1};
	static int lines;

	lines = 0;
	CHECK(stage_open(&s));
	mp_log_set_level(MP_LEVEL_WRN);
	mp_log_set_sink(count_line, &lines);
	CHECK(come(&s, 3));
	CHECK(run_out(&s));
	mp_loop_turn(s.loop, false);
	CHECK_EQ(s.n_accepted, 0);
	CHECK(mp_listener_is_paused(s.listener));
	mp_loop_advance(s.loop, MP_LISTENER_PAUSE_MS); /* tried again, in vain */
	mp_loop_turn(s.loop, false);
	CHECK(mp_listener_is_paused(s.listener));
	CHECK_EQ(lines, 1); /* for both */
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &s.usual), 0);
	mp_loop_turn(s.loop, false);
	CHECK_EQ(s.n_accepted, 0); /* it is not looked at */
	mp_loop_advance(s.loop, MP_LISTENER_PAUSE_MS);
	mp_loop_turn(s.loop, false);
	CHECK_EQ(s.n_accepted, 3);
	CHECK(!mp_listener_is_paused(s.listener));
}
