/*
 * http_token.c - the HTTP bearer token: a file that only this user can read.
 */
#include "face/http_token.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/random_id.h"
#include "base/secrets.h"
#include "files/private.h"

static struct mp_http_token_trace trace_of(const struct stat *st)
{
	return (struct mp_http_token_trace){(uint64_t)st->st_dev, (uint64_t)st->st_ino,
					    (int64_t)st->st_size, st->st_mtim, st->st_ctim};
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same(const struct mp_http_token_trace *a, const struct mp_http_token_trace *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       is_same_time(a->modified, b->modified) && is_same_time(a->changed, b->changed);
}

/* --- making --------------------------------------------------------------------------------- */

int mp_http_token_rotate(const char *path, struct mcpool_error *reterr)
{
	unsigned char bytes[MP_HTTP_TOKEN_BYTES];
	char text[2 * MP_HTTP_TOKEN_BYTES + 2];
	int r;

	mp_random_fill(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	text[sizeof(text) - 2] = '\n';
	r = mp_private_replace(path, (struct mp_str){text, sizeof(text) - 1}, reterr);
	mp_wipe(bytes, sizeof(bytes));
	mp_wipe(text, sizeof(text));
	return r;
}

int mp_http_token_get_path(struct mp_buf *out)
{
	return mp_path_state("token", out);
}

/* --- reading -------------------------------------------------------------------------------- */

/* Minimum requirements for a secret. */
static int check_text(const char *path, struct mp_str text, struct mcpool_error *reterr)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] <= ' ' || text.p[i] >= 0x7f)
			return mp_fail(
				reterr, MCPOOL_EINVAL,
				"%s holds more than one word; remove it and a new one is made",
				path);
	if (text.len < MP_HTTP_TOKEN_LEAST || text.len > MP_HTTP_TOKEN_MOST)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "the token in %s has %zu characters, not %d to %d; remove it and a "
			       "new one is made",
			       path, text.len, MP_HTTP_TOKEN_LEAST, MP_HTTP_TOKEN_MOST);
	return 0;
}

static int check_file(const char *path, const struct stat *st, struct mcpool_error *reterr)
{
	int r = mp_private_check(path, st, reterr);

	if (r < 0)
		return r;
	if (st->st_mode & (S_IRWXG | S_IRWXO))
		return mp_fail(
			reterr, MCPOOL_EPERM,
			"others may read %s (mode %03o), so it is not secret any more; remove "
			"it and a new one is made",
			path, (unsigned)(st->st_mode & 0777));
	return 0;
}

static void http_token_forget(struct mp_http_token *t)
{
	if (t->len)
		mp_secret_remove((struct mp_str){t->text, t->len});
	mp_wipe(t->text, sizeof(t->text));
	t->len = 0;
	t->is_valid = false;
}

static int take_text(struct mp_http_token *t, struct mp_str text, struct mcpool_error *reterr)
{
	int r = check_text(t->path, text, reterr);

	if (r == 0)
		r = mp_secret_add(text); /* the token must be masked in logs */
	if (r < 0)
		return r == MCPOOL_EINVAL ? r : mp_fail(reterr, r, "%s", mcpool_error_text(r));
	memcpy(t->text, text.p, text.len);
	t->len = text.len;
	t->is_valid = true;
	return 0;
}

static int read_file(struct mp_http_token *t, int fd, struct mcpool_error *reterr)
{
	char bytes[MP_HTTP_TOKEN_MOST + 16];
	struct stat st;
	ssize_t n;
	int r;

	if (fstat(fd, &st) < 0)
		return mp_fail_errno(reterr, errno, "%s cannot be read", t->path);
	t->trace = trace_of(&st);
	r = check_file(t->path, &st, reterr);
	if (r < 0)
		return r;
	n = read(fd, bytes, sizeof(bytes));
	if (n < 0)
		return mp_fail_errno(reterr, errno, "%s cannot be read", t->path);
	r = take_text(t, mp_str_trim((struct mp_str){bytes, (size_t)n}), reterr);
	mp_wipe(bytes, sizeof(bytes));
	return r;
}

/* 1: read; 0: the file does not exist. */
static int read_token(struct mp_http_token *t, struct mcpool_error *reterr)
{
	int fd = open(t->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), r;

	http_token_forget(t);
	t->season++;
	t->trace = (struct mp_http_token_trace){0};
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 && errno == ELOOP)
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s is a symbolic link, which is not followed; put the file itself "
			       "there",
			       t->path);
	if (fd < 0)
		return mp_fail_errno(reterr, errno, "%s cannot be opened", t->path);
	r = read_file(t, fd, reterr);
	close(fd);
	return r < 0 ? r : 1;
}

int mp_http_token_open(struct mp_http_token *t, const char *path, struct mcpool_error *reterr)
{
	char real[PATH_MAX];
	int r;

	*t = (struct mp_http_token){.season = 0};
	r = mp_private_folder(path, real, reterr);
	if (r < 0)
		return r;
	t->path = mp_dup(real);
	r = read_token(t, reterr);
	if (r == 0)
		r = mp_http_token_rotate(real, reterr);
	if (r == 0)
		r = read_token(t, reterr);
	if (r == 0)
		r = mp_fail(reterr, MCPOOL_EAGAIN, "%s was removed at this moment; try again",
			    real);
	if (r < 0)
		mp_http_token_done(t);
	return r < 0 ? r : 0;
}

void mp_http_token_done(struct mp_http_token *t)
{
	http_token_forget(t);
	t->path = mp_free(t->path);
}

bool mp_http_token_look(struct mp_http_token *t)
{
	struct mp_http_token_trace now = {0};
	struct stat st;

	if (lstat(t->path, &st) == 0)
		now = trace_of(&st);
	if (is_same(&now, &t->trace))
		return false;
	(void)!read_token(t, NULL); /* an unreadable token matches nothing until it can be read */
	return true;
}

bool mp_http_token_matches(const struct mp_http_token *t, struct mp_str presented)
{
	return t->is_valid && presented.len == t->len &&
	       CRYPTO_memcmp(presented.p, t->text, t->len) == 0;
}

void mp_http_token_get_mark(const struct mp_http_token *t, char mark[MP_HTTP_TOKEN_MARK + 1])
{
	unsigned char digest[EVP_MAX_MD_SIZE];

	mp_check(EVP_Digest(t->text, t->len, digest, NULL, EVP_sha256(), NULL) == 1);
	for (size_t i = 0; i < MP_HTTP_TOKEN_MARK / 2; i++)
		snprintf(mark + 2 * i, 3, "%02x", digest[i]);
}
