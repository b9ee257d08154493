/*
 * fuzz_value.c - reading values: every question about every node, and equality with a rewritten
 * copy of the same document.
 */
#include "fuzz.h"
#include "base/buf.h"
#include "json/value.h"
#include "json/write.h"

static void ask_everything(const struct mp_tape *t, mp_value v, struct mp_arena *arena)
{
	struct mp_str text;
	int64_t i;
	uint64_t u;
	double f;
	bool b;

	if (mp_value_text(t, v, arena, &text) == 0) {
		FUZZ_CHECK(mp_utf8_valid(text));
		FUZZ_CHECK(mp_value_text_is(t, v, text));
		if (text.len)
			FUZZ_CHECK(!mp_value_text_is(t, v, (struct mp_str){text.p, text.len - 1}));
	}
	if (mp_value_i64(t, v, &i) == 0 && i >= 0)
		FUZZ_CHECK(mp_value_u64(t, v, &u) == 0 && u == (uint64_t)i);
	if (mp_value_is(t, v, MP_TAPE_NUMBER))
		FUZZ_CHECK(mp_value_f64(t, v, &f) == 0);
	else
		FUZZ_CHECK(mp_value_f64(t, v, &f) == MCPOOL_ETYPE);
	FUZZ_CHECK((mp_value_bool(t, v, &b) == 0) ==
		   (mp_value_is(t, v, MP_TAPE_TRUE) || mp_value_is(t, v, MP_TAPE_FALSE)));
}

/* The second of two equal keys, by comparing all pairs. */
static mp_value naive_duplicate(const struct mp_tape *t, mp_value object, struct mp_arena *arena)
{
	MP_VALUE_EACH(t, object, k) {
		struct mp_str text, other;

		FUZZ_CHECK(mp_value_text(t, k, arena, &text) == 0);
		MP_VALUE_EACH(t, object, earlier) {
			if (earlier == k)
				break;
			FUZZ_CHECK(mp_value_text(t, earlier, arena, &other) == 0);
			if (mp_str_eq(text, other))
				return k;
		}
	}
	return MP_NONE;
}

static void check_members(const struct mp_tape *t, mp_value object, struct mp_arena *arena)
{
	mp_value twice;

	FUZZ_CHECK(mp_value_find_duplicate(t, object, &twice) == 0);
	FUZZ_CHECK(twice == naive_duplicate(t, object, arena));
	MP_VALUE_EACH(t, object, k) {
		struct mp_str text;
		mp_value hit;

		FUZZ_CHECK(mp_value_text(t, k, arena, &text) == 0);
		hit = mp_value_get_str(t, object, text);
		FUZZ_CHECK(hit != MP_NONE && hit >= mp_value_of(k));
		FUZZ_CHECK(twice != MP_NONE || hit == mp_value_of(k));
	}
}

static void check_rewritten(const struct mp_tape *t)
{
	struct mp_tape copy;
	struct mp_writer w;
	struct mp_buf out;
	bool equal;

	mp_buf_init(&out, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &out, "\t");
	mp_write_value(&w, t, MP_ROOT);
	FUZZ_CHECK(mp_write_finish(&w) == 0);
	mp_tape_init(&copy, 0);
	FUZZ_CHECK(mp_tape_parse(&copy, mp_buf_get(&out), NULL) == 0);
	FUZZ_CHECK(copy.n == t->n);
	FUZZ_CHECK(mp_value_equal(t, MP_ROOT, &copy, MP_ROOT, &equal) == 0 && equal);
	mp_tape_done(&copy);
	mp_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_tape t;
	struct mp_arena arena;

	if (size > 20000)
		return 0;
	mp_tape_init(&t, MP_TAPE_JSONC);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (mp_tape_parse(&t, (struct mp_str){(const char *)data, size}, NULL) == 0) {
		for (mp_value v = 0; v < t.n; v++) {
			ask_everything(&t, v, &arena);
			if (mp_value_is(&t, v, MP_TAPE_OBJECT) && mp_value_count(&t, v) < 200)
				check_members(&t, v, &arena);
		}
		ask_everything(&t, MP_NONE, &arena);
		check_rewritten(&t);
	}
	mp_arena_done(&arena);
	mp_tape_done(&t);
	return 0;
}
