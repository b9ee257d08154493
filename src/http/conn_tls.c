/*
 * conn_tls.c - TLS on a conn, our end being the server's.
 * OpenSSL reads from memory and writes to memory; the bytes in between are the conn's below. What
 * is written before the handshake is over cannot be: the peer has not asked for anything yet.
 */
#include "http/conn_tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/error.h"
#include "base/mem.h"

enum { PIECE = 16384 }; /* bytes of a TLS record */

struct tls {
	struct mp_conn base;
	struct mp_loop *loop;
	struct mp_conn *below; /* owned; NULL: closed */
	SSL *ssl;              /* owned */
	BIO *in, *out;         /* ssl's */
	bool reading;          /* the user wants bytes */
	bool ended, closed, broken;
	struct mp_task broken_task;
	struct mp_task more; /* bytes that came while reading was off */
	struct mp_grave grave;
};

static struct tls *tls_of(struct mp_conn *w)
{
	return mp_container_of(w, struct tls, base);
}

/* --- moving bytes --------------------------------------------------------------------------- */

static void tell_broken(void *u)
{
	struct tls *t = u;

	if (!t->closed)
		t->base.hooks->broken(t->base.u);
}

static void break_off(struct tls *t)
{
	ERR_clear_error();
	if (t->broken || t->closed)
		return;
	t->broken = true;
	mp_loop_post(t->loop, &t->broken_task);
}

/* What OpenSSL wants to send. */
static int conn_tls_flush(struct tls *t)
{
	char *bytes;
	long n = BIO_get_mem_data(t->out, &bytes);
	struct mp_str piece = {bytes, (size_t)n};
	int r = 0;

	if (n > 0)
		r = mp_conn_write(t->below, &piece, 1);
	(void)BIO_reset(t->out);
	return r;
}

/* A client that speaks http:// to an https:// port gets a plain HTTP answer that says so. */
static void say_plainly(struct tls *t)
{
	static const struct mp_str words =
		MP_STR("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n"
		       "Content-Length: 29\r\nConnection: close\r\n\r\nhttps:// is spoken "
		       "here only\n");

	if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_HTTP_REQUEST)
		(void)!mp_conn_write(t->below, &words, 1);
}

/* What it has understood; until it wants more, or reading is off. */
static void hand_out(void *u)
{
	struct tls *t = u;
	char bytes[PIECE];
	int n = 1;

	while (t->reading && !t->closed && !t->broken && n > 0) {
		n = SSL_read(t->ssl, bytes, sizeof(bytes));
		if (n > 0)
			t->base.hooks->bytes(t->base.u, (struct mp_str){bytes, (size_t)n});
	}
	if (t->closed || t->broken || n > 0)
		return;
	n = SSL_get_error(t->ssl, n);
	if (n == SSL_ERROR_ZERO_RETURN && !t->ended) {
		t->ended = true;
		t->base.hooks->ended(t->base.u);
	} else if (n != SSL_ERROR_WANT_READ && n != SSL_ERROR_ZERO_RETURN) {
		say_plainly(t);
		(void)conn_tls_flush(t); /* the alert that says why; it may get lost */
		break_off(t);
		return;
	}
	if (!t->closed && conn_tls_flush(t) < 0)
		break_off(t);
}

static void below_bytes(void *u, struct mp_str bytes)
{
	struct tls *t = u;

	if (BIO_write(t->in, bytes.p, (int)bytes.len) != (int)bytes.len)
		break_off(t);
	else
		hand_out(t);
}

static void below_taken(void *u)
{
	struct tls *t = u;

	t->base.hooks->taken(t->base.u);
}

/*
 * Without a TLS close the stream may have been cut by an attacker. It counts as an end anyway,
 * because HTTP marks where a request ends.
 */
static void below_ended(void *u)
{
	struct tls *t = u;

	if (t->ended)
		return;
	t->ended = true;
	t->base.hooks->ended(t->base.u);
}

static void below_broken(void *u)
{
	break_off(u);
}

static const struct mp_conn_hooks below_hooks = {below_bytes, below_taken, below_ended,
						 below_broken};

/* --- the interface -------------------------------------------------------------------------- */

