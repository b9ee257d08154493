/*
 * toggle.c - servers that somebody switched on or off, in their own view and in no file (C20).
 */
#include <string.h>

#include "base/error.h"
#include "pool/party_parts.h"
#include "pool/seat.h"

enum mp_toggle mp_toggle_recall(const struct mp_view *v, const char *name)
{
	return (enum mp_toggle)(uintptr_t)mp_map_get(&v->toggles, mp_str_of(name));
}

static int keep(struct mp_view *v, const char *name, enum mp_toggle toggle)
{
	if (toggle != MP_TOGGLE_NONE)
		return mp_map_set(&v->toggles, mp_str_of(name), (void *)(uintptr_t)toggle);
	mp_map_remove(&v->toggles, mp_str_of(name));
	return 0;
}

/* Those that sessions have for themselves belong to nobody else. */
static void dismiss_private(struct mp_view *v, const char *name)
{
	MP_LIST_WALK(&v->pool->instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);

		if (in->session && in->scene == v->scene && strcmp(in->e->name, name) == 0)
			mp_instance_leave(in);
	}
}

/* What another view means as well stays. */
static void dismiss(struct mp_view *v, size_t i)
{
	struct mp_instance *in = mp_ids_get(&v->pool->ids, v->seats[i].instance);

	mp_seat_give_up(v, i);
	if (in && in->seats == 0)
		mp_instance_leave(in);
	dismiss_private(v, mp_seat_get_entry(v, i)->name);
}

int mp_view_toggle(struct mp_view *v, const char *name, enum mp_toggle toggle,
		   struct mcpool_error *reterr)
{
	static const char *const words[] = {"left to the files", "switched on", "switched off"};
	ptrdiff_t i = mp_view_find(v, name);
	bool was_ready;
	int r;

	if (i < 0)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no server '%s'", name);
	r = keep(v, name, toggle);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	was_ready = mp_seat_get_state(v, (size_t)i) == MP_ENTRY_READY;
	v->seats[i].toggle = toggle;
	mp_event(v->pool->o.events, v->seats[i].instance, MP_EVENT_TOGGLED, "%s: %s", name,
		 words[toggle]);
	if (mp_seat_get_state(v, (size_t)i) != MP_ENTRY_READY)
		dismiss(v, (size_t)i);
	else if (!was_ready && mp_seat_get_entry(v, (size_t)i)->tuning.mode != MP_MODE_SESSION)
		mp_view_start_server(v, (size_t)i, 0, false);
	mp_subscriptions_resettle(v);
	return 0;
}
