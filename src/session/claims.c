/*
 * claims.c - assigns public names to tools.
 * A name that exactly one row wants is assigned to it. If several rows want a name, none gets it
 * and each gets a hashed name instead, because the row that got it could receive calls meant for
 * another (V39). There are two exceptions: a row keeps the name that it had before in this table's
 * life (rules.before), and the name that it alone had in an earlier run of the hub
 * (rules.get_holder). The result does not depend on the order in which servers connect: a name that
 * a server without a list could still want counts as contested.
 */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "session/names.h"

/* A prefix of names that belongs to a configured server, such as `mcp__files__`. */
struct prefix {
	struct mp_str server;
	bool is_late;   /* one of its servers has no list yet */
	bool is_shared; /* used by more than one server */
};

struct claims {
	struct mp_names *n;
	struct mp_map prefixes; /* text: struct prefix, in the arena */
	struct mp_map wanted;   /* of the current step: the first row; the others are its rivals */
	struct mp_buf scratch;
	bool is_hashing; /* this step assigns hashed names, which few rows can want */
	size_t n_late;
	struct mp_str late; /* one server without a list */
};

static bool is_row(const struct mp_name_row *row, struct mp_str server, struct mp_str name)
{
	return mp_str_eq(row->name.server, server) && mp_str_eq(row->name.name, name);
}

/* --- prefixes -------------------------------------------------------------------------------- */

static int add_prefix(struct claims *c, enum mp_spelling how, struct mp_str server, bool is_late)
{
	struct prefix *p;
	struct mp_str text;
	int r;

	mp_buf_clear(&c->scratch);
	r = mp_spell(how, server, MP_STR("x"), &c->scratch);
	if (r < 0)
		return r;
	text = (struct mp_str){c->scratch.data, c->scratch.len - 1};
	p = mp_map_get(&c->prefixes, text);
	if (p) {
		p->is_late |= is_late;
		p->is_shared |= !mp_str_eq(p->server, server);
		return 0;
	}
	p = mp_arena_alloc(&c->n->arena, sizeof(*p));
	if (!p)
		return mp_arena_get_error(&c->n->arena);
	*p = (struct prefix){server, is_late, false};
	return mp_map_set(&c->prefixes, text, p);
}

static int add_prefixes(struct claims *c)
{
	const struct mp_names_rules *rules = c->n->rules;
	enum mp_spelling how = c->n->style == MP_NAMING_PASSTHROUGH ? MP_SPELLING_MCP_DOUBLE
								    : (enum mp_spelling)c->n->style;
	int r = 0;

	for (size_t i = 0; rules && i < rules->n_servers && r == 0; i++) {
		struct mp_str server = mp_str_of(rules->servers[i]);
		bool is_late = rules->is_late && rules->is_late[i];

		r = add_prefix(c, how, server, is_late);
		c->late = is_late ? server : c->late;
		c->n_late += is_late;
	}
	for (size_t i = 0; i < c->n->n && r == 0; i++) /* sorted by server */
		if (i == 0 || !mp_str_eq(c->n->rows[i - 1]->server, c->n->rows[i]->server))
			r = add_prefix(c, how, c->n->rows[i]->server, false);
	return r;
}

/* Another configured server with a prefix of this name; NULL: none. */
static const struct prefix *find_prefix(const struct claims *c, const struct mp_name_row *row,
					struct mp_str name)
{
	const struct prefix *found = NULL;

	for (size_t i = 1; i <= name.len; i++) {
		const struct prefix *p = NULL;

		if (name.p[i - 1] == '_') /* every prefix ends in it */
			p = mp_map_get(&c->prefixes, (struct mp_str){name.p, i});
		if (p && (p->is_shared || !mp_str_eq(p->server, row->name.server)) &&
		    (!found || p->is_late))
			found = p;
	}
	return found;
}

/* Could a server without a list want it as well? */
static bool may_be_wanted(const struct claims *c, const struct mp_name_row *row, struct mp_str name)
{
	const struct prefix *p;

	if (row->is_own && c->n->style == MP_NAMING_PASSTHROUGH)
		return c->n_late > 1 || (c->n_late == 1 && !mp_str_eq(c->late, row->name.server));
	p = c->n_late ? find_prefix(c, row, name) : NULL;
	return p && p->is_late;
}

/* --- former names ---------------------------------------------------------------------------- */

/* False: the previous table did not have the name. */
static bool get_before(const struct mp_names *n, struct mp_str name, struct mp_str *ret_server,
		       struct mp_str *ret_name)
{
	const struct mp_names *before = n->rules ? n->rules->before : NULL;
	const struct mp_name_row *row = before ? mp_map_get(&before->taken, name) : NULL;
	const struct mp_name_former *f = before && !row ? mp_map_get(&before->former, name) : NULL;

	if (!row && (!f || !f->server.p))
		return false;
	*ret_server = row ? row->name.server : f->server;
	*ret_name = row ? row->name.name : f->name;
	return true;
}

