/*
 * bridge_io.c - a bridge with its descriptors.
 * A plain poll(): there are four of them at most, and every message crosses here twice. What is
 * read is written where it lies; only what the other side does not take is copied.
 */
#include "cli/bridge_io.h"

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
#include "cli/background.h"
#include "cli/cli.h"
#include "transport/lines.h"

#define LAST_MS 1000 /* for what is queued when we leave */

static const struct mp_write_queue_options queue_options = {
	.write = mp_write_queue_to_fd,
	.ceiling = 4 * MP_LIMIT_MESSAGE,
	.keep = SIZE_MAX,
	.high = MP_MIB(1), /* over this the other side is not read from */
	.low = MP_MIB(1),
	.keeps_lines = true, /* the next hub gets the line whole that was cut off */
};

struct io {
	const struct mp_bridge_way *way;
	struct mp_bridge *bridge;
	struct mp_lines from_agent, from_hub;
	struct mp_write_queue to_agent, to_hub; /* fd -1: there is no such side */
	int hub;                                /* -1: none */
	unsigned generation;                    /* of the hub */
	int ready;                              /* of one that was started; -1 */
	int64_t due_ms;                         /* -1: no timer */
	bool is_over;
};

static volatile sig_atomic_t told_to_go;

static void go(int number)
{
	told_to_go = number;
}

static int64_t now_ms(void *u)
{
	struct timespec t;

	(void)u;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- out ------------------------------------------------------------------------------------- */

/* A write that fails is met again when that side is read from. */
static void flush(struct mp_write_queue *q)
{
	if (q->fd >= 0)
		(void)!mp_write_queue_flush(q);
}

/* Whole lines. */
static void put(struct mp_write_queue *q, const char *p, size_t n)
{
	struct mp_str lines = {p, n};
	int r;

	if (q->fd < 0 || n == 0)
		return;
	r = mp_write_queue_write(q, &lines, 1);
	if (r == MCPOOL_ECLOSED)
		r = mp_buf_add_str(&q->buf, lines); /* the next hub gets them */
	if (r < 0)
		q->fd = -1; /* it never reads: as good as gone */
}

static void put_line(struct mp_write_queue *q, struct mp_str line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, (size_t)2 * MP_LIMIT_MESSAGE);
	if (mp_lines_write(&text, line) == 0)
		put(q, text.data, text.len);
}

/* --- what the bridge wants ------------------------------------------------------------------- */

static void forget_hub(struct io *io)
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

static int connect_hub(void *u, struct mcpool_error *reterr)
{
	struct io *io = u;
	int fd = mp_hub_place_connect(io->way->place, reterr);

	if (fd < 0)
		return fd;
	io->hub = fd;
	mp_write_queue_init(&io->to_hub, fd, &queue_options);
	return 0;
}

static int start_hub(void *u, struct mcpool_error *reterr)
{
	struct io *io = u;

	if (io->ready >= 0)
		close(io->ready);
	io->ready = -1;
	return mp_background_start(io->way->place, io->way->log, NULL, &io->ready, reterr);
}

static void hang_up(void *u)
{
	forget_hub(u);
}

static void say_hub(void *u, struct mp_str line)
{
	struct io *io = u;

	put_line(&io->to_hub, line);
}

static void pour_to_hub(void *u, struct mp_str lines)
{
	struct io *io = u;

	put(&io->to_hub, lines.p, lines.len);
}

static void say_agent(void *u, struct mp_str line)
{
	struct io *io = u;

	put_line(&io->to_agent, line);
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
	.connect = connect_hub,
	.start_hub = start_hub,
	.hang_up = hang_up,
	.say_hub = say_hub,
	.pour_to_hub = pour_to_hub,
	.say_agent = say_agent,
	.set_timer = set_timer,
	.now_ms = now_ms,
	.leave = leave,
};

/* --- in -------------------------------------------------------------------------------------- */

/* Lines that go on as they are, side by side. */
struct range {
	const char *p;
	size_t n;
};

static size_t size_of(const struct mp_line *line)
{
	return line->text.len + (line->text.p[line->text.len] == '\r' ? 2 : 1);
}

static void pass(struct mp_write_queue *q, struct range *r)
{
	put(q, r->p, r->n);
	*r = (struct range){NULL, 0};
}

static void extend(struct mp_write_queue *q, struct range *r, const struct mp_line *line)
{
	if (r->p + r->n != line->text.p)
		pass(q, r);
	if (!r->p)
		r->p = line->text.p;
	r->n += size_of(line);
}

/* What the bridge says itself stands behind the lines before it. */
static void read_agent_line(struct io *io, const struct mp_line *line, struct range *r)
{
	enum mp_bridge_state before = mp_bridge_get_state(io->bridge);

	if (before != MP_BRIDGE_OPEN && before != MP_BRIDGE_DRAINING)
		pass(&io->to_hub, r);
	if (line->oversize) {
		pass(&io->to_hub, r);
		mp_bridge_refuse_oversize(io->bridge, line->text, line->tail);
	} else if (mp_bridge_from_agent(io->bridge, line->text, size_of(line)) == MP_BRIDGE_PASS) {
		extend(&io->to_hub, r, line);
	}
}

static bool read_into(struct mp_lines *l, int fd, ssize_t *ret_n)
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

