/* test_curl_options.c - TLS against a server with a certificate of our own making; sockets. */
#include "test.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "base/loop.h"
#include "certificate.h"
#include "net/http_client.h"
#include "net/curl_options.h"

/* A TLS server on a thread: answers as many connections as it was told, one after the other. */
struct secure {
	SSL_CTX *ctx;
	int fd, port, n;
	atomic_int served; /* and closed */
	pthread_t thread;
	bool running;
	struct certificate own;
	char peer[64]; /* the client's common name, if it showed a certificate */
};

static void *serve(void *u)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	struct secure *s = u;
	char request[4096];

	for (int i = 0; i < s->n; i++) {
		int fd = accept(s->fd, NULL, NULL);
		SSL *ssl = SSL_new(s->ctx);

		SSL_set_fd(ssl, fd);
		if (fd >= 0 && SSL_accept(ssl) == 1 &&
		    SSL_read(ssl, request, sizeof(request)) > 0) {
			certificate_get_peer(ssl, s->peer, sizeof(s->peer));
			SSL_write(ssl, answer, sizeof(answer) - 1);
			SSL_shutdown(ssl);
		}
		SSL_free(ssl);
		if (fd >= 0)
			close(fd);
		s->served++;
	}
	return NULL;
}

static void secure_done(struct secure *s)
{
	if (s->fd >= 0)
		shutdown(s->fd, SHUT_RDWR); /* ends an accept() */
	if (s->running)
		pthread_join(s->thread, NULL);
	if (s->fd >= 0)
		close(s->fd);
	SSL_CTX_free(s->ctx);
}

static bool secure_init(struct secure *s, int n)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	bool ok;

	*s = (struct secure){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .n = n};
	ok = certificate_init(&s->own, &s->ctx);
	REQUIRE(ok && bind(s->fd, (struct sockaddr *)&a, sizeof(a)) == 0 && listen(s->fd, 8) == 0);
	REQUIRE(getsockname(s->fd, (struct sockaddr *)&a, &len) == 0);
	s->port = ntohs(a.sin_port);
	s->running = pthread_create(&s->thread, NULL, serve, s) == 0;
	REQUIRE(s->running);
	return true;
}

struct seen {
	bool done;
	int status;
	enum mp_http_end how;
	struct mcpool_error err;
};

static void head(void *u, const struct mp_http_head *h)
{
	struct seen *s = u;

	s->status = h->status;
}

static void done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct seen *s = u;

	s->done = true;
	s->how = how;
	if (err)
		s->err = *err;
}

static const struct mp_http_hooks hooks = {NULL, head, NULL, done};

static void loop_done(struct mp_loop **loop)
{
	mp_loop_free(*loop);
}

static void client_done(struct mp_http_client **c)
{
	mp_http_client_free(*c);
}

static bool start(struct secure *s, struct mp_http_client *c, struct mp_http_request *r,
		  struct seen *seen)
{
	char url[64];

	snprintf(url, sizeof(url), "https://127.0.0.1:%d/", s->port);
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("all_proxy");
	r->url = url;
	r->total_ms = 20000;
	REQUIRE(mp_http_start(c, r, &hooks, seen, NULL, NULL) == 0);
	return true;
}

static bool fetch(struct secure *s, struct mp_http_request *r, struct seen *seen)
{
	MP_CLEANUP(loop_done) struct mp_loop *loop = NULL;
	MP_CLEANUP(client_done) struct mp_http_client *c = NULL;

	*seen = (struct seen){.done = false};
	REQUIRE(mp_loop_new(&loop) == 0 && mp_http_client_new(loop, &c) == 0);
	REQUIRE(start(s, c, r, seen));
	while (!seen->done)
		mp_loop_turn(loop, true);
	return true;
}

HEAVY_TEST(a_certificate_counts_when_its_authority_is_known)
{
	MP_CLEANUP(secure_done) struct secure s;
	struct mp_http_request r = {.method = "GET"};
	struct seen seen;

	CHECK(secure_init(&s, 3));
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_TLS);
	CHECK(strstr(seen.err.message, "certificate"));
	CHECK(strstr(seen.err.message, "https://127.0.0.1:"));
	r.ca_file = s.own.cert;
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_OK);
	CHECK_EQ(seen.status, 200);
	CHECK_TEXT(s.peer, "");
	r.cert_file = s.own.cert;
	r.key_file = s.own.key;
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_OK);
	CHECK_TEXT(s.peer, "a test");
}

