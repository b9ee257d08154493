/*
 * known.h - what the store knows of configured servers. Nothing is started for it.
 */
#ifndef MP_KNOWN_H
#define MP_KNOWN_H

#include "cli/configured.h"

struct mp_known {
	int64_t tools;   /* -1: nothing is remembered */
	int64_t seen_ms; /* since 1970 */
};

/*
 * One for each entry of the set, in its order; the caller frees them. Returns MP_EXIT_DONE, also
 * where nothing can be recalled, or MP_EXIT_INTERRUPTED.
 */
int mp_known_recall(const struct mp_configured *c, const struct mp_cli_args *args,
		    struct mp_known **ret_list);

#endif
