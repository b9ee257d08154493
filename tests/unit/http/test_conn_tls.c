/*
 * test_conn_tls.c - TLS on a conn, with OpenSSL's client at the other end, byte by byte if need be.
 */
#include "test.h"
#include "certificate.h"
#include "memory_conn.h"

#include "http/conn_tls.h"

struct stage {
	struct mp_loop *loop;
	struct certificate files;
	struct mp_tls_context *context;
	struct memory_conn below;
	struct mp_conn *conn;
	struct mp_buf in; /* what our end was told */
	SSL_CTX *ctx;     /* the peer's */
	SSL *ssl;
	size_t taken; /* of below.out, by the peer */
	size_t step;  /* bytes at a time */
	int ended, broken;
	bool ready;
};

static void bytes(void *u, struct mp_str b)
{
	struct stage *s = u;

	if (mp_buf_add_str(&s->in, b) < 0)
		s->broken += 100;
}

static void taken(void *u)
{
	(void)u;
}

static void ended(void *u)
{
	((struct stage *)u)->ended++;
}

static void broken(void *u)
{
	((struct stage *)u)->broken++;
}

static const struct mp_conn_hooks hooks = {bytes, taken, ended, broken};

static bool stage_open(struct stage *s, size_t step)
{
	struct mcpool_error why;

	*s = (struct stage){.step = step};
	REQUIRE(folder_make());
	REQUIRE(certificate_new(&s->files, "localhost"));
	REQUIRE(mp_loop_new_by_hand(0, &s->loop) == 0);
	s->ready = true;
	memory_conn_init(&s->below);
	mp_buf_init(&s->in, 1 << 24);
	REQUIRE(mp_tls_context_new(s->files.cert, s->files.key, &s->context, &why) == 0);
	s->conn = mp_conn_tls_open(s->context, s->loop, &s->below.base);
	REQUIRE(s->conn);
	mp_conn_set_hooks(s->conn, &hooks, s);
	s->ctx = SSL_CTX_new(TLS_client_method());
	REQUIRE(s->ctx);
	s->ssl = SSL_new(s->ctx);
	REQUIRE(s->ssl);
	SSL_set_bio(s->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_set_connect_state(s->ssl);
	return true;
}

static void stage_done(struct stage *s)
{
	if (!s->ready)
		return;
	mp_conn_close(s->conn);
	mp_loop_advance(s->loop, 0);
	mp_loop_free(s->loop);
	mp_tls_context_free(s->context);
	SSL_free(s->ssl);
	SSL_CTX_free(s->ctx);
	memory_conn_done(&s->below);
	mp_buf_done(&s->in);
}

/* Exchange bytes until neither side has any. */
static void exchange(struct stage *s)
{
	char piece[20000];
	bool moved = true;

	while (moved && !s->below.closed) {
		int n = BIO_read(SSL_get_wbio(s->ssl), piece,
				 (int)(s->step < sizeof(piece) ? s->step : sizeof(piece)));

		moved = n > 0;
		if (n > 0)
			memory_conn_say(&s->below, (struct mp_str){piece, (size_t)n});
		if (s->below.out.len > s->taken) {
			BIO_write(SSL_get_rbio(s->ssl), s->below.out.data + s->taken,
				  (int)(s->below.out.len - s->taken));
			s->taken = s->below.out.len;
			moved = true;
		}
		if (!SSL_is_init_finished(s->ssl))
			(void)SSL_do_handshake(s->ssl);
		mp_loop_advance(s->loop, 0);
	}
}

static bool shake(struct stage *s)
{
	(void)SSL_do_handshake(s->ssl);
	exchange(s);
	REQUIRE(SSL_is_init_finished(s->ssl));
	return true;
}

static bool talk(size_t step)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	struct mp_str pieces[2] = {MP_STR("answer"), MP_STR("ed")};
	char got[100];

	REQUIRE(stage_open(&s, step));
	REQUIRE(shake(&s));
	REQUIRE(SSL_write(s.ssl, "question", 8) == 8);
	exchange(&s);
	REQUIRE(mp_str_eq(mp_buf_get(&s.in), MP_STR("question")));
	REQUIRE(mp_conn_write(s.conn, pieces, 2) == 0);
	exchange(&s);
	REQUIRE(SSL_read(s.ssl, got, sizeof(got)) == 8); /* one record */
	REQUIRE(SSL_shutdown(s.ssl) == 0);
	exchange(&s);
	REQUIRE(s.ended == 1 && s.broken == 0);
	mp_conn_shut(s.conn);
	REQUIRE(s.below.shut);
	return true;
}

HEAVY_TEST(a_conversation_whatever_the_cuts)
{
	CHECK(talk(20000));
	CHECK(talk(1));
	CHECK(talk(7));
}

HEAVY_TEST(a_large_answer_passes)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};
	static char large[1000000], got[1000000];
	struct mp_str pieces[3] = {MP_STR("a"), {large, sizeof(large) - 2}, MP_STR("b")};
	size_t n = 0;
	int r;

	memset(large, 'z', sizeof(large));
	CHECK(stage_open(&s, 20000));
	CHECK(shake(&s));
	CHECK_EQ(mp_conn_write(s.conn, pieces, 3), 0);
	exchange(&s);
	while ((r = SSL_read(s.ssl, got + n, (int)(sizeof(got) - n))) > 0)
		n += (size_t)r;
	CHECK_EQ(n, sizeof(large));
	CHECK(got[0] == 'a' && got[1] == 'z' && got[n - 2] == 'z' && got[n - 1] == 'b');
}

HEAVY_TEST(what_is_not_tls_breaks)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s, 20000));
	memory_conn_say(&s.below, MP_STR("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.broken, 1);
	CHECK_EQ(s.in.len, 0);
	CHECK(mp_str_find(mp_buf_get(&s.below.out), MP_STR("400 Bad Request"), 0) >= 0);
}

HEAVY_TEST(what_is_nothing_at_all_is_told_nothing)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s, 20000));
	memory_conn_say(&s.below, MP_STR("SSH-2.0-OpenSSH_9.2\r\n"));
	mp_loop_advance(s.loop, 0);
	CHECK_EQ(s.broken, 1);
	CHECK(mp_str_find(mp_buf_get(&s.below.out), MP_STR("HTTP"), 0) < 0);
}

HEAVY_TEST(bytes_wait_while_nobody_reads)
{
	MP_CLEANUP(stage_done) struct stage s = {.ready = false};

	CHECK(stage_open(&s, 20000));
	CHECK(shake(&s));
	mp_conn_read_on(s.conn, false);
	CHECK_EQ(SSL_write(s.ssl, "late", 4), 4);
	exchange(&s);
	CHECK_EQ(s.in.len, 0);
	mp_conn_read_on(s.conn, true);
	mp_loop_advance(s.loop, 0);
	CHECK_STR(mp_buf_get(&s.in), "late");
}
