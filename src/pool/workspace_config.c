/*
 * workspace_config.c - what a workspace has loaded, reference-counted.
 */
#include "pool/workspace_config.h"

#include "base/mem.h"
#include "process/environment.h"

struct mp_workspace_config *mp_workspace_config_new(struct mp_config_set *set, char *const *env)
{
	struct mp_workspace_config *c = mp_alloc(sizeof(*c));

	c->refs = 1;
	c->set = mp_config_set_ref(set);
	c->env = mp_environment_copy(env);
	return c;
}

struct mp_workspace_config *mp_workspace_config_ref(struct mp_workspace_config *c)
{
	c->refs++;
	return c;
}

struct mp_workspace_config *mp_workspace_config_unref(struct mp_workspace_config *c)
{
	if (!c || --c->refs > 0)
		return NULL;
	mp_config_set_unref(c->set);
	mp_environment_free(c->env);
	mp_free(c->who);
	mp_keys_free(c->keys);
	return mp_free(c);
}
