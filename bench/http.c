/*
 * http.c - what a POST costs over a connection that stays, beside curl alone.
 * The yardstick is libcurl's multi interface with one handle, whose options were set once, on an
 * epoll of its own that does nothing else. The server is another process on another processor and
 * answers each request with the same bytes, but for its id. Ours is measured twice: an exchange,
 * and a whole call through the peer and the transport. Rounds by turns; the ratio of the minima is
 * the figure.
 */
#include <curl/curl.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/http_client.h"
#include "rpc/peer.h"
#include "transport/streamable.h"

enum { ROUNDS = 15, WARM_UP = 200 };

#define ARGUMENTS "\"arguments\":{\"message\":\"The quick brown fox jumps over the lazy dog\"}"
#define BODY                                                                            \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":" \
	"\"echo\"," ARGUMENTS "}}"
#define ANSWER                                                                        \
	"{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"text\"," \
	"\"text\":\"The quick brown fox jumps over the lazy dog\"}]}}"

static const struct mp_http_header headers[] = {
	{MP_STR("Content-Type"), MP_STR("application/json")},
	{MP_STR("Accept"), MP_STR("application/json, text/event-stream")},
	{MP_STR("Mcp-Protocol-Version"), MP_STR("2025-11-25")},
	{MP_STR("Mcp-Session-Id"), MP_STR("0123456789abcdef0123456789abcdef")},
	{MP_STR("Authorization"), MP_STR("Bearer 0123456789abcdef0123456789abcdef")},
};

static int n_serial = 5000;
static char url[64];

static void die(const char *what)
{
	fprintf(stderr, "bench_http: %s\n", what);
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET((size_t)cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		perror("pinning failed, the figures are noisy");
}

/* --- the server ------------------------------------------------------------------------------ */

/* The id of a request, whose body is the last of it. */
static const char *find_id(char *in, size_t len, char room[24])
{
	char *at;

	in[len] = '\0';
	at = strstr(in, "\"id\":");
	if (!at || sscanf(at + 5, "%20[0-9]", room) != 1)
		return "1";
	return room;
}

/* Each read that ends in the body's last bytes is a request; there is one at a time. */
static void serve_one(int fd)
{
	static const char head[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
		"Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\nContent-Length: %d\r\n\r\n%s";
	char in[8192], body[512], out[1024], room[24];
	size_t len = 0;
	ssize_t n;

	while ((n = read(fd, in + len, sizeof(in) - len - 1)) > 0) {
		int size;

		len += (size_t)n;
		if (len < sizeof(BODY) - 1 || memcmp(in + len - 3, "}}}", 3) != 0)
			continue;
		size = snprintf(body, sizeof(body), ANSWER, find_id(in, len, room));
		size = snprintf(out, sizeof(out), head, size, body);
		len = 0;
		if (write(fd, out, (size_t)size) != size)
			break;
	}
	close(fd);
}

static void serve(int listener)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept(listener, NULL, NULL), on = 1;

		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (fd >= 0 && fork() == 0) { /* one process for each connection */
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			serve_one(fd);
			_exit(0);
		}
		close(fd);
	}
}

static pid_t start_server(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	pid_t pid;

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		die(strerror(errno));
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/mcp", ntohs(a.sin_port));
	pin(1);
	pid = fork();
	if (pid == 0)
		serve(fd);
	pin(0);
	close(fd);
	return pid;
}

/* --- the yardstick: curl alone --------------------------------------------------------------- */

struct bare {
	CURLM *multi;
	CURL *easy;
	struct curl_slist *headers;
	int epoll;
	long timeout_ms;
	size_t got;
};

