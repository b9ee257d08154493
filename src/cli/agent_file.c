/*
 * agent_file.c - an agent's own file: what stands there, our entry put in and taken out again.
 */
#include "cli/agent_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "config/file.h"
#include "config/ourselves.h"
#include "config/writer.h"
#include "json/edit.h"

#define BACKUP ".mcpool-backup"

/* --- looking --------------------------------------------------------------------------------- */

struct look {
	const struct mp_document *doc;
	struct mp_arena *arena;
	struct mp_agent_view *view;
};

static bool ends_in(struct mp_str text, struct mp_str end)
{
	return text.len >= end.len && memcmp(text.p + text.len - end.len, end.p, end.len) == 0;
}

/* Words behind those that are there, from a text or a list of texts; false: it is neither. */
static bool add_words(const struct look *l, mp_value v, const char **argv, size_t *n)
{
	const struct mp_tape *t = &l->doc->tape;
	struct mp_str text;

	if (mp_value_is(t, v, MP_TAPE_ARRAY)) {
		MP_VALUE_EACH(t, v, item) {
			if (mp_value_is(t, item, MP_TAPE_ARRAY) ||
			    !add_words(l, item, argv, n)) /* one level */
				return false;
		}
		return true;
	}
	if (!mp_value_is(t, v, MP_TAPE_STRING) || mp_value_text(t, v, l->arena, &text) < 0)
		return false;
	argv[*n] = mp_arena_dup(l->arena, text);
	return argv[(*n)++] != NULL;
}

static size_t count_words(const struct mp_tape *t, mp_value v)
{
	return mp_value_is(t, v, MP_TAPE_ARRAY) ? mp_value_count(t, v) : 1;
}

/* `mcpool stdio`, however it is spelled. */
static bool is_bridge(const struct look *l, mp_value entry)
{
	const struct mp_tape *t = &l->doc->tape;
	mp_value command = mp_value_get(t, entry, "command"), args = mp_value_get(t, entry, "args");
	size_t n = 0, most = count_words(t, command) + count_words(t, args);
	const char **argv = mp_arena_alloc_array(l->arena, most, sizeof(*argv));

	return argv && add_words(l, command, argv, &n) &&
	       (args == MP_NONE || add_words(l, args, argv, &n)) && mp_is_ourselves(argv, n);
}

/* What has our name and an address is taken for ours as well. */
static bool has_address(const struct look *l, mp_value entry)
{
	static const char *const keys[] = {"url", "httpUrl", "serverUrl"};

	for (size_t i = 0; i < MP_ARRAY_LEN(keys); i++)
		if (mp_value_get(&l->doc->tape, entry, keys[i]) != MP_NONE)
			return true;
	return false;
}

static bool is_same(const struct look *l, mp_value entry, struct mp_str wanted)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	bool equal = false;

	mp_tape_init(&t, 0);
	return mp_tape_parse(&t, wanted, NULL) == 0 &&
	       mp_value_equal(&l->doc->tape, entry, &t, MP_ROOT, &equal) == 0 && equal;
}

static int look_at(struct look *l, mp_value key, struct mp_str wanted)
{
	struct mp_agent_view *v = l->view;
	mp_value entry = mp_value_of(key);
	struct mp_str text;
	char *name;
	bool named, bridge;
	int r = mp_value_text(&l->doc->tape, key, l->arena, &text);

	if (r < 0)
		return r;
	name = mp_arena_dup(l->arena, text);
	if (!name)
		return mp_arena_get_error(l->arena);
	named = strcmp(name, MP_AGENT_ENTRY) == 0;
	bridge = is_bridge(l, entry);
	if (!named && (!bridge || v->link != MP_AGENT_APART)) {
		if (!bridge)
			v->names[v->n_names++] = name;
		return 0;
	}
	v->entry = name;
	v->link = !named || is_same(l, entry, wanted) ? MP_AGENT_CONNECTED
		  : bridge || has_address(l, entry)   ? MP_AGENT_OTHERWISE
						      : MP_AGENT_TAKEN;
	return 0;
}

static int look_at_all(struct look *l, mp_value servers, struct mp_str wanted)
{
	const struct mp_tape *t = &l->doc->tape;
	int r = 0;

	if (!mp_value_is(t, servers, MP_TAPE_OBJECT))
		return 0;
	l->view->names =
		mp_arena_alloc_array(l->arena, mp_value_count(t, servers) + 1, sizeof(char *));
	if (!l->view->names)
		return mp_arena_get_error(l->arena);
	MP_VALUE_EACH(t, servers, key) {
		if (r == 0)
			r = look_at(l, key, wanted);
	}
	return r;
}

/* As opencode.c has it: a server of that name would have a type. */
static mp_value find_servers(const struct mp_agent *a, const struct mp_tape *t, bool *ret_inner)
{
	mp_value outer = mp_value_get(t, MP_ROOT, a->key), inner = MP_NONE;

	if (a->inner)
		inner = mp_value_get(t, outer, a->inner);
	*ret_inner = mp_value_is(t, inner, MP_TAPE_OBJECT) &&
		     !mp_value_is(t, mp_value_get(t, inner, "type"), MP_TAPE_STRING);
	return *ret_inner ? inner : outer;
}

