/*
 * last_good.c - the approved servers of each configuration file, as it was when it could last be
 * read.
 */
#include "store/last_good.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/aead.h"
#include "store/digest.h"
#include "store/local_key.h"
#include "store/sql.h"

/* --- encryption; the file's path is authenticated with it --------------------------------------
 */

static int get_key(struct mp_db *db, unsigned char ret[MP_DIGEST_SIZE], struct mcpool_error *reterr)
{
	unsigned char local[MP_LOCAL_KEY_SIZE];
	struct mp_digest *d;
	int r = mp_local_key_get_beside(mp_db_get_path(db), local, reterr);

	if (r < 0)
		return r;
	d = mp_digest_new_keyed((struct mp_str){(const char *)local, sizeof(local)});
	mp_digest_add(d, MP_STR("last good"));
	mp_digest_finish(d, ret);
	return 0;
}

/* --- reading --------------------------------------------------------------------------------- */

struct last_good_read {
	struct mp_db *db;
	const char *file;
	struct mp_buf *out;
};

/* What was damaged, or sealed with another key, is as good as none. */
static int open_content(const struct last_good_read *ask, const unsigned char *bytes, size_t n,
			struct mcpool_error *reterr)
{
	unsigned char key[MP_DIGEST_SIZE];
	int r;

	if (n < MP_AEAD_HEAD)
		return 0;
	r = get_key(ask->db, key, reterr);
	if (r == 0)
		r = mp_buf_reserve(ask->out, n);
	if (r < 0)
		return r;
	if (!mp_aead_open(key, mp_str_of(ask->file), (struct mp_str){(const char *)bytes, n},
			  (unsigned char *)ask->out->data + ask->out->len))
		return 0;
	ask->out->len += n - MP_AEAD_HEAD;
	return 1;
}

static int last_good_find(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct last_good_read *ask = u;
	MP_SQL_QUERY(q, "reading the last good configuration",
		     "SELECT content FROM last_good WHERE file = ?1", mp_sql_text(ask->file));
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	if (r == 0)
		r = mp_sql_step(s, q.doing, reterr);
	if (r <= 0)
		return r;
	return open_content(ask, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0),
			    reterr);
}

static int count(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "reading the last good configuration",
		     "SELECT 1 FROM last_good WHERE file = ?1", mp_sql_text(u));
	int64_t one;

	return mp_sql_get(sql, &q, &one, reterr);
}

bool mp_last_good_has(struct mp_db *db, const char *file)
{
	return mp_db_read(db, count, (void *)(uintptr_t)file, NULL) > 0;
}

int mp_last_good_read(struct mp_db *db, const char *file, struct mp_buf *out,
		      struct mcpool_error *reterr)
{
	struct last_good_read ask = {db, file, out};

	return mp_db_read(db, last_good_find, &ask, reterr);
}

/* --- writing --------------------------------------------------------------------------------- */

struct note {
	char *file;
	unsigned char *content; /* NULL: none is kept */
	size_t n;
	unsigned char digest[MP_DIGEST_SIZE]; /* keyed, of the text: is it the same as before? */
	int64_t wall_ms;
};

static int last_good_sweep(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping last good configurations",
		     "DELETE FROM last_good WHERE file IN (SELECT file FROM last_good"
		     " ORDER BY saved_ms DESC LIMIT -1 OFFSET ?1)",
		     mp_sql_int(MP_LIMIT_LAST_GOOD));

	return mp_sql_run(sql, &q, reterr);
}

static int forget(struct sqlite3 *sql, const struct note *note, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "forgetting a last good configuration",
		     "DELETE FROM last_good WHERE file = ?1", mp_sql_text(note->file));

	return mp_sql_run(sql, &q, reterr);
}

static int last_good_keep(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct note *note = u;
	MP_SQL_QUERY(q, "keeping the last good configuration",
		     "INSERT INTO last_good (file, digest, content, saved_ms)"
		     " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (file) DO UPDATE SET digest = ?2,"
		     " content = ?3, saved_ms = ?4 WHERE digest <> ?2",
		     mp_sql_text(note->file), mp_sql_blob(note->digest, sizeof(note->digest)),
		     mp_sql_blob(note->content, note->n), mp_sql_int(note->wall_ms));
	int r;

	if (!note->content)
		return forget(sql, note, reterr);
	r = mp_sql_run(sql, &q, reterr);
	return r < 0 ? r : last_good_sweep(sql, reterr);
}

static void note_free(int result, void *u)
{
	struct note *note = u;

	(void)result;
	mp_free(note->file);
	mp_free(note->content);
	mp_free(note);
}

/* False: it cannot be kept now. */
static bool last_good_seal(struct mp_db *db, struct note *note, struct mp_str text)
{
	unsigned char key[MP_DIGEST_SIZE];
	struct mp_digest *d;

	if (get_key(db, key, NULL) < 0)
		return false;
	note->n = MP_AEAD_HEAD + text.len;
	note->content = mp_try_alloc(note->n);
	if (!note->content || !mp_aead_seal(key, mp_str_of(note->file), text, note->content))
		return false;
	d = mp_digest_new_keyed((struct mp_str){(const char *)key, sizeof(key)});
	mp_digest_add(d, text);
	mp_digest_finish(d, note->digest);
	return true;
}

void mp_last_good_write(struct mp_db *db, const char *file, struct mp_str text, int64_t wall_ms)
{
	struct note *note;

	if (text.len > MP_LIMIT_DB_VALUE - MP_AEAD_HEAD)
		return;
	note = mp_alloc(sizeof(*note));
	note->file = mp_dup(file);
	note->wall_ms = wall_ms;
	/* Without it a hub that starts beside a broken file has fewer servers, and says so. */
	if ((text.len && !last_good_seal(db, note, text)) ||
	    mp_db_write_later(db, last_good_keep, note_free, note) < 0)
		note_free(0, note);
}
