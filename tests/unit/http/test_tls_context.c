/* test_tls_context.c - who we are over TLS: files that are wrong are named, with what to do. */
#include "test.h"
#include "certificate.h"

#include "base/log.h"
#include "http/tls_context.h"

static struct mcpool_error why;

/* No context, and these words. */
static bool is_refused(const char *cert, const char *key, const char *words)
{
	struct mp_tls_context *c = NULL;

	REQUIRE(mp_tls_context_new(cert, key, &c, &why) == MCPOOL_EINVAL);
	REQUIRE(!c);
	if (!strstr(why.message, words))
		fprintf(stderr, "%s\n", why.message);
	REQUIRE(strstr(why.message, words));
	return true;
}

HEAVY_TEST(files_that_are_wrong_are_named)
{
	struct certificate files;

	CHECK(folder_make());
	CHECK(certificate_new(&files, "localhost"));
	CHECK(is_refused("/nowhere", files.key, "http.tls.cert: /nowhere cannot be read: No such"));
	CHECK(is_refused(files.cert, "/nowhere", "http.tls.key: /nowhere cannot be read: No such"));
	CHECK(is_refused(files.key, files.key, "is not a certificate in PEM"));
	CHECK(is_refused(files.cert, files.cert, "is not a private key in PEM"));
	CHECK(is_refused(files.cert, NULL, "needs both"));
}

HEAVY_TEST(good_files_are_taken)
{
	struct mp_tls_context *c = NULL;
	struct certificate files;

	mp_log_set_level(MP_LEVEL_OFF);
	CHECK(folder_make());
	CHECK(certificate_new(&files, "localhost"));
	CHECK_EQ(mp_tls_context_new(files.cert, files.key, &c, &why), 0);
	CHECK(c);
	c = mp_tls_context_free(c);
	mp_log_set_level(MP_LEVEL_INF);
}
