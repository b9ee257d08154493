/*
 * map.c - string keys to pointers.
 * A dense array of entries in order of insertion, found through a sparse table of indexes. Removing
 * leaves a gap in the array; growing closes the gaps.
 */
#include "base/map.h"

#include <sys/random.h>
#include <pthread.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 8, FEW_SLOTS = 64 };

static uint64_t seed[2];

static void make_seed(void)
{
	/* Without entropy the seed is fixed: slower under attack, never wrong. */
	if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed))
		seed[0] = 0x9e3779b97f4a7c15u;
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static inline void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

uint64_t mp_hash(struct mp_str s)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_seed); /* fails for bad arguments only */
	return mp_hash_with(seed, s);
}

uint64_t mp_hash_with(const uint64_t key[2], struct mp_str s)
{
	uint64_t v[4], word, last = (uint64_t)s.len << 56;
	size_t i;

	v[0] = key[0] ^ 0x736f6d6570736575u;
	v[1] = key[1] ^ 0x646f72616e646f6du;
	v[2] = key[0] ^ 0x6c7967656e657261u;
	v[3] = key[1] ^ 0x7465646279746573u;
	for (i = 0; i + 8 <= s.len; i += 8) {
		memcpy(&word, s.p + i, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	for (size_t shift = 0; i < s.len; i++, shift += 8)
		last |= (uint64_t)(unsigned char)s.p[i] << shift;
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void mp_map_init(struct mp_map *m, size_t ceiling)
{
	mp_check(ceiling < UINT32_MAX / 4);
	*m = (struct mp_map){.ceiling = ceiling};
}

void mp_map_done(struct mp_map *m)
{
	for (size_t i = 0; i < m->used; i++)
		mp_free((char *)m->entries[i].key.p);
	mp_free(m->entries);
	mp_free(m->slots);
	mp_map_init(m, m->ceiling);
}

/* The slot that holds key, or the empty one where the search ended. */
static size_t find_slot(const struct mp_map *m, struct mp_str key, uint64_t hash)
{
	size_t at = hash & (m->n_slots - 1);

	for (; m->slots[at]; at = (at + 1) & (m->n_slots - 1)) {
		const struct mp_map_entry *e = &m->entries[m->slots[at] - 1];

		if (e->key.p && e->hash == hash && mp_str_eq(e->key, key))
			break;
	}
	return at;
}

static struct mp_map_entry *find_hashed(const struct mp_map *m, struct mp_str key, uint64_t hash)
{
	uint32_t index;

	if (m->len == 0)
		return NULL;
	index = m->slots[find_slot(m, key, hash)];
	return index ? &m->entries[index - 1] : NULL;
}

static struct mp_map_entry *map_find(const struct mp_map *m, struct mp_str key)
{
	return m->len ? find_hashed(m, key, mp_hash(key)) : NULL;
}

/* New arrays with room for at least one more key, gaps closed. */
static int map_regrow(struct mp_map *m)
{
	size_t n_slots = FIRST_SLOTS;
	struct mp_map_entry *entries;
	uint32_t *slots;
	size_t used = 0;

	mp_check(m->entries || m->used == 0);
	while (n_slots / 2 <= m->len + m->len / 2) /* slack, or a busy map regrows at every turn */
		n_slots *= 2;
	entries = mp_try_alloc(n_slots / 2 * sizeof(*entries));
	slots = mp_try_alloc(n_slots * sizeof(*slots));
	if (!entries || !slots) {
		mp_free(entries);
		mp_free(slots);
		return MCPOOL_ENOMEM;
	}
	memset(slots, 0, n_slots * sizeof(*slots));
	for (size_t i = 0; i < m->used; i++) {
		size_t at = m->entries[i].hash & (n_slots - 1);

		if (!m->entries[i].key.p)
			continue;
		while (slots[at])
			at = (at + 1) & (n_slots - 1);
		entries[used++] = m->entries[i];
		slots[at] = (uint32_t)used;
	}
	mp_free(m->entries);
	mp_free(m->slots);
	m->entries = entries;
	m->slots = slots;
	m->used = used;
	m->n_slots = n_slots;
	return 0;
}

int mp_map_set(struct mp_map *m, struct mp_str key, void *value)
{
	uint64_t hash = mp_hash(key);
	struct mp_map_entry *e = find_hashed(m, key, hash);
	char *copy;
	int r;

	if (e) {
		e->value = value;
		return 0;
	}
	if (m->len >= m->ceiling)
		return MCPOOL_ELIMIT;
	if (m->used >= m->n_slots / 2) {
		r = map_regrow(m);
		if (r < 0)
			return r;
	}
	mp_check(m->entries);
	copy = mp_try_alloc(key.len + 1);
	if (!copy)
		return MCPOOL_ENOMEM;
	if (key.len)
		memcpy(copy, key.p, key.len);
	copy[key.len] = '\0';
	m->entries[m->used] = (struct mp_map_entry){{copy, key.len}, value, hash};
	m->slots[find_slot(m, key, hash)] = (uint32_t)++m->used;
	m->len++;
	return 0;
}

void *mp_map_get(const struct mp_map *m, struct mp_str key)
{
	const struct mp_map_entry *e = map_find(m, key);

	return e ? e->value : NULL;
}

bool mp_map_has(const struct mp_map *m, struct mp_str key)
{
	return map_find(m, key) != NULL;
}

void *mp_map_remove(struct mp_map *m, struct mp_str key)
{
	struct mp_map_entry *e = map_find(m, key);
	void *value;

	if (!e)
		return NULL;
	value = e->value;
	mp_free((char *)e->key.p);
	*e = (struct mp_map_entry){
		{NULL, 0}, NULL, 0}; /* its slot stays taken until the next regrow */
	m->len--;
	if (m->len == 0 && m->n_slots <= FEW_SLOTS) { /* often: then it need not regrow */
		memset(m->slots, 0, m->n_slots * sizeof(*m->slots));
		m->used = 0;
	}
	return value;
}

const struct mp_map_entry *mp_map_next(const struct mp_map *m, size_t *cursor)
{
	while (*cursor < m->used) {
		const struct mp_map_entry *e = &m->entries[(*cursor)++];

		if (e->key.p)
			return e;
	}
	return NULL;
}
