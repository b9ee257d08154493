/*
 * sse.h - event streams as WHATWG has them: bytes in, events out, and the other way.
 * Feed a piece, then take events until there are none. An event that lies whole in one piece, with
 * one line of data, is handed out where it lies; otherwise each byte is copied once. An event over
 * the limit is told with its first and last bytes, and the stream goes on behind it.
 */
#ifndef MP_SSE_H
#define MP_SSE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum {
	MP_SSE_ID = 4096,   /* bytes of an id; a longer one is ignored */
	MP_SSE_TYPE = 256,  /* bytes of an event's type; a longer one is ignored */
	MP_SSE_HEAD = 4096, /* kept of an event over the limit: its first bytes */
	MP_SSE_TAIL = 512,  /* and its last */
};

struct mp_sse {
	size_t max;       /* bytes of an event's data */
	int error;        /* out of memory; it cannot go on */
	struct mp_str in; /* what is left of the piece that was fed; borrowed */
	const char *cr;   /* the next CR and LF in it, or its end */
	const char *lf;
	uint8_t bom;           /* bytes of the mark seen at the beginning; 3: past it */
	bool after_cr;         /* an LF that comes now belongs to that CR */
	bool ignoring;         /* in a line that is too long to mean anything */
	bool in_data;          /* in a line of data, its value being taken */
	bool at_value;         /* in that line, right behind the colon: a blank is dropped */
	bool told;             /* the event in data and type was handed out */
	bool has_data;         /* there was a line of data */
	bool skipping;         /* this event is over the limit; data is its head */
	bool has_next_id;      /* this event has one */
	struct mp_buf line;    /* the start of a line that is not data, as far as is known */
	struct mp_str view;    /* the only line of data as long as it lies in the piece */
	struct mp_buf data;    /* the lines of data otherwise */
	struct mp_buf tail;    /* of an event over the limit */
	struct mp_buf type;    /* of this event */
	struct mp_buf next_id; /* of this event; it counts when the event is complete */
	struct mp_buf id;      /* of the last event that had one */
	int64_t retry_ms;      /* -1: the stream never said */
};

struct mp_sse_event {
	struct mp_str type; /* "message" where the stream says nothing */
	struct mp_str data; /* of an oversize event its first bytes */
	struct mp_str id;   /* the last one given, by this event or before */
	bool has_id;        /* by this event */
	bool oversize;
	struct mp_str tail; /* of an oversize event: its last bytes */
};

void mp_sse_init(struct mp_sse *s, size_t max);
void mp_sse_done(struct mp_sse *s);

/* The next piece, which must stay until mp_sse_next() has returned 0. */
void mp_sse_feed(struct mp_sse *s, struct mp_str bytes);
/*
 * 1: an event, valid until the next call. 0: the piece is used up. MCPOOL_ENOMEM, then and ever
 * after. An event without its empty line is never told: that is the rule for streams that break.
 */
int mp_sse_next(struct mp_sse *s, struct mp_sse_event *ret_event) MP_MUST;

/* What to resume after: events without data count, too. Empty: nothing was given. */
struct mp_str mp_sse_get_last_id(const struct mp_sse *s);
/* How long to wait before coming back; -1: the stream never said. */
int64_t mp_sse_get_retry_ms(const struct mp_sse *s);

/*
 * One event, added to out; an empty type is left out, an id without bytes (p NULL) too. Line breaks
 * in data make several lines. MCPOOL_EINVAL for a type or id with a line break or NUL; out is then
 * what it was, as it is when there is no room.
 */
int mp_sse_write(struct mp_buf *out, struct mp_str type, struct mp_str id,
		 struct mp_str data) MP_MUST;
int mp_sse_write_retry(struct mp_buf *out, int64_t ms) MP_MUST;
/* Nothing, as a sign of life. */
int mp_sse_write_comment(struct mp_buf *out) MP_MUST;

#endif
