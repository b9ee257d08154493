/*
 * remote_sources.h - fetches the remote sources of `remote` when they are due, one by one, and
 * keeps the response as a copy (config/read/remote_source.h). File watchers then see the change.
 */
#ifndef MP_REMOTE_SOURCES_H
#define MP_REMOTE_SOURCES_H

#include "base/base.h"
#include "base/loop.h"
#include "config/values/set.h"

struct mp_remote_sources;

/* rested: called from the loop when no request is open; may be NULL. */
struct mp_remote_sources *mp_remote_sources_new(struct mp_loop *loop, void (*rested)(void *u),
						void *u);
struct mp_remote_sources *mp_remote_sources_free(
	struct mp_remote_sources *c); /* accepts NULL, returns NULL */
/* Replace the list of sources; those that are due are asked at once. */
void mp_remote_sources_follow(struct mp_remote_sources *c, const struct mp_config_set *set);
bool mp_remote_sources_is_asking(const struct mp_remote_sources *c);

/*
 * For a program that ends soon: ask the sources that are due, and wait: 10 s for one that was never
 * fetched, 2 s if there is a copy. True: some were asked, so the set is outdated.
 */
bool mp_remote_sources_ask_once(const struct mp_config_set *set);

#endif
