/*
 * workspace_config.h - what a workspace has loaded: its servers' entries, its environment and their
 * launch keys. Never changed, shared by count: an instance that drains keeps its own.
 */
#ifndef MP_WORKSPACE_CONFIG_H
#define MP_WORKSPACE_CONFIG_H

#include "config/values/set.h"
#include "pool/launch_ops.h"

struct mp_workspace_config {
	unsigned refs;
	struct mp_config_set *set;
	char **env;
	char *who;            /* whose environment that is; NULL: the hub's own */
	struct mp_keys *keys; /* NULL until they are known */
};

/* set is referenced, env copied. */
struct mp_workspace_config *mp_workspace_config_new(struct mp_config_set *set, char *const *env);
struct mp_workspace_config *mp_workspace_config_ref(struct mp_workspace_config *c);
struct mp_workspace_config *mp_workspace_config_unref(struct mp_workspace_config *c);

#endif
