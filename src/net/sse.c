/*
 * sse.c - event streams as WHATWG has them: bytes in, events out, and the other way.
 * Lines of data go straight to the event; every other line is small or means nothing.
 */
#include "net/sse.h"

#include <string.h>

/* A field, its colon, a blank and the longest value that counts. */
#define LINE_MAX_LEN ((size_t)MP_SSE_ID + 16)
/* After a large event the buffer is given back, so that one does not cost for ever. */
#define KEEP_AT_MOST ((size_t)256 * 1024)

static const char mark[3] = {'\xef', '\xbb', '\xbf'};

void mp_sse_init(struct mp_sse *s, size_t max)
{
	*s = (struct mp_sse){.max = max, .retry_ms = -1};
	mp_buf_init(&s->line, LINE_MAX_LEN);
	mp_buf_init(&s->data, max > MP_SSE_HEAD ? max : MP_SSE_HEAD);
	mp_buf_init(&s->tail, (size_t)2 * MP_SSE_TAIL);
	mp_buf_init(&s->type, MP_SSE_TYPE);
	mp_buf_init(&s->next_id, MP_SSE_ID);
	mp_buf_init(&s->id, MP_SSE_ID);
}

void mp_sse_done(struct mp_sse *s)
{
	mp_buf_done(&s->line);
	mp_buf_done(&s->data);
	mp_buf_done(&s->tail);
	mp_buf_done(&s->type);
	mp_buf_done(&s->next_id);
	mp_buf_done(&s->id);
}

struct mp_str mp_sse_get_last_id(const struct mp_sse *s)
{
	return mp_buf_get(&s->id);
}

int64_t mp_sse_get_retry_ms(const struct mp_sse *s)
{
	return s->retry_ms;
}

/* --- the data of one event ------------------------------------------------------------------ */

/* Keep the last bytes of an event that is thrown away piece by piece. */
static void remember_tail(struct mp_sse *s, struct mp_str piece)
{
	if (piece.len > MP_SSE_TAIL) {
		piece.p += piece.len - MP_SSE_TAIL;
		piece.len = MP_SSE_TAIL;
	}
	/* Moved once for every MP_SSE_TAIL bytes, not for each of them. */
	if (s->tail.len + piece.len > (size_t)2 * MP_SSE_TAIL)
		mp_buf_consume(&s->tail, s->tail.len + piece.len - MP_SSE_TAIL);
	/* Refused memory costs the tail, and with it a better word for the caller; no more. */
	if (mp_buf_add_str(&s->tail, piece) < 0)
		mp_buf_clear(&s->tail);
}

static void sse_skip(struct mp_sse *s, struct mp_str piece)
{
	size_t room = s->data.len < MP_SSE_HEAD ? MP_SSE_HEAD - s->data.len : 0;

	if (room && mp_buf_add(&s->data, piece.p, piece.len < room ? piece.len : room) < 0)
		mp_buf_clear(&s->data);
	remember_tail(s, piece);
}

static void drop_data(struct mp_sse *s)
{
	size_t ceiling = s->data.ceiling;

	mp_buf_done(&s->data);
	mp_buf_init(&s->data, ceiling);
}

/* Of what was taken so far only the two ends stay. */
static void start_skipping(struct mp_sse *s)
{
	char head[MP_SSE_HEAD];
	struct mp_str begun = mp_buf_get(&s->data);
	size_t n = begun.len < sizeof(head) ? begun.len : sizeof(head);

	s->skipping = true;
	mp_buf_clear(&s->tail);
	remember_tail(s, begun);
	if (n)
		memcpy(head, begun.p, n);
	drop_data(s);
	if (mp_buf_add(&s->data, head, n) < 0)
		mp_buf_clear(&s->data);
}

static int sse_take(struct mp_sse *s, struct mp_str piece)
{
	if (!s->skipping && piece.len > s->max - s->data.len)
		start_skipping(s);
	if (!s->skipping)
		return mp_buf_add_str(&s->data, piece);
	sse_skip(s, piece);
	return 0;
}

/* Before the piece goes, or before another line follows. */
static int take_view(struct mp_sse *s)
{
	struct mp_str view = s->view;

	s->view = (struct mp_str){NULL, 0};
	return sse_take(s, view);
}

/* A line of data begins: what there is of it is taken by the caller. */
static int begin_data(struct mp_sse *s)
{
	int r = take_view(s);

	if (r >= 0 && s->has_data)
		r = sse_take(s, MP_STR("\n"));
	s->has_data = true;
	return r;
}

static int whole_line_of_data(struct mp_sse *s, struct mp_str value)
{
	int r;

	if (!s->has_data && value.len <= s->max) {
		s->has_data = true;
		s->view = value;
		return 0;
	}
	r = begin_data(s);
	return r < 0 ? r : sse_take(s, value);
}

/* --- lines ---------------------------------------------------------------------------------- */

static struct mp_str without_blank(struct mp_str value)
{
	if (value.len && value.p[0] == ' ')
		return (struct mp_str){value.p + 1, value.len - 1};
	return value;
}

