/*
 * lines.h - newline framing: bytes in, whole lines out.
 * Reads straight into its buffer, hands out lines where they lie, and moves the rest once per read.
 * A line over the limit is skipped up to its newline; its first and last bytes are kept, so that
 * the call it answers can end.
 */
#ifndef MP_LINES_H
#define MP_LINES_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum { MP_LINES_READ = 64 * 1024, MP_LINES_HEAD = 4096, MP_LINES_TAIL = 512 };

struct mp_lines {
	struct mp_buf in;
	size_t max;         /* bytes of a line, without its newline */
	size_t at;          /* where the next line begins */
	size_t scanned;     /* there is no newline between at and here */
	bool skipping;      /* in a line over the limit; its head and tail are kept */
	struct mp_buf head; /* of that line */
	struct mp_buf tail;
};

struct mp_line {
	struct mp_str text; /* without its newline; of an oversize line its first bytes */
	bool oversize;
	struct mp_str tail; /* of an oversize line: its last bytes */
};

void mp_lines_init(struct mp_lines *l, size_t max);
void mp_lines_done(struct mp_lines *l);

/* Room to read into; the caller then says how much it took. MCPOOL_ENOMEM. */
int mp_lines_reserve(struct mp_lines *l, char **ret_room, size_t *ret_size) MP_MUST;
void mp_lines_commit(struct mp_lines *l, size_t n);
/*
 * The next whole line, CR and empty lines left out. Valid until the next reserve. last: no more
 * bytes will come, so what is there without a newline counts as a line.
 */
bool mp_lines_next(struct mp_lines *l, bool last, struct mp_line *ret_line);

/*
 * A message as one line, added to out. Line breaks in it can only be white space between tokens,
 * so they become blanks (S23).
 */
int mp_lines_write(struct mp_buf *out, struct mp_str message) MP_MUST;
/* The same for a message in pieces. */
int mp_lines_write_pieces(struct mp_buf *out, const struct mp_str *pieces, size_t n) MP_MUST;

#endif
