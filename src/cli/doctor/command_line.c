/*
 * command_line.c - processes by their command lines: is this one a copy of a configured server?
 */
#include "cli/doctor/command_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const interpreters = " node nodejs deno bun python python3 ruby php java ";
static const char *const helpers =
	" sh bash dash zsh fish env npm npx pnpm yarn bunx uv uvx pipx timeout nice sudo docker ";

static struct mp_str get_base(struct mp_str word)
{
	for (size_t i = word.len; i > 0; i--)
		if (word.p[i - 1] == '/')
			return (struct mp_str){word.p + i, word.len - i};
	return word;
}

static bool is_among(const char *names, struct mp_str name)
{
	const char *at = names;

	while ((at = strchr(at, ' ')) && at[1]) {
		size_t n = strcspn(++at, " ");

		if (n == name.len && memcmp(at, name.p, n) == 0)
			return true;
	}
	return false;
}

/* "exec" and "run" are words of uv, pnpm and docker, "mcp" is one of many programs. */
static bool is_telling(const char *word)
{
	return word[0] != '-' && strlen(word) > 3 && strcmp(word, "exec") != 0 &&
	       !strpbrk(word, " \t\n;|&=");
}

const char *mp_command_line_get_key(char *const *argv)
{
	struct mp_str base = argv[0] ? get_base(mp_str_of(argv[0])) : MP_STR("");

	if (base.len == 0)
		return NULL;
	if (!is_among(helpers, base) && !is_among(interpreters, base))
		return argv[0];
	for (size_t i = 1; argv[i]; i++) {
		if (strcmp(argv[i], "-c") == 0)
			return NULL;
		if (is_telling(argv[i]))
			return argv[i];
	}
	return NULL;
}

/* The next word of *rest, which then begins behind it. */
static struct mp_str word_take(struct mp_str *rest)
{
	size_t n = strnlen(rest->p, rest->len);
	struct mp_str word = {rest->p, n};

	n += n < rest->len;
	*rest = (struct mp_str){rest->p + n, rest->len - n};
	return word;
}

/* "@scope/server-x@1.2" without its version. */
static struct mp_str drop_version(struct mp_str key)
{
	for (size_t i = key.len; i > 1; i--)
		if (key.p[i - 1] == '@')
			return (struct mp_str){key.p, i - 1};
	return key;
}

/* The word itself, or a path in whose folders it is installed. */
static bool word_has(struct mp_str word, struct mp_str key)
{
	ptrdiff_t at = mp_str_find(word, key, 0);

	if (at < 0)
		return false;
	if (at > 0 && word.p[at - 1] != '/')
		return false;
	at += (ptrdiff_t)key.len;
	return (size_t)at == word.len || word.p[at] == '/' || word.p[at] == '@';
}

bool mp_command_line_has(struct mp_str line, const char *key)
{
	struct mp_str wanted = drop_version(mp_str_of(key));

	for (size_t i = 0; line.len && i < 16; i++)
		if (word_has(word_take(&line), wanted))
			return true;
	return false;
}

/* Not an option, a path or a value: those may differ. */
static bool is_plain(const char *word)
{
	return word[0] != '-' && word[strspn(word, "abcdefghijklmnopqrstuvwxyz_-")] == '\0';
}

static bool line_has_word(struct mp_str line, const char *word)
{
	while (line.len)
		if (mp_str_eq(word_take(&line), mp_str_of(word)))
			return true;
	return false;
}

bool mp_command_line_fits(struct mp_str line, char *const *argv, const char *key)
{
	bool is_behind = false;

	if (!mp_command_line_has(line, key))
		return false;
	for (size_t i = 0; argv[i]; i++) {
		if (is_behind && is_plain(argv[i]) && !line_has_word(line, argv[i]))
			return false;
		is_behind = is_behind || strcmp(argv[i], key) == 0;
	}
	return true;
}

struct mp_str mp_command_line_get_program(struct mp_str line)
{
	struct mp_str first = line.len ? get_base(word_take(&line)) : MP_STR("");

	while (line.len && is_among(interpreters, first)) {
		struct mp_str word = word_take(&line);

		if (word.len && word.p[0] != '-')
			return get_base(word);
	}
	return first;
}

bool mp_command_line_is_helper(struct mp_str line)
{
	struct mp_str program = mp_command_line_get_program(line);

	return is_among(helpers, program) || mp_str_starts(program, MP_STR("npx-cli")) ||
	       mp_str_starts(program, MP_STR("npm-cli"));
}

struct mp_str mp_command_line_read(pid_t pid, char room[MP_COMMAND_LINE])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, room, MP_COMMAND_LINE);
	if (fd >= 0)
		close(fd);
	return (struct mp_str){room, n > 0 ? (size_t)n : 0};
}
