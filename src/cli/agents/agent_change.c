/*
 * agent_change.c - adds our entry to an agent's file and removes it.
 * The backup is the file without our entry. If the file equals the backup plus our entry, only we
 * changed it: undo restores the backup, and another write keeps it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/agents/agent_file.h"
#include "files/file.h"
#include "toml/toml.h"
#include "files/writer.h"
#include "json/edit.h"
#include "json/write.h"

/* --- our entry in a text --------------------------------------------------------------------- */

struct text {
	const struct mp_agent *a;
	struct mp_toml toml;
	struct mp_tape tape;
	mp_value entry; /* MP_NONE: it has none */
	bool inner;
};

static void text_init(struct text *t, const struct mp_agent *a)
{
	*t = (struct text){.a = a, .entry = MP_NONE};
	mp_toml_init(&t->toml);
	mp_tape_init(&t->tape, a->format == MP_FORMAT_JSON ? MP_TAPE_JSONC : 0);
}

static void text_done(struct text *t)
{
	mp_toml_done(&t->toml);
	mp_tape_done(&t->tape);
}

static int text_read(struct text *t, struct mp_str text, struct mcpool_error *reterr)
{
	int r = 0;

	t->entry = MP_NONE;
	t->inner = false;
	if (mp_str_trim(text).len == 0)
		return 0;
	if (t->a->format == MP_FORMAT_TOML) {
		r = mp_toml_read(&t->toml, text, reterr);
		text = mp_buf_get(&t->toml.json);
	}
	if (r == 0)
		r = mp_tape_parse(&t->tape, text, reterr);
	if (r == 0)
		t->entry = mp_value_get(&t->tape, mp_agent_find_servers(t->a, &t->tape, &t->inner),
					MP_AGENT_ENTRY);
	return r;
}

/* Parse an entry that is about to be written, as part of a document. */
static int text_read_entry(struct text *t, const struct mp_agent_way *way, struct mp_buf *json)
{
	int r = mp_agent_write_entry(t->a, way, json);

	if (r == 0)
		r = mp_tape_parse(&t->tape, mp_buf_get(json), NULL);
	t->entry = MP_ROOT;
	return r;
}

static int append_table(struct mp_str old, struct mp_str table, struct mp_buf *out)
{
	bool closed = old.len > 0 && old.p[old.len - 1] == '\n';
	bool apart = closed && old.len > 1 && old.p[old.len - 2] == '\n';
	const char *gap = old.len == 0 || apart ? "" : closed ? "\n" : "\n\n";
	int r = mp_buf_add_str(out, old);

	return r < 0 ? r : mp_buf_addf(out, "%s%.*s", gap, MP_STR_ARGS(table));
}

struct path {
	struct mp_str keys[3];
	size_t n;
};

static struct path find_path(const struct mp_agent *a, bool inner)
{
	struct path p = {{mp_str_of(a->key)}, 1};

	if (inner)
		p.keys[p.n++] = mp_str_of(a->inner);
	p.keys[p.n++] = MP_STR(MP_AGENT_ENTRY);
	return p;
}

/* The base plus the entry of this text; the base may be blank, and has no entry of ours. */
static int add_entry(const struct text *t, bool inner, struct mp_str base, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf entry;
	struct path path = find_path(t->a, inner);
	struct mp_writer w;
	int r;

	mp_buf_init(&entry, MP_LIMIT_CONFIG_FILE);
	if (t->a->format == MP_FORMAT_TOML) {
		r = mp_agent_write_around(t->a, false, &t->tape, t->entry, &entry);
		return r < 0 ? r : append_table(base, mp_buf_get(&entry), out);
	}
	if (mp_str_trim(base).len == 0)
		return mp_agent_write_around(t->a, inner, &t->tape, t->entry, out);
	mp_write_init(&w, &entry, NULL);
	mp_write_value(&w, &t->tape, t->entry);
	r = mp_write_finish(&w);
	return r < 0 ? r : mp_edit_set(base, path.keys, path.n, mp_buf_get(&entry), out, reterr);
}

/* The base with the entry that this way takes. */
static int add_way(const struct mp_agent *a, const struct mp_agent_way *way, bool inner,
		   struct mp_str base, struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(text_done) struct text t;
	MP_CLEANUP(mp_buf_done) struct mp_buf json;
	int r;

	text_init(&t, a);
	mp_buf_init(&json, MP_LIMIT_CONFIG_FILE);
	if (a->format != MP_FORMAT_TOML && mp_str_trim(base).len == 0)
		return mp_agent_write_snippet(a, way, out);
	r = text_read_entry(&t, way, &json);
	return r < 0 ? r : add_entry(&t, inner, base, out, reterr);
}

