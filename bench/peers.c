/*
 * peers.c - echo server and bare relays. Each does as little as can be done: one epoll, one read
 * and one write for what is there.
 */
#include "peers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ROOM = 1 << 16 };

static void write_all(int fd, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t r = write(fd, p, n);

		if (r < 0 && errno == EAGAIN)
			continue;
		if (r <= 0)
			exit(0);
		p += r;
		n -= (size_t)r;
	}
}

/* --- the server ------------------------------------------------------------------------------ */

static const char *answer_to(const char *line)
{
	if (strstr(line, "\"initialize\""))
		return "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
		       "\"serverInfo\":{\"name\":\"echo\",\"version\":\"1\"}}";
	if (strstr(line, "\"tools/list\""))
		return "{\"tools\":[{\"name\":\"echo\",\"inputSchema\":{\"type\":\"object\","
		       "\"properties\":{}}}]}";
	return "{\"content\":[{\"type\":\"text\",\"text\":\"The quick brown fox jumps over the "
	       "lazy dog\"}]}";
}

/* The id stands first in what our benchmark and the hub send. */
static size_t get_id(const char *line, const char **ret)
{
	const char *p = strstr(line, "\"id\":");

	*ret = p ? p + 5 : NULL;
	return p ? strcspn(*ret, ",}") : 0;
}

static void answer(char *line, char *out, size_t *len)
{
	const char *id;
	size_t n = get_id(line, &id);

	if (!id)
		return;
	if (strstr(line, "server/discover"))
		*len += (size_t)sprintf(
			out + *len,
			"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"error\":{\"code\":-32601,"
			"\"message\":\"no\"}}\n",
			(int)n, id);
	else
		*len += (size_t)sprintf(out + *len,
					"{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}\n", (int)n,
					id, answer_to(line));
}

int peer_echo(void)
{
	static char in[2 * ROOM], out[8 * ROOM];
	size_t have = 0;

	for (;;) {
		ssize_t r = read(0, in + have, ROOM);
		size_t len = 0;
		char *line = in, *end;

		if (r <= 0)
			return 0;
		have += (size_t)r;
		while ((end = memchr(line, '\n', have - (size_t)(line - in)))) {
			*end = '\0';
			answer(line, out, &len);
			line = end + 1;
		}
		have -= (size_t)(line - in);
		memmove(in, line, have);
		write_all(1, out, len);
	}
}

/* --- relays ---------------------------------------------------------------------------------- */

static void watch(int ep, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = fd};

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
}

/* From each to its partner until one is gone. */
static void relay(const int from[2], const int to[2])
{
	static char room[ROOM];
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev[2];

	watch(ep, from[0]);
	watch(ep, from[1]);
	for (;;) {
		int n = epoll_wait(ep, ev, 2, -1);

		for (int i = 0; i < n; i++) {
			int side = ev[i].data.fd == from[0] ? 0 : 1;
			ssize_t r = read(from[side], room, sizeof(room));

			if (r <= 0) {
				close(ep);
				return;
			}
			write_all(to[side], room, (size_t)r);
		}
	}
}

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

int peer_relay_in(const char *path)
{
	struct sockaddr_un a = address(path);
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (connect(s, (struct sockaddr *)&a, sizeof(a)) < 0)
		usleep(1000);
	relay((int[2]){0, s}, (int[2]){s, 1});
	return 0;
}

void peer_spawn_echo(const char *self, int *ret_to, int *ret_from)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		exit(1);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(self, self, "echo", (char *)NULL);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	*ret_to = to[1];
	*ret_from = from[0];
}

int peer_relay_out(const char *path, const char *self)
{
	struct sockaddr_un a = address(path);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), to, from;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	unlink(path);
	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(listener, 4) < 0)
		return 1;
	peer_spawn_echo(self, &to, &from);
	for (;;) {
		int s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		relay((int[2]){s, from}, (int[2]){to, s});
		close(s);
	}
}