/* A short field; one that is too long means nothing. */
static int set_field(struct mp_buf *field, struct mp_str value)
{
	if (value.len > field->ceiling)
		return 0;
	mp_buf_clear(field);
	return mp_buf_add_str(field, value);
}

static int set_id(struct mp_sse *s, struct mp_str value)
{
	if (value.len > MP_SSE_ID || (value.len && memchr(value.p, '\0', value.len)))
		return 0;
	s->has_next_id = true;
	return set_field(&s->next_id, value);
}

static int set_retry(struct mp_sse *s, struct mp_str value)
{
	int64_t ms;

	/* Only digits count; the parser would take a sign. */
	if (value.len && value.p[0] != '-' && mp_str_to_i64(value, &ms) == 0)
		s->retry_ms = ms;
	return 0;
}

static int read_line(struct mp_sse *s, struct mp_str line)
{
	const char *colon = memchr(line.p, ':', line.len);
	struct mp_str name = {line.p, colon ? (size_t)(colon - line.p) : line.len};
	struct mp_str value = {NULL, 0};

	if (colon)
		value = without_blank((struct mp_str){colon + 1, line.len - name.len - 1});
	if (mp_str_eq(name, MP_STR("data")))
		return whole_line_of_data(s, value);
	if (mp_str_eq(name, MP_STR("event")))
		return set_field(&s->type, value);
	if (mp_str_eq(name, MP_STR("id")))
		return set_id(s, value);
	if (mp_str_eq(name, MP_STR("retry")))
		return set_retry(s, value);
	return 0; /* a comment, or a field of tomorrow */
}

/* --- events --------------------------------------------------------------------------------- */

static void forget_event(struct mp_sse *s)
{
	if (s->data.cap > KEEP_AT_MOST)
		drop_data(s);
	mp_buf_clear(&s->data);
	mp_buf_clear(&s->type);
	mp_buf_clear(&s->tail);
	s->view = (struct mp_str){NULL, 0};
	s->has_data = s->skipping = s->told = false;
}

static struct mp_str get_tail(const struct mp_sse *s)
{
	size_t extra = s->tail.len > MP_SSE_TAIL ? s->tail.len - MP_SSE_TAIL : 0;

	return s->tail.len ? (struct mp_str){s->tail.data + extra, s->tail.len - extra}
			   : (struct mp_str){NULL, 0};
}

/* The empty line. Without data there is no event, but its id counts. */
static int finish_event(struct mp_sse *s, struct mp_sse_event *ret_event)
{
	bool has_id = s->has_next_id;

	if (has_id) {
		struct mp_buf old = s->id;

		s->id = s->next_id;
		s->next_id = old;
		s->has_next_id = false;
	}
	s->told = true;
	if (!s->has_data)
		return 0;
	*ret_event = (struct mp_sse_event){
		.type = s->type.len ? mp_buf_get(&s->type) : MP_STR("message"),
		.data = s->view.len ? s->view : mp_buf_get(&s->data),
		.id = mp_buf_get(&s->id),
		.has_id = has_id,
		.oversize = s->skipping,
		.tail = s->skipping ? get_tail(s) : (struct mp_str){NULL, 0},
	};
	return 1;
}

/* --- pieces --------------------------------------------------------------------------------- */

static const char *sse_find(struct mp_str in, char c)
{
	const char *at = memchr(in.p, c, in.len);

	return at ? at : in.p + in.len;
}

void mp_sse_feed(struct mp_sse *s, struct mp_str bytes)
{
	mp_check(s->in.len == 0);
	s->in = bytes;
	s->cr = s->lf = NULL;
}

static struct mp_str sse_advance(struct mp_sse *s, size_t n)
{
	struct mp_str passed = {s->in.p, n};

	s->in.p += n;
	s->in.len -= n;
	return passed;
}

/*
 * Up to the end of the line or of the piece; *ret_whole: the line ends there. Each kind of end is
 * looked for once, however many of the other kind come before it.
 */
static struct mp_str next_piece(struct mp_sse *s, bool *ret_whole)
{
	const char *end = s->in.p + s->in.len;
	struct mp_str piece;

	if (!s->cr || s->cr < s->in.p)
		s->cr = sse_find(s->in, '\r');
	if (!s->lf || s->lf < s->in.p)
		s->lf = sse_find(s->in, '\n');
	piece = sse_advance(s, (size_t)((s->cr < s->lf ? s->cr : s->lf) - s->in.p));
	*ret_whole = s->in.p < end;
	if (*ret_whole) {
		s->after_cr = s->in.p[0] == '\r';
		(void)sse_advance(s, 1); /* the end of the line itself */
	}
	return piece;
}

/* A mark at the very beginning means nothing. */
static int pass_mark(struct mp_sse *s)
{
	int r = 0;

	while (s->bom < sizeof(mark) && s->in.len) {
		if (s->in.p[0] != mark[s->bom]) { /* it was none, and belongs to the line */
			r = mp_buf_add(&s->line, mark, s->bom);
			s->bom = sizeof(mark);
			break;
		}
		(void)sse_advance(s, 1);
		s->bom++;
	}
	return r;
}

