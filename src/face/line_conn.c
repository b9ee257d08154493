/*
 * line_conn.c - lines over a connected socket.
 * All connections read into one shared buffer. Complete lines are delivered in place; only an
 * incomplete rest is copied.
 */
#include "face/line_conn.h"

#include "base/fdstream.h"
#include "base/limits.h"
#include "base/mem.h"
#include "transport/lines.h"

static _Thread_local char scratch[MP_LINES_READ];

struct mp_line_conn {
	struct mp_fdstream stream;
	const struct mp_line_conn_hooks *hooks;
	void *u;
	struct mp_lines lines; /* incomplete line */
	bool is_hushed, is_finishing, is_over;
	int why;
	struct mp_task task; /* delivers the end, or what was read before a pause */
	struct mp_grave grave;
};

static struct mp_line_conn *get_conn(struct mp_fdstream *s)
{
	return mp_container_of(s, struct mp_line_conn, stream);
}

static void line_conn_post(struct mp_line_conn *w)
{
	if (!mp_list_linked(&w->task.link))
		mp_loop_post(w->stream.loop, &w->task);
}

static void line_conn_watch(struct mp_line_conn *w)
{
	mp_fdstream_read_on(&w->stream, !w->is_hushed && !w->is_finishing);
}

static void line_conn_end(struct mp_line_conn *w, int why)
{
	if (w->is_over)
		return;
	w->is_over = true;
	w->why = why;
	mp_fdstream_stop(&w->stream);
	mp_write_queue_done(&w->stream.queue);
	line_conn_post(w);
}

/* --- writing --------------------------------------------------------------------------------- */

static void line_conn_flushed(struct mp_fdstream *s, ssize_t taken)
{
	struct mp_line_conn *w = get_conn(s);

	if (taken < 0 || (w->is_finishing && mp_write_queue_get_waiting(&s->queue) == 0))
		line_conn_end(w, MCPOOL_ECLOSED);
	else if (w->hooks->flushed && !w->is_finishing &&
		 mp_write_queue_get_waiting(&s->queue) <= MP_LINE_CONN_SHORT)
		w->hooks->flushed(w->u);
}

void mp_line_conn_say(struct mp_line_conn *w, struct mp_str text)
{
	int r;

	if (w->is_over || w->is_finishing)
		return;
	r = mp_lines_write(&w->stream.queue.buf, text);
	if (r < 0) {
		line_conn_end(w, r);
		return;
	}
	mp_fdstream_flush_later(&w->stream);
}

size_t mp_line_conn_get_queued(const struct mp_line_conn *w)
{
	return mp_write_queue_get_waiting(&w->stream.queue);
}

/* --- reading --------------------------------------------------------------------------------- */

static bool may_tell(const struct mp_line_conn *w)
{
	return !w->is_over && !w->is_finishing && !w->is_hushed;
}

static void tell_line(struct mp_line_conn *w, const struct mp_line *line)
{
	if (line->oversize)
		w->hooks->oversize(w->u, line->text, line->tail);
	else
		w->hooks->line(w->u, line->text);
}

/* Complete a line from an earlier read, then deliver what follows. */
static int line_conn_join(struct mp_line_conn *w, const char *p, size_t n)
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

static void forget_kept(struct mp_line_conn *w);

static void run_task(void *u)
{
	struct mp_line_conn *w = u;
	struct mp_line line;

	if (w->is_over) {
		w->hooks->ended(w->u, w->why);
		return;
	}
	while (may_tell(w) && mp_lines_next(&w->lines, false, &line))
		tell_line(w, &line);
	forget_kept(w);
}

static bool is_kept(const struct mp_line_conn *w)
{
	return w->lines.skipping || w->lines.in.len > w->lines.at;
}

static void forget_kept(struct mp_line_conn *w)
{
	size_t max = w->lines.max;

	if (is_kept(w) || !w->lines.in.data)
		return;
	mp_lines_done(&w->lines);
	mp_lines_init(&w->lines, max);
}

/* Deliver complete lines in place; keep what follows the last newline. */
static int hand_out(struct mp_line_conn *w, const char *p, size_t n)
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
	return n > 0 && !w->is_over && !w->is_finishing ? line_conn_join(w, p, n) : 0;
}

static void line_conn_readable(struct mp_fdstream *s)
{
	struct mp_line_conn *w = get_conn(s);
	ssize_t n = mp_fdstream_read(s, scratch, sizeof(scratch));
	int r;

	if (n == 0)
		return;
	if (n < 0) { /* an incomplete last line is discarded */
		line_conn_end(w, MCPOOL_ECLOSED);
		return;
	}
	r = hand_out(w, scratch, (size_t)n);
	if (r < 0)
		line_conn_end(w, r);
	forget_kept(w);
}

static const struct mp_fdstream_kind kind = {
	.queue = {.write = mp_write_queue_to_socket,
		  /* Disconnect a peer that does not read: two messages of the largest size. */
		  .ceiling = 2 * MP_LIMIT_MESSAGE + MP_MIB(1),
		  .keep = MP_KIB(4),
		  .high = MP_MIB(1),
		  .low = MP_KIB(256)},
	.readable = line_conn_readable,
	.flushed = line_conn_flushed,
};

/* --- life ------------------------------------------------------------------------------------ */

struct mp_line_conn *mp_line_conn_new(struct mp_loop *loop, int fd, size_t limit,
				      const struct mp_line_conn_hooks *hooks, void *u)
{
	struct mp_line_conn *w = mp_alloc(sizeof(*w));

	w->hooks = hooks;
	w->u = u;
	mp_lines_init(&w->lines, limit);
	mp_task_init(&w->task, run_task, w);
	mp_check(mp_fdstream_open(&w->stream, loop, fd, &kind) == 0);
	line_conn_watch(w);
	return w;
}

void mp_line_conn_set_ceiling(struct mp_line_conn *w, size_t ceiling)
{
	w->stream.queue.buf.ceiling = ceiling;
}

void mp_line_conn_set_limit(struct mp_line_conn *w, size_t limit)
{
	w->lines.max = limit;
	w->lines.in.ceiling = limit + 2 + MP_LINES_READ;
}

void mp_line_conn_hush(struct mp_line_conn *w, bool hush)
{
	w->is_hushed = hush;
	if (!hush && !w->is_over)
		line_conn_post(w);
	line_conn_watch(w);
}

void mp_line_conn_finish(struct mp_line_conn *w)
{
	w->is_finishing = true;
	if (!w->is_over)
		mp_fdstream_flush_later(&w->stream);
	line_conn_watch(w);
}

static void freed(struct mp_grave *grave)
{
	struct mp_line_conn *w = mp_container_of(grave, struct mp_line_conn, grave);

	mp_lines_done(&w->lines);
	mp_free(w);
}

struct mp_line_conn *mp_line_conn_free(struct mp_line_conn *w)
{
	if (!w)
		return NULL;
	w->is_over = true;
	mp_loop_unpost(w->stream.loop, &w->task);
	mp_fdstream_close(&w->stream);
	mp_loop_bury(w->stream.loop, &w->grave, freed); /* it may be delivering a line now */
	return NULL;
}
