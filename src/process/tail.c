/*
 * tail.c - the last lines a server wrote to stderr, and its log file.
 * One read per turn, so that a flood does not block the loop. Lines are kept as they came and
 * redacted when shown, because a secret may be announced later than it is written.
 */
#include "process/tail.h"

#include <errno.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/redact.h"
#include "process/logfile.h"
#include "base/watch.h"

/* A read is redacted for the log in 2 ms at most. */
enum { READ_SIZE = 16 * 1024, DRAIN_READS = 128 };

/* In the ring a cut line ends in this, which no line of text does, then in its newline. */
enum { CUT_SIGN = 0x1f };

struct mp_tail {
	struct mp_watch *watch; /* NULL once it has ended */
	struct mp_logfile *log; /* NULL: none is kept */
	char *room;             /* owned; READ_SIZE bytes to read into */
	char *ring;             /* owned; whole lines, each with its newline */
	size_t ring_at;         /* where the next byte goes */
	size_t ring_len;        /* bytes that count, behind ring_at and around */
	struct mp_buf line;     /* begun and not ended yet */
	bool cut;               /* it was longer than MP_LIMIT_STDERR_LINE */
	uint64_t bytes;         /* all there ever were */
};

/* --- the ring ------------------------------------------------------------------------------- */

static void ring_add(struct mp_tail *t, const char *bytes, size_t n)
{
	size_t first = MP_LIMIT_STDERR_RING - t->ring_at;

	first = first < n ? first : n;
	memcpy(t->ring + t->ring_at, bytes, first);
	memcpy(t->ring, bytes + first, n - first);
	t->ring_at = (t->ring_at + n) % MP_LIMIT_STDERR_RING;
	t->ring_len += n;
	if (t->ring_len > MP_LIMIT_STDERR_RING)
		t->ring_len = MP_LIMIT_STDERR_RING;
}

/* The byte n places before the end, 1 being the newest. */
static char ring_get(const struct mp_tail *t, size_t n)
{
	return t->ring[(t->ring_at + MP_LIMIT_STDERR_RING - n) % MP_LIMIT_STDERR_RING];
}

/* How many bytes the last `lines` lines have. The oldest, if its beginning is lost, is left out. */
static size_t ring_measure(const struct mp_tail *t, size_t lines)
{
	size_t whole = 0, found = 0;

	if (lines == 0 || t->ring_len == 0)
		return 0;
	for (size_t n = 2; n <= t->ring_len; n++) {
		if (ring_get(t, n) != '\n')
			continue;
		whole = n - 1;
		if (++found == lines)
			return whole;
	}
	return t->ring_len < MP_LIMIT_STDERR_RING ? t->ring_len : whole;
}

/* --- lines ---------------------------------------------------------------------------------- */

static void end_line(struct mp_tail *t)
{
	struct mp_str line = mp_buf_get(&t->line);

	if (line.len > 0 && line.p[line.len - 1] == '\r')
		line.len--;
	if (line.len > 0)
		ring_add(t, line.p, line.len);
	if (t->cut)
		ring_add(t, &(char){CUT_SIGN}, 1);
	ring_add(t, "\n", 1);
	if (t->log)
		mp_logfile_add(t->log, line, t->cut);
	mp_buf_clear(&t->line);
	t->cut = false;
}

static void add_to_line(struct mp_tail *t, const char *bytes, size_t n)
{
	size_t room = MP_LIMIT_STDERR_LINE - t->line.len;

	if (n > room) {
		t->cut = true;
		n = room;
	}
	if (mp_buf_add(&t->line, bytes, n) < 0)
		t->cut = true; /* no memory for the rest of it */
}

