/*
 * loopback_ws.h - a WebSocket server on this loop, made by hand: it says what the test tells it to,
 * byte for byte, and notes what it hears.
 */
#ifndef TEST_LOOPBACK_WS_H
#define TEST_LOOPBACK_WS_H

#include <netinet/in.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "base/loop.h"
#include "certificate.h"
#include "test.h"

#define WS_GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define WS_YES                                                                              \
	"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" \
	"Sec-WebSocket-Accept: %s\r\n"

struct ws_server {
	uv_tcp_t listener;
	bool open;
	int port;
	SSL_CTX *tls;       /* owned; NULL: plain */
	const char *answer; /* to an upgrade, %s being the right key; NULL: as it should be */
	bool silent;        /* no answer at all */
	bool deaf;          /* reads the upgrade and no more */
	bool rude;          /* does not say goodbye when it hears one */
	bool clings;        /* says goodbye, but does not hang up */
	int n_connections, n_open; /* ever; now */
	struct ws_conn *conns;     /* all, the newest first */
	struct ws_conn *conn;      /* the newest; NULL: gone */
	char request[8192];        /* the last upgrade */
	char heard[600];           /* "text:hello ping: close:1000 " */
	size_t bytes;              /* of all texts */
	bool unmasked;             /* a frame was not masked */
	char peer[64];             /* of a client with a certificate */
	bool was_offered_h2;       /* in the handshake, and would have been taken */
};

struct ws_conn {
	uv_tcp_t tcp;
	struct ws_server *s;
	struct ws_conn *next;
	SSL *ssl; /* NULL: plain */
	char *in;
	size_t len, room;
	bool upgraded, closing;
};

static inline void ws_conn_closed(uv_handle_t *h)
{
	struct ws_conn *c = h->data;

	SSL_free(c->ssl);
	free(c->in);
	free(c);
}

static inline void ws_conn_close(struct ws_conn *c)
{
	struct ws_conn **at;

	if (!c || c->closing)
		return;
	c->closing = true;
	c->s->n_open--;
	for (at = &c->s->conns; *at != c; at = &(*at)->next)
		;
	*at = c->next;
	if (c->s->conn == c)
		c->s->conn = NULL;
	uv_close((uv_handle_t *)&c->tcp, ws_conn_closed);
}

/* --- bytes out ------------------------------------------------------------------------------ */

struct ws_write {
	uv_write_t req;
	char bytes[];
};

static inline void ws_written(uv_write_t *req, int status)
{
	(void)status;
	free(mp_container_of(req, struct ws_write, req));
}

static inline void ws_put_raw(struct ws_conn *c, const char *bytes, size_t n)
{
	struct ws_write *w = malloc(sizeof(*w) + n);
	uv_buf_t buf;

	if (!w || c->closing) {
		free(w);
		return;
	}
	memcpy(w->bytes, bytes, n);
	buf = uv_buf_init(w->bytes, (unsigned)n);
	if (uv_write(&w->req, (uv_stream_t *)&c->tcp, &buf, 1, ws_written) < 0)
		free(w);
}

static inline void ws_drain(struct ws_conn *c)
{
	char room[16384];
	int n;

	while (c->ssl && (n = BIO_read(SSL_get_wbio(c->ssl), room, sizeof(room))) > 0)
		ws_put_raw(c, room, (size_t)n);
}

static inline void ws_put(struct ws_conn *c, const char *bytes, size_t n)
{
	if (!c || n == 0)
		return;
	if (!c->ssl) {
		ws_put_raw(c, bytes, n);
		return;
	}
	SSL_write(c->ssl, bytes, (int)n);
	ws_drain(c);
}

/* A frame with that first byte: 0x81 is a whole text. */
static inline void ws_say(struct ws_server *s, int first, const char *payload, size_t n)
{
	char head[10] = {(char)first, (char)n};
	size_t h = 2;

	if (n >= 126) {
		head[1] = n < 65536 ? 126 : 127;
		h = n < 65536 ? 4 : 10;
		for (size_t i = 2; i < h; i++)
			head[i] = (char)(n >> 8 * (h - 1 - i));
	}
	ws_put(s->conn, head, h);
	ws_put(s->conn, payload, n);
}

