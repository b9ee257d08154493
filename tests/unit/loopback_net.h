/*
 * loopback_net.h - a loop with an HTTP client and a server that answers it (loopback_http.h).
 */
#ifndef TEST_LOOPBACK_NET_H
#define TEST_LOOPBACK_NET_H

#include "test.h"

#include <signal.h>
#include <time.h>

#include "loopback_http.h"

#include "net/http_client.h"
#include "transport/destination.h"

struct net {
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct server server;
	struct mp_timer tick; /* turns do not wait for ever */
};

static inline void net_tick(void *u)
{
	struct net *n = u;

	mp_timer_start(&n->tick, 5);
}

static inline void net_done(struct net *n)
{
	mp_http_client_free(n->client);
	server_stop(&n->server);
	if (n->loop)
		mp_timer_stop(&n->tick);
	mp_loop_free(n->loop);
}

static inline bool net_init(struct net *n, const struct answer *answers)
{
	*n = (struct net){.loop = NULL};
	signal(SIGPIPE, SIG_IGN); /* the server may write to a closed connection */
	REQUIRE(mp_loop_new(&n->loop) == 0);
	mp_timer_init(&n->tick, n->loop, net_tick, n);
	net_tick(n);
	REQUIRE(server_start(&n->server, n->loop, answers));
	REQUIRE(mp_http_client_new(n->loop, &n->client) == 0);
	return true;
}

static inline double net_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * Turns until the condition holds, for 20 s at most, or for a moment where allocations fail. True
 * when it does.
 */
#define net_wait(n, condition)                                                 \
	__extension__({                                                        \
		double until_ = net_seconds() + (test_is_faulty() ? 0.5 : 20); \
		while (!(condition) && net_seconds() < until_)                 \
			mp_loop_turn((n)->loop, true);                         \
		(condition);                                                   \
	})

/* As long as it takes that something which must not happen would have happened. */
static inline void net_turn(struct net *n)
{
	double until = net_seconds() + (test_is_faulty() ? 0.01 : 0.05);

	while (net_seconds() < until)
		mp_loop_turn(n->loop, true);
}

/* Below this server. */
static inline bool net_aim(struct net *n, const char *path, struct mp_destination *ret)
{
	char url[200];

	snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", n->server.port, path);
	REQUIRE(mp_destination_init(ret, url, NULL) == 0);
	return true;
}

#endif