static void take(struct mp_tail *t, const char *bytes, size_t n)
{
	const char *end = bytes + n, *newline;

	t->bytes += n;
	while ((newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		add_to_line(t, bytes, (size_t)(newline - bytes));
		end_line(t);
		bytes = newline + 1;
	}
	add_to_line(t, bytes, (size_t)(end - bytes));
}

/* --- reading -------------------------------------------------------------------------------- */

static bool read_once(struct mp_tail *t)
{
	ssize_t n = read(mp_watch_get_fd(t->watch), t->room, READ_SIZE);

	if (n > 0)
		take(t, t->room, (size_t)n);
	if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return n > 0;
	t->watch = mp_watch_free(t->watch); /* its end, or no reading any more */
	if (t->line.len > 0 || t->cut)
		end_line(t);
	return false;
}

static void flush(struct mp_tail *t)
{
	if (t->log)
		mp_logfile_flush(t->log);
}

static void read_some(void *u)
{
	struct mp_tail *t = u;

	(void)read_once(t);
	flush(t);
}

/* A pipe holds 64 KiB, or a MiB if it was enlarged; one that is refilled is not waited for. */
void mp_tail_drain(struct mp_tail *t)
{
	for (int i = 0; t->watch && i < DRAIN_READS; i++)
		if (!read_once(t))
			break;
	flush(t);
}

/* --- showing -------------------------------------------------------------------------------- */

/* whole: nothing of it is missing, so no secret can have lost its end. */
static int tail_show(struct mp_str line, bool whole, bool cut, struct mp_buf *out)
{
	int r = mp_redact(line, !whole, out);

	if (r == 0 && cut)
		r = mp_buf_add_str(out, MP_STR(MP_STR_CUT_MARK));
	return r < 0 ? r : mp_buf_add_char(out, '\n');
}

static int show_all(struct mp_str text, struct mp_buf *out)
{
	int r = 0;

	while (text.len > 0 && r == 0) {
		const char *newline = memchr(text.p, '\n', text.len);
		size_t n = newline ? (size_t)(newline - text.p) : text.len;
		bool cut = n > 0 && text.p[n - 1] == CUT_SIGN;

		r = tail_show((struct mp_str){text.p, n - cut}, !cut, cut, out);
		n += newline != NULL;
		text.p += n;
		text.len -= n;
	}
	return r;
}

static int copy(const struct mp_tail *t, size_t lines, struct mp_buf *out)
{
	size_t n = ring_measure(t, lines);
	int r = mp_buf_reserve(out, n);

	for (; n > 0 && r == 0; n--)
		out->data[out->len++] = ring_get(t, n);
	return r;
}

int mp_tail_get(const struct mp_tail *t, size_t lines, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf plain;
	bool begun = t->line.len > 0 && lines > 0; /* the one that waits for its newline counts */
	size_t before = out->len;
	int r;

	mp_buf_init(&plain, MP_LIMIT_STDERR_RING);
	r = copy(t, lines - begun, &plain);
	if (r == 0)
		r = show_all(mp_buf_get(&plain), out);
	if (r == 0 && begun)
		r = tail_show(mp_buf_get(&t->line), false, t->cut, out);
	if (r < 0)
		out->len = before;
	return r;
}

uint64_t mp_tail_count_bytes(const struct mp_tail *t)
{
	return t->bytes;
}

/* --- life ----------------------------------------------------------------------------------- */

struct mp_tail *mp_tail_new(struct mp_loop *loop, int fd, const char *log_file)
{
	struct mp_tail *t = mp_alloc(sizeof(*t));

	t->room = mp_alloc(READ_SIZE);
	t->ring = mp_alloc(MP_LIMIT_STDERR_RING);
	t->log = log_file ? mp_logfile_new(loop, log_file) : NULL;
	mp_buf_init(&t->line, MP_LIMIT_STDERR_LINE);
	if (mp_watch_new(loop, fd, read_some, t, &t->watch) < 0)
		t->watch = NULL; /* as if it had ended at once */
	return t;
}

struct mp_tail *mp_tail_free(struct mp_tail *t)
{
	if (!t)
		return NULL;
	t->watch = mp_watch_free(t->watch);
	if (t->line.len > 0)
		end_line(t);
	mp_logfile_free(t->log);
	mp_buf_done(&t->line);
	mp_free(t->room);
	mp_free(t->ring);
	mp_free(t);
	return NULL;
}
