/*
 * lines.c - newline framing: bytes in, whole lines out.
 */
#include "transport/lines.h"

#include <string.h>

/* After a large message the buffer is given back, so that one does not cost for ever. */
#define KEEP_AT_MOST ((size_t)4 * MP_LINES_READ)

void mp_lines_init(struct mp_lines *l, size_t max)
{
	*l = (struct mp_lines){.max = max};
	/* One line, its newline, and what is read behind it. */
	mp_buf_init(&l->in, max + 2 + MP_LINES_READ);
	mp_buf_init(&l->head, MP_LINES_HEAD);
	mp_buf_init(&l->tail, MP_LINES_TAIL);
}

void mp_lines_done(struct mp_lines *l)
{
	mp_buf_done(&l->in);
	mp_buf_done(&l->head);
	mp_buf_done(&l->tail);
}

static void compact(struct mp_lines *l)
{
	mp_buf_consume(&l->in, l->at);
	l->scanned -= l->at;
	l->at = 0;
	if (l->in.len == 0)
		mp_buf_shrink(&l->in, KEEP_AT_MOST);
}

int mp_lines_reserve(struct mp_lines *l, char **ret_room, size_t *ret_size)
{
	int r;

	if (l->at)
		compact(l);
	r = mp_buf_reserve(&l->in, MP_LINES_READ);
	if (r < 0)
		return r;
	*ret_room = l->in.data + l->in.len;
	*ret_size = MP_LINES_READ;
	return 0;
}

void mp_lines_commit(struct mp_lines *l, size_t n)
{
	l->in.len += n;
}

/* Keep the last bytes of a line that is thrown away piece by piece. */
static void remember_tail(struct mp_lines *l, struct mp_str piece)
{
	struct mp_str last = piece;

	if (last.len > MP_LINES_TAIL) {
		last.p += last.len - MP_LINES_TAIL;
		last.len = MP_LINES_TAIL;
	}
	if (l->tail.len + last.len > MP_LINES_TAIL)
		mp_buf_consume(&l->tail, l->tail.len + last.len - MP_LINES_TAIL);
	/* Refused memory costs the tail, and with it a better word for the caller; no more. */
	if (mp_buf_add_str(&l->tail, last) < 0)
		mp_buf_clear(&l->tail);
}

static void start_skipping(struct mp_lines *l, struct mp_str begun)
{
	l->skipping = true;
	mp_buf_clear(&l->head);
	mp_buf_clear(&l->tail);
	if (mp_buf_add(&l->head, begun.p, begun.len < MP_LINES_HEAD ? begun.len : MP_LINES_HEAD) <
	    0)
		mp_buf_clear(&l->head);
}

/* The end of the line that is being skipped, or of one that is complete but too long. */
static struct mp_line finish_skipping(struct mp_lines *l)
{
	l->skipping = false;
	return (struct mp_line){
		.text = mp_buf_get(&l->head),
		.oversize = true,
		.tail = mp_buf_get(&l->tail),
	};
}

static void lines_skip(struct mp_lines *l, struct mp_str piece)
{
	if (!l->skipping)
		start_skipping(l, piece);
	remember_tail(l, piece);
}

/* One line has been found: text without its newline. */
static struct mp_line lines_judge(struct mp_lines *l, struct mp_str text)
{
	if (l->skipping || text.len > l->max) {
		lines_skip(l, text);
		return finish_skipping(l);
	}
	if (text.len && text.p[text.len - 1] == '\r')
		text.len--;
	return (struct mp_line){.text = text};
}

bool mp_lines_next(struct mp_lines *l, bool last, struct mp_line *ret_line)
{
	if (!l->in.data)
		return false; /* nothing was ever read */
	for (;;) {
		char *from = l->in.data + l->scanned;
		size_t n = l->in.len - l->scanned;
		char *newline = n ? memchr(from, '\n', n) : NULL;
		struct mp_str text = {l->in.data + l->at, 0};

		if (!newline && !(last && (l->in.len > l->at || l->skipping)))
			break;
		text.len = newline ? (size_t)(newline - text.p) : l->in.len - l->at;
		l->at += text.len + (newline ? 1 : 0);
		l->scanned = l->at;
		*ret_line = lines_judge(l, text);
		if (ret_line->oversize || ret_line->text.len)
			return true;
	}
	l->scanned = l->in.len;
	if (l->skipping || l->in.len - l->at > l->max) {
		lines_skip(l, (struct mp_str){l->in.data + l->at, l->in.len - l->at});
		l->at = l->in.len;
	}
	return false;
}

static void lines_blank(char *p, char *end, char c)
{
	while ((p = memchr(p, c, (size_t)(end - p))))
		*p = ' ';
}

int mp_lines_write_pieces(struct mp_buf *out, const struct mp_str *pieces, size_t n)
{
	size_t before = out->len, len = 1;
	char *at;
	int r;

	for (size_t i = 0; i < n; i++)
		len += pieces[i].len;
	r = mp_buf_reserve(out, len);
	if (r < 0)
		return r;
	at = out->data + before;
	for (size_t i = 0; i < n; i++) {
		if (pieces[i].len)
			memcpy(at, pieces[i].p, pieces[i].len);
		at += pieces[i].len;
	}
	*at = '\n';
	out->len += len;
	lines_blank(out->data + before, at, '\n');
	lines_blank(out->data + before, at, '\r'); /* some readers end lines there */
	return 0;
}

int mp_lines_write(struct mp_buf *out, struct mp_str message)
{
	return mp_lines_write_pieces(out, &message, 1);
}
