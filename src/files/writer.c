/*
 * writer.c - changing a file of ours: locked, atomic, every comment kept.
 * The lock keeps mcpools apart. Editors do not ask for it, so right before the rename the file must
 * still be the one that was read; else all begins again with what is there now.
 */
#include "files/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/random_id.h"
#include "files/target.h"
#include "json/tape.h"

enum { ONCE_MORE = 2, MAX_TRIES = 20, MAX_TEMPORARY = NAME_MAX + 64 };

#define TEMPORARY_END ".mcpool-tmp"

struct change {
	struct mp_target target;
	enum mp_format format;
	mp_writer_fn fn;
	void *u;
	struct mcpool_error *reterr;

	bool existed;
	struct stat read; /* what it was when it was read, if it existed */
	struct mp_buf old, text;
	char temporary[MAX_TEMPORARY]; /* in the folder; "": there is none */
};

static int fail_to(struct change *c, const char *verb)
{
	return mp_target_fail(&c->target, verb, errno, c->reterr);
}

static int fail_code(struct change *c, int code)
{
	return mp_fail(c->reterr, code, "%s was not changed: %s", c->target.path,
		       mcpool_error_text(code));
}

/* --- reading -------------------------------------------------------------------------------- */

static int check_kind(struct change *c, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return mp_fail(c->reterr, MCPOOL_EINVAL, "%s is %s and no file; it was not changed",
			       c->target.path,
			       S_ISDIR(st->st_mode) ? "a folder" : "something else");
	if (st->st_size > (off_t)MP_LIMIT_OWN_FILE)
		return mp_fail(c->reterr, MCPOOL_ELIMIT,
			       "%s has more than %zu MiB, so it is not a configuration; it was not "
			       "changed",
			       c->target.path, MP_LIMIT_OWN_FILE >> 20);
	return 0;
}

static int read_all(struct change *c, int fd)
{
	for (;;) {
		int r = mp_buf_reserve(&c->old, MP_KIB(16));
		ssize_t n;

		if (r < 0)
			return fail_code(c, r);
		n = read(fd, c->old.data + c->old.len, MP_KIB(16));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail_to(c, "read");
		if (n == 0)
			return 0;
		c->old.len += (size_t)n;
	}
}

/* Looked at before it is opened, because opening a device or a pipe may do things. */
static int read_old(struct change *c)
{
	int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, fd, r;

	mp_buf_clear(&c->old);
	c->existed = fstatat(c->target.fd, c->target.name, &c->read, AT_SYMLINK_NOFOLLOW) == 0;
	if (!c->existed)
		return errno == ENOENT ? 0 : fail_to(c, "read");
	r = check_kind(c, &c->read);
	if (r < 0)
		return r;
	fd = openat(c->target.fd, c->target.name, O_RDONLY | flags);
	if (fd < 0)
		return fail_to(c, "read");
	if (fstat(fd, &c->read) < 0)
		r = fail_to(c, "read");
	else
		r = check_kind(c, &c->read); /* it may be another one by now */
	if (r == 0)
		r = read_all(c, fd);
	close(fd);
	return r;
}

/* --- the new text --------------------------------------------------------------------------- */

static bool is_blank(struct mp_str text)
{
	if (mp_str_starts(text, MP_STR("\xef\xbb\xbf")))
		text = (struct mp_str){text.p + 3, text.len - 3};
	return mp_str_trim(text).len == 0;
}

static int check_json(struct mp_str text, size_t *ret_fault_at, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape tape;
	int r;

	mp_tape_init(&tape, MP_TAPE_JSONC);
	r = mp_tape_parse(&tape, text, reterr);
	*ret_fault_at = tape.fault_at;
	return r;
}

static int check_toml(struct mp_str text, size_t *ret_fault_at, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_toml_done) struct mp_toml toml;
	int r;

	mp_toml_init(&toml);
	r = mp_toml_read(&toml, text, reterr);
	*ret_fault_at = toml.fault_at;
	return r;
}

