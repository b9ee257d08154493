/*
 * approvals.c - what the user approved.
 * Whatever goes wrong is a no: a question that could not be asked is never answered with yes.
 */
#include "store/approvals.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/digest.h"
#include "store/local_key.h"
#include "store/sealed.h"
#include "store/sql.h"

static struct mp_sql_value id_value(const struct mp_approval_id *id)
{
	return mp_sql_blob(id->bytes, sizeof(id->bytes));
}

/* --- without secrets ------------------------------------------------------------------------ */

struct sealed_content {
	struct mp_str json;
	struct mp_buf *out;
};

/* Ends in NUL. A text that is not JSON is not an entry and stays as it is. */
static int approvals_seal(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	struct sealed_content *s = u;
	unsigned char key[MP_LOCAL_KEY_SIZE];
	int r = mp_local_key_get_beside(sqlite3_db_filename(sql, "main"), key, reterr);

	if (r < 0)
		return r;
	r = mp_sealed_add(s->json, key, s->out);
	mp_wipe(key, sizeof(key));
	if (r < 0 && r != MCPOOL_ENOMEM && r != MCPOOL_ELIMIT)
		r = mp_buf_add_str(s->out, s->json);
	if (r == 0)
		r = mp_buf_terminate(s->out);
	return r < 0 ? mp_fail(reterr, r, "hiding secrets failed: %s", mcpool_error_text(r)) : 0;
}

int mp_approvals_seal(struct mp_db *db, struct mp_str content, struct mp_buf *out,
		      struct mcpool_error *reterr)
{
	struct sealed_content s = {content, out};

	return mp_db_read(db, approvals_seal, &s, reterr);
}

/* --- one by one ----------------------------------------------------------------------------- */

static int approvals_add(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_approval *a = u;
	MP_CLEANUP(mp_buf_done) struct mp_buf content;
	struct sealed_content sealed = {mp_str_of(a->content), &content};
	int r;

	mp_buf_init(&content, MP_LIMIT_DB_VALUE);
	r = approvals_seal(sql, &sealed, reterr);
	if (r < 0)
		return r;
	MP_SQL_QUERY(q, "keeping an approval",
		     "INSERT OR REPLACE INTO approvals"
		     " (id, name, file, root, content, scripts, how, approved_ms)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
		     id_value(&a->id), mp_sql_text(a->name), mp_sql_text(a->file),
		     mp_sql_text(a->root), mp_sql_text(content.data), mp_sql_text(a->scripts),
		     mp_sql_text(a->how), mp_sql_int(a->approved_ms));
	r = mp_sql_run(sql, &q, reterr);
	return r < 0 ? r : 0;
}

int mp_approvals_add(struct mp_db *db, const struct mp_approval *a, struct mcpool_error *reterr)
{
	struct mp_approval copy = *a; /* fn takes what it may change */

	mp_check(a->name && a->file && a->root && a->content && a->scripts && a->how);
	return mp_db_write(db, approvals_add, &copy, reterr);
}

static int has(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "looking up an approval", "SELECT 1 FROM approvals WHERE id = ?1",
		     id_value(u));
	int64_t one;

	return mp_sql_get(sql, &q, &one, reterr);
}

int mp_approvals_has(struct mp_db *db, const struct mp_approval_id *id, struct mcpool_error *reterr)
{
	struct mp_approval_id copy = *id;

	return mp_db_read(db, has, &copy, reterr);
}

static int remove_one(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "forgetting an approval", "DELETE FROM approvals WHERE id = ?1",
		     id_value(u));

	return mp_sql_run(sql, &q, reterr);
}

int mp_approvals_remove(struct mp_db *db, const struct mp_approval_id *id,
			struct mcpool_error *reterr)
{
	struct mp_approval_id copy = *id;

	return mp_db_write(db, remove_one, &copy, reterr);
}

/* --- by place ------------------------------------------------------------------------------- */

struct place {
	const char *name, *file, *root;
	mp_approval_fn fn;
	void *u;
};

