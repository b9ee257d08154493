/*
 * agents.c - the agents that can be connected to the hub, one row each.
 */
#include "cli/agents/agents.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "json/write.h"

/* --- the table ------------------------------------------------------------------------------- */

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* @scope is user or project, @env the variables with this option before each. */
const struct mp_agent mp_agents[] = {
	{
		.name = "claude",
		.label = "Claude Code",
		.prefixes = true,
		.program = "claude",
		.user = {{MP_FOLDER_CLAUDE_HOME, ".claude.json"}},
		.project = {{MP_FOLDER_ROOT, ".mcp.json"}},
		.key = "mcpServers",
		.stdio_type = "stdio",
		.http_type = "http",
		.url_key = "url",
		.env_key = "env",
		.token = "${" MP_AGENT_TOKEN "}",
		.add = WORDS("claude", "mcp", "add", "--scope", "@scope", MP_AGENT_ENTRY, "@env-e",
			     "--", "@mcpool", "stdio", "--naming", MP_AGENT_NAMING),
		.add_http = WORDS("claude", "mcp", "add", "--scope", "@scope", "--transport",
				  "http", MP_AGENT_ENTRY, "@url", "--header", "@header"),
		.remove = WORDS("claude", "mcp", "remove", "--scope", "@scope", MP_AGENT_ENTRY),
		.commands_know_projects = true,
	},
	{
		.name = "codex",
		.label = "Codex",
		.prefixes = true,
		.program = "codex",
		.user = {{MP_FOLDER_CODEX_DIR, "config.toml"}},
		.project = {{MP_FOLDER_ROOT, ".codex/config.toml"}},
		.format = MP_FORMAT_TOML,
		.key = "mcp_servers",
		.url_key = "url",
		.env_key = "env",
		.token = MP_AGENT_TOKEN,
		.add = WORDS("codex", "mcp", "add", MP_AGENT_ENTRY, "@env--env", "--", "@mcpool",
			     "stdio", "--naming", MP_AGENT_NAMING),
		.add_http = WORDS("codex", "mcp", "add", MP_AGENT_ENTRY, "--url", "@url",
				  "--bearer-token-env-var", MP_AGENT_TOKEN),
		.remove = WORDS("codex", "mcp", "remove", MP_AGENT_ENTRY),
	},
	{
		.name = "cursor",
		.label = "Cursor",
		.prefixes = true,
		.program = "cursor",
		.user = {{MP_FOLDER_HOME, ".cursor/mcp.json"}},
		.project = {{MP_FOLDER_ROOT, ".cursor/mcp.json"}},
		.key = "mcpServers",
		.url_key = "url",
		.env_key = "env",
		.token = "${env:" MP_AGENT_TOKEN "}",
	},
	{
		.name = "vscode",
		.label = "VS Code",
		.prefixes = true,
		.program = "code",
		.user = {{MP_FOLDER_CONFIG, "Code/User/mcp.json"}},
		.project = {{MP_FOLDER_ROOT, ".vscode/mcp.json"}},
		.key = "servers",
		.stdio_type = "stdio",
		.http_type = "http",
		.url_key = "url",
		.env_key = "env",
		.token = "${env:" MP_AGENT_TOKEN "}",
		.add = WORDS("code", "--add-mcp", "@json"),
		.add_http = WORDS("code", "--add-mcp", "@json"),
	},
	{
		.name = "gemini",
		.label = "Gemini CLI",
		.prefixes = true,
		.program = "gemini",
		.user = {{MP_FOLDER_GEMINI_HOME, ".gemini/settings.json"}},
		.project = {{MP_FOLDER_ROOT, ".gemini/settings.json"}},
		.key = "mcpServers",
		.http_type = "http",
		.url_key = "url",
		.env_key = "env",
		.token = "${" MP_AGENT_TOKEN "}",
		.add = WORDS("gemini", "mcp", "add", "--scope", "@scope", "@env-e", MP_AGENT_ENTRY,
			     "@mcpool", "stdio", "--naming", MP_AGENT_NAMING),
		.add_http = WORDS("gemini", "mcp", "add", "--scope", "@scope", "--transport",
				  "http", "--header", "@header", MP_AGENT_ENTRY, "@url"),
		.remove = WORDS("gemini", "mcp", "remove", "--scope", "@scope", MP_AGENT_ENTRY),
		.commands_know_projects = true,
	},
	{
		.name = "omp",
		.label = "omp",
		.prefixes = true,
		.program = "omp",
		.user = {{MP_FOLDER_HOME, ".omp/agent/mcp.json"},
			 {MP_FOLDER_HOME, ".omp/agent/.mcp.json"},
			 {MP_FOLDER_HOME, ".omp/mcp.json"}},
		.project = {{MP_FOLDER_ROOT, ".omp/mcp.json"}, {MP_FOLDER_ROOT, ".omp/.mcp.json"}},
		.key = "mcpServers",
		.http_type = "http",
		.url_key = "url",
		.env_key = "env",
		.token = "${" MP_AGENT_TOKEN "}",
	},
	{
		.name = "opencode",
		.label = "OpenCode",
		.prefixes = true,
		.program = "opencode",
		.user = {{MP_FOLDER_CONFIG, "opencode/opencode.json"},
			 {MP_FOLDER_CONFIG, "opencode/opencode.jsonc"},
			 {MP_FOLDER_CONFIG, "opencode/config.json"}},
		.project = {{MP_FOLDER_ROOT, "opencode.json"},
			    {MP_FOLDER_ROOT, "opencode.jsonc"},
			    {MP_FOLDER_ROOT, ".opencode/opencode.json"}},
		.key = "mcp",
		.inner = "servers",
		.stdio_type = "local",
		.http_type = "remote",
		.url_key = "url",
		.env_key = "environment",
		.has_command_list = true,
		.token = "{env:" MP_AGENT_TOKEN "}",
	},
	{
		.name = "windsurf",
		.label = "Windsurf",
		.prefixes = true,
		.program = "windsurf",
		.user = {{MP_FOLDER_HOME, ".codeium/windsurf/mcp_config.json"}},
		.key = "mcpServers",
		.url_key = "serverUrl",
		.env_key = "env",
		.token = "${env:" MP_AGENT_TOKEN "}",
	},
	{
		.name = "zed",
		.label = "Zed",
		.program = "zed",
		.user = {{MP_FOLDER_CONFIG, "zed/settings.json"}},
		.project = {{MP_FOLDER_ROOT, ".zed/settings.json"}},
		.key = "context_servers",
		.source = "custom",
		.url_key = "url",
		.env_key = "env",
	},
	{
		.name = "vscode-insiders",
		.label = "VS Code Insiders",
		.prefixes = true,
		.program = "code-insiders",
		.user = {{MP_FOLDER_CONFIG, "Code - Insiders/User/mcp.json"}},
		.project = {{MP_FOLDER_ROOT, ".vscode/mcp.json"}},
		.key = "servers",
		.stdio_type = "stdio",
		.http_type = "http",
		.url_key = "url",
		.env_key = "env",
		.token = "${env:" MP_AGENT_TOKEN "}",
		.add = WORDS("code-insiders", "--add-mcp", "@json"),
		.add_http = WORDS("code-insiders", "--add-mcp", "@json"),
	},
	{
		.name = "copilot",
		.label = "Copilot CLI",
		.prefixes = true,
		.program = "copilot",
		.user = {{MP_FOLDER_HOME, ".copilot/mcp-config.json"}},
		.project = {{MP_FOLDER_ROOT, ".github/mcp.json"}},
		.key = "mcpServers",
		.stdio_type = "local",
		.http_type = "http",
		.url_key = "url",
		.env_key = "env",
		.tools_key = "tools",
		.token = "${" MP_AGENT_TOKEN "}",
	},
	{
		.name = "claude-desktop",
		.label = "Claude Desktop",
		.program = "claude-desktop",
		.user = {{MP_FOLDER_CONFIG, "Claude/claude_desktop_config.json"}},
		.key = "mcpServers",
		.env_key = "env",
	},
	{
		.name = "junie",
		.label = "JetBrains Junie",
		.program = "junie",
		.user = {{MP_FOLDER_HOME, ".junie/mcp/mcp.json"}},
		.project = {{MP_FOLDER_ROOT, ".junie/mcp/mcp.json"}},
		.key = "mcpServers",
		.env_key = "env",
	},
	{
		.name = "cline",
		.label = "Cline",
		.prefixes = true,
		.program = "cline",
		.user = {{MP_FOLDER_CONFIG, "Code/User/globalStorage/saoudrizwan.claude-dev/"
					    "settings/cline_mcp_settings.json"},
			 {MP_FOLDER_HOME, ".cline/data/settings/cline_mcp_settings.json"}},
		.key = "mcpServers",
		.http_type = "streamableHttp",
		.url_key = "url",
		.env_key = "env",
	},
	{
		.name = "roo",
		.label = "Roo Code",
		.prefixes = true,
		.user = {{MP_FOLDER_CONFIG, "Code/User/globalStorage/rooveterinaryinc.roo-cline/"
					    "settings/mcp_settings.json"}},
		.project = {{MP_FOLDER_ROOT, ".roo/mcp.json"}},
		.key = "mcpServers",
		.http_type = "streamable-http",
		.url_key = "url",
		.env_key = "env",
		.token = "${env:" MP_AGENT_TOKEN "}",
	},
	{
		.name = "kiro",
		.label = "Kiro",
		.prefixes = true,
		.program = "kiro",
		.user = {{MP_FOLDER_HOME, ".kiro/settings/mcp.json"}},
		.project = {{MP_FOLDER_ROOT, ".kiro/settings/mcp.json"}},
		.key = "mcpServers",
		.url_key = "url",
		.env_key = "env",
		.token = "${" MP_AGENT_TOKEN "}",
	},
	{
		.name = "lmstudio",
		.label = "LM Studio",
		.program = "lms",
		.user = {{MP_FOLDER_HOME, ".lmstudio/mcp.json"}},
		.key = "mcpServers",
		.url_key = "url",
		.env_key = "env",
	},
	{
		.name = "goose",
		.label = "Goose",
		.prefixes = true,
		.program = "goose",
		.user = {{MP_FOLDER_CONFIG, "goose/config.yaml"}},
		.key = "extensions",
		.stdio_type = "stdio",
		.http_type = "streamable_http",
		.url_key = "uri",
		.env_key = "envs",
		.is_yaml = true,
	},
};
const size_t mp_agents_n = MP_ARRAY_LEN(mp_agents);

