/*
 * catalogues.h - fetches the catalogues of `remote`: when they are due, one by one, with the answer
 * kept as a copy (config/catalogue.h). Whoever follows the configuration's files sees it change.
 */
#ifndef MP_CATALOGUES_H
#define MP_CATALOGUES_H

#include "base/base.h"
#include "base/loop.h"
#include "config/set.h"

#define MP_CATALOGUES_STATES(X)                                  \
	X(RESTING, "resting", "it is not due yet")               \
	X(ASKING, "asking", "a request is out, no answer began") \
	X(READING, "reading", "its content is on its way")

#define MP_CATALOGUES_EVENTS(X)                        \
	X(DUE, "it is time")                           \
	X(CONTENT, "an answer began, with a content")  \
	X(MOVED, "it is elsewhere on the same server") \
	X(SAME, "it is what it was")                   \
	X(COMPLETE, "all of the content is there")     \
	X(FAILED, "it cannot be had; why is noted")

enum mp_catalogues_state {
#define X(name, word, meaning) MP_CATALOGUES_##name,
	MP_CATALOGUES_STATES(X)
#undef X
		MP_CATALOGUES_STATE_COUNT
};
enum mp_catalogues_event {
#define X(name, meaning) MP_CATALOGUES_ON_##name,
	MP_CATALOGUES_EVENTS(X)
#undef X
		MP_CATALOGUES_EVENT_COUNT
};

struct mp_catalogues;

/* rested: none of them is being asked any more; may be NULL. Called from the loop. */
struct mp_catalogues *mp_catalogues_new(struct mp_loop *loop, void (*rested)(void *u), void *u);
struct mp_catalogues *mp_catalogues_free(struct mp_catalogues *c); /* accepts NULL, returns NULL */
/* These are the ones from now on; those that are due are asked at once. */
void mp_catalogues_follow(struct mp_catalogues *c, const struct mp_config_set *set);
bool mp_catalogues_is_asking(const struct mp_catalogues *c);

/*
 * For a program that ends soon: ask those that are due, and wait: 10 s for one that was never
 * fetched, 2 s where there is a copy. True: some were asked, so that the set is outdated.
 */
bool mp_catalogues_ask_once(const struct mp_config_set *set);

/* For its test: what the table says. False: an empty cell. */
bool mp_catalogues_look_up(enum mp_catalogues_state s, enum mp_catalogues_event ev,
			   enum mp_catalogues_state *ret_to);

#endif