static inline void ws_say_close(struct ws_server *s, int code, const char *reason)
{
	char payload[125] = {(char)(code >> 8), (char)code};
	size_t n = strlen(reason);

	memcpy(payload + 2, reason, n);
	ws_say(s, 0x88, payload, n + 2);
}

/* --- bytes in ------------------------------------------------------------------------------- */

static inline void ws_note(struct ws_server *s, const char *format, ...) MP_PRINTF(2, 3);
static inline void ws_note(struct ws_server *s, const char *format, ...)
{
	size_t len = strlen(s->heard);
	va_list args;

	va_start(args, format);
	vsnprintf(s->heard + len, sizeof(s->heard) - len, format, args);
	va_end(args);
}

static inline void ws_answer(struct ws_conn *c)
{
	const char *key = strcasestr(c->s->request, "Sec-WebSocket-Key: ");
	const char *answer =
		c->s->answer ? c->s->answer : WS_YES "Sec-WebSocket-Protocol: mcp\r\n\r\n";
	const char *place = strstr(answer, "%s");
	unsigned char digest[EVP_MAX_MD_SIZE];
	char text[100] = "", accept[40] = "";

	if (key)
		snprintf(text, sizeof(text), "%.24s" WS_GUID, key + 19);
	EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL);
	EVP_EncodeBlock((unsigned char *)accept, digest, 20);
	if (!place) {
		ws_put(c, answer, strlen(answer));
		return;
	}
	ws_put(c, answer, (size_t)(place - answer));
	ws_put(c, accept, strlen(accept));
	ws_put(c, place + 2, strlen(place + 2));
}

static inline void ws_drop(struct ws_conn *c, size_t n)
{
	memmove(c->in, c->in + n, c->len - n);
	c->len -= n;
}

static inline bool ws_take_upgrade(struct ws_conn *c)
{
	char *end = c->len ? memmem(c->in, c->len, "\r\n\r\n", 4) : NULL;
	size_t n;

	if (!end)
		return false;
	n = (size_t)(end - c->in) + 4;
	snprintf(c->s->request, sizeof(c->s->request), "%.*s", (int)n, c->in);
	ws_drop(c, n);
	c->upgraded = true;
	if (c->ssl)
		certificate_get_peer(c->ssl, c->s->peer, sizeof(c->s->peer));
	if (c->s->deaf)
		uv_read_stop((uv_stream_t *)&c->tcp);
	if (!c->s->silent)
		ws_answer(c);
	return true;
}

static inline void ws_hear(struct ws_conn *c, int opcode, const char *p, size_t n)
{
	struct ws_server *s = c->s;

	if (opcode == 1) {
		s->bytes += n;
		ws_note(s, "text:%.*s ", n < 40 ? (int)n : 40, p);
	} else if (opcode == 8) {
		int code = n >= 2 ? (unsigned char)p[0] << 8 | (unsigned char)p[1] : 0;

		ws_note(s, "close:%d ", code);
		if (!s->rude && code == 1000)
			ws_say_close(s, code, "");
		if (!s->rude && !s->clings)
			ws_conn_close(c);
	} else {
		ws_note(s, "%s:%.*s ",
			opcode == 9    ? "ping"
			: opcode == 10 ? "pong"
				       : "other",
			(int)n, p);
	}
}

static inline bool ws_take_frame(struct ws_conn *c)
{
	unsigned char *p = (unsigned char *)c->in;
	size_t n, head = 2;

	if (c->len < 2)
		return false;
	n = p[1] & 0x7f;
	head += n == 126 ? 2 : n == 127 ? 8 : 0;
	if (c->len < head + 4)
		return false;
	if (n >= 126) {
		n = 0;
		for (size_t i = 2; i < head; i++)
			n = n << 8 | p[i];
	}
	if (c->len < head + 4 + n)
		return false;
	if (!(p[1] & 0x80))
		c->s->unmasked = true;
	for (size_t i = 0; i < n; i++)
		p[head + 4 + i] ^= p[head + i % 4];
	ws_hear(c, p[0] & 0xf, c->in + head + 4, n);
	ws_drop(c, head + 4 + n);
	return true;
}

