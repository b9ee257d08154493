/*
 * loopback_http.h - an HTTP server on this loop that answers by path, and misbehaves by path.
 * Paths and what they do stand in the test's table of answers.
 */
#ifndef TEST_LOOPBACK_HTTP_H
#define TEST_LOOPBACK_HTTP_H

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/loop.h"

enum then {
	KEEP,         /* answer and go on */
	CLOSE,        /* answer and close */
	RESET,        /* answer and cut */
	BYTEWISE,     /* one byte each millisecond */
	ENDLESS,      /* the answer, then its last line for ever */
	RESET_SECOND, /* answer, and cut as soon as the connection's second request came */
	CLOSE_SECOND, /* the same, but closed with good manners */
};

struct answer {
	const char *path, *bytes;
	enum then then;
};

struct server {
	uv_tcp_t listener;
	bool open;
	int port;
	const struct answer *answers;
	int n_connections; /* ever */
	int n_requests;
	int n_open;
	char last[4096]; /* the last request's head */
	size_t last_body;
	struct conn *conns; /* all open ones */
	/* Instead of the answers: the test answers with conn_write(). */
	void (*on_request)(struct server *s, struct conn *c, const char *head, const char *body);
	void *u; /* for that */
};

struct conn {
	uv_tcp_t tcp;
	uv_timer_t tick;
	int n_handles;
	struct server *s;
	struct conn *next;
	char *in;
	size_t len, room;
	const char *left; /* to be written byte by byte, or again and again */
	bool endless;
	int n_requests;
	bool closing;
	uv_write_t write;
};

static inline void conn_handle_closed(uv_handle_t *h)
{
	struct conn *c = h->data;

	if (--c->n_handles == 0) {
		free(c->in);
		free(c);
	}
}

static inline void conn_forget_what_is_queued(struct conn *c)
{
	struct linger cut = {.l_onoff = 1, .l_linger = 0};
	uv_os_fd_t fd = -1;

	(void)uv_fileno((uv_handle_t *)&c->tcp, &fd);
	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &cut, sizeof(cut));
}

static inline void conn_close(struct conn *c, bool reset)
{
	if (c->closing)
		return;
	c->closing = true;
	if (c->s) {
		struct conn **at = &c->s->conns;

		c->s->n_open--;
		while (*at && *at != c)
			at = &(*at)->next;
		if (*at)
			*at = c->next;
	}
	if (reset)
		conn_forget_what_is_queued(c);
	uv_close((uv_handle_t *)&c->tcp, conn_handle_closed);
	uv_close((uv_handle_t *)&c->tick, conn_handle_closed);
}

static inline void conn_write(struct conn *c, const char *bytes, size_t len)
{
	while (len && !c->closing) {
		uv_buf_t buf = uv_buf_init((char *)bytes, (unsigned)len);
		int n = uv_try_write((uv_stream_t *)&c->tcp, &buf, 1);

		if (n < 0 && n != UV_EAGAIN) {
			conn_close(c, false);
			return;
		}
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (c->endless) {
			return;
		}
	}
}

static inline void conn_tick(uv_timer_t *tick)
{
	struct conn *c = tick->data;

	if (c->endless) {
		for (int i = 0; i < 100 && !c->closing; i++)
			conn_write(c, c->left, strlen(c->left));
	} else if (*c->left) {
		conn_write(c, c->left++, 1);
	} else {
		uv_timer_stop(tick);
	}
}

static inline void conn_cut(uv_timer_t *tick)
{
	conn_close(tick->data, true);
}

static inline const struct answer *find_answer(struct server *s, const char *request)
{
	const char *path = strchr(request, ' ');

	for (const struct answer *a = s->answers; a->path && path; a++) {
		size_t n = strlen(a->path);

		if (strncmp(path + 1, a->path, n) == 0 &&
		    (path[1 + n] == ' ' || path[1 + n] == '?'))
			return a;
	}
	return NULL;
}

