/*
 * log_file.h - the file with what a server wrote to stderr: its end, and what is added later.
 */
#ifndef MP_LOG_FILE_H
#define MP_LOG_FILE_H

#include <limits.h>
#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

enum { MP_LOG_STAMP = 24 }; /* 2026-11-18T21:52:07.504Z */

struct mp_log_file {
	char name[MP_LIMIT_NAME + 1];
	char path[PATH_MAX];
	int fd; /* -1: it is not there yet, or was just replaced */
	ino_t inode;
	struct mp_buf text; /* what was read and not consumed yet */
};

/* name and path must fit. */
void mp_log_file_open(struct mp_log_file *f, const char *name, const char *path);
void mp_log_file_close(struct mp_log_file *f); /* accepts a zeroed one */
/* At most so many bytes of its end, from a whole line on. */
void mp_log_file_read_end(struct mp_log_file *f, size_t bytes);
/* What was added, at most so many bytes; also to a new file in its place. */
void mp_log_file_read(struct mp_log_file *f, size_t max);

/* The next whole line of the text; at: where to begin. False: there is none. */
bool mp_log_file_next_line(const struct mp_log_file *f, size_t *at, struct mp_str *ret);
bool mp_log_line_has_stamp(struct mp_str line);

#endif
