/*
 * stdio.c - a server process as a transport.
 * Three parts do the work: child.c the process, pipe.c the messages, tail.c its stderr. This file
 * decides when their news are news for the owner: what ended, and why.
 */
#include "process/stdio.h"

#include <stdio.h>
#include <sys/ioctl.h>

#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/mem.h"
#include "process/spec.h"
#include "process/tail.h"
#include "transport/pipe.h"

#define STDIO_STATES(X)                                                          \
	X(FRESH, "fresh", "not started")                                         \
	X(STARTING, "starting", "spawned; exec has not succeeded yet")           \
	X(OPEN, "open", "messages may flow")                                     \
	X(ENDING, "ending", "stdout ended; why is still to be heard")            \
	X(EMPTYING, "emptying", "the process ended; its last messages are read") \
	X(ENDED, "ended", "told; its tree may still be there")                   \
	X(CLOSING, "closing", "the owner hung up; its tree is taken down")       \
	X(CLOSED, "closed", "the last word was said")

#define STDIO_EVENTS(X)                                \
	X(START, "start", "spawned")                   \
	X(RAN, "ran", "exec succeeded")                \
	X(FAILED, "failed", "it never ran")            \
	X(EOS, "end of stdout", "or as good as that")  \
	X(EXITED, "exited", "the process ended")       \
	X(GONE, "gone", "nothing of its tree is left") \
	X(TIMER, "timer", "waited long enough")        \
	X(CLOSE, "close", "the owner hangs up")

MP_MACHINE_ENUM(stdio_state, STDIO_STATES);
MP_MACHINE_ENUM(stdio_event, STDIO_EVENTS);

enum {
	EXIT_WAIT_MS = 50, /* from the end of stdout to the news of an exit, or the reverse */
	MOST_WAITS = 20,   /* such waits while a descendant goes on writing */
};

struct stdio {
	struct mp_transport base;
	enum stdio_state state;
	struct mp_launcher *launcher;
	struct mp_spec spec;       /* a copy of the launch */
	char *log_file;            /* owned; NULL: none */
	struct mp_child *child;    /* owned; NULL before start */
	struct mp_transport *pipe; /* owned */
	struct mp_tail *tail;      /* owned */
	int out_fd;                /* the pipe's; to see whether it is empty */
	int waits;                 /* of EMPTYING */
	bool gone;                 /* nothing is left of the child */
	struct mcpool_error why;   /* it ended; or the launch could not be copied */
	struct mp_timer timer;
	struct mp_task gone_task; /* for a close() with nothing to wait for */
	struct mp_log log;
	struct mp_grave grave;
};

MP_MACHINE_TYPES(stdio, struct stdio, enum stdio_event, STDIO_STATES, STDIO_EVENTS);
static stdio_action open_pipe, read_on, await_exit, stdio_empty, tell_half_closed, tell_ended,
	stdio_stop, tell_closed;

MP_MACHINE_STEPS(stdio) = {
	[FRESH] = {[START] = MP_TO(STARTING, NULL), [CLOSE] = MP_TO(CLOSING, stdio_stop)},
	[STARTING] = {[RAN] = MP_TO(OPEN, open_pipe),
		      [FAILED] = MP_TO(ENDED, tell_ended),
		      [CLOSE] = MP_TO(CLOSING, stdio_stop)},
	[OPEN] = {[EOS] = MP_TO(ENDING, await_exit),
		  [EXITED] = MP_TO(EMPTYING, await_exit),
		  [CLOSE] = MP_TO(CLOSING, stdio_stop)},
	[ENDING] = {[EXITED] = MP_TO(ENDED, tell_ended),
		    [TIMER] = MP_TO(ENDED, tell_half_closed),
		    [CLOSE] = MP_TO(CLOSING, stdio_stop)},
	[EMPTYING] = {[EOS] = MP_TO(ENDED, tell_ended),
		      [TIMER] = MP_DO(stdio_empty),
		      [GONE] = MP_STAY,
		      [CLOSE] = MP_TO(CLOSING, stdio_stop)},
	[ENDED] = {[EOS] = MP_STAY,
		   [EXITED] = MP_STAY,
		   [GONE] = MP_STAY,
		   [CLOSE] = MP_TO(CLOSING, stdio_stop)},
	[CLOSING] = {[RAN] = MP_DO(read_on),
		     [FAILED] = MP_STAY,
		     [EOS] = MP_STAY,
		     [EXITED] = MP_STAY,
		     [GONE] = MP_TO(CLOSED, tell_closed),
		     [CLOSE] = MP_STAY},
	[CLOSED] = {[CLOSE] = MP_STAY},
};

