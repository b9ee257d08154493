/*
 * names.c - public names: who gets which.
 * Rows are sorted by server and name first, and everything is decided in that order, so that the
 * order in which they were added decides nothing. A name that nobody else wants is given first, to
 * the smallest of those that want it; the others get a hash, and another one as long as theirs is
 * taken.
 */
#include "session/names.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "session/aliases.h"

struct row {
	struct mp_name name;
	bool is_own;  /* passthrough, and no other server has it: goes out as it is */
	bool is_done; /* has its public name */
};

struct mp_names {
	enum mp_naming style;
	bool is_finished;
	struct mp_arena arena;      /* the rows and their texts */
	struct mp_name **rows;      /* owned; each is the first member of a struct row */
	size_t n, room;             /* of rows */
	struct mp_map pairs;        /* server and name: row */
	struct mp_map taken;        /* public name: row */
	struct mp_aliases *aliases; /* owned; NULL until finished */
};

static struct row *row_of(const struct mp_names *n, size_t i)
{
	return mp_container_of(n->rows[i], struct row, name);
}

struct mp_names *mp_names_new(enum mp_naming style)
{
	struct mp_names *n = mp_alloc(sizeof(*n));

	n->style = style;
	mp_arena_init(&n->arena, MP_LIMIT_ARENA);
	mp_map_init(&n->pairs, MP_LIMIT_NAMES);
	mp_map_init(&n->taken, MP_LIMIT_NAMES);
	return n;
}

struct mp_names *mp_names_free(struct mp_names *n)
{
	if (!n)
		return NULL;
	mp_aliases_free(n->aliases);
	mp_map_done(&n->taken);
	mp_map_done(&n->pairs);
	mp_free(n->rows);
	mp_arena_done(&n->arena);
	return mp_free(n);
}

/* --- adding ---------------------------------------------------------------------------------- */

/* The length goes first: either may hold any byte. */
static int make_pair(struct mp_buf *out, struct mp_str server, struct mp_str name)
{
	int r = mp_buf_add(out, &server.len, sizeof(server.len));

	if (r == 0)
		r = mp_buf_add_str(out, server);
	return r < 0 ? r : mp_buf_add_str(out, name);
}

static int reserve_row(struct mp_names *n)
{
	size_t room = n->room ? 2 * n->room : 64;
	struct mp_name **rows;

	if (n->n < n->room)
		return 0;
	rows = mp_try_realloc(n->rows, room * sizeof(struct mp_name *));
	if (!rows)
		return MCPOOL_ENOMEM;
	n->rows = rows;
	n->room = room;
	return 0;
}

static int copy(struct mp_names *n, struct mp_str from, struct mp_str *ret)
{
	char *text = mp_arena_dup(&n->arena, from);

	*ret = (struct mp_str){text, from.len};
	return text ? 0 : mp_arena_get_error(&n->arena);
}

static int new_row(struct mp_names *n, struct mp_str server, struct mp_str name, struct row **ret)
{
	struct row *row = mp_arena_alloc_array(&n->arena, 1, sizeof(*row));
	int r;

	*ret = row;
	if (!row)
		return mp_arena_get_error(&n->arena);
	r = copy(n, server, &row->name.server);
	return r < 0 ? r : copy(n, name, &row->name.name);
}

int mp_names_add(struct mp_names *n, struct mp_str server, struct mp_str name, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf pair;
	struct row *row = NULL;
	int r;

	mp_check(!n->is_finished);
	mp_buf_init(&pair, MP_LIMIT_MESSAGE);
	r = make_pair(&pair, server, name);
	if (r == 0 && mp_map_has(&n->pairs, mp_buf_get(&pair)))
		return MCPOOL_EEXIST;
	if (r == 0)
		r = reserve_row(n);
	if (r == 0)
		r = new_row(n, server, name, &row);
	if (r == 0)
		r = mp_map_set(&n->pairs, mp_buf_get(&pair), row);
	if (r < 0)
		return r;
	row->name.u = u;
	n->rows[n->n++] = &row->name;
	return 0;
}

/* --- giving names out ------------------------------------------------------------------------ */

static int by_server(const void *a, const void *b)
{
	const struct mp_name *x = *(struct mp_name *const *)a, *y = *(struct mp_name *const *)b;
	int order = mp_str_compare(x->server, y->server);

	return order ? order : mp_str_compare(x->name, y->name);
}

static int by_public_name(const void *a, const void *b)
{
	const struct mp_name *x = *(struct mp_name *const *)a, *y = *(struct mp_name *const *)b;

	return mp_str_compare(x->public_name, y->public_name);
}

static void sort(struct mp_names *n, int (*compare)(const void *a, const void *b))
{
	if (n->n)
		qsort(n->rows, n->n, sizeof(struct mp_name *), compare);
}