static inline void ws_append(struct ws_conn *c, const char *bytes, size_t n)
{
	if (c->room - c->len < n) {
		c->room = c->room * 2 + n;
		c->in = realloc(c->in, c->room);
	}
	memcpy(c->in + c->len, bytes, n);
	c->len += n;
}

static inline void ws_decrypt(struct ws_conn *c, const char *bytes, size_t n)
{
	char room[16384];
	int k;

	BIO_write(SSL_get_rbio(c->ssl), bytes, (int)n);
	while ((k = SSL_read(c->ssl, room, sizeof(room))) > 0)
		ws_append(c, room, (size_t)k);
	ws_drain(c);
}

static inline void ws_room(uv_handle_t *h, size_t hint, uv_buf_t *buf)
{
	static char room[65536];

	(void)h;
	(void)hint;
	*buf = uv_buf_init(room, sizeof(room));
}

static inline void ws_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct ws_conn *c = stream->data;

	if (n < 0) {
		ws_conn_close(c);
		return;
	}
	if (c->ssl)
		ws_decrypt(c, buf->base, (size_t)n);
	else
		ws_append(c, buf->base, (size_t)n);
	while (!c->closing && (c->upgraded ? ws_take_frame(c) : ws_take_upgrade(c)))
		;
}

/* As servers do that speak HTTP/2, too. */
static inline int ws_choose(SSL *ssl, const unsigned char **out, unsigned char *len,
			    const unsigned char *in, unsigned in_len, void *u)
{
	static const unsigned char known[] = "\x02h2\x08http/1.1";
	unsigned char *chosen;

	(void)ssl;
	if (SSL_select_next_proto(&chosen, len, known, sizeof(known) - 1, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_NOACK;
	*out = chosen;
	if (*len == 2)
		((struct ws_server *)u)->was_offered_h2 = true;
	return SSL_TLSEXT_ERR_OK;
}

/* --- life ----------------------------------------------------------------------------------- */

static inline void ws_accept(uv_stream_t *listener, int status)
{
	struct ws_server *s = listener->data;
	struct ws_conn *c = calloc(1, sizeof(*c));

	(void)status;
	uv_tcp_init(listener->loop, &c->tcp);
	c->tcp.data = c;
	c->s = s;
	c->next = s->conns;
	s->conns = c;
	s->n_connections++;
	s->n_open++;
	if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0) {
		ws_conn_close(c);
		return;
	}
	s->conn = c;
	if (s->tls) {
		SSL_CTX_set_alpn_select_cb(s->tls, ws_choose, s);
		c->ssl = SSL_new(s->tls);
		SSL_set_bio(c->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
		SSL_set_accept_state(c->ssl);
	}
	uv_tcp_nodelay(&c->tcp, 1);
	uv_read_start((uv_stream_t *)&c->tcp, ws_room, ws_read);
}

static inline bool ws_server_start(struct ws_server *s, struct mp_loop *loop)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int len = sizeof(a);

	if (uv_tcp_init(mp_loop_get_uv(loop), &s->listener) < 0)
		return false;
	s->open = true;
	s->listener.data = s;
	if (uv_tcp_bind(&s->listener, (struct sockaddr *)&a, 0) < 0 ||
	    uv_listen((uv_stream_t *)&s->listener, 16, ws_accept) < 0 ||
	    uv_tcp_getsockname(&s->listener, (struct sockaddr *)&a, &len) < 0)
		return false;
	s->port = ntohs(a.sin_port);
	return true;
}

static inline void ws_server_stop(struct ws_server *s)
{
	if (!s->open)
		return;
	s->open = false;
	while (s->conns)
		ws_conn_close(s->conns);
	uv_close((uv_handle_t *)&s->listener, NULL);
	SSL_CTX_free(s->tls);
}

static inline double ws_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Turns until it is so, at most 20 s of real time; the loop's own clock may stand still. */
#define WS_UNTIL(loop, condition)                               \
	do {                                                    \
		double ws_until = ws_seconds() + 20;            \
		while (!(condition) && ws_seconds() < ws_until) \
			mp_loop_turn((loop), false);            \
	} while (0)

#endif
