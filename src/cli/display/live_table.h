/*
 * live_table.h - all servers of a workspace as a table that fits a terminal.
 * A pure function of the workspace, the clock and the size.
 */
#ifndef MP_LIVE_TABLE_H
#define MP_LIVE_TABLE_H

#include "base/base.h"
#include "base/buf.h"
#include "pool/status.h"

struct mp_live_room {
	size_t columns, lines; /* limits; at least 20 and 3 are used */
	bool has_color;
	int64_t wall_ms; /* now */
};

/* Lines, each ending in \n and made safe. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_live_table_draw(struct mp_workspace *v, const struct mp_live_room *room,
		       struct mp_buf *out) MP_MUST;

/* The escape sequence that colours this state; NULL: not the name of a state. */
const char *mp_live_get_color(struct mp_str state);
/* "850us", "12ms", "3.4s"; "7s", "12m", "3h", "5d"; -1 is "-". */
void mp_live_write_latency(int64_t us, char out[16]);
void mp_live_write_age(int64_t ms, char out[16]);

#endif
