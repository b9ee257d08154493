/*
 * server_catalog.c - the catalog of one server: immutable and reference-counted.
 */
#include "pool/server_catalog.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

/* --- lists ---------------------------------------------------------------------------------- */

struct mp_server_catalog_list *mp_server_catalog_list_new(enum mp_catalog_kind kind)
{
	struct mp_server_catalog_list *l = mp_alloc(sizeof(*l));

	l->refs = 1;
	mp_catalog_list_init(&l->list, kind);
	return l;
}

static struct mp_server_catalog_list *ref_list(struct mp_server_catalog_list *l)
{
	l->refs++;
	return l;
}

struct mp_server_catalog_list *mp_server_catalog_list_unref(struct mp_server_catalog_list *l)
{
	if (!l || --l->refs)
		return NULL;
	mp_catalog_list_done(&l->list);
	return mp_free(l);
}

/* A partial list would look complete and be reported as changed later, so it is cleared. */
void mp_server_catalog_list_blame(struct mp_server_catalog_list *l, const struct mcpool_error *why)
{
	enum mp_catalog_kind kind = l->list.kind;

	mp_catalog_list_done(&l->list);
	mp_catalog_list_init(&l->list, kind);
	l->problem = mp_arena_dup(&l->list.arena, mp_str_of(why->message));
	if (!l->problem)
		l->problem = mcpool_error_text(why->code);
}

/* Names are unique within a list, so n equal items of n are all of them. */
static bool equals_shuffled(const struct mp_catalog_item *a, const struct mp_catalog_item *b,
			    size_t n)
{
	struct mp_map of_b;
	bool equal = true;

	mp_map_init(&of_b, n);
	for (size_t i = 0; i < n && equal; i++)
		equal = mp_map_set(&of_b, b[i].name, (void *)&b[i]) == 0;
	for (size_t i = 0; i < n && equal; i++) {
		const struct mp_catalog_item *other = mp_map_get(&of_b, a[i].name);

		equal = other && mp_str_eq(a[i].json, other->json);
	}
	mp_map_done(&of_b);
	return equal;
}

bool mp_server_catalog_list_equals(const struct mp_catalog_list *a, const struct mp_catalog_list *b)
{
	size_t same = 0;

	if (a->kind != b->kind || a->n != b->n)
		return false;
	while (same < a->n && mp_str_eq(a->items[same].name, b->items[same].name) &&
	       mp_str_eq(a->items[same].json, b->items[same].json))
		same++;
	return same == a->n || equals_shuffled(a->items + same, b->items + same, a->n - same);
}

/* --- catalogs ------------------------------------------------------------------------------- */

static struct mp_server_catalog_words *unref_words(struct mp_server_catalog_words *w)
{
	if (!w || --w->refs)
		return NULL;
	mp_arena_done(&w->arena);
	return mp_free(w);
}

static int copy_hello(struct mp_server_catalog *o, const struct mp_hello *hello)
{
	struct mp_str *texts[] = {&o->hello.version,      &o->hello.name,
				  &o->hello.title,        &o->hello.server_version,
				  &o->hello.instructions, &o->hello.capabilities};

	o->hello = *hello;
	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++) {
		char *copy = mp_arena_dup(&o->words->arena, *texts[i]);

		if (!copy)
			return mp_arena_get_error(&o->words->arena);
		texts[i]->p = copy;
	}
	return 0;
}

struct mp_server_catalog *mp_server_catalog_new(const struct mp_hello *hello)
{
	struct mp_server_catalog *o = mp_alloc(sizeof(*o));

	o->refs = 1;
	o->words = mp_alloc(sizeof(*o->words));
	o->words->refs = 1;
	mp_arena_init(&o->words->arena, MP_LIMIT_ARENA);
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		o->lists[kind] = mp_server_catalog_list_new((enum mp_catalog_kind)kind);
	return copy_hello(o, hello) < 0 ? mp_server_catalog_unref(o) : o;
}

struct mp_server_catalog *mp_server_catalog_ref(struct mp_server_catalog *o)
{
	o->refs++;
	return o;
}

struct mp_server_catalog *mp_server_catalog_unref(struct mp_server_catalog *o)
{
	if (!o || --o->refs)
		return NULL;
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		mp_server_catalog_list_unref(o->lists[kind]);
	unref_words(o->words);
	return mp_free(o);
}

