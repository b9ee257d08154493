/*
 * runtime.c - the programs that run most servers, and what to type when one is missing or old.
 */
#include "cli/doctor/runtime.h"

#include <stdio.h>
#include <string.h>

#define NODE_ADVICE                                                                            \
	"nvm install --lts # or another way to a newer Node.js; then from that shell: mcpool " \
	"down; mcpool up"

/* The oldest versions that their makers still repair. */
const struct mp_runtime mp_runtimes[] = {
	{"node", " node npx npm pnpm yarn tsx ", 20, 0, NODE_ADVICE},
	{"python3", " python3 python pipx pip ", 3, 10,
	 "uv python install # or another way to a newer Python"},
	{"uv", " uv uvx ", 0, 5, "uv self update"},
	{"docker", " docker ", 0, 0, "docker info"},
};
const size_t mp_runtimes_n = MP_ARRAY_LEN(mp_runtimes);

bool mp_runtime_is_for(const struct mp_runtime *rt, const char *command)
{
	const char *slash = strrchr(command, '/');
	char word[64];

	if (snprintf(word, sizeof(word), " %s ", slash ? slash + 1 : command) >= (int)sizeof(word))
		return false;
	return strstr(rt->users, word) != NULL;
}

bool mp_runtime_is_old(const struct mp_runtime *rt, const char *version)
{
	const char *at = version + strcspn(version, "0123456789");
	unsigned major = 0, minor = 0;

	if (sscanf(at, "%9u.%9u", &major, &minor) != 2) /* NOLINT(cert-err34-c): 9 digits fit */
		return false;
	return major < rt->major || (major == rt->major && minor < rt->minor);
}

const char *mp_runtime_get_advice(const char *command)
{
	if (strcmp(command, "uvx") == 0 || strcmp(command, "uv") == 0)
		return "pipx install uv # or as your system installs it; then from that shell: "
		       "mcpool down; mcpool up";
	if (strcmp(command, "docker") == 0)
		return "sudo apt install docker.io # or as your system installs Docker";
	for (size_t i = 0; i < mp_runtimes_n; i++)
		if (mp_runtime_is_for(&mp_runtimes[i], command))
			return mp_runtimes[i].advice;
	return NULL;
}
