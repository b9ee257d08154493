/*
 * reach_params.h - writes the params of mcpool/status and mcpool/call (doc/protocol.md, "Control
 * messages").
 */
#ifndef MP_REACH_PARAMS_H
#define MP_REACH_PARAMS_H

#include "base/buf.h"
#include "config/values/entry.h"
#include "pool/pool_call.h"
#include "pool/status.h"

/* Which servers to start before their statuses are read. */
enum mp_reach_start {
	MP_REACH_START_NONE,
	MP_REACH_START_UNKNOWN, /* only those without a cached catalog */
	MP_REACH_START_ALL,
};

struct mp_reach_look {
	enum mp_reach_start start;
	const bool *only; /* one flag per server of the last list, until fn is called; NULL: all */
	bool fresh;       /* running servers list again */
	bool no_catalogs;
	int64_t max_ms;
};

/*
 * The statuses of these n entries; entries NULL: of all servers of the hub. servers: the last list,
 * for look->only; may be NULL without it.
 */
int mp_reach_params_write_look(const struct mp_reach_look *look,
			       const struct mp_entry *const *entries, size_t n,
			       const struct mp_status_list *servers, struct mp_buf *out) MP_MUST;
/* The status of one server, once it has started or failed. */
int mp_reach_params_write_trial(const char *server, int64_t max_ms, struct mp_buf *out) MP_MUST;
/* One call; capabilities: of the client; empty: none. */
int mp_reach_params_write_call(const struct mp_pool_call_options *rq, struct mp_str capabilities,
			       struct mp_buf *out) MP_MUST;

#endif
