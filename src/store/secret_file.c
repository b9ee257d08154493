/*
 * secret_file.c - secrets in one sealed file, for users without a Secret Service.
 * Writers lock the folder, read, change and replace the file in one step, so that two processes
 * lose nothing. A file that cannot be opened stays as it is: its owner may have a backup of the
 * key.
 */
#include "store/secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folders.h"
#include "base/limits.h"
#include "base/random_id.h"
#include "files/private.h"
#include "files/target.h"
#include "store/aead.h"
#include "store/secret_key.h"

#define MAGIC "mcpool-secrets 1"

enum { MAGIC_SIZE = 16, AT_SALT = MAGIC_SIZE + 1, HEAD = AT_SALT + MP_SECRET_SALT };

struct mp_secret_file {
	char *path;    /* owned */
	char *command; /* owned; NULL: local.key is the key */
	/* The key of the file as it was read last, and its head; key_known: there is one. */
	bool key_known;
	unsigned char key[MP_AEAD_KEY];
	unsigned char head[HEAD];
};

/* --- the key --------------------------------------------------------------------------------- */

/* The key for this head, which is remembered: a passphrase is asked for once. */
static int file_use_head(struct mp_secret_file *f, const unsigned char head[HEAD], const char *real,
			 struct mcpool_error *reterr)
{
	int kind = head[MAGIC_SIZE], r;

	if (f->key_known && memcmp(f->head, head, HEAD) == 0)
		return 0;
	if (kind == MP_SECRET_KEY_PASSPHRASE && !f->command)
		return mp_fail(reterr, MCPOOL_EIO,
			       "%s is sealed with a passphrase; set \"secrets\": "
			       "{\"passphraseCommand\": ...} in your configuration",
			       f->path);
	f->key_known = false;
	r = mp_secret_key_get((enum mp_secret_key_kind)kind, real, f->command, head + AT_SALT,
			      f->key, reterr);
	if (r < 0)
		return r;
	memcpy(f->head, head, HEAD);
	f->key_known = true;
	return 0;
}

/* A new file, or one that is to have a key of another kind. */
static int file_choose_head(struct mp_secret_file *f, const char *real, struct mcpool_error *reterr)
{
	int kind = f->command ? MP_SECRET_KEY_PASSPHRASE : MP_SECRET_KEY_LOCAL;
	unsigned char head[HEAD] = MAGIC;

	if (f->key_known && f->head[MAGIC_SIZE] == kind)
		return 0;
	head[MAGIC_SIZE] = (unsigned char)kind;
	mp_random_fill(head + AT_SALT, MP_SECRET_SALT);
	return file_use_head(f, head, real, reterr);
}

/* --- reading --------------------------------------------------------------------------------- */

static int file_fail(const struct mp_secret_file *f, const char *verb, struct mcpool_error *reterr)
{
	const char *words = strerrordesc_np(errno);

	return mp_fail(reterr, MCPOOL_EIO, "%s cannot be %s: %s", f->path, verb,
		       words ? words : "an unknown error");
}

static int file_is_damaged(const struct mp_secret_file *f, const char *what,
			   struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_EIO,
		       "%s cannot be opened: %s. It was not changed. Restore it from a backup, or "
		       "move it away and save its secrets again",
		       f->path, what);
}

static int file_check(const struct mp_secret_file *f, const struct stat *st,
		      struct mcpool_error *reterr)
{
	int r = mp_private_check(f->path, st, reterr);

	if (r < 0)
		return r;
	if (st->st_mode & (S_IRWXG | S_IRWXO))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "others may read %s (mode %03o); `chmod 600` it, and replace its "
			       "secrets if others had access to its folder",
			       f->path, (unsigned)(st->st_mode & 0777));
	if (st->st_size > (off_t)MP_LIMIT_SECRETS_FILE)
		return file_is_damaged(f, "it is too large", reterr);
	return 0;
}

static int file_read_bytes(const struct mp_secret_file *f, int fd, struct mp_buf *out,
			   struct mcpool_error *reterr)
{
	struct stat st;
	ssize_t n;
	int r;

	if (fstat(fd, &st) < 0)
		return file_fail(f, "read", reterr);
	r = file_check(f, &st, reterr);
	if (r == 0)
		r = mp_buf_reserve(out, (size_t)st.st_size);
	if (r < 0)
		return r;
	while (out->len < (size_t)st.st_size) {
		n = read(fd, out->data + out->len, (size_t)st.st_size - out->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return file_fail(f, "read", reterr);
		if (n == 0)
			break; /* shorter by now; what is missing is noticed */
		out->len += (size_t)n;
	}
	return 0;
}

/* 1: read; 0: there is no file. Looked at first, because opening a device may do things. */
static int file_read_sealed(const struct mp_secret_file *f, const char *real, struct mp_buf *out,
			    struct mcpool_error *reterr)
{
	struct stat st;
	int fd, r;

	if (lstat(real, &st) < 0)
		return errno == ENOENT ? 0 : file_fail(f, "read", reterr);
	r = file_check(f, &st, reterr);
	if (r < 0)
		return r;
	fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : file_fail(f, "opened", reterr);
	r = file_read_bytes(f, fd, out, reterr);
	close(fd);
	return r < 0 ? r : 1;
}

static int file_open_sealed(struct mp_secret_file *f, const char *real, struct mp_str sealed,
			    struct mp_buf *out, struct mcpool_error *reterr)
{
	const unsigned char *head = (const unsigned char *)sealed.p;
	size_t start = out->len;
	int r;

