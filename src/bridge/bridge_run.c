/*
 * bridge_run.c - runs a bridge on stdin, stdout and the hub's socket with a plain poll() loop.
 * Lines are written from the read buffer; only what the other side does not accept is copied.
 */
#include "bridge/bridge_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/write_queue.h"
#include "hub/background.h"
#include "transport/lines.h"

#define LAST_MS 1000 /* at the end: time to write what is queued */

static const struct mp_write_queue_options queue_options = {
	.write = mp_write_queue_to_fd,
	.ceiling = 4 * MP_LIMIT_MESSAGE,
	.keep = SIZE_MAX,
	.high = MP_MIB(1), /* above this the other side is not read */
	.low = MP_MIB(1),
	.keeps_lines = true, /* a partly written line is sent whole to the next hub */
};

struct io {
	const struct mp_bridge_run_options *o;
	struct mp_bridge *bridge;
	struct mp_lines from_agent, from_hub;
	struct mp_write_queue to_agent, to_hub; /* fd -1: not connected */
	int hub;                                /* socket, or -1 */
	unsigned generation;                    /* counts hub connections */
	int ready;                              /* pipe of a hub being started, or -1 */
	int64_t due_ms;                         /* -1: no timer */
	bool is_over;
};

static volatile sig_atomic_t signal_received;

static void signal_note(int number)
{
	signal_received = number;
}

static int64_t now_ms(void *u)
{
	struct timespec t;

	(void)u;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- writing --------------------------------------------------------------------------------- */

/* A failed write is noticed when that side is read. */
static void queue_flush(struct mp_write_queue *q)
{
	if (q->fd >= 0)
		(void)!mp_write_queue_flush(q);
}

/* Write whole lines. */
static void queue_put(struct mp_write_queue *q, const char *p, size_t n)
{
	struct mp_str lines = {p, n};
	int r;

	if (q->fd < 0 || n == 0)
		return;
	r = mp_write_queue_write(q, &lines, 1);
	if (r == MCPOOL_ECLOSED)
		r = mp_buf_add_str(&q->buf, lines); /* for the next hub */
	if (r < 0)
		q->fd = -1; /* the queue is full: the peer does not read */
}

static void queue_put_line(struct mp_write_queue *q, struct mp_str line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, (size_t)2 * MP_LIMIT_MESSAGE);
	if (mp_lines_write(&text, line) == 0)
		queue_put(q, text.data, text.len);
}

/* --- hooks of the bridge --------------------------------------------------------------------- */

static void hub_close(struct io *io)
{
	if (io->hub < 0)
		return;
	close(io->hub);
	io->hub = -1;
	io->generation++;
	mp_write_queue_done(&io->to_hub);
	mp_write_queue_init(&io->to_hub, -1, &queue_options);
	mp_lines_done(&io->from_hub);
	mp_lines_init(&io->from_hub, (size_t)2 * MP_LIMIT_MESSAGE);
}

static int hub_connect(void *u, struct mcpool_error *reterr)
{
	struct io *io = u;
	int fd = mp_hub_place_connect(io->o->place, reterr);

	if (fd < 0)
		return fd;
	io->hub = fd;
	mp_write_queue_init(&io->to_hub, fd, &queue_options);
	return 0;
}

static int hub_start(void *u, struct mcpool_error *reterr)
{
	struct io *io = u;

	if (io->ready >= 0)
		close(io->ready);
	io->ready = -1;
	return mp_background_start(io->o->place, io->o->log, NULL, &io->ready, reterr);
}

static void bridge_run_disconnect(void *u)
{
	hub_close(u);
}

static void send_hub(void *u, struct mp_str line)
{
	struct io *io = u;

	queue_put_line(&io->to_hub, line);
}

static void send_hub_lines(void *u, struct mp_str lines)
{
	struct io *io = u;

	queue_put(&io->to_hub, lines.p, lines.len);
}

static void send_agent(void *u, struct mp_str line)
{
	struct io *io = u;

	queue_put_line(&io->to_agent, line);
}

static void set_timer(void *u, int64_t ms)
{
	struct io *io = u;

	io->due_ms = ms < 0 ? -1 : now_ms(io) + ms;
}

static void leave(void *u)
{
	struct io *io = u;

	io->is_over = true;
}

static const struct mp_bridge_hooks hooks = {
	.connect = hub_connect,
	.start_hub = hub_start,
	.disconnect = bridge_run_disconnect,
	.send_hub = send_hub,
	.send_hub_lines = send_hub_lines,
	.send_agent = send_agent,
	.set_timer = set_timer,
	.now_ms = now_ms,
	.leave = leave,
};

