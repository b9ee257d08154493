/*
 * clients.h - what real agents need that the protocol does not say, by the name they give.
 */
#ifndef MP_CLIENTS_H
#define MP_CLIENTS_H

#include "base/base.h"
#include "base/str.h"

struct mp_client_habit {
	const char *name; /* as clientInfo.name begins; "" is everybody else */
	/* It asks for tools once and never again: the first list waits for all servers. */
	bool ignores_changes;
	size_t tools; /* it uses no more than this; 0: no limit is known */
};

const struct mp_client_habit *mp_client_find_habit(struct mp_str name);

#endif
