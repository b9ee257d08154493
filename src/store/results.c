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

/* What lies in the folder. */
struct census {
	int folder;
	size_t n;
	int64_t bytes;
	char oldest[MP_RESULT_ID];
	struct stat oldest_st;
};

static bool is_newer(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
						      : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

static void census_count(struct census *c, const char *name)
{
	struct stat st;

	if (!is_id(name) || fstatat(c->folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return;
	if (st.st_mtime + KEEP_S < time(NULL)) {
		unlinkat(c->folder, name, 0);
		return;
	}
	if (c->n == 0 || is_newer(&c->oldest_st, &st)) {
		memcpy(c->oldest, name, MP_RESULT_ID);
		c->oldest_st = st;
	}
	c->n++;
	c->bytes += st.st_size;
}

/* Removes what is old. True: there is still too much, and the oldest went. */
static bool tidy_once(DIR *d)
{
	struct census c = {.folder = dirfd(d)};
	struct dirent *e;

	rewinddir(d);
	while ((e = readdir(d)))
		census_count(&c, e->d_name);
	return c.n > 1 && (c.n > MP_LIMIT_RESULTS || c.bytes > (int64_t)MP_LIMIT_RESULT_BYTES) &&
	       unlinkat(c.folder, c.oldest, 0) == 0;
}

static void results_tidy(const char *path)
{
	char folder[PATH_MAX];
	DIR *d;

	snprintf(folder, sizeof(folder), "%.*s", (int)(strrchr(path, '/') - path), path);
	d = opendir(folder);
	if (!d)
		return;
	while (tidy_once(d))
		;
	closedir(d);
}

/* The server wrote it: a type, or none. */
static bool is_mime(struct mp_str mime)
{
	for (size_t i = 0; i < mime.len; i++)
		if (mime.p[i] <= ' ' || mime.p[i] > '~')
			return false;
	return mime.len < MP_RESULT_MIME;
}

/* Binary content begins with a NUL and a line with its type; no JSON does. */
static int write_binary(struct mp_str content, struct mp_str mime, struct mp_buf *out)
{
	int r = mp_buf_add_char(out, '\0');

	if (r == 0)
		r = mp_buf_add_str(out, is_mime(mime) ? mime : MP_STR("application/octet-stream"));
	if (r == 0)
		r = mp_buf_add_char(out, '\n');
	return r < 0 ? r : mp_buf_add_str(out, content);
}

int mp_results_keep(struct mp_str content, struct mp_str mime, char ret_uri[MP_RESULT_URI],
		    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path, binary;
	char id[MP_RESULT_ID];
	int r;

	mp_buf_init(&path, PATH_MAX);
	mp_buf_init(&binary, 2 * MP_LIMIT_MESSAGE);
	if (mime.len) {
		r = write_binary(content, mime, &binary);
		if (r < 0)
			return mp_fail(reterr, r, "%s", mcpool_error_text(r));
		content = mp_buf_get(&binary);
	}
	mp_random_id_make(id);
	r = get_path(id, &path, reterr);
	if (r == 0)
		r = mp_private_replace(path.data, content, reterr);
	if (r < 0)
		return r;
	results_tidy(path.data);
	snprintf(ret_uri, MP_RESULT_URI, "%s%s", MP_RESULT_SCHEME, id);
	return 0;
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

/* Takes the first line of binary content away. */
static void take_mime(struct mp_buf *out, char ret_mime[MP_RESULT_MIME])
{
	const char *end = out->len && !out->data[0] ? memchr(out->data, '\n', out->len) : NULL;
	size_t head = end ? (size_t)(end + 1 - out->data) : 0;

	ret_mime[0] = '\0';
	if (!head)
		return;
	snprintf(ret_mime, MP_RESULT_MIME, "%.*s", (int)head - 2, out->data + 1);
	memmove(out->data, out->data + head, out->len - head);
	out->len -= head;
}

int mp_results_read(struct mp_str uri, struct mp_buf *out, char ret_mime[MP_RESULT_MIME],
		    struct mcpool_error *reterr)
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
	results_tidy(path.data);
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return mp_fail(reterr, MCPOOL_ENOENT,
			       "%.*s is not there; results are kept for an hour", MP_STR_ARGS(uri));
	mp_buf_clear(out);
	r = read_file(fd, out);
	close(fd);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	take_mime(out, ret_mime);
	return 0;
}
