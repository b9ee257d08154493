/*
 * network.c - tells when this machine gets an address or a route, by netlink (rtnetlink(7)).
 */
#include "hub/network.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/timers.h"
#include "base/watch.h"

struct mp_network {
	struct mp_watch *watch;
	struct mp_timer timer; /* runs while a change is to be told */
	void (*fn)(void *u);
	void *u;
};

static bool is_gain(const struct nlmsghdr *m)
{
	return m->nlmsg_type == RTM_NEWADDR || m->nlmsg_type == RTM_NEWROUTE;
}

static bool has_gain(const void *bytes, size_t n)
{
	const char *at = bytes, *end = at + n;
	struct nlmsghdr m;

	for (; (size_t)(end - at) >= sizeof(m); at += NLMSG_ALIGN(m.nlmsg_len)) {
		memcpy(&m, at, sizeof(m));
		if (is_gain(&m))
			return true;
		if (m.nlmsg_len < sizeof(m) || NLMSG_ALIGN(m.nlmsg_len) > (size_t)(end - at))
			break;
	}
	return false;
}

/* Where messages were lost (ENOBUFS), there may have been one. */
static void network_readable(void *u)
{
	struct mp_network *n = u;
	char bytes[8192];
	ssize_t got;

	while ((got = recv(mp_watch_get_fd(n->watch), bytes, sizeof(bytes), 0)) > 0 ||
	       (got < 0 && (errno == ENOBUFS || errno == EINTR)))
		if ((got < 0 || has_gain(bytes, (size_t)got)) && !mp_timer_is_running(&n->timer))
			mp_timer_start(&n->timer, MP_NETWORK_QUIET_MS);
}

static void network_tell(void *u)
{
	struct mp_network *n = u;

	n->fn(n->u);
}

static int network_connect(void)
{
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR | RTMGRP_IPV4_ROUTE,
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int mp_network_new(struct mp_loop *loop, void (*fn)(void *u), void *u,
		   struct mp_network **ret_network, struct mcpool_error *reterr)
{
	int fd = network_connect();
	struct mp_network *n;

	if (fd < 0)
		return mp_fail_errno(reterr, errno, "changes of the network cannot be watched");
	n = mp_alloc(sizeof(*n));
	*n = (struct mp_network){.fn = fn, .u = u};
	mp_timer_init(&n->timer, loop, network_tell, n);
	if (mp_watch_new(loop, fd, network_readable, n, &n->watch) < 0) { /* which closes it */
		mp_free(n);
		return mp_fail(reterr, MCPOOL_ESYSTEM, "changes of the network cannot be watched");
	}
	*ret_network = n;
	return 0;
}

struct mp_network *mp_network_free(struct mp_network *n)
{
	if (!n)
		return NULL;
	mp_timer_stop(&n->timer);
	mp_watch_free(n->watch);
	return mp_free(n);
}
