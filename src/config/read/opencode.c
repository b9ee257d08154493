/*
 * opencode.c - OpenCode's configuration: up to seven files, merged deeply, the higher one on top.
 * What a project's file adds to a user's entry makes it the project's, with its own approval; the
 * user's entry without that file follows it, so that a project cannot remove it.
 */
#include "base/limits.h"
#include "config/read/dialects.h"
#include "config/read/loading.h"
#include "json/write.h"

void mp_dialect_opencode(struct mp_loading *l, const struct mp_source *s,
			 const struct mp_document *doc)
{
	(void)l;
	(void)s;
	(void)doc; /* its turn comes when all layers are there */
}

/* `mcp`, or `mcp.servers` in the newer schema, where a server of that name would have a type. */
static mp_value map_of(const struct mp_tape *t)
{
	mp_value mcp = mp_value_get(t, MP_ROOT, "mcp");
	mp_value servers = mp_value_get(t, mcp, "servers");

	if (mp_value_is(t, servers, MP_TAPE_OBJECT) &&
	    !mp_value_is(t, mp_value_get(t, servers, "type"), MP_TAPE_STRING))
		return servers;
	return mcp;
}

/* `timeout` beside the servers is not a server, unless it has the type of one. */
static bool is_setting(const struct mp_tape *t, mp_value v, struct mp_str key)
{
	return mp_str_eq(key, MP_STR("timeout")) &&
	       !mp_value_is(t, mp_value_get(t, v, "type"), MP_TAPE_STRING);
}

static mp_value opencode_locate(const struct mp_document *doc, struct mp_str name)
{
	return mp_value_get_key(&doc->tape, map_of(&doc->tape), name);
}

/* One value in each layer that has it, highest first. */
struct stack {
	const struct mp_tape *t[MP_LAYERS_MAX];
	mp_value v[MP_LAYERS_MAX];
	size_t n;
};

static bool is_in(const struct stack *s, size_t from, size_t to, struct mp_str key)
{
	for (size_t i = from; i < to; i++)
		if (mp_value_get_str(s->t[i], s->v[i], key) != MP_NONE)
			return true;
	return false;
}

static void write_merged(struct mp_writer *w, const struct stack *s, struct mp_arena *arena);

static void write_member(struct mp_writer *w, const struct stack *s, size_t from, struct mp_str key,
			 struct mp_arena *arena)
{
	struct stack below = {.n = 0};

	for (size_t i = from; i < s->n; i++) {
		mp_value v = mp_value_get_str(s->t[i], s->v[i], key);

		if (v == MP_NONE)
			continue;
		below.t[below.n] = s->t[i];
		below.v[below.n++] = v;
	}
	mp_write_key(w, key);
	write_merged(w, &below, arena);
}

/* Objects are merged key by key; anything else is as the highest layer has it. */
static void write_merged(struct mp_writer *w, const struct stack *s, struct mp_arena *arena)
{
	struct mp_str key;

	if (!mp_value_is(s->t[0], s->v[0], MP_TAPE_OBJECT)) {
		mp_write_value(w, s->t[0], s->v[0]);
		return;
	}
	mp_write_begin_object(w);
	for (size_t i = 0; i < s->n; i++) {
		if (!mp_value_is(s->t[i], s->v[i], MP_TAPE_OBJECT))
			break; /* what is below a scalar is hidden by it */
		MP_VALUE_EACH(s->t[i], s->v[i], k) {
			if (mp_value_text(s->t[i], k, arena, &key) < 0)
				w->error = w->error ? w->error : mp_arena_get_error(arena);
			else if (!is_in(s, 0, i, key))
				write_member(w, s, i, key, arena);
		}
	}
	mp_write_end_object(w);
}

/* The servers that layer `from + i` is the highest to mention, each with all that is below it. */
static int opencode_merge(struct mp_loading *l, size_t from, size_t i, struct mp_buf *out)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct stack s = {.n = 0};
	struct mp_writer w;
	struct mp_str key;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	for (size_t at = from; at < l->n_layers; at++) {
		s.t[s.n] = &l->layers[at].doc->tape;
		s.v[s.n] = map_of(s.t[s.n]);
		s.n++;
	}
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	MP_VALUE_EACH(s.t[i], s.v[i], k) {
		if (mp_value_text(s.t[i], k, &arena, &key) < 0)
			return mp_arena_get_error(&arena);
		if (!is_setting(s.t[i], mp_value_of(k), key) && !is_in(&s, 0, i, key))
			write_member(&w, &s, i, key, &arena);
	}
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* Merging looks every key up in every layer, so their number is bounded. */
static bool is_small(const struct mp_tape *t, mp_value v)
{
	bool is_object = mp_value_is(t, v, MP_TAPE_OBJECT);

	if (is_object && mp_value_count(t, v) > MP_LIMIT_LAYER_KEYS)
		return false;
	if (is_object)
		MP_VALUE_EACH(t, v, key)
			if (!is_small(t, mp_value_of(key)))
				return false;
	return true;
}

static void drop_large(struct mp_loading *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->n_layers; i++) {
		struct mp_document *doc = l->layers[i].doc;

		if (is_small(&doc->tape, map_of(&doc->tape))) {
			l->layers[kept++] = l->layers[i];
			continue;
		}
		mp_loading_complain(l, MP_WARNING, doc, MP_ROOT, "", "",
				    "there are too many keys in \"mcp\"; this file is ignored");
		mp_document_free(doc);
	}
	l->n_layers = kept;
}

static void add_layer(struct mp_loading *l, size_t from, size_t i)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_tape_done) struct mp_tape merged;
	const struct mp_layer *layer = &l->layers[from + i];
	struct mp_reading_place place = {.source = layer->source,
					 .doc = layer->doc,
					 .scope = "",
					 .prefix = "",
					 .locate = opencode_locate};
	int r;

	mp_buf_init(&text, MP_LIMIT_ARENA);
	mp_tape_init(&merged, 0);
	r = opencode_merge(l, from, i, &text);
	if (r == 0)
		r = mp_tape_parse(&merged, mp_buf_get(&text), NULL);
	if (r == 0)
		mp_loading_add(l, &place, &merged, MP_ROOT);
	else if (l->error == 0)
		l->error = r;
}

void mp_opencode_merge(struct mp_loading *l)
{
	size_t users = 0;

	drop_large(l);
	while (users < l->n_layers && l->layers[users].source->level == MP_CONFIG_PROJECT)
		users++;
	for (size_t i = 0; i < users; i++)
		add_layer(l, 0, i);
	for (size_t i = users; i < l->n_layers; i++)
		add_layer(l, users, i - users);
	for (size_t i = 0; i < l->n_layers; i++)
		mp_document_free(l->layers[i].doc);
	l->n_layers = 0;
}
