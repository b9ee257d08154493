/*
 * clients.h - known deviations of agents from the protocol, by client name.
 */
#ifndef MP_CLIENTS_H
#define MP_CLIENTS_H

#include "base/base.h"
#include "base/str.h"

struct mp_client_habit {
	const char *name; /* prefix of clientInfo.name; "" matches all others */
	/* It lists tools only once, so the first list waits for all servers. */
	bool ignores_changes;
	size_t tools; /* maximum of tools it uses; 0: unknown */
};

const struct mp_client_habit *mp_client_find_habit(struct mp_str name);

#endif
