/*
 * credential_work.c - what a worker does with the credential of an account.
 */
#include "auth/credential_work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folders.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/paths.h"
#include "store/digest.h"
#include "store/secret_records.h"

/* --- the lock -------------------------------------------------------------------------------- */

static int lock_find(const char *secret, struct mp_buf *path)
{
	unsigned char digest[MP_DIGEST_SIZE];
	char hex[2 * MP_DIGEST_SIZE + 1], name[64];
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, mp_str_of(secret));
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	snprintf(name, sizeof(name), "oauth-%.16s.lock", hex);
	return mp_path_state(name, path);
}

static int take_lock(const char *secret, int *ret_fd, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	int r, fd;

	mp_buf_init(&path, MP_KIB(8));
	r = lock_find(secret, &path);
	if (r < 0)
		return mp_fail(reterr, r, "no state folder: %s", mcpool_error_text(r));
	if (mp_folders_make(path.data, NULL) < 0)
		return mp_fail(reterr, MCPOOL_EIO, "%s cannot be made", path.data);
	fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return mp_fail(reterr, MCPOOL_EIO, "%s: %s", path.data, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
		close(fd);
		return mp_fail(reterr, MCPOOL_EAGAIN, "another process has locked %s", path.data);
	}
	*ret_fd = fd; /* without locks, as on some file systems, we go on all the same */
	return 0;
}

/* --- work ------------------------------------------------------------------------------------ */

static void work_free(struct mp_credential_work *w)
{
	mp_secret_values_unref(w->secrets);
	if (w->fd >= 0)
		close(w->fd);
	mp_free(w->secret);
	mp_secret_buf_done(&w->text);
	mp_free(w);
}

static int work_read(struct mp_credential_work *w)
{
	int r = take_lock(w->secret, &w->fd, &w->why);

	if (r == 0)
		r = mp_secret_values_read(w->secrets, NULL, w->secret, &w->text, &w->why);
	return r == MCPOOL_ENOENT ? 0 : r; /* none is saved yet */
}

/* On a worker. */
static void work_run(void *u)
{
	struct mp_credential_work *w = u;
	struct mp_str nothing = {NULL, 0};

	switch (w->task) {
	case MP_CREDENTIAL_LOCK:
		w->result = work_read(w);
		break;
	case MP_CREDENTIAL_SAVE:
		w->result = mp_secret_values_write(w->secrets, w->secret, mp_buf_get(&w->text),
						   &w->why);
		break;
	case MP_CREDENTIAL_REMOVE:
		w->result = mp_secret_values_write(w->secrets, w->secret, nothing, &w->why);
		break;
	}
}

static void work_done(void *u)
{
	struct mp_credential_work *w = u;

	if (w->fn)
		w->fn(w->u, w);
	work_free(w);
}

int mp_credential_work_start(struct mp_loop *loop, enum mp_credential_task task,
			     struct mp_secret_values *secrets, const char *secret,
			     struct mp_str text, void (*fn)(void *u, struct mp_credential_work *w),
			     void *u, struct mp_credential_work **ret)
{
	struct mp_credential_work *w = mp_alloc(sizeof(*w));
	struct mp_work work = {work_run, work_done, w};
	int r;

	*w = (struct mp_credential_work){.task = task,
					 .secrets = mp_secret_values_ref(secrets),
					 .secret = mp_dup(secret),
					 .fd = -1,
					 .fn = fn,
					 .u = u};
	mp_buf_init(&w->text, MP_LIMIT_SECRET_VALUE);
	r = text.p ? mp_buf_add_str(&w->text, text) : 0;
	if (r == 0)
		r = mp_loop_work(loop, &work);
	if (r < 0)
		work_free(w);
	else
		*ret = w;
	return r;
}

void mp_credential_work_cancel(struct mp_credential_work *w)
{
	w->fn = NULL;
}
