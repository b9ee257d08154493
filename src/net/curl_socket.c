/*
 * curl_socket.c - a connection made by curl, for another protocol than HTTP.
 * curl dials (CURLOPT_CONNECT_ONLY) and keeps the connection as long as the handle stays in its
 * multi. We wait for the socket ourselves, and read until there is nothing more: TLS may hold bytes
 * that the socket does not show.
 */
#include "net/curl_socket.h"

#include <curl/curl.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/curl_easy.h"
#include "net/read_budget.h"

enum {
	/* One TLS record: the peer can use all of it or nothing, so `written` tells the truth. */
	PIECE = 16 * 1024,
	READS = 8, /* in one turn, however quick they are */
};
/* Buffers that have grown larger are given back when they are empty. */
#define KEEP_CAP MP_KIB(4)

struct mp_curl_socket {
	struct mp_curl_easy easy;
	struct mp_link link; /* in the multi's list; in none: cut off */
	struct mp_loop *loop;
	struct mp_http_client *client;
	const struct mp_curl_socket_hooks *hooks; /* NULL: freed */
	void *u;
	struct mp_timer limit;
	int64_t connect_ms;
	struct mp_task begin, flush;
	struct mp_read_budget budget;
	struct mp_timer rest; /* nothing is read while it runs */
	struct mp_buf queue;  /* what goes out next */
	/* What is going out: it stays where it is until all of it is gone, for TLS insists on the
	 * same bytes at the same place when it is asked again. */
	struct mp_buf going;
	size_t gone;      /* of these */
	uint64_t taken;   /* bytes that ever came into `going` */
	uint64_t written; /* to the kernel */
	uint64_t told;    /* of these */
	int fd;           /* -1: not connected */
	bool ended;
	struct mp_grave grave;
};

/* --- telling -------------------------------------------------------------------------------- */

static void curl_socket_end(struct mp_curl_socket *w)
{
	if (w->ended)
		return;
	w->ended = true;
	mp_timer_stop(&w->limit);
	mp_timer_stop(&w->rest);
	if (w->fd >= 0)
		mp_curl_multi_unwatch(w->easy.multi, w->fd);
	if (w->hooks)
		w->hooks->ended(w->u, w->easy.end, &w->easy.why);
}

static void break_off(struct mp_curl_socket *w, const char *what)
{
	w->easy.end = MP_HTTP_CLOSED;
	mp_fail(&w->easy.why, MCPOOL_ECLOSED, "%s %s", mp_curl_easy_get_place(&w->easy), what);
	curl_socket_end(w);
}

static void tell_written(struct mp_curl_socket *w)
{
	if (w->told == w->written || w->ended || !w->hooks)
		return;
	w->told = w->written;
	if (w->hooks->written)
		w->hooks->written(w->u, w->written);
}

/* --- bytes ---------------------------------------------------------------------------------- */

/* True while there is something to write. */
static bool curl_socket_refill(struct mp_curl_socket *w)
{
	struct mp_buf empty;

	if (w->gone < w->going.len)
		return true;
	mp_buf_shrink(&w->going, KEEP_CAP);
	w->gone = 0;
	if (!w->queue.len)
		return false;
	empty = w->going;
	w->going = w->queue;
	w->queue = empty;
	w->taken += w->going.len;
	return true;
}

static CURLcode write_some(struct mp_curl_socket *w)
{
	CURLcode r = CURLE_OK;

	while (r == CURLE_OK && curl_socket_refill(w)) {
		size_t left = w->going.len - w->gone, n = 0;

		r = curl_easy_send(w->easy.handle, w->going.data + w->gone,
				   left < PIECE ? left : PIECE, &n);
		if (r == CURLE_OK) {
			w->gone += n;
			w->written += n;
		}
	}
	return r;
}

static bool can_use(const struct mp_curl_socket *w)
{
	return w->fd >= 0 && !w->ended && w->hooks;
}

