/*
 * day.h - a day of one server, or of all together: its calls by time, in half minutes for the last
 * hour and in five minutes for the last day, and how its state changed. In memory only.
 */
#ifndef MP_DAY_H
#define MP_DAY_H

#include "base/base.h"
#include "base/histogram.h"
#include "config/values/status_state.h"
#include "json/write.h"

enum { MP_DAY_HOURS = 24 };

/* Calls that ended within a slot of time. */
struct mp_day_slot {
	uint32_t calls, failed;
	int32_t p50_us, p99_us; /* -1: no call had an answer */
};

/* Slots of one length. The last one is still open, and has its latencies. */
struct mp_day_series {
	struct mp_day_slot *slots; /* owned; a ring of n; NULL before the first call */
	struct mp_histogram *open; /* owned; as slots */
	int64_t n, step_ms, last;  /* last: number of the open slot since 1970 */
};

struct mp_day_change {
	int64_t wall_ms;
	const char *what; /* name of the event; static */
	enum mp_status_state state;
	char *text; /* owned */
};

struct mp_day {
	struct mp_day_series fine, coarse;
	struct mp_day_change *changes; /* owned; oldest first */
	size_t n_changes, size;        /* those that there are, and room for */
};

struct mp_day *mp_day_new(int64_t wall_ms);
struct mp_day *mp_day_free(struct mp_day *d); /* accepts NULL, returns NULL */

/* A call ended. took_us: the time until its answer; -1: it had none. */
void mp_day_note_call(struct mp_day *d, int64_t wall_ms, int64_t took_us, bool has_failed);
/* Calls of which nothing else is known. */
void mp_day_note_missed(struct mp_day *d, int64_t wall_ms, uint64_t n);
void mp_day_note_change(struct mp_day *d, int64_t wall_ms, const char *what,
			enum mp_status_state state, const char *text);
/* Calls since then, at most a day. */
void mp_day_count_since(struct mp_day *d, int64_t since_ms, int64_t wall_ms, uint64_t *ret_calls,
			uint64_t *ret_failed);
/*
 * The members of HISTORY (doc/protocol.md, "Dashboard") but the name. began_ms: when the hub began;
 * before it nothing is known. d NULL: nothing happened.
 */
void mp_day_write(struct mp_writer *w, struct mp_day *d, int hours, int64_t began_ms,
		  int64_t wall_ms);

#endif
