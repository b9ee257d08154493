/*
 * front.c - HTTP on a loopback port by llhttp and epoll alone: each body goes to the echo server's
 * pipe as a line, each line that comes back answers the request that has waited longest.
 */
#include <fcntl.h>
#include <llhttp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "peers.h"

enum { ROOM = 1 << 16, GUESTS = 1024 };

struct guest {
	int fd;
	llhttp_t parser;
	char body[8192];
	size_t len;
};

static struct guest *guests[GUESTS];
static int line_up[GUESTS], first, last; /* a ring of those who wait */
static char out[8 * ROOM];               /* for the server, in one write */
static size_t out_len;

static int take_body(llhttp_t *p, const char *at, size_t n)
{
	struct guest *g = p->data;

	if (g->len + n > sizeof(g->body))
		return -1;
	memcpy(g->body + g->len, at, n);
	g->len += n;
	return 0;
}

static int take_end(llhttp_t *p)
{
	struct guest *g = p->data;

	memcpy(out + out_len, g->body, g->len);
	out_len += g->len;
	out[out_len++] = '\n';
	g->len = 0;
	line_up[last++ % GUESTS] = g->fd;
	return 0;
}

static void welcome(int ep, int listener, const llhttp_settings_t *settings)
{
	struct guest *g = calloc(1, sizeof(*g));
	struct epoll_event ev = {.events = EPOLLIN};
	int one = 1;

	g->fd = ev.data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (g->fd < 0 || g->fd >= GUESTS)
		exit(1);
	setsockopt(g->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	llhttp_init(&g->parser, HTTP_REQUEST, settings);
	g->parser.data = g;
	guests[g->fd] = g;
	epoll_ctl(ep, EPOLL_CTL_ADD, g->fd, &ev);
}

static void hear_guest(struct guest *g)
{
	static char room[ROOM];
	ssize_t n = read(g->fd, room, sizeof(room));

	if (n <= 0 || llhttp_execute(&g->parser, room, (size_t)n) != HPE_OK) {
		guests[g->fd] = NULL;
		close(g->fd);
		free(g);
	}
}

static void give(const char *line, size_t n)
{
	static char room[ROOM];
	int fd = line_up[first++ % GUESTS];
	int len = snprintf(room, sizeof(room),
			   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
			   "Content-Length: %zu\r\n\r\n%.*s",
			   n, (int)n, line);

	if (guests[fd] && write(fd, room, (size_t)len) != len)
		exit(1);
}

static void hear_server(int from)
{
	static char in[4 * ROOM];
	static size_t have;
	ssize_t n = read(from, in + have, 2 * ROOM);
	char *line = in, *end;

	if (n <= 0)
		exit(0);
	have += (size_t)n;
	while ((end = memchr(line, '\n', have - (size_t)(line - in)))) {
		give(line, (size_t)(end - line));
		line = end + 1;
	}
	have -= (size_t)(line - in);
	memmove(in, line, have);
}

static int listen_somewhere(const char *port_file)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FILE *f = fopen(port_file, "w");

	if (!f || bind(s, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(s, 128) < 0 ||
	    getsockname(s, (struct sockaddr *)&a, &len) < 0)
		exit(1);
	fprintf(f, "%d\n", ntohs(a.sin_port));
	fclose(f);
	return s;
}

int peer_front(const char *port_file, const char *self)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), listener = listen_somewhere(port_file), to, from;
	struct epoll_event ev[64], l = {.events = EPOLLIN, .data.fd = listener},
				   s = {.events = EPOLLIN};
	llhttp_settings_t settings;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	llhttp_settings_init(&settings);
	settings.on_body = take_body;
	settings.on_message_complete = take_end;
	peer_spawn_echo(self, &to, &from);
	s.data.fd = from;
	epoll_ctl(ep, EPOLL_CTL_ADD, listener, &l);
	epoll_ctl(ep, EPOLL_CTL_ADD, from, &s);
	for (;;) {
		int n = epoll_wait(ep, ev, 64, -1);

		for (int i = 0; i < n; i++) {
			int fd = ev[i].data.fd;

			if (fd == listener)
				welcome(ep, listener, &settings);
			else if (fd == from)
				hear_server(from);
			else if (guests[fd])
				hear_guest(guests[fd]);
		}
		if (out_len && write(to, out, out_len) != (ssize_t)out_len)
			exit(1);
		out_len = 0;
	}
}
