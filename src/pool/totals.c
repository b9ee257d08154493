/*
 * totals.c - what all instances of servers with one name have counted together.
 */
#include "pool/totals.h"

#include "base/limits.h"
#include "base/mem.h"

void mp_totals_init(struct mp_totals *t)
{
	mp_map_init(&t->by_name, MP_LIMIT_SERVERS);
}

static struct mp_total *total_free(struct mp_total *total)
{
	mp_stats_done(&total->stats);
	return mp_free(total);
}

void mp_totals_done(struct mp_totals *t)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while ((e = mp_map_next(&t->by_name, &cursor)))
		total_free(e->value);
	mp_map_done(&t->by_name);
}

struct mp_total *mp_totals_get(struct mp_totals *t, struct mp_str server)
{
	struct mp_total *total = mp_map_get(&t->by_name, server);

	if (total)
		return total;
	total = mp_alloc(sizeof(*total));
	mp_stats_init(&total->stats);
	return mp_map_set(&t->by_name, server, total) < 0 ? total_free(total) : total;
}

void mp_totals_keep(struct mp_totals *t, struct mp_str server, const struct mp_stats *stats,
		    uint64_t restarts)
{
	struct mp_total *total = mp_totals_get(t, server);

	if (!total)
		return;
	mp_stats_add(&total->stats, stats);
	total->restarts += restarts;
}

void mp_totals_add(struct mp_totals *t, const struct mp_totals *kept)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while ((e = mp_map_next(&kept->by_name, &cursor))) {
		const struct mp_total *total = e->value;

		mp_totals_keep(t, e->key, &total->stats, total->restarts);
	}
}

const struct mp_total *mp_totals_next(const struct mp_totals *t, size_t *cursor)
{
	const struct mp_map_entry *e = mp_map_next(&t->by_name, cursor);
	struct mp_total *total = e ? e->value : NULL;

	if (total)
		total->server = e->key.p;
	return total;
}