const struct mp_agent *mp_agent_find(const char *name)
{
	for (size_t i = 0; i < mp_agents_n; i++)
		if (strcmp(mp_agents[i].name, name) == 0)
			return &mp_agents[i];
	return NULL;
}

static char *agents_join(struct mp_arena *arena, const char *one, const char *between,
			 const char *other)
{
	size_t size = strlen(one) + strlen(between) + strlen(other) + 1;
	char *text = mp_arena_alloc(arena, size);

	if (text)
		snprintf(text, size, "%s%s%s", one, between, other);
	return text;
}

const char *mp_agent_get_file(const struct mp_agent *a, const struct mp_places *places,
			      bool project, struct mp_arena *arena)
{
	const struct mp_agent_place *place = project ? a->project : a->user;
	const char *first = NULL, *file;

	for (size_t i = 0; i < MP_AGENT_FILES && place[i].path; i++) {
		if (!places->of[place[i].folder])
			continue;
		file = agents_join(arena, places->of[place[i].folder], "/", place[i].path);
		if (!file || access(file, F_OK) == 0)
			return file;
		if (!first)
			first = file;
	}
	return first;
}

/* --- an entry -------------------------------------------------------------------------------- */

static void write_member(struct mp_writer *w, const char *key, const char *text)
{
	if (text)
		mp_write_member_text(w, key, mp_str_of(text));
}

