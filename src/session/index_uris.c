/*
 * index_uris.c - finds the server of a URI, and the agent's URI for a server's URI.
 * A request for one server must not reach another (V39): an ambiguous URI has no server, and an
 * ambiguous link is wrapped.
 */
#include <string.h>

#include "base/limits.h"
#include "session/index.h"
#include "session/uris.h"

static const char *find_server(const struct mp_index *s, struct mp_str name)
{
	for (size_t i = 0; i < s->n_offers; i++)
		if (mp_str_eq(mp_str_of(s->servers[i]), name))
			return s->servers[i];
	return NULL;
}

static const char *find_wrapped(const struct mp_index *s, struct mp_str uri, struct mp_arena *arena,
				struct mp_str *ret_uri)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf parts;
	struct mp_str server, inner;
	const char *found = NULL, *kept = NULL;

	mp_buf_init(&parts, MP_LIMIT_MESSAGE);
	if (mp_uri_unwrap(uri, &parts, &server, &inner) == 0)
		found = find_server(s, server);
	if (found)
		kept = mp_arena_dup(arena, inner);
	*ret_uri = (struct mp_str){kept, kept ? inner.len : 0};
	return kept ? found : NULL;
}

/* The only server with a matching template, wrapped or not; NULL: none or several. */
static const char *find_by_template(const struct mp_index *s, struct mp_str uri)
{
	const char *found = NULL;

	for (size_t i = 0; i < s->n[MP_CATALOG_TEMPLATE]; i++) {
		const struct mp_index_item *w = s->items[MP_CATALOG_TEMPLATE][i];

		if (!mp_uri_matches(w->source->name, uri))
			continue;
		if (found && strcmp(found, w->server) != 0)
			return NULL;
		found = w->server;
	}
	return found;
}

static const char *find_only(const struct mp_index *s)
{
	const char *found = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->n_offers; i++)
		if (s->offers[i]->hello.offers & MP_OFFERS_RESOURCES) {
			found = s->servers[i];
			n++;
		}
	return n == 1 ? found : NULL;
}

const char *mp_index_find_resource(const struct mp_index *s, struct mp_str uri,
				   struct mp_arena *arena, struct mp_str *ret_uri)
{
	const struct mp_index_item *w = mp_map_get(&s->uris, uri);
	const char *server;

	*ret_uri = w ? w->source->name : uri;
	if (w)
		return w->server;
	if (mp_uri_is_wrapped(uri))
		return find_wrapped(s, uri, arena, ret_uri);
	server = find_by_template(s, uri);
	return server ? server : find_only(s);
}

static struct mp_str wrap_uri(const char *server, struct mp_str uri, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char *kept = NULL;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (mp_uri_wrap(mp_str_of(server), uri, false, &text) == 0)
		kept = mp_arena_dup(arena, mp_buf_get(&text));
	return kept ? (struct mp_str){kept, text.len} : uri;
}

static bool fits_template(const struct mp_index *s, struct mp_str uri)
{
	for (size_t i = 0; i < s->n[MP_CATALOG_TEMPLATE]; i++)
		if (mp_uri_matches(s->items[MP_CATALOG_TEMPLATE][i]->source->name, uri))
			return true;
	return false;
}

/*
 * Agents read web addresses themselves, so these are not wrapped unless a list or template has
 * them.
 */
static bool is_web(struct mp_str uri)
{
	return mp_str_starts(uri, MP_STR("https://")) || mp_str_starts(uri, MP_STR("http://"));
}

/* Could this URI, unwrapped, be read from another server? */
static bool may_go_astray(const struct mp_index *s, const char *server, struct mp_str uri)
{
	const char *only;

	if (mp_map_has(&s->uris, uri) || fits_template(s, uri))
		return true;
	only = is_web(uri) ? NULL : find_only(s);
	return only && strcmp(only, server) != 0;
}

struct mp_str mp_index_get_public_uri(const struct mp_index *s, const char *server,
				      struct mp_str uri, struct mp_arena *arena)
{
	const struct mp_index_item *w = mp_map_get(&s->uris, uri);
	struct mp_str wrapped;

	if (w && !w->is_wrapped && strcmp(w->server, server) == 0)
		return uri;
	if (mp_uri_is_wrapped(uri) || (s->n_offers > 1 && may_go_astray(s, server, uri)))
		return wrap_uri(server, uri, arena);
	wrapped = s->has_wrapped ? wrap_uri(server, uri, arena) : uri;
	return mp_map_has(&s->uris, wrapped) ? wrapped : uri;
}
