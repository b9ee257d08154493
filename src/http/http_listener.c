/*
 * http_listener.c - the listening socket of the HTTP face, with or without TLS.
 */
#include "http/http_listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/listener.h"
#include "http/conn_tls.h"

enum { BACKLOG = 511, MAX_UNSENT = 1 << 17 };

struct mp_http_listener {
	struct mp_http_listener_options o;
	int fd;
	struct mp_listener *listener; /* owned; NULL: closed */
	struct sockaddr_storage address;
	struct mp_tls_context *tls; /* owned; NULL: none */
	struct mp_conn_room *room;  /* owned */
};

/* --- listening ------------------------------------------------------------------------------ */

/* "host:port", "[host]:port" or "port", in pieces. */
static int http_listener_split(const char *text, char host[256], char port[16],
			       struct mcpool_error *reterr)
{
	const char *colon = strrchr(text, ':');
	struct mp_str name = {text, colon ? (size_t)(colon - text) : 0};
	uint64_t number;

	if (name.len > 1 && name.p[0] == '[' && name.p[name.len - 1] == ']')
		name = (struct mp_str){name.p + 1, name.len - 2};
	else if (memchr(name.p, ':', name.len))
		name.len = 256; /* "::1:80": where does it end? */
	if (name.len > 255 || mp_str_to_u64(mp_str_of(colon ? colon + 1 : text), &number) < 0 ||
	    number > 65535)
		return mp_fail(
			reterr, MCPOOL_EINVAL,
			"'%s' is not an address to listen on: write HOST:PORT, [V6]:PORT or PORT",
			text);
	snprintf(host, 256, "%.*s", MP_STR_ARGS(name));
	snprintf(port, 16, "%u", (unsigned)number);
	return 0;
}

static int bind_to(const struct addrinfo *a)
{
	int one = 1, fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)); /* after a restart */
	if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	one = errno;
	close(fd);
	return -one;
}

static int open_socket(struct mp_http_listener *p, const char *listen, struct mcpool_error *reterr)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found = NULL;
	char host[256] = "", port[16] = "";
	int r = http_listener_split(listen, host, port, reterr), fd = -EADDRNOTAVAIL;

	if (r < 0)
		return r;
	r = getaddrinfo(host[0] ? host : "127.0.0.1", port, &hints, &found);
	if (r != 0)
		return mp_fail(reterr, MCPOOL_EINVAL, "there is no address for '%s': %s", host,
			       gai_strerror(r));
	for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
		fd = bind_to(a);
	freeaddrinfo(found);
	if (fd == -EADDRINUSE)
		return mp_fail(reterr, MCPOOL_ESYSTEM,
			       "another program listens on %s already; choose another with --http",
			       listen);
	if (fd < 0)
		return mp_fail_errno(reterr, -fd, "listening on %s failed", listen);
	p->fd = fd;
	return 0;
}

/* --- arriving ------------------------------------------------------------------------------- */

/* Before the descriptor is given away. */
static struct mp_address find_peer(int fd)
{
	struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
	socklen_t n = sizeof(peer);

	if (getpeername(fd, (struct sockaddr *)&peer, &n) < 0)
		return (struct mp_address){{0}};
	return mp_address_of((struct sockaddr *)&peer);
}

static void http_listener_welcome(void *u, int fd)
{
	struct mp_http_listener *p = u;
	struct mp_address peer = find_peer(fd);
	struct mp_conn *conn;
	int one = 1, unsent = MAX_UNSENT;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* it may be no TCP */
	/* What is unsent waits here, where it is counted, and not in megabytes of the kernel's. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
	if (mp_conn_open(p->o.loop, fd, p->room, &conn) < 0)
		return;
	conn->peer = peer;
	if (p->tls)
		conn = mp_conn_tls_open(p->tls, p->o.loop, conn);
	if (conn)
		p->o.arrived(p->o.u, conn);
}

/* --- life ----------------------------------------------------------------------------------- */

static int set_up(struct mp_http_listener *p, struct mcpool_error *reterr)
{
	socklen_t n = sizeof(p->address);
	int r = 0;

	if (p->o.fd > 0)
		p->fd = p->o.fd;
	else
		r = open_socket(p, p->o.listen, reterr);
	if (r < 0)
		return r;
	if (getsockname(p->fd, (struct sockaddr *)&p->address, &n) < 0)
		return mp_fail_errno(reterr, errno, "the socket we were given is none");
	if (p->address.ss_family != AF_INET && p->address.ss_family != AF_INET6)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "the socket we were given is not of the network");
	if (p->o.cert || p->o.key)
		r = mp_tls_context_new(p->o.cert, p->o.key, &p->tls, reterr);
	if (r < 0)
		return r;
	p->listener = mp_listener_new(p->o.loop, p->fd, "http", http_listener_welcome, p);
	if (p->listener)
		return 0;
	return mp_fail(reterr, MCPOOL_ESYSTEM, "the socket to listen on cannot be watched");
}

int mp_http_listener_new(const struct mp_http_listener_options *o,
			 struct mp_http_listener **ret_listener, struct mcpool_error *reterr)
{
	struct mp_http_listener *p = mp_alloc(sizeof(*p));
	int r;

	p->o = *o;
	p->fd = -1;
	p->room = mp_alloc(sizeof(*p->room));
	r = set_up(p, reterr);
	if (r < 0) {
		mp_http_listener_free(p);
		return r;
	}
	*ret_listener = p;
	return 0;
}

void mp_http_listener_open(struct mp_http_listener *p)
{
	mp_listener_open(p->listener);
}

void mp_http_listener_close(struct mp_http_listener *p)
{
	if (!p->listener)
		return;
	p->listener = mp_listener_free(p->listener);
	close(p->fd);
	p->fd = -1;
}

struct mp_http_listener *mp_http_listener_free(struct mp_http_listener *p)
{
	if (!p)
		return NULL;
	mp_http_listener_close(p);
	if (p->fd >= 0)
		close(p->fd);
	mp_tls_context_free(p->tls);
	mp_free(p->room);
	return mp_free(p);
}

const struct sockaddr *mp_http_listener_get_address(const struct mp_http_listener *p)
{
	return (const struct sockaddr *)&p->address;
}