/* --- reading --------------------------------------------------------------------------------- */

/* Adjacent lines to forward unchanged. */
struct range {
	const char *p;
	size_t n;
};

static size_t line_get_size(const struct mp_line *line)
{
	return line->text.len + (line->text.p[line->text.len] == '\r' ? 2 : 1);
}

static void range_write(struct mp_write_queue *q, struct range *r)
{
	queue_put(q, r->p, r->n);
	*r = (struct range){NULL, 0};
}

static void range_extend(struct mp_write_queue *q, struct range *r, const struct mp_line *line)
{
	if (r->p + r->n != line->text.p)
		range_write(q, r);
	if (!r->p)
		r->p = line->text.p;
	r->n += line_get_size(line);
}

/* Messages of the bridge itself follow the lines read before them. */
static void agent_read_line(struct io *io, const struct mp_line *line, struct range *r)
{
	enum mp_bridge_state before = mp_bridge_get_state(io->bridge);

	if (before != MP_BRIDGE_OPEN && before != MP_BRIDGE_DRAINING)
		range_write(&io->to_hub, r);
	if (line->oversize) {
		range_write(&io->to_hub, r);
		mp_bridge_refuse_oversize(io->bridge, line->text, line->tail);
	} else if (mp_bridge_from_agent(io->bridge, line->text, line_get_size(line)) ==
		   MP_BRIDGE_FORWARD) {
		range_extend(&io->to_hub, r, line);
	}
}

static bool lines_read(struct mp_lines *l, int fd, ssize_t *ret_n)
{
	size_t size;
	char *room;

	if (mp_lines_reserve(l, &room, &size) < 0) {
		*ret_n = 0;
		return true;
	}
	*ret_n = read(fd, room, size);
	if (*ret_n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (*ret_n > 0)
		mp_lines_commit(l, (size_t)*ret_n);
	return true;
}

static void agent_read(struct io *io)
{
	struct range r = {NULL, 0};
	struct mp_line line;
	ssize_t n;

	if (!lines_read(&io->from_agent, STDIN_FILENO, &n))
		return;
	if (n <= 0) {
		mp_bridge_agent_gone(io->bridge);
		return;
	}
	while (!io->is_over && mp_lines_next(&io->from_agent, false, &line))
		agent_read_line(io, &line, &r);
	range_write(&io->to_hub, &r);
}

static void hub_lost(struct io *io)
{
	struct mp_write_queue lost = io->to_hub;
	uint64_t at;
	struct mp_str rest = mp_write_queue_get_unfinished(&lost, &at);

	mp_write_queue_init(&io->to_hub, -1, &queue_options);
	hub_close(io);
	mp_bridge_lost(io->bridge, lost.written, rest, at);
	mp_write_queue_done(&lost);
}

static void hub_read(struct io *io)
{
	unsigned generation = io->generation;
	struct range r = {NULL, 0};
	struct mp_line line;
	ssize_t n;

	if (!lines_read(&io->from_hub, io->hub, &n))
		return;
	if (n <= 0) {
		hub_lost(io);
		return;
	}
	while (generation == io->generation && mp_lines_next(&io->from_hub, false, &line)) {
		if (mp_bridge_get_state(io->bridge) != MP_BRIDGE_OPEN)
			range_write(&io->to_agent, &r); /* messages of the bridge follow */
		if (!line.oversize &&
		    mp_bridge_from_hub(io->bridge, line.text) == MP_BRIDGE_FORWARD)
			range_extend(&io->to_agent, &r, &line);
		else if (generation == io->generation)
			range_write(&io->to_agent, &r);
	}
	range_write(&io->to_agent, &r);
}

/* --- the loop -------------------------------------------------------------------------------- */

enum { AGENT, HUB, ANSWERS, READY, PLACES };

/* poll() ignores an fd of -1. */
static void poll_fill(const struct io *io, struct pollfd *fds)
{
	bool may_read = mp_bridge_wants_more(io->bridge) && !io->to_hub.is_full;
	bool may_hear = !io->to_agent.is_full;

	fds[AGENT] = (struct pollfd){.fd = STDIN_FILENO, .events = may_read ? POLLIN : 0};
	fds[HUB] = (struct pollfd){.fd = io->hub, .events = may_hear ? POLLIN : 0};
	if (mp_write_queue_get_waiting(&io->to_hub) > 0)
		fds[HUB].events |= POLLOUT;
	fds[ANSWERS] = (struct pollfd){
		.fd = mp_write_queue_get_waiting(&io->to_agent) > 0 ? io->to_agent.fd : -1,
		.events = POLLOUT};
	fds[READY] = (struct pollfd){.fd = io->ready, .events = POLLIN};
}

static void hub_ready(struct io *io)
{
	close(io->ready); /* the hub listens or has ended; find out which */
	io->ready = -1;
	mp_bridge_hub_ready(io->bridge);
}

static void poll_handle(struct io *io, const struct pollfd *fds)
{
	if (fds[ANSWERS].revents & (POLLERR | POLLHUP | POLLNVAL))
		io->to_agent.fd = -1; /* the agent no longer reads */
	else if (fds[ANSWERS].revents)
		queue_flush(&io->to_agent);
	if (fds[HUB].revents & POLLOUT)
		queue_flush(&io->to_hub);
	if (fds[HUB].revents & ~POLLOUT && io->hub == fds[HUB].fd)
		hub_read(io);
	if (fds[READY].revents && io->ready == fds[READY].fd)
		hub_ready(io);
	if (fds[AGENT].revents && !io->is_over)
		agent_read(io);
	if (io->to_agent.fd < 0)
		mp_bridge_agent_gone(io->bridge);
}

static void poll_once(struct io *io, const sigset_t *mask)
{
	struct pollfd fds[PLACES];
	struct timespec wait, *limit = NULL;
	int64_t left;

	poll_fill(io, fds);
	if (io->due_ms >= 0) {
		left = io->due_ms - now_ms(io);
		left = left < 0 ? 0 : left;
		wait = (struct timespec){left / 1000, left % 1000 * 1000000};
		limit = &wait;
	}
	if (ppoll(fds, PLACES, limit, mask) > 0)
		poll_handle(io, fds);
	if (io->due_ms >= 0 && now_ms(io) >= io->due_ms) {
		io->due_ms = -1;
		mp_bridge_timer(io->bridge);
	}
	if (signal_received)
		mp_bridge_agent_gone(io->bridge);
}

/* Signals are delivered only inside ppoll(). */
static void signals_watch(sigset_t *ret_mask)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
	struct sigaction act = {.sa_handler = signal_note};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < MP_ARRAY_LEN(numbers); i++) {
		sigaddset(&blocked, numbers[i]);
		sigaction(numbers[i], &act, NULL);
	}
	(void)signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &blocked, ret_mask);
	for (size_t i = 0; i < MP_ARRAY_LEN(numbers); i++)
		sigdelset(ret_mask, numbers[i]);
}

