/* test_map.c - string keys to pointers, beside a naive model, in the order of insertion. */
#include "test.h"

#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"

static struct mp_str key_of(char out[16], size_t i)
{
	return (struct mp_str){out, (size_t)snprintf(out, 16, "key-%zu", i)};
}

/* The keys in order, joined by commas; static. */
static const char *keys_of(const struct mp_map *m)
{
	static char text[200];
	const struct mp_map_entry *e;
	size_t cursor = 0, len = 0;

	text[0] = '\0';
	while ((e = mp_map_next(m, &cursor)) && len < sizeof(text) - 20)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? "," : "",
					e->key.p);
	return text;
}

TEST(an_empty_map)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	size_t cursor = 0;

	mp_map_init(&m, 10);
	CHECK(!mp_map_get(&m, MP_STR("a")));
	CHECK(!mp_map_has(&m, MP_STR("")));
	CHECK(!mp_map_remove(&m, MP_STR("a")));
	CHECK(!mp_map_next(&m, &cursor));
	CHECK_EQ(m.len, 0);
}

TEST(setting_and_getting)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	char key[] = "a";
	int one, two;

	mp_map_init(&m, 10);
	CHECK_EQ(mp_map_set(&m, mp_str_of(key), &one), 0);
	key[0] = 'b'; /* keys are copied */
	CHECK_EQ(mp_map_set(&m, mp_str_of(key), &two), 0);
	CHECK(mp_map_get(&m, MP_STR("a")) == &one);
	CHECK(mp_map_get(&m, MP_STR("b")) == &two);
	CHECK(!mp_map_get(&m, MP_STR("c")));
	CHECK(!mp_map_get(&m, MP_STR("ab")));
	CHECK_EQ(m.len, 2);
	CHECK(mp_map_remove(&m, MP_STR("a")) == &one);
	CHECK(!mp_map_remove(&m, MP_STR("a")));
	CHECK(!mp_map_has(&m, MP_STR("a")));
	CHECK(mp_map_has(&m, MP_STR("b")));
	CHECK_EQ(m.len, 1);
}

TEST(a_null_value_is_a_value)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;

	mp_map_init(&m, 10);
	CHECK_EQ(mp_map_set(&m, MP_STR("a"), NULL), 0);
	CHECK(mp_map_has(&m, MP_STR("a")));
	CHECK(!mp_map_get(&m, MP_STR("a")));
	CHECK_EQ(m.len, 1);
	CHECK(!mp_map_remove(&m, MP_STR("a")));
	CHECK_EQ(m.len, 0);
}

TEST(keys_with_nul_and_the_empty_key)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	int values[4];

	mp_map_init(&m, 10);
	CHECK_EQ(mp_map_set(&m, MP_STR("a\0b"), &values[0]), 0);
	CHECK_EQ(mp_map_set(&m, MP_STR("a\0c"), &values[1]), 0);
	CHECK_EQ(mp_map_set(&m, MP_STR("a"), &values[2]), 0);
	CHECK_EQ(mp_map_set(&m, (struct mp_str){NULL, 0}, &values[3]), 0);
	CHECK_EQ(m.len, 4);
	CHECK(mp_map_get(&m, MP_STR("a\0b")) == &values[0]);
	CHECK(mp_map_get(&m, MP_STR("a\0c")) == &values[1]);
	CHECK(mp_map_get(&m, MP_STR("a")) == &values[2]);
	CHECK(mp_map_get(&m, MP_STR("")) == &values[3]);
	CHECK(!mp_map_has(&m, MP_STR("\0")));
	CHECK(mp_map_remove(&m, MP_STR("")) == &values[3]);
	CHECK(!mp_map_has(&m, MP_STR("")));
}

TEST(iteration_is_in_the_order_of_insertion)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	int x;

	mp_map_init(&m, 100);
	for (const char *p = "qwertzuiop"; *p; p++) /* enough to grow twice */
		CHECK_EQ(mp_map_set(&m, (struct mp_str){p, 1}, &x), 0);
	CHECK_TEXT(keys_of(&m), "q,w,e,r,t,z,u,i,o,p");
	CHECK_EQ(mp_map_set(&m, MP_STR("r"), NULL), 0); /* a replaced value keeps its place */
	CHECK_TEXT(keys_of(&m), "q,w,e,r,t,z,u,i,o,p");
	mp_map_remove(&m, MP_STR("q"));
	mp_map_remove(&m, MP_STR("t"));
	mp_map_remove(&m, MP_STR("p"));
	CHECK_TEXT(keys_of(&m), "w,e,r,z,u,i,o");
	CHECK_EQ(mp_map_set(&m, MP_STR("t"), &x), 0); /* a new one is the last */
	for (const char *p = "asdfghjkl"; *p; p++)
		CHECK_EQ(mp_map_set(&m, (struct mp_str){p, 1}, &x), 0);
	CHECK_TEXT(keys_of(&m), "w,e,r,z,u,i,o,t,a,s,d,f,g,h,j,k,l");
}

