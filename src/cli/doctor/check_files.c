/*
 * check_files.c - files of ours that others may read or write.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"
#include "cli/doctor/doctor.h"

/* Names below the state folder; "" is the folder itself. */
static const char *const names[] = {
	"", "local.key", "token", "secrets", "mcpool.db", "hub.place", "logs",
};

static int path_find(const char *name, char out[PATH_MAX])
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	int r;

	mp_buf_init(&path, PATH_MAX);
	r = mp_path_state(name, &path);
	if (r == 0)
		snprintf(out, PATH_MAX, "%s", path.data);
	return r;
}

static int path_look(struct mp_doctor *d, const char *path, mode_t forbidden)
{
	struct mp_finding f = {
		.check = mp_check_permissions.name, .subject = path, .is_safe = true};
	char fix[PATH_MAX + 32];
	struct stat st;

	if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode))
		return 0;
	if (st.st_uid != geteuid()) {
		f.is_safe = false;
		snprintf(fix, sizeof(fix), "sudo chown %u '%s'", (unsigned)geteuid(), path);
		return mp_doctor_tell(d, &f, fix, "it belongs to another user (%u)",
				      (unsigned)st.st_uid);
	}
	if (!(st.st_mode & forbidden))
		return 0;
	return mp_doctor_tell(d, &f, "mcpool doctor --fix", "others may %s it (mode %03o)",
			      st.st_mode & (S_IWGRP | S_IWOTH) ? "write to" : "read",
			      (unsigned)(st.st_mode & 0777));
}

static int permissions_find(struct mp_doctor *d)
{
	char path[PATH_MAX];
	int r = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(names) && r == 0; i++)
		if (path_find(names[i], path) == 0)
			r = path_look(d, path, S_IRWXG | S_IRWXO);
	if (r == 0 && d->c->set->user_file) /* it may be shared on purpose, but not changed */
		r = path_look(d, d->c->set->user_file, S_IWGRP | S_IWOTH);
	return r;
}

static int permissions_fix(struct mp_doctor *d, const struct mp_finding *f,
			   struct mcpool_error *reterr)
{
	int fd = open(f->subject, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool is_config = d->c->set->user_file && strcmp(f->subject, d->c->set->user_file) == 0;
	mode_t taken = is_config ? S_IWGRP | S_IWOTH : S_IRWXG | S_IRWXO;
	struct stat st;
	int r = 0;

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_uid != geteuid() ||
	    fchmod(fd, st.st_mode & 07777 & ~taken) < 0)
		r = mp_fail_errno(reterr, errno, "its mode cannot be changed");
	if (fd >= 0)
		close(fd);
	return r;
}

const struct mp_check mp_check_permissions = {
	"permissions",
	"our files are for this user alone",
	permissions_find,
	permissions_fix,
};