static int check_text(const struct change *c, struct mp_str text, size_t *ret_fault_at,
		      struct mcpool_error *reterr)
{
	return c->format == MP_FORMAT_TOML ? check_toml(text, ret_fault_at, reterr)
					   : check_json(text, ret_fault_at, reterr);
}

static int check_old(struct change *c)
{
	struct mp_str old = mp_buf_get(&c->old);
	struct mcpool_error error;
	struct mp_tape_place at;
	const char *words;
	size_t fault_at;
	int r = check_text(c, old, &fault_at, &error);

	if (r == 0)
		return 0;
	at = mp_tape_locate(old, fault_at);
	words = strstr(error.message, ": "); /* without its own "line 1, column 2" */
	return mp_fail(c->reterr, r, "%s:%u:%u: %s%s%s", c->target.path, at.line, at.column,
		       r != MCPOOL_EPARSE            ? "cannot be read"
		       : c->format == MP_FORMAT_TOML ? "is not valid TOML"
						     : "is not valid JSON",
		       "; it was not changed", words ? words : "");
}

static int check_new(struct change *c)
{
	struct mcpool_error error;
	size_t fault_at;
	int r = check_text(c, mp_buf_get(&c->text), &fault_at, &error);

	return r == 0 ? 0
		      : mp_fail(c->reterr, r,
				"%s was not changed, because it would not be valid any more: %s",
				c->target.path, error.message);
}

/* 1: there is a new one; 0: nothing to change. */
static int make_text(struct change *c)
{
	struct mp_str old = mp_buf_get(&c->old);
	int r = 0;

	if (is_blank(old))
		old = MP_STR("");
	else
		r = check_old(c);
	if (r < 0)
		return r;
	mp_buf_clear(&c->text);
	r = c->fn(old, &c->text, c->u, c->reterr);
	if (r <= 0)
		return r;
	r = check_new(c);
	if (r < 0)
		return r;
	return c->existed && mp_str_eq(mp_buf_get(&c->old), mp_buf_get(&c->text)) ? 0 : 1;
}

/* --- the temporary file --------------------------------------------------------------------- */

/* .NAME.<pid>.<hex>.mcpool-tmp */
static bool is_leftover(const char *file, const char *name)
{
	size_t n = strlen(file), n_name = strlen(name), n_end = strlen(TEMPORARY_END);

	if (n < n_name + n_end + 3 || file[0] != '.' || strncmp(file + 1, name, n_name) != 0 ||
	    file[n_name + 1] != '.' || strcmp(file + n - n_end, TEMPORARY_END) != 0)
		return false;
	for (const char *p = file + n_name + 2; p < file + n - n_end; p++)
		if (!strchr("0123456789abcdef.", *p))
			return false;
	return true;
}