/* As many records as it takes. */
static int conn_tls_encrypt(struct tls *t, struct mp_str bytes)
{
	while (bytes.len) {
		int r = SSL_write(t->ssl, bytes.p, (int)(bytes.len < PIECE ? bytes.len : PIECE));

		if (r <= 0) {
			break_off(t);
			return MCPOOL_ECLOSED;
		}
		bytes = (struct mp_str){bytes.p + r, bytes.len - (size_t)r};
	}
	return 0;
}

/* Small pieces are one record: a head and its body, or an event and what is around it. */
static int encrypt_all(struct tls *t, const struct mp_str *pieces, size_t n)
{
	char record[PIECE];
	size_t len = 0;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		if (pieces[i].len > sizeof(record) - len) {
			r = conn_tls_encrypt(t, (struct mp_str){record, len});
			len = 0;
		}
		if (pieces[i].len > sizeof(record)) {
			r = r < 0 ? r : conn_tls_encrypt(t, pieces[i]);
		} else if (pieces[i].len) {
			memcpy(record + len, pieces[i].p, pieces[i].len);
			len += pieces[i].len;
		}
	}
	return r < 0 ? r : conn_tls_encrypt(t, (struct mp_str){record, len});
}

static int tls_write(struct mp_conn *w, const struct mp_str *pieces, size_t n)
{
	struct tls *t = tls_of(w);
	int r;

	if (t->broken || t->closed)
		return MCPOOL_ECLOSED;
	r = encrypt_all(t, pieces, n);
	return r < 0 ? r : conn_tls_flush(t);
}

static size_t tls_get_waiting(const struct mp_conn *w)
{
	return mp_conn_get_waiting(tls_of((struct mp_conn *)w)->below);
}

static uint64_t tls_get_sent(const struct mp_conn *w)
{
	return mp_conn_get_sent(tls_of((struct mp_conn *)w)->below);
}

static void tls_read_on(struct mp_conn *w, bool on)
{
	struct tls *t = tls_of(w);
	bool more = on && !t->reading;

	t->reading = on;
	mp_conn_read_on(t->below, on);
	if (more && !mp_list_linked(&t->more.link))
		mp_loop_post(t->loop, &t->more);
}

static void tls_shut(struct mp_conn *w)
{
	struct tls *t = tls_of(w);

	if (t->broken || t->closed)
		return;
	(void)SSL_shutdown(t->ssl); /* our TLS close; theirs is not awaited */
	ERR_clear_error();
	(void)!conn_tls_flush(t);
	mp_conn_shut(t->below);
}

static void bury(struct mp_grave *grave)
{
	struct tls *t = mp_container_of(grave, struct tls, grave);

	SSL_free(t->ssl);
	mp_free(t);
}

static void tls_close(struct mp_conn *w)
{
	struct tls *t = tls_of(w);

	t->closed = true;
	mp_conn_close(t->below);
	mp_loop_unpost(t->loop, &t->broken_task);
	mp_loop_unpost(t->loop, &t->more);
	mp_loop_bury(t->loop, &t->grave, bury);
}

static const struct mp_conn_impl tls_impl = {
	tls_write, tls_get_waiting, tls_get_sent, tls_read_on, tls_shut, tls_close,
};

static bool make_ssl(struct tls *t, SSL_CTX *ctx)
{
	t->ssl = SSL_new(ctx);
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (!t->ssl || !t->in || !t->out) {
		SSL_free(t->ssl);
		BIO_free(t->in);
		BIO_free(t->out);
		return false;
	}
	SSL_set_bio(t->ssl, t->in, t->out);
	SSL_set_accept_state(t->ssl);
	return true;
}

struct mp_conn *mp_conn_tls_open(const struct mp_tls_context *c, struct mp_loop *loop,
				 struct mp_conn *below)
{
	struct tls *t = mp_alloc(sizeof(*t));

	if (!make_ssl(t, c->ctx)) {
		mp_conn_close(below);
		mp_free(t);
		return NULL;
	}
	t->base.impl = &tls_impl;
	t->base.peer = below->peer;
	t->loop = loop;
	t->below = below;
	t->reading = true;
	mp_task_init(&t->broken_task, tell_broken, t);
	mp_task_init(&t->more, hand_out, t);
	mp_conn_set_hooks(below, &below_hooks, t);
	return &t->base;
}
