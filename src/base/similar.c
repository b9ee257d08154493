/*
 * similar.c - scores how similar a known name is to a typed one.
 */
#include "base/similar.h"

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_same(char a, char b)
{
	return (a | 32) == (b | 32);
}

/* One cell of the distance table, from earlier ones: insert, delete, replace, or swap two. */
static size_t get_step(struct mp_str a, struct mp_str b, size_t i, size_t j,
		       size_t rows[3][LONGEST + 1])
{
	size_t *now = rows[i % 3], *before = rows[(i + 2) % 3], *earlier = rows[(i + 1) % 3];
	size_t best = least(now[j - 1], before[j]) + 1;

	best = least(best, before[j - 1] + !is_same(a.p[i - 1], b.p[j - 1]));
	if (i > 1 && j > 1 && is_same(a.p[i - 1], b.p[j - 2]) && is_same(a.p[i - 2], b.p[j - 1]))
		best = least(best, earlier[j - 2] + 1);
	return best;
}

/* The number of typing errors between two words (optimal string alignment). */
static size_t get_distance(struct mp_str a, struct mp_str b)
{
	size_t rows[3][LONGEST + 1];

	if (a.len > LONGEST || b.len > LONGEST)
		return MP_SIMILAR_FAR;
	for (size_t j = 0; j <= b.len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		rows[i % 3][0] = i;
		for (size_t j = 1; j <= b.len; j++)
			rows[i % 3][j] = get_step(a, b, i, j, rows);
	}
	return rows[a.len % 3][b.len];
}

size_t mp_similar_score(struct mp_str typed, struct mp_str name)
{
	size_t most = 1 + typed.len / 8, far = MP_SIMILAR_FAR;

	if (typed.len <= name.len + most && name.len <= typed.len + most)
		far = get_distance(typed, name);
	if (far <= most && far < name.len)
		return far;
	if (typed.len >= 3 && mp_str_find(name, typed, 0) >= 0)
		return LONGEST + name.len;
	return MP_SIMILAR_FAR;
}

const char *mp_similar_find(const char *typed, const char *const *names, size_t n)
{
	size_t best = MP_SIMILAR_FAR;
	const char *found = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t score = names[i] ? mp_similar_score(mp_str_of(typed), mp_str_of(names[i]))
					: MP_SIMILAR_FAR;

		if (score < best) {
			best = score;
			found = names[i];
		}
	}
	return found;
}
