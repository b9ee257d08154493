/*
 * tokens.c - named tokens of the HTTP face.
 */
#include "store/tokens.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/sql.h"

/* --- one by one ----------------------------------------------------------------------------- */

static int tokens_count(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"counting tokens", "SELECT count(*) FROM tokens", NULL, 0};
	int64_t n = 0;
	int r = mp_sql_get(sql, &q, &n, reterr);

	return r < 0 ? r : (int)n;
}

static int tokens_add(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_token_record *t = u;
	MP_SQL_QUERY(q, "keeping a token",
		     "INSERT OR IGNORE INTO tokens"
		     " (name, digest, servers, tools, created_ms, expires_ms, used_ms)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
		     mp_sql_text(t->name), mp_sql_blob(t->digest, sizeof(t->digest)),
		     mp_sql_text(t->servers), mp_sql_text(t->tools), mp_sql_int(t->created_ms),
		     mp_sql_int(t->expires_ms));
	int r = tokens_count(sql, reterr);

	if (r >= MP_LIMIT_NAMED_TOKENS)
		return mp_fail(reterr, MCPOOL_ELIMIT, "there are %d tokens, and no more may be", r);
	if (r >= 0)
		r = mp_sql_run(sql, &q, reterr);
	if (r == 0)
		return mp_fail(reterr, MCPOOL_EEXIST, "there is a token '%s' already", t->name);
	return r < 0 ? r : 0;
}

int mp_tokens_add(struct mp_db *db, const struct mp_token_record *t, struct mcpool_error *reterr)
{
	struct mp_token_record copy = *t;

	mp_check(t->name && t->servers && t->tools);
	return mp_db_write(db, tokens_add, &copy, reterr);
}

struct tokens_name {
	const char *name;
};

static int tokens_remove(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "removing a token", "DELETE FROM tokens WHERE name = ?1",
		     mp_sql_text(((const struct tokens_name *)u)->name));

	return mp_sql_run(sql, &q, reterr);
}

int mp_tokens_remove(struct mp_db *db, const char *name, struct mcpool_error *reterr)
{
	struct tokens_name n = {name};

	return mp_db_write(db, tokens_remove, &n, reterr);
}

/* --- all of them ---------------------------------------------------------------------------- */

struct tokens_walk {
	mp_token_fn fn;
	void *u;
};

/* NULL, which we never store, means that SQLite ran out of memory. */
static const char *tokens_text(struct sqlite3_stmt *s, int column)
{
	return (const char *)sqlite3_column_text(s, column);
}

static int tokens_tell(struct sqlite3_stmt *s, const struct tokens_walk *w,
		       struct mcpool_error *reterr)
{
	struct mp_token_record t = {
		.n = sqlite3_column_int64(s, 0),
		.name = tokens_text(s, 1),
		.servers = tokens_text(s, 3),
		.tools = tokens_text(s, 4),
		.created_ms = sqlite3_column_int64(s, 5),
		.expires_ms = sqlite3_column_int64(s, 6),
		.used_ms = sqlite3_column_int64(s, 7),
	};
	const void *digest = sqlite3_column_blob(s, 2);

	if (!digest || !t.name || !t.servers || !t.tools)
		return mp_fail(reterr, MCPOOL_ENOMEM, "reading the tokens failed: %s",
			       mcpool_error_text(MCPOOL_ENOMEM));
	if (sqlite3_column_bytes(s, 2) != MP_DIGEST_SIZE)
		return mp_fail(reterr, MCPOOL_EIO, "reading the tokens failed: %s",
			       "a hash has the wrong length, so mcpool.db is damaged");
	memcpy(t.digest, digest, sizeof(t.digest));
	return w->fn(&t, w->u);
}

static int tokens_each(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"reading the tokens",
				       "SELECT n, name, digest, servers, tools, created_ms,"
				       " expires_ms, used_ms FROM tokens ORDER BY name",
				       NULL, 0};
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	if (r < 0)
		return r;
	while ((r = mp_sql_step(s, q.doing, reterr)) > 0) {
		r = tokens_tell(s, u, reterr);
		if (r != 0)
			return r;
	}
	return r;
}

int mp_tokens_each(struct mp_db *db, mp_token_fn fn, void *u, struct mcpool_error *reterr)
{
	struct tokens_walk w = {fn, u};

	return mp_db_read(db, tokens_each, &w, reterr);
}

/* --- last use -------------------------------------------------------------------------------- */

struct tokens_use {
	int64_t n, wall_ms;
};

static int tokens_note_use(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct tokens_use *use = u;
	MP_SQL_QUERY(q, "noting the use of a token", "UPDATE tokens SET used_ms = ?2 WHERE n = ?1",
		     mp_sql_int(use->n), mp_sql_int(use->wall_ms));

	return mp_sql_run(sql, &q, reterr);
}

static void tokens_use_done(int result, void *u)
{
	(void)result;
	mp_free(u);
}

void mp_tokens_note_use(struct mp_db *db, int64_t n, int64_t wall_ms)
{
	struct tokens_use *use = mp_alloc(sizeof(*use));

	*use = (struct tokens_use){n, wall_ms};
	if (mp_db_write_later(db, tokens_note_use, tokens_use_done, use) < 0)
		mp_free(use);
}
