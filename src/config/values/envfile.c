/*
 * envfile.c - files with lines NAME=value, as shells and other tools read them.
 */
#include "config/values/envfile.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "files/file.h"

static bool is_name(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
		      (i > 0 && c >= '0' && c <= '9')))
			return false;
	}
	return s.len > 0;
}

static char envfile_unescape(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* Behind the closing quote only a comment may stand. */
static bool is_rest_empty(struct mp_str rest)
{
	rest = mp_str_trim(rest);
	return rest.len == 0 || rest.p[0] == '#';
}

/* The value behind '=', added to out; false: its quotes do not close. */
static bool read_value(struct mp_str v, char *out, size_t *n)
{
	char quote = v.len && (v.p[0] == '"' || v.p[0] == '\'') ? v.p[0] : '\0';
	ptrdiff_t comment;

	if (!quote) {
		comment = mp_str_find(v, MP_STR(" #"), 0);
		if (comment >= 0)
			v = mp_str_trim((struct mp_str){v.p, (size_t)comment});
		memcpy(out + *n, v.len ? v.p : "", v.len);
		*n += v.len;
		return true;
	}
	for (size_t i = 1; i < v.len; i++) {
		if (v.p[i] == quote)
			return is_rest_empty((struct mp_str){v.p + i + 1, v.len - i - 1});
		if (quote == '"' && v.p[i] == '\\' && i + 1 < v.len)
			out[(*n)++] = envfile_unescape(v.p[++i]);
		else
			out[(*n)++] = v.p[i];
	}
	return false;
}

/* 1: a variable; 0: an empty line; negative: neither. */
static int read_line(struct mp_str line, struct mp_arena *arena, char **ret)
{
	struct mp_str name;
	ptrdiff_t at;
	size_t n;

	line = mp_str_trim(line);
	if (line.len == 0 || line.p[0] == '#')
		return 0;
	if (mp_str_starts(line, MP_STR("export ")))
		line = mp_str_trim((struct mp_str){line.p + 7, line.len - 7});
	at = mp_str_find(line, MP_STR("="), 0);
	if (at <= 0 || memchr(line.p, '\0', line.len))
		return MCPOOL_EINVAL;
	name = mp_str_trim((struct mp_str){line.p, (size_t)at});
	if (!is_name(name))
		return MCPOOL_EINVAL;
	*ret = mp_arena_alloc(arena, line.len + 2);
	if (!*ret)
		return mp_arena_get_error(arena);
	memcpy(*ret, name.p, name.len);
	n = name.len;
	(*ret)[n++] = '=';
	if (!read_value(mp_str_trim((struct mp_str){line.p + at + 1, line.len - (size_t)at - 1}),
			*ret, &n))
		return MCPOOL_EINVAL;
	(*ret)[n] = '\0';
	return 1;
}

static size_t count_lines(struct mp_str text)
{
	size_t n = 1;

	for (size_t i = 0; i < text.len; i++)
		n += text.p[i] == '\n';
	return n;
}

int mp_envfile_parse(struct mp_str text, const char *path, struct mp_arena *arena, char ***ret_env,
		     struct mcpool_error *reterr)
{
	char **env = mp_arena_alloc_array(arena, count_lines(text) + 1, sizeof(*env));
	size_t n = 0;

	if (!env)
		return mp_fail(reterr, mp_arena_get_error(arena), "%s: no memory", path);
	for (unsigned number = 1; text.len; number++) {
		ptrdiff_t at = mp_str_find(text, MP_STR("\n"), 0);
		size_t len = at < 0 ? text.len : (size_t)at;
		int r = read_line((struct mp_str){text.p, len}, arena, &env[n]);

		if (r == MCPOOL_EINVAL)
			return mp_fail(reterr, r, "%s:%u: a line must be NAME=value", path, number);
		if (r < 0)
			return mp_fail(reterr, r, "%s: %s", path, mcpool_error_text(r));
		n += (size_t)r;
		len += at >= 0;
		text = (struct mp_str){text.p + len, text.len - len};
	}
	env[n] = NULL;
	*ret_env = env;
	return 0;
}

int mp_envfile_read(const char *path, struct mp_arena *arena, char ***ret_env,
		    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;
	int r;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE + 1);
	r = mp_file_read(path, MP_LIMIT_CONFIG_FILE, &text, &why);
	if (r < 0)
		return mp_fail(reterr, r == MCPOOL_ENOENT ? MCPOOL_EIO : r, "%s: %s", path,
			       why.message);
	return mp_envfile_parse(mp_buf_get(&text), path, arena, ret_env, reterr);
}
