/*
 * verb_run.c - a verb of this program as a process of its own.
 */
#include "web/verb_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/guard.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/watch.h"
#include "process/command_fork.h"

extern char **environ;

enum {
	PATIENCE_MS = 2000, /* from SIGTERM to SIGKILL */
	PIECE = 16 << 10,
	ERR_BYTES = 64 << 10, /* of stderr that are kept: the first */
};

struct mp_verb_run {
	struct mp_verb_run_options o; /* without argv, folder and input */
	pid_t pid;                    /* leader of its group */
	struct mp_watch *out, *err;   /* NULL: at their end */
	struct mp_watch *end;         /* of the process */
	struct mp_buf out_text, err_text;
	bool is_overfull; /* more than may be kept: it is ended */
	struct mp_timer timer;
	struct mp_grave grave;
};

/* --- ending ---------------------------------------------------------------------------------- */

static void verb_run_bury(struct mp_grave *grave)
{
	struct mp_verb_run *r = mp_container_of(grave, struct mp_verb_run, grave);

	mp_buf_done(&r->out_text);
	mp_buf_done(&r->err_text);
	mp_free(r);
}

static void verb_run_close(struct mp_verb_run *r)
{
	mp_timer_stop(&r->timer);
	r->out = mp_watch_free(r->out);
	r->err = mp_watch_free(r->err);
	r->end = mp_watch_free(r->end);
	mp_loop_bury(r->o.loop, &r->grave, verb_run_bury);
}

/* It may not lead a group yet. */
static void verb_run_signal(const struct mp_verb_run *r, int signal)
{
	kill(r->pid, signal);
	kill(-r->pid, signal);
}

/* Its whole group, before its leader is reaped: until then the number is not used again. */
static int verb_run_reap(struct mp_verb_run *r)
{
	int status = 0;

	verb_run_signal(r, SIGKILL);
	while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

struct mp_verb_run *mp_verb_run_free(struct mp_verb_run *r)
{
	if (!r)
		return NULL;
	(void)verb_run_reap(r);
	verb_run_close(r);
	return NULL;
}

static void verb_run_kill(void *u)
{
	verb_run_signal(u, SIGKILL);
}

void mp_verb_run_end(struct mp_verb_run *r)
{
	verb_run_signal(r, SIGTERM);
	mp_timer_init(&r->timer, r->o.loop, verb_run_kill, r);
	mp_timer_start(&r->timer, PATIENCE_MS);
}

static void verb_run_is_late(void *u)
{
	mp_verb_run_end(u);
}

/* --- reading --------------------------------------------------------------------------------- */

/* Hands out whole lines; at the end also one without a newline. */
static void lines_tell(struct mp_verb_run *r, bool is_end)
{
	const char *at = r->out_text.data, *end = at + r->out_text.len, *stop;

	while (at < end && (stop = memchr(at, '\n', (size_t)(end - at)))) {
		r->o.line(r->o.u, (struct mp_str){at, (size_t)(stop - at)});
		at = stop + 1;
	}
	if (is_end && at < end) {
		r->o.line(r->o.u, (struct mp_str){at, (size_t)(end - at)});
		at = end;
	}
	if (at > r->out_text.data)
		mp_buf_consume(&r->out_text, (size_t)(at - r->out_text.data));
}

static void out_take(struct mp_verb_run *r, struct mp_str piece)
{
	if (r->is_overfull)
		return;
	if (mp_buf_add_str(&r->out_text, piece) < 0) {
		r->is_overfull = true;
		mp_verb_run_end(r);
	} else if (r->o.line) {
		lines_tell(r, false);
	}
}

static void err_take(struct mp_verb_run *r, struct mp_str piece)
{
	size_t room = ERR_BYTES - r->err_text.len;

	piece.len = piece.len < room ? piece.len : room;
	(void)!mp_buf_add_str(&r->err_text, piece);
}

/* One piece; false: there is nothing at the moment, or no more. */
static bool pipe_read(struct mp_verb_run *r, struct mp_watch **pipe,
		      void (*take)(struct mp_verb_run *r, struct mp_str piece))
{
	char piece[PIECE];
	ssize_t n = *pipe ? read(mp_watch_get_fd(*pipe), piece, sizeof(piece)) : -1;

	if (n > 0)
		take(r, (struct mp_str){piece, (size_t)n});
	else if (*pipe && (n == 0 || (errno != EAGAIN && errno != EINTR)))
		*pipe = mp_watch_free(*pipe);
	return n > 0;
}

static void out_readable(void *u)
{
	struct mp_verb_run *r = u;

	(void)pipe_read(r, &r->out, out_take);
}

static void err_readable(void *u)
{
	struct mp_verb_run *r = u;

	(void)pipe_read(r, &r->err, err_take);
}

/* What it had written when it ended is still in the pipes. */
static void verb_run_ended(void *u)
{
	struct mp_verb_run *r = u;
	int code = verb_run_reap(r);

	while (!r->is_overfull && pipe_read(r, &r->out, out_take))
		;
	while (r->err_text.len < ERR_BYTES && pipe_read(r, &r->err, err_take))
		;
	if (r->o.line)
		lines_tell(r, true);
	if (r->is_overfull)
		(void)!mp_buf_add_str(&r->err_text, MP_STR("it printed more than is kept\n"));
	r->o.done(r->o.u, code, r->o.line ? MP_STR("") : mp_buf_get(&r->out_text),
		  mp_buf_get(&r->err_text));
	verb_run_close(r);
}

/* --- starting -------------------------------------------------------------------------------- */

/* Its stdin is a file in memory: nothing has to be written while it runs. */
static int input_open(struct mp_str input)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	for (size_t done = 0; fd >= 0 && done < input.len;) {
		ssize_t n = write(fd, input.p + done, input.len - done);

		if (n < 0 && errno != EINTR)
			mp_guard_close(&fd);
		else if (n > 0)
			done += (size_t)n;
	}
	if (fd >= 0 && lseek(fd, 0, SEEK_SET) < 0)
		mp_guard_close(&fd);
	return fd;
}

