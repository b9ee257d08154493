/*
 * precedence.c - of several entries, which one counts.
 * The order of sources decides, never what an entry says about itself. There is one exception: an
 * unapproved entry of a project must have no effect at all, so it does not take a name or a
 * connection from an approved one.
 */
#include "config/read/precedence.h"

#include <string.h>

#include "base/limits.h"
#include "base/map.h"

static bool is_approved(const struct mp_entry *e)
{
	return e->trust == MP_TRUST_YES;
}

/* May it take something away from an approved entry? */
static bool is_weak(const struct mp_entry *e)
{
	return e->origin.level == MP_CONFIG_PROJECT && !is_approved(e);
}

static void precedence_shadow(struct mp_entry *e, const struct mp_entry *by, enum mp_shadow why)
{
	e->shadowed_by = by;
	e->shadow = why;
}

static int take_name(struct mp_map *names, struct mp_entry *e)
{
	struct mp_str name = mp_str_of(e->name);
	struct mp_entry *owner = mp_map_get(names, name);

	if (owner && !(is_weak(owner) && is_approved(e))) {
		precedence_shadow(e, owner, MP_SHADOW_NAME);
		return 0;
	}
	if (owner)
		precedence_shadow(owner, e, MP_SHADOW_APPROVED);
	return mp_map_set(names, name, e);
}

/* An entry shadowed by one that later lost its name is shadowed by the winner. */
static void follow_up(struct mp_config_set *set, const struct mp_map *names)
{
	for (size_t i = 0; i < set->n; i++)
		if (set->entries[i]->shadow != MP_SHADOW_NONE)
			set->entries[i]->shadowed_by =
				mp_map_get(names, mp_str_of(set->entries[i]->name));
}

static bool is_running(const struct mp_config_set *set, const struct mp_entry *e)
{
	return e->shadow == MP_SHADOW_NONE && !e->left_out && !e->invalid &&
	       mp_entry_is_on(e, &set->settings, MP_TOGGLE_NONE);
}

/* A disabled or broken entry opens no connection, so it takes none away. */
static int take_connection(struct mp_map *taken, struct mp_entry *e, struct mp_str key)
{
	struct mp_entry *owner = mp_map_get(taken, key);

	if (owner && !(is_weak(owner) && is_approved(e))) {
		precedence_shadow(e, owner, MP_SHADOW_CONNECTION);
		return 0;
	}
	if (owner)
		precedence_shadow(owner, e, MP_SHADOW_CONNECTION);
	return mp_map_set(taken, key, e);
}

/* A remote source's server is compared by where it leads, whatever its headers (C10). */
static int take_endpoint(struct mp_map *taken, struct mp_entry *e)
{
	const struct mp_entry *owner = mp_map_get(taken, e->endpoint);

	return owner && owner->shadow == MP_SHADOW_NONE ? 0 : mp_map_set(taken, e->endpoint, e);
}

static int decide_connections(struct mp_config_set *set, struct mp_map *taken)
{
	int r = 0;

	for (size_t i = 0; i < set->n && r == 0; i++) {
		struct mp_entry *e = set->entries[i];
		bool is_remote = e->origin.level == MP_CONFIG_REMOTE;

		if (!is_running(set, e))
			continue;
		if (is_remote || set->settings.shadow_equal)
			r = take_connection(taken, e, is_remote ? e->endpoint : e->connection);
		if (r == 0 && e->shadow == MP_SHADOW_NONE)
			r = take_endpoint(taken, e);
	}
	return r;
}

/* An entry shadowed by one that then lost to another is shadowed by that one. */
static void follow_connections(struct mp_config_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		struct mp_entry *e = set->entries[i];

		while (e->shadow == MP_SHADOW_CONNECTION && e->shadowed_by->shadowed_by)
			e->shadowed_by = e->shadowed_by->shadowed_by;
	}
}

/* --- servers that the embedding host implements itself (A11) --------------------------------- */

/* How a server of this word is recognized under another name. */
static const struct native {
	const char *word, *domain, *package;
} natives[] = {
	{"exa", "exa.ai", "exa-mcp-server"},
};

/* The host of an address as it is written; empty: it is none. */
static struct mp_str get_host(const char *address)
{
	const char *host = strstr(address, "://"), *user;

	if (!host)
		return MP_STR("");
	host += 3;
	user = memrchr(host, '@', strcspn(host, "/?#"));
	host = user ? user + 1 : host;
	return (struct mp_str){host, strcspn(host, ":/?#")};
}

static bool is_in_domain(struct mp_str host, struct mp_str domain)
{
	size_t before = host.len - domain.len;

	return host.len >= domain.len &&
	       mp_str_eq_nocase((struct mp_str){host.p + before, domain.len}, domain) &&
	       (before == 0 || host.p[before - 1] == '.');
}

/* The name of a package or program: without scope, folder and version. */
static struct mp_str get_package(const char *word)
{
	const char *slash = strrchr(word, '/');

	word = slash ? slash + 1 : word;
	return (struct mp_str){word, strcspn(word, "@")};
}

static bool is_native(const struct mp_entry *e, const struct native *n)
{
	struct mp_str domain = mp_str_of(n->domain);

	if (e->address && is_in_domain(get_host(e->address), domain))
		return true;
	for (size_t i = 0; i < e->argc; i++)
		if (is_in_domain(get_host(e->argv[i]), domain) ||
		    mp_str_eq(get_package(e->argv[i]), mp_str_of(n->package)))
			return true;
	return false;
}

static bool is_left_out(const struct mp_entry *e, const char *word)
{
	if (mp_str_eq_nocase(mp_str_of(e->name), mp_str_of(word)))
		return true;
	for (size_t i = 0; i < MP_ARRAY_LEN(natives); i++)
		if (strcmp(natives[i].word, word) == 0 && is_native(e, &natives[i]))
			return true;
	return false;
}

static void leave_out(struct mp_config_set *set)
{
	const struct mp_bind_list *words = &set->settings.host_native;

	for (size_t i = 0; i < set->n; i++)
		for (size_t k = 0; k < words->n && !set->entries[i]->left_out; k++)
			set->entries[i]->left_out = is_left_out(set->entries[i], words->items[k]);
}

int mp_precedence_decide(struct mp_config_set *set)
{
	struct mp_map map;
	int r = 0;

	mp_map_init(&map, (size_t)4 * MP_LIMIT_SERVERS);
	for (size_t i = 0; i < set->n && r == 0; i++)
		r = take_name(&map, set->entries[i]);
	if (r == 0)
		follow_up(set, &map);
	mp_map_done(&map);
	leave_out(set);
	if (r < 0)
		return r;
	mp_map_init(&map, (size_t)4 * MP_LIMIT_SERVERS);
	if (set->settings.shadow_equal || set->has_remote)
		r = decide_connections(set, &map);
	mp_map_done(&map);
	follow_connections(set);
	return r;
}