static const struct mp_name_holder *get_holder(const struct mp_names *n, struct mp_str name)
{
	const struct mp_names_rules *rules = n->rules;

	return rules && rules->get_holder ? rules->get_holder(rules->u, name) : NULL;
}

static struct mp_name_row *find_rival(struct mp_name_row *first, struct mp_str server,
				      struct mp_str name)
{
	while (first && !is_row(first, server, name))
		first = first->rival;
	return first;
}

/* The row that gets this name, of all that want it; NULL: none. */
static struct mp_name_row *claims_pick(const struct claims *c, struct mp_str name,
				       struct mp_name_row *first)
{
	bool may_be = may_be_wanted(c, first, name);
	bool is_contested = first->rival || (may_be && !c->is_hashing);
	const struct mp_name_holder *h;
	struct mp_str server, tool;
	struct mp_name_row *row;

	for (row = first; row; row = row->rival)
		row->name.is_alone = !is_contested && !may_be;
	if (get_before(c->n, name, &server, &tool)) {
		row = find_rival(first, server, tool);
		if (row)
			row->is_sure = true;
		return row;
	}
	if (!is_contested && !first->is_own && !find_prefix(c, first, name))
		return first;
	h = get_holder(c->n, name);
	if (!h)
		return is_contested ? NULL : first;
	row = h->is_shared ? NULL : find_rival(first, h->server, h->name);
	if (row)
		row->is_sure = true;
	else if (!is_contested && !h->is_shared && mp_str_eq(h->server, first->name.server))
		return first;
	return row;
}

/* --- assigning names ------------------------------------------------------------------------- */

static int claims_claim(struct mp_names *n, struct mp_name_row *row, struct mp_str name)
{
	int r = mp_map_set(&n->taken, name, row);

	row->name.public_name = name;
	row->is_done = r == 0;
	return r;
}

/* Reserves a name for no tool, so that no other spelling resolves to a row that wanted it. */
static int claims_block(struct mp_names *n, struct mp_str name)
{
	struct mp_name_former *f = mp_arena_alloc_array(&n->arena, 1, sizeof(*f));

	return f ? mp_map_set(&n->former, name, f) : mp_arena_get_error(&n->arena);
}

static int claims_want(struct claims *c, struct mp_name_row *row, struct mp_str name)
{
	struct mp_name_row *first;
	int r = mp_names_copy(c->n, name, &row->wanted);

	row->rival = NULL;
	if (r < 0)
		return r;
	first = mp_map_get(&c->wanted, row->wanted);
	if (!first)
		return mp_map_set(&c->wanted, row->wanted, row);
	row->rival = first->rival;
	first->rival = row;
	return 0;
}

static bool is_refused(const struct mp_names *n, struct mp_str name)
{
	return mp_map_has(&n->taken, name) || mp_map_has(&n->former, name);
}

/* A name that none of its rivals gets is blocked for all rows. */
static int decide(struct claims *c, struct mp_name_row *first)
{
	struct mp_str name = first->wanted;
	struct mp_name_row *picked = is_refused(c->n, name) ? NULL : claims_pick(c, name, first);
	bool collides = first->rival || (!picked && !may_be_wanted(c, first, name));

	for (struct mp_name_row *row = first; row; row = row->rival)
		row->name.collides |= collides;
	if (picked)
		return claims_claim(c->n, picked, name);
	return c->is_hashing || is_refused(c->n, name) ? 0 : claims_block(c->n, name);
}

static int decide_all(struct claims *c)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;
	int r = 0;

	while (r == 0 && (e = mp_map_next(&c->wanted, &cursor)))
		r = decide(c, e->value);
	mp_map_done(&c->wanted);
	mp_map_init(&c->wanted, MP_LIMIT_NAMES);
	return r;
}

static int want_spelled(struct claims *c, enum mp_spelling how)
{
	int r = 0;

	for (size_t i = 0; i < c->n->n && r == 0; i++) {
		struct mp_name_row *row = mp_names_get_row(c->n, i);

		if (row->is_done || (how == MP_SPELLING_PASSTHROUGH && !row->is_own))
			continue;
		mp_buf_clear(&c->scratch);
		r = mp_spell(how, row->name.server, row->name.name, &c->scratch);
		if (r == 0)
			r = claims_want(c, row, mp_buf_get(&c->scratch));
	}
	return r < 0 ? r : decide_all(c);
}

/* A tool named like one of another server could be mistaken for it, so it never passes through. */
static int pass_through(struct claims *c)
{
	int r;

	for (size_t i = 0; i < c->n->n; i++) {
		struct mp_name_row *row = mp_names_get_row(c->n, i);

		row->is_own = row->name.name.len > 0 && !find_prefix(c, row, row->name.name);
	}
	r = want_spelled(c, MP_SPELLING_PASSTHROUGH);
	for (size_t i = 0; i < c->n->n; i++)
		mp_names_get_row(c->n, i)->is_own = false;
	return r;
}