	if (sealed.len < HEAD + MP_AEAD_HEAD)
		return file_is_damaged(f, "it is cut off", reterr);
	if (memcmp(head, MAGIC, MAGIC_SIZE) != 0 || (head[MAGIC_SIZE] != MP_SECRET_KEY_LOCAL &&
						     head[MAGIC_SIZE] != MP_SECRET_KEY_PASSPHRASE))
		return file_is_damaged(f, "it is damaged, or not a file of this version", reterr);
	r = file_use_head(f, head, real, reterr);
	if (r == 0)
		r = mp_buf_reserve(out, sealed.len);
	if (r < 0)
		return r;
	if (!mp_aead_open(f->key, (struct mp_str){sealed.p, HEAD},
			  (struct mp_str){sealed.p + HEAD, sealed.len - HEAD},
			  (unsigned char *)out->data + start)) {
		f->key_known = false;
		return file_is_damaged(f,
				       head[MAGIC_SIZE] == MP_SECRET_KEY_LOCAL
					       ? "it is damaged, or local.key is not the key that "
						 "sealed it"
					       : "it is damaged, or the passphrase is another one",
				       reterr);
	}
	out->len += sealed.len - HEAD - MP_AEAD_HEAD;
	if (mp_secret_records_check((struct mp_str){out->data + start, out->len - start}) < 0)
		return file_is_damaged(f, "its content is of another version", reterr);
	return 0;
}

static int file_read(struct mp_secret_file *f, const char *real, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf sealed;
	int r;

	mp_buf_init(&sealed, MP_LIMIT_SECRETS_FILE);
	r = file_read_sealed(f, real, &sealed, reterr);
	if (r > 0)
		r = file_open_sealed(f, real, mp_buf_get(&sealed), out, reterr);
	return r == MCPOOL_ENOMEM ? mp_fail(reterr, r, "no memory for %s", f->path) : r;
}

/* Nothing is made for a reader: where there is no file, no folder is needed. */
int mp_secret_file_read(struct mp_secret_file *f, struct mp_buf *out, struct mcpool_error *reterr)
{
	char real[PATH_MAX];
	struct stat st;
	int r;

	if (lstat(f->path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : file_fail(f, "read", reterr);
	r = mp_private_folder(f->path, real, reterr);
	return r < 0 ? r : file_read(f, real, out, reterr);
}

/* --- writing --------------------------------------------------------------------------------- */

static int file_write(struct mp_secret_file *f, const char *real, struct mp_str text,
		      struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf sealed;
	int r;

	mp_buf_init(&sealed, MP_LIMIT_SECRETS_FILE);
	r = mp_buf_reserve(&sealed, HEAD + MP_AEAD_HEAD + text.len);
	if (r < 0)
		return mp_fail(reterr, r,
			       "%s would be larger than %zu MiB; remove secrets that are not used",
			       f->path, MP_LIMIT_SECRETS_FILE >> 20);
	r = file_choose_head(f, real, reterr);
	if (r < 0)
		return r;
	memcpy(sealed.data, f->head, HEAD);
	if (!mp_aead_seal(f->key, (struct mp_str){sealed.data, HEAD}, text,
			  (unsigned char *)sealed.data + HEAD))
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s cannot be sealed", f->path);
	sealed.len = HEAD + MP_AEAD_HEAD + text.len;
	return mp_private_replace(real, mp_buf_get(&sealed), reterr);
}

static int file_replace(struct mp_secret_file *f, const char *real, struct mp_str text,
			struct mcpool_error *reterr)
{
	char folder[PATH_MAX];
	int r = 0;

	if (text.len > 0)
		r = file_write(f, real, text, reterr);
	else if (unlink(real) < 0)
		r = file_fail(f, "removed", reterr);
	if (r < 0)
		return r;
	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(real, '/') - real), real);
	mp_folders_sync(folder);
	return 1;
}

static int file_change_locked(struct mp_secret_file *f, const char *real, struct mp_str name,
			      const struct mp_secret_record *to, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf old, text;
	struct mp_secret_record was;
	int r;

	mp_buf_init(&old, MP_LIMIT_SECRETS_FILE);
	mp_buf_init(&text, MP_LIMIT_SECRETS_FILE);
	r = file_read(f, real, &old, reterr);
	if (r < 0)
		return r;
	if (!to && !mp_secret_records_find(mp_buf_get(&old), name, &was))
		return 0;
	r = mp_secret_records_replace(mp_buf_get(&old), name, to, &text);
	if (r < 0)
		return mp_fail(reterr, r, "no room for one more secret in %s", f->path);
	return file_replace(f, real, mp_buf_get(&text), reterr);
}

int mp_secret_file_change(struct mp_secret_file *f, struct mp_str name,
			  const struct mp_secret_record *to, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_target_close) struct mp_target lock = {.fd = -1};
	char real[PATH_MAX];
	struct stat st;
	int r;

	if (!to && lstat(f->path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	r = mp_private_folder(f->path, real, reterr);
	if (r == 0)
		r = mp_target_open(&lock, real, reterr);
	return r < 0 ? r : file_change_locked(f, real, name, to, reterr);
}

/* --- life ------------------------------------------------------------------------------------ */

const char *mp_secret_file_get_path(const struct mp_secret_file *f)
{
	return f->path;
}

struct mp_secret_file *mp_secret_file_new(const char *path, const char *passphrase_command)
{
	struct mp_secret_file *f = mp_alloc(sizeof(*f));

	f->path = mp_dup(path);
	f->command = passphrase_command ? mp_dup(passphrase_command) : NULL;
	return f;
}

struct mp_secret_file *mp_secret_file_free(struct mp_secret_file *f)
{
	if (!f)
		return NULL;
	mp_free(f->path);
	mp_free(f->command);
	mp_wipe(f->key, sizeof(f->key));
	return mp_free(f);
}