static int forget(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct place *p = u;
	MP_SQL_QUERY(q, "forgetting approvals",
		     "DELETE FROM approvals WHERE name = ?1 AND file = ?2 AND root = ?3",
		     mp_sql_text(p->name), mp_sql_text(p->file), mp_sql_text(p->root));

	return mp_sql_run(sql, &q, reterr);
}

int mp_approvals_forget(struct mp_db *db, const char *name, const char *file, const char *root,
			struct mcpool_error *reterr)
{
	struct place p = {name, file, root, NULL, NULL};

	return mp_db_write(db, forget, &p, reterr);
}

/* NULL, which we never store, means that SQLite ran out of memory. */
static const char *text_at(struct sqlite3_stmt *s, int column)
{
	return (const char *)sqlite3_column_text(s, column);
}

static int approvals_tell(struct sqlite3_stmt *s, const struct place *p,
			  struct mcpool_error *reterr)
{
	struct mp_approval a = {
		.name = text_at(s, 1),
		.file = text_at(s, 2),
		.root = text_at(s, 3),
		.content = text_at(s, 4),
		.scripts = text_at(s, 5),
		.how = text_at(s, 6),
		.approved_ms = sqlite3_column_int64(s, 7),
	};
	const void *id = sqlite3_column_blob(s, 0);

	if (!id || !a.name || !a.file || !a.root || !a.content || !a.scripts || !a.how)
		return mp_fail(reterr, MCPOOL_ENOMEM, "reading the approvals failed: %s",
			       mcpool_error_text(MCPOOL_ENOMEM));
	if (sqlite3_column_bytes(s, 0) != MP_APPROVAL_ID)
		return mp_fail(reterr, MCPOOL_EIO, "reading the approvals failed: %s",
			       "an id has the wrong length, so mcpool.db is damaged");
	memcpy(a.id.bytes, id, sizeof(a.id.bytes));
	return p->fn(&a, p->u);
}

static int approvals_each(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct place *p = u;
	MP_SQL_QUERY(q, "reading the approvals",
		     "SELECT id, name, file, root, content, scripts, how, approved_ms"
		     " FROM approvals WHERE (?1 IS NULL OR name = ?1)"
		     " AND (?2 IS NULL OR file = ?2) AND (?3 IS NULL OR root = ?3)"
		     " ORDER BY approved_ms DESC, n DESC",
		     mp_sql_text(p->name), mp_sql_text(p->file), mp_sql_text(p->root));
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	if (r < 0)
		return r;
	while ((r = mp_sql_step(s, q.doing, reterr)) > 0) {
		r = approvals_tell(s, p, reterr);
		if (r != 0)
			return r;
	}
	return r;
}

int mp_approvals_each(struct mp_db *db, const char *name, const char *file, const char *root,
		      mp_approval_fn fn, void *u, struct mcpool_error *reterr)
{
	struct place p = {name, file, root, fn, u};

	return mp_db_read(db, approvals_each, &p, reterr);
}

/* --- whole files ---------------------------------------------------------------------------- */

struct file {
	const char *path;
	bool trusted;
	int64_t wall_ms;
};

static int set_file(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct file *f = u;
	MP_SQL_QUERY(trust, "trusting a file",
		     "INSERT OR REPLACE INTO trusted_files (path, since_ms) VALUES (?1, ?2)",
		     mp_sql_text(f->path), mp_sql_int(f->wall_ms));
	MP_SQL_QUERY(doubt, "no longer trusting a file",
		     "DELETE FROM trusted_files WHERE path = ?1", mp_sql_text(f->path));
	int r = mp_sql_run(sql, f->trusted ? &trust : &doubt, reterr);

	return r < 0 ? r : 0;
}

int mp_approvals_set_file(struct mp_db *db, const char *real_path, bool trusted, int64_t wall_ms,
			  struct mcpool_error *reterr)
{
	struct file f = {real_path, trusted, wall_ms};

	return mp_db_write(db, set_file, &f, reterr);
}

