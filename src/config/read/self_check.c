/*
 * self_check.c - recognises the command that connects an agent to our own hub.
 * Only what certainly stays on this machine is looked through: `ssh box mcpool stdio` leads to
 * another hub. What is not recognised here is found out when it runs (face/socket.c).
 */
#include "config/read/self_check.h"

#include <string.h>

#include "base/str.h"

/* One simple command, word by word. */
struct walk {
	bool has_begun;    /* its program was named */
	bool is_elsewhere; /* and does we do not know what with the rest */
	bool was_mcpool;   /* the last word */
};

static struct mp_str last_part(struct mp_str path)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	return slash ? (struct mp_str){slash + 1, path.len - (size_t)(slash + 1 - path.p)} : path;
}

static bool is_one_of(struct mp_str word, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (mp_str_eq(last_part(word), mp_str_of(names[i])))
			return true;
	return false;
}

static bool is_shell(struct mp_str word)
{
	static const char *const names[] = {"ash", "bash", "dash", "fish", "ksh", "sh", "zsh"};

	return is_one_of(word, names, MP_ARRAY_LEN(names));
}

/* They run what follows, here. */
static bool is_runner(struct mp_str word)
{
	static const char *const names[] = {"bunx",   "chrt",  "env",     "ionice",
					    "nice",   "nohup", "npx",     "setsid",
					    "stdbuf", "time",  "timeout", "uvx"};

	return is_one_of(word, names, MP_ARRAY_LEN(names));
}

/* What may stand before a program in a shell. */
static bool is_prelude(struct mp_str word)
{
	static const char *const names[] = {"command", "exec"};

	return (word.len && memchr(word.p, '=', word.len)) ||
	       is_one_of(word, names, MP_ARRAY_LEN(names));
}

/* True once `mcpool` was followed by `stdio`. */
static bool self_check_take(struct walk *w, struct mp_str word)
{
	bool is_mcpool = mp_str_eq(last_part(word), MP_STR("mcpool"));
	bool is_us = w->was_mcpool && !w->is_elsewhere && mp_str_eq(word, MP_STR("stdio"));

	if (!w->has_begun && !is_prelude(word)) {
		w->has_begun = true;
		w->is_elsewhere = !is_mcpool && !is_runner(word) && !is_shell(word);
	}
	w->was_mcpool = is_mcpool;
	return is_us;
}

static struct mp_str self_check_unquote(struct mp_str word)
{
	while (word.len && strchr("'\"", word.p[0]))
		word = (struct mp_str){word.p + 1, word.len - 1};
	while (word.len && strchr("'\"", word.p[word.len - 1]))
		word.len--;
	return word;
}

/* A line for a shell, not as exactly as a shell reads it, which is good enough here. */
static bool has_us_in_line(const char *line)
{
	static const char between[] = " \t\n;&|()`{}<>", commands[] = "\n;&|()`{}";
	struct walk w = {0};

	while (*line) {
		size_t gap = strspn(line, between);
		struct mp_str word = {line + gap, strcspn(line + gap, between)};

		if (strcspn(line, commands) < gap)
			w = (struct walk){0};
		if (self_check_take(&w, self_check_unquote(word)))
			return true;
		line += gap + word.len;
	}
	return false;
}

/* `env -S` takes a line as well. */
bool mp_self_check_is_own(const char *const *argv, size_t argc)
{
	bool has_lines = argc > 0 && (is_shell(mp_str_of(argv[0])) ||
				      mp_str_eq(last_part(mp_str_of(argv[0])), MP_STR("env")));
	struct walk w = {0};

	for (size_t i = 0; i < argc; i++)
		if (self_check_take(&w, mp_str_of(argv[i])) ||
		    (has_lines && i > 0 && has_us_in_line(argv[i])))
			return true;
	return false;
}
