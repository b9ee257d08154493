/*
 * environment.c - the variables of a server (CONTRACTS, `environment`).
 * An agent's own keys and settings are nobody else's business: a server that needs one has it in
 * its `env`. Variables that change how programs are loaded do not pass either.
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

static bool passes(enum mp_environment mode, struct mp_str name)
{
	switch (mode) {
	case MP_ENVIRONMENT_INHERIT:
		return !is_listed(name, agents_own, MP_ARRAY_LEN(agents_own));
	case MP_ENVIRONMENT_MINIMAL:
		return is_listed(name, necessary, MP_ARRAY_LEN(necessary));
	case MP_ENVIRONMENT_NONE:
		break;
	}
	return false;
}

static size_t count(char *const *list)
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

static char *copy(const char *entry)
{
	size_t len = strlen(entry);
	char *text = mp_alloc(len + 1);

	memcpy(text, entry, len);
	return text;
}

char **mp_environment_build(enum mp_environment mode, char *const *from, char *const *extra)
{
	char **env = mp_alloc((count(from) + count(extra) + 1) * sizeof(*env));
	size_t n = 0;

	for (size_t i = 0; from && from[i]; i++) {
		struct mp_str name = name_of(from[i]);

		if (passes(mode, name) && !has_name(extra, name))
			env[n++] = copy(from[i]);
	}
	for (size_t i = 0; extra && extra[i]; i++)
		env[n++] = copy(extra[i]);
	return env;
}

char **mp_environment_put(char **env, const char *entry)
{
	struct mp_str name = name_of(entry);
	char **all = mp_alloc((count(env) + 2) * sizeof(*all));
	size_t n = 0;

	for (size_t i = 0; env && env[i]; i++) {
		if (mp_str_eq(name_of(env[i]), name))
			mp_free(env[i]);
		else
			all[n++] = env[i];
	}
	all[n] = copy(entry);
	mp_free(env);
	return all;
}

char **mp_environment_copy(char *const *env)
{
	char **all = mp_alloc((count(env) + 1) * sizeof(*all));

	for (size_t i = 0; env && env[i]; i++)
		all[i] = copy(env[i]);
	return all;
}

char **mp_environment_free(char **env)
{
	for (size_t i = 0; env && env[i]; i++)
		mp_free(env[i]);
	return mp_free(env);
}
