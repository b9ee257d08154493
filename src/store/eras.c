/*
 * eras.c - which era a server turned out to speak, kept for a day per launch key.
 * A help against asking again, nothing more: whatever goes wrong here is "unknown".
 */
#include "store/eras.h"

#include "base/limits.h"
#include "base/mem.h"
#include "store/sql.h"

#define DAY_MS ((int64_t)24 * 3600 * 1000)

struct note {
	int64_t wall_ms;
	enum mp_era era;
	size_t key_len;
	char key[];
};

struct eras_read {
	struct mp_str key;
	int64_t wall_ms;
};

/* A row valid for longer than a day was written before the clock was set back. */
static int find(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct eras_read *ask = u;
	MP_SQL_QUERY(q, "looking up an era",
		     "SELECT era FROM eras"
		     " WHERE launch_key = ?1 AND expires_ms > ?2 AND expires_ms <= ?3",
		     mp_sql_blob(ask->key.p, ask->key.len), mp_sql_int(ask->wall_ms),
		     mp_sql_int(ask->wall_ms + DAY_MS));
	int64_t era = 0;
	int r = mp_sql_get(sql, &q, &era, reterr);

	if (r <= 0)
		return r;
	return era == MP_ERA_LEGACY || era == MP_ERA_MODERN ? (int)era : 0;
}

enum mp_era mp_eras_get(struct mp_db *db, struct mp_str launch_key, int64_t wall_ms)
{
	struct eras_read ask = {launch_key, wall_ms};
	int r = db ? mp_db_read(db, find, &ask, NULL) : 0;

	return r > 0 ? (enum mp_era)r : MP_ERA_BOTH;
}

static int sweep(struct sqlite3 *sql, const struct note *note, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping eras",
		     "DELETE FROM eras"
		     " WHERE expires_ms <= ?1 OR expires_ms > ?2 OR launch_key = ?3",
		     mp_sql_int(note->wall_ms), mp_sql_int(note->wall_ms + DAY_MS),
		     mp_sql_blob(note->key, note->key_len));

	return mp_sql_run(sql, &q, reterr);
}

static int eras_keep(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct note *note = u;
	MP_SQL_QUERY(q, "noting an era",
		     "INSERT INTO eras SELECT ?1, ?2, ?3 WHERE (SELECT count(*) FROM eras) < ?4",
		     mp_sql_blob(note->key, note->key_len), mp_sql_int(note->era),
		     mp_sql_int(note->wall_ms + DAY_MS), mp_sql_int(MP_LIMIT_ERAS));
	int r = sweep(sql, note, reterr);

	if (r < 0 || note->era == MP_ERA_BOTH)
		return r;
	return mp_sql_run(sql, &q, reterr);
}

static void forget_note(int result, void *u)
{
	(void)result;
	mp_free(u);
}

void mp_eras_set(struct mp_db *db, struct mp_str launch_key, enum mp_era era, int64_t wall_ms)
{
	struct note *note = db ? mp_try_alloc(sizeof(*note) + launch_key.len) : NULL;

	if (!note)
		return;
	*note = (struct note){.wall_ms = wall_ms, .era = era, .key_len = launch_key.len};
	if (launch_key.len)
		memcpy(note->key, launch_key.p, launch_key.len);
	if (mp_db_write_later(db, eras_keep, forget_note, note) < 0)
		mp_free(note);
}