/* True when there may be more. */
static bool read_one(struct mp_curl_socket *w)
{
	char room[MP_READ_BUDGET_PIECE];
	size_t n = 0;
	CURLcode r;

	if (!can_use(w))
		return false;
	r = curl_easy_recv(w->easy.handle, room, sizeof(room), &n);
	if (r == CURLE_AGAIN)
		return false;
	if (r != CURLE_OK)
		break_off(w, "broke the connection");
	else if (n == 0)
		break_off(w, "closed the connection");
	else {
		mp_read_budget_note(&w->budget, n);
		w->hooks->data(w->u, (struct mp_str){room, n});
	}
	return can_use(w);
}

static void read_some(void *u)
{
	struct mp_curl_socket *w = u;

	(void)mp_read_budget_is_used_up(&w->budget); /* its moment begins */
	for (int i = 0; read_one(w); i++) {
		bool is_over = mp_read_budget_is_used_up(&w->budget);

		if (!is_over && i < READS)
			continue;
		mp_curl_multi_unwatch(w->easy.multi, w->fd);
		mp_timer_start(&w->rest, is_over ? mp_read_budget_rest(&w->budget) : 0);
		return;
	}
}

static void curl_socket_ready(void *u);

/* A peer that stopped reading may have said why: deliver what it wrote before. */
static void flush(void *u)
{
	struct mp_curl_socket *w = u;
	CURLcode r;

	if (!can_use(w))
		return;
	r = write_some(w);
	tell_written(w);
	if (r == CURLE_OK || r == CURLE_AGAIN) {
		if (can_use(w) && !mp_timer_is_running(&w->rest))
			mp_curl_multi_watch(w->easy.multi, w->fd, r == CURLE_AGAIN,
					    curl_socket_ready, w);
		return;
	}
	read_some(w);
	if (can_use(w))
		break_off(w, "broke the connection");
}

static void curl_socket_ready(void *u)
{
	flush(u);
	read_some(u);
}

struct mp_buf *mp_curl_socket_get_out(struct mp_curl_socket *w)
{
	return &w->queue;
}

void mp_curl_socket_push(struct mp_curl_socket *w)
{
	if (can_use(w) && !mp_list_linked(&w->flush.link))
		mp_loop_post(w->loop, &w->flush);
}

uint64_t mp_curl_socket_get_place(const struct mp_curl_socket *w)
{
	return w->taken + w->queue.len;
}

size_t mp_curl_socket_get_queued(const struct mp_curl_socket *w)
{
	return w->queue.len + w->going.len - w->gone;
}

/* --- dialling ------------------------------------------------------------------------------- */

/*
 * curl has let go of the connection and takes it for one that waits for its next use, to be closed
 * when it looks old; from the first byte that we move it is in use.
 */
static void curl_socket_connected(struct mp_curl_socket *w)
{
	curl_socket_t fd = CURL_SOCKET_BAD;

	mp_timer_stop(&w->limit);
	if (curl_easy_getinfo(w->easy.handle, CURLINFO_ACTIVESOCKET, &fd) != CURLE_OK || fd < 0) {
		break_off(w, "closed the connection");
		return;
	}
	w->fd = fd;
	w->hooks->connected(w->u);
	curl_socket_ready(w);
}

static void curl_is_done(struct mp_http_job *job, CURLcode code)
{
	struct mp_curl_socket *w = mp_container_of(job, struct mp_curl_socket, easy.job);

	if (!w->hooks)
		return;
	mp_curl_easy_judge(&w->easy, code);
	if (code == CURLE_OK)
		curl_socket_connected(w);
	else
		curl_socket_end(w);
}

static void limit_rang(void *u)
{
	struct mp_curl_socket *w = u;

	mp_curl_easy_judge_limit(&w->easy, MP_HTTP_LIMIT_CONNECT, w->connect_ms);
	curl_socket_end(w);
}

