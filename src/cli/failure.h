/*
 * failure.h - a call that brought no result, as --json has it (CONTRACTS, "Errors").
 */
#ifndef MP_FAILURE_H
#define MP_FAILURE_H

#include "base/base.h"
#include "base/str.h"
#include "rpc/call.h"

struct mp_failure {
	const char *server;
	const struct mcpool_error *why; /* its message as clients of the hub are told */
	enum mp_outcome outcome;
	unsigned attempt; /* 0: none */
	bool retryable;
	int64_t next_at_ms; /* 0: unknown */
	struct mp_str tail; /* of its stderr; may be empty */
};

/* {"error": {"code", "message", "data": {...}}} on stdout. */
void mp_failure_print(const struct mp_failure *f);
/* The same for an error that is the server's own, as it wrote it. */
void mp_failure_print_error(struct mp_str error);

#endif
