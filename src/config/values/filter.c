/*
 * filter.c - allow and deny lists of names.
 * Globs as in the shell: `*`, `?` for one character, `[a-z]` and `[!a-z]` for one of a set. A `[`
 * without its `]` is an ordinary character. ASCII letters match in either case.
 */
#include "config/values/filter.h"

#include <string.h>

static char filter_fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Length of the character at s[at]; an invalid byte counts as one. */
static size_t char_len(struct mp_str s, size_t at)
{
	size_t n = mp_utf8_char(s.p + at, s.p + s.len);

	return n ? n : 1;
}

/* The offset after the `]` of the set that opens at `at`; 0: it does not close. */
static size_t set_end(struct mp_str pattern, size_t at)
{
	size_t i = at + 1;

	if (i < pattern.len && (pattern.p[i] == '!' || pattern.p[i] == '^'))
		i++;
	for (i++; i < pattern.len; i++) /* a leading `]` is part of the set */
		if (pattern.p[i] == ']')
			return i + 1;
	return 0;
}

/* Is the byte c in the set, which is the text between the brackets? Sets are ASCII only. */
static bool set_has(struct mp_str set, char c)
{
	unsigned char x = (unsigned char)filter_fold(c);
	bool negated = set.p[0] == '!' || set.p[0] == '^';

	if (x >= 0x80)
		return negated;
	for (size_t i = negated; i < set.len; i++) {
		unsigned char from = (unsigned char)filter_fold(set.p[i]), to = from;

		if (i + 2 < set.len && set.p[i + 1] == '-') {
			i += 2;
			to = (unsigned char)filter_fold(set.p[i]);
		}
		if (x >= from && x <= to)
			return !negated;
	}
	return negated;
}

/* Matches one character of name with one step of the pattern. Sets both lengths. */
static bool match_one(struct mp_str pattern, size_t p, struct mp_str name, size_t n,
		      size_t *ret_pattern, size_t *ret_name)
{
	size_t end = pattern.p[p] == '[' ? set_end(pattern, p) : 0;

	*ret_pattern = *ret_name = 1;
	if (pattern.p[p] == '?') {
		*ret_name = char_len(name, n);
		return true;
	}
	if (end == 0)
		return filter_fold(pattern.p[p]) == filter_fold(name.p[n]);
	*ret_pattern = end - p;
	*ret_name = char_len(name, n);
	return set_has((struct mp_str){pattern.p + p + 1, end - p - 2}, name.p[n]);
}

/*
 * Backtracks only to the last star: what an earlier star could match, this one can match too. So
 * the cost is at most the pattern's length times the name's.
 */
static bool match_glob(struct mp_str pattern, struct mp_str name)
{
	size_t p = 0, n = 0, star = SIZE_MAX, taken = 0, in_pattern, in_name;

	while (n < name.len) {
		if (p < pattern.len && pattern.p[p] == '*') {
			star = p++;
			taken = n;
		} else if (p < pattern.len &&
			   match_one(pattern, p, name, n, &in_pattern, &in_name)) {
			p += in_pattern;
			n += in_name;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			taken += char_len(name, taken);
			n = taken;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.p[p] == '*')
		p++;
	return p == pattern.len;
}

bool mp_filter_matches(struct mp_str pattern, struct mp_str name)
{
	pattern = mp_str_trim(pattern);
	return mp_str_eq_nocase(pattern, MP_STR("any")) || match_glob(pattern, name);
}

static bool has_match(const struct mp_bind_list *patterns, struct mp_str name)
{
	for (size_t i = 0; i < patterns->n; i++)
		if (mp_filter_matches(mp_str_of(patterns->items[i]), name))
			return true;
	return false;
}

bool mp_filter_lets_pass(const struct mp_bind_list *allowed, const struct mp_bind_list *denied,
			 struct mp_str name)
{
	if (denied && has_match(denied, name))
		return false;
	return !allowed || allowed->n == 0 || has_match(allowed, name);
}

/* The tool in "SERVER/TOOL"; NULL: the name is not of this server. */
static const char *find_tool(const char *name, const char *server)
{
	size_t n = strlen(server);

	return strncmp(name, server, n) == 0 && name[n] == '/' && name[n + 1] ? name + n + 1 : NULL;
}

int mp_filter_deny_tools(const struct mp_bind_list *names, const char *server,
			 struct mp_arena *arena, struct mp_bind_list *denied)
{
	const char **items;
	size_t more = 0;

	for (size_t i = 0; i < names->n; i++)
		more += find_tool(names->items[i], server) != NULL;
	if (more == 0)
		return 0;
	items = mp_arena_alloc_array(arena, denied->n + more, sizeof(*items));
	if (!items)
		return mp_arena_get_error(arena);
	for (size_t i = 0; i < denied->n; i++)
		items[i] = denied->items[i];
	for (size_t i = 0; i < names->n; i++) {
		const char *tool = find_tool(names->items[i], server);

		if (tool)
			items[denied->n++] = tool;
	}
	denied->items = items;
	return 0;
}
