/*
 * agent_file.c - reads an agent's own file: its entry for mcpool, and whether it may be changed.
 */
#include "cli/agents/agent_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/agents/agent_run.h"
#include "files/file.h"
#include "config/read/self_check.h"

/* --- reading ---------------------------------------------------------------------------------- */

struct reader {
	const struct mp_document *doc;
	struct mp_arena *arena;
	struct mp_agent_view *view;
};

/* Append words from a text or a list of texts; false: it is neither. */
static bool add_words(const struct reader *rd, mp_value v, const char **argv, size_t *n)
{
	const struct mp_tape *t = &rd->doc->tape;
	struct mp_str text;

	if (mp_value_is(t, v, MP_TAPE_ARRAY)) {
		MP_VALUE_EACH(t, v, item) {
			if (mp_value_is(t, item, MP_TAPE_ARRAY) ||
			    !add_words(rd, item, argv, n)) /* one level */
				return false;
		}
		return true;
	}
	if (!mp_value_is(t, v, MP_TAPE_STRING) || mp_value_text(t, v, rd->arena, &text) < 0)
		return false;
	argv[*n] = mp_arena_dup(rd->arena, text);
	return argv[(*n)++] != NULL;
}

static size_t count_words(const struct mp_tape *t, mp_value v)
{
	return mp_value_is(t, v, MP_TAPE_ARRAY) ? mp_value_count(t, v) : 1;
}

struct words {
	const char **argv;
	size_t n;
};

/* Command and arguments; none where it has no command. */
static struct words read_words(const struct reader *rd, mp_value entry)
{
	const struct mp_tape *t = &rd->doc->tape;
	mp_value command = mp_value_get(t, entry, "command"), args = mp_value_get(t, entry, "args");
	size_t most = count_words(t, command) + count_words(t, args);
	struct words w = {mp_arena_alloc_array(rd->arena, most, sizeof(*w.argv)), 0};

	if (!w.argv || !add_words(rd, command, w.argv, &w.n) ||
	    (args != MP_NONE && !add_words(rd, args, w.argv, &w.n)))
		w.n = 0;
	return w;
}

/* An entry with our name and an address counts as ours, too. */
static const char *read_address(const struct reader *rd, mp_value entry)
{
	static const char *const keys[] = {"url", "httpUrl", "serverUrl"};
	struct mp_str text;

	for (size_t i = 0; i < MP_ARRAY_LEN(keys); i++) {
		mp_value v = mp_value_get(&rd->doc->tape, entry, keys[i]);

		if (v != MP_NONE)
			return mp_value_text(&rd->doc->tape, v, rd->arena, &text) < 0
				       ? ""
				       : mp_arena_dup(rd->arena, text);
	}
	return NULL;
}

static const char *add_problem(const struct reader *rd, const char *word, const char *what)
{
	char text[PATH_MAX + 64];

	snprintf(text, sizeof(text), "%s is %s", word, what);
	return mp_arena_dup(rd->arena, mp_str_of(text));
}

/* The program and, if that is a wrapper, mcpool itself must exist. */
static const char *find_missing(const struct reader *rd, const struct words *w)
{
	char found[PATH_MAX];

	for (size_t i = 0; i < w->n; i++) {
		const char *slash = strrchr(w->argv[i], '/');
		bool is_ours = strcmp(slash ? slash + 1 : w->argv[i], "mcpool") == 0;

		if (i > 0 && !is_ours)
			continue;
		if (w->argv[i][0] == '/' && access(w->argv[i], X_OK) < 0)
			return add_problem(rd, w->argv[i], "missing");
		if (!slash && i == 0 && !mp_program_find(w->argv[i], found))
			return add_problem(rd, w->argv[i], "not in PATH");
	}
	return NULL;
}

static bool is_same(const struct reader *rd, mp_value entry, struct mp_str wanted)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	bool equal = false;

	mp_tape_init(&t, 0);
	return mp_tape_parse(&t, wanted, NULL) == 0 &&
	       mp_value_equal(&rd->doc->tape, entry, &t, MP_ROOT, &equal) == 0 && equal;
}

static int reader_take(struct reader *rd, mp_value key, struct mp_str wanted)
{
	struct mp_agent_view *v = rd->view;
	mp_value entry = mp_value_of(key);
	struct mp_str text;
	char *name;
	bool named, bridge;
	struct words words;
	int r = mp_value_text(&rd->doc->tape, key, rd->arena, &text);

	if (r < 0)
		return r;
	name = mp_arena_dup(rd->arena, text);
	if (!name)
		return mp_arena_get_error(rd->arena);
	named = strcmp(name, MP_AGENT_ENTRY) == 0;
	words = read_words(rd, entry);
	bridge = words.n && mp_self_check_is_own(words.argv, words.n);
	if (!named && (!bridge || v->link != MP_AGENT_APART)) {
		if (!bridge)
			v->names[v->n_names++] = name;
		return 0;
	}
	v->entry = name;
	v->address = bridge ? NULL : read_address(rd, entry);
	v->problem = bridge ? find_missing(rd, &words) : NULL;
	v->link = !named || is_same(rd, entry, wanted) ? MP_AGENT_CONNECTED
		  : bridge || v->address               ? MP_AGENT_OTHERWISE
						       : MP_AGENT_TAKEN;
	return 0;
}

