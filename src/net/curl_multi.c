/*
 * curl_multi.c - a curl multi that lives on our loop: its sockets, its timer, its handles.
 * curl says which sockets it waits for and when it wants to be called. It is never called from
 * within what it calls.
 */
#include "net/curl_multi.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/curl_options.h"

/*
 * One socket. Those we opened stay watched between two exchanges, which saves four system calls for
 * each. Those curl opens for itself are dropped when curl stops waiting for them: it closes them
 * silently, and unwatching one later would hit another file with the same number.
 */
struct watcher {
	uv_poll_t poll;
	struct mp_link link;
	struct mp_curl_multi *multi;
	int fd;
	int events;             /* an exchange waits for it */
	int polled;             /* that libuv watches; may be more */
	bool ours;              /* told when it is closed */
	bool plain;             /* HTTP/1 without TLS: nothing comes unasked */
	bool missed;            /* bytes came without a reader, while exchanges rested */
	void (*ready)(void *u); /* NULL: curl is told */
	void *u;
};

/* --- calling curl --------------------------------------------------------------------------- */

static void tell_jobs(struct mp_curl_multi *d)
{
	CURLMsg *message;
	int left;

	while (!d->stopped && (message = curl_multi_info_read(d->handle, &left))) {
		CURLcode code = message->data.result;
		struct mp_http_job *job = NULL;

		if (curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &job) == CURLE_OK &&
		    job)
			job->over(job, code);
	}
}

static void look_again(struct mp_curl_multi *d);

static void curl_multi_act(struct mp_curl_multi *d, curl_socket_t fd, int events)
{
	int running;

	if (d->stopped)
		return;
	/* Fails for a multi that is broken; its exchanges then meet their limits. */
	(void)curl_multi_socket_action(d->handle, fd, events, &running);
	d->acted(d->u);
	tell_jobs(d);
	if (d->has_missed && d->n_resting == 0)
		look_again(d);
}

/* --- sockets -------------------------------------------------------------------------------- */

static void curl_multi_watched(uv_poll_t *poll, int status, int events);

/* Watching an idle socket costs nothing until bytes come. */
static void curl_multi_watch(struct watcher *w, int events)
{
	w->events = events;
	if (!(events & ~w->polled) && !(w->polled & ~events & UV_WRITABLE))
		return;
	w->polled = events;
	(void)uv_poll_start(&w->poll, events, curl_multi_watched); /* fails when closing */
}

static void stop_polling(struct watcher *w)
{
	w->polled = 0;
	(void)uv_poll_stop(&w->poll); /* cannot fail */
}

static bool has_hung_up(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 && p.revents & (POLLRDHUP | POLLHUP | POLLERR);
}

/*
 * Bytes came on an idle connection. The peer is closing it (TLS close, or an answer 408). As long
 * as they are unread, curl takes the connection for alive and sends the next request, whose outcome
 * would be unknown. So the connection is emptied and shut down, and curl finds it dead.
 */
static void look_at_idle(struct watcher *w)
{
	char room[4096];
	int n = 0;

	stop_polling(w);
	w->missed = w->multi->n_resting > 0; /* it may be theirs */
	w->multi->has_missed |= w->missed;
	if (w->missed)
		return;
	if (!w->plain && !has_hung_up(w->fd)) { /* TLS and HTTP/2 have more to say than answers */
		(void)uv_poll_start(&w->poll, UV_DISCONNECT,
				    curl_multi_watched); /* fails when closing */
		return;
	}
	(void)shutdown(w->fd, SHUT_RDWR); /* fails if it is dead already */
	while (recv(w->fd, room, sizeof(room), MSG_DONTWAIT) > 0 && n < 1000)
		n++;
}

static void look_again(struct mp_curl_multi *d)
{
	d->has_missed = false;
	MP_LIST_EACH(&d->sockets, link) {
		struct watcher *w = mp_container_of(link, struct watcher, link);

		if (w->missed && w->events == 0)
			look_at_idle(w);
		w->missed = false;
	}
}

void mp_curl_multi_rest(struct mp_curl_multi *d, bool rests)
{
	mp_check(rests || d->n_resting > 0);
	if (rests)
		d->n_resting++;
	else
		d->n_resting--;
}

