/*
 * tls_context.c - our certificate and key for TLS, from configured files.
 */
#include "http/tls_context.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

static const struct mp_log http_log = {"http"};

static const char *get_reason(void)
{
	const char *words = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();
	return words ? words : "an unknown error";
}

static int check_readable(const char *what, const char *path, struct mcpool_error *reterr)
{
	if (access(path, R_OK) == 0)
		return 0;
	return mp_fail(reterr, MCPOOL_EINVAL, "http.tls.%s: %s cannot be read: %s", what, path,
		       strerrordesc_np(errno));
}

static int read_cert(SSL_CTX *ctx, const char *cert, struct mcpool_error *reterr)
{
	int r = check_readable("cert", cert, reterr);

	if (r < 0 || SSL_CTX_use_certificate_chain_file(ctx, cert) == 1)
		return r;
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "http.tls.cert: %s is not a certificate in PEM, this host's own first: %s",
		       cert, get_reason());
}

/* A hub cannot ask for a pass phrase. */
static int refuse_phrase(char *buf, int size, int writing, void *u)
{
	(void)buf;
	(void)size;
	(void)writing;
	*(bool *)u = true;
	return -1;
}

static int read_key(SSL_CTX *ctx, const char *key, struct mcpool_error *reterr)
{
	bool has_phrase = false;
	int r = check_readable("key", key, reterr);

	if (r < 0)
		return r;
	SSL_CTX_set_default_passwd_cb(ctx, refuse_phrase);
	SSL_CTX_set_default_passwd_cb_userdata(ctx, &has_phrase);
	r = SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM);
	SSL_CTX_set_default_passwd_cb_userdata(ctx, NULL);
	if (r == 1)
		return 0;
	if (has_phrase)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "http.tls.key: %s has a pass phrase, which the hub cannot ask for: "
			       "`openssl pkey -in %s -out FILE` writes it without",
			       key, key);
	if (ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH) {
		ERR_clear_error();
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "http.tls: %s is not the key of the first certificate in the other "
			       "file",
			       key);
	}
	return mp_fail(reterr, MCPOOL_EINVAL, "http.tls.key: %s is not a private key in PEM: %s",
		       key, get_reason());
}

/* It is served all the same: the client decides. */
static void warn_of_files(SSL_CTX *ctx, const char *cert, const char *key)
{
	const X509 *own = SSL_CTX_get0_certificate(ctx);
	struct stat st;

	if (own && X509_cmp_current_time(X509_get0_notAfter(own)) < 0)
		mp_log_warn(&http_log,
			    "the certificate in %s is out of date; most clients will "
			    "refuse it",
			    cert);
	if (stat(key, &st) == 0 && st.st_mode & S_IROTH)
		mp_log_warn(&http_log, "every user of this machine can read %s; `chmod o-r` it",
			    key);
}

/* Tickets suffice for resuming; a cache would grow with every client. */
static void set_rules(SSL_CTX *ctx)
{
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
				      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

int mp_tls_context_new(const char *cert, const char *key, struct mp_tls_context **ret_context,
		       struct mcpool_error *reterr)
{
	SSL_CTX *ctx;
	int r;

	if (!cert || !key)
		return mp_fail(reterr, MCPOOL_EINVAL, "http.tls needs both cert and key");
	ERR_clear_error();
	ctx = SSL_CTX_new(TLS_server_method());
	if (!ctx)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no TLS: %s", get_reason());
	set_rules(ctx);
	r = read_cert(ctx, cert, reterr);
	if (r == 0)
		r = read_key(ctx, key, reterr);
	if (r < 0) {
		SSL_CTX_free(ctx);
		return r;
	}
	warn_of_files(ctx, cert, key);
	*ret_context = mp_alloc(sizeof(**ret_context));
	(*ret_context)->ctx = ctx;
	return 0;
}

struct mp_tls_context *mp_tls_context_free(struct mp_tls_context *c)
{
	if (c)
		SSL_CTX_free(c->ctx);
	return mp_free(c);
}
