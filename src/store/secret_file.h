/*
 * secret_file.h - secrets in one sealed file, for users without a Secret Service.
 * The file is: 16 bytes of magic, the kind of its key (1), a salt (16), and the records of
 * secret_records.h sealed by AES-256-GCM (aead.h), with all that is before them authenticated.
 */
#ifndef MP_SECRET_FILE_H
#define MP_SECRET_FILE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/secret_records.h"

struct mp_secret_file;
/* path: absolute; its folder is made when the first secret is saved. command may be NULL. */
struct mp_secret_file *mp_secret_file_new(const char *path, const char *passphrase_command);
struct mp_secret_file *mp_secret_file_free(
	struct mp_secret_file *f); /* accepts NULL, returns NULL */
const char *mp_secret_file_get_path(const struct mp_secret_file *f);

/* All records added to out; none where there is no file. Errors as in secrets.h. */
int mp_secret_file_read(struct mp_secret_file *f, struct mp_buf *out,
			struct mcpool_error *reterr) MP_MUST;
/*
 * Under a lock that keeps other processes out: the record of this name becomes this one; with NULL
 * there is none any more. 1: changed; 0: there was none to remove. A file without records is
 * removed.
 */
int mp_secret_file_change(struct mp_secret_file *f, struct mp_str name,
			  const struct mp_secret_record *to, struct mcpool_error *reterr) MP_MUST;

#endif