/*
 * An error is curl's to find when it reads, behind what came before it. libuv stops watching then,
 * but curl may need several calls.
 */
static void curl_multi_watched(uv_poll_t *poll, int status, int events)
{
	struct watcher *w = mp_container_of(poll, struct watcher, poll);
	int flags = 0;

	if (status < 0) {
		events = w->events;
		w->polled = 0;
		curl_multi_watch(w, w->events);
	}
	if (!(events & w->events)) {
		look_at_idle(w);
		return;
	}
	if (w->ready) {
		w->ready(w->u);
		return;
	}
	if (status < 0 || events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (status < 0 || events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	curl_multi_act(w->multi, w->fd, flags);
}

static void watcher_closed(uv_handle_t *poll)
{
	mp_free(mp_container_of(poll, struct watcher, poll));
}

static void forget_socket(struct mp_curl_multi *d, curl_socket_t fd)
{
	struct watcher *w = mp_ids_remove(&d->watchers, (mp_id)fd + 1);

	if (!w)
		return;
	mp_list_remove(&d->sockets, &w->link);
	stop_polling(w);
	uv_close((uv_handle_t *)&w->poll, watcher_closed);
}

static struct watcher *watcher_of(struct mp_curl_multi *d, curl_socket_t fd)
{
	struct watcher *w = mp_ids_get(&d->watchers, (mp_id)fd + 1);

	if (w)
		return w;
	w = mp_alloc(sizeof(*w));
	w->multi = d;
	w->fd = fd;
	mp_check(uv_poll_init(mp_loop_get_uv(d->loop), &w->poll, fd) == 0);
	mp_ids_put(&d->watchers, (mp_id)fd + 1, w);
	mp_list_append(&d->sockets, &w->link);
	return w;
}

static void leave_socket(struct mp_curl_multi *d, curl_socket_t fd)
{
	struct watcher *w = mp_ids_get(&d->watchers, (mp_id)fd + 1);

	if (w && w->ours)
		curl_multi_watch(w, 0);
	else
		forget_socket(d, fd);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *u, void *socket_u)
{
	struct mp_curl_multi *d = u;

	(void)easy;
	(void)socket_u;
	if (what == CURL_POLL_REMOVE)
		leave_socket(d, fd);
	else
		curl_multi_watch(watcher_of(d, fd),
				 (what & CURL_POLL_IN ? UV_READABLE : 0) |
					 (what & CURL_POLL_OUT ? UV_WRITABLE : 0));
	return 0;
}

int mp_curl_multi_open_socket(struct mp_curl_multi *d, const struct curl_sockaddr *a, bool plain)
{
	int fd = mp_curl_options_socket(a->family, a->socktype, a->protocol);
	struct watcher *w;

	if (fd < 0)
		return -1;
	w = watcher_of(d, fd);
	w->ours = true;
	w->plain = plain;
	return fd;
}

int mp_curl_multi_close_socket(void *u, curl_socket_t fd)
{
	forget_socket(u, fd);
	return close(fd);
}

void mp_curl_multi_watch(struct mp_curl_multi *d, curl_socket_t fd, bool writable,
			 void (*ready)(void *u), void *u)
{
	struct watcher *w = watcher_of(d, fd);

	w->ready = ready;
	w->u = u;
	curl_multi_watch(w, UV_READABLE | (writable ? UV_WRITABLE : 0));
}

void mp_curl_multi_unwatch(struct mp_curl_multi *d, curl_socket_t fd)
{
	struct watcher *w = watcher_of(d, fd);

	curl_multi_watch(w, 0);
	stop_polling(w);
}

/* --- handles -------------------------------------------------------------------------------- */

CURL *mp_curl_multi_get_easy(struct mp_curl_multi *d)
{
	return d->n_free ? d->free_easies[--d->n_free] : curl_easy_init();
}

void mp_curl_multi_put_easy(struct mp_curl_multi *d, CURL *easy)
{
	if (!easy)
		return;
	if (d->n_free == MP_CURL_MULTI_FREE || d->stopped) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_reset(easy);
	d->free_easies[d->n_free++] = easy;
}

/* --- the multi ------------------------------------------------------------------------------ */

static int want_timer(CURLM *multi, long ms, void *u)
{
	struct mp_curl_multi *d = u;

	(void)multi;
	if (ms < 0)
		mp_timer_stop(&d->timer);
	else
		mp_timer_start(&d->timer, ms);
	return 0;
}

static void timer_rang(void *u)
{
	curl_multi_act(u, CURL_SOCKET_TIMEOUT, 0);
}

void mp_curl_multi_kick(struct mp_curl_multi *d)
{
	curl_multi_act(d, CURL_SOCKET_TIMEOUT, 0);
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

static void set_multi(struct mp_curl_multi *d)
{
	/* None of these can fail for the options this curl has. */
	(void)curl_multi_setopt(d->handle, CURLMOPT_SOCKETFUNCTION, want_socket);
	(void)curl_multi_setopt(d->handle, CURLMOPT_SOCKETDATA, d);
	(void)curl_multi_setopt(d->handle, CURLMOPT_TIMERFUNCTION, want_timer);
	(void)curl_multi_setopt(d->handle, CURLMOPT_TIMERDATA, d);
	/* No ceiling per host: streams that stay open would leave no room for calls. */
	(void)curl_multi_setopt(d->handle, CURLMOPT_MAXCONNECTS, (long)MP_LIMIT_IDLE_CONNECTIONS);
}

int mp_curl_multi_new(struct mp_loop *loop, struct mp_list *home, void (*acted)(void *u), void *u,
		      struct mp_curl_multi **ret_multi)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct mp_curl_multi *d;
	CURLM *multi;

	mp_check(pthread_once(&once, init_curl) == 0);
	multi = curl_multi_init();
	if (!multi)
		return MCPOOL_ENOMEM;
	d = mp_alloc(sizeof(*d));
	*d = (struct mp_curl_multi){
		.loop = loop, .home = home, .handle = multi, .acted = acted, .u = u};
	mp_timer_init(&d->timer, loop, timer_rang, d);
	mp_ids_init(&d->watchers);
	mp_list_init(&d->sockets);
	mp_list_init(&d->plain_sockets);
	mp_list_append(home, &d->link);
	set_multi(d);
	*ret_multi = d;
	return 0;
}

void mp_curl_multi_stop(struct mp_curl_multi *d)
{
	d->stopped = true;
	mp_timer_stop(&d->timer);
}

void mp_curl_multi_free(struct mp_curl_multi *d)
{
	if (mp_list_linked(&d->link))
		mp_list_remove(d->home, &d->link);
	while (d->n_free)
		curl_easy_cleanup(d->free_easies[--d->n_free]);
	(void)curl_multi_cleanup(d->handle); /* closes what is open, by our function */
	mp_timer_stop(&d->timer);
	while (d->sockets.len) /* none, if curl keeps its word */
		forget_socket(
			d, mp_container_of(mp_list_first(&d->sockets), struct watcher, link)->fd);
	mp_ids_done(&d->watchers);
	mp_http_target_done(&d->last);
	mp_free(d);
}

/* --- until it is not needed ----------------------------------------------------------------- */

static void drive_gone(struct mp_grave *grave)
{
	mp_curl_multi_free(mp_container_of(grave, struct mp_curl_multi, grave));
}

static void go_if_free(struct mp_curl_multi *d)
{
	if (!d->retired || d->n_jobs > 0 || d->stopped)
		return;
	mp_curl_multi_stop(d);
	mp_list_remove(d->home, &d->link);
	mp_loop_bury(d->loop, &d->grave, drive_gone); /* it may be on the stack */
}

void mp_curl_multi_join(struct mp_curl_multi *d)
{
	d->n_jobs++;
}

void mp_curl_multi_leave(struct mp_curl_multi *d)
{
	mp_check(d->n_jobs > 0);
	d->n_jobs--;
	go_if_free(d);
}

void mp_curl_multi_retire(struct mp_curl_multi *d)
{
	d->retired = true;
	go_if_free(d);
}