/* Where the text has our table, byte for byte as we write it; -1: nowhere. */
static ptrdiff_t find_table(const struct text *t, struct mp_str text, struct mp_buf *table)
{
	if (mp_agent_write_around(t->a, false, &t->tape, t->entry, table) < 0)
		return -1;
	return mp_str_find(text, mp_buf_get(table), 0);
}

/* The text with the bytes from..to replaced. */
static int replace_part(struct mp_str text, size_t from, size_t to, struct mp_str by,
			struct mp_buf *out)
{
	int r = mp_buf_add(out, text.p, from);

	if (r == 0)
		r = mp_buf_add_str(out, by);
	return r < 0 ? r : mp_buf_add(out, text.p + to, text.len - to);
}

static int replace_table(const struct text *t, const struct mp_agent_way *way, struct mp_str old,
			 struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf table, snippet;
	ptrdiff_t at;
	int r;

	mp_buf_init(&table, MP_LIMIT_CONFIG_FILE);
	mp_buf_init(&snippet, MP_LIMIT_CONFIG_FILE);
	at = find_table(t, old, &table);
	if (at < 0)
		return mp_fail(reterr, MCPOOL_EEXIST,
			       "mcpool is in this file already, but `mcpool connect` did not write "
			       "it; remove it by hand (or with `%s mcp remove " MP_AGENT_ENTRY
			       "`), then try again",
			       t->a->program);
	r = mp_agent_write_snippet(t->a, way, &snippet);
	return r < 0 ? r
		     : replace_part(old, (size_t)at, (size_t)at + table.len, mp_buf_get(&snippet),
				    out);
}

static int cut_table(const struct text *t, struct mp_str old, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf table;
	ptrdiff_t at = -1;
	size_t end;

	mp_buf_init(&table, MP_LIMIT_CONFIG_FILE);
	if (t->entry != MP_NONE)
		at = find_table(t, old, &table);
	if (at < 0)
		return mp_fail(reterr, MCPOOL_ENOENT,
			       "its table was changed since; remove it by hand");
	end = (size_t)at + table.len;
	if (at > 1 && old.p[at - 1] == '\n' && old.p[at - 2] == '\n')
		at--;
	return replace_part(old, (size_t)at, end, MP_STR(""), out);
}

/* --- the file before our change -------------------------------------------------------------- */

enum before {
	BEFORE_UNKNOWN, /* it has no entry of ours, or another program wrote to it since */
	BEFORE_BACKUP,  /* the backup */
	BEFORE_NO_FILE, /* no file */
};

struct job {
	const struct mp_agent *a;
	const struct mp_agent_way *way;
	const char *file;
	char backup[PATH_MAX];
	bool existed;
	enum before before;
};

static int name_backup(struct job *job, const char *file, struct mcpool_error *reterr)
{
	int n = snprintf(job->backup, sizeof(job->backup), "%s" MP_AGENT_BACKUP, file);

	return n < (int)sizeof(job->backup)
		       ? 0
		       : mp_fail(reterr, MCPOOL_ELIMIT, "%s is too long a path", file);
}

/* Does the base with the entry that is there now give the text that is there now? */
static bool leads_to(const struct text *t, struct mp_str base, struct mp_str now)
{
	MP_CLEANUP(text_done) struct text before;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	text_init(&before, t->a);
	mp_buf_init(&text, MP_LIMIT_OWN_FILE);
	return text_read(&before, base, NULL) == 0 && before.entry == MP_NONE &&
	       add_entry(t, t->inner, base, &text, NULL) == 0 && mp_str_eq(mp_buf_get(&text), now);
}

/* base: what it was, where that is known. */
static void find_before(struct job *job, const struct text *t, struct mp_str now,
			struct mp_buf *base)
{
	job->before = BEFORE_UNKNOWN;
	if (t->entry == MP_NONE)
		return;
	if (mp_file_read(job->backup, MP_LIMIT_OWN_FILE, base, NULL) == 0 &&
	    leads_to(t, mp_buf_get(base), now)) {
		job->before = BEFORE_BACKUP;
		return;
	}
	mp_buf_clear(base);
	if (leads_to(t, MP_STR(""), now))
		job->before = BEFORE_NO_FILE;
}

/* --- the new text ---------------------------------------------------------------------------- */

static int plan_write(struct job *job, struct mp_str old, struct mp_buf *out,
		      struct mcpool_error *reterr)
{
	MP_CLEANUP(text_done) struct text t;
	MP_CLEANUP(mp_buf_done) struct mp_buf base;
	int r;

	text_init(&t, job->a);
	mp_buf_init(&base, MP_LIMIT_OWN_FILE);
	r = text_read(&t, old, reterr);
	if (r < 0)
		return r;
	find_before(job, &t, old, &base);
	if (job->before != BEFORE_UNKNOWN)
		r = add_way(job->a, job->way, t.inner, mp_buf_get(&base), out, reterr);
	else if (job->a->format == MP_FORMAT_TOML && t.entry != MP_NONE)
		r = replace_table(&t, job->way, old, out, reterr);
	else
		r = add_way(job->a, job->way, t.inner, old, out, reterr);
	if (r < 0)
		return r;
	return mp_str_eq(old, mp_buf_get(out)) ? 0 : 1;
}