/* Left by killed processes: we hold the lock, so no other is writing. */
static void remove_leftovers(struct change *c)
{
	int fd = c->target.locked ? openat(c->target.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				  : -1;
	const struct dirent *e;
	DIR *d;

	if (fd < 0)
		return;
	d = fdopendir(fd);
	if (!d) {
		close(fd);
		return;
	}
	while ((e = readdir(d)))
		if (is_leftover(e->d_name, c->target.name))
			(void)unlinkat(c->target.fd, e->d_name, 0); /* litter may stay */
	closedir(d);
}

/* As many may read and write it as before, never more: a group we cannot keep gets nothing. */
static bool keep_mode(struct change *c, int fd)
{
	mode_t mode = c->existed ? c->read.st_mode & 0777 : 0600;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (c->existed && (st.st_uid != c->read.st_uid || st.st_gid != c->read.st_gid) &&
	    fchown(fd, c->read.st_uid, c->read.st_gid) < 0)
		mode &= ~(mode_t)070;
	return fchmod(fd, mode) == 0;
}

static bool write_all(int fd, struct mp_str text)
{
	while (text.len > 0) {
		ssize_t n = write(fd, text.p, text.len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text = (struct mp_str){text.p + n, text.len - (size_t)n};
	}
	return true;
}

static void remove_temporary(struct change *c)
{
	if (c->temporary[0])
		(void)unlinkat(c->target.fd, c->temporary, 0); /* the next one takes it away */
	c->temporary[0] = '\0';
}

static int write_temporary(struct change *c)
{
	uint64_t salt = 0;
	int fd, r = 0;

	mp_random_fill(&salt, sizeof(salt));
	snprintf(c->temporary, sizeof(c->temporary), ".%s.%d.%016llx" TEMPORARY_END, c->target.name,
		 (int)getpid(), (unsigned long long)salt);
	fd = openat(c->target.fd, c->temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		c->temporary[0] = '\0';
		return fail_to(c, "written");
	}
	if (!write_all(fd, mp_buf_get(&c->text)) || !keep_mode(c, fd) || fsync(fd) < 0)
		r = fail_to(c, "written");
	if (close(fd) < 0 && r == 0)
		r = fail_to(c, "written");
	return r;
}

/* --- its new name --------------------------------------------------------------------------- */

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_as_read(struct change *c)
{
	const struct stat *was = &c->read;
	struct stat now;

	if (fstatat(c->target.fd, c->target.name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return !c->existed && errno == ENOENT;
	return c->existed && now.st_dev == was->st_dev && now.st_ino == was->st_ino &&
	       now.st_size == was->st_size && same_time(now.st_mtim, was->st_mtim) &&
	       same_time(now.st_ctim, was->st_ctim);
}

/* Where there was none, not even one that appears in this moment is overwritten. */
static int rename_over(struct change *c)
{
	int fd = c->target.fd;

	if (!c->existed) {
		if (renameat2(fd, c->temporary, fd, c->target.name, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EINVAL && errno != ENOSYS)
			return -1;
	}
	return renameat(fd, c->temporary, fd, c->target.name);
}

/* 1: done; 0: the file changed meanwhile. */
static int writer_publish(struct change *c)
{
	if (!is_as_read(c))
		return 0;
	if (rename_over(c) < 0)
		return errno == EEXIST && !c->existed ? 0 : fail_to(c, "written");
	c->temporary[0] = '\0';
	(void)fsync(c->target.fd); /* not every file system can; the change is there */
	return 1;
}

/* --- the whole ------------------------------------------------------------------------------ */

/* 1: changed; 0: nothing to change; ONCE_MORE. */
static int try_once(struct change *c)
{
	int r = read_old(c);

	if (r == 0)
		r = make_text(c);
	if (r <= 0)
		return r;
	remove_leftovers(c);
	r = write_temporary(c);
	if (r == 0)
		r = writer_publish(c);
	remove_temporary(c);
	return r == 0 ? ONCE_MORE : r;
}

static void finish(struct change *c)
{
	mp_target_close(&c->target);
	mp_buf_done(&c->old);
	mp_buf_done(&c->text);
}

int mp_config_change(const char *path, mp_writer_fn fn, void *u, struct mcpool_error *reterr)
{
	return mp_config_change_as(path, MP_FORMAT_JSON, fn, u, reterr);
}

int mp_config_change_as(const char *path, enum mp_format format, mp_writer_fn fn, void *u,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(finish)
	struct change c = {.target.fd = -1, .format = format, .fn = fn, .u = u, .reterr = reterr};
	int r;

	/* One read's room beyond what a file may have: its end is seen by reading more. */
	mp_buf_init(&c.old, MP_LIMIT_OWN_FILE + MP_KIB(32));
	mp_buf_init(&c.text, MP_LIMIT_OWN_FILE);
	r = mp_target_open(&c.target, path, reterr);
	if (r < 0)
		return r;
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		r = try_once(&c);
		if (r != ONCE_MORE)
			return r;
	}
	return mp_fail(reterr, MCPOOL_EAGAIN,
		       "%s was not changed: another program writes to it all the time; end it and "
		       "try again",
		       path);
}
