/*
 * history.c - counts what happens, in slots of 15 seconds, for the last 15 minutes.
 */
#include "base/history.h"

#include <string.h>

enum { MINUTE_SLOTS = 60000 / MP_HISTORY_SLOT_MS };

void mp_history_init(struct mp_history *h, int64_t now_ms)
{
	*h = (struct mp_history){.slot = now_ms / MP_HISTORY_SLOT_MS};
}

void mp_history_note(struct mp_history *h, int64_t now_ms)
{
	int64_t slot = now_ms / MP_HISTORY_SLOT_MS;

	if (slot - h->slot >= MP_HISTORY_SLOTS) {
		mp_history_init(h, now_ms);
	} else {
		while (h->slot < slot)
			h->counts[++h->slot % MP_HISTORY_SLOTS] = 0;
	}
	if (h->counts[h->slot % MP_HISTORY_SLOTS] < UINT32_MAX)
		h->counts[h->slot % MP_HISTORY_SLOTS]++;
}

void mp_history_read(const struct mp_history *h, int64_t now_ms,
		     uint32_t ret_counts[MP_HISTORY_SLOTS])
{
	int64_t first = now_ms / MP_HISTORY_SLOT_MS - MP_HISTORY_SLOTS + 1;

	for (int i = 0; i < MP_HISTORY_SLOTS; i++) {
		int64_t slot = first + i;

		ret_counts[i] = slot > h->slot - MP_HISTORY_SLOTS && slot <= h->slot && slot >= 0
					? h->counts[slot % MP_HISTORY_SLOTS]
					: 0;
	}
}

int64_t mp_history_count_minute(const struct mp_history *h, int64_t now_ms)
{
	uint32_t counts[MP_HISTORY_SLOTS];
	int64_t left_ms = MP_HISTORY_SLOT_MS - now_ms % MP_HISTORY_SLOT_MS;
	int64_t n;

	mp_history_read(h, now_ms, counts);
	n = counts[MP_HISTORY_SLOTS - 1 - MINUTE_SLOTS] * left_ms / MP_HISTORY_SLOT_MS;
	for (int i = 0; i < MINUTE_SLOTS; i++)
		n += counts[MP_HISTORY_SLOTS - 1 - i];
	return n;
}
