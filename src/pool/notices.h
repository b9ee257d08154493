/*
 * notices.h - notifications of a server that nobody listens to yet: the newest are kept, and handed
 * to the first listener in order; from then on they pass straight through (U25).
 */
#ifndef MP_NOTICES_H
#define MP_NOTICES_H

#include "base/base.h"
#include "base/list.h"
#include "base/str.h"

struct mp_notices {
	struct mp_list kept; /* the oldest first */
	size_t bytes;        /* of their texts */
	uint64_t dropped;    /* for want of room or memory, since somebody last listened */
	void (*fn)(void *u, struct mp_str text); /* the listener; NULL: none */
	void *u;
	bool is_handing_over;
};

void mp_notices_init(struct mp_notices *n);
/* What is kept is dropped; the listener hears nothing more. */
void mp_notices_done(struct mp_notices *n);

/* One notification, a whole JSON-RPC message; copied if it is kept. */
void mp_notices_add(struct mp_notices *n, struct mp_str text);
/*
 * From now on fn hears of each one, and before this returns of those that were kept. Tells how many
 * had been dropped. From within fn one may add and stop, not listen and not be done. There must be
 * no listener yet.
 */
uint64_t mp_notices_listen(struct mp_notices *n, void (*fn)(void *u, struct mp_str text), void *u);
/* The last listener is gone: they are kept again. */
void mp_notices_stop(struct mp_notices *n);
size_t mp_notices_count(const struct mp_notices *n); /* that are kept */

#endif
