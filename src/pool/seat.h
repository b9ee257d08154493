/*
 * seat.h - what a view is made of; for view.c and shown.c.
 */
#ifndef MP_SEAT_H
#define MP_SEAT_H

#include "pool/instance.h"

/* An entry that has its name. */
struct mp_seat {
	size_t entry; /* its place in the set */
	enum mp_toggle toggle;
	mp_id instance; /* 0: none yet, or each session has its own */
};

struct mp_arrival;

struct mp_view {
	struct mp_link link; /* in the pool's views */
	struct mp_pool *pool;
	char **env;             /* owned */
	char *problem;          /* with its files; owned; NULL: none */
	char *who;              /* whose that is; owned; NULL: the hub's own */
	struct mp_scene *scene; /* what holds; has its keys. NULL: nothing yet */
	struct mp_seat *seats;  /* owned */
	size_t n;
	struct mp_map by_name;      /* to a seat's place + 1 */
	struct mp_map toggles;      /* names that were switched, to an mp_toggle */
	struct mp_arrival *arrival; /* the last one under way */
};

/* view.c: this view no longer means that instance. */
void mp_seat_give_up(struct mp_view *v, size_t i);
/* toggle.c: how a server of this name was switched. */
enum mp_toggle mp_toggle_recall(const struct mp_view *v, const char *name);

static inline const struct mp_entry *mp_seat_get_entry(const struct mp_view *v, size_t i)
{
	return v->scene->set->entries[v->seats[i].entry];
}

static inline enum mp_entry_state mp_seat_get_state(const struct mp_view *v, size_t i)
{
	return mp_config_get_state(v->scene->set, mp_seat_get_entry(v, i), v->seats[i].toggle);
}

static inline const struct mp_key *mp_seat_get_key(const struct mp_view *v, size_t i)
{
	return &v->scene->keys->of[v->seats[i].entry];
}

static inline struct mp_instance *mp_seat_get_instance(const struct mp_view *v, size_t i,
						       mp_id session)
{
	struct mp_instance *in = mp_ids_get(&v->pool->ids, v->seats[i].instance);

	if (in || !mp_seat_get_key(v, i)->is_known || mp_seat_get_state(v, i) != MP_ENTRY_READY)
		return in;
	return mp_instance_find(v->pool, v->scene, v->seats[i].entry, session);
}

#endif