static int plan_undo(struct job *job, struct mp_str old, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	MP_CLEANUP(text_done) struct text t;
	MP_CLEANUP(mp_buf_done) struct mp_buf base;
	struct path path;
	int r;

	text_init(&t, job->a);
	mp_buf_init(&base, MP_LIMIT_OWN_FILE);
	r = text_read(&t, old, reterr);
	if (r < 0)
		return r;
	find_before(job, &t, old, &base);
	path = find_path(job->a, t.inner);
	if (job->before != BEFORE_UNKNOWN)
		r = mp_buf_add_str(out, mp_buf_get(&base));
	else if (job->a->format == MP_FORMAT_TOML)
		r = cut_table(&t, old, out, reterr);
	else
		r = mp_edit_remove(old, path.keys, path.n, out, reterr);
	return r < 0 ? r : 1;
}

int mp_agent_plan(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		  bool undo, struct mp_str old, struct mp_buf *out, bool *ret_goes,
		  struct mcpool_error *reterr)
{
	struct job job = {.a = a, .way = way};
	int r = name_backup(&job, file, reterr);

	if (r == 0)
		r = undo ? plan_undo(&job, old, out, reterr) : plan_write(&job, old, out, reterr);
	*ret_goes = undo && job.before == BEFORE_NO_FILE;
	return r;
}

/* --- the file -------------------------------------------------------------------------------- */

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

/* Readable for this user alone, since the file may hold secrets. A link in its place is removed. */
static int keep_backup(const struct job *job, struct mp_str old, struct mcpool_error *reterr)
{
	bool ok;
	int fd;

	(void)unlink(job->backup); /* an old one, if any */
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
	MP_CLEANUP(mp_buf_done) struct mp_buf blank;
	struct job *job = u;
	int r = plan_write(job, old, out, reterr), kept;

	mp_buf_init(&blank, MP_LIMIT_OWN_FILE);
	if (r <= 0 || !job->existed || job->before != BEFORE_UNKNOWN)
		return r;
	if (old.len == 0 && mp_file_read(job->file, MP_LIMIT_OWN_FILE, &blank, NULL) == 0)
		old = mp_buf_get(&blank); /* the writer passes a blank file as "" */
	kept = keep_backup(job, old, reterr);
	return kept < 0 ? kept : r;
}

int mp_agent_write(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		   struct mcpool_error *reterr)
{
	struct job job = {.a = a, .way = way, .file = file, .existed = access(file, F_OK) == 0};
	int r = name_backup(&job, file, reterr);

	return r < 0 ? r : mp_config_change_as(file, a->format, put_in, &job, reterr);
}

/* The writer refuses a blank text: 0, and make_blank() or remove_file() follows. */
static int take_out(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr)
{
	struct job *job = u;
	int r = plan_undo(job, old, out, reterr);

	if (r < 0 || job->before == BEFORE_UNKNOWN)
		return r;
	return mp_str_trim(mp_buf_get(out)).len > 0;
}

static int make_blank(struct job *job, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	bool ok;
	int fd, r;

	mp_buf_init(&text, MP_LIMIT_OWN_FILE);
	r = mp_file_read(job->backup, MP_LIMIT_OWN_FILE, &text, reterr);
	if (r < 0)
		return r;
	fd = open(job->file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ok = fd >= 0 && write_whole(fd, mp_buf_get(&text));
	if (fd >= 0)
		close(fd);
	return ok ? 1 : mp_fail_errno(reterr, errno, "%s cannot be written", job->file);
}

/* If the path is a link, its target was created. */
static int remove_file(const char *file, struct mcpool_error *reterr)
{
	char real[PATH_MAX];

	if (realpath(file, real) && unlink(real) == 0)
		return 1;
	return mp_fail_errno(reterr, errno, "%s cannot be removed", file);
}

int mp_agent_undo(const struct mp_agent *a, const char *file, struct mcpool_error *reterr)
{
	struct job job = {.a = a, .file = file};
	int r = name_backup(&job, file, reterr);

	if (r < 0)
		return r;
	if (access(file, F_OK) < 0)
		return 0;
	r = mp_config_change_as(file, a->format, take_out, &job, reterr);
	if (r == 0 && job.before == BEFORE_NO_FILE)
		return remove_file(file, reterr);
	if (r == 0 && job.before == BEFORE_BACKUP)
		r = make_blank(&job, reterr);
	if (r == 1 && job.before == BEFORE_BACKUP)
		(void)unlink(job.backup); /* the file equals it again */
	return r;
}
