/*
 * logfile.c - the file that keeps what a server wrote to stderr.
 * A file that cannot be written is given up with one warning: the last lines are in memory anyway.
 */
#include "process/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/folders.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/redact.h"

static const struct mp_log logfile_log = {"logfile"};

/* What may wait for a flush: a full read and its times. More than that is left out. */
#define MAX_BATCH MP_MIB(1)

struct mp_logfile {
	struct mp_loop *loop;
	char *path; /* owned */
	int fd;     /* -1: not opened yet */
	bool given_up;
	size_t size; /* of the file */
	struct mp_buf batch;
	int64_t second;    /* which one the next two belong to */
	size_t spent;      /* bytes in it */
	uint64_t left_out; /* lines */
};

/* --- the file ------------------------------------------------------------------------------- */

static void give_up(struct mp_logfile *f, const char *doing, int errnum)
{
	f->given_up = true;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	mp_log_warn(&logfile_log, "%s: %s failed: %s; this log is not kept", f->path, doing,
		    strerrordesc_np(errnum));
}

/* No symbolic link and no fifo: a log that others could redirect or stall is none. */
static bool open_file(struct mp_logfile *f)
{
	int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
	struct stat st;

	f->fd = open(f->path, flags, 0600);
	if (f->fd < 0 && errno == ENOENT && mp_folders_make(f->path, NULL) == 0)
		f->fd = open(f->path, flags, 0600);
	if (f->fd < 0 || fstat(f->fd, &st) < 0) {
		give_up(f, "opening", errno);
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		give_up(f, "opening", EINVAL);
		return false;
	}
	f->size = (size_t)st.st_size;
	return true;
}

static bool rotate(struct mp_logfile *f)
{
	char older[PATH_MAX];

	if (snprintf(older, sizeof(older), "%s.1", f->path) >= (int)sizeof(older) ||
	    rename(f->path, older) < 0) {
		give_up(f, "renaming", errno);
		return false;
	}
	close(f->fd);
	f->fd = -1;
	return open_file(f);
}

static bool is_ready(struct mp_logfile *f)
{
	if (f->given_up || (f->fd < 0 && !open_file(f)))
		return false;
	return f->size == 0 || f->size + f->batch.len <= MP_LOGFILE_SIZE || rotate(f);
}

void mp_logfile_flush(struct mp_logfile *f)
{
	size_t done = 0;

	if (f->batch.len == 0)
		return;
	while (done < f->batch.len && (done > 0 || is_ready(f))) {
		ssize_t n = write(f->fd, f->batch.data + done, f->batch.len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			give_up(f, "writing", errno);
			break;
		}
		done += (size_t)n;
	}
	f->size += done;
	mp_buf_clear(&f->batch);
}

/* --- lines ---------------------------------------------------------------------------------- */

static int add_time(struct mp_logfile *f)
{
	int64_t ms = mp_loop_wall_now_ms(f->loop);
	time_t seconds = (time_t)(ms / 1000);
	struct tm t;
	char text[40];

	gmtime_r(&seconds, &t);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &t);
	return mp_buf_addf(&f->batch, "%s.%03dZ ", text, (int)(ms % 1000));
}

/* Whole or not at all. */
static void add_line(struct mp_logfile *f, struct mp_str line, bool cut)
{
	size_t before = f->batch.len;
	int r = add_time(f);

	if (r == 0)
		r = mp_redact(line, cut, &f->batch);
	if (r == 0 && cut)
		r = mp_buf_add_str(&f->batch, MP_STR(MP_STR_CUT_MARK));
	if (r == 0)
		r = mp_buf_add_char(&f->batch, '\n');
	if (r < 0) {
		f->batch.len = before;
		f->left_out++;
	}
	f->spent += f->batch.len - before;
}

static void tell_left_out(struct mp_logfile *f)
{
	size_t before = f->batch.len;
	int r;

	if (f->left_out == 0)
		return;
	r = add_time(f);
	if (r == 0)
		r = mp_buf_addf(&f->batch, "[mcpool: %llu lines left out, they came too fast]\n",
				(unsigned long long)f->left_out);
	if (r < 0)
		f->batch.len = before;
	else
		f->left_out = 0;
}

void mp_logfile_add(struct mp_logfile *f, struct mp_str line, bool cut)
{
	int64_t second = mp_loop_now_ms(f->loop) / 1000;

	if (f->given_up)
		return;
	if (second != f->second) {
		f->second = second;
		f->spent = 0;
		tell_left_out(f);
	}
	if (f->spent + line.len > MP_LOGFILE_RATE)
		f->left_out++;
	else
		add_line(f, line, cut);
}

/* --- life ----------------------------------------------------------------------------------- */

/* A file over the limit (ulimit -f) is an error of write(), not the end of the process. */
static void ignore_sigxfsz(void)
{
	struct sigaction now;

	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		(void)signal(SIGXFSZ, SIG_IGN); /* cannot fail for a signal that exists */
}

struct mp_logfile *mp_logfile_new(struct mp_loop *loop, const char *path)
{
	struct mp_logfile *f = mp_alloc(sizeof(*f));

	ignore_sigxfsz();
	f->loop = loop;
	f->path = mp_alloc(strlen(path) + 1);
	memcpy(f->path, path, strlen(path) + 1);
	f->fd = -1;
	mp_buf_init(&f->batch, MAX_BATCH);
	return f;
}

struct mp_logfile *mp_logfile_free(struct mp_logfile *f)
{
	if (!f)
		return NULL;
	tell_left_out(f);
	mp_logfile_flush(f);
	if (f->fd >= 0)
		close(f->fd);
	mp_buf_done(&f->batch);
	mp_free(f->path);
	mp_free(f);
	return NULL;
}