int mp_agent_look(const struct mp_agent *a, const char *file, struct mp_str entry,
		  struct mp_arena *arena, struct mp_agent_view *ret_view,
		  struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = NULL;
	struct mcpool_error why;
	struct look l = {.arena = arena, .view = ret_view};
	int r = mp_document_open(file, a->format, MP_LIMIT_USER_FILE, &doc, &why);

	*ret_view = (struct mp_agent_view){.exists = r != MCPOOL_ENOENT};
	if (r == MCPOOL_ENOENT)
		return 0;
	if (r < 0)
		return doc && doc->fault.line
			       ? mp_fail(reterr, r, "%s:%u:%u: %s", file, doc->fault.line,
					 doc->fault.column, why.message)
			       : mp_fail(reterr, r, "%s: %s", file, why.message);
	l.doc = doc;
	r = look_at_all(&l, find_servers(a, &doc->tape, &ret_view->inner), entry);
	return r < 0 ? mp_fail(reterr, r, "%s cannot be looked at: %s", file, mcpool_error_text(r))
		     : 0;
}

/* --- the text -------------------------------------------------------------------------------- */

static int append_table(struct mp_str old, struct mp_str table, struct mp_buf *out)
{
	const char *gap = old.len == 0                   ? ""
			  : old.p[old.len - 1] != '\n'   ? "\n\n"
			  : ends_in(old, MP_STR("\n\n")) ? ""
							 : "\n";
	int r = mp_buf_add_str(out, old);

	return r < 0 ? r : mp_buf_addf(out, "%s%.*s", gap, MP_STR_ARGS(table));
}

/* A table is replaced only where it is known from its first byte to its last. */
static int add_table(const struct mp_agent *a, struct mp_str old, struct mp_str table,
		     struct mp_buf *out, struct mcpool_error *reterr)
{
	int r;

	if (mp_str_find(old, table, 0) >= 0)
		return 0;
	if (mp_str_find(old, MP_STR("." MP_AGENT_ENTRY "]"), 0) >= 0)
		return mp_fail(reterr, MCPOOL_EEXIST,
			       "there is another table [%s." MP_AGENT_ENTRY
			       "]; take it out by hand, then try again",
			       a->key);
	r = append_table(old, table, out);
	return r < 0 ? r : 1;
}

struct path {
	struct mp_str keys[3];
	size_t n;
};

static struct path find_path(const struct mp_agent *a, const struct mp_agent_way *way)
{
	struct path p = {{mp_str_of(a->key)}, 1};

	if (way->inner)
		p.keys[p.n++] = mp_str_of(a->inner);
	p.keys[p.n++] = MP_STR(MP_AGENT_ENTRY);
	return p;
}

int mp_agent_add_text(const struct mp_agent *a, const struct mp_agent_way *way, struct mp_str old,
		      struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf entry;
	struct path path = find_path(a, way);
	int r;

	mp_buf_init(&entry, MP_LIMIT_CONFIG_FILE);
	if (a->format == MP_FORMAT_TOML) {
		r = mp_agent_write_snippet(a, way, &entry);
		return r < 0 ? r : add_table(a, old, mp_buf_get(&entry), out, reterr);
	}
	r = mp_agent_write_entry(a, way, &entry);
	if (r == 0 && mp_str_trim(old).len == 0)
		r = mp_agent_write_snippet(a, way, out);
	else if (r == 0)
		r = mp_edit_set(old, path.keys, path.n, mp_buf_get(&entry), out, reterr);
	if (r < 0)
		return r;
	return mp_str_eq(old, mp_buf_get(out)) ? 0 : 1;
}

static int cut_table(struct mp_str old, struct mp_str table, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	ptrdiff_t at = mp_str_find(old, table, 0);
	size_t end;
	int r;

	if (at < 0)
		return mp_fail(reterr, MCPOOL_ENOENT,
			       "its table was changed since; take it out by hand");
	end = (size_t)at + table.len;
	if (at > 1 && old.p[at - 1] == '\n' && old.p[at - 2] == '\n')
		at--;
	r = mp_buf_add(out, old.p, (size_t)at);
	return r < 0 ? r : mp_buf_add(out, old.p + end, old.len - end);
}

int mp_agent_remove_text(const struct mp_agent *a, const struct mp_agent_way *way,
			 struct mp_str old, struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf table;
	struct path path = find_path(a, way);
	int r;

	mp_buf_init(&table, MP_LIMIT_CONFIG_FILE);
	if (a->format != MP_FORMAT_TOML)
		return mp_edit_remove(old, path.keys, path.n, out, reterr);
	r = mp_agent_write_snippet(a, way, &table);
	return r < 0 ? r : cut_table(old, mp_buf_get(&table), out, reterr);
}