static void read_agent(struct io *io)
{
	struct range r = {NULL, 0};
	struct mp_line line;
	ssize_t n;

	if (!read_into(&io->from_agent, STDIN_FILENO, &n))
		return;
	if (n <= 0) {
		mp_bridge_agent_gone(io->bridge);
		return;
	}
	while (!io->is_over && mp_lines_next(&io->from_agent, false, &line))
		read_agent_line(io, &line, &r);
	pass(&io->to_hub, &r);
}

static void lose_hub(struct io *io)
{
	struct mp_write_queue lost = io->to_hub;
	uint64_t at;
	struct mp_str rest = mp_write_queue_get_unfinished(&lost, &at);

	mp_write_queue_init(&io->to_hub, -1, &queue_options);
	forget_hub(io);
	mp_bridge_lost(io->bridge, lost.written, rest, at);
	mp_write_queue_done(&lost);
}

static void read_hub(struct io *io)
{
	unsigned generation = io->generation;
	struct range r = {NULL, 0};
	struct mp_line line;
	ssize_t n;

	if (!read_into(&io->from_hub, io->hub, &n))
		return;
	if (n <= 0) {
		lose_hub(io);
		return;
	}
	while (generation == io->generation && mp_lines_next(&io->from_hub, false, &line)) {
		if (mp_bridge_get_state(io->bridge) != MP_BRIDGE_OPEN)
			pass(&io->to_agent, &r); /* what we say ourselves comes behind it */
		if (!line.oversize && mp_bridge_from_hub(io->bridge, line.text) == MP_BRIDGE_PASS)
			extend(&io->to_agent, &r, &line);
		else if (generation == io->generation)
			pass(&io->to_agent, &r);
	}
	pass(&io->to_agent, &r);
}

/* --- the loop -------------------------------------------------------------------------------- */

enum { AGENT, HUB, ANSWERS, READY, PLACES };

/* A place without a descriptor is one that poll() leaves alone. */
static void fill(const struct io *io, struct pollfd *fds)
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

static void hear_ready(struct io *io)
{
	close(io->ready); /* it listens, or is over; either way it is time to look */
	io->ready = -1;
	mp_bridge_is_ready(io->bridge);
}

static void serve(struct io *io, const struct pollfd *fds)
{
	if (fds[ANSWERS].revents & (POLLERR | POLLHUP | POLLNVAL))
		io->to_agent.fd =
			-1; /* the agent does not read any more, whatever it may still write */
	else if (fds[ANSWERS].revents)
		flush(&io->to_agent);
	if (fds[HUB].revents & POLLOUT)
		flush(&io->to_hub);
	if (fds[HUB].revents & ~POLLOUT && io->hub == fds[HUB].fd)
		read_hub(io);
	if (fds[READY].revents && io->ready == fds[READY].fd)
		hear_ready(io);
	if (fds[AGENT].revents && !io->is_over)
		read_agent(io);
	if (io->to_agent.fd < 0)
		mp_bridge_agent_gone(io->bridge);
}

static void wait_once(struct io *io, const sigset_t *mask)
{
	struct pollfd fds[PLACES];
	struct timespec wait, *limit = NULL;
	int64_t left;

	fill(io, fds);
	if (io->due_ms >= 0) {
		left = io->due_ms - now_ms(io);
		left = left < 0 ? 0 : left;
		wait = (struct timespec){left / 1000, left % 1000 * 1000000};
		limit = &wait;
	}
	if (ppoll(fds, PLACES, limit, mask) > 0)
		serve(io, fds);
	if (io->due_ms >= 0 && now_ms(io) >= io->due_ms) {
		io->due_ms = -1;
		mp_bridge_timer(io->bridge);
	}
	if (told_to_go)
		mp_bridge_agent_gone(io->bridge);
}

/* Signals come while we wait, and at no other time. */
static void watch_signals(sigset_t *ret_mask)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
	struct sigaction act = {.sa_handler = go};
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

/* What is queued goes out, if there is anybody to take it. */
static void finish(struct io *io)
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
		flush(&io->to_agent);
		flush(&io->to_hub);
	}
	forget_hub(io);
	if (io->ready >= 0)
		close(io->ready);
}

int mp_bridge_run(const struct mp_bridge_way *way)
{
	struct io io = {.way = way, .hub = -1, .ready = -1, .due_ms = -1};
	int flags = fcntl(STDOUT_FILENO, F_GETFL);
	sigset_t mask;

	mp_lines_init(&io.from_agent, MP_LIMIT_MESSAGE);
	mp_lines_init(&io.from_hub, (size_t)2 * MP_LIMIT_MESSAGE);
	mp_write_queue_init(&io.to_agent, STDOUT_FILENO, &queue_options);
	mp_write_queue_init(&io.to_hub, -1, &queue_options);
	watch_signals(&mask);
	if (flags >= 0)
		(void)fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
	io.bridge = mp_bridge_new(&way->options, &hooks, &io);
	mp_bridge_begin(io.bridge);
	while (!io.is_over)
		wait_once(&io, &mask);
	finish(&io);
	if (flags >= 0)
		(void)fcntl(STDOUT_FILENO, F_SETFL, flags); /* others may share it */
	mp_bridge_free(io.bridge);
	mp_lines_done(&io.from_agent);
	mp_lines_done(&io.from_hub);
	mp_write_queue_done(&io.to_agent);
	mp_write_queue_done(&io.to_hub);
	return MP_EXIT_DONE;
}