TEST(keys_end_in_nul)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	const struct mp_map_entry *e;
	size_t cursor = 0;

	mp_map_init(&m, 10);
	CHECK_EQ(mp_map_set(&m, (struct mp_str){"abcdef", 3}, NULL), 0);
	e = mp_map_next(&m, &cursor);
	CHECK(e);
	CHECK_STR(e->key, "abc");
	CHECK_EQ(e->key.p[3], '\0');
}

TEST(removing_while_iterating)
{
	static const char *const gone[] = {"", "a", "f", "abcdef", "bdf", "ace", "cd"};

	for (size_t row = 0; row < MP_ARRAY_LEN(gone); row++) {
		MP_CLEANUP(mp_map_done) struct mp_map m;
		const struct mp_map_entry *e;
		size_t cursor = 0, seen = 0;

		mp_map_init(&m, 10);
		for (const char *p = "abcdef"; *p; p++)
			CHECK_EQ(mp_map_set(&m, (struct mp_str){p, 1}, NULL), 0);
		while ((e = mp_map_next(&m, &cursor))) {
			CHECK_EQ(e->key.p[0], 'a' + (char)seen++);
			if (strchr(gone[row], e->key.p[0]))
				mp_map_remove(&m, e->key); /* its own key, which goes with it */
		}
		CHECK_EQ(seen, 6);
		CHECK_EQ(m.len, 6 - strlen(gone[row]));
	}
}

TEST(those_removed_ahead_are_not_visited)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	size_t cursor = 0;

	mp_map_init(&m, 10);
	for (const char *p = "abcd"; *p; p++)
		CHECK_EQ(mp_map_set(&m, (struct mp_str){p, 1}, NULL), 0);
	CHECK(mp_map_next(&m, &cursor));
	mp_map_remove(&m, MP_STR("b"));
	mp_map_remove(&m, MP_STR("c"));
	CHECK_STR(mp_map_next(&m, &cursor)->key, "d");
	CHECK(!mp_map_next(&m, &cursor));
	CHECK(!mp_map_next(&m, &cursor));
}

TEST(the_ceiling)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	char text[16];
	int x;

	mp_map_init(&m, 20);
	for (size_t i = 0; i < 20; i++)
		CHECK_EQ(mp_map_set(&m, key_of(text, i), NULL), 0);
	CHECK_EQ(mp_map_set(&m, MP_STR("one more"), &x), MCPOOL_ELIMIT);
	CHECK(!mp_map_has(&m, MP_STR("one more")));
	CHECK_EQ(m.len, 20);
	CHECK_EQ(mp_map_set(&m, key_of(text, 7), &x), 0); /* replacing needs no room */
	CHECK(mp_map_get(&m, key_of(text, 7)) == &x);
	mp_map_remove(&m, key_of(text, 3));
	CHECK_EQ(mp_map_set(&m, MP_STR("one more"), &x), 0);
	CHECK_EQ(mp_map_set(&m, key_of(text, 3), &x), MCPOOL_ELIMIT);
}

TEST(a_map_for_nothing)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;

	mp_map_init(&m, 0);
	CHECK_EQ(mp_map_set(&m, MP_STR("a"), NULL), MCPOOL_ELIMIT);
}

static bool holds(const struct mp_map *m, size_t n, int *values)
{
	char text[16];
	size_t cursor = 0;

	REQUIRE(m->len == n);
	for (size_t i = 0; i < n; i++) {
		const struct mp_map_entry *e = mp_map_next(m, &cursor);

		REQUIRE(mp_map_get(m, key_of(text, i)) == &values[i]);
		REQUIRE(e && e->value == &values[i]);
	}
	REQUIRE(!mp_map_next(m, &cursor));
	return true;
}

TEST(failing_memory_leaves_the_map_as_it_was)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	size_t failures = 0;
	int values[40];
	char text[16];

	if (!mp_fault_is_built_in())
		return;
	mp_map_init(&m, 100);
	for (size_t i = 0; i < 40; i++) {
		for (uint64_t nth = 1;; nth++) {
			int r;

			mp_fault_arm(MP_FAULT_TRY, nth);
			r = mp_map_set(&m, key_of(text, i), &values[i]);
			mp_fault_arm(MP_FAULT_TRY, 0);
			if (r == 0)
				break;
			failures++;
			CHECK_EQ(r, MCPOOL_ENOMEM);
			CHECK(holds(&m, i, values));
			CHECK(!mp_map_has(&m, key_of(text, i)));
		}
		CHECK(holds(&m, i + 1, values));
	}
	CHECK(failures >= 40 + 4 * 2); /* each key, and two arrays whenever it grew */
}

