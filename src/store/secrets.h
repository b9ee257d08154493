/*
 * secrets.h - values that only this user may read: tokens, passwords, keys.
 * They are kept by the Secret Service of the user's session where one answers and is unlocked, else
 * in a sealed file of the state folder. Every function but open and free blocks: on files, a bus
 * call, a passphrase command. Call them from a worker or a verb. Threads may share one object.
 */
#ifndef MP_STORE_SECRETS_H
#define MP_STORE_SECRETS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

/*
 * A name is a path of ours such as `user/GITHUB_TOKEN`: printable ASCII, not empty, at most
 * MP_LIMIT_SECRET_NAME bytes. A value has at most MP_LIMIT_SECRET_VALUE.
 */
struct mp_secrets;

struct mp_secrets_options {
	const char *folder; /* of the file; NULL: the state folder */
	/* Prints the passphrase of the file; its words are split at blanks. NULL: local.key is
	 * used. */
	const char *passphrase_command;
	bool no_keyring; /* use the file only */
};

/* Neither asks the service nor reads the file. MCPOOL_ENOENT: HOME is not set. */
int mp_secrets_open(struct mp_secrets **ret, const struct mp_secrets_options *o,
		    struct mcpool_error *reterr) MP_MUST;
struct mp_secrets *mp_secrets_free(struct mp_secrets *s); /* accepts NULL, returns NULL */
static inline void mp_secrets_freep(struct mp_secrets **s)
{
	mp_secrets_free(*s);
}

/*
 * Errors of all that follow. MCPOOL_EINVAL: the name or the value cannot be one. MCPOOL_EPERM: the
 * file, its key or its folder is open to others, or the keyring with this value is locked.
 * MCPOOL_EIO: the file is damaged, was sealed with another key, or cannot be read or written.
 * MCPOOL_ETIMEDOUT: the service does not answer. MCPOOL_EAGAIN, MCPOOL_ELIMIT, MCPOOL_ENOMEM. The
 * message says what to do. A file that cannot be opened is neither overwritten nor removed.
 */

/*
 * Adds the value to ret_value, which the caller wipes. MCPOOL_ENOENT: there is none; a keyring that
 * is locked may have one without saying so, and get_warning says that.
 */
int mp_secrets_get(struct mp_secrets *s, const char *name, struct mp_buf *ret_value,
		   struct mcpool_error *reterr) MP_MUST;
/* Replaces a value of this name, wherever it was. */
int mp_secrets_set(struct mp_secrets *s, const char *name, struct mp_str value,
		   struct mcpool_error *reterr) MP_MUST;
/* From both places. MCPOOL_ENOENT: there is none. */
int mp_secrets_remove(struct mp_secrets *s, const char *name, struct mcpool_error *reterr) MP_MUST;

/* Told of one name; place: words for people; saved_ms: wall clock, 0 where it is not known. */
typedef void (*mp_secrets_each)(void *u, const char *name, const char *place, int64_t saved_ms);
/* Each name that begins with prefix ("": all), in no particular order; returns how many. */
int mp_secrets_list(struct mp_secrets *s, const char *prefix, mp_secrets_each fn, void *u,
		    struct mcpool_error *reterr) MP_MUST;

/*
 * Where the last value was written or found, before that where the file is: "the Secret Service" or
 * the file's path. Words for people; valid until the object is freed.
 */
const char *mp_secrets_get_place(const struct mp_secrets *s);
/*
 * What the Secret Service did not do in the last call, for one line of a log or on stderr: "the
 * default keyring of the Secret Service is locked; the secret is kept in a sealed file". "":
 * nothing is wrong. A copy.
 */
void mp_secrets_get_warning(struct mp_secrets *s, char *ret_words, size_t size);

#endif