static int get_file(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct file *f = u;
	MP_SQL_QUERY(q, "looking up a trusted file", "SELECT 1 FROM trusted_files WHERE path = ?1",
		     mp_sql_text(f->path));
	int64_t one;

	return mp_sql_get(sql, &q, &one, reterr);
}

int mp_approvals_get_file(struct mp_db *db, const char *real_path, struct mcpool_error *reterr)
{
	struct file f = {real_path, false, 0};

	return mp_db_read(db, get_file, &f, reterr);
}

struct files {
	mp_trusted_file_fn fn;
	void *u;
};

static int each_file(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct files *f = u;
	const struct mp_sql_query q = {"reading the trusted files",
				       "SELECT path, since_ms FROM trusted_files"
				       " ORDER BY since_ms DESC, path",
				       NULL, 0};
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	if (r < 0)
		return r;
	while ((r = mp_sql_step(s, q.doing, reterr)) > 0) {
		const char *path = text_at(s, 0);

		if (!path)
			return mp_fail(reterr, MCPOOL_ENOMEM, "%s failed: %s", q.doing,
				       mcpool_error_text(MCPOOL_ENOMEM));
		r = f->fn(path, sqlite3_column_int64(s, 1), f->u);
		if (r != 0)
			return r;
	}
	return r;
}

int mp_approvals_each_file(struct mp_db *db, mp_trusted_file_fn fn, void *u,
			   struct mcpool_error *reterr)
{
	struct files f = {fn, u};

	return mp_db_read(db, each_file, &f, reterr);
}

/* --- has anything changed? ------------------------------------------------------------------- */

static int get_mark(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "looking for new approvals",
		     "SELECT (SELECT ifnull(sum(n + approved_ms), 0) FROM approvals)"
		     " + (SELECT ifnull(sum(since_ms), 0) FROM trusted_files)"
		     " + (SELECT count(*) FROM trusted_files)");
	int r = mp_sql_get(sql, &q, u, reterr);

	return r < 0 ? r : 0;
}

int mp_approvals_get_mark(struct mp_db *db, int64_t *ret_mark, struct mcpool_error *reterr)
{
	return mp_db_read(db, get_mark, ret_mark, reterr);
}

/* --- first sights --------------------------------------------------------------------------- */

struct sight {
	struct mp_approval_id id;
	int64_t ms; /* now; then the first sight */
};

static int find_sight(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	struct sight *sight = u;
	MP_SQL_QUERY(q, "looking up a first sight", "SELECT first_ms FROM sights WHERE id = ?1",
		     id_value(&sight->id));

	return mp_sql_get(sql, &q, &sight->ms, reterr);
}

/* Another process may have added it meanwhile. The oldest ones make room. */
static int note_sight(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct sight *sight = u;
	MP_SQL_QUERY(note, "noting a first sight",
		     "INSERT OR IGNORE INTO sights (id, first_ms) VALUES (?1, ?2)",
		     id_value(&sight->id), mp_sql_int(sight->ms));
	MP_SQL_QUERY(sweep, "sweeping first sights",
		     "DELETE FROM sights WHERE n <= (SELECT max(n) FROM sights) - ?1",
		     mp_sql_int(MP_LIMIT_SIGHTS));
	int r = mp_sql_run(sql, &note, reterr);

	if (r > 0)
		r = mp_sql_run(sql, &sweep, reterr);
	return r < 0 ? r : find_sight(sql, u, reterr);
}

int mp_approvals_note_sight(struct mp_db *db, const struct mp_approval_id *id, int64_t wall_ms,
			    int64_t *ret_first_ms)
{
	struct sight sight = {*id, wall_ms};
	int r = mp_db_read(db, find_sight, &sight, NULL);

	if (r == 0 && mp_db_write(db, note_sight, &sight, NULL) < 0)
		sight.ms = wall_ms;
	*ret_first_ms = sight.ms;
	return r < 0 ? r : 0;
}

void mp_approval_id_to_hex(const struct mp_approval_id *id, char out[2 * MP_APPROVAL_ID + 1])
{
	mp_digest_to_hex(id->bytes, out);
}
