/*
 * top_model.c - the servers of a status in an order, filtered, one selected.
 */
#include "cli/console/top_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *mp_top_sort_get_name(enum mp_top_sort sort)
{
	static const char *const names[MP_TOP_SORTS] = {"calls", "latency", "memory", "CPU",
							"name"};

	return names[sort];
}

void mp_top_model_init(struct mp_top_model *m)
{
	*m = (struct mp_top_model){.measured_ms = -1};
	mp_hub_status_init(&m->status);
}

void mp_top_model_done(struct mp_top_model *m)
{
	mp_hub_status_done(&m->status);
	m->cpu = mp_free(m->cpu);
	m->order = mp_free(m->order);
	m->n = 0;
}

/* --- processor time -------------------------------------------------------------------------- */

int64_t mp_top_get_cpu(int64_t before_us, int64_t now_us, int64_t took_ms)
{
	if (before_us < 0 || now_us < 0 || took_ms <= 0)
		return -1;
	return now_us > before_us ? (now_us - before_us) / took_ms : 0;
}

/* Statuses have the servers mostly in the same order; hint: where to look first. */
static size_t find_server(const struct mp_hub_status *h, const char *name, size_t hint)
{
	if (hint < h->n && strcmp(h->servers[hint].name, name) == 0)
		return hint;
	for (size_t i = 0; i < h->n; i++)
		if (strcmp(h->servers[i].name, name) == 0)
			return i;
	return SIZE_MAX;
}

/* Another process begins again at 0. */
static int64_t measure_server(const struct mp_top_model *m, const struct mp_status *s, size_t i,
			      int64_t took_ms)
{
	size_t at = find_server(&m->status, s->name, i);
	const struct mp_status *before = at == SIZE_MAX ? NULL : &m->status.servers[at];

	if (!before || s->pid <= 0 || before->pid != s->pid)
		return -1;
	if (took_ms == 0) /* not measured since then */
		return m->cpu[at];
	return mp_top_get_cpu(before->cpu_us, s->cpu_us, took_ms);
}

static void model_measure(struct mp_top_model *m, struct mp_hub_status *next)
{
	mp_value hub = mp_value_get(&next->tape, MP_ROOT, "hub");
	mp_value usage = mp_value_get(&next->tape, hub, "usage");
	int64_t now = mp_hub_status_get_number(next, usage, "measuredAt");
	int64_t took_ms = now > 0 && m->measured_ms > 0 ? now - m->measured_ms : -1;
	int64_t *cpu = mp_alloc((next->n + 1) * sizeof(*cpu));

	for (size_t i = 0; i < next->n; i++)
		cpu[i] = measure_server(m, &next->servers[i], i, took_ms);
	mp_free(m->cpu);
	m->cpu = cpu;
	m->measured_ms = now;
}

/* --- order ----------------------------------------------------------------------------------- */

