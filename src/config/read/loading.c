/*
 * loading.c - a set while it is being loaded: entries, problems and paths are collected in order.
 */
#include "config/read/loading.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "config/read/self_check.h"

static bool is_over(const struct mp_loading *l)
{
	return l->error < 0;
}

static void *loading_take(struct mp_loading *l, size_t size)
{
	void *p = is_over(l) ? NULL : mp_arena_alloc_array(&l->set->arena, 1, size);

	if (!p && l->error == 0)
		l->error = mp_arena_get_error(&l->set->arena);
	return p;
}

char *mp_loading_keep(struct mp_loading *l, const char *text)
{
	char *copy = is_over(l) ? NULL : mp_arena_dup(&l->set->arena, mp_str_of(text));

	if (!copy && l->error == 0)
		l->error = mp_arena_get_error(&l->set->arena);
	return copy;
}

void mp_loading_note_path(struct mp_loading *l, const char *path)
{
	struct mp_path_node *node = loading_take(l, sizeof(*node));

	if (!node || !(node->path = mp_loading_keep(l, path)))
		return;
	node->next = l->first_path;
	l->first_path = node;
	l->n_paths++;
}

/* --- problems -------------------------------------------------------------------------------- */

static const char *loading_quote(struct mp_loading *l, const struct mp_document *doc)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_KIB(4));
	if (mp_document_quote(doc, doc->fault_at, &text) < 0 || mp_buf_terminate(&text) < 0)
		return "";
	return mp_loading_keep(l, text.data);
}

void mp_loading_complain(struct mp_loading *l, enum mp_severity severity,
			 const struct mp_document *doc, mp_value v, const char *path,
			 const char *server, const char *message)
{
	struct mp_problem_node *node;
	struct mp_tape_place place = {0, 0};

	if (l->n_problems >= MP_LIMIT_PROBLEMS)
		return;
	node = loading_take(l, sizeof(*node));
	if (!node)
		return;
	if (doc)
		place = v == MP_NONE ? doc->fault : mp_document_locate(doc, v);
	node->problem = (struct mp_problem){
		.severity = severity,
		.file = mp_loading_keep(l, doc ? doc->path : path),
		.line = place.line,
		.column = place.column,
		.server = mp_loading_keep(l, server),
		.message = mp_loading_keep(l, message),
		.quote = doc && v == MP_NONE && place.line ? loading_quote(l, doc) : "",
	};
	if (l->last_problem)
		l->last_problem->next = node;
	else
		l->first_problem = node;
	l->last_problem = node;
	l->n_problems++;
}

struct mp_document *mp_loading_open(struct mp_loading *l, const char *path, enum mp_format format,
				    size_t limit)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = NULL;
	struct mcpool_error why, full;
	size_t told = l->n_problems;
	int r;

	if (is_over(l))
		return NULL;
	mp_loading_note_path(l, path);
	r = mp_document_open(path, format, limit, &doc, &why);
	if (r == 0)
		return MP_TAKE(doc);
	if (r == MCPOOL_ENOMEM)
		l->error = r;
	else if (r != MCPOOL_ENOENT) {
		(void)mp_fail(&full, r, "%s; the file is ignored", why.message);
		mp_loading_complain(l, MP_WARNING, doc, MP_NONE, path, "", full.message);
		if (l->n_problems > told)
			l->last_problem->problem.is_whole_file = true;
	}
	return NULL;
}

/* --- entries --------------------------------------------------------------------------------- */

struct telling {
	struct mp_loading *l;
	const struct mp_document *doc;
	mp_value at; /* where the tape is not the document's; else MP_NONE */
	const char *server;
};

static void on_problem(const struct mp_bind_problem *p, void *u)
{
	struct telling *t = u;
	mp_value at = t->at != MP_NONE ? t->at : p->at;

	mp_loading_complain(t->l, MP_WARNING, t->doc, at == MP_NONE ? MP_ROOT : at, "", t->server,
			    p->message);
}

void mp_loading_append(struct mp_loading *l, struct mp_entry *e)
{
	struct mp_entry_node *node = loading_take(l, sizeof(*node));

	if (!node)
		return;
	node->entry = e;
	if (l->last)
		l->last->next = node;
	else
		l->first = node;
	l->last = node;
	l->n_entries++;
}