/* Write what is queued, for at most LAST_MS. */
static void io_finish(struct io *io)
{
	int64_t until = now_ms(io) + LAST_MS;

	while ((mp_write_queue_get_waiting(&io->to_agent) > 0 ||
		mp_write_queue_get_waiting(&io->to_hub) > 0) &&
	       now_ms(io) < until) {
		struct pollfd fds[2] = {
			{.fd = mp_write_queue_get_waiting(&io->to_agent) > 0 ? io->to_agent.fd : -1,
			 .events = POLLOUT},
			{.fd = mp_write_queue_get_waiting(&io->to_hub) > 0 ? io->hub : -1,
			 .events = POLLOUT}};

		if (poll(fds, 2, (int)(until - now_ms(io))) <= 0 ||
		    (fds[0].revents | fds[1].revents) & (POLLERR | POLLHUP | POLLNVAL))
			break;
		queue_flush(&io->to_agent);
		queue_flush(&io->to_hub);
	}
	hub_close(io);
	if (io->ready >= 0)
		close(io->ready);
}

void mp_bridge_run(const struct mp_bridge_run_options *o)
{
	struct io io = {.o = o, .hub = -1, .ready = -1, .due_ms = -1};
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	sigset_t mask;

	mp_lines_init(&io.from_agent, MP_LIMIT_MESSAGE);
	mp_lines_init(&io.from_hub, (size_t)2 * MP_LIMIT_MESSAGE);
	mp_write_queue_init(&io.to_agent, STDOUT_FILENO, &queue_options);
	mp_write_queue_init(&io.to_hub, -1, &queue_options);
	signals_watch(&mask);
	if (flags >= 0)
		(void)fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
	io.bridge = mp_bridge_new(&o->options, &hooks, &io);
	mp_bridge_start(io.bridge);
	while (!io.is_over)
		poll_once(&io, &mask);
	io_finish(&io);
	if (flags >= 0)
		(void)fcntl(STDOUT_FILENO, F_SETFL, flags); /* other processes may share it */
	mp_bridge_free(io.bridge);
	mp_lines_done(&io.from_agent);
	mp_lines_done(&io.from_hub);
	mp_write_queue_done(&io.to_agent);
	mp_write_queue_done(&io.to_hub);
}
