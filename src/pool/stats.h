/*
 * stats.h - counts a server's calls by outcome and measures their latency (U31).
 * The histogram of latencies and the history are allocated with the first call.
 */
#ifndef MP_STATS_H
#define MP_STATS_H

#include "base/base.h"
#include "base/histogram.h"
#include "base/history.h"
#include "rpc/call.h"

struct mp_stats {
	uint64_t calls; /* that have ended */
	uint64_t by_outcome[MP_OUTCOME_CANCELLED + 1];
	uint64_t errors;              /* answered with an error of the server */
	uint64_t tool_errors;         /* answered with a result that says isError */
	uint64_t bytes_in, bytes_out; /* of params and results */
	uint64_t no_owner;            /* server requests that belonged to no session */
	uint64_t unheard; /* notifications for one session that could not be attributed */
	struct mp_histogram *latencies; /* owned; NULL before the first */
	struct mp_history *history;     /* of calls that have ended; owned; NULL before the first */
	uint64_t measured;              /* number of latencies in it */
	uint64_t total_us;              /* their sum */
};

void mp_stats_init(struct mp_stats *s);
void mp_stats_done(struct mp_stats *s);
/* One call ended. is_error: an answer that is an error. Only answers have a latency. */
void mp_stats_note(struct mp_stats *s, enum mp_outcome outcome, bool is_error, int64_t latency_us,
		   int64_t now_ms);
/* And what it carried. */
void mp_stats_note_sizes(struct mp_stats *s, bool is_tool_error, size_t bytes_in, size_t bytes_out);
/* Add all that another has counted, but for its history. */
void mp_stats_add(struct mp_stats *s, const struct mp_stats *other);
/* Latencies below 2^power microseconds. */
uint64_t mp_stats_count_below(const struct mp_stats *s, unsigned power);
/* Calls that ended in the last minute. */
int64_t mp_stats_count_minute(const struct mp_stats *s, int64_t now_ms);
/* Calls that got no answer, or an error of the server; what was cancelled did not fail. */
uint64_t mp_stats_count_failures(const struct mp_stats *s);
/* Latency that so many of 1,000 calls do not exceed: 500 is the median. -1 before the first. */
int64_t mp_stats_get_latency_us(const struct mp_stats *s, unsigned permille);

#endif