static struct mp_origin origin_of(struct mp_loading *l, const struct mp_reading_place *place,
				  mp_value key)
{
	const struct mp_source *s = place->source;
	struct mp_tape_place at = mp_document_locate(place->doc, key);
	bool in_project = s->level == MP_CONFIG_PROJECT || place->scope[0];

	return (struct mp_origin){
		.file = mp_loading_keep(l, place->doc->path),
		.real = mp_loading_keep(l, place->doc->real),
		.line = at.line,
		.column = at.column,
		.tool = s->tool,
		.label = s->label,
		.level = s->level,
		.root = in_project ? l->set->root : "",
		.scope = mp_loading_keep(l, place->scope),
		.plugin_root = place->plugin_root,
		.spellings = s->spellings,
		.quirks = s->quirks,
	};
}

static void warn_about_name(struct telling *t, const struct mp_entry *e, mp_value key)
{
	if (!e->invalid && (e->origin.quirks & MP_QUIRK_OWN) &&
	    !mp_entry_is_plain_name(mp_str_of(e->name)))
		mp_loading_complain(
			t->l, MP_WARNING, t->doc, key, "", e->name,
			"characters other than letters, digits, - and _ become _ in the "
			"names of its tools");
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_near(const char *address)
{
	static const char *const near[] = {
		"http://127.0.0.1:",  "http://localhost:",  "http://[::1]:",
		"https://127.0.0.1:", "https://localhost:", "https://[::1]:"};

	for (size_t i = 0; i < MP_ARRAY_LEN(near); i++)
		if (strncmp(address, near[i], strlen(near[i])) == 0)
			return true;
	return false;
}

/*
 * An agent's way to the hub, as `mcpool connect` writes it. It is listed among the agent's servers,
 * but a hub that started it would be its own server.
 */
static bool is_ourselves(const struct mp_entry *e)
{
	if (e->argv)
		return mp_self_check_is_own((const char *const *)e->argv, e->argc);
	return e->address && strcmp(e->name, "mcpool") == 0 && is_near(e->address) &&
	       strcmp(last_part(e->address), "mcp") == 0;
}

static void add_one(struct mp_loading *l, const struct mp_reading_place *place,
		    const struct mp_tape *t, mp_value key)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena scratch;
	char name[2 * MP_LIMIT_NAME];
	struct mp_origin origin;
	struct mp_str text;
	struct telling tell = {l, place->doc, MP_NONE, name};
	struct mp_entry *e = NULL;
	mp_value at = key;
	int r;

	mp_arena_init(&scratch, 2 * MP_LIMIT_USER_FILE); /* one key may be most of the file */
	r = mp_value_text(t, key, &scratch, &text);
	if (r < 0) {
		l->error = r;
		return;
	}
	if (memchr(text.p, '\0', text.len)) { /* it would be cut there, and be another name */
		mp_loading_complain(l, MP_WARNING, place->doc, place->locate ? MP_ROOT : key, "",
				    "", "a server's name holds a NUL character; it is ignored");
		return;
	}
	if (place->locate)
		at = tell.at = place->locate(place->doc, text);
	snprintf(name, sizeof(name), "%s%.*s", place->prefix, MP_STR_ARGS(text));
	origin = origin_of(l, place, at);
	if (is_over(l))
		return;
	r = mp_entry_read(mp_str_of(name), t, mp_value_of(key), &origin, &l->set->settings,
			  &l->set->arena, on_problem, &tell, &e);
	if (r < 0) {
		l->error = r;
		return;
	}
	if (is_ourselves(e)) {
		if (e->origin.quirks & MP_QUIRK_OWN)
			mp_loading_complain(l, MP_WARNING, place->doc, at, "", e->name,
					    "this is mcpool itself; it is ignored");
		return;
	}
	warn_about_name(&tell, e, at);
	mp_loading_append(l, e);
}

void mp_loading_add(struct mp_loading *l, const struct mp_reading_place *place,
		    const struct mp_tape *t, mp_value map)
{
	if (is_over(l) || map == MP_NONE)
		return;
	if (!mp_value_is(t, map, MP_TAPE_OBJECT)) {
		mp_loading_complain(l, MP_WARNING, place->doc, place->locate ? MP_ROOT : map, "",
				    "", "an object with servers by name is expected here");
		return;
	}
	MP_VALUE_EACH(t, map, key) {
		if (l->n_entries >= MP_LIMIT_SERVERS) {
			mp_loading_complain(l, MP_WARNING, place->doc, MP_ROOT, "", "",
					    "there are too many servers; the rest is ignored");
			return;
		}
		add_one(l, place, t, key);
		if (is_over(l))
			return;
	}
}
