/*
 * server_catalog_text.c - converts a catalog to the form of the store and back.
 * Stored text is trusted as little as the text of a server.
 */
#include "base/error.h"
#include "base/limits.h"
#include "pool/server_catalog.h"

_Static_assert((int)MP_STORED_CATALOG_LISTS == (int)MP_CATALOG_COUNT, "one text per list");

static const char *const list_names[] = {
#define X(name, method, list, key, offer) [MP_CATALOG_##name] = list,
	MP_CATALOG_KINDS(X)
#undef X
};

/* The texts of the server object, and their offsets in a hello. */
static const struct {
	const char *key;
	size_t offset;
} texts[] = {
	{"name", offsetof(struct mp_hello, name)},
	{"title", offsetof(struct mp_hello, title)},
	{"version", offsetof(struct mp_hello, server_version)},
	{"protocolVersion", offsetof(struct mp_hello, version)},
	{"instructions", offsetof(struct mp_hello, instructions)},
};

/* --- to the store --------------------------------------------------------------------------- */

static int write_server(const struct mp_hello *h, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++) {
		const struct mp_str *text =
			(const struct mp_str *)(const void *)((const char *)h + texts[i].offset);

		if (text->len)
			mp_write_member_text(&w, texts[i].key, *text);
	}
	mp_write_member_text(&w, "era",
			     h->era == MP_ERA_MODERN ? MP_STR("modern") : MP_STR("legacy"));
	if (h->capabilities.len && h->capabilities.p[0] == '{')
		mp_write_member_raw(&w, "capabilities", h->capabilities);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int write_list(const struct mp_server_catalog_list *l, struct mp_buf *out)
{
	struct mp_writer w;

	if (l->problem)
		return 0; /* unknown, which differs from an empty list */
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, mp_str_of(list_names[l->list.kind]));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < l->list.n; i++)
		mp_write_raw(&w, l->list.items[i].json);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_server_catalog_to_definition(const struct mp_server_catalog *o, struct mp_buf *text,
				    struct mp_stored_catalog *ret)
{
	size_t starts[MP_CATALOG_COUNT + 1] = {0}; /* offsets: the buf may move */
	struct mp_stored_catalog d = {.saved_ms = o->saved_ms};
	int r;

	mp_buf_clear(text);
	r = write_server(&o->hello, text);
	for (int kind = 0; kind < MP_CATALOG_COUNT && r == 0; kind++) {
		starts[kind] = text->len;
		r = write_list(o->lists[kind], text);
		d.counts[kind] = o->lists[kind]->list.n;
		if (r == 0 && text->len - starts[kind] > MP_LIMIT_MESSAGE)
			r = MCPOOL_ELIMIT;
	}
	if (r < 0)
		return r;
	starts[MP_CATALOG_COUNT] = text->len;
	d.server = (struct mp_str){text->data, starts[0]};
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		d.lists[kind] =
			(struct mp_str){text->data + starts[kind], starts[kind + 1] - starts[kind]};
	*ret = d;
	return 0;
}

/* --- from the store ------------------------------------------------------------------------- */

static int server_catalog_text_refuse(struct mcpool_error *reterr, const char *what)
{
	return mp_fail(reterr, MCPOOL_EPROTO, "what is remembered of this server is broken: %s",
		       what);
}

static int read_era(const struct mp_tape *t, struct mp_hello *h, struct mcpool_error *reterr)
{
	mp_value era = mp_value_get(t, MP_ROOT, "era");

	if (mp_value_text_is(t, era, MP_STR("modern")))
		h->era = MP_ERA_MODERN;
	else if (mp_value_text_is(t, era, MP_STR("legacy")))
		h->era = MP_ERA_LEGACY;
	else
		return server_catalog_text_refuse(reterr, "its era");
	if (h->era == MP_ERA_MODERN ? !mp_str_eq(h->version, MP_STR(MP_MODERN_VERSION))
				    : !mp_legacy_knows(h->version))
		return server_catalog_text_refuse(reterr, "its protocol version");
	return 0;
}

static int read_texts(const struct mp_tape *t, struct mp_arena *arena, struct mp_hello *h,
		      struct mcpool_error *reterr)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++) {
		mp_value v = mp_value_get(t, MP_ROOT, texts[i].key);
		struct mp_str *text = (struct mp_str *)(void *)((char *)h + texts[i].offset);
		int r;

		if (v != MP_NONE && !mp_value_is(t, v, MP_TAPE_STRING))
			return server_catalog_text_refuse(reterr, texts[i].key);
		r = mp_era_read_text(t, MP_ROOT, texts[i].key, arena, text);
		if (r < 0)
			return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	}
	return 0;
}

/* Texts of *ret_hello are in the arena or in the definition. */
static int read_server(struct mp_str server, struct mp_arena *arena, struct mp_hello *ret_hello,
		       struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_hello h = {.cache = {.is_private = true}};
	mp_value capabilities;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, server, reterr);
	if (r < 0)
		return r;
	if (!mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT))
		return server_catalog_text_refuse(reterr, "it is not an object");
	capabilities = mp_value_get(&t, MP_ROOT, "capabilities");
	if (capabilities != MP_NONE && !mp_value_is(&t, capabilities, MP_TAPE_OBJECT))
		return server_catalog_text_refuse(reterr, "its capabilities");
	h.capabilities = mp_value_source(&t, capabilities);
	h.offers = mp_era_read_offers(&t, capabilities);
	r = read_texts(&t, arena, &h, reterr);
	if (r == 0)
		r = read_era(&t, &h, reterr);
	if (r == 0)
		*ret_hello = h;
	return r;
}

static int read_list(struct mp_server_catalog_list *l, struct mp_str page,
		     struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf cursor;
	bool more;
	int r;

	mp_buf_init(&cursor, MP_LIMIT_MESSAGE);
	if (page.len == 0 && l->list.kind == MP_CATALOG_TOOL)
		return server_catalog_text_refuse(reterr, "it has no tools");
	if (page.len == 0) {
		l->problem = "it could not be had when the server was last seen";
		return 0;
	}
	r = mp_catalog_read_page(&l->list, page, &cursor, &more, reterr);
	if (r < 0)
		return r;
	return more || l->list.n_problems
		       ? server_catalog_text_refuse(reterr, list_names[l->list.kind])
		       : 0;
}

static int read_offer(const struct mp_stored_catalog *d, struct mp_server_catalog **ret,
		      struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena scratch;
	struct mp_hello hello;
	int r;

	mp_arena_init(&scratch, MP_LIMIT_ARENA);
	r = read_server(d->server, &scratch, &hello, reterr);
	if (r < 0)
		return r;
	*ret = mp_server_catalog_new(&hello);
	if (!*ret)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	for (int kind = 0; kind < MP_CATALOG_COUNT && r == 0; kind++)
		r = read_list((*ret)->lists[kind], d->lists[kind], reterr);
	return r;
}

int mp_server_catalog_from_definition(const struct mp_stored_catalog *d,
				      struct mp_server_catalog **ret, struct mcpool_error *reterr)
{
	struct mp_server_catalog *o = NULL;
	int r;

	if (d->saved_ms <= 0) /* 0 means live */
		return server_catalog_text_refuse(reterr, "its date");
	r = read_offer(d, &o, reterr);
	if (r < 0) {
		mp_server_catalog_unref(o);
		return r;
	}
	o->saved_ms = d->saved_ms;
	*ret = o;
	return 0;
}
