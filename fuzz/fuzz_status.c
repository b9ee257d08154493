/*
 * fuzz_status.c - anything as what a hub says of its servers: a list of statuses or an error, and
 * a list that is written comes back as it was.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "pool/status.h"

static int read_text(struct mp_str text, struct mp_status_list **ret, struct mcpool_error *reterr)
{
	struct mp_tape t;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, text, reterr);
	if (r == 0)
		r = mp_status_list_read(&t, MP_ROOT, ret, reterr);
	mp_tape_done(&t);
	return r;
}

static void check_row(const struct mp_status *a, const struct mp_status *b)
{
	FUZZ_CHECK(strcmp(a->name, b->name) == 0 && a->state == b->state);
	FUZZ_CHECK(strcmp(a->error, b->error) == 0 && strcmp(a->tail, b->tail) == 0);
	FUZZ_CHECK(!a->provider == !b->provider && a->tools_allowed.n == b->tools_allowed.n);
	FUZZ_CHECK(a->timeout_ms == b->timeout_ms && a->code == b->code && a->tools == b->tools);
	FUZZ_CHECK(!a->catalog == !b->catalog);
	for (int kind = 0; a->catalog && kind < MP_CATALOG_COUNT; kind++) {
		const struct mp_server_catalog_list *x = a->catalog->lists[kind],
						    *y = b->catalog->lists[kind];

		FUZZ_CHECK(mp_server_catalog_list_equals(&x->list, &y->list));
		FUZZ_CHECK(x->list.n_problems == y->list.n_problems);
		FUZZ_CHECK(a->catalog->saved_ms == b->catalog->saved_ms);
	}
}

static void check_again(const struct mp_status_list *servers)
{
	struct mp_status_list *again = NULL;
	struct mcpool_error error;
	struct mp_writer w;
	struct mp_buf text;

	mp_buf_init(&text, MP_MIB(64));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	FUZZ_CHECK(mp_status_list_write(&w, servers) == 0);
	mp_write_end_object(&w);
	FUZZ_CHECK(mp_write_finish(&w) == 0);
	FUZZ_CHECK(read_text(mp_buf_get(&text), &again, &error) == 0);
	FUZZ_CHECK(again->n == servers->n && again->naming == servers->naming);
	for (size_t i = 0; i < servers->n; i++)
		check_row(&servers->items[i], &again->items[i]);
	mp_status_list_free(again);
	mp_buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mp_status_list *servers = NULL;
	struct mcpool_error error = {0};
	int r = read_text(text, &servers, &error);

	FUZZ_CHECK(r == 0 ? servers != NULL : error.code == r && error.message[0] && !servers);
	if (r == 0)
		check_again(servers);
	mp_status_list_free(servers);
	return 0;
}
