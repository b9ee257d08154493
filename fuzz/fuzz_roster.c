/*
 * fuzz_roster.c - anything as what a hub says of its servers: a roster or an error, and a roster
 * that is written comes back as it was.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "face/roster.h"

static int read_text(struct mp_str text, struct mp_roster **ret, struct mcpool_error *reterr)
{
	struct mp_tape t;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, text, reterr);
	if (r == 0)
		r = mp_roster_read(&t, MP_ROOT, ret, reterr);
	mp_tape_done(&t);
	return r;
}

static void check_row(const struct mp_roster_row *a, const struct mp_roster_row *b)
{
	FUZZ_CHECK(strcmp(a->name, b->name) == 0 && a->state == b->state);
	FUZZ_CHECK(strcmp(a->error, b->error) == 0 && strcmp(a->tail, b->tail) == 0);
	FUZZ_CHECK(!a->provider == !b->provider && a->allowed.n == b->allowed.n);
	FUZZ_CHECK(a->timeout_ms == b->timeout_ms && a->code == b->code && a->tools == b->tools);
	FUZZ_CHECK(!a->offer == !b->offer);
	for (int kind = 0; a->offer && kind < MP_CATALOG_COUNT; kind++) {
		const struct mp_offer_list *x = a->offer->lists[kind], *y = b->offer->lists[kind];

		FUZZ_CHECK(mp_offer_list_equals(&x->list, &y->list));
		FUZZ_CHECK(x->list.n_problems == y->list.n_problems);
		FUZZ_CHECK(a->offer->saved_ms == b->offer->saved_ms);
	}
}

static void check_again(const struct mp_roster *roster)
{
	struct mp_roster *again = NULL;
	struct mcpool_error error;
	struct mp_buf text;

	mp_buf_init(&text, MP_MIB(64));
	FUZZ_CHECK(mp_roster_write(roster, &text) == 0);
	FUZZ_CHECK(read_text(mp_buf_get(&text), &again, &error) == 0);
	FUZZ_CHECK(again->n == roster->n && again->naming == roster->naming);
	for (size_t i = 0; i < roster->n; i++)
		check_row(&roster->rows[i], &again->rows[i]);
	mp_roster_free(again);
	mp_buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mp_roster *roster = NULL;
	struct mcpool_error error = {0};
	int r = read_text(text, &roster, &error);

	FUZZ_CHECK(r == 0 ? roster != NULL : error.code == r && error.message[0] && !roster);
	if (r == 0)
		check_again(roster);
	mp_roster_free(roster);
	return 0;
}