/* --- much of it ----------------------------------------------------------------------------- */

enum { MANY = 10000 };

HEAVY_TEST(ten_thousand_keys_beside_a_naive_model)
{
	static bool present[MANY];
	static int values[MANY];
	MP_CLEANUP(mp_map_done) struct mp_map m;
	uint64_t seed = 7;
	size_t n = 0;
	char text[16];

	memset(present, 0, sizeof(present));
	mp_map_init(&m, MANY);
	for (size_t step = 0; step < 20 * MANY; step++) {
		size_t i = test_random(&seed) % MANY;
		struct mp_str key = key_of(text, i);

		if (test_random(&seed) % 3) { /* fills up to two thirds */
			CHECK_EQ(mp_map_set(&m, key, &values[i]), 0);
			n += !present[i];
			present[i] = true;
		} else {
			CHECK(mp_map_remove(&m, key) == (present[i] ? &values[i] : NULL));
			n -= present[i];
			present[i] = false;
		}
		CHECK_EQ(m.len, n);
	}
	for (size_t i = 0; i < MANY; i++)
		CHECK(mp_map_get(&m, key_of(text, i)) == (present[i] ? &values[i] : NULL));
	CHECK(n > MANY / 2 && n < MANY);
}

HEAVY_TEST(ten_thousand_keys_in_order)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	const struct mp_map_entry *e;
	size_t cursor = 0;
	char text[16];

	mp_map_init(&m, MANY);
	for (size_t i = 0; i < MANY; i++)
		CHECK_EQ(mp_map_set(&m, key_of(text, i), NULL), 0);
	CHECK_EQ(mp_map_set(&m, MP_STR("x"), NULL), MCPOOL_ELIMIT);
	for (size_t i = 0; i < MANY; i += 2)
		mp_map_remove(&m, key_of(text, i));
	for (size_t i = 1; i < MANY; i += 2) {
		e = mp_map_next(&m, &cursor);
		CHECK(e && mp_str_eq(e->key, key_of(text, i)));
	}
	CHECK(!mp_map_next(&m, &cursor));
}

HEAVY_TEST(coming_and_going_does_not_grow_it)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	char text[16];

	mp_map_init(&m, 100);
	for (size_t i = 0; i < 100000; i++) {
		CHECK_EQ(mp_map_set(&m, key_of(text, i), NULL), 0);
		if (i >= 10)
			mp_map_remove(&m, key_of(text, i - 10));
	}
	CHECK_EQ(m.len, 10);
	CHECK(m.n_slots <= 64);
	CHECK(m.used <= 32);
}

TEST(a_map_that_is_emptied_needs_no_new_memory)
{
	MP_CLEANUP(mp_map_done) struct mp_map m;
	const struct mp_map_entry *entries;
	char text[16];

	mp_map_init(&m, 100);
	CHECK_EQ(mp_map_set(&m, key_of(text, 0), NULL), 0);
	entries = m.entries;
	for (size_t i = 0; i < 100; i++) {
		CHECK_EQ(mp_map_set(&m, key_of(text, i), &m), 0);
		CHECK(mp_map_get(&m, key_of(text, i)) == &m);
		CHECK(mp_map_remove(&m, key_of(text, i)) == &m);
		CHECK(!mp_map_has(&m, key_of(text, i)));
		CHECK_EQ(m.used, 0);
	}
	CHECK(m.entries == entries);
}

/* --- the hash ------------------------------------------------------------------------------- */

TEST(the_hash_knows_every_byte_and_the_length)
{
	char bytes[40] = {0};

	for (size_t len = 0; len <= sizeof(bytes); len++) {
		uint64_t hash = mp_hash((struct mp_str){bytes, len});

		CHECK(hash == mp_hash((struct mp_str){bytes, len}));
		CHECK(len == 0 || hash != mp_hash((struct mp_str){bytes, len - 1}));
		for (size_t i = 0; i < len; i++) {
			bytes[i] = 1;
			CHECK(hash != mp_hash((struct mp_str){bytes, len}));
			bytes[i] = 0;
		}
	}
	CHECK(mp_hash(MP_STR("")) == mp_hash((struct mp_str){NULL, 0}));
}

static void promise_too_much(void)
{
	struct mp_map m;

	mp_map_init(&m, UINT32_MAX);
}

TEST(a_ceiling_past_the_indexes_stops)
{
	CHECK(test_stops(promise_too_much));
}