static size_t take(char *bytes, size_t one, size_t n, void *u)
{
	(void)bytes;
	(void)one;
	((struct bare *)u)->got += n;
	return n;
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *u, void *known)
{
	struct bare *b = u;
	struct epoll_event e = {.data.fd = fd};

	(void)easy;
	if (what == CURL_POLL_REMOVE)
		return epoll_ctl(b->epoll, EPOLL_CTL_DEL, fd, NULL);
	e.events = (what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	curl_multi_assign(b->multi, fd, b);
	return epoll_ctl(b->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
}

static int want_timer(CURLM *multi, long ms, void *u)
{
	(void)multi;
	((struct bare *)u)->timeout_ms = ms;
	return 0;
}

static void open_bare(struct bare *b)
{
	char line[200];

	*b = (struct bare){.epoll = epoll_create1(EPOLL_CLOEXEC), .timeout_ms = -1};
	b->multi = curl_multi_init();
	b->easy = curl_easy_init();
	for (size_t i = 0; i < MP_ARRAY_LEN(headers); i++) {
		snprintf(line, sizeof(line), "%s: %s", headers[i].name.p, headers[i].value.p);
		b->headers = curl_slist_append(b->headers, line);
	}
	curl_multi_setopt(b->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	curl_multi_setopt(b->multi, CURLMOPT_SOCKETDATA, b);
	curl_multi_setopt(b->multi, CURLMOPT_TIMERFUNCTION, want_timer);
	curl_multi_setopt(b->multi, CURLMOPT_TIMERDATA, b);
	curl_easy_setopt(b->easy, CURLOPT_URL, url);
	curl_easy_setopt(b->easy, CURLOPT_PROXY, "");
	curl_easy_setopt(b->easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(b->easy, CURLOPT_HTTPHEADER, b->headers);
	curl_easy_setopt(b->easy, CURLOPT_POSTFIELDSIZE, (long)sizeof(BODY) - 1);
	curl_easy_setopt(b->easy, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(b->easy, CURLOPT_WRITEDATA, b);
}

static void close_bare(struct bare *b)
{
	curl_easy_cleanup(b->easy);
	curl_multi_cleanup(b->multi);
	curl_slist_free_all(b->headers);
	close(b->epoll);
}

static void wait_bare(struct bare *b)
{
	struct epoll_event e[4];
	int n = epoll_wait(b->epoll, e, 4, (int)b->timeout_ms), running;

	if (n == 0) { /* it rings once; curl says when it wants it again */
		b->timeout_ms = -1;
		curl_multi_socket_action(b->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	}
	for (int i = 0; i < n; i++)
		curl_multi_socket_action(
			b->multi, e[i].data.fd,
			(e[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
				(e[i].events & ~(uint32_t)EPOLLOUT ? CURL_CSELECT_IN : 0),
			&running);
}

static void post_bare(struct bare *b)
{
	CURLMsg *message;
	int running, left;

	b->got = 0;
	curl_easy_setopt(b->easy, CURLOPT_POSTFIELDS, BODY);
	curl_multi_add_handle(b->multi, b->easy);
	b->timeout_ms = -1; /* at once instead */
	curl_multi_socket_action(b->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	while (!(message = curl_multi_info_read(b->multi, &left)))
		wait_bare(b);
	if (message->data.result != CURLE_OK || b->got < sizeof(ANSWER) - 2)
		die("curl alone got no answer");
	curl_multi_remove_handle(b->multi, b->easy);
}

/* --- ours: an exchange ----------------------------------------------------------------------- */

struct ours {
	struct mp_loop *loop;
	struct mp_http_client *client;
	size_t got;
};

static void sent(void *u)
{
	(void)u;
}

static void head_came(void *u, const struct mp_http_head *head)
{
	(void)u;
	if (head->status != 200)
		die("an exchange got another status");
}

static void data_came(void *u, struct mp_str bytes)
{
	((struct ours *)u)->got += bytes.len;
}

static void done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct ours *o = u;

	(void)how;
	if (err)
		die(err->message);
	mp_loop_stop(o->loop);
}

static const struct mp_http_hooks hooks = {sent, head_came, data_came, done};

static void open_ours(struct ours *o)
{
	if (mp_loop_new(&o->loop) < 0 || mp_http_client_new(o->loop, &o->client) < 0)
		die("no memory");
}

static void close_ours(struct ours *o)
{
	mp_http_client_free(o->client);
	mp_loop_free(o->loop);
}

static void post_ours(struct ours *o)
{
	struct mp_http_request r = {
		.url = url,
		.headers = headers,
		.n_headers = MP_ARRAY_LEN(headers),
		.body = MP_STR(BODY),
		.idle_ms = 60000,
		.total_ms = 300000,
	};

	o->got = 0;
	if (mp_http_start(o->client, &r, &hooks, o, NULL, NULL) < 0)
		die("no exchange");
	mp_loop_run(o->loop);
	if (o->got < sizeof(ANSWER) - 2)
		die("an exchange got another answer");
}

/* --- ours: a call ---------------------------------------------------------------------------- */

struct call {
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct mp_transport *transport;
	struct mp_peer peer;
	struct mp_call call;
	bool answered;
};

static void call_message(void *u, struct mp_str text)
{
	mp_peer_receive(&((struct call *)u)->peer, text);
}

static void call_sent(void *u, struct mp_str id)
{
	mp_peer_sent(&((struct call *)u)->peer, id);
}

static bool call_is_open(void *u, struct mp_str id)
{
	return mp_peer_find(&((struct call *)u)->peer, id) != NULL;
}

static void call_ended(void *u, const struct mcpool_error *why)
{
	(void)u;
	die(why->message);
}

static const struct mp_transport_hooks transport_hooks = {
	.message = call_message,
	.sent = call_sent,
	.is_open = call_is_open,
	.ended = call_ended,
};

static int call_send(void *u, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct call *c = u;

	return c->transport->impl->send(c->transport, o, ret_at);
}

static const struct mp_peer_hooks peer_hooks = {.send = call_send};

static void call_answered(struct mp_call *part, const struct mp_answer *answer)
{
	struct call *c = mp_container_of(part, struct call, call);

	c->answered = answer->outcome == MP_OUTCOME_ANSWERED;
	mp_loop_stop(c->loop);
}

static const struct mp_call_hooks call_hooks = {.answered = call_answered};

/* As if it had been through its handshake: with a session and a version. */
static void open_call(struct call *c)
{
	struct mp_destination to;
	struct mp_streamable *s;

	if (mp_loop_new(&c->loop) < 0 || mp_http_client_new(c->loop, &c->client) < 0 ||
	    mp_destination_init(&to, url, NULL) < 0 ||
	    mp_http_fields_add(&to.headers, headers[4].name, headers[4].value) < 0 ||
	    mp_streamable_new(c->loop, c->client, &to, &c->transport, NULL) < 0)
		die("no memory");
	mp_destination_done(&to);
	s = mp_container_of(c->transport, struct mp_streamable, base);
	s->version = mp_dup(headers[2].value.p);
	s->session = mp_dup(headers[3].value.p);
	c->transport->hooks = &transport_hooks;
	c->transport->u = c;
	mp_peer_init(&c->peer, c->loop, &peer_hooks, c);
	mp_call_init(&c->call, c->loop, &call_hooks);
	if (c->transport->impl->start(c->transport, NULL) < 0)
		die("no transport");
}

static void close_call(struct call *c)
{
	mp_transport_free(c->transport);
	mp_peer_done(&c->peer);
	mp_http_client_free(c->client);
	mp_loop_free(c->loop);
}

static void make_call(void *u)
{
	static const char params[] = "{\"name\":\"echo\"," ARGUMENTS "}";
	struct call *c = u;
	struct mp_call_options o = {
		.method = MP_METHOD_TOOLS_CALL,
		.params = {params, sizeof(params) - 1},
		.timeout_ms = 300000,
	};

	c->answered = false;
	if (mp_peer_call(&c->peer, &c->call, &o) < 0)
		die("no call");
	mp_loop_run(c->loop);
	if (!c->answered)
		die("a call got no answer");
}

/* --- by turns -------------------------------------------------------------------------------- */

struct contender {
	const char *name;
	void (*post)(void *u);
	void *u;
	double p50_us, cpu_us; /* the best of all rounds */
};

static void call_bare(void *u)
{
	post_bare(u);
}

static void call_ours(void *u)
{
	post_ours(u);
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void run_round(struct contender *c, int64_t *v)
{
	double cpu, p50;

	for (int i = 0; i < WARM_UP; i++)
		c->post(c->u);
	cpu = cpu_us();
	for (int i = 0; i < n_serial; i++) {
		int64_t before = now_ns();

		c->post(c->u);
		v[i] = now_ns() - before;
	}
	cpu = (cpu_us() - cpu) / n_serial;
	qsort(v, (size_t)n_serial, sizeof(*v), compare);
	p50 = (double)v[n_serial / 2] / 1000;
	c->p50_us = c->p50_us == 0 || p50 < c->p50_us ? p50 : c->p50_us;
	c->cpu_us = c->cpu_us == 0 || cpu < c->cpu_us ? cpu : c->cpu_us;
}

int main(int argc, char **argv)
{
	struct bare bare;
	struct ours ours;
	struct call call;
	struct contender all[] = {
		{.name = "curl alone", .post = call_bare, .u = &bare},
		{.name = "an exchange", .post = call_ours, .u = &ours},
		{.name = "a call", .post = make_call, .u = &call},
	};
	int64_t *v;
	pid_t server;

	if (argc > 1 && strcmp(argv[1], "--quick") == 0)
		n_serial = 1000;
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	v = calloc((size_t)n_serial, sizeof(*v));
	server = start_server();
	open_bare(&bare);
	open_ours(&ours);
	open_call(&call);
	for (int i = 0; i < ROUNDS; i++)
		for (size_t k = 0; k < MP_ARRAY_LEN(all); k++)
			run_round(&all[k], v);
	printf("POSTs one at a time over a connection that stays, %d rounds by turns, the best of "
	       "each\n",
	       ROUNDS);
	for (size_t k = 0; k < MP_ARRAY_LEN(all); k++)
		printf("  %-12s p50 %7.2f us   ratio %.2f   CPU %7.2f us   ratio %.2f%s\n",
		       all[k].name, all[k].p50_us, all[k].p50_us / all[0].p50_us, all[k].cpu_us,
		       all[k].cpu_us / all[0].cpu_us, k ? "  (wanted: p50 at most 1.3)" : "");
	close_call(&call);
	close_ours(&ours);
	close_bare(&bare);
	free(v);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	return all[MP_ARRAY_LEN(all) - 1].p50_us / all[0].p50_us <= 1.3 ? 0 : 1;
}