static void write_variables(struct mp_writer *w, const struct mp_agent *a,
			    const struct mp_agent_way *way)
{
	if (!way->variables[0])
		return;
	mp_write_key(w, mp_str_of(a->env_key));
	mp_write_begin_object(w);
	for (size_t i = 0; i < MP_AGENT_VARIABLES && way->variables[i]; i++) {
		const char *value = strchr(way->variables[i], '=');
		size_t n = (size_t)(value - way->variables[i]);

		mp_write_key(w, (struct mp_str){way->variables[i], n});
		mp_write_text(w, mp_str_of(value + 1));
	}
	mp_write_end_object(w);
}

static void write_stdio(struct mp_writer *w, const struct mp_agent *a,
			const struct mp_agent_way *way)
{
	write_member(w, "type", a->stdio_type);
	mp_write_key(w, mp_str_of(a->is_yaml ? "cmd" : "command"));
	if (a->has_command_list)
		mp_write_begin_array(w);
	mp_write_text(w, mp_str_of(way->mcpool));
	if (!a->has_command_list) {
		mp_write_key(w, MP_STR("args"));
		mp_write_begin_array(w);
	}
	mp_write_text(w, MP_STR("stdio"));
	if (a->prefixes) {
		mp_write_text(w, MP_STR("--naming"));
		mp_write_text(w, MP_STR(MP_AGENT_NAMING));
	}
	mp_write_end_array(w);
	write_variables(w, a, way);
}

