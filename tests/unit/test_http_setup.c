/* test_http_setup.c - TLS against a server with a certificate of our own making; sockets. */
#include "test.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <sys/socket.h>

#include "base/loop.h"
#include "folder.h"
#include "net/http_client.h"
#include "net/http_setup.h"

/* A TLS server on a thread: answers as many connections as it was told, one after the other. */
struct secure {
	SSL_CTX *ctx;
	int fd, port, n;
	pthread_t thread;
	bool running;
	char cert[100], key[100];
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
		X509 *peer;

		SSL_set_fd(ssl, fd);
		if (fd >= 0 && SSL_accept(ssl) == 1 &&
		    SSL_read(ssl, request, sizeof(request)) > 0) {
			peer = SSL_get1_peer_certificate(ssl);
			if (peer)
				X509_NAME_get_text_by_NID(X509_get_subject_name(peer),
							  NID_commonName, s->peer, sizeof(s->peer));
			X509_free(peer);
			SSL_write(ssl, answer, sizeof(answer) - 1);
			SSL_shutdown(ssl);
		}
		SSL_free(ssl);
		if (fd >= 0)
			close(fd);
	}
	return NULL;
}

static X509 *make_certificate(EVP_PKEY *key, const char *name)
{
	X509 *x = X509_new();
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");

	X509_set_version(x, 2);
	ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	X509_gmtime_adj(X509_getm_notBefore(x), -3600);
	X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	X509_set_pubkey(x, key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
				   (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(x, X509_get_subject_name(x));
	X509_add_ext(x, e, -1);
	X509_EXTENSION_free(e);
	X509_sign(x, key, EVP_sha256());
	return x;
}

static bool write_files(struct secure *s, EVP_PKEY *key, X509 *x)
{
	FILE *f;

	snprintf(s->cert, sizeof(s->cert), "%s/cert.pem", test_folder);
	snprintf(s->key, sizeof(s->key), "%s/key.pem", test_folder);
	f = fopen(s->cert, "w");
	REQUIRE(f && PEM_write_X509(f, x) == 1 && fclose(f) == 0);
	f = fopen(s->key, "w");
	REQUIRE(f && PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1 &&
		fclose(f) == 0);
	return true;
}

static int any_peer(int ok, X509_STORE_CTX *store)
{
	(void)ok;
	(void)store;
	return 1;
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
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = make_certificate(key, "a test");
	bool ok;

	*s = (struct secure){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), .n = n};
	s->ctx = SSL_CTX_new(TLS_server_method());
	SSL_CTX_set_verify(s->ctx, SSL_VERIFY_PEER, any_peer);
	ok = folder_make() && write_files(s, key, x) && SSL_CTX_use_certificate(s->ctx, x) == 1 &&
	     SSL_CTX_use_PrivateKey(s->ctx, key) == 1;
	X509_free(x);
	EVP_PKEY_free(key);
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

static bool fetch(struct secure *s, struct mp_http_request *r, struct seen *seen)
{
	MP_CLEANUP(loop_done) struct mp_loop *loop = NULL;
	MP_CLEANUP(client_done) struct mp_http_client *c = NULL;
	char url[64];

	snprintf(url, sizeof(url), "https://127.0.0.1:%d/", s->port);
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("all_proxy");
	r->url = url;
	r->total_ms = 20000;
	*seen = (struct seen){.done = false};
	REQUIRE(mp_loop_new(&loop) == 0 && mp_http_client_new(loop, &c) == 0);
	REQUIRE(mp_http_start(c, r, &hooks, seen, NULL, NULL) == 0);
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
	r.ca_file = s.cert;
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_OK);
	CHECK_EQ(seen.status, 200);
	CHECK_TEXT(s.peer, "");
	r.cert_file = s.cert;
	r.key_file = s.key;
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_OK);
	CHECK_TEXT(s.peer, "a test");
}

HEAVY_TEST(files_that_are_not_there_are_told)
{
	MP_CLEANUP(secure_done) struct secure s;
	struct mp_http_request r = {.method = "GET", .ca_file = "/nonexistent/ca.pem"};
	struct seen seen;

	CHECK(secure_init(&s, 2));
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_TLS);
	r.ca_file = s.cert;
	r.cert_file = "/nonexistent/cert.pem";
	CHECK(fetch(&s, &r, &seen));
	CHECK_EQ(seen.how, MP_HTTP_TLS);
}

TEST(a_place_holds_no_secrets)
{
	char place[MP_HTTP_PLACE];

	mp_http_setup_place("https://user:hush@a.example:444/path?token=hush#hush", place);
	CHECK_TEXT(place, "https://a.example:444");
	mp_http_setup_place("http://[::1]/hush", place);
	CHECK_TEXT(place, "http://[::1]");
	mp_http_setup_place("http://[hush", place);
	CHECK_TEXT(place, "the server");
}

/* Half-open peers are seen within 30 s. */
TEST(a_socket_notices_when_the_other_side_is_gone)
{
	int fd = mp_http_setup_socket(AF_INET, SOCK_STREAM, 0);
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
