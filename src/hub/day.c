/*
 * day.c - a day of one server: calls by time, and changes of its state.
 * No timer moves anything: a slot is closed when a later one is asked for. A date that is set back
 * counts as the moment before it.
 */
#include "hub/day.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum {
	FINE_MS = 30000,
	FINE = 3600000 / FINE_MS,
	COARSE_MS = 300000,
	COARSE = MP_DAY_HOURS * 3600000 / COARSE_MS,
	CHANGES = 128,
};

static const struct mp_day_slot empty = {.p50_us = -1, .p99_us = -1};

/* --- slots ----------------------------------------------------------------------------------- */

static void series_init(struct mp_day_series *s, int64_t n, int64_t step_ms, int64_t wall_ms)
{
	*s = (struct mp_day_series){.n = n, .step_ms = step_ms, .last = wall_ms / step_ms};
}

static void series_done(struct mp_day_series *s)
{
	mp_free(s->slots);
	mp_free(s->open);
}

static void series_allocate(struct mp_day_series *s)
{
	if (s->slots)
		return;
	s->open = mp_alloc(sizeof(*s->open));
	s->slots = mp_alloc((size_t)s->n * sizeof(*s->slots));
	for (int64_t i = 0; i < s->n; i++)
		s->slots[i] = empty;
}

static const struct mp_day_slot *series_get(const struct mp_day_series *s, int64_t slot)
{
	return s->slots ? &s->slots[slot % s->n] : &empty;
}

static struct mp_day_slot *series_get_open(struct mp_day_series *s)
{
	series_allocate(s);
	return &s->slots[s->last % s->n];
}

static int32_t narrow(int64_t us)
{
	return us > INT32_MAX ? INT32_MAX : (int32_t)us;
}

/* The open slot as it is by now. */
static void series_measure(struct mp_day_series *s)
{
	struct mp_day_slot *slot;

	if (!s->slots)
		return;
	slot = series_get_open(s);
	slot->p50_us = narrow(mp_histogram_get_us(s->open, 500));
	slot->p99_us = narrow(mp_histogram_get_us(s->open, 990));
}

static void series_advance(struct mp_day_series *s, int64_t wall_ms)
{
	int64_t now = wall_ms / s->step_ms;

	if (now <= s->last)
		return;
	series_measure(s);
	if (now - s->last > s->n || !s->slots)
		s->last = now - s->n;
	while (s->slots && s->last < now)
		s->slots[++s->last % s->n] = empty;
	s->last = now;
	if (s->open)
		*s->open = (struct mp_histogram){.longest_us = 0};
}

