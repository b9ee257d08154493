/*
 * toggle.c - servers switched on or off in one workspace, without changing a file (C20).
 */
#include <string.h>

#include "base/error.h"
#include "pool/workspace.h"

enum mp_toggle mp_toggle_recall(const struct mp_workspace *w, const char *name)
{
	return (enum mp_toggle)(uintptr_t)mp_map_get(&w->toggles, mp_str_of(name));
}

static int keep(struct mp_workspace *w, const char *name, enum mp_toggle toggle)
{
	if (toggle != MP_TOGGLE_NONE)
		return mp_map_set(&w->toggles, mp_str_of(name), (void *)(uintptr_t)toggle);
	mp_map_remove(&w->toggles, mp_str_of(name));
	return 0;
}

/* Stops the private instances that sessions of this workspace have. */
static void dismiss_private(struct mp_workspace *w, const char *name)
{
	MP_LIST_WALK(&w->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		if (in->session && in->config == w->config && strcmp(in->e->name, name) == 0)
			mp_instance_leave(in);
	}
}

/* An instance that another workspace uses continues. */
static void dismiss(struct mp_workspace *w, size_t i)
{
	struct mp_instance *in = mp_ids_get(&w->pool->ids, w->entries[i].instance);

	mp_workspace_entry_give_up(w, i);
	if (in && in->n_entries == 0)
		mp_instance_leave(in);
	dismiss_private(w, mp_workspace_get_entry(w, i)->name);
}

int mp_workspace_toggle(struct mp_workspace *w, const char *name, enum mp_toggle toggle,
			struct mcpool_error *reterr)
{
	static const char *const words[] = {"left to the files", "switched on", "switched off"};
	ptrdiff_t i = mp_workspace_find(w, name);
	bool was_ready;
	int r;

	if (i < 0)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no server '%s'", name);
	r = keep(w, name, toggle);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	was_ready = mp_workspace_entry_get_state(w, (size_t)i) == MP_STATUS_READY;
	w->entries[i].toggle = toggle;
	mp_event(w->pool->o.events, w->entries[i].instance, MP_EVENT_TOGGLED, "%s: %s", name,
		 words[toggle]);
	if (mp_workspace_entry_get_state(w, (size_t)i) != MP_STATUS_READY)
		dismiss(w, (size_t)i);
	else if (!was_ready && mp_workspace_get_entry(w, (size_t)i)->tuning.mode != MP_MODE_SESSION)
		mp_workspace_start_server(w, (size_t)i, 0, false);
	mp_subscriptions_resettle(w);
	return 0;
}
