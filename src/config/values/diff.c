/*
 * diff.c - an old set against a new one: added, changed, gone, unchanged.
 */
#include "config/values/diff.h"

#include <string.h>

#include "base/limits.h"
#include "config/values/effective.h"

const char *mp_change_kind_get_name(enum mp_change_kind kind)
{
	static const char *const names[] = {"added", "changed", "gone", "unchanged"};

	return names[kind];
}

static enum mp_status_state state_of(const struct mp_config_set *set, const struct mp_entry *e)
{
	return mp_config_get_state(set, e, MP_TOGGLE_NONE);
}

static bool is_same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool is_same_list(const struct mp_bind_list *a, const struct mp_bind_list *b)
{
	for (size_t i = 0; a->n == b->n && i < a->n; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return a->n == b->n;
}

/* Everything that running it depends on: the entry, its file, its scripts, and what holds for it.
 */
static int is_same(const struct mp_entry *a, const struct mp_entry *b)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf x, y;
	int r;

	mp_buf_init(&x, MP_LIMIT_ARENA);
	mp_buf_init(&y, MP_LIMIT_ARENA);
	if (!mp_str_eq(a->canonical, b->canonical) || strcmp(a->origin.real, b->origin.real) != 0 ||
	    strcmp(a->origin.root, b->origin.root) != 0 ||
	    strcmp(a->origin.tool, b->origin.tool) != 0 || !is_same_text(a->scripts, b->scripts) ||
	    !is_same_text(a->invalid, b->invalid) ||
	    !is_same_list(&a->tools_denied, &b->tools_denied)) /* the settings deny some, too */
		return 0;
	r = mp_effective_add(a, &x);
	if (r == 0)
		r = mp_effective_add(b, &y);
	return r < 0 ? r : mp_str_eq(mp_buf_get(&x), mp_buf_get(&y));
}

static int diff_compare(const struct mp_config_set *before, const struct mp_config_set *after,
			const struct mp_entry *e, mp_config_change_fn fn, void *u)
{
	struct mp_config_change c = {.after = e, .is = state_of(after, e)};
	int same;

	c.before = before ? mp_config_find(before, e->name) : NULL;
	c.kind = c.before ? MP_UNCHANGED : MP_ADDED;
	if (c.before) {
		c.was = state_of(before, c.before);
		same = is_same(c.before, e);
		if (same < 0)
			return same;
		if (!same || c.was != c.is)
			c.kind = MP_CHANGED;
	}
	fn(u, &c);
	return c.kind != MP_UNCHANGED;
}

int mp_diff(const struct mp_config_set *before, const struct mp_config_set *after,
	    mp_config_change_fn fn, void *u)
{
	int changes = 0;

	for (size_t i = 0; i < after->n; i++) {
		int r;

		if (after->entries[i]->shadow != MP_SHADOW_NONE)
			continue;
		r = diff_compare(before, after, after->entries[i], fn, u);
		if (r < 0)
			return r;
		changes += r;
	}
	for (size_t i = 0; before && i < before->n; i++) {
		const struct mp_entry *e = before->entries[i];

		if (e->shadow != MP_SHADOW_NONE || mp_config_find(after, e->name))
			continue;
		fn(u, &(struct mp_config_change){MP_GONE, e, NULL, state_of(before, e),
						 MP_STATUS_SHADOWED});
		changes++;
	}
	return changes;
}
