/*
 * held.c - public names of earlier runs, and of this run for the next.
 */
#include "session/held.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/values/set.h"

const char *mp_held_get_root(const struct mp_config_set *set)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->entries[i]->origin.root[0] && set->entries[i]->trust == MP_TRUST_YES)
			return set->entries[i]->origin.root;
	return "";
}

void mp_held_init(struct mp_held *h, struct mp_db *db, const char *root, enum mp_naming style,
		  int kind)
{
	*h = (struct mp_held){.db = db};
	mp_held_name_scope(root, (int)style, kind, &h->scope);
	mp_map_init(&h->by_name, (size_t)4 * MP_LIMIT_NAMES);
	mp_arena_init(&h->arena, MP_LIMIT_ARENA);
}

void mp_held_done(struct mp_held *h)
{
	mp_map_done(&h->by_name);
	mp_arena_done(&h->arena);
}

static bool is_configured(const struct mp_held *h, struct mp_str server)
{
	for (size_t i = 0; i < h->n_servers; i++)
		if (mp_str_eq(mp_str_of(h->servers[i]), server))
			return true;
	return false;
}

static struct mp_str held_copy(struct mp_held *h, struct mp_str text)
{
	char *kept = mp_arena_dup(&h->arena, text);

	return (struct mp_str){kept, kept ? text.len : 0};
}

/* Without memory a name counts as contested, which harms no server. */
static void held_add(void *u, struct mp_str public_name, struct mp_str server, struct mp_str name)
{
	struct mp_held *h = u;
	struct mp_name_holder *holder = mp_map_get(&h->by_name, public_name);

	if (!is_configured(h, server))
		return;
	if (holder) {
		holder->is_shared = true;
		return;
	}
	holder = mp_arena_alloc(&h->arena, sizeof(*holder));
	if (!holder)
		return;
	*holder = (struct mp_name_holder){held_copy(h, server), held_copy(h, name), false};
	holder->is_shared = !holder->server.p || !holder->name.p;
	(void)!mp_map_set(&h->by_name, public_name, holder);
}

const struct mp_name_holder *mp_held_get_holder(void *u, struct mp_str public_name)
{
	struct mp_held *h = u;

	if (!h->is_loaded && h->db)
		(void)!mp_held_read(h->db, &h->scope, held_add, h, NULL);
	h->is_loaded = true;
	return mp_map_get(&h->by_name, public_name);
}

/* Equal to what was written last, by any session. */
static bool is_noted(const struct mp_held *h, struct mp_str rows, struct mp_map *noted)
{
	struct mp_str key = {(const char *)h->scope.bytes, sizeof(h->scope.bytes)};
	unsigned char *last = mp_map_get(noted, key), now[MP_DIGEST_SIZE];
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, rows);
	mp_digest_finish(d, now);
	if (last && memcmp(last, now, sizeof(now)) == 0)
		return true;
	if (!last) {
		last = mp_alloc(sizeof(now));
		if (mp_map_set(noted, key, last) < 0) {
			mp_free(last);
			return false;
		}
	}
	memcpy(last, now, sizeof(now));
	return false;
}

void mp_held_note(const struct mp_held *h, const struct mp_names *names, struct mp_map *noted)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf rows;

	mp_buf_init(&rows, MP_LIMIT_MESSAGE);
	for (size_t i = 0; h->db && i < mp_names_count(names); i++) {
		const struct mp_name *n = mp_names_get(names, i);

		if (n->is_alone && mp_held_add(&rows, n->public_name, n->server, n->name) < 0)
			break;
	}
	if (rows.len && !is_noted(h, mp_buf_get(&rows), noted))
		mp_held_write(h->db, &h->scope, &rows);
}
