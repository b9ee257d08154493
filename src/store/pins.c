/*
 * pins.c - how a server's tools looked when they were first seen, or accepted.
 */
#include "store/pins.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/sql.h"

void mp_pins_name_owner(const char *server, const void *approval_id, size_t n,
			struct mp_pins_owner *ret)
{
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, mp_str_of(server));
	mp_digest_add(d, (struct mp_str){approval_id, n});
	mp_digest_finish(d, ret->bytes);
}

/* --- reading --------------------------------------------------------------------------------- */

struct question {
	const struct mp_pins_owner *owner;
	mp_pins_fn fn;
	void *u;
};

static void hand_on(const struct question *ask, struct sqlite3_stmt *s)
{
	struct mp_str tool = {(const char *)sqlite3_column_blob(s, 0),
			      (size_t)sqlite3_column_bytes(s, 0)};

	if (sqlite3_column_bytes(s, 1) == MP_PIN_SIZE)
		ask->fn(ask->u, tool, sqlite3_column_blob(s, 1));
}

static int find(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct question *ask = u;
	MP_SQL_QUERY(q, "reading the pins of tools", "SELECT tool, pin FROM pins WHERE owner = ?1",
		     mp_sql_blob(ask->owner->bytes, sizeof(ask->owner->bytes)));
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr), n = 0;

	while (r == 0 && (r = mp_sql_step(s, q.doing, reterr)) > 0) {
		hand_on(ask, s);
		n++;
		r = 0;
	}
	return r < 0 ? r : n;
}

int mp_pins_read(struct mp_db *db, const struct mp_pins_owner *owner, mp_pins_fn fn, void *u,
		 struct mcpool_error *reterr)
{
	struct question ask = {owner, fn, u};

	return mp_db_read(db, find, &ask, reterr);
}

/* --- writing --------------------------------------------------------------------------------- */

void mp_pins_batch_init(struct mp_pins_batch *b)
{
	mp_buf_init(&b->rows, MP_MIB(16));
}

void mp_pins_batch_done(struct mp_pins_batch *b)
{
	mp_buf_done(&b->rows);
}

/* A row is the length of the name, the name, and the pin. */
int mp_pins_batch_add(struct mp_pins_batch *b, struct mp_str tool,
		      const unsigned char pin[MP_PIN_SIZE])
{
	size_t before = b->rows.len;
	int r = mp_buf_add(&b->rows, &tool.len, sizeof(tool.len));

	if (r == 0)
		r = mp_buf_add_str(&b->rows, tool);
	if (r == 0)
		r = mp_buf_add(&b->rows, pin, MP_PIN_SIZE);
	if (r < 0)
		b->rows.len = before;
	return r;
}

struct note {
	struct mp_pins_owner owner;
	struct mp_buf rows;
};

static int keep_row(struct sqlite3 *sql, const struct note *note, struct mp_str tool,
		    const char *pin, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "pinning a tool",
		     "INSERT OR REPLACE INTO pins (owner, tool, pin) VALUES (?1, ?2, ?3)",
		     mp_sql_blob(note->owner.bytes, sizeof(note->owner.bytes)),
		     mp_sql_blob(tool.p, tool.len), mp_sql_blob(pin, MP_PIN_SIZE));

	return mp_sql_run(sql, &q, reterr);
}

/* What was pinned long ago and never looked at again must not fill the disk. */
static int sweep(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping pins",
		     "DELETE FROM pins WHERE n <= (SELECT max(n) FROM pins) - ?1",
		     mp_sql_int(MP_LIMIT_PINS));

	return mp_sql_run(sql, &q, reterr);
}

static int keep(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct note *note = u;
	const char *at = note->rows.data, *end = at + note->rows.len;
	int r = 0;

	while (at < end && r >= 0) {
		struct mp_str tool = {at + sizeof(tool.len), 0};

		memcpy(&tool.len, at, sizeof(tool.len));
		r = keep_row(sql, note, tool, tool.p + tool.len, reterr);
		at = tool.p + tool.len + MP_PIN_SIZE;
	}
	return r < 0 ? r : sweep(sql, reterr);
}

static void forget_note(int result, void *u)
{
	struct note *note = u;

	(void)result;
	mp_buf_done(&note->rows);
	mp_free(note);
}

void mp_pins_write(struct mp_db *db, const struct mp_pins_owner *owner, struct mp_pins_batch *b)
{
	struct note *note;

	if (b->rows.len == 0)
		return;
	note = mp_alloc(sizeof(*note));
	*note = (struct note){.owner = *owner, .rows = b->rows};
	mp_pins_batch_init(b);
	if (mp_db_write_later(db, keep, forget_note, note) < 0)
		forget_note(0, note);
}

static int forget(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_pins_owner *owner = u;
	MP_SQL_QUERY(q, "forgetting pins", "DELETE FROM pins WHERE owner = ?1",
		     mp_sql_blob(owner->bytes, sizeof(owner->bytes)));

	return mp_sql_run(sql, &q, reterr);
}

int mp_pins_forget(struct mp_db *db, const struct mp_pins_owner *owner, struct mcpool_error *reterr)
{
	struct mp_pins_owner copy = *owner;

	return mp_db_write(db, forget, &copy, reterr);
}
