/*
 * queues.h - the waiting lines that `queues` defines, and which of them a call goes through (U28).
 */
#ifndef MP_QUEUES_H
#define MP_QUEUES_H

#include "base/base.h"
#include "config/values/entry.h"
#include "config/values/settings.h"

struct mp_queue_definition {
	struct mp_str name;
	size_t slots, line;
};

/*
 * The definition of this name. False: there is none. "default" is always there. "auto" slots are
 * min(64, 2 * CPUs), 0 slots no limit; what is missing or wrong is as in the default. The name in
 * ret lives as long as the settings.
 */
bool mp_queues_find(const struct mp_settings *s, struct mp_str name,
		    struct mp_queue_definition *ret);
/* The name of the queue for a call of this tool (empty: no tool): the tool's, else the server's. */
struct mp_str mp_queues_choose(const struct mp_entry *e, struct mp_str tool);
/*
 * NULL, or the sentence that says which queue of this entry is not defined; in the arena, whose
 * error tells when there was no room for it.
 */
const char *mp_queues_check(const struct mp_settings *s, const struct mp_entry *e,
			    struct mp_arena *arena);

#endif
