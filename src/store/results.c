/*
 * results.c - results that are too large to be shown whole, kept for an hour.
 */
#include "store/results.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/paths.h"
#include "base/random_id.h"
#include "files/private.h"

enum { KEEP_S = 3600 };

static int get_path(const char *id, struct mp_buf *out, struct mcpool_error *reterr)
{
	char name[64];
	int r;

	snprintf(name, sizeof(name), "results/%s", id);
	r = mp_path_state(name, out);
	return r < 0 ? mp_fail(reterr, r, "no folder for results: set HOME") : 0;
}

/* Whatever else may lie there is not ours to remove. */
static bool is_id(const char *name)
{
	return strlen(name) == MP_RESULT_ID - 1 &&
	       strspn(name, "0123456789abcdef") == MP_RESULT_ID - 1;
}

static bool is_old(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_mtime + KEEP_S < time(NULL);
}

static void tidy(const char *path)
{
	char folder[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	d = opendir(folder);
	while (d && (e = readdir(d)))
		if (is_id(e->d_name) && is_old(dirfd(d), e->d_name))
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

int mp_results_keep(struct mp_str content, char ret_id[MP_RESULT_ID], struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	int r;

	mp_buf_init(&path, PATH_MAX);
	mp_random_id_make(ret_id);
	r = get_path(ret_id, &path, reterr);
	if (r == 0)
		r = mp_private_replace(path.data, content, reterr);
	if (r == 0)
		tidy(path.data);
	return r;
}

bool mp_results_is_uri(struct mp_str uri)
{
	return mp_str_starts(uri, MP_STR(MP_RESULT_SCHEME));
}

static int read_file(int fd, struct mp_buf *out)
{
	for (;;) {
		ssize_t n;

		if (mp_buf_reserve(out, 65536) < 0)
			return MCPOOL_ENOMEM;
		n = read(fd, out->data + out->len, 65536);
		if (n <= 0)
			return n < 0 ? MCPOOL_EIO : 0;
		out->len += (size_t)n;
	}
}

int mp_results_read(struct mp_str uri, struct mp_buf *out, struct mcpool_error *reterr)
{
	const size_t prefix = sizeof(MP_RESULT_SCHEME) - 1;
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	char id[MP_RESULT_ID] = "";
	int fd = -1, r;

	mp_buf_init(&path, PATH_MAX);
	if (mp_results_is_uri(uri) && uri.len == prefix + MP_RESULT_ID - 1)
		memcpy(id, uri.p + prefix, MP_RESULT_ID - 1);
	if (!is_id(id))
		return mp_fail(reterr, MCPOOL_ENOENT, "%.*s names no stored result",
			       MP_STR_ARGS(uri));
	r = get_path(id, &path, reterr);
	if (r < 0)
		return r;
	tidy(path.data);
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return mp_fail(reterr, MCPOOL_ENOENT,
			       "%.*s is not there; results are kept for an hour", MP_STR_ARGS(uri));
	r = read_file(fd, out);
	close(fd);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}
