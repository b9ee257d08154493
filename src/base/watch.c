/*
 * watch.c - a descriptor watched by the loop, and closed with its watch.
 */
#include "base/watch.h"

#include <unistd.h>
#include <uv.h>

#include "base/mem.h"

struct mp_watch {
	uv_poll_t poll;
	int fd;
	bool closed; /* libuv still has the handle */
	void (*fn)(void *u);
	void *u;
};

static void watch_freed(uv_handle_t *h)
{
	mp_free(h->data);
}

static void watch_ready(uv_poll_t *poll, int status, int events)
{
	struct mp_watch *w = poll->data;

	(void)events;
	w->fn(w->u);
	/* libuv stops at an error, but there may be more to read before it. */
	if (status < 0 && !w->closed)
		uv_poll_start(poll, UV_READABLE, watch_ready);
}

int mp_watch_new(struct mp_loop *loop, int fd, void (*fn)(void *u), void *u,
		 struct mp_watch **ret_watch)
{
	struct mp_watch *w = mp_alloc(sizeof(*w));

	*w = (struct mp_watch){.fd = fd, .fn = fn, .u = u};
	if (uv_poll_init(mp_loop_get_uv(loop), &w->poll, fd) < 0) {
		close(fd);
		mp_free(w);
		return MCPOOL_ESYSTEM;
	}
	w->poll.data = w;
	uv_poll_start(&w->poll, UV_READABLE, watch_ready); /* fails for closing handles only */
	*ret_watch = w;
	return 0;
}

struct mp_watch *mp_watch_free(struct mp_watch *w)
{
	if (!w)
		return NULL;
	w->closed = true;
	uv_close((uv_handle_t *)&w->poll, watch_freed);
	close(w->fd);
	return NULL;
}

int mp_watch_get_fd(const struct mp_watch *w)
{
	return w->fd;
}