/* --- the file -------------------------------------------------------------------------------- */

struct job {
	const struct mp_agent *a;
	const struct mp_agent_way *way;
	char backup[PATH_MAX];
	bool restored; /* it is what it was */
};

static int name_backup(struct job *job, const char *file, struct mcpool_error *reterr)
{
	int n = snprintf(job->backup, sizeof(job->backup), "%s" BACKUP, file);

	return n < (int)sizeof(job->backup)
		       ? 0
		       : mp_fail(reterr, MCPOOL_ELIMIT, "%s is too long a path", file);
}

static bool write_whole(int fd, struct mp_str text)
{
	while (text.len > 0) {
		ssize_t n = write(fd, text.p, text.len);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0)
			text = (struct mp_str){text.p + n, text.len - (size_t)n};
	}
	return fsync(fd) == 0;
}

/* For this user alone, since nobody knows what stands there; a link in its place goes. */
static int keep_backup(const struct job *job, struct mp_str old, struct mcpool_error *reterr)
{
	bool ok;
	int fd;

	(void)unlink(job->backup); /* of an earlier time, or none */
	fd = open(job->backup, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return mp_fail_errno(reterr, errno, "%s cannot be written; nothing was changed",
				     job->backup);
	ok = write_whole(fd, old);
	if (close(fd) < 0 || !ok)
		return mp_fail(reterr, MCPOOL_EIO, "%s cannot be written; nothing was changed",
			       job->backup);
	return 0;
}

static int put_in(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr)
{
	const struct job *job = u;
	int r = mp_agent_add_text(job->a, job->way, old, out, reterr), kept;

	if (r <= 0 || old.len == 0)
		return r;
	kept = keep_backup(job, old, reterr);
	return kept < 0 ? kept : r;
}

int mp_agent_write(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		   struct mcpool_error *reterr)
{
	struct job job = {.a = a, .way = way};
	int r = name_backup(&job, file, reterr);

	return r < 0 ? r : mp_config_change_as(file, a->format, put_in, &job, reterr);
}

/* Would this text, with our entry, be the one that is there? */
static bool leads_to(const struct job *job, struct mp_str before, struct mp_str now)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_OWN_FILE);
	return mp_agent_add_text(job->a, job->way, before, &text, NULL) == 1 &&
	       mp_str_eq(mp_buf_get(&text), now);
}

static int take_out(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf before;
	struct job *job = u;
	int r;

	mp_buf_init(&before, MP_LIMIT_OWN_FILE);
	job->restored = mp_file_read(job->backup, MP_LIMIT_OWN_FILE, &before, NULL) == 0 &&
			leads_to(job, mp_buf_get(&before), old);
	r = job->restored ? mp_buf_add_str(out, mp_buf_get(&before))
			  : mp_agent_remove_text(job->a, job->way, old, out, reterr);
	return r < 0 ? r : 1;
}

/* There was none before, and nobody changed it since. */
static bool is_all_ours(const struct job *job, const char *file)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf now;

	mp_buf_init(&now, MP_LIMIT_OWN_FILE);
	return access(job->backup, F_OK) < 0 &&
	       mp_file_read(file, MP_LIMIT_OWN_FILE, &now, NULL) == 0 &&
	       leads_to(job, MP_STR(""), mp_buf_get(&now));
}

int mp_agent_undo(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		  struct mcpool_error *reterr)
{
	struct job job = {.a = a, .way = way};
	int r = name_backup(&job, file, reterr);

	if (r < 0)
		return r;
	if (access(file, F_OK) < 0)
		return 0;
	if (is_all_ours(&job, file))
		return unlink(file) == 0
			       ? 1
			       : mp_fail_errno(reterr, errno, "%s cannot be removed", file);
	r = mp_config_change_as(file, a->format, take_out, &job, reterr);
	if (r == 1 && job.restored)
		(void)unlink(job.backup); /* it is the file again */
	return r;
}

int mp_agent_check_place(const char *file, const char *root, struct mcpool_error *reterr)
{
	char path[PATH_MAX], real[PATH_MAX], top[PATH_MAX];
	char *slash;

	if (snprintf(path, sizeof(path), "%s", file) >= (int)sizeof(path) || !realpath(root, top))
		return mp_fail(reterr, MCPOOL_EINVAL, "%s is no place for a file", file);
	while (!realpath(path, real)) { /* the nearest that exists */
		struct stat st;

		slash = strrchr(path, '/');
		if (lstat(path, &st) == 0 || !slash || slash == path)
			return mp_fail(reterr, MCPOOL_EPERM,
				       "%s is a link that leads nowhere; nothing was changed",
				       path);
		*slash = '\0';
	}
	if (strcmp(real, top) == 0 || mp_file_is_below(real, top))
		return 0;
	return mp_fail(reterr, MCPOOL_EPERM,
		       "%s leads out of the project; nothing was changed. Remove the link if you "
		       "want a file there.",
		       file);
}
