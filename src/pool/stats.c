/*
 * stats.c - counts a server's calls by outcome and measures their latency.
 */
#include "pool/stats.h"

#include "base/mem.h"

void mp_stats_init(struct mp_stats *s)
{
	*s = (struct mp_stats){0};
}

void mp_stats_done(struct mp_stats *s)
{
	s->latencies = mp_free(s->latencies);
	s->history = mp_free(s->history);
}

/* --- counting ------------------------------------------------------------------------------- */

static void stats_grow(uint64_t *counter, uint64_t by)
{
	*counter = by > UINT64_MAX - *counter ? UINT64_MAX : *counter + by;
}

static void stats_count(uint64_t *counter)
{
	stats_grow(counter, 1);
}

static void stats_measure(struct mp_stats *s, int64_t us)
{
	if (!s->latencies)
		s->latencies = mp_alloc(sizeof(*s->latencies));
	mp_histogram_note(s->latencies, us);
	stats_count(&s->measured);
	stats_grow(&s->total_us, us < 0 ? 0 : (uint64_t)us);
}

static void stats_note_time(struct mp_stats *s, int64_t now_ms)
{
	if (!s->history) {
		s->history = mp_alloc(sizeof(*s->history));
		mp_history_init(s->history, now_ms);
	}
	mp_history_note(s->history, now_ms);
}

void mp_stats_note(struct mp_stats *s, enum mp_outcome outcome, bool is_error, int64_t latency_us,
		   int64_t now_ms)
{
	mp_check(outcome < MP_ARRAY_LEN(s->by_outcome));
	stats_note_time(s, now_ms);
	stats_count(&s->calls);
	stats_count(&s->by_outcome[outcome]);
	if (outcome != MP_OUTCOME_ANSWERED)
		return;
	if (is_error)
		stats_count(&s->errors);
	stats_measure(s, latency_us);
}

void mp_stats_note_sizes(struct mp_stats *s, bool is_tool_error, size_t bytes_in, size_t bytes_out)
{
	if (is_tool_error)
		stats_count(&s->tool_errors);
	stats_grow(&s->bytes_in, bytes_in);
	stats_grow(&s->bytes_out, bytes_out);
}

static void stats_add_latencies(struct mp_stats *s, const struct mp_stats *other)
{
	if (!other->latencies)
		return;
	if (!s->latencies)
		s->latencies = mp_alloc(sizeof(*s->latencies));
	mp_histogram_add(s->latencies, other->latencies);
}

void mp_stats_add(struct mp_stats *s, const struct mp_stats *other)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(s->by_outcome); i++)
		stats_grow(&s->by_outcome[i], other->by_outcome[i]);
	stats_grow(&s->calls, other->calls);
	stats_grow(&s->errors, other->errors);
	stats_grow(&s->tool_errors, other->tool_errors);
	stats_grow(&s->bytes_in, other->bytes_in);
	stats_grow(&s->bytes_out, other->bytes_out);
	stats_grow(&s->no_owner, other->no_owner);
	stats_grow(&s->unheard, other->unheard);
	stats_grow(&s->measured, other->measured);
	stats_grow(&s->total_us, other->total_us);
	stats_add_latencies(s, other);
}

/* --- asking --------------------------------------------------------------------------------- */

int64_t mp_stats_count_minute(const struct mp_stats *s, int64_t now_ms)
{
	return s->history ? mp_history_count_minute(s->history, now_ms) : 0;
}

uint64_t mp_stats_count_failures(const struct mp_stats *s)
{
	return s->errors + s->by_outcome[MP_OUTCOME_NOT_SENT] + s->by_outcome[MP_OUTCOME_UNKNOWN] +
	       s->by_outcome[MP_OUTCOME_REFUSED] + s->by_outcome[MP_OUTCOME_TIMEOUT];
}

int64_t mp_stats_get_latency_us(const struct mp_stats *s, unsigned permille)
{
	return s->latencies ? mp_histogram_get_us(s->latencies, permille) : -1;
}

uint64_t mp_stats_count_below(const struct mp_stats *s, unsigned power)
{
	return s->latencies ? mp_histogram_count_below(s->latencies, power) : 0;
}
