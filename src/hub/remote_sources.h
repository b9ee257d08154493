/*
 * remote_sources.h - fetches the remote sources of `remote`: when they are due, one by one, with
 * the answer kept as a copy (config/read/remote_source.h). Whoever follows the configuration's
 * files sees it change.
 */
#ifndef MP_REMOTE_SOURCES_H
#define MP_REMOTE_SOURCES_H

#include "base/base.h"
#include "base/loop.h"
#include "config/values/set.h"

struct mp_remote_sources;

/* rested: none of them is being asked any more; may be NULL. Called from the loop. */
struct mp_remote_sources *mp_remote_sources_new(struct mp_loop *loop, void (*rested)(void *u),
						void *u);
struct mp_remote_sources *mp_remote_sources_free(
	struct mp_remote_sources *c); /* accepts NULL, returns NULL */
/* These are the ones from now on; those that are due are asked at once. */
void mp_remote_sources_follow(struct mp_remote_sources *c, const struct mp_config_set *set);
bool mp_remote_sources_is_asking(const struct mp_remote_sources *c);

/*
 * For a program that ends soon: ask those that are due, and wait: 10 s for one that was never
 * fetched, 2 s where there is a copy. True: some were asked, so that the set is outdated.
 */
bool mp_remote_sources_ask_once(const struct mp_config_set *set);

#endif
