/*
 * fuzz_envfile.c - any bytes as an env file: refused with a line, or pairs whose names are names.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "config/values/envfile.h"

static void check_pair(const char *pair)
{
	const char *sign = strchr(pair, '=');

	FUZZ_CHECK(sign && sign > pair);
	for (const char *p = pair; p < sign; p++)
		FUZZ_CHECK((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
			   (p > pair && *p >= '0' && *p <= '9'));
}

/* A value in single quotes means itself, so all of them can be written and read again. */
static void check_again(char *const *env, struct mp_arena *arena)
{
	struct mcpool_error error;
	char **again = NULL;

	for (size_t i = 0; env[i]; i++) {
		const char *value = strchr(env[i], '=') + 1;
		size_t size = strlen(env[i]) + 4;
		char *line;

		if (strpbrk(value, "'\n\r"))
			continue;
		line = mp_arena_alloc(arena, size);
		if (!line)
			return;
		snprintf(line, size, "%.*s='%s'", (int)(value - 1 - env[i]), env[i], value);
		FUZZ_CHECK(mp_envfile_parse(mp_str_of(line), "x", arena, &again, &error) == 0);
		FUZZ_CHECK(again[0] && strcmp(again[0], env[i]) == 0 && !again[1]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mp_arena arena;
	struct mcpool_error error;
	char **env = NULL;
	int r;

	mp_arena_init(&arena, MP_MIB(4));
	r = mp_envfile_parse(text, "x.env", &arena, &env, &error);
	if (r < 0) {
		FUZZ_CHECK(r == MCPOOL_EINVAL || r == MCPOOL_ELIMIT);
		FUZZ_CHECK(error.code == r && strstr(error.message, "x.env"));
	} else {
		for (size_t i = 0; env[i]; i++)
			check_pair(env[i]);
		check_again(env, &arena);
	}
	mp_arena_done(&arena);
	return 0;
}
