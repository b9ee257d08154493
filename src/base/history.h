/*
 * history.h - counts what happens, in slots of 15 seconds, for the last 15 minutes.
 * Nothing is moved by a timer: a slot is cleared when time reaches it again.
 */
#ifndef MP_HISTORY_H
#define MP_HISTORY_H

#include "base/base.h"

enum { MP_HISTORY_SLOTS = 60, MP_HISTORY_SLOT_MS = 15000 };

struct mp_history {
	uint32_t counts[MP_HISTORY_SLOTS];
	int64_t slot; /* number of the current one since the clock's start */
};

void mp_history_init(struct mp_history *h, int64_t now_ms);
void mp_history_note(struct mp_history *h, int64_t now_ms);
/* Oldest first; the last one is not over yet. */
void mp_history_read(const struct mp_history *h, int64_t now_ms,
		     uint32_t ret_counts[MP_HISTORY_SLOTS]);
/* How many in the last minute, with a share of the slot in which it began. */
int64_t mp_history_count_minute(const struct mp_history *h, int64_t now_ms);

#endif