struct mp_server_catalog *mp_server_catalog_replace(const struct mp_server_catalog *o,
						    struct mp_server_catalog_list *list)
{
	struct mp_server_catalog *new = mp_alloc(sizeof(*new));

	*new = *o;
	new->refs = 1;
	new->words->refs++;
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		new->lists[kind] = kind == (int)list->list.kind ? list : ref_list(o->lists[kind]);
	return new;
}

/* --- fetching ------------------------------------------------------------------------------- */

struct one_fetch {
	struct mp_server_catalog_fetch *all;
	struct mp_catalog_fetch *fetch;      /* NULL: not in progress */
	struct mp_server_catalog_list *list; /* part of the catalog */
};

struct mp_server_catalog_fetch {
	struct mp_loop *loop;
	struct mp_server_catalog *offer;
	struct one_fetch of[MP_CATALOG_COUNT];
	unsigned skipped;
	unsigned under_way;
	mp_server_catalog_fn fn;
	void *u;
	struct mp_task task; /* runs the callback; the answers may come from within any function */
	struct mcpool_error why;
};

static void free_fetch(struct mp_server_catalog_fetch *f)
{
	mp_loop_unpost(f->loop, &f->task);
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		if (f->of[kind].fetch)
			mp_catalog_abandon(f->of[kind].fetch);
	mp_server_catalog_unref(f->offer);
	mp_free(f);
}

static void server_catalog_tell(void *u)
{
	struct mp_server_catalog_fetch *f = u;
	struct mp_server_catalog *offer = f->why.code ? NULL : MP_TAKE(f->offer);
	struct mcpool_error why = f->why;
	mp_server_catalog_fn fn = f->fn;
	void *fn_u = f->u;

	free_fetch(f);
	fn(offer, why.code ? &why : NULL, fn_u);
}

static bool fetch_needs(const struct mp_server_catalog_fetch *f, enum mp_catalog_kind kind)
{
	return f->skipped || kind == MP_CATALOG_TOOL;
}

/* Without a mandatory list there is no catalog, so do not wait for the others. */
static void got_list(struct mp_catalog_list *l, const struct mcpool_error *error, void *u)
{
	struct one_fetch *one = u;
	struct mp_server_catalog_fetch *f = one->all;

	one->fetch = NULL;
	f->under_way--;
	if (error && fetch_needs(f, l->kind) && !f->why.code)
		(void)mp_fail_because(&f->why, error->code, error, "%s: %s",
				      mp_catalog_get_method(l->kind), error->message);
	else if (error)
		mp_server_catalog_list_blame(one->list, error);
	if ((f->under_way == 0 || f->why.code) && !mp_list_linked(&f->task.link))
		mp_loop_post(f->loop, &f->task);
}

static int ask_all(struct mp_server_catalog_fetch *f, struct mp_upstream *up, int64_t timeout_ms)
{
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++) {
		struct one_fetch *one = &f->of[kind];
		int r;

		if (f->skipped & 1U << kind)
			continue;
		one->all = f;
		one->list = f->offer->lists[kind];
		r = mp_catalog_fetch(up, &one->list->list, timeout_ms, got_list, one, f->loop,
				     &one->fetch);
		if (r < 0)
			return r;
		f->under_way++;
	}
	if (f->under_way == 0)
		mp_loop_post(f->loop, &f->task);
	return 0;
}

int mp_server_catalog_fetch(struct mp_upstream *up, struct mp_loop *loop, int64_t timeout_ms,
			    unsigned skipped, mp_server_catalog_fn fn, void *u,
			    struct mp_server_catalog_fetch **ret_fetch)
{
	struct mp_server_catalog *offer = mp_server_catalog_new(mp_upstream_get_hello(up));
	struct mp_server_catalog_fetch *f;
	int r;

	if (!offer)
		return MCPOOL_ENOMEM;
	f = mp_alloc(sizeof(*f));
	*f = (struct mp_server_catalog_fetch){
		.loop = loop, .offer = offer, .skipped = skipped, .fn = fn, .u = u};
	mp_task_init(&f->task, server_catalog_tell, f);
	r = ask_all(f, up, timeout_ms);
	if (r < 0) {
		free_fetch(f);
		return r;
	}
	if (ret_fetch)
		*ret_fetch = f;
	return 0;
}

void mp_server_catalog_abandon(struct mp_server_catalog_fetch *f)
{
	free_fetch(f);
}
