/*
 * index.c - the merged catalog at one moment: all servers' lists under public names, sorted.
 */
#include "session/index.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/values/filter.h"
#include "pool/gate.h"
#include "session/held.h"
#include "session/task_tools.h"
#include "session/uris.h"

/* --- gathering ------------------------------------------------------------------------------- */

static bool is_offered(struct mp_workspace *v, size_t i, mp_id session)
{
	enum mp_status_state state = mp_workspace_get_state(v, i, session);

	return state != MP_STATUS_DISABLED && state != MP_STATUS_NEEDS_APPROVAL;
}

static int make_room(struct mp_index *s, size_t servers)
{
	s->configured = mp_arena_alloc_array(&s->arena, servers + 1, sizeof(char *));
	s->is_late = mp_arena_alloc_array(&s->arena, servers + 1, sizeof(bool));
	s->offers =
		mp_arena_alloc_array(&s->arena, servers + 1, sizeof(struct mp_server_catalog *));
	s->servers = mp_arena_alloc_array(&s->arena, servers + 1, sizeof(char *));
	s->wrapped = mp_arena_alloc_array(&s->arena, servers + 1, sizeof(size_t));
	return s->offers && s->servers && s->wrapped && s->configured && s->is_late
		       ? 0
		       : mp_arena_get_error(&s->arena);
}

/* Takes ownership of the reference. */
static int add_offer(struct mp_index *s, const char *server, struct mp_server_catalog *offer)
{
	s->offers[s->n_offers] = offer;
	s->servers[s->n_offers] = mp_arena_dup(&s->arena, mp_str_of(server));
	return s->servers[s->n_offers++] ? 0 : mp_arena_get_error(&s->arena);
}

/* is_late: it has no list yet, and may have one soon. */
static int add_server(struct mp_index *s, const char *server, bool is_late)
{
	size_t i = s->n_configured++;

	s->configured[i] = mp_arena_dup(&s->arena, mp_str_of(server));
	s->is_late[i] = is_late;
	s->has_late |= is_late;
	return s->configured[i] ? 0 : mp_arena_get_error(&s->arena);
}

static bool index_shows(const struct mp_index_options *o, const char *server)
{
	const struct mp_bind_list none = {0};

	return mp_filter_lets_pass(o->servers, &none, mp_str_of(server));
}

static int gather_offers(struct mp_index *s, const struct mp_index_options *o)
{
	size_t n = mp_workspace_count(o->workspace);
	int r = make_room(s, n);

	for (size_t i = 0; i < n && r == 0; i++) {
		const char *name = mp_workspace_get_entry(o->workspace, i)->name;
		bool is_shown = index_shows(o, name) && is_offered(o->workspace, i, o->session);
		struct mp_server_catalog *offer =
			is_shown ? mp_workspace_get_catalog(o->workspace, i, o->session) : NULL;

		if (offer)
			r = add_offer(s, name, offer);
		if (r == 0)
			r = add_server(s, name,
				       is_shown && !offer &&
					       mp_gate_is_unknown(o->workspace, i, o->session));
	}
	return r;
}

/* The agent's tool filter may use the server's name or the public one. */
static bool is_wanted(const struct mp_index_options *o, const struct mp_entry *e,
		      struct mp_str tool)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf public;
	enum mp_naming style = o->style;
	const struct mp_bind_list none = {0};

	mp_buf_init(&public, MP_KIB(4));
	if (!mp_filter_lets_pass(&e->tools_allowed, &e->tools_denied, tool))
		return false;
	return mp_filter_lets_pass(o->tools, &none, tool) ||
	       (mp_names_make(style, mp_str_of(e->name), tool, &public) == 0 &&
		mp_filter_lets_pass(o->tools, &none, mp_buf_get(&public)));
}

static struct mp_index_item *add_item(struct mp_index *s, enum mp_catalog_kind kind, size_t offer,
				      const struct mp_catalog_item *item)
{
	struct mp_index_item *w = mp_arena_alloc(&s->arena, sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct mp_index_item){
		.public_name = item->name,
		.server = s->servers[offer],
		.offer = offer,
		.source = item,
		.era = s->offers[offer]->hello.era,
		.is_task = kind == MP_CATALOG_TOOL && mp_task_is_required(item->json),
	};
	s->items[kind][s->n[kind]++] = w;
	return w;
}

static int add_list(struct mp_index *s, const struct mp_index_options *o, enum mp_catalog_kind kind,
		    size_t offer)
{
	const struct mp_catalog_list *list = &s->offers[offer]->lists[kind]->list;
	ptrdiff_t at = o ? mp_workspace_find(o->workspace, s->servers[offer]) : -1;
	const struct mp_entry *e = at < 0 ? NULL : mp_workspace_get_entry(o->workspace, (size_t)at);

	for (size_t i = 0; i < list->n; i++) {
		if (kind == MP_CATALOG_TOOL && e && !is_wanted(o, e, list->items[i].name))
			continue;
		if (!add_item(s, kind, offer, &list->items[i]))
			return mp_arena_get_error(&s->arena);
	}
	return 0;
}

