/*
 * dialects.h - where the servers stand in each tool's file. A new tool is a row in sources.def and,
 * at most, one function here.
 */
#ifndef MP_DIALECTS_H
#define MP_DIALECTS_H

#include "config/read/sources.h"

/* {"mcpServers": {NAME: {...}}} */
void mp_dialect_servers(struct mp_loading *l, const struct mp_source *s,
			const struct mp_document *doc);
/* {"projects": {ROOT: {"mcpServers": {...}}}}: Claude Code's servers for one project */
void mp_dialect_claude_local(struct mp_loading *l, const struct mp_source *s,
			     const struct mp_document *doc);
/* The same with lists of names beside it: {"mcp": {"excluded": [...], "allowed": [...]}} */
void mp_dialect_gemini(struct mp_loading *l, const struct mp_source *s,
		       const struct mp_document *doc);
/* [mcp_servers.NAME] */
void mp_dialect_codex(struct mp_loading *l, const struct mp_source *s,
		      const struct mp_document *doc);
/* {"servers": {...}} or {"mcp": {"servers": {...}}} or {"mcp.servers": {...}} */
void mp_dialect_vscode(struct mp_loading *l, const struct mp_source *s,
		       const struct mp_document *doc);
/* settings.json: not its `servers`, which may belong to another extension. */
void mp_dialect_vscode_settings(struct mp_loading *l, const struct mp_source *s,
				const struct mp_document *doc);
/* One layer of {"mcp": {NAME: {...}}}; they are merged when all are there (opencode.c). */
void mp_dialect_opencode(struct mp_loading *l, const struct mp_source *s,
			 const struct mp_document *doc);
/* The list of installed plugins; each has files of its own (plugins.c). */
void mp_dialect_plugins(struct mp_loading *l, const struct mp_source *s,
			const struct mp_document *doc);

#endif
