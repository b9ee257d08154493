/*
 * ids.c - 64-bit ids to objects; an id is handed out once.
 * Open addressing with linear probing; removal closes the gap, so there are no tombstones and a
 * table that is emptied and filled for months stays fast.
 */
#include "base/ids.h"

#include "base/mem.h"

enum { FIRST_SLOTS = 16 };

struct mp_ids_slot {
	mp_id id; /* 0: empty */
	void *object;
};

void mp_ids_init(struct mp_ids *ids)
{
	*ids = (struct mp_ids){0};
}

void mp_ids_done(struct mp_ids *ids)
{
	mp_free(ids->slots);
	ids->slots = NULL;
	ids->n_slots = ids->len = 0;
}

/*
 * Multiplied by the golden ratio (Knuth, 6.4) neighbours land far apart. By their low bits alone,
 * a thousand objects that stay would be one long run that every later lap of the ids probes along.
 */
static size_t home_of(const struct mp_ids *ids, mp_id id)
{
	return (size_t)(id * 0x9e3779b97f4a7c15u >> (__builtin_clzll(ids->n_slots) + 1));
}

static size_t find_slot(const struct mp_ids *ids, mp_id id)
{
	size_t at = home_of(ids, id);

	while (ids->slots[at].id && ids->slots[at].id != id)
		at = (at + 1) & (ids->n_slots - 1);
	return at;
}

static void grow(struct mp_ids *ids)
{
	struct mp_ids_slot *old = ids->slots;
	size_t n_old = ids->n_slots;

	ids->n_slots = n_old ? n_old * 2 : FIRST_SLOTS;
	ids->slots = mp_alloc(ids->n_slots * sizeof(*ids->slots));
	for (size_t i = 0; i < n_old; i++)
		if (old[i].id)
			ids->slots[find_slot(ids, old[i].id)] = old[i];
	mp_free(old);
}

void mp_ids_put(struct mp_ids *ids, mp_id id, void *object)
{
	struct mp_ids_slot *slot;

	mp_check(id && object);
	if (ids->len >= ids->n_slots / 2)
		grow(ids);
	slot = &ids->slots[find_slot(ids, id)];
	mp_check(!slot->id);
	*slot = (struct mp_ids_slot){id, object};
	ids->len++;
}

mp_id mp_ids_add(struct mp_ids *ids, void *object)
{
	mp_ids_put(ids, ids->last + 1, object);
	return ++ids->last;
}

void *mp_ids_get(const struct mp_ids *ids, mp_id id)
{
	if (id == 0 || ids->len == 0)
		return NULL;
	return ids->slots[find_slot(ids, id)].object;
}

/* Pull back every slot behind the gap that would no longer be found across it. */
static void close_gap(struct mp_ids *ids, size_t gap)
{
	size_t mask = ids->n_slots - 1;

	for (size_t at = (gap + 1) & mask; ids->slots[at].id; at = (at + 1) & mask) {
		size_t home = home_of(ids, ids->slots[at].id);

		if (((at - home) & mask) < ((at - gap) & mask))
			continue; /* its home lies behind the gap */
		ids->slots[gap] = ids->slots[at];
		gap = at;
	}
	ids->slots[gap] = (struct mp_ids_slot){0, NULL};
}

void *mp_ids_remove(struct mp_ids *ids, mp_id id)
{
	void *object = mp_ids_get(ids, id);

	if (!object)
		return NULL;
	close_gap(ids, find_slot(ids, id));
	ids->len--;
	return object;
}