static int index_gather(struct mp_index *s, const struct mp_index_options *o,
			enum mp_catalog_kind kind)
{
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < s->n_offers; i++)
		n += s->offers[i]->lists[kind]->list.n;
	s->items[kind] = mp_arena_alloc_array(&s->arena, n + 1, sizeof(struct mp_index_item *));
	if (!s->items[kind])
		return mp_arena_get_error(&s->arena);
	for (size_t i = 0; i < s->n_offers && r == 0; i++)
		r = add_list(s, o, kind, i);
	return r;
}

/* --- public names ---------------------------------------------------------------------------- */

static struct mp_names **get_names(struct mp_index *s, enum mp_catalog_kind kind)
{
	return kind == MP_CATALOG_TOOL ? &s->tools : &s->prompts;
}

/* Rows come back sorted. If a server lists a name twice, the first counts. */
static int add_names(struct mp_index *s, enum mp_catalog_kind kind, enum mp_naming style,
		     const struct mp_names_rules *rules)
{
	struct mp_names *names = *get_names(s, kind) = mp_names_new(style);
	int r = 0;

	mp_names_set_rules(names, rules);
	for (size_t i = 0; i < s->n[kind] && r >= 0; i++) {
		struct mp_index_item *w = s->items[kind][i];

		r = mp_names_add(names, mp_str_of(w->server), w->source->name, w);
		r = r == MCPOOL_EEXIST ? 0 : r;
	}
	if (r == 0)
		r = mp_names_finish(names);
	if (r < 0)
		return r;
	s->n[kind] = mp_names_count(names);
	for (size_t i = 0; i < s->n[kind]; i++) {
		const struct mp_name *row = mp_names_get(names, i);

		s->items[kind][i] = row->u;
		s->items[kind][i]->public_name = row->public_name;
	}
	return 0;
}

/* With options: uses the previous names and those of earlier runs of the hub. */
static int give_names(struct mp_index *s, const struct mp_index_options *o,
		      enum mp_catalog_kind kind, enum mp_naming style)
{
	struct mp_names_rules rules = {
		.servers = s->configured, .is_late = s->is_late, .n_servers = s->n_configured};
	const struct mp_config_set *set = o ? mp_workspace_get_set(o->workspace) : NULL;
	struct mp_held held;
	int r;

	mp_held_init(&held, o ? o->db : NULL, set ? mp_held_get_root(set) : "", style, (int)kind);
	held.servers = s->configured;
	held.n_servers = s->n_configured;
	rules.get_holder = mp_held_get_holder;
	rules.u = &held;
	if (o && o->before && o->before->style == style)
		rules.before = *get_names((struct mp_index *)o->before, kind);
	r = add_names(s, kind, style, &rules);
	if (r == 0 && o && o->servers->n == 0 && o->tools->n == 0)
		mp_held_note(&held, *get_names(s, kind), o->noted);
	mp_held_done(&held);
	return r;
}

static int compare_wares(const void *a, const void *b)
{
	const struct mp_index_item *x = *(const struct mp_index_item *const *)a;
	const struct mp_index_item *y = *(const struct mp_index_item *const *)b;
	int r = mp_str_compare(x->public_name, y->public_name);

	return r ? r : strcmp(x->server, y->server);
}

static void index_sort(struct mp_index *s, enum mp_catalog_kind kind)
{
	qsort(s->items[kind], s->n[kind], sizeof(struct mp_index_item *), compare_wares);
}

static bool is_twin(const struct mp_index_item *a, const struct mp_index_item *b)
{
	return mp_str_eq(a->source->name, b->source->name) && strcmp(a->server, b->server) != 0;
}

static int index_wrap(struct mp_index *s, struct mp_index_item *w, bool is_template)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char *kept;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	r = mp_uri_wrap(mp_str_of(w->server), w->source->name, is_template, &text);
	if (r < 0)
		return r;
	s->wrapped[w->offer] += text.len;
	w->is_left_out = s->wrapped[w->offer] > MP_LIMIT_ARENA / s->n_offers;
	if (w->is_left_out)
		return 0; /* one server's URIs must not use up the memory of other lists */
	kept = mp_arena_dup(&s->arena, mp_buf_get(&text));
	if (!kept)
		return mp_arena_get_error(&s->arena);
	w->public_name = (struct mp_str){kept, text.len};
	w->is_wrapped = s->has_wrapped = true;
	return 0;
}

/*
 * Equal URIs are adjacent; all of them are wrapped. A URI in our own form is always wrapped,
 * because it could be mistaken for another server's (V39).
 */