/* --- hashes ---------------------------------------------------------------------------------- */

static int spell_hashed(struct claims *c, const struct mp_name_row *row, unsigned nth)
{
	enum mp_spelling how = c->n->style == MP_NAMING_PASSTHROUGH ? MP_SPELLING_MCP_DOUBLE
								    : (enum mp_spelling)c->n->style;

	mp_buf_clear(&c->scratch);
	return mp_spell_hashed(how, row->name.server, row->name.name, nth, &c->scratch);
}

/* A tool whose name equals another tool's hashed name imitates it: it gets a hash, too. */
static int yield_to(struct claims *c, struct mp_name_row *row)
{
	int r = spell_hashed(c, row, 0);

	while (r == 0) {
		struct mp_str name = mp_buf_get(&c->scratch);
		struct mp_name_row *other = mp_map_get(&c->n->taken, name);

		if (!other || other->is_sure)
			break;
		(void)mp_map_remove(&c->n->taken, name);
		other->is_done = false;
		other->name.collides = row->name.collides = true;
		r = spell_hashed(c, other, 0);
	}
	return r;
}

static bool is_all_done(const struct mp_names *n)
{
	for (size_t i = 0; i < n->n; i++)
		if (!mp_names_get_row(n, i)->is_done)
			return false;
	return true;
}

static int give_hashes(struct claims *c)
{
	int r = 0;

	for (size_t i = 0; i < c->n->n && r == 0; i++)
		if (!mp_names_get_row(c->n, i)->is_done)
			r = yield_to(c, mp_names_get_row(c->n, i));
	c->is_hashing = true;
	for (unsigned nth = 0; r == 0 && !is_all_done(c->n); nth++) {
		for (size_t i = 0; i < c->n->n && r == 0; i++) {
			struct mp_name_row *row = mp_names_get_row(c->n, i);

			if (row->is_done)
				continue;
			r = spell_hashed(c, row, nth);
			if (r == 0)
				r = claims_want(c, row, mp_buf_get(&c->scratch));
		}
		if (r == 0)
			r = decide_all(c);
	}
	return r;
}

/* --- keeping former names -------------------------------------------------------------------- */

static int keep_former(struct mp_names *n, struct mp_map *counts, struct mp_str public,
		       struct mp_str server, struct mp_str name)
{
	size_t count = (size_t)(uintptr_t)mp_map_get(counts, server);
	struct mp_name_former *f;
	int r;

	if (mp_map_has(&n->taken, public) || count >= MP_LIMIT_TOOLS)
		return 0; /* above the limit, the oldest names of a server become free */
	f = mp_arena_alloc_array(&n->arena, 1, sizeof(*f));
	if (!f)
		return mp_arena_get_error(&n->arena);
	r = mp_names_copy(n, server, &f->server);
	if (r == 0)
		r = mp_names_copy(n, name, &f->name);
	f->row = mp_names_find_pair(n, server, name);
	if (r == 0)
		r = mp_map_set(&n->former, public, f);
	return r < 0 ? r : mp_map_set(counts, server, (void *)(uintptr_t)(count + 1));
}

/* Newest first: a server that invents names loses its oldest. */
static int keep_all_former(struct mp_names *n)
{
	const struct mp_names *before = n->rules ? n->rules->before : NULL;
	MP_CLEANUP(mp_map_done) struct mp_map counts;
	const struct mp_map_entry *e;
	size_t cursor = 0;
	int r = 0;

	mp_map_init(&counts, MP_LIMIT_SERVERS);
	while (before && r == 0 && (e = mp_map_next(&before->taken, &cursor))) {
		const struct mp_name_row *row = e->value;

		r = keep_former(n, &counts, e->key, row->name.server, row->name.name);
	}
	cursor = 0;
	while (before && r == 0 && (e = mp_map_next(&before->former, &cursor))) {
		const struct mp_name_former *f = e->value;

		if (f->server.p)
			r = keep_former(n, &counts, e->key, f->server, f->name);
	}
	return r;
}

int mp_claims_settle(struct mp_names *n)
{
	struct claims c = {.n = n};
	int r;

	mp_map_init(&c.prefixes, MP_LIMIT_SERVERS);
	mp_map_init(&c.wanted, MP_LIMIT_NAMES);
	mp_buf_init(&c.scratch, MP_LIMIT_MESSAGE);
	r = add_prefixes(&c);
	if (r == 0 && n->style == MP_NAMING_PASSTHROUGH)
		r = pass_through(&c);
	if (r == 0)
		r = want_spelled(&c, n->style == MP_NAMING_PASSTHROUGH
					     ? MP_SPELLING_MCP_DOUBLE
					     : (enum mp_spelling)n->style);
	if (r == 0)
		r = give_hashes(&c);
	if (r == 0)
		r = keep_all_former(n);
	mp_buf_done(&c.scratch);
	mp_map_done(&c.wanted);
	mp_map_done(&c.prefixes);
	return r;
}
