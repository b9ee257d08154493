/*
 * certificate.h - a key and a certificate of our own making, in memory and in the test's folder.
 */
#ifndef TEST_CERTIFICATE_H
#define TEST_CERTIFICATE_H

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "folder.h"
#include "test.h"

struct certificate {
	char cert[100], key[100]; /* files */
};

static inline X509 *certificate_make(EVP_PKEY *key, const char *name)
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

static inline bool certificate_write(struct certificate *c, EVP_PKEY *key, X509 *x)
{
	FILE *f;

	snprintf(c->cert, sizeof(c->cert), "%s/cert.pem", test_folder);
	snprintf(c->key, sizeof(c->key), "%s/key.pem", test_folder);
	f = fopen(c->cert, "w");
	REQUIRE(f && PEM_write_X509(f, x) == 1 && fclose(f) == 0);
	f = fopen(c->key, "w");
	REQUIRE(f && PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1 &&
		fclose(f) == 0);
	return true;
}

static inline int certificate_any_peer(int ok, X509_STORE_CTX *store)
{
	(void)ok;
	(void)store;
	return 1;
}

/* A server's context with a new certificate, which asks clients for theirs and takes any. */
static inline bool certificate_init(struct certificate *c, SSL_CTX **ret_ctx)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = certificate_make(key, "a test");
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	bool ok;

	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, certificate_any_peer);
	SSL_CTX_set_session_id_context(ctx, (const unsigned char *)"test", 4);
	ok = folder_make() && certificate_write(c, key, x) &&
	     SSL_CTX_use_certificate(ctx, x) == 1 && SSL_CTX_use_PrivateKey(ctx, key) == 1;
	X509_free(x);
	EVP_PKEY_free(key);
	*ret_ctx = ctx;
	return ok;
}

/* The files alone. */
static inline bool certificate_new(struct certificate *c, const char *name)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = certificate_make(key, name);
	bool ok = certificate_write(c, key, x);

	X509_free(x);
	EVP_PKEY_free(key);
	return ok;
}

/* The common name of the peer; empty: none. */
static inline void certificate_get_peer(SSL *ssl, char *name, size_t size)
{
	X509 *peer = SSL_get1_peer_certificate(ssl);

	name[0] = '\0';
	if (peer)
		X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name,
					  (int)size);
	X509_free(peer);
}

#endif
