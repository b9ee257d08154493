/*
 * dialects.c - where the servers stand in each tool's file.
 */
#include "config/read/dialects.h"

#include "config/read/loading.h"

static void add_map(struct mp_loading *l, const struct mp_source *s, const struct mp_document *doc,
		    mp_value map)
{
	struct mp_reading_place place = {.source = s, .doc = doc, .scope = "", .prefix = ""};

	mp_loading_add(l, &place, &doc->tape, map);
}

static mp_value dialects_get(const struct mp_document *doc, mp_value object, const char *key)
{
	return mp_value_get(&doc->tape, object, key);
}

void mp_dialect_servers(struct mp_loading *l, const struct mp_source *s,
			const struct mp_document *doc)
{
	add_map(l, s, doc, dialects_get(doc, MP_ROOT, "mcpServers"));
}

void mp_dialect_claude_local(struct mp_loading *l, const struct mp_source *s,
			     const struct mp_document *doc)
{
	const char *root = l->places.of[MP_FOLDER_ROOT];
	mp_value project = dialects_get(doc, dialects_get(doc, MP_ROOT, "projects"), root);
	struct mp_reading_place place = {.source = s, .doc = doc, .scope = root, .prefix = ""};

	mp_loading_add(l, &place, &doc->tape, dialects_get(doc, project, "mcpServers"));
}

static bool dialects_lists(const struct mp_document *doc, mp_value list, const char *name)
{
	if (mp_value_is(&doc->tape, list, MP_TAPE_ARRAY))
		MP_VALUE_EACH(&doc->tape, list, v)
			if (mp_value_text_is(&doc->tape, v, mp_str_of(name)))
				return true;
	return false;
}

/* What a file says of its own servers; a project's list says nothing of the user's. */
void mp_dialect_gemini(struct mp_loading *l, const struct mp_source *s,
		       const struct mp_document *doc)
{
	struct mp_entry_node *before = l->last;
	mp_value mcp = dialects_get(doc, MP_ROOT, "mcp");
	mp_value allowed = dialects_get(doc, mcp, "allowed");
	mp_value excluded = dialects_get(doc, mcp, "excluded");

	mp_dialect_servers(l, s, doc);
	for (struct mp_entry_node *n = before ? before->next : l->first; n; n = n->next)
		if (dialects_lists(doc, excluded, n->entry->name) ||
		    (mp_value_is(&doc->tape, allowed, MP_TAPE_ARRAY) &&
		     !dialects_lists(doc, allowed, n->entry->name)))
			n->entry->enabled = false;
}

void mp_dialect_codex(struct mp_loading *l, const struct mp_source *s,
		      const struct mp_document *doc)
{
	add_map(l, s, doc, dialects_get(doc, MP_ROOT, "mcp_servers"));
}

void mp_dialect_vscode_settings(struct mp_loading *l, const struct mp_source *s,
				const struct mp_document *doc)
{
	add_map(l, s, doc, dialects_get(doc, dialects_get(doc, MP_ROOT, "mcp"), "servers"));
	add_map(l, s, doc, dialects_get(doc, MP_ROOT, "mcp.servers"));
}

void mp_dialect_vscode(struct mp_loading *l, const struct mp_source *s,
		       const struct mp_document *doc)
{
	add_map(l, s, doc, dialects_get(doc, MP_ROOT, "servers"));
	mp_dialect_vscode_settings(l, s, doc);
}
