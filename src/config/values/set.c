/*
 * set.c - a loaded configuration set: its references, and what it says of an entry.
 */
#include "config/values/set.h"

#include <string.h>

#include "base/mem.h"

struct mp_config_set *mp_config_set_ref(struct mp_config_set *set)
{
	set->refs++;
	return set;
}

struct mp_config_set *mp_config_set_unref(struct mp_config_set *set)
{
	if (!set || --set->refs > 0)
		return NULL;
	mp_arena_done(&set->arena);
	return mp_free(set);
}

const struct mp_entry *mp_config_find(const struct mp_config_set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->entries[i]->shadow == MP_SHADOW_NONE &&
		    strcmp(set->entries[i]->name, name) == 0)
			return set->entries[i];
	return NULL;
}

enum mp_status_state mp_config_get_state(const struct mp_config_set *set, const struct mp_entry *e,
					 enum mp_toggle toggle)
{
	if (e->shadow != MP_SHADOW_NONE || e->left_out)
		return MP_STATUS_SHADOWED;
	if (!mp_entry_is_on(e, &set->settings, toggle))
		return MP_STATUS_DISABLED;
	if (e->invalid || e->unapprovable)
		return MP_STATUS_FAILED;
	return e->trust == MP_TRUST_YES ? MP_STATUS_READY : MP_STATUS_NEEDS_APPROVAL;
}
