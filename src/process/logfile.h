/*
 * logfile.h - the file that keeps what a server wrote to stderr.
 * Private, of bounded size, and written at a bounded rate: a server in a loop fills neither the
 * disk nor our time.
 */
#ifndef MP_LOGFILE_H
#define MP_LOGFILE_H

#include "base/base.h"
#include "base/loop.h"
#include "base/str.h"

enum {
	MP_LOGFILE_SIZE = 5 << 20, /* then it becomes `path.1`, and that one goes */
	MP_LOGFILE_RATE =
		256 << 10, /* bytes per second: 2 % of a core; lines over it are counted */
};

struct mp_logfile;

/* Opened with the first line; missing folders are made. The path is copied. */
struct mp_logfile *mp_logfile_new(struct mp_loop *loop, const char *path);
/* Writes what is left. */
struct mp_logfile *mp_logfile_free(struct mp_logfile *f);

/* One line without its newline; redacted here. cut: it was longer. */
void mp_logfile_add(struct mp_logfile *f, struct mp_str line, bool cut);
/* Write what was added, in one go; call it once a turn. */
void mp_logfile_flush(struct mp_logfile *f);

#endif
