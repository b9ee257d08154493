/*
 * cord.c - lines over a connected socket.
 * All of them read into one buffer: whole lines are handed out where they lie, and only the
 * beginning of one that is not complete is kept.
 */
#include "face/cord.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/write_queue.h"
#include "transport/lines.h"

static const struct mp_write_queue_options queue_options = {
	.write = mp_write_queue_to_socket,
	/* A peer for which more waits is cut off: two messages of the largest size. */
	.ceiling = 2 * MP_LIMIT_MESSAGE + MP_MIB(1),
	.keep = MP_KIB(4),
	.high = MP_MIB(1),
	.low = MP_KIB(256),
};

static _Thread_local char scratch[MP_LINES_READ];

/* libuv's handle lives until libuv lets go of it, maybe longer than the cord. */
struct eye {
	uv_poll_t poll;
	struct mp_cord *cord; /* NULL: gone */
};

struct mp_cord {
	struct mp_loop *loop;
	struct eye *eye;
	int watched; /* UV_READABLE, UV_WRITABLE */
	const struct mp_cord_hooks *hooks;
	void *u;
	struct mp_lines lines; /* what is not complete */
	struct mp_write_queue queue;
	bool is_hushed, is_finishing, is_over;
	int why;
	struct mp_task flush_task, ended_task;
	struct mp_task resume_task; /* what was read before it was hushed */
	struct mp_grave grave;
};

/* --- watching -------------------------------------------------------------------------------- */

static void happened(uv_poll_t *poll, int status, int events);

static void watch(struct mp_cord *w)
{
	int wanted = 0;

	if (!w->is_over) {
		bool reads = !w->is_hushed && !w->queue.is_full && !w->is_finishing;
		bool waits = mp_write_queue_get_waiting(&w->queue) > 0;

		wanted = (reads ? UV_READABLE : 0) | (waits ? UV_WRITABLE : 0);
	}
	if (wanted == w->watched)
		return;
	w->watched = wanted;
	if (wanted)
		uv_poll_start(&w->eye->poll, wanted, happened);
	else
		uv_poll_stop(&w->eye->poll);
}

static void tell_ended(void *u)
{
	struct mp_cord *w = u;

	w->hooks->ended(w->u, w->why);
}

static void end(struct mp_cord *w, int why)
{
	if (w->is_over)
		return;
	w->is_over = true;
	w->why = why;
	mp_loop_unpost(w->loop, &w->flush_task);
	mp_write_queue_done(&w->queue);
	watch(w);
	mp_loop_post(w->loop, &w->ended_task);
}

/* --- writing --------------------------------------------------------------------------------- */

static void flush(void *u)
{
	struct mp_cord *w = u;

	if (w->is_over)
		return;
	if (mp_write_queue_flush(&w->queue) < 0)
		end(w, MCPOOL_ECLOSED);
	else if (w->is_finishing && mp_write_queue_get_waiting(&w->queue) == 0)
		end(w, MCPOOL_ECLOSED);
	else
		watch(w);
}

void mp_cord_say(struct mp_cord *w, struct mp_str text)
{
	int r;

	if (w->is_over || w->is_finishing)
		return;
	r = mp_lines_write(&w->queue.buf, text);
	if (r < 0) {
		end(w, r);
		return;
	}
	if (!mp_list_linked(&w->flush_task.link))
		mp_loop_post(w->loop, &w->flush_task);
}

size_t mp_cord_get_queued(const struct mp_cord *w)
{
	return mp_write_queue_get_waiting(&w->queue);
}

/* --- reading --------------------------------------------------------------------------------- */

static bool may_tell(const struct mp_cord *w)
{
	return !w->is_over && !w->is_finishing && !w->is_hushed;
}

static void tell_line(struct mp_cord *w, const struct mp_line *line)
{
	if (line->oversize)
		w->hooks->oversize(w->u, line->text, line->tail);
	else
		w->hooks->line(w->u, line->text);
}

/* The rest of a line that began in an earlier read, and what is behind it. */
static int join(struct mp_cord *w, const char *p, size_t n)
{
	struct mp_line line;
	size_t size;
	char *room;
	int r = mp_lines_reserve(&w->lines, &room, &size);

	if (r < 0)
		return r;
	memcpy(room, p, n);
	mp_lines_commit(&w->lines, n);
	while (may_tell(w) && mp_lines_next(&w->lines, false, &line))
		tell_line(w, &line);
	return 0;
}

static void forget_kept(struct mp_cord *w);

