/*
 * inotify.c - one inotify instance for all: a folder is watched while it is held.
 * inotify knows inodes, not paths: a renamed folder stays watched, and one that takes its place is
 * another. Holders learn that from the events and hold the new one.
 */
#include "files/inotify.h"

#include <errno.h>
#include <stdalign.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/watch.h"

/* The folder itself; inotify adds IN_IGNORED and IN_UNMOUNT. */
#define ITSELF   (IN_DELETE_SELF | IN_MOVE_SELF)
#define FLAGS    (IN_ONLYDIR | IN_DONT_FOLLOW | IN_MASK_ADD)
#define AT_MOST  ((size_t)1 << 20) /* folders; the system's own limit is lower */
#define PER_TURN 16                /* full reads; what is left comes with the next turn */

struct mp_inotify {
	struct mp_loop *loop;
	mp_inotify_fn fn;
	void *u;
	int fd;              /* the watch closes it */
	struct mp_watch *io; /* owned */
	struct mp_map
		folders; /* by the bytes of wd: struct mp_watched_folder, owned by their holders */
	struct mp_grave grave;
};

static struct mp_str key_of(const int *wd)
{
	return (struct mp_str){(const char *)wd, sizeof(*wd)};
}

/* --- events --------------------------------------------------------------------------------- */

static void hand_out(struct mp_inotify *fs, const struct inotify_event *ev)
{
	struct mp_watched_folder *folder = mp_map_get(&fs->folders, key_of(&ev->wd));

	if (ev->mask & IN_Q_OVERFLOW) {
		fs->fn(fs->u, NULL, ev->mask, "");
		return;
	}
	if (!folder)
		return; /* it is not held any more */
	if (ev->mask & IN_IGNORED) {
		folder->gone = true;
		(void)mp_map_remove(&fs->folders, key_of(&ev->wd));
	}
	fs->fn(fs->u, folder, ev->mask, ev->len ? ev->name : "");
}

static void inotify_readable(void *u)
{
	alignas(struct inotify_event) char events[16 << 10];
	struct mp_inotify *fs = u;

	for (int i = 0; i < PER_TURN; i++) {
		ssize_t n = read(fs->fd, events, sizeof(events));

		if (n <= 0) /* none left; and nothing can be wrong with reading these */
			return;
		for (char *p = events; p < events + n;) {
			const struct inotify_event *ev = (const void *)p;

			hand_out(fs, ev);
			p += sizeof(*ev) + ev->len;
		}
	}
}

void mp_inotify_catch_up(struct mp_inotify *fs)
{
	inotify_readable(fs);
}

/* --- holding -------------------------------------------------------------------------------- */

static int inotify_refuse(const char *path, int errnum, struct mcpool_error *reterr)
{
	switch (errnum) {
	case ENOSPC:
		return mp_fail(reterr, MCPOOL_ESYSTEM,
			       "watching %s failed: this user's watches are used up; raise "
			       "fs.inotify.max_user_watches (sysctl)",
			       path);
	case ENOMEM:
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	case EACCES:
	case EPERM:
		return mp_fail(reterr, MCPOOL_EPERM, "%s may not be read", path);
	default: /* ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG; a network that is gone */
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no folder %s", path);
	}
}

int mp_inotify_hold(struct mp_inotify *fs, const char *path, uint32_t mask,
		    struct mp_watched_folder **ret_folder, struct mcpool_error *reterr)
{
	int wd = inotify_add_watch(fs->fd, path, mask | ITSELF | FLAGS);
	struct mp_watched_folder *folder;
	int r;

	if (wd < 0)
		return inotify_refuse(path, errno, reterr);
	folder = mp_map_get(&fs->folders, key_of(&wd));
	if (!folder) {
		folder = mp_alloc(sizeof(*folder));
		folder->wd = wd;
		r = mp_map_set(&fs->folders, key_of(&wd), folder);
		if (r < 0) {
			mp_free(folder);
			(void)inotify_rm_watch(fs->fd, wd); /* it was made just now */
			return mp_fail(reterr, r, "%s", mcpool_error_text(r));
		}
	}
	folder->mask |= mask;
	folder->holds++;
	*ret_folder = folder;
	return 0;
}

void mp_inotify_release(struct mp_inotify *fs, struct mp_watched_folder *folder)
{
	mp_check(folder->holds > 0);
	if (--folder->holds > 0)
		return;
	if (!folder->gone) {
		(void)mp_map_remove(&fs->folders, key_of(&folder->wd));
		(void)inotify_rm_watch(fs->fd, folder->wd); /* fails for one that vanished */
	}
	mp_free(folder);
}

/* --- life ----------------------------------------------------------------------------------- */

int mp_inotify_new(struct mp_loop *loop, mp_inotify_fn fn, void *u, struct mp_inotify **ret_folders,
		   struct mcpool_error *reterr)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct mp_inotify *fs;

	if (fd < 0)
		return mp_fail_errno(reterr, errno,
				     "files cannot be watched (fs.inotify.max_user_instances)");
	fs = mp_alloc(sizeof(*fs));
	*fs = (struct mp_inotify){.loop = loop, .fn = fn, .u = u, .fd = fd};
	if (mp_watch_new(loop, fd, inotify_readable, fs, &fs->io) < 0) { /* which closes it */
		mp_free(fs);
		return mp_fail(reterr, MCPOOL_ESYSTEM, "files cannot be watched");
	}
	mp_map_init(&fs->folders, AT_MOST);
	*ret_folders = fs;
	return 0;
}

static void dispose(struct mp_grave *grave)
{
	struct mp_inotify *fs = mp_container_of(grave, struct mp_inotify, grave);

	mp_map_done(&fs->folders);
	mp_free(fs);
}

struct mp_inotify *mp_inotify_close(struct mp_inotify *fs)
{
	if (!fs)
		return NULL;
	mp_check(fs->folders.len == 0);
	fs->io = mp_watch_free(fs->io);
	mp_loop_bury(fs->loop, &fs->grave, dispose);
	return NULL;
}