/* The rest of a line of data, as far as it is there. */
static int go_on_with_data(struct mp_sse *s, struct mp_str piece, bool whole)
{
	if (piece.len) {
		if (s->at_value)
			piece = without_blank(piece);
		s->at_value = false;
	}
	s->in_data = !whole;
	return sse_take(s, piece);
}

/* A piece of a line that is not complete: data as soon as that is clear, short otherwise. */
static int keep_beginning(struct mp_sse *s, struct mp_str piece)
{
	struct mp_str data = MP_STR("data:");
	int r;

	while (piece.len && s->line.len < data.len) {
		r = mp_buf_add_char(&s->line, piece.p[0]);
		if (r < 0)
			return r;
		piece = (struct mp_str){piece.p + 1, piece.len - 1};
	}
	if (mp_str_eq(mp_buf_get(&s->line), data)) {
		mp_buf_clear(&s->line);
		s->at_value = true;
		r = begin_data(s);
		return r < 0 ? r : go_on_with_data(s, piece, false);
	}
	s->ignoring =
		piece.len > LINE_MAX_LEN - s->line.len || (s->line.len && s->line.data[0] == ':');
	return s->ignoring ? 0 : mp_buf_add_str(&s->line, piece);
}

static int whole_line(struct mp_sse *s, struct mp_str line, struct mp_sse_event *ret_event)
{
	if (line.len == 0)
		return finish_event(s, ret_event);
	return read_line(s, line);
}

/* The end of a line that began in an earlier piece. */
static int finish_line(struct mp_sse *s, struct mp_str piece)
{
	int r = s->ignoring ? 0 : keep_beginning(s, piece);

	s->in_data = false;
	if (r == 0 && !s->ignoring && s->line.len)
		r = read_line(s, mp_buf_get(&s->line)); /* no data is taken from there */
	s->ignoring = false;
	mp_buf_clear(&s->line);
	return r;
}

static int sse_step(struct mp_sse *s, struct mp_sse_event *ret_event)
{
	struct mp_str piece;
	bool whole;

	if (s->told)
		forget_event(s);
	if (s->after_cr && s->in.p[0] == '\n') {
		s->after_cr = false;
		(void)sse_advance(s, 1);
		return 0;
	}
	s->after_cr = false;
	piece = next_piece(s, &whole);
	if (s->in_data)
		return go_on_with_data(s, piece, whole);
	if (!whole)
		return s->ignoring ? 0 : keep_beginning(s, piece);
	if (s->line.len || s->ignoring)
		return finish_line(s, piece);
	return whole_line(s, piece, ret_event);
}

int mp_sse_next(struct mp_sse *s, struct mp_sse_event *ret_event)
{
	int r = s->error;

	if (r == 0 && s->bom < sizeof(mark))
		r = pass_mark(s);
	while (r == 0 && s->in.len)
		r = sse_step(s, ret_event);
	if (r == 0 && s->told)
		forget_event(s);
	if (r == 0)
		r = take_view(s);
	if (r < 0) {
		s->error = r;
		s->in.len = 0;
	}
	return r;
}

/* --- writing -------------------------------------------------------------------------------- */

static bool fits_a_line(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == '\r' || s.p[i] == '\n' || s.p[i] == '\0')
			return false;
	return true;
}

static int write_field(struct mp_buf *out, struct mp_str name, struct mp_str value)
{
	int r = mp_buf_reserve(out, name.len + value.len + 3);

	if (r < 0)
		return r;
	r = mp_buf_add_str(out, name);
	if (r >= 0)
		r = mp_buf_add(out, ": ", 2);
	if (r >= 0)
		r = mp_buf_add_str(out, value);
	return r < 0 ? r : mp_buf_add_char(out, '\n');
}

static int write_data(struct mp_buf *out, struct mp_str data)
{
	const char *at = data.len ? data.p : "", *end = at + data.len;
	int r;

	do {
		const char *stop = at;

		while (stop < end && *stop != '\r' && *stop != '\n')
			stop++;
		r = write_field(out, MP_STR("data"), (struct mp_str){at, (size_t)(stop - at)});
		if (stop == end)
			return r;
		at = stop + (stop[0] == '\r' && stop + 1 < end && stop[1] == '\n' ? 2 : 1);
	} while (r >= 0);
	return r;
}

int mp_sse_write(struct mp_buf *out, struct mp_str type, struct mp_str id, struct mp_str data)
{
	size_t before = out->len;
	int r = 0;

	if (!fits_a_line(type) || !fits_a_line(id))
		return MCPOOL_EINVAL;
	if (type.len)
		r = write_field(out, MP_STR("event"), type);
	if (r >= 0 && id.p)
		r = write_field(out, MP_STR("id"), id);
	if (r >= 0)
		r = write_data(out, data);
	if (r >= 0)
		r = mp_buf_add_char(out, '\n');
	if (r < 0)
		out->len = before;
	return r;
}

int mp_sse_write_retry(struct mp_buf *out, int64_t ms)
{
	return mp_buf_addf(out, "retry: %lld\n\n", (long long)(ms < 0 ? 0 : ms));
}

int mp_sse_write_comment(struct mp_buf *out)
{
	return mp_buf_add(out, ":\n\n", 3);
}
