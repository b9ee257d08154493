/*
 * totals.h - what all instances of servers with one name have counted together.
 */
#ifndef MP_TOTALS_H
#define MP_TOTALS_H

#include "base/base.h"
#include "base/map.h"
#include "pool/stats.h"
#include "process/tree.h"

/* Of one name. */
struct mp_total {
	const char *server;
	struct mp_stats stats; /* without its history */
	uint64_t restarts;
	/* Of instances that there are: */
	uint64_t up;                /* those that take calls */
	uint64_t waiting, open;     /* calls that wait; calls at the server */
	struct mp_tree_usage usage; /* as measured last (usage.h) */
};

struct mp_totals {
	struct mp_map by_name; /* of mp_total, owned */
};

void mp_totals_init(struct mp_totals *t);
void mp_totals_done(struct mp_totals *t);
/* That of this name, at first all zero; NULL: there are too many, or no memory. */
struct mp_total *mp_totals_get(struct mp_totals *t, struct mp_str server);
/* An instance ends, which counted this. */
void mp_totals_keep(struct mp_totals *t, struct mp_str server, const struct mp_stats *stats,
		    uint64_t restarts);
/* Add what was kept. */
void mp_totals_add(struct mp_totals *t, const struct mp_totals *kept);
/* The next one from *cursor (0 to begin), in the order of their first use; NULL at the end. */
const struct mp_total *mp_totals_next(const struct mp_totals *t, size_t *cursor);

#endif
