/*
 * bridge_run.h - runs a bridge on stdin, stdout and the hub's socket.
 */
#ifndef MP_BRIDGE_RUN_H
#define MP_BRIDGE_RUN_H

#include "bridge/bridge.h"
#include "hub/election.h"

struct mp_bridge_run_options {
	const struct mp_hub_place *place;
	struct mp_bridge_options options;
	const char *log; /* log file of a hub that is started, or "" */
};

/* Returns when the agent closes stdin or a signal arrives. */
void mp_bridge_run(const struct mp_bridge_run_options *o);

#endif
