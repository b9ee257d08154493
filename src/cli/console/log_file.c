/*
 * log_file.c - the file with what a server wrote to stderr.
 */
#include "cli/console/log_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void file_open(struct mp_log_file *f)
{
	struct stat st;

	f->fd = open(f->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (f->fd >= 0 && (fstat(f->fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		close(f->fd);
		f->fd = -1;
	}
	f->inode = f->fd >= 0 ? st.st_ino : 0;
}

void mp_log_file_open(struct mp_log_file *f, const char *name, const char *path)
{
	*f = (struct mp_log_file){.fd = -1};
	snprintf(f->name, sizeof(f->name), "%s", name);
	snprintf(f->path, sizeof(f->path), "%s", path);
	mp_buf_init(&f->text, MP_MIB(1));
	file_open(f);
}

void mp_log_file_close(struct mp_log_file *f)
{
	if (f->path[0] && f->fd >= 0)
		close(f->fd);
	mp_buf_done(&f->text);
	*f = (struct mp_log_file){.fd = -1};
}

/* From where it is, at most so many bytes. */
static void file_read(struct mp_log_file *f, size_t max)
{
	char bytes[16384];
	ssize_t n = 1;

	while (f->fd >= 0 && n > 0 && f->text.len < max) {
		n = read(f->fd, bytes, sizeof(bytes));
		if (n > 0 && mp_buf_add(&f->text, bytes, (size_t)n) < 0)
			return;
	}
}

void mp_log_file_read_end(struct mp_log_file *f, size_t bytes)
{
	off_t size = f->fd < 0 ? 0 : lseek(f->fd, 0, SEEK_END);
	bool is_cut = size > (off_t)bytes;
	const char *first;

	if (f->fd < 0 || lseek(f->fd, is_cut ? size - (off_t)bytes : 0, SEEK_SET) < 0)
		return;
	file_read(f, bytes);
	first = is_cut ? memchr(f->text.data, '\n', f->text.len) : NULL;
	if (first)
		mp_buf_consume(&f->text, (size_t)(first + 1 - f->text.data));
}

/* The server's file was put aside for a new one, or is there at last. */
static bool file_was_replaced(const struct mp_log_file *f)
{
	struct stat st;

	return stat(f->path, &st) == 0 && (f->fd < 0 || st.st_ino != f->inode);
}

void mp_log_file_read(struct mp_log_file *f, size_t max)
{
	file_read(f, max);
	if (!file_was_replaced(f) || f->text.len > max / 2)
		return;
	if (f->fd >= 0)
		close(f->fd);
	file_open(f);
	file_read(f, max);
}

bool mp_log_line_has_stamp(struct mp_str line)
{
	return line.len > MP_LOG_STAMP && line.p[4] == '-' && line.p[10] == 'T' &&
	       line.p[MP_LOG_STAMP - 1] == 'Z';
}

bool mp_log_file_next_line(const struct mp_log_file *f, size_t *at, struct mp_str *ret)
{
	const char *begin = f->text.data + *at, *end;

	if (*at >= f->text.len || !(end = memchr(begin, '\n', f->text.len - *at)))
		return false;
	*ret = (struct mp_str){begin, (size_t)(end - begin)};
	*at += ret->len + 1;
	return true;
}
