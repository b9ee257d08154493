/*
 * names.c - the table of public names: add, finish, find.
 * claims.c decides which row gets which name.
 */
#include "session/names.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

struct mp_names *mp_names_new(enum mp_naming style)
{
	struct mp_names *n = mp_alloc(sizeof(*n));

	n->style = style;
	mp_arena_init(&n->arena, (size_t)4 * MP_LIMIT_ARENA); /* of all servers */
	mp_map_init(&n->pairs, MP_LIMIT_NAMES);
	mp_map_init(&n->taken, MP_LIMIT_NAMES);
	mp_map_init(&n->former, (size_t)4 * MP_LIMIT_NAMES);
	return n;
}

struct mp_names *mp_names_free(struct mp_names *n)
{
	if (!n)
		return NULL;
	mp_aliases_free(n->aliases);
	mp_map_done(&n->taken);
	mp_map_done(&n->former);
	mp_map_done(&n->pairs);
	mp_free(n->rows);
	mp_arena_done(&n->arena);
	return mp_free(n);
}

/* --- adding ---------------------------------------------------------------------------------- */

/* The length goes first, because both may contain any byte. */
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

int mp_names_copy(struct mp_names *n, struct mp_str from, struct mp_str *ret)
{
	char *text = mp_arena_dup(&n->arena, from);

	*ret = (struct mp_str){text, from.len};
	return text ? 0 : mp_arena_get_error(&n->arena);
}

static int new_row(struct mp_names *n, struct mp_str server, struct mp_str name,
		   struct mp_name_row **ret)
{
	struct mp_name_row *row = mp_arena_alloc_array(&n->arena, 1, sizeof(*row));
	int r;

	*ret = row;
	if (!row)
		return mp_arena_get_error(&n->arena);
	r = mp_names_copy(n, server, &row->name.server);
	return r < 0 ? r : mp_names_copy(n, name, &row->name.name);
}

int mp_names_add(struct mp_names *n, struct mp_str server, struct mp_str name, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf pair;
	struct mp_name_row *row = NULL;
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

struct mp_name_row *mp_names_find_pair(const struct mp_names *n, struct mp_str server,
				       struct mp_str name)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf pair;

	mp_buf_init(&pair, MP_LIMIT_MESSAGE);
	return make_pair(&pair, server, name) < 0 ? NULL : mp_map_get(&n->pairs, mp_buf_get(&pair));
}

void mp_names_set_rules(struct mp_names *n, const struct mp_names_rules *rules)
{
	n->rules = rules;
}

/* --- finishing ------------------------------------------------------------------------------- */

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

int mp_names_finish(struct mp_names *n)
{
	int r;

	mp_check(!n->is_finished);
	sort(n, by_server);
	r = mp_claims_settle(n);
	n->rules = NULL;
	if (r < 0)
		return r;
	sort(n, by_public_name);
	mp_map_done(&n->pairs);
	mp_map_init(&n->pairs, 0);
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

/* A name that a row had before still means that row; a contested name means none. */
static const struct mp_name *find_former(const struct mp_names *n, const struct mp_name_former *f,
					 struct mp_str name, size_t *ret_candidates)
{
	if (f->row) {
		*ret_candidates = 1;
		return &f->row->name;
	}
	(void)mp_aliases_find(n->aliases, name, ret_candidates);
	if (f->server.p)
		*ret_candidates = 0;
	else if (*ret_candidates < 2)
		*ret_candidates = 2; /* it could also be another server's */
	return NULL;
}

const struct mp_name *mp_names_find(const struct mp_names *n, struct mp_str name,
				    size_t *ret_candidates)
{
	const struct mp_name_former *former;
	struct mp_name_row *row;
	size_t candidates = 1;
	const struct mp_name *found;

	mp_check(n->is_finished);
	row = mp_map_get(&n->taken, name);
	former = row ? NULL : mp_map_get(&n->former, name);
	if (row)
		found = &row->name;
	else if (former)
		found = find_former(n, former, name, &candidates);
	else
		found = mp_aliases_find(n->aliases, name, &candidates);
	if (ret_candidates)
		*ret_candidates = candidates;
	return found;
}

int mp_names_make(enum mp_naming style, struct mp_str server, struct mp_str name,
		  struct mp_buf *out)
{
	return mp_spell((enum mp_spelling)style, server, name, out);
}