static int wrap_twins(struct mp_index *s, enum mp_catalog_kind kind)
{
	struct mp_index_item **w = s->items[kind];
	int r = 0;

	for (size_t i = 0; i < s->n[kind] && r == 0; i++)
		if (mp_uri_is_wrapped(w[i]->source->name) || (i > 0 && is_twin(w[i - 1], w[i])) ||
		    (i + 1 < s->n[kind] && is_twin(w[i + 1], w[i])))
			r = index_wrap(s, w[i], kind == MP_CATALOG_TEMPLATE);
	return r;
}

static int give_uris(struct mp_index *s, enum mp_catalog_kind kind)
{
	size_t n = 0;
	int r;

	index_sort(s, kind);
	r = wrap_twins(s, kind);
	index_sort(s, kind);
	for (size_t i = 0; i < s->n[kind] && r == 0; i++) {
		struct mp_index_item *w = s->items[kind][i];

		if (w->is_left_out || mp_map_has(&s->uris, w->public_name))
			continue; /* one server lists it twice */
		r = mp_map_set(&s->uris, w->public_name, w);
		s->items[kind][n++] = w;
	}
	s->n[kind] = n;
	return r;
}

static void index_digest(struct mp_index *s, enum mp_catalog_kind kind)
{
	struct mp_digest *d = mp_digest_new();

	for (size_t i = 0; i < s->n[kind]; i++) {
		mp_digest_add(d, s->items[kind][i]->public_name);
		mp_digest_add(d, s->items[kind][i]->source->json);
	}
	mp_digest_finish(d, s->digest[kind]);
}

/* o: filters and earlier names; NULL: none. */
static int index_fill(struct mp_index *s, const struct mp_index_options *o, enum mp_naming style)
{
	int r = 0;

	s->style = style;
	for (int kind = 0; kind < MP_CATALOG_COUNT && r == 0; kind++)
		r = index_gather(s, o, (enum mp_catalog_kind)kind);
	if (r == 0)
		r = give_names(s, o, MP_CATALOG_TOOL, style);
	if (r == 0)
		r = give_names(s, o, MP_CATALOG_PROMPT, style);
	if (r == 0)
		r = give_uris(s, MP_CATALOG_RESOURCE);
	if (r == 0)
		r = give_uris(s, MP_CATALOG_TEMPLATE);
	s->has_foreign_uris =
		s->has_wrapped ||
		(s->n_offers > 1 && s->n[MP_CATALOG_RESOURCE] + s->n[MP_CATALOG_TEMPLATE] > 0);
	for (int kind = 0; kind < MP_CATALOG_COUNT && r == 0; kind++)
		index_digest(s, (enum mp_catalog_kind)kind);
	return r;
}

static struct mp_index *index_new(void)
{
	struct mp_index *s = mp_alloc(sizeof(*s));

	s->refs = 1;
	mp_arena_init(&s->arena, (size_t)4 * MP_LIMIT_ARENA);
	mp_map_init(&s->uris, (size_t)2 * MP_LIMIT_NAMES);
	return s;
}

static int hand_out(struct mp_index *s, int r, struct mp_index **ret)
{
	if (r < 0)
		mp_index_unref(s);
	else
		*ret = s;
	return r;
}

int mp_index_take(const struct mp_index_options *o, struct mp_index **ret)
{
	enum mp_naming style = o->style;
	struct mp_index *s = index_new();
	int r = gather_offers(s, o);

	if (r == 0)
		r = index_fill(s, o, style);
	return hand_out(s, r, ret);
}

int mp_index_make(enum mp_naming style, const char *const *servers,
		  struct mp_server_catalog *const *offers, size_t n, struct mp_index **ret)
{
	struct mp_index *s = index_new();
	int r = make_room(s, n);

	for (size_t i = 0; i < n && r == 0; i++) {
		if (offers[i])
			r = add_offer(s, servers[i], mp_server_catalog_ref(offers[i]));
		if (r == 0)
			r = add_server(s, servers[i], false);
	}
	if (r == 0)
		r = index_fill(s, NULL, style);
	return hand_out(s, r, ret);
}

struct mp_index *mp_index_unref(struct mp_index *s)
{
	if (!s || --s->refs > 0)
		return NULL;
	for (size_t i = 0; i < s->n_offers; i++)
		mp_server_catalog_unref(s->offers[i]);
	mp_names_free(s->tools);
	mp_names_free(s->prompts);
	mp_map_done(&s->uris);
	mp_arena_done(&s->arena);
	return mp_free(s);
}

/* --- finding --------------------------------------------------------------------------------- */

const struct mp_index_item *mp_index_find(const struct mp_index *s, enum mp_catalog_kind kind,
					  struct mp_str name, size_t *ret_candidates)
{
	const struct mp_names *names = kind == MP_CATALOG_TOOL ? s->tools : s->prompts;
	const struct mp_name *row;

	*ret_candidates = 0;
	if (kind == MP_CATALOG_RESOURCE || kind == MP_CATALOG_TEMPLATE)
		return mp_map_get(&s->uris, name);
	row = mp_names_find(names, name, ret_candidates);
	return row ? row->u : NULL;
}
