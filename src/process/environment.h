/*
 * environment.h - the variables of a server (doc/protocol.md, "Environment of servers").
 */
#ifndef MP_ENVIRONMENT_H
#define MP_ENVIRONMENT_H

#include "base/base.h"

/* In every server of a hub: the hub's socket. A bridge that finds its own hub there is a server. */
#define MP_ENVIRONMENT_HUB "MCPOOL_SERVED_BY"
/* In a server of mode session: the id of its session, for `mcpool stdio --parent`. */
#define MP_ENVIRONMENT_SESSION "MCPOOL_SESSION"

enum mp_environment {
	MP_ENVIRONMENT_INHERIT, /* ours, without what belongs to agents and to our own start */
	MP_ENVIRONMENT_MINIMAL, /* what programs need to find their way */
	MP_ENVIRONMENT_NONE,
};

/*
 * A list for mp_launch.env, to be freed with mp_environment_free(). from: "NAME=value" entries to
 * choose from, ends in NULL. extra: the server's own entries, which win; may be NULL.
 */
char **mp_environment_build(enum mp_environment mode, char *const *from, char *const *extra);
/*
 * Do servers start alike with both? What belongs to one agent, terminal or login does not count.
 */
bool mp_environment_is_same(char *const *a, char *const *b);
size_t mp_environment_count(char *const *env);
/* The same with this "NAME=value" in it, in the place of any of that name; env is taken. */
char **mp_environment_put(char **env, const char *entry);
/* All of it, as it is. */
char **mp_environment_copy(char *const *env);
char **mp_environment_free(char **env); /* accepts NULL, returns NULL */

#endif