static void resume(void *u)
{
	struct mp_cord *w = u;
	struct mp_line line;

	while (may_tell(w) && mp_lines_next(&w->lines, false, &line))
		tell_line(w, &line);
	forget_kept(w);
}

static bool is_kept(const struct mp_cord *w)
{
	return w->lines.skipping || w->lines.in.len > w->lines.at;
}

static void forget_kept(struct mp_cord *w)
{
	size_t max = w->lines.max;

	if (is_kept(w) || !w->lines.in.data)
		return;
	mp_lines_done(&w->lines);
	mp_lines_init(&w->lines, max);
}

/* Whole lines where they lie; what is behind the last newline is kept. */
static int hand_out(struct mp_cord *w, const char *p, size_t n)
{
	while (n > 0 && !is_kept(w) && may_tell(w)) {
		const char *newline = memchr(p, '\n', n);
		struct mp_str text = {p, newline ? (size_t)(newline - p) : n};

		if (!newline || text.len > w->lines.max)
			break;
		p += text.len + 1;
		n -= text.len + 1;
		if (text.len && text.p[text.len - 1] == '\r')
			text.len--;
		if (text.len)
			w->hooks->line(w->u, text);
	}
	return n > 0 && !w->is_over && !w->is_finishing ? join(w, p, n) : 0;
}

static void read_some(struct mp_cord *w)
{
	ssize_t n = recv(w->queue.fd, scratch, sizeof(scratch), MSG_DONTWAIT);
	int r;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) { /* half a line is none: whoever wrote it did not mean it yet */
		end(w, MCPOOL_ECLOSED);
		return;
	}
	r = hand_out(w, scratch, (size_t)n);
	if (r < 0)
		end(w, r);
	forget_kept(w);
}

static void happened(uv_poll_t *poll, int status, int events)
{
	struct mp_cord *w = mp_container_of(poll, struct eye, poll)->cord;

	if (!w)
		return;
	if (events & UV_WRITABLE)
		flush(w);
	if (status < 0 || events & UV_READABLE)
		read_some(w); /* meets the error itself; buried cords are still there */
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_cord *mp_cord_new(struct mp_loop *loop, int fd, size_t limit,
			    const struct mp_cord_hooks *hooks, void *u)
{
	struct mp_cord *w = mp_alloc(sizeof(*w));

	w->loop = loop;
	w->hooks = hooks;
	w->u = u;
	mp_lines_init(&w->lines, limit);
	mp_write_queue_init(&w->queue, fd, &queue_options);
	mp_task_init(&w->flush_task, flush, w);
	mp_task_init(&w->ended_task, tell_ended, w);
	mp_task_init(&w->resume_task, resume, w);
	w->eye = mp_alloc(sizeof(*w->eye));
	w->eye->cord = w;
	mp_check(uv_poll_init(mp_loop_get_uv(loop), &w->eye->poll, fd) == 0);
	watch(w);
	return w;
}

void mp_cord_set_limit(struct mp_cord *w, size_t limit)
{
	w->lines.max = limit;
	w->lines.in.ceiling = limit + 2 + MP_LINES_READ;
}

void mp_cord_hush(struct mp_cord *w, bool hush)
{
	w->is_hushed = hush;
	if (!hush && !w->is_over && !mp_list_linked(&w->resume_task.link))
		mp_loop_post(w->loop, &w->resume_task);
	watch(w);
}

void mp_cord_finish(struct mp_cord *w)
{
	w->is_finishing = true;
	if (!mp_list_linked(&w->flush_task.link) && !w->is_over)
		mp_loop_post(w->loop, &w->flush_task);
	watch(w);
}

static void eye_closed(uv_handle_t *h)
{
	mp_free(mp_container_of((uv_poll_t *)h, struct eye, poll));
}

static void freed(struct mp_grave *grave)
{
	struct mp_cord *w = mp_container_of(grave, struct mp_cord, grave);

	mp_lines_done(&w->lines);
	mp_write_queue_done(&w->queue);
	mp_free(w);
}

struct mp_cord *mp_cord_free(struct mp_cord *w)
{
	if (!w)
		return NULL;
	w->is_over = true;
	w->eye->cord = NULL;
	mp_loop_unpost(w->loop, &w->flush_task);
	mp_loop_unpost(w->loop, &w->ended_task);
	mp_loop_unpost(w->loop, &w->resume_task);
	uv_close((uv_handle_t *)&w->eye->poll, eye_closed);
	close(w->queue.fd);
	mp_loop_bury(w->loop, &w->grave, freed); /* it may be handing out a line now */
	return NULL;
}
