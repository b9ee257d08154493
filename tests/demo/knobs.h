/*
 * knobs.h - how the demo server misbehaves: environment variables MCPOOL_DEMO_*, for tests.
 * All are off by default; the table in knobs.c says what each is for.
 */
#ifndef MP_KNOBS_H
#define MP_KNOBS_H

#include <stdio.h>

#include "base/base.h"

enum { MP_DEMO_FOREVER = -1 }; /* of a time */
enum mp_demo_probe { MP_DEMO_PROBE_OK, MP_DEMO_PROBE_DIE, MP_DEMO_PROBE_SILENT };
enum mp_demo_era { MP_DEMO_ERA_BOTH, MP_DEMO_ERA_LEGACY, MP_DEMO_ERA_MODERN };

/* Numbers are 0 and files NULL where nothing was said. */
struct mp_demo_knobs {
	int64_t slow_start_ms, hang_ms, list_delay_ms, block_ms, exit_delay_ms; /* or FOREVER */
	int64_t jitter_ms, change_after_ms, exit_idle_ms;
	int64_t hang_calls, mute, out_of_order, ignore_term, ignore_eof; /* 0 or 1 */
	int64_t from_call; /* number of the first that hangs, blocks or mutes; 0: each does */
	int64_t fail_from, fail_to; /* numbers of the starts that fail, the first is 1 */
	int64_t exit_after, tools, page, fork, flood_stdout, flood_stderr;
	int64_t probe, era; /* enum mp_demo_probe, enum mp_demo_era */
	const char *state, *ledger, *ends;
};

/* Reads the environment. A knob that does not exist or cannot be understood is MCPOOL_EINVAL. */
int mp_demo_knobs_read(struct mp_demo_knobs *ret_knobs, struct mcpool_error *reterr) MP_MUST;
void mp_demo_knobs_print(FILE *out);

#endif
