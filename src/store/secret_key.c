/*
 * secret_key.c - the key of the file of secrets: from local.key, or from a passphrase.
 */
#include "store/secret_key.h"

#include <openssl/evp.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "process/capture.h"
#include "store/digest.h"
#include "store/local_key.h"
#include "store/secret_records.h"

enum {
	MOST_WORDS = 64,
	SCRYPT_N = 1 << 15, /* with r = 8: 32 MiB and about 0.1 s for each guess */
	SCRYPT_R = 8,
	SCRYPT_P = 1,
	SCRYPT_MEMORY = 64 << 20,
};

#define PASSPHRASE_MS MP_SECONDS(60) /* a person may have to type it */

/* local.key is used for other things, too: each has a key of its own. */
static int secret_key_local(const char *file, const unsigned char salt[MP_SECRET_SALT],
			    unsigned char ret_key[MP_AEAD_KEY], struct mcpool_error *reterr)
{
	unsigned char local[MP_LOCAL_KEY_SIZE];
	struct mcpool_error why;
	struct mp_digest *d;
	int r = mp_local_key_get_beside(file, local, &why);

	_Static_assert((int)MP_AEAD_KEY == (int)MP_DIGEST_SIZE, "a digest is a key");
	if (r < 0)
		return mp_fail_because(
			reterr, r, &why,
			"the key of %s cannot be used: %s. With a new key, the secrets "
			"in it are lost",
			file, why.message);
	d = mp_digest_new_keyed((struct mp_str){(const char *)local, sizeof(local)});
	mp_digest_add(d, MP_STR("secrets"));
	mp_digest_add(d, (struct mp_str){(const char *)salt, MP_SECRET_SALT});
	mp_digest_finish(d, ret_key);
	mp_wipe(local, sizeof(local));
	return 0;
}

/* The words of the command, in memory of their own. */
static int secret_key_ask(const char *command, struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_freep) char *words = mp_dup(command);
	char *argv[MOST_WORDS];
	struct mcpool_error why;
	int r;

	if (mp_capture_split(words, argv, MP_ARRAY_LEN(argv)) < 0)
		return mp_fail(
			reterr, MCPOOL_EINVAL,
			"\"passphraseCommand\" is not a command: its quotes must close, and it "
			"has 1 to %zu words",
			MP_ARRAY_LEN(argv) - 1);
	r = mp_capture_run(argv, NULL, environ, PASSPHRASE_MS, out, &why);
	return r < 0 ? mp_fail_because(reterr, r, &why, "\"passphraseCommand\" failed: %s",
				       why.message)
		     : 0;
}

static int secret_key_passphrase(const char *command, const unsigned char salt[MP_SECRET_SALT],
				 unsigned char ret_key[MP_AEAD_KEY], struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf out;
	const char *end;
	int r;

	mp_buf_init(&out, MP_CAPTURE_MAX);
	r = mp_buf_reserve(&out, MP_CAPTURE_MAX);
	if (r == 0)
		r = secret_key_ask(command, &out, reterr);
	if (r < 0)
		return r;
	end = memchr(out.data, '\n', out.len);
	if (EVP_PBE_scrypt(out.data, end ? (size_t)(end - out.data) : out.len, salt, MP_SECRET_SALT,
			   SCRYPT_N, SCRYPT_R, SCRYPT_P, SCRYPT_MEMORY, ret_key, MP_AEAD_KEY) != 1)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory to derive a key of a passphrase");
	return 0;
}

int mp_secret_key_get(enum mp_secret_key_kind kind, const char *file, const char *command,
		      const unsigned char salt[MP_SECRET_SALT], unsigned char ret_key[MP_AEAD_KEY],
		      struct mcpool_error *reterr)
{
	if (kind == MP_SECRET_KEY_LOCAL)
		return secret_key_local(file, salt, ret_key, reterr);
	return secret_key_passphrase(command, salt, ret_key, reterr);
}
