/*
 * traffic.h - who calls what, as displays show it: a day of each server and of all together, calls
 * between each session and server in the last 15 minutes, and what the hub itself adds to a call.
 * Made from the records of calls and from events; nothing on the way of a call knows of it.
 */
#ifndef MP_TRAFFIC_H
#define MP_TRAFFIC_H

#include "base/base.h"
#include "base/events.h"
#include "base/histogram.h"
#include "base/history.h"
#include "base/ids.h"
#include "base/map.h"
#include "hub/day.h"
#include "pool/call_log.h"
#include "pool/pool.h"

/* Calls of one session at one server. */
struct mp_flow {
	mp_id session;
	struct mp_history history;
	char server[];
};

struct mp_traffic {
	struct mp_loop *loop;
	struct mp_events *events;
	struct mp_call_log *calls;
	struct mp_pool *pool;
	struct mp_event_listener event_listener;
	struct mp_call_listener call_listener;
	uint64_t next_event, next_call;
	int64_t began_ms;   /* wall clock */
	struct mp_day *all; /* owned */
	struct mp_map days; /* mp_day of each server's name; owned */
	struct mp_history history;
	struct mp_map flows; /* mp_flow; owned */
	int64_t swept_ms;    /* when flows without calls were removed last */
	/* Of the present quarter of an hour, and of the one before. */
	struct mp_histogram overhead, overhead_before;
	int64_t overhead_slot;
};

/* The others are borrowed and outlive it. */
void mp_traffic_init(struct mp_traffic *t, struct mp_pool *pool, struct mp_events *events,
		     struct mp_call_log *calls);
void mp_traffic_done(struct mp_traffic *t);

/* The day of a server; NULL: nothing happened. The server NULL: of all. */
struct mp_day *mp_traffic_get_day(struct mp_traffic *t, const char *server);
/* The next flow from *cursor (0 to begin); NULL at the end. */
const struct mp_flow *mp_traffic_next_flow(const struct mp_traffic *t, size_t *cursor);
/* Of the last 15 to 30 minutes; -1: no call. */
int64_t mp_traffic_get_overhead_us(struct mp_traffic *t, unsigned permille);

#endif
