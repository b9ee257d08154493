/*
 * network.h - tells when this machine gets an address or a route.
 * A remote server that could not be reached may be reachable then.
 */
#ifndef MP_NETWORK_H
#define MP_NETWORK_H

#include "base/base.h"
#include "base/loop.h"

#define MP_NETWORK_QUIET_MS 1000 /* addresses and routes of one change come one by one */

struct mp_network;

/* fn runs from the loop, once for many changes. MCPOOL_ESYSTEM: the system does not tell. */
int mp_network_new(struct mp_loop *loop, void (*fn)(void *u), void *u,
		   struct mp_network **ret_network, struct mcpool_error *reterr) MP_MUST;
struct mp_network *mp_network_free(struct mp_network *n); /* accepts NULL, returns NULL */

#endif
