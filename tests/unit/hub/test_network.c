/*
 * test_network.c - an address of this machine is news.
 * In a network of its own where the system allows that; else only that it opens and closes.
 */
#include "test.h"

#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/loop.h"
#include "hub/network.h"

static void count(void *u)
{
	int *n = u;

	(*n)++;
}

/* The loopback device gets its address when it goes up. */
static bool raise_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok;

	request.ifr_flags = IFF_UP;
	ok = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &request) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

struct nothing {
	struct mp_loop *loop;
	struct mp_network *network;
};

static void nothing_done(struct nothing *n)
{
	mp_network_free(n->network);
	mp_loop_free(n->loop);
}

/* U12 */
TEST(an_address_is_told_once)
{
	MP_CLEANUP(nothing_done) struct nothing n = {NULL, NULL};
	bool is_alone = unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
	int told = 0;

	CHECK(mp_loop_new_by_hand(1000000, &n.loop) == 0);
	CHECK_EQ(mp_network_new(n.loop, count, &told, &n.network, NULL), 0);
	mp_loop_advance(n.loop, 2000);
	CHECK_EQ(told, 0);
	if (!is_alone || !raise_loopback())
		return;
	for (int i = 0; i < 5; i++)
		mp_loop_advance(n.loop, MP_NETWORK_QUIET_MS);
	CHECK_EQ(told, 1);
}