static void begin(void *u)
{
	struct mp_curl_socket *w = u;
	struct mp_curl_multi *multi = mp_http_client_get_multi(w->client);

	mp_timer_start(&w->limit, w->connect_ms);
	mp_list_remove(&w->easy.multi->plain_sockets, &w->link);
	mp_list_append(&multi->plain_sockets, &w->link);
	if (mp_curl_easy_begin(&w->easy, multi)) {
		mp_curl_multi_kick(multi);
		return;
	}
	w->easy.end = MP_HTTP_CONNECT;
	mp_fail(&w->easy.why, MCPOOL_ENOMEM, "no memory for a connection");
	curl_socket_end(w);
}

static int about_to_use(void *u, char *ip, char *local_ip, int port, int local_port)
{
	struct mp_curl_socket *w = u;

	(void)local_ip;
	(void)port;
	(void)local_port;
	return mp_curl_easy_may_use(&w->easy, ip) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static void set_options(struct mp_curl_socket *w)
{
	CURL *easy = w->easy.handle;

	/* None of these can fail for the options this curl has. */
	(void)curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	(void)curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, 1L);
	(void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)PIECE);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, about_to_use);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, w);
}

/* --- life ----------------------------------------------------------------------------------- */

int mp_curl_socket_open(struct mp_http_client *c, const struct mp_http_request *request,
			size_t max_queued, const struct mp_curl_socket_hooks *hooks, void *u,
			struct mp_curl_socket **ret_socket, struct mcpool_error *reterr)
{
	struct mp_curl_multi *multi = mp_http_client_get_multi(c);
	struct mp_curl_socket *w = mp_alloc(sizeof(*w));
	struct mp_http_request request_copy = *request;
	int r;

	*w = (struct mp_curl_socket){
		.loop = multi->loop, .client = c, .hooks = hooks, .u = u, .fd = -1};
	w->connect_ms = request->connect_ms ? request->connect_ms : MP_HTTP_CONNECT_MS;
	request_copy.connect_ms = w->connect_ms;
	r = mp_curl_easy_init(&w->easy, multi, &request_copy, curl_is_done, reterr);
	if (r < 0) {
		mp_curl_easy_done(&w->easy);
		mp_free(w);
		return r;
	}
	set_options(w);
	mp_buf_init(&w->queue, max_queued);
	mp_buf_init(&w->going, max_queued);
	mp_timer_init(&w->limit, w->loop, limit_rang, w);
	mp_task_init(&w->begin, begin, w);
	mp_task_init(&w->flush, flush, w);
	mp_read_budget_init(&w->budget, w->loop, false);
	mp_timer_init(&w->rest, w->loop, curl_socket_ready, w);
	mp_list_append(&multi->plain_sockets, &w->link);
	mp_loop_post(w->loop, &w->begin);
	*ret_socket = w;
	return 0;
}

static void curl_socket_stop(struct mp_curl_socket *w)
{
	mp_timer_stop(&w->limit);
	mp_loop_unpost(w->loop, &w->begin);
	mp_loop_unpost(w->loop, &w->flush);
	mp_timer_stop(&w->rest);
}

/* Not with curl on the stack. */
static void curl_socket_cut(struct mp_curl_socket *w)
{
	if (!mp_list_linked(&w->link))
		return;
	mp_list_remove(&w->easy.multi->plain_sockets, &w->link);
	mp_curl_easy_done(&w->easy);
	curl_socket_stop(w);
	w->ended = true;
	w->fd = -1;
}

void mp_curl_socket_cut_all(struct mp_curl_multi *multi)
{
	struct mp_link *link;

	while ((link = mp_list_first(&multi->plain_sockets)))
		curl_socket_cut(mp_container_of(link, struct mp_curl_socket, link));
}

static void free_wire(struct mp_grave *grave)
{
	struct mp_curl_socket *w = mp_container_of(grave, struct mp_curl_socket, grave);

	curl_socket_cut(w);
	mp_buf_done(&w->queue);
	mp_buf_done(&w->going);
	mp_free(w);
}

struct mp_curl_socket *mp_curl_socket_free(struct mp_curl_socket *w)
{
	if (!w || !w->hooks)
		return NULL;
	w->hooks = NULL;
	curl_socket_stop(w);
	mp_loop_bury(w->loop, &w->grave, free_wire);
	return NULL;
}