static void ends_close(struct mp_command_ends *e)
{
	mp_guard_close(&e->in);
	mp_guard_close(&e->out);
	mp_guard_close(&e->err);
	mp_guard_close(&e->folder);
}

static int ends_open(struct mp_command_ends *e, const struct mp_verb_run_options *o, int ours[2])
{
	int out[2], err[2];

	e->in = input_open(o->input);
	if (o->folder)
		e->folder = open(o->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (e->in < 0 || (o->folder && e->folder < 0) || pipe2(out, O_CLOEXEC) < 0)
		return -1;
	ours[0] = out[0];
	e->out = out[1];
	if (pipe2(err, O_CLOEXEC) < 0)
		return -1;
	ours[1] = err[0];
	e->err = err[1];
	return 0;
}

/* The watches take their descriptors. */
static int verb_run_watch(struct mp_verb_run *r, int ours[2])
{
	struct mp_loop *loop = r->o.loop;
	int handle = (int)syscall(SYS_pidfd_open, r->pid, 0);
	int first = mp_watch_new(loop, ours[0], out_readable, r, &r->out);
	int second = mp_watch_new(loop, ours[1], err_readable, r, &r->err);

	ours[0] = ours[1] = -1;
	if (handle < 0)
		return MCPOOL_ESYSTEM;
	if (mp_watch_new(loop, handle, verb_run_ended, r, &r->end) < 0 || first < 0 || second < 0)
		return MCPOOL_ESYSTEM;
	return 0;
}

int mp_verb_run_start(const struct mp_verb_run_options *o, struct mp_verb_run **ret_run,
		      struct mcpool_error *reterr)
{
	MP_CLEANUP(ends_close) struct mp_command_ends e = {-1, -1, -1, -1};
	int ours[2] = {-1, -1};
	struct mp_verb_run *r;

	if (ends_open(&e, o, ours) < 0) {
		mp_guard_close(&ours[0]);
		return mp_fail_errno(reterr, errno, "no command can be started");
	}
	r = mp_alloc(sizeof(*r));
	r->o = *o;
	mp_buf_init(&r->out_text, MP_LIMIT_VERB_OUTPUT);
	mp_buf_init(&r->err_text, ERR_BYTES + PIECE);
	mp_timer_init(&r->timer, o->loop, verb_run_is_late, r);
	r->pid = mp_command_fork(&e, o->argv, environ);
	if (r->pid < 0 || verb_run_watch(r, ours) < 0) {
		int errnum = errno;

		if (r->pid > 0)
			(void)verb_run_reap(r);
		verb_run_close(r);
		mp_guard_close(&ours[0]);
		mp_guard_close(&ours[1]);
		return mp_fail_errno(reterr, errnum, "no command can be started");
	}
	if (o->max_ms)
		mp_timer_start(&r->timer, o->max_ms);
	*ret_run = r;
	return 0;
}
