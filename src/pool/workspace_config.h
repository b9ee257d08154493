/*
 * workspace_config.h - what a workspace has loaded: entries, environment and launch keys.
 * Immutable and reference-counted: a draining instance keeps its own.
 */
#ifndef MP_WORKSPACE_CONFIG_H
#define MP_WORKSPACE_CONFIG_H

#include "config/values/set.h"
#include "pool/launch_ops.h"

struct mp_workspace_config {
	unsigned refs;
	struct mp_config_set *set;
	char **env;
	char *who;            /* display name of the environment; NULL: the hub's own */
	struct mp_keys *keys; /* NULL until they are known */
};

/* set is referenced, env copied. */
struct mp_workspace_config *mp_workspace_config_new(struct mp_config_set *set, char *const *env);
struct mp_workspace_config *mp_workspace_config_ref(struct mp_workspace_config *c);
struct mp_workspace_config *mp_workspace_config_unref(struct mp_workspace_config *c);

#endif
