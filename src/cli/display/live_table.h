/*
 * live_table.h - servers as a table that fits a terminal; of `status`, `top` and `serve`.
 * A pure function of the servers, the clock and the size.
 */
#ifndef MP_LIVE_TABLE_H
#define MP_LIVE_TABLE_H

#include "base/base.h"
#include "base/buf.h"
#include "pool/status.h"

struct mp_live_room {
	size_t columns, lines; /* limits; at least 20 and 3 are used; 0: none */
	bool has_color;
	int64_t wall_ms; /* now */
	size_t *widths;  /* MP_LIVE_COLUMNS; columns are never narrower than last time; NULL */
};
enum { MP_LIVE_COLUMNS = 11 };

/* Where the servers come from. */
struct mp_live_servers {
	size_t n;
	enum mp_status_state (*get_state)(void *u, size_t i);
	void (*take)(void *u, size_t i, struct mp_arena *arena, struct mp_status *ret);
	void *u;
	/* Of its processes, in thousandths of one processor; -1: not known. NULL: no such column.
	 */
	int64_t (*get_cpu)(void *u, size_t i);
};

/* A title and a row for each server; those in trouble first if not all fit. Each line ends in \n
 * and is made safe. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_live_table_draw(const struct mp_live_servers *servers, const struct mp_live_room *room,
		       struct mp_buf *out) MP_MUST;
/* "3 connected, 1 failed" */
int mp_live_add_counts(const struct mp_live_servers *servers, struct mp_buf *out) MP_MUST;

/* The shape of a state: one column, ASCII where the locale has no UTF-8. */
const char *mp_live_get_shape(const struct mp_status *s);
/* Why it is not connected, and what happens next; "" if nothing is to be said. */
int mp_live_add_note(const struct mp_status *s, int64_t wall_ms, struct mp_buf *out) MP_MUST;
/* The escape sequence that colours this state; NULL: not the name of a state. */
const char *mp_live_get_color(struct mp_str state);
/* "850us", "12ms", "3.4s"; "7s", "12m", "3h", "5d"; -1 is "-". */
void mp_live_write_latency(int64_t us, char out[16]);
void mp_live_write_age(int64_t ms, char out[16]);
/* "212 MiB", "1.4 GiB"; "14.2" of calls in the last minute; -1 is "-". */
void mp_live_write_memory(int64_t bytes, char out[16]);
void mp_live_write_rate(int64_t last_minute, char out[16]);
/* "0.4%", "87%", "210%" of one processor, from thousandths of it; -1 is "-". */
void mp_live_write_cpu(int64_t permille, char out[16]);

#endif