static int reader_take_all(struct reader *rd, mp_value servers, struct mp_str wanted)
{
	const struct mp_tape *t = &rd->doc->tape;
	int r = 0;

	if (!mp_value_is(t, servers, MP_TAPE_OBJECT))
		return 0;
	rd->view->names =
		mp_arena_alloc_array(rd->arena, mp_value_count(t, servers) + 1, sizeof(char *));
	if (!rd->view->names)
		return mp_arena_get_error(rd->arena);
	MP_VALUE_EACH(t, servers, key) {
		if (r == 0)
			r = reader_take(rd, key, wanted);
	}
	return r;
}

/* As opencode.c has it: a server of that name would have a type. */
mp_value mp_agent_find_servers(const struct mp_agent *a, const struct mp_tape *t, bool *ret_inner)
{
	mp_value outer = mp_value_get(t, MP_ROOT, a->key), inner = MP_NONE;

	if (a->inner)
		inner = mp_value_get(t, outer, a->inner);
	*ret_inner = mp_value_is(t, inner, MP_TAPE_OBJECT) &&
		     !mp_value_is(t, mp_value_get(t, inner, "type"), MP_TAPE_STRING);
	return *ret_inner ? inner : outer;
}

/* A line `mcpool:` in it counts as our entry; who changed what is not told apart. */
static int look_at_yaml(const char *file, struct mp_agent_view *ret_view,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str rest;
	int r;

	mp_buf_init(&text, MP_LIMIT_USER_FILE);
	r = mp_file_read(file, MP_LIMIT_USER_FILE, &text, reterr);
	*ret_view = (struct mp_agent_view){.exists = r != MCPOOL_ENOENT};
	if (r < 0)
		return r == MCPOOL_ENOENT ? 0 : r;
	rest = mp_buf_get(&text);
	while (rest.len && ret_view->link == MP_AGENT_APART) {
		const char *end = memchr(rest.p, '\n', rest.len);
		size_t n = end ? (size_t)(end - rest.p) + 1 : rest.len;

		if (mp_str_starts(mp_str_trim((struct mp_str){rest.p, n}),
				  MP_STR(MP_AGENT_ENTRY ":"))) {
			ret_view->link = MP_AGENT_CONNECTED;
			ret_view->entry = MP_AGENT_ENTRY;
		}
		rest = (struct mp_str){rest.p + n, rest.len - n};
	}
	return 0;
}

int mp_agent_look(const struct mp_agent *a, const char *file, struct mp_str entry,
		  struct mp_arena *arena, struct mp_agent_view *ret_view,
		  struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = NULL;
	struct mcpool_error why;
	struct reader rd = {.arena = arena, .view = ret_view};
	int r;

	if (a->is_yaml)
		return look_at_yaml(file, ret_view, reterr);
	r = mp_document_open(file, a->format, MP_LIMIT_USER_FILE, &doc, &why);
	*ret_view = (struct mp_agent_view){.exists = r != MCPOOL_ENOENT};
	if (r == MCPOOL_ENOENT)
		return 0;
	if (r < 0)
		return doc && doc->fault.line
			       ? mp_fail(reterr, r, "%s:%u:%u: %s", file, doc->fault.line,
					 doc->fault.column, why.message)
			       : mp_fail(reterr, r, "%s: %s", file, why.message);
	rd.doc = doc;
	r = reader_take_all(&rd, mp_agent_find_servers(a, &doc->tape, &ret_view->inner), entry);
	return r < 0 ? mp_fail(reterr, r, "%s cannot be read: %s", file, mcpool_error_text(r)) : 0;
}

int mp_agent_check_place(const char *file, const char *root, struct mcpool_error *reterr)
{
	char path[PATH_MAX], real[PATH_MAX], top[PATH_MAX];
	char *slash;

	if (snprintf(path, sizeof(path), "%s", file) >= (int)sizeof(path) || !realpath(root, top))
		return mp_fail(reterr, MCPOOL_EINVAL, "%s cannot be a file", file);
	while (!realpath(path, real)) { /* the nearest that exists */
		struct stat st;

		slash = strrchr(path, '/');
		if (lstat(path, &st) == 0 || !slash || slash == path)
			return mp_fail(reterr, MCPOOL_EPERM,
				       "%s is a broken link; nothing was changed", path);
		*slash = '\0';
	}
	if (strcmp(real, top) == 0 || mp_file_is_below(real, top))
		return 0;
	return mp_fail(reterr, MCPOOL_EPERM,
		       "%s leads out of the project; nothing was changed. Remove the link if you "
		       "want a file there.",
		       file);
}