static void stdio_describe(const struct stdio *s, struct mp_log *ret_log)
{
	*ret_log = s->log;
}

MP_MACHINE(stdio, struct stdio, .describe = stdio_describe)

static struct stdio *get_stdio(const struct mp_transport *t)
{
	return mp_container_of(t, struct stdio, base);
}

/* --- actions: a hook may free us, so it is called last ---------------------------------------- */

static enum stdio_event open_pipe(struct stdio *s)
{
	if (s->pipe->impl->start(s->pipe, &s->why) < 0)
		return EOS;
	if (s->base.hooks->opened)
		s->base.hooks->opened(s->base.u);
	return MP_QUIET;
}

/* Its messages are dropped, but its writes must not block. */
static enum stdio_event read_on(struct stdio *s)
{
	return s->pipe->impl->start(s->pipe, NULL) < 0 ? EOS : MP_QUIET;
}

/* Two ends, of stdout and of the process, which belong together and come in either order. */
static enum stdio_event await_exit(struct stdio *s)
{
	mp_timer_start(&s->timer, EXIT_WAIT_MS);
	return MP_QUIET;
}

/* A descendant may hold stdout open for long; what the server itself wrote is in the pipe. */
static enum stdio_event stdio_empty(struct stdio *s)
{
	int unread = 0;

	if (ioctl(s->out_fd, FIONREAD, &unread) < 0 || unread == 0 || s->waits++ >= MOST_WAITS)
		return EOS;
	return await_exit(s);
}

static enum stdio_event tell_half_closed(struct stdio *s)
{
	if (s->why.code == MCPOOL_ECLOSED)
		(void)mp_fail(&s->why, MCPOOL_ECLOSED, "closed its stdout but is still running");
	return tell_ended(s);
}

/* Its last words on stderr were written before it ended, so they are there. */
static enum stdio_event tell_ended(struct stdio *s)
{
	mp_timer_stop(&s->timer);
	mp_tail_drain(s->tail);
	if (s->base.hooks->ended)
		s->base.hooks->ended(s->base.u, &s->why);
	return MP_QUIET;
}

static enum stdio_event stdio_stop(struct stdio *s)
{
	mp_timer_stop(&s->timer);
	if (s->child && !s->gone)
		mp_child_stop(s->child);
	else
		mp_loop_post(mp_launcher_get_loop(s->launcher), &s->gone_task);
	return MP_QUIET;
}

static enum stdio_event tell_closed(struct stdio *s)
{
	if (s->tail)
		mp_tail_drain(s->tail);
	s->pipe = mp_transport_free(s->pipe);
	if (s->base.hooks->closed)
		s->base.hooks->closed(s->base.u);
	return MP_QUIET;
}

/* --- what the child tells ------------------------------------------------------------------- */

static void child_running(void *u, pid_t pid)
{
	(void)pid;
	stdio_advance(u, RAN);
}

static void child_failed(void *u, const struct mcpool_error *why)
{
	struct stdio *s = u;

	s->why = *why;
	stdio_advance(s, FAILED);
}

static void child_exited(void *u, int wait_status)
{
	struct stdio *s = u;
	char words[64];

	(void)mp_fail(&s->why, MCPOOL_ECLOSED, "%s",
		      mp_child_describe_exit(wait_status, words, sizeof(words)));
	if (s->base.hooks->exited)
		s->base.hooks->exited(s->base.u, mp_child_get_pid(s->child), words);
	stdio_advance(s, EXITED);
}

static void child_hang_up(void *u)
{
	struct stdio *s = u;

	mp_pipe_end_writing(s->pipe);
}

static void child_gone(void *u)
{
	struct stdio *s = u;

	s->gone = true;
	stdio_advance(s, GONE);
}

static const struct mp_child_hooks child_hooks = {
	.running = child_running,
	.failed = child_failed,
	.exited = child_exited,
	.hang_up = child_hang_up,
	.gone = child_gone,
};

/* --- what the pipe tells -------------------------------------------------------------------- */

static bool is_heard(const struct stdio *s)
{
	return s->state == OPEN || s->state == EMPTYING;
}

static void pipe_message(void *u, struct mp_str text)
{
	struct stdio *s = u;

	if (is_heard(s) && s->base.hooks->message)
		s->base.hooks->message(s->base.u, text);
}

static void pipe_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct stdio *s = u;

	if (is_heard(s) && s->base.hooks->oversize)
		s->base.hooks->oversize(s->base.u, head, tail);
}

