/*
 * script_files.c - what one path adds to an approval: a file by its content, a link by where it
 * leads, a folder by its name.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limits.h"
#include "files/file.h"
#include "config/values/script_search.h"
#include "config/values/scripts.h"
#include "files/identity.h"
#include "store/digest.h"

/* The part of a path that mp_file_is_below(). */
static const char *script_files_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return path + n + (path[n] == '/');
}

static void script_files_feed(void *u, const void *bytes, size_t n)
{
	mp_digest_add_bytes(u, bytes, n);
}

/* Does a line begin with this? */
static bool has_line(const struct mp_buf *out, const char *beginning)
{
	struct mp_str line = mp_str_of(beginning);
	ptrdiff_t at = 0;

	while ((at = mp_str_find(mp_buf_get(out), line, (size_t)at)) >= 0) {
		if (at == 0 || out->data[at - 1] == '\n')
			return true;
		at++;
	}
	return false;
}

/* A name with a line break in it could look like two lines, one of them approved. */
static int check_name(struct mp_search *s, const char *name)
{
	if (!strpbrk(name, "\t\n"))
		return 0;
	return mp_fail(s->reterr, MCPOOL_EINVAL,
		       "a file that it names has a tab or a line break in its name");
}

/* --- files ----------------------------------------------------------------------------------- */

static int add_content(struct mp_search *s, const char *name, const char *real)
{
	struct mp_digest *d = mp_digest_new();
	unsigned char digest[MP_DIGEST_SIZE];
	char hex[2 * MP_DIGEST_SIZE + 1];
	struct mcpool_error why;
	struct stat st = {0};
	size_t limit = s->budget->bytes < MP_LIMIT_SCRIPT ? s->budget->bytes : MP_LIMIT_SCRIPT;
	int64_t size = mp_file_each_piece(real, limit, script_files_feed, d, &st, &why);
	int r;

	if (size < 0) {
		mp_digest_free(d);
		return mp_fail(s->reterr, MCPOOL_EINVAL,
			       "%s, which it names, cannot be checked: %s", name, why.message);
	}
	s->budget->bytes -= (size_t)size;
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	r = mp_buf_addf(s->out, "%s\t%s\n", name, hex);
	if (r == 0 && s->budget->seen) {
		r = mp_identity_add(&st, real, s->budget->seen);
		if (r == 0)
			r = mp_buf_add_char(s->budget->seen, '\0');
	}
	return r;
}

static int add_file(struct mp_search *s, const char *real, mode_t mode)
{
	const char *name = script_files_below(real, s->e->origin.root);
	char beginning[PATH_MAX + 2];
	int r = check_name(s, name);

	if (r < 0)
		return r;
	if (!S_ISREG(mode))
		return mp_fail(s->reterr, MCPOOL_EINVAL,
			       "%s, which it names, is not a file and cannot be checked", name);
	snprintf(beginning, sizeof(beginning), "%s\t", name);
	return has_line(s->out, beginning) ? 0 : add_content(s, name, real);
}

/* --- links ----------------------------------------------------------------------------------- */

static int add_link_line(struct mp_search *s, const char *name, const char *target)
{
	char line[2 * PATH_MAX + 8];
	int n = snprintf(line, sizeof(line), "%s\t-> %s\n", name, target);
	int r = check_name(s, name);

	if (r == 0)
		r = check_name(s, target);
	if (r < 0 || n < 0 || (size_t)n >= sizeof(line) || has_line(s->out, line))
		return r;
	return mp_buf_add(s->out, line, (size_t)n);
}

/* The path without empty parts, "." and "..", by its letters alone. */
static void script_files_tidy(const char *path, char out[PATH_MAX])
{
	size_t n = 0;

	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			while (n > 0 && out[--n] != '/')
				;
		} else if (len > 0 && !(len == 1 && path[0] == '.') && n + len + 2 < PATH_MAX) {
			out[n++] = '/';
			memcpy(out + n, path, len);
			n += len;
		}
		path += len + (path[len] == '/');
	}
	out[n] = '\0';
}

/* A link that stays in the project: turned to another file that is covered, it runs that one. */
static int add_inner_link(struct mp_search *s, const char *path, const char *real)
{
	const char *root = s->e->origin.root;
	char named[PATH_MAX];

	script_files_tidy(path, named);
	if (strcmp(named, real) == 0 || !mp_file_is_below(named, root))
		return 0;
	return add_link_line(s, script_files_below(named, root),
			     strcmp(real, root) == 0 ? "." : script_files_below(real, root));
}

/* --- folders --------------------------------------------------------------------------------- */

int mp_search_add_base(struct mp_search *s, const char *path)
{
	for (size_t i = 0; i < s->n_bases; i++)
		if (strcmp(s->bases[i], path) == 0)
			return 0;
	if (s->n_bases == MP_SEARCH_BASES)
		return mp_fail(s->reterr, MCPOOL_EINVAL, "it names too many folders to be checked");
	s->bases[s->n_bases] = mp_arena_dup(&s->arena, mp_str_of(path));
	if (!s->bases[s->n_bases])
		return mp_arena_get_error(&s->arena);
	s->n_bases++;
	return 0;
}

/* Folders are not looked into, but `cd sub && ./run.sh` starts there; people are told of them. */
static int add_folder(struct mp_search *s, const char *real)
{
	const char *root = s->e->origin.root;
	const char *name = strcmp(real, root) == 0 ? "." : script_files_below(real, root);
	char line[PATH_MAX + 2];
	int r = check_name(s, name);

	if (r < 0)
		return r;
	snprintf(line, sizeof(line), "%s\n", name);
	if (s->budget->folders && !has_line(s->budget->folders, line))
		r = mp_buf_add_str(s->budget->folders, mp_str_of(line));
	return r < 0 ? r : mp_search_add_base(s, real);
}

/* --- a path ---------------------------------------------------------------------------------- */

int mp_search_try_path(struct mp_search *s, const char *path)
{
	const char *root = s->e->origin.root;
	char real[PATH_MAX];
	struct stat st;
	int r;

	/* Most words name nothing: one call says so, where realpath() makes one per folder. */
	if (stat(path, &st) < 0 || !realpath(path, real) || stat(real, &st) < 0)
		return 0;
	if (strcmp(real, root) != 0 && !mp_file_is_below(real, root))
		return mp_file_is_below(path, root)
			       ? add_link_line(s, script_files_below(path, root), real)
			       : 0;
	r = add_inner_link(s, path, real);
	if (r < 0)
		return r;
	return S_ISDIR(st.st_mode) ? add_folder(s, real) : add_file(s, real, st.st_mode);
}