/* Of servers that are equal otherwise: what needs the user, what runs, the rest. */
static int rank_state(enum mp_status_state state)
{
	switch (state) {
	case MP_STATUS_FAILED:
	case MP_STATUS_NEEDS_APPROVAL:
	case MP_STATUS_NEEDS_AUTH:
		return 0;
	case MP_STATUS_PENDING:
		return 1;
	case MP_STATUS_CONNECTED:
		return 2;
	case MP_STATUS_READY:
		return 3;
	case MP_STATUS_DISABLED:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return 4;
}

static int64_t get_weight(const struct mp_top_model *m, size_t i)
{
	const struct mp_status *s = &m->status.servers[i];

	switch (m->sort) {
	case MP_TOP_BY_CALLS:
		return s->calls_last_minute > 0 ? s->calls_last_minute : 0;
	case MP_TOP_BY_LATENCY:
		return s->p99_us;
	case MP_TOP_BY_MEMORY:
		return s->memory;
	case MP_TOP_BY_CPU:
		return m->cpu[i];
	case MP_TOP_BY_NAME:
	case MP_TOP_SORTS:
		break;
	}
	return 0;
}

static int compare_servers(const void *a, const void *b, void *u)
{
	const struct mp_top_model *m = u;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	const struct mp_status *one = &m->status.servers[i], *two = &m->status.servers[k];
	int64_t more = get_weight(m, k) - get_weight(m, i);
	int rank = rank_state(one->state) - rank_state(two->state);

	if (more)
		return more < 0 ? -1 : 1;
	if (rank && m->sort != MP_TOP_BY_NAME)
		return rank;
	return strcmp(one->name, two->name);
}

static bool is_wanted(const struct mp_top_model *m, const struct mp_status *s)
{
	struct mp_str filter = mp_str_of(m->filter);

	return filter.len == 0 || strcasestr(s->name, m->filter) ||
	       mp_str_find(mp_str_of(mp_status_state_get_name(s->state)), filter, 0) >= 0;
}

/* kept: the servers that have their places already, n of them; the others come behind. */
static void model_order(struct mp_top_model *m, size_t *kept, size_t n)
{
	bool *is_placed = mp_alloc(m->status.n + 1);

	for (size_t i = 0; i < n; i++)
		is_placed[kept[i]] = true;
	m->n = n;
	for (size_t i = 0; i < m->status.n; i++)
		if (!is_placed[i] && is_wanted(m, &m->status.servers[i]))
			kept[m->n++] = i;
	qsort_r(kept + n, m->n - n, sizeof(*kept), compare_servers, m);
	mp_free(is_placed);
	mp_free(m->order);
	m->order = kept;
}

static void model_order_again(struct mp_top_model *m)
{
	model_order(m, mp_alloc((m->status.n + 1) * sizeof(*m->order)), 0);
	if (mp_top_model_find_selected(m) == SIZE_MAX)
		m->selected[0] = '\0';
}

void mp_top_model_take(struct mp_top_model *m, struct mp_hub_status *next)
{
	struct mp_hub_status before = m->status;
	size_t *kept = mp_alloc((next->n + 1) * sizeof(*kept)), n = 0;

	model_measure(m, next);
	for (size_t i = 0; m->selected[0] && i < m->n; i++) {
		size_t at = find_server(next, before.servers[m->order[i]].name, m->order[i]);

		if (at != SIZE_MAX && is_wanted(m, &next->servers[at]))
			kept[n++] = at;
	}
	m->status = *next;
	*next = (struct mp_hub_status){.n = 0};
	model_order(m, kept, n);
	mp_hub_status_done(&before);
	if (mp_top_model_find_selected(m) == SIZE_MAX)
		m->selected[0] = '\0';
}

void mp_top_model_sort(struct mp_top_model *m, enum mp_top_sort sort)
{
	m->sort = sort;
	model_order_again(m);
}

void mp_top_model_filter(struct mp_top_model *m, const char *filter)
{
	snprintf(m->filter, sizeof(m->filter), "%s", filter);
	model_order_again(m);
}

/* --- selection ------------------------------------------------------------------------------- */

size_t mp_top_model_find_selected(const struct mp_top_model *m)
{
	for (size_t i = 0; m->selected[0] && i < m->n; i++)
		if (strcmp(m->status.servers[m->order[i]].name, m->selected) == 0)
			return i;
	return SIZE_MAX;
}

const struct mp_status *mp_top_model_get_selected(const struct mp_top_model *m)
{
	size_t at = mp_top_model_find_selected(m);

	return at == SIZE_MAX ? NULL : &m->status.servers[m->order[at]];
}

void mp_top_model_move(struct mp_top_model *m, ptrdiff_t rows)
{
	size_t at = mp_top_model_find_selected(m);
	ptrdiff_t to = at == SIZE_MAX ? (ptrdiff_t)m->first + (rows > 0 ? rows - 1 : rows)
				      : (ptrdiff_t)at + rows;

	if (m->n == 0)
		return;
	if (to >= (ptrdiff_t)m->n)
		to = (ptrdiff_t)m->n - 1;
	if (to < 0)
		to = 0;
	snprintf(m->selected, sizeof(m->selected), "%s", m->status.servers[m->order[to]].name);
}

void mp_top_model_deselect(struct mp_top_model *m)
{
	m->selected[0] = '\0';
	m->first = 0;
	model_order_again(m);
}

/* --- rows ------------------------------------------------------------------------------------ */

static enum mp_status_state row_get_state(void *u, size_t i)
{
	const struct mp_top_model *m = u;

	return m->status.servers[m->order[m->first + i]].state;
}

static void row_take(void *u, size_t i, struct mp_arena *arena, struct mp_status *ret)
{
	const struct mp_top_model *m = u;

	(void)arena;
	*ret = m->status.servers[m->order[m->first + i]];
}

static int64_t row_get_cpu(void *u, size_t i)
{
	const struct mp_top_model *m = u;

	return m->cpu[m->order[m->first + i]];
}

struct mp_live_servers mp_top_model_get_rows(struct mp_top_model *m, size_t most)
{
	size_t at = mp_top_model_find_selected(m);

	if (m->first + most > m->n)
		m->first = m->n > most ? m->n - most : 0;
	if (at != SIZE_MAX && at < m->first)
		m->first = at;
	if (at != SIZE_MAX && at >= m->first + most)
		m->first = at + 1 - most;
	return (struct mp_live_servers){
		.n = m->n - m->first < most ? m->n - m->first : most,
		.get_state = row_get_state,
		.take = row_take,
		.u = m,
		.get_cpu = row_get_cpu,
	};
}