/* Passthrough: those whose name is on one server only go out with it. */
static int find_own(struct mp_names *n)
{
	MP_CLEANUP(mp_map_done) struct mp_map first;
	int r = 0;

	mp_map_init(&first, MP_LIMIT_NAMES);
	for (size_t i = 0; i < n->n && r == 0; i++) {
		struct row *row = row_of(n, i), *other = mp_map_get(&first, row->name.name);

		row->is_own = !other && row->name.name.len > 0;
		if (!other) {
			r = mp_map_set(&first, row->name.name, row);
			continue;
		}
		other->is_own = false;
		other->name.collides = row->name.collides = true;
	}
	return r;
}

static enum mp_spelling spelling_of(const struct mp_names *n, const struct row *row)
{
	if (n->style == MP_NAMING_PASSTHROUGH && !row->is_own)
		return MP_SPELLING_MCP_DOUBLE;
	return (enum mp_spelling)n->style;
}

/* 1: it is the row's now; 0: another one has it. */
static int claim(struct mp_names *n, struct row *row, struct mp_str name)
{
	int r;

	if (mp_map_has(&n->taken, name))
		return 0;
	r = copy(n, name, &row->name.public_name);
	if (r == 0)
		r = mp_map_set(&n->taken, name, row);
	row->is_done = r == 0;
	return r < 0 ? r : 1;
}

/* Each gets the name it wants, unless a smaller one has it. */
static int claim_wanted(struct mp_names *n, struct row *row, struct mp_buf *scratch)
{
	int r;

	mp_buf_clear(scratch);
	r = mp_spell(spelling_of(n, row), row->name.server, row->name.name, scratch);
	if (r == 0)
		r = claim(n, row, mp_buf_get(scratch));
	if (r == 0) {
		struct row *winner = mp_map_get(&n->taken, mp_buf_get(scratch));

		winner->name.collides = row->name.collides = true;
	}
	return r < 0 ? r : 0;
}

static int claim_hashed(struct mp_names *n, struct row *row, struct mp_buf *scratch)
{
	int r = 0;

	for (unsigned nth = 0; r == 0; nth++) {
		mp_buf_clear(scratch);
		r = mp_spell_hashed(spelling_of(n, row), row->name.server, row->name.name, nth,
				    scratch);
		if (r == 0)
			r = claim(n, row, mp_buf_get(scratch));
	}
	return r < 0 ? r : 0;
}

/* Names that pass through first, then all that are wanted, then hashes. */
static int give_out(struct mp_names *n, struct mp_buf *scratch)
{
	int r = 0;

	for (size_t i = 0; i < n->n && r == 0; i++)
		if (row_of(n, i)->is_own)
			r = claim_wanted(n, row_of(n, i), scratch);
	for (size_t i = 0; i < n->n && r == 0; i++)
		if (!row_of(n, i)->is_own)
			r = claim_wanted(n, row_of(n, i), scratch);
	for (size_t i = 0; i < n->n && r == 0; i++)
		if (!row_of(n, i)->is_done)
			r = claim_hashed(n, row_of(n, i), scratch);
	return r;
}

int mp_names_finish(struct mp_names *n)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf scratch;
	int r = 0;

	mp_check(!n->is_finished);
	mp_buf_init(&scratch, MP_LIMIT_MESSAGE);
	sort(n, by_server);
	if (n->style == MP_NAMING_PASSTHROUGH)
		r = find_own(n);
	if (r == 0)
		r = give_out(n, &scratch);
	if (r < 0)
		return r;
	sort(n, by_public_name);
	mp_map_done(&n->pairs);
	r = mp_aliases_new(n->rows, n->n, &n->aliases);
	n->is_finished = r == 0;
	return r;
}

/* --- reading --------------------------------------------------------------------------------- */

size_t mp_names_count(const struct mp_names *n)
{
	return n->n;
}

const struct mp_name *mp_names_get(const struct mp_names *n, size_t i)
{
	mp_check(n->is_finished && i < n->n);
	return n->rows[i];
}

const struct mp_name *mp_names_find(const struct mp_names *n, struct mp_str name,
				    size_t *ret_candidates)
{
	struct row *row;
	size_t candidates = 1;
	const struct mp_name *found;

	mp_check(n->is_finished);
	row = mp_map_get(&n->taken, name);
	found = row ? &row->name : mp_aliases_find(n->aliases, name, &candidates);
	if (ret_candidates)
		*ret_candidates = candidates;
	return found;
}

int mp_names_make(enum mp_naming style, struct mp_str server, struct mp_str name,
		  struct mp_buf *out)
{
	return mp_spell((enum mp_spelling)style, server, name, out);
}