static void series_note(struct mp_day_series *s, int64_t wall_ms, int64_t took_us, bool has_failed)
{
	struct mp_day_slot *slot;

	series_advance(s, wall_ms);
	slot = series_get_open(s);
	slot->calls++;
	slot->failed += has_failed;
	if (took_us >= 0)
		mp_histogram_note(s->open, took_us);
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_day *mp_day_new(int64_t wall_ms)
{
	struct mp_day *d = mp_alloc(sizeof(*d));

	series_init(&d->fine, FINE, FINE_MS, wall_ms);
	series_init(&d->coarse, COARSE, COARSE_MS, wall_ms);
	return d;
}

struct mp_day *mp_day_free(struct mp_day *d)
{
	if (!d)
		return NULL;
	for (size_t i = 0; i < d->n_changes; i++)
		mp_free(d->changes[i].text);
	series_done(&d->fine);
	series_done(&d->coarse);
	mp_free(d->changes);
	return mp_free(d);
}

/* --- noting ---------------------------------------------------------------------------------- */

void mp_day_note_call(struct mp_day *d, int64_t wall_ms, int64_t took_us, bool has_failed)
{
	series_note(&d->fine, wall_ms, took_us, has_failed);
	series_note(&d->coarse, wall_ms, took_us, has_failed);
}

void mp_day_note_missed(struct mp_day *d, int64_t wall_ms, uint64_t n)
{
	series_advance(&d->fine, wall_ms);
	series_advance(&d->coarse, wall_ms);
	series_get_open(&d->fine)->calls += (uint32_t)n;
	series_get_open(&d->coarse)->calls += (uint32_t)n;
}

/* Room for one more; the oldest one goes when there are enough. */
static void changes_make_room(struct mp_day *d)
{
	if (d->n_changes == CHANGES) {
		mp_free(d->changes[0].text);
		memmove(d->changes, d->changes + 1, --d->n_changes * sizeof(*d->changes));
	} else if (d->n_changes == d->size) {
		struct mp_day_change *more;

		d->size = d->size ? 2 * d->size : 4;
		more = mp_alloc(d->size * sizeof(*more));
		if (d->n_changes)
			memcpy(more, d->changes, d->n_changes * sizeof(*more));
		mp_free(d->changes);
		d->changes = more;
	}
}

void mp_day_note_change(struct mp_day *d, int64_t wall_ms, const char *what,
			enum mp_status_state state, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = mp_alloc(size);

	memcpy(copy, text, size);
	changes_make_room(d);
	d->changes[d->n_changes++] = (struct mp_day_change){wall_ms, what, state, copy};
}

/* --- asking ---------------------------------------------------------------------------------- */

void mp_day_count_since(struct mp_day *d, int64_t since_ms, int64_t wall_ms, uint64_t *ret_calls,
			uint64_t *ret_failed)
{
	struct mp_day_series *s = &d->coarse;
	int64_t first = since_ms / s->step_ms;

	series_advance(s, wall_ms);
	*ret_calls = *ret_failed = 0;
	if (first <= s->last - s->n)
		first = s->last - s->n + 1;
	for (int64_t i = first; i <= s->last; i++) {
		*ret_calls += series_get(s, i)->calls;
		*ret_failed += series_get(s, i)->failed;
	}
}

/* One of the four arrays; before the hub began nothing is known. */
enum column { CALLS, FAILED, P50, P99 };

static void column_write(struct mp_writer *w, const struct mp_day_series *s, enum column column,
			 int64_t first, int64_t known)
{
	static const char *const keys[] = {"calls", "failed", "p50us", "p99us"};

	mp_write_key(w, mp_str_of(keys[column]));
	mp_write_begin_array(w);
	for (int64_t i = first; i <= s->last; i++) {
		const struct mp_day_slot *slot = series_get(s, i);
		int64_t values[] = {slot->calls, slot->failed, slot->p50_us, slot->p99_us};

		if (i < known || values[column] < 0)
			mp_write_null(w);
		else
			mp_write_i64(w, values[column]);
	}
	mp_write_end_array(w);
}

static void series_write(struct mp_writer *w, struct mp_day_series *s, int hours, int64_t began_ms)
{
	int64_t n = (int64_t)hours * 3600000 / s->step_ms;
	int64_t first = s->last - (n < s->n ? n : s->n) + 1;
	int64_t known = began_ms / s->step_ms;

	series_measure(s);
	mp_write_member_i64(w, "from", first * s->step_ms);
	mp_write_member_i64(w, "stepMs", s->step_ms);
	for (enum column c = CALLS; c <= P99; c++)
		column_write(w, s, c, first, known);
}

static void change_write(struct mp_writer *w, const struct mp_day_change *c)
{
	mp_write_begin_object(w);
	mp_write_member_i64(w, "time", c->wall_ms);
	mp_write_member_text(w, "what", mp_str_of(c->what));
	mp_write_member_text(w, "state", mp_str_of(mp_status_state_get_name(c->state)));
	mp_write_member_text(w, "text", mp_str_of(c->text));
	mp_write_end_object(w);
}

/* Those since then, and the one before: the state at the beginning. */
static void changes_write(struct mp_writer *w, const struct mp_day *d, int64_t from_ms)
{
	size_t first = 0;

	while (first + 1 < d->n_changes && d->changes[first + 1].wall_ms <= from_ms)
		first++;
	mp_write_key(w, MP_STR("changes"));
	mp_write_begin_array(w);
	for (size_t i = first; i < d->n_changes; i++)
		change_write(w, &d->changes[i]);
	mp_write_end_array(w);
}

void mp_day_write(struct mp_writer *w, struct mp_day *d, int hours, int64_t began_ms,
		  int64_t wall_ms)
{
	struct mp_day *none = d ? NULL : mp_day_new(wall_ms);
	struct mp_day *day = d ? d : none;
	struct mp_day_series *s = hours > 1 ? &day->coarse : &day->fine;

	series_advance(s, wall_ms);
	series_write(w, s, hours, began_ms);
	changes_write(w, day, wall_ms - (int64_t)hours * 3600000);
	mp_day_free(none);
}
