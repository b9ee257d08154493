/*
 * held_names.c - which tool had a public name for itself alone.
 */
#include "store/held_names.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sql.h"

enum { PARTS = 3 }; /* public name, server, name */

void mp_held_name_scope(const char *root, int style, int kind, struct mp_held_scope *ret)
{
	struct mp_digest *d = mp_digest_new();
	char room[MP_STR_DIGITS];

	mp_digest_add(d, mp_str_of(root));
	mp_digest_add(d, mp_str_from_u64((uint64_t)style, room));
	mp_digest_add(d, mp_str_from_u64((uint64_t)kind, room));
	mp_digest_finish(d, ret->bytes);
}

/* --- reading --------------------------------------------------------------------------------- */

struct held_names_read {
	const struct mp_held_scope *scope;
	mp_held_fn fn;
	void *u;
};

static struct mp_str get_column(struct sqlite3_stmt *s, int at)
{
	const char *bytes = sqlite3_column_blob(s, at);

	return (struct mp_str){bytes, (size_t)sqlite3_column_bytes(s, at)};
}

static int held_names_find(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct held_names_read *ask = u;
	MP_SQL_QUERY(q, "reading held names",
		     "SELECT public, server, name FROM held_names WHERE scope = ?1 AND is_earlier",
		     mp_sql_blob(ask->scope->bytes, sizeof(ask->scope->bytes)));
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr), n = 0;

	while (r == 0 && (r = mp_sql_step(s, q.doing, reterr)) > 0) {
		ask->fn(ask->u, get_column(s, 0), get_column(s, 1), get_column(s, 2));
		n++;
		r = 0;
	}
	return r < 0 ? r : n;
}

int mp_held_read(struct mp_db *db, const struct mp_held_scope *scope, mp_held_fn fn, void *u,
		 struct mcpool_error *reterr)
{
	struct held_names_read ask = {scope, fn, u};

	return mp_db_read(db, held_names_find, &ask, reterr);
}

/* --- writing --------------------------------------------------------------------------------- */

/* A row is three texts, each behind its length. */
int mp_held_add(struct mp_buf *rows, struct mp_str public_name, struct mp_str server,
		struct mp_str name)
{
	const struct mp_str parts[PARTS] = {public_name, server, name};
	size_t before = rows->len;
	int r = 0;

	for (int i = 0; i < PARTS && r == 0; i++) {
		r = mp_buf_add(rows, &parts[i].len, sizeof(parts[i].len));
		if (r == 0)
			r = mp_buf_add_str(rows, parts[i]);
	}
	if (r < 0)
		rows->len = before;
	return r;
}

struct note {
	struct mp_held_scope scope;
	struct mp_buf rows;
};

static const char *read_row(const char *at, struct mp_str parts[PARTS])
{
	for (int i = 0; i < PARTS; i++) {
		memcpy(&parts[i].len, at, sizeof(parts[i].len));
		parts[i].p = at + sizeof(parts[i].len);
		at = parts[i].p + parts[i].len;
	}
	return at;
}

static int keep_row(struct sqlite3 *sql, const struct note *note, const struct mp_str parts[PARTS],
		    struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "noting a held name",
		     "INSERT OR IGNORE INTO held_names (scope, public, server, name, is_earlier)"
		     " VALUES (?1, ?2, ?3, ?4, 0)",
		     mp_sql_blob(note->scope.bytes, sizeof(note->scope.bytes)),
		     mp_sql_blob(parts[0].p, parts[0].len), mp_sql_blob(parts[1].p, parts[1].len),
		     mp_sql_blob(parts[2].p, parts[2].len));

	return mp_sql_run(sql, &q, reterr);
}

/* A server that invents names pushes out its own and no others. */
static int sweep_own(struct sqlite3 *sql, const struct note *note, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping held names",
		     "DELETE FROM held_names WHERE n IN (SELECT n FROM (SELECT n, row_number()"
		     " OVER (PARTITION BY server ORDER BY n DESC) AS nth"
		     " FROM held_names WHERE scope = ?1) WHERE nth > ?2)",
		     mp_sql_blob(note->scope.bytes, sizeof(note->scope.bytes)),
		     mp_sql_int(MP_LIMIT_TOOLS));

	return mp_sql_run(sql, &q, reterr);
}

static int sweep_scopes(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping held names",
		     "DELETE FROM held_names WHERE scope IN (SELECT scope FROM held_names"
		     " GROUP BY scope ORDER BY max(n) DESC LIMIT -1 OFFSET ?1)",
		     mp_sql_int(MP_LIMIT_HELD_SCOPES));

	return mp_sql_run(sql, &q, reterr);
}

static int held_names_keep(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct note *note = u;
	const char *at = note->rows.data, *end = at + note->rows.len;
	int r = 0, changed = 0;

	while (at < end && r >= 0) {
		struct mp_str parts[PARTS] = {{0}};

		at = read_row(at, parts);
		r = keep_row(sql, note, parts, reterr);
		changed += r > 0;
	}
	if (r >= 0 && changed)
		r = sweep_own(sql, note, reterr);
	return r < 0 || !changed ? r : sweep_scopes(sql, reterr);
}

static void forget_note(int result, void *u)
{
	struct note *note = u;

	(void)result;
	mp_buf_done(&note->rows);
	mp_free(note);
}

void mp_held_write(struct mp_db *db, const struct mp_held_scope *scope, struct mp_buf *rows)
{
	struct note *note = mp_alloc(sizeof(*note));

	*note = (struct note){.scope = *scope, .rows = *rows};
	mp_buf_init(rows, rows->ceiling);
	if (mp_db_write_later(db, held_names_keep, forget_note, note) < 0)
		forget_note(0, note);
}

static int begin_run(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"beginning a run",
				       "UPDATE held_names SET is_earlier = 1 WHERE NOT is_earlier",
				       NULL, 0};

	(void)u;
	return mp_sql_run(sql, &q, reterr);
}

void mp_held_begin_run(struct mp_db *db)
{
	/* Where it fails, names of the last run count one run later. */
	(void)!mp_db_write_later(db, begin_run, NULL, NULL);
}