static const char *get_bearer(const struct mp_agent *a)
{
	return a->token ? a->token : "<what `mcpool token` says>";
}

/* A query in the given URL stays. */
static const char *get_url(const struct mp_agent *a, const struct mp_agent_way *way, char *room,
			   size_t size)
{
	if (!a->prefixes || !way->url || strchr(way->url, '?'))
		return way->url;
	snprintf(room, size, "%s?naming=" MP_AGENT_NAMING, way->url);
	return room;
}

static void write_http(struct mp_writer *w, const struct mp_agent *a,
		       const struct mp_agent_way *way)
{
	char header[128], url[PATH_MAX];

	write_member(w, "type", a->http_type);
	write_member(w, a->url_key, get_url(a, way, url, sizeof(url)));
	if (a->format == MP_FORMAT_TOML) { /* it takes the name of a variable, and no header */
		write_member(w, "bearer_token_env_var", a->token);
		return;
	}
	snprintf(header, sizeof(header), "Bearer %s", get_bearer(a));
	mp_write_key(w, MP_STR("headers"));
	mp_write_begin_object(w);
	write_member(w, "Authorization", header);
	mp_write_end_object(w);
}

static void write_object(struct mp_writer *w, const struct mp_agent *a,
			 const struct mp_agent_way *way, const char *name)
{
	mp_write_begin_object(w);
	write_member(w, "name", a->is_yaml ? MP_AGENT_ENTRY : name);
	if (a->is_yaml)
		mp_write_member_bool(w, "enabled", true);
	write_member(w, "source", a->source);
	if (way->url)
		write_http(w, a, way);
	else
		write_stdio(w, a, way);
	if (a->tools_key) {
		mp_write_key(w, mp_str_of(a->tools_key));
		mp_write_begin_array(w);
		mp_write_text(w, MP_STR("*"));
		mp_write_end_array(w);
	}
	mp_write_end_object(w);
}

int mp_agent_write_entry(const struct mp_agent *a, const struct mp_agent_way *way,
			 struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	write_object(&w, a, way, NULL);
	return mp_write_finish(&w);
}

/* --- for the file ---------------------------------------------------------------------------- */

/* A value as TOML has it; JSON's strings are TOML's. */
static int add_value(struct mp_buf *out, const struct mp_tape *t, mp_value v)
{
	const char *between = " ";
	int r;

	if (!mp_value_is(t, v, MP_TAPE_OBJECT))
		return mp_buf_add_str(out, mp_value_source(t, v));
	r = mp_buf_add_str(out, MP_STR("{"));
	MP_VALUE_EACH(t, v, key) {
		if (r == 0)
			r = mp_buf_addf(out, "%s%.*s = %.*s", between,
					MP_STR_ARGS(mp_value_source(t, key)),
					MP_STR_ARGS(mp_value_source(t, mp_value_of(key))));
		between = ", ";
	}
	return r < 0 ? r : mp_buf_add_str(out, MP_STR(" }"));
}

static int write_table(const struct mp_agent *a, const struct mp_tape *t, mp_value entry,
		       struct mp_buf *out)
{
	int r = mp_buf_addf(out, "[%s." MP_AGENT_ENTRY "]\n", a->key);

