/*
 * plugins.c - servers that come with Claude Code's plugins.
 * installed_plugins.json says where each one was put; its manifest or its .mcp.json says which
 * servers it has. Nothing outside of a plugin's own folder is read for it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "config/read/dialects.h"
#include "files/file.h"
#include "config/read/loading.h"

struct plugin {
	struct mp_loading *l;
	const struct mp_source *source;
	char *name; /* without its marketplace */
	const char *folder;
};

static const char *path_in(struct plugin *p, const char *below)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", p->folder, below);

	return n > 0 && (size_t)n < sizeof(path) ? mp_loading_keep(p->l, path) : NULL;
}

/* A link that leads out of the plugin's folder is not followed. */
static bool is_inside(const struct plugin *p, const struct mp_document *doc)
{
	char folder[PATH_MAX];

	return realpath(p->folder, folder) && mp_file_is_below(doc->real, folder);
}

static struct mp_document *open_in(struct plugin *p, const char *below)
{
	const char *path = path_in(p, below);
	struct mp_document *doc =
		path ? mp_loading_open(p->l, path, MP_FORMAT_JSON, MP_LIMIT_CONFIG_FILE) : NULL;

	if (!doc || is_inside(p, doc))
		return doc;
	mp_loading_complain(p->l, MP_WARNING, doc, MP_NONE, path, "",
			    "it lies outside of the plugin's folder and is ignored");
	return mp_document_free(doc);
}

/* {"mcpServers": {...}}, or the map itself. */
static void add_map(struct plugin *p, const struct mp_document *doc, mp_value map)
{
	char prefix[MP_LIMIT_NAME];
	mp_value nested = mp_value_get(&doc->tape, map, "mcpServers");
	struct mp_reading_place place = {
		.source = p->source, .doc = doc, .scope = "", .plugin_root = p->folder};

	snprintf(prefix, sizeof(prefix), "%s:", p->name);
	place.prefix = prefix;
	mp_loading_add(p->l, &place, &doc->tape,
		       mp_value_is(&doc->tape, nested, MP_TAPE_OBJECT) ? nested : map);
}

static void add_file(struct plugin *p, const char *below)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = open_in(p, below);

	if (doc)
		add_map(p, doc, MP_ROOT);
}

/* A path in a manifest: relative, inside, and no bundle. */
static void add_named_file(struct plugin *p, const struct mp_document *doc, mp_value v)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str text;
	const char *path = NULL;

	mp_arena_init(&arena, MP_KIB(64));
	if (mp_value_text(&doc->tape, v, &arena, &text) == 0)
		path = mp_arena_dup(&arena, text);
	if (mp_arena_get_error(&arena) == MCPOOL_ENOMEM && p->l->error == 0)
		p->l->error = MCPOOL_ENOMEM;
	else if (path && strncmp(path, "./", 2) == 0 && !strstr(path, ".."))
		add_file(p, path + 2);
	else
		mp_loading_complain(p->l, MP_WARNING, doc, v, "", "",
				    "a plugin's path must begin with ./ and stay inside");
}

static void add_declared(struct plugin *p, const struct mp_document *doc, mp_value v)
{
	if (mp_value_is(&doc->tape, v, MP_TAPE_OBJECT))
		add_map(p, doc, v);
	else if (mp_value_is(&doc->tape, v, MP_TAPE_STRING))
		add_named_file(p, doc, v);
	else if (mp_value_is(&doc->tape, v, MP_TAPE_ARRAY))
		MP_VALUE_EACH(&doc->tape, v, item)
			if (!mp_value_is(&doc->tape, item, MP_TAPE_ARRAY))
				add_declared(p, doc, item);
}

static void add_plugin(struct plugin *p)
{
	MP_CLEANUP(mp_document_freep)
	struct mp_document *manifest = open_in(p, ".claude-plugin/plugin.json");
	mp_value declared =
		manifest ? mp_value_get(&manifest->tape, MP_ROOT, "mcpServers") : MP_NONE;

	if (declared != MP_NONE)
		add_declared(p, manifest, declared);
	add_file(p, ".mcp.json");
}

/* Of several places the one of this project, else the user's. Version 1 has one object alone. */
static mp_value plugins_choose(const struct mp_tape *t, mp_value installed, const char *root)
{
	mp_value chosen = MP_NONE;

	if (mp_value_is(t, installed, MP_TAPE_OBJECT))
		return installed;
	MP_VALUE_EACH(t, installed, v) {
		mp_value project = mp_value_get(t, v, "projectPath");

		if (mp_value_text_is(t, project, mp_str_of(root)))
			return v;
		if (project == MP_NONE && chosen == MP_NONE)
			chosen = v;
	}
	return chosen;
}

/* {"enabledPlugins": {"NAME@MARKET": false}} in the settings beside them. */
static bool is_switched_off(const struct mp_document *settings, struct mp_str key)
{
	const struct mp_tape *t;

	if (!settings)
		return false;
	t = &settings->tape;
	return mp_value_is(t, mp_value_get_str(t, mp_value_get(t, MP_ROOT, "enabledPlugins"), key),
			   MP_TAPE_FALSE);
}

static struct mp_document *open_settings(struct mp_loading *l)
{
	const char *folder = l->places.of[MP_FOLDER_CLAUDE_DIR];
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/settings.json", folder ? folder : "");

	if (!folder || n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	return mp_loading_open(l, path, MP_FORMAT_JSON, MP_LIMIT_CONFIG_FILE);
}

static char *keep_text(struct mp_loading *l, const struct mp_tape *t, mp_value v)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str text;
	char *copy;

	mp_arena_init(&arena, MP_KIB(64)); /* anything longer is neither a name nor a path */
	if (!mp_value_is(t, v, MP_TAPE_STRING) || mp_value_text(t, v, &arena, &text) < 0)
		copy = NULL;
	else
		copy = mp_arena_dup(&arena, text);
	if (!copy && mp_arena_get_error(&arena) == MCPOOL_ENOMEM && l->error == 0)
		l->error = MCPOOL_ENOMEM;
	return copy ? mp_loading_keep(l, copy) : NULL;
}

void mp_dialect_plugins(struct mp_loading *l, const struct mp_source *s,
			const struct mp_document *doc)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *settings = open_settings(l);
	const struct mp_tape *t = &doc->tape;
	mp_value plugins = mp_value_get(t, MP_ROOT, "plugins");

	MP_VALUE_EACH(t, plugins, key) {
		mp_value at = plugins_choose(t, mp_value_of(key), l->places.of[MP_FOLDER_ROOT]);
		struct plugin p = {l, s, keep_text(l, t, key),
				   keep_text(l, t, mp_value_get(t, at, "installPath"))};
		char *market = p.name ? strchr(p.name, '@') : NULL;

		if (!p.name || !p.folder || p.folder[0] != '/' ||
		    is_switched_off(settings, mp_str_of(p.name)))
			continue;
		if (market)
			*market = '\0';
		add_plugin(&p);
	}
}
