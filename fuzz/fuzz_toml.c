/*
 * fuzz_toml.c - any bytes as TOML: refused with a place, or JSON whose every key and value has a
 * spot that leads back into the text; and the same when read again.
 */
#include "fuzz.h"

#include "toml/toml.h"
#include "json/tape.h"

static void check_refused(const struct mp_toml *t, int r, const struct mcpool_error *error,
			  struct mp_str text)
{
	FUZZ_CHECK(r == MCPOOL_EPARSE || r == MCPOOL_ELIMIT);
	FUZZ_CHECK(error->code == r && error->message[0]);
	FUZZ_CHECK(t->fault && t->fault_at <= text.len);
	FUZZ_CHECK(t->json.len == 0 && t->n == 0);
}

static void check_accepted(const struct mp_toml *t, struct mp_str text)
{
	struct mp_tape tape;

	mp_tape_init(&tape, 0);
	FUZZ_CHECK(mp_tape_parse(&tape, mp_buf_get(&t->json), NULL) == 0);
	FUZZ_CHECK(tape.nodes[0].type == MP_TAPE_OBJECT);
	FUZZ_CHECK(!memchr(t->json.data, '\n', t->json.len));
	FUZZ_CHECK(t->n == tape.n);
	for (size_t i = 0; i < t->n; i++) {
		FUZZ_CHECK(t->spots[i].json == tape.nodes[i].start); /* so they ascend */
		FUZZ_CHECK(t->spots[i].toml <= text.len);
		FUZZ_CHECK(mp_toml_locate(t, t->spots[i].json) == t->spots[i].toml);
	}
	mp_tape_done(&tape);
}

static void check_same(const struct mp_toml *a, const struct mp_toml *b)
{
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&a->json), mp_buf_get(&b->json)));
	FUZZ_CHECK(a->n == b->n && a->fault == b->fault && a->fault_at == b->fault_at);
	if (a->n)
		FUZZ_CHECK(memcmp(a->spots, b->spots, a->n * sizeof(*a->spots)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mp_toml first, again;
	struct mcpool_error error;
	int r;

	mp_toml_init(&first);
	mp_toml_init(&again);
	r = mp_toml_read(&first, text, &error);
	if (r < 0)
		check_refused(&first, r, &error, text);
	else
		check_accepted(&first, text);
	FUZZ_CHECK(mp_toml_read(&again, text, NULL) == r);
	check_same(&first, &again);
	mp_toml_done(&first);
	mp_toml_done(&again);
	return 0;
}