	MP_VALUE_EACH(t, entry, key) {
		struct mp_str name = mp_value_source(t, key);

		if (r == 0)
			r = mp_buf_addf(out, "%.*s = ", (int)name.len - 2, name.p + 1);
		if (r == 0)
			r = add_value(out, t, mp_value_of(key));
		if (r == 0)
			r = mp_buf_add_str(out, MP_STR("\n"));
	}
	return r;
}

int mp_agent_write_around(const struct mp_agent *a, bool inner, const struct mp_tape *t,
			  mp_value entry, struct mp_buf *out)
{
	struct mp_writer w;
	int r;

	if (a->format == MP_FORMAT_TOML)
		return write_table(a, t, entry, out);
	if (a->is_yaml) /* JSON on one line is YAML */
		return mp_buf_addf(out, "%s:\n  " MP_AGENT_ENTRY ": %.*s\n", a->key,
				   MP_STR_ARGS(mp_value_source(t, entry)));
	mp_write_init(&w, out, "  ");
	mp_write_begin_object(&w);
	mp_write_key(&w, mp_str_of(a->key));
	mp_write_begin_object(&w);
	if (inner) {
		mp_write_key(&w, mp_str_of(a->inner));
		mp_write_begin_object(&w);
	}
	mp_write_key(&w, MP_STR(MP_AGENT_ENTRY));
	mp_write_value(&w, t, entry);
	if (inner)
		mp_write_end_object(&w);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? r : mp_buf_add_str(out, MP_STR("\n"));
}

int mp_agent_write_snippet(const struct mp_agent *a, const struct mp_agent_way *way,
			   struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf entry;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_writer w;
	int r;

	mp_buf_init(&entry, MP_LIMIT_CONFIG_FILE);
	mp_tape_init(&t, 0);
	mp_write_init(&w, &entry, a->format == MP_FORMAT_TOML || a->is_yaml ? NULL : "  ");
	write_object(&w, a, way, NULL);
	r = mp_write_finish(&w);
	if (r == 0)
		r = mp_tape_parse(&t, mp_buf_get(&entry), NULL);
	return r < 0 ? r : mp_agent_write_around(a, way->inner, &t, MP_ROOT, out);
}

/* --- its own commands ------------------------------------------------------------------------ */

/* An object with its name in it, in one word. */
static const char *make_json(const struct mp_agent *a, const struct mp_agent_way *way,
			     struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	mp_write_init(&w, &text, NULL);
	write_object(&w, a, way, MP_AGENT_ENTRY);
	return mp_write_finish(&w) < 0 ? NULL : mp_arena_dup(arena, mp_buf_get(&text));
}

static const char *fill_in(const struct mp_agent *a, const struct mp_agent_way *way,
			   const char *word, struct mp_arena *arena)
{
	char url[PATH_MAX];

	if (strcmp(word, "@scope") == 0)
		return way->project ? "project" : "user";
	if (strcmp(word, "@mcpool") == 0)
		return way->mcpool;
	if (strcmp(word, "@url") == 0)
		return mp_arena_dup(arena, mp_str_of(get_url(a, way, url, sizeof(url))));
	if (strcmp(word, "@header") == 0)
		return agents_join(arena, "Authorization: Bearer", " ", get_bearer(a));
	if (strcmp(word, "@json") == 0)
		return make_json(a, way, arena);
	return word;
}

static size_t count(const char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

const char **mp_agent_get_command(const struct mp_agent *a, enum mp_agent_order order,
				  const struct mp_agent_way *way, struct mp_arena *arena)
{
	const char *const *words = order == MP_AGENT_REMOVE ? a->remove
				   : way->url               ? a->add_http
							    : a->add;
	const char **argv;
	size_t n = 0;

	if (!words || (way->project && !a->commands_know_projects))
		return NULL;
	argv = mp_arena_alloc_array(arena, count(words) + (size_t)2 * MP_AGENT_VARIABLES + 1,
				    sizeof(*argv));
	for (size_t i = 0; argv && words[i]; i++) {
		if (strncmp(words[i], "@env", 4) != 0) {
			argv[n] = fill_in(a, way, words[i], arena);
			if (!argv[n++])
				return NULL;
			continue;
		}
		for (size_t v = 0; v < MP_AGENT_VARIABLES && way->variables[v]; v++) {
			argv[n++] = words[i] + 4;
			argv[n++] = way->variables[v];
		}
	}
	return argv;
}
