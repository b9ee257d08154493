/*
 * fuzz_server_catalog.c - anything as what the store remembers of a server: an offer or an error,
 * and an offer comes back from the store as it was. The input: lines; the first is the server, the
 * next four are its lists.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "pool/server_catalog.h"

static struct mp_str take_line(struct fuzz_input *in)
{
	const uint8_t *end = in->size ? memchr(in->data, '\n', in->size) : NULL;
	struct mp_str line = fuzz_take(in, end ? (size_t)(end - in->data) : in->size);

	if (end)
		(void)fuzz_byte(in);
	return line;
}

static void check_offer(const struct mp_server_catalog *o)
{
	FUZZ_CHECK(o->hello.era == MP_ERA_LEGACY || o->hello.era == MP_ERA_MODERN);
	FUZZ_CHECK(mp_utf8_valid(o->hello.name) && mp_utf8_valid(o->hello.instructions));
	FUZZ_CHECK(o->hello.version.len);
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++) {
		const struct mp_catalog_list *l = &o->lists[kind]->list;

		FUZZ_CHECK((int)l->kind == kind && l->n_problems == 0);
		for (size_t i = 0; i < l->n; i++)
			FUZZ_CHECK(l->items[i].name.len && l->items[i].json.p[0] == '{');
	}
}

static void check_again(const struct mp_server_catalog *o)
{
	struct mp_server_catalog *again = NULL;
	struct mcpool_error error;
	struct mp_stored_catalog d;
	struct mp_buf text;

	mp_buf_init(&text, MP_MIB(64));
	FUZZ_CHECK(mp_server_catalog_to_definition(o, &text, &d) == 0);
	FUZZ_CHECK(mp_server_catalog_from_definition(&d, &again, &error) == 0);
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++) {
		FUZZ_CHECK(mp_server_catalog_list_equals(&o->lists[kind]->list,
							 &again->lists[kind]->list));
		FUZZ_CHECK(!o->lists[kind]->problem == !again->lists[kind]->problem);
	}
	FUZZ_CHECK(o->hello.offers == again->hello.offers && o->hello.era == again->hello.era);
	FUZZ_CHECK(mp_str_eq(o->hello.instructions, again->hello.instructions));
	mp_server_catalog_unref(again);
	mp_buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct mp_stored_catalog d = {.saved_ms = 1};
	struct mcpool_error error = {0};
	struct mp_server_catalog *o = NULL;
	int r;

	d.server = take_line(&in);
	for (int i = 0; i < MP_STORED_CATALOG_LISTS; i++)
		d.lists[i] = take_line(&in);
	r = mp_server_catalog_from_definition(&d, &o, &error);
	FUZZ_CHECK(r == 0 ? o != NULL : error.code == r && error.message[0] && !o);
	if (r == 0) {
		check_offer(o);
		check_again(o);
	}
	mp_server_catalog_unref(o);
	return 0;
}