static inline void conn_answer(struct conn *c)
{
	const struct answer *a = find_answer(c->s, c->s->last);

	c->s->n_requests++;
	c->n_requests++;
	uv_timer_stop(&c->tick); /* the answer before is out */
	if (!a)
		return;
	if ((a->then == RESET_SECOND || a->then == CLOSE_SECOND) && c->n_requests > 1) {
		conn_close(c, a->then == RESET_SECOND);
		return;
	}
	c->left = a->bytes;
	if (a->then == BYTEWISE) {
		uv_timer_start(&c->tick, conn_tick, 0, 1);
		return;
	}
	conn_write(c, a->bytes, strlen(a->bytes));
	if (a->then == ENDLESS && !c->closing) {
		const char *line = strrchr(a->bytes, '\n'); /* ends there; find its beginning */

		while (line > a->bytes && line[-1] != '\n')
			line--;
		c->left = line;
		c->endless = true;
		uv_timer_start(&c->tick, conn_tick, 0, 1);
	}
	if (a->then == CLOSE)
		conn_close(c, false);
	else if (a->then == RESET) /* when what was written has been read */
		uv_timer_start(&c->tick, conn_cut, a->bytes[0] ? 30 : 0, 0);
}

/* Whole requests; true when there was one. */
static inline bool conn_take(struct conn *c)
{
	char *end = c->len ? memmem(c->in, c->len, "\r\n\r\n", 4) : NULL;
	char *length;
	size_t head, body = 0;

	if (!end || c->closing)
		return false;
	head = (size_t)(end - c->in) + 4;
	snprintf(c->s->last, sizeof(c->s->last), "%.*s", (int)head, c->in);
	length = strcasestr(c->s->last, "content-length:");
	if (length)
		body = strtoul(length + 15, NULL, 10);
	if (c->len < head + body)
		return false;
	c->s->last_body = body;
	if (c->s->on_request) {
		char *text = strndup(c->in + head, body);

		c->s->n_requests++;
		memmove(c->in, c->in + head + body, c->len - head - body);
		c->len -= head + body;
		c->s->on_request(c->s, c, c->s->last, text);
		free(text);
		return true;
	}
	memmove(c->in, c->in + head + body, c->len - head - body);
	c->len -= head + body;
	conn_answer(c);
	return true;
}

static inline void conn_room(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
	struct conn *c = h->data;

	(void)hint;
	if (c->room - c->len < 65536) {
		c->room = c->room * 2 + 65536;
		c->in = realloc(c->in, c->room);
	}
	*buf = uv_buf_init(c->in + c->len, (unsigned)(c->room - c->len));
}

static inline void conn_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct conn *c = stream->data;

	(void)buf;
	if (n < 0) {
		conn_close(c, false);
		return;
	}
	c->len += (size_t)n;
	while (conn_take(c))
		;
}

static inline void server_accept(uv_stream_t *listener, int status)
{
	struct server *s = listener->data;
	struct conn *c = calloc(1, sizeof(*c));

	(void)status;
	uv_tcp_init(listener->loop, &c->tcp);
	uv_timer_init(listener->loop, &c->tick);
	c->tcp.data = c->tick.data = c;
	c->n_handles = 2;
	c->s = s;
	c->next = s->conns;
	s->conns = c;
	s->n_open++;
	s->n_connections++;
	if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0) {
		conn_close(c, false);
		return;
	}
	uv_tcp_nodelay(&c->tcp, 1);
	uv_read_start((uv_stream_t *)&c->tcp, conn_room, conn_read);
}

static inline void server_cut_all(struct server *s)
{
	while (s->conns)
		conn_close(s->conns, true);
}

static inline bool server_start(struct server *s, struct mp_loop *loop,
				const struct answer *answers)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int len = sizeof(a);

	s->answers = answers;
	if (uv_tcp_init(mp_loop_get_uv(loop), &s->listener) < 0)
		return false;
	s->open = true;
	s->listener.data = s;
	if (uv_tcp_bind(&s->listener, (struct sockaddr *)&a, 0) < 0 ||
	    uv_listen((uv_stream_t *)&s->listener, 128, server_accept) < 0 ||
	    uv_tcp_getsockname(&s->listener, (struct sockaddr *)&a, &len) < 0)
		return false;
	s->port = ntohs(a.sin_port);
	return true;
}

/* No new connection is accepted. */
static inline void server_shut(struct server *s)
{
	if (s->open)
		uv_close((uv_handle_t *)&s->listener, NULL);
	s->open = false;
}

static inline void server_stop(struct server *s)
{
	server_shut(s);
	server_cut_all(s);
}

#endif