/* Neither connections nor what TLS remembers of them are lent from one to the other. */
HEAVY_TEST(who_we_are_is_not_mixed_up)
{
	MP_CLEANUP(secure_done) struct secure s;
	MP_CLEANUP(loop_done) struct mp_loop *loop = NULL;
	MP_CLEANUP(client_done) struct mp_http_client *c = NULL;

	CHECK(secure_init(&s, 6));
	CHECK(mp_loop_new(&loop) == 0 && mp_http_client_new(loop, &c) == 0);
	for (int i = 0; i < 6; i++) {
		struct mp_http_request r = {.method = "GET", .ca_file = s.own.cert};
		struct seen seen = {.done = false};

		if (i % 2) {
			r.cert_file = s.own.cert;
			r.key_file = s.own.key;
		}
		CHECK(start(&s, c, &r, &seen));
		while (!seen.done)
			mp_loop_turn(loop, true);
		CHECK_EQ(seen.how, MP_HTTP_OK);
		CHECK_TEXT(s.peer, i % 2 ? "a test" : "");
	}
}

HEAVY_TEST(files_that_are_not_there_are_told)
{
	MP_CLEANUP(secure_done) struct secure s;
	struct mp_http_request r = {.method = "GET", .ca_file = "/nonexistent/ca.pem"};
	struct seen seen;

	CHECK(secure_init(&s, 2));
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_TLS);
	r.ca_file = s.own.cert;
	r.cert_file = "/nonexistent/cert.pem";
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_TLS);
}

/*
 * A server that closes a connection sends a TLS close_notify first, which looks like data. The next
 * request must not use it: without an answer its effect would be unknown.
 */
HEAVY_TEST(a_connection_closed_over_tls_is_replaced)
{
	MP_CLEANUP(secure_done) struct secure s;
	MP_CLEANUP(loop_done) struct mp_loop *loop = NULL;
	MP_CLEANUP(client_done) struct mp_http_client *c = NULL;

	CHECK(secure_init(&s, 5));
	CHECK(mp_loop_new(&loop) == 0 && mp_http_client_new(loop, &c) == 0);
	for (int i = 0; i < 5; i++) {
		struct mp_http_request r = {.body = {"{}", 2}, .ca_file = s.own.cert};
		struct seen seen = {.done = false};

		CHECK(start(&s, c, &r, &seen));
		while (!seen.done)
			mp_loop_turn(loop, true);
		CHECK_TEXT(seen.err.message, "");
		CHECK_EQ(seen.how, MP_HTTP_OK);
		while (s.served <= i)
			mp_loop_turn(loop, false);
		for (int turns = 0; turns < 100; turns++)
			mp_loop_turn(loop, false);
	}
}

TEST(a_place_holds_no_secrets)
{
	char place[MP_HTTP_PLACE];

	mp_curl_options_place("https://user:hush@a.example:444/path?token=hush#hush", place);
	CHECK_TEXT(place, "https://a.example:444");
	mp_curl_options_place("http://[::1]/hush", place);
	CHECK_TEXT(place, "http://[::1]");
	mp_curl_options_place("http://[hush", place);
	CHECK_TEXT(place, "the server");
}

/* Half-open peers are seen within 30 s. */
TEST(a_socket_notices_when_the_other_side_is_gone)
{
	int fd = mp_curl_options_socket(AF_INET, SOCK_STREAM, 0);
	int on = 0, idle = 0, interval = 0, count = 0, unacked = 0;
	socklen_t len = sizeof(int);

	CHECK(fd >= 0);
	getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, &len);
	getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, &len);
	getsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, &len);
	getsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, &len);
	getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacked, &len);
	close(fd);
	CHECK(on);
	CHECK(idle + interval * count <= 30);
	CHECK(unacked > 0 && unacked <= 30000);
}
