/*
 * http_drive.c - a curl multi that lives on our loop: its sockets, its timer.
 * curl says which sockets it waits for and when it wants to be called. It is never called from
 * within what it calls.
 */
#include "net/http_drive.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <uv.h>

#include "base/limits.h"
#include "base/mem.h"

/*
 * One socket that curl waits for, gone when it does not: curl closes some sockets without a word,
 * and to stop watching one later would hit whoever has its number then.
 */
struct watcher {
	uv_poll_t poll;
	struct mp_link link;
	struct mp_http_drive *drive;
	int fd;
	int events; /* that curl waits for */
};

static void act(struct mp_http_drive *d, curl_socket_t fd, int events)
{
	int running;

	if (d->stopped)
		return;
	/* Fails for a multi that is broken; its exchanges then meet their limits. */
	(void)curl_multi_socket_action(d->multi, fd, events, &running);
	d->acted(d->u);
}

/*
 * An error is curl's to find when it reads, behind what came before it. libuv stops watching then,
 * but curl may need several calls.
 */
static void watched(uv_poll_t *poll, int status, int events)
{
	struct watcher *w = mp_container_of(poll, struct watcher, poll);
	int flags = status < 0 ? CURL_CSELECT_IN | CURL_CSELECT_OUT : 0;

	if (status < 0)
		(void)uv_poll_start(poll, w->events, watched); /* fails when closing */
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	act(w->drive, w->fd, flags);
}

static void watcher_closed(uv_handle_t *poll)
{
	mp_free(mp_container_of(poll, struct watcher, poll));
}

static void forget_socket(struct mp_http_drive *d, curl_socket_t fd)
{
	struct watcher *w = mp_ids_remove(&d->watchers, (mp_id)fd + 1);

	if (!w)
		return;
	mp_list_remove(&d->sockets, &w->link);
	uv_poll_stop(&w->poll);
	uv_close((uv_handle_t *)&w->poll, watcher_closed);
}

static struct watcher *watcher_of(struct mp_http_drive *d, curl_socket_t fd)
{
	struct watcher *w = mp_ids_get(&d->watchers, (mp_id)fd + 1);

	if (w)
		return w;
	w = mp_alloc(sizeof(*w));
	w->drive = d;
	w->fd = fd;
	mp_check(uv_poll_init(mp_loop_get_uv(d->loop), &w->poll, fd) == 0);
	mp_ids_put(&d->watchers, (mp_id)fd + 1, w);
	mp_list_append(&d->sockets, &w->link);
	return w;
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *u, void *socket_u)
{
	struct mp_http_drive *d = u;
	struct watcher *w;

	(void)easy;
	(void)socket_u;
	if (what == CURL_POLL_REMOVE) {
		forget_socket(d, fd);
		return 0;
	}
	w = watcher_of(d, fd);
	w->events =
		(what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
	(void)uv_poll_start(&w->poll, w->events, watched); /* fails when closing */
	return 0;
}

int mp_http_drive_close_socket(void *u, curl_socket_t fd)
{
	forget_socket(u, fd);
	return close(fd);
}

static int want_timer(CURLM *multi, long ms, void *u)
{
	struct mp_http_drive *d = u;

	(void)multi;
	if (ms < 0)
		mp_timer_stop(&d->timer);
	else
		mp_timer_start(&d->timer, ms);
	return 0;
}

static void timer_rang(void *u)
{
	act(u, CURL_SOCKET_TIMEOUT, 0);
}

void mp_http_drive_kick(struct mp_http_drive *d)
{
	act(d, CURL_SOCKET_TIMEOUT, 0);
}

static void init_curl(void)
{
	struct sigaction now;

	mp_check(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	/* A peer that is gone is an error, not the end of the process; TLS writes where it likes.
	 */
	if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		(void)signal(SIGPIPE, SIG_IGN); /* cannot fail for a signal that exists */
}

int mp_http_drive_init(struct mp_http_drive *d, struct mp_loop *loop, void (*acted)(void *u),
		       void *u)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	CURLM *multi;

	mp_check(pthread_once(&once, init_curl) == 0);
	multi = curl_multi_init();
	if (!multi)
		return MCPOOL_ENOMEM;
	*d = (struct mp_http_drive){.loop = loop, .multi = multi, .acted = acted, .u = u};
	mp_timer_init(&d->timer, loop, timer_rang, d);
	mp_ids_init(&d->watchers);
	mp_list_init(&d->sockets);
	/* No ceiling per host: streams that stay open would leave no room for calls. */
	(void)curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	(void)curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, d);
	(void)curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, want_timer);
	(void)curl_multi_setopt(multi, CURLMOPT_TIMERDATA, d);
	(void)curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)MP_LIMIT_IDLE_CONNECTIONS);
	return 0;
}

void mp_http_drive_stop(struct mp_http_drive *d)
{
	d->stopped = true;
	mp_timer_stop(&d->timer);
}

void mp_http_drive_done(struct mp_http_drive *d)
{
	(void)curl_multi_cleanup(d->multi); /* closes what is open, by our function */
	mp_timer_stop(&d->timer);
	while (d->sockets.len) /* none, if curl keeps its word */
		forget_socket(
			d, mp_container_of(mp_list_first(&d->sockets), struct watcher, link)->fd);
	mp_ids_done(&d->watchers);
}
