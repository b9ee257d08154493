/*
 * bridge_io.h - a bridge with its descriptors: stdin, stdout and the hub's socket.
 */
#ifndef MP_BRIDGE_IO_H
#define MP_BRIDGE_IO_H

#include "base/base.h"
#include "base/str.h"
#include "cli/bridge.h"
#include "hub/election.h"

struct mp_bridge_way {
	const struct mp_hub_place *place;
	struct mp_bridge_options options;
	const char *log; /* of a hub that is started; "" */
};

/* Until the agent is gone, or a signal comes. Returns the exit code. */
int mp_bridge_run(const struct mp_bridge_way *way);

#endif
