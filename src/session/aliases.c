/*
 * aliases.c - maps any spelling of a name to the one row that it means.
 * A hash table with chains, over the spellings in lower case. The entries of a row are added one
 * after the other, so they are adjacent within a chain, and counting rows needs no set.
 */
#include "session/aliases.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "session/spelling.h"

enum { PUBLIC = MP_SPELLINGS, KINDS }; /* the public name without regard to case */

struct alias {
	uint32_t hash; /* of the spelling in lower case */
	uint32_t row;
	uint32_t next; /* index + 1; 0: the last of its chain */
	uint32_t kind; /* enum mp_spelling, or PUBLIC */
};

struct mp_aliases {
	struct mp_name *const *rows; /* borrowed */
	struct alias *all;           /* owned; KINDS of each row */
	uint32_t *chains;            /* owned; index + 1 of the first, 0: empty */
	size_t n_chains;             /* a power of two */
	char *room;     /* owned; scratch for a query and a spelling, `longest` bytes each */
	size_t longest; /* size of the longest spelling of any row */
};

static int aliases_spell(const struct mp_name *row, uint32_t kind, struct mp_buf *out)
{
	mp_buf_clear(out);
	if (kind == PUBLIC)
		return mp_buf_add_str(out, row->public_name);
	return mp_spell((enum mp_spelling)kind, row->server, row->name, out);
}

static uint32_t hash_lower(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) { /* without a branch, because names mix cases */
		unsigned char c = (unsigned char)text[i];
		bool is_upper = (unsigned char)(c - 'A') < 26;

		text[i] = (char)(c | is_upper << 5);
	}
	return (uint32_t)mp_hash((struct mp_str){text, n});
}

static void link_alias(struct mp_aliases *a, size_t at, uint32_t row, uint32_t kind, uint32_t hash)
{
	uint32_t *chain = &a->chains[hash & (a->n_chains - 1)];

	a->all[at] = (struct alias){.hash = hash, .row = row, .next = *chain, .kind = kind};
	*chain = (uint32_t)at + 1;
}

/* Most names are short enough to be equal in both spellings. */
static bool is_needless(const struct mp_name *row, uint32_t kind)
{
	return kind == MP_SPELLING_PASSTHROUGH && row->name.len <= MP_NAME_MAX;
}

static int add_row(struct mp_aliases *a, uint32_t row, struct mp_buf *scratch)
{
	const struct mp_name *name = a->rows[row];
	size_t needed = name->server.len + name->name.len + MP_SPELLING_SLACK;

	if (needed > a->longest)
		a->longest = needed;
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		int r;

		if (is_needless(name, kind))
			continue;
		r = aliases_spell(name, kind, scratch);
		if (r < 0)
			return r;
		link_alias(a, (size_t)row * KINDS + kind, row, kind,
			   hash_lower(scratch->data, scratch->len));
	}
	return 0;
}

static int aliases_fill(struct mp_aliases *a, size_t n)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf scratch;
	int r = 0;

	mp_buf_init(&scratch, MP_LIMIT_MESSAGE);
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_row(a, (uint32_t)i, &scratch);
	if (r < 0)
		return r;
	a->room = mp_try_alloc(2 * a->longest + 1);
	return a->room ? 0 : MCPOOL_ENOMEM;
}

static int aliases_reserve(struct mp_aliases *a, size_t n)
{
	a->n_chains = 8;
	while (a->n_chains < n * KINDS)
		a->n_chains *= 2;
	a->all = mp_try_alloc(n * KINDS * sizeof(*a->all) + 1);
	a->chains = mp_try_alloc(a->n_chains * sizeof(*a->chains));
	if (!a->all || !a->chains)
		return MCPOOL_ENOMEM;
	memset(a->chains, 0, a->n_chains * sizeof(*a->chains));
	return 0;
}

int mp_aliases_new(struct mp_name *const *rows, size_t n, struct mp_aliases **ret)
{
	struct mp_aliases *a;
	int r;

	if (n > MP_LIMIT_NAMES)
		return MCPOOL_ELIMIT;
	a = mp_alloc(sizeof(*a));
	a->rows = rows;
	r = aliases_reserve(a, n);
	if (r == 0)
		r = aliases_fill(a, n);
	if (r < 0)
		a = mp_aliases_free(a);
	*ret = a;
	return r;
}

struct mp_aliases *mp_aliases_free(struct mp_aliases *a)
{
	if (!a)
		return NULL;
	mp_free(a->all);
	mp_free(a->chains);
	mp_free(a->room);
	return mp_free(a);
}

/* The matches so far, of one exactness. */
struct found {
	const struct mp_name *first, *last;
	size_t n;
};

static void aliases_count(struct found *f, const struct mp_name *row)
{
	if (f->last == row)
		return; /* two of its spellings are equal */
	if (f->n++ == 0)
		f->first = row;
	f->last = row;
}

/* The scratch fits every spelling, so this cannot fail. */
static struct mp_str aliases_respell(const struct mp_aliases *a, const struct alias *alias)
{
	struct mp_buf b = {.data = a->room + a->longest, .cap = a->longest, .ceiling = a->longest};
	int r = aliases_spell(a->rows[alias->row], alias->kind, &b);

	mp_check(r == 0);
	return mp_buf_get(&b);
}

const struct mp_name *mp_aliases_find(const struct mp_aliases *a, struct mp_str text,
				      size_t *ret_candidates)
{
	struct found exact = {0}, lax = {0}, *best;
	uint32_t hash, at;

	*ret_candidates = 0;
	if (text.len > a->longest)
		return NULL;
	if (text.len)
		memcpy(a->room, text.p, text.len);
	hash = hash_lower(a->room, text.len);
	for (at = a->chains[hash & (a->n_chains - 1)]; at; at = a->all[at - 1].next) {
		const struct alias *alias = &a->all[at - 1];
		struct mp_str spelling;

		if (alias->hash != hash)
			continue;
		spelling = aliases_respell(a, alias);
		if (mp_str_eq(spelling, text))
			aliases_count(&exact, a->rows[alias->row]);
		if (mp_str_eq_nocase(spelling, text))
			aliases_count(&lax, a->rows[alias->row]);
	}
	best = exact.n ? &exact : &lax;
	*ret_candidates = best->n;
	return best->n == 1 ? best->first : NULL;
}
