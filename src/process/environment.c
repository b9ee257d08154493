/*
 * environment.c - the variables of a server (doc/protocol.md, "Environment of servers").
 * An agent's own keys and settings are not passed on: a server that needs one has it in its `env`.
 * Variables that change how programs are loaded do not pass either.
 */
#include "process/environment.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

/* A name, or with a star at its end all names that begin so. */
static const char *const agents_own[] = {
	"ANTHROPIC_*",
	"AZURE_OPENAI_API_KEY",
	"CEREBRAS_API_KEY",
	"CLAUDECODE",
	"CLAUDE_*",
	"CODEX_*",
	"COHERE_API_KEY",
	"DEEPSEEK_API_KEY",
	"ELECTRON_*",
	"FIREWORKS_API_KEY",
	"GEMINI_API_KEY",
	"GEMINI_CLI*",
	"GOOGLE_API_KEY",
	"GROQ_API_KEY",
	"LD_*",
	"MCPOOL_SESSION",
	"MISTRAL_API_KEY",
	"NODE_OPTIONS",
	"OPENAI_*",
	"OPENROUTER_API_KEY",
	"PERPLEXITY_API_KEY",
	"TOGETHER_API_KEY",
	"VSCODE_*",
	"XAI_API_KEY",
	"npm_*",
};

/* Where npm and npx fetch from and keep what they fetched is the user's setting. */
static const char *const users_own[] = {"npm_config_*"};

/* What npm itself puts there for the scripts it runs. */
static const char *const npms_own[] = {
	"npm_config_global",       "npm_config_global_prefix", "npm_config_init_module",
	"npm_config_local_prefix", "npm_config_node_gyp",      "npm_config_npm_version",
	"npm_config_prefix",       "npm_config_user_agent",
};

/* Of one terminal, login or process: they differ between two agents that mean the same. */
static const char *const passing[] = {
	"ALACRITTY_*",
	"COLORTERM",
	"COLUMNS",
	"DBUS_STARTER_*",
	"GHOSTTY_*",
	"GPG_TTY",
	"INVOCATION_ID",
	"ITERM_*",
	"JOURNAL_*",
	"KITTY_*",
	"KONSOLE_*",
	"LC_TERMINAL*",
	"LINES",
	"LS_COLORS",
	"MCPOOL_SERVED_BY",
	"OLDPWD",
	"PWD",
	"SHLVL",
	"SSH_CLIENT",
	"SSH_CONNECTION",
	"SSH_TTY",
	"STARSHIP_*",
	"STY",
	"SYSTEMD_EXEC_PID",
	"TERM",
	"TERMINAL_*",
	"TERM_*",
	"TMUX*",
	"VTE_VERSION",
	"WEZTERM_*",
	"WINDOW",
	"WINDOWID",
	"WT_*",
	"XDG_ACTIVATION_TOKEN",
	"XDG_SESSION_*",
	"XDG_VTNR",
	"ZELLIJ*",
	"_",
};

static const char *const necessary[] = {
	"HOME",   "LANG", "LC_*", "LOGNAME",         "PATH", "SHELL", "TERM",
	"TMPDIR", "TZ",   "USER", "XDG_RUNTIME_DIR",
};

static struct mp_str name_of(const char *entry)
{
	const char *equals = strchr(entry, '=');

	return (struct mp_str){entry, equals ? (size_t)(equals - entry) : strlen(entry)};
}

static bool is_listed(struct mp_str name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct mp_str row = mp_str_of(list[i]);

		if (row.p[row.len - 1] == '*'
			    ? mp_str_starts(name, (struct mp_str){row.p, row.len - 1})
			    : mp_str_eq(name, row))
			return true;
	}
	return false;
}

static bool environment_passes(enum mp_environment mode, struct mp_str name)
{
	switch (mode) {
	case MP_ENVIRONMENT_INHERIT:
		if (is_listed(name, users_own, MP_ARRAY_LEN(users_own)))
			return !is_listed(name, npms_own, MP_ARRAY_LEN(npms_own));
		return !is_listed(name, agents_own, MP_ARRAY_LEN(agents_own));
	case MP_ENVIRONMENT_MINIMAL:
		return is_listed(name, necessary, MP_ARRAY_LEN(necessary));
	case MP_ENVIRONMENT_NONE:
		break;
	}
	return false;
}

static size_t environment_count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static bool has_name(char *const *list, struct mp_str name)
{
	for (size_t i = 0; list && list[i]; i++)
		if (mp_str_eq(name_of(list[i]), name))
			return true;
	return false;
}

static char *environment_copy(const char *entry)
{
	size_t len = strlen(entry);
	char *text = mp_alloc(len + 1);

	memcpy(text, entry, len);
	return text;
}

static bool has_entry(char *const *list, const char *entry)
{
	for (size_t i = 0; list && list[i]; i++)
		if (strcmp(list[i], entry) == 0)
			return true;
	return false;
}

/* All that a server would inherit of a, and that lasts, is in b as well. */
static bool is_within(char *const *a, char *const *b)
{
	for (size_t i = 0; a && a[i]; i++) {
		struct mp_str name = name_of(a[i]);

		if (!has_entry(b, a[i]) && environment_passes(MP_ENVIRONMENT_INHERIT, name) &&
		    !is_listed(name, passing, MP_ARRAY_LEN(passing)))
			return false;
	}
	return true;
}

bool mp_environment_is_same(char *const *a, char *const *b)
{
	return a == b || (is_within(a, b) && is_within(b, a));
}

size_t mp_environment_count(char *const *env)
{
	return environment_count(env);
}

char **mp_environment_build(enum mp_environment mode, char *const *from, char *const *extra)
{
	char **env =
		mp_alloc((environment_count(from) + environment_count(extra) + 1) * sizeof(*env));
	size_t n = 0;

	for (size_t i = 0; from && from[i]; i++) {
		struct mp_str name = name_of(from[i]);

		if (environment_passes(mode, name) && !has_name(extra, name))
			env[n++] = environment_copy(from[i]);
	}
	for (size_t i = 0; extra && extra[i]; i++)
		env[n++] = environment_copy(extra[i]);
	return env;
}

char **mp_environment_put(char **env, const char *entry)
{
	struct mp_str name = name_of(entry);
	char **all = mp_alloc((environment_count(env) + 2) * sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; env && env[i]; i++) {
		if (mp_str_eq(name_of(env[i]), name))
			mp_free(env[i]);
		else
			all[n++] = env[i];
	}
	all[n] = environment_copy(entry);
	mp_free(env);
	return all;
}

char **mp_environment_copy(char *const *env)
{
	char **all = mp_alloc((environment_count(env) + 1) * sizeof(*all));

	for (size_t i = 0; env && env[i]; i++)
		all[i] = environment_copy(env[i]);
	return all;
}

char **mp_environment_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		mp_free(env[i]);
	return mp_free(env);
}