static void pipe_written(void *u, uint64_t total)
{
	struct stdio *s = u;

	if (is_heard(s) && s->base.hooks->written)
		s->base.hooks->written(s->base.u, total);
}

static void pipe_ended(void *u, const struct mcpool_error *why)
{
	struct stdio *s = u;

	if (s->state == OPEN)
		s->why = *why; /* the exit, if it is heard of, says more */
	stdio_advance(s, EOS);
}

static const struct mp_transport_hooks pipe_hooks = {
	.message = pipe_message,
	.oversize = pipe_oversize,
	.written = pipe_written,
	.ended = pipe_ended,
};

/* --- as a transport ------------------------------------------------------------------------- */

static void stdio_ring(void *u)
{
	stdio_advance(u, TIMER);
}

static int stdio_start(struct mp_transport *t, struct mcpool_error *reterr)
{
	struct stdio *s = get_stdio(t);
	struct mp_loop *loop = mp_launcher_get_loop(s->launcher);
	int fds[3], r;

	if (s->why.code < 0) {
		if (reterr)
			*reterr = s->why;
		return s->why.code;
	}
	r = mp_child_spawn(s->launcher, &s->spec.launch, &child_hooks, s, &s->child, fds, reterr);
	if (r < 0)
		return r;
	s->out_fd = fds[1];
	s->pipe = mp_pipe_new(loop, fds[1], fds[0]);
	s->pipe->hooks = &pipe_hooks;
	s->pipe->u = s;
	s->tail = mp_tail_new(loop, fds[2], s->log_file);
	stdio_advance(s, START);
	return 0;
}

static int send_message(struct mp_transport *t, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct stdio *s = get_stdio(t);

	return s->state == OPEN ? s->pipe->impl->send(s->pipe, o, ret_at) : MCPOOL_ECLOSED;
}

static void close_transport(struct mp_transport *t)
{
	stdio_advance(get_stdio(t), CLOSE);
}

static int get_tail(struct mp_transport *t, size_t lines, struct mp_buf *out)
{
	struct stdio *s = get_stdio(t);

	return s->tail ? mp_tail_get(s->tail, lines, out) : 0;
}

static void free_stdio(struct mp_grave *grave)
{
	struct stdio *s = mp_container_of(grave, struct stdio, grave);

	mp_spec_done(&s->spec);
	mp_free(s->log_file);
	mp_free(s);
}

static void free_transport(struct mp_transport *t)
{
	struct stdio *s = get_stdio(t);
	struct mp_loop *loop = mp_launcher_get_loop(s->launcher);

	mp_timer_stop(&s->timer);
	mp_loop_unpost(loop, &s->gone_task);
	s->child = mp_child_free(s->child);
	s->pipe = mp_transport_free(s->pipe);
	s->tail = mp_tail_free(s->tail);
	mp_loop_bury(loop, &s->grave, free_stdio);
}

static const struct mp_transport_impl impl = {
	.name = "stdio",
	.start = stdio_start,
	.send = send_message,
	.close = close_transport,
	.destroy = free_transport,
	.get_tail = get_tail,
	.get_pid = mp_stdio_get_pid,
};

static int copy_launch(struct stdio *s, const struct mp_launch *launch)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	int r;

	mp_buf_init(&bytes, MP_SPEC_MAX);
	r = mp_spec_encode(launch, &bytes, &s->why);
	if (r == 0)
		r = mp_spec_decode(mp_buf_get(&bytes), &s->spec);
	return r < 0 && s->why.code == 0 ? mp_fail(&s->why, r, "no copy of the launch") : r;
}

struct mp_transport *mp_stdio_new(struct mp_launcher *l, const struct mp_launch *launch,
				  const char *log_file)
{
	struct stdio *s = mp_alloc(sizeof(*s));

	s->base.impl = &impl;
	s->state = FRESH;
	s->launcher = l;
	if (log_file) {
		s->log_file = mp_alloc(strlen(log_file) + 1);
		memcpy(s->log_file, log_file, strlen(log_file) + 1);
	}
	mp_timer_init(&s->timer, mp_launcher_get_loop(l), stdio_ring, s);
	mp_task_init(&s->gone_task, child_gone, s);
	mp_log_init(&s->log, "stdio '%s'", launch->argv[0] ? launch->argv[0] : "");
	(void)copy_launch(s, launch); /* start() tells */
	return &s->base;
}

pid_t mp_stdio_get_pid(const struct mp_transport *t)
{
	const struct stdio *s = get_stdio(t);

	return s->child ? mp_child_get_pid(s->child) : 0;
}
