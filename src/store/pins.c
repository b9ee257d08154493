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

struct pins_read {
	const struct mp_pins_owner *owner;
	mp_pins_fn fn;
	void *u;
};

static void hand_on(const struct pins_read *ask, struct sqlite3_stmt *s)
{
	struct mp_str tool = {(const char *)sqlite3_column_blob(s, 0),
			      (size_t)sqlite3_column_bytes(s, 0)};

	if (sqlite3_column_bytes(s, 1) == MP_PIN_SIZE)
		ask->fn(ask->u, tool, sqlite3_column_blob(s, 1));
}

static int pins_find(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct pins_read *ask = u;
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
	struct pins_read ask = {owner, fn, u};

	return mp_db_read(db, pins_find, &ask, reterr);
}

/* --- writing --------------------------------------------------------------------------------- */

void mp_pins_batch_init(struct mp_pins_batch *b)
{
	mp_buf_init(&b->rows, MP_MIB(16));
	mp_buf_init(&b->used, MP_MIB(64));
}

void mp_pins_batch_done(struct mp_pins_batch *b)
{
	mp_buf_done(&b->rows);
	mp_buf_done(&b->used);
}

int mp_pins_batch_use(struct mp_pins_batch *b, const struct mp_pins_owner *owner)
{
	return mp_buf_add(&b->used, owner->bytes, sizeof(owner->bytes));
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
	struct mp_buf rows, used;
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

/* A server that invents names pushes out its own pins and no others (V38). */
static int sweep_own(struct sqlite3 *sql, const struct note *note, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping pins",
		     "DELETE FROM pins WHERE n IN (SELECT n FROM pins WHERE owner = ?1"
		     " ORDER BY n DESC LIMIT -1 OFFSET ?2)",
		     mp_sql_blob(note->owner.bytes, sizeof(note->owner.bytes)),
		     mp_sql_int(MP_LIMIT_PINS));

	return mp_sql_run(sql, &q, reterr);
}

static int delete_owner(struct sqlite3 *sql, const void *owner, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "forgetting pins", "DELETE FROM pins WHERE owner = ?1",
		     mp_sql_blob(owner, MP_DIGEST_SIZE));

	return mp_sql_run(sql, &q, reterr);
}

static int add_approved(struct sqlite3 *sql, struct mp_buf *used, struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"sweeping pins", "SELECT name, id FROM approvals", NULL, 0};
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	struct mp_pins_owner owner;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	while (r == 0 && (r = mp_sql_step(s, q.doing, reterr)) > 0) {
		mp_pins_name_owner((const char *)sqlite3_column_text(s, 0),
				   sqlite3_column_blob(s, 1), (size_t)sqlite3_column_bytes(s, 1),
				   &owner);
		r = mp_buf_add(used, owner.bytes, sizeof(owner.bytes));
	}
	return r;
}

static bool is_used(const struct mp_buf *used, const void *owner)
{
	for (size_t at = 0; at < used->len; at += MP_DIGEST_SIZE)
		if (memcmp(used->data + at, owner, MP_DIGEST_SIZE) == 0)
			return true;
	return false;
}

/* Configurations that were edited or deleted long ago must not fill the disk. */
static int sweep_owners(struct sqlite3 *sql, struct note *note, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping pins",
		     "SELECT owner FROM pins GROUP BY owner ORDER BY max(n) DESC"
		     " LIMIT -1 OFFSET ?1",
		     mp_sql_int(MP_LIMIT_PIN_OWNERS));
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);
	bool is_complete = false;

	if (note->used.len == 0)
		return r; /* what is in use is not known */
	while (r == 0 && (r = mp_sql_step(s, q.doing, reterr)) > 0) {
		const void *owner = sqlite3_column_blob(s, 0);

		r = is_complete ? 0 : add_approved(sql, &note->used, reterr);
		is_complete = true;
		if (r == 0 && !is_used(&note->used, owner))
			r = delete_owner(sql, owner, reterr);
		r = r < 0 ? r : 0;
	}
	return r;
}

static int has_any(struct sqlite3 *sql, const struct note *note, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "looking for pins", "SELECT 1 FROM pins WHERE owner = ?1 LIMIT 1",
		     mp_sql_blob(note->owner.bytes, sizeof(note->owner.bytes)));
	int64_t one;

	return mp_sql_get(sql, &q, &one, reterr);
}

static int pins_keep(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	struct note *note = u;
	const char *at = note->rows.data, *end = at + note->rows.len;
	int r = has_any(sql, note, reterr);
	bool is_new = r == 0;

	while (at < end && r >= 0) {
		struct mp_str tool = {at + sizeof(tool.len), 0};

		memcpy(&tool.len, at, sizeof(tool.len));
		r = keep_row(sql, note, tool, tool.p + tool.len, reterr);
		at = tool.p + tool.len + MP_PIN_SIZE;
	}
	if (r >= 0)
		r = sweep_own(sql, note, reterr);
	return r < 0 || !is_new ? r : sweep_owners(sql, note, reterr);
}

static void forget_note(int result, void *u)
{
	struct note *note = u;

	(void)result;
	mp_buf_done(&note->rows);
	mp_buf_done(&note->used);
	mp_free(note);
}

void mp_pins_write(struct mp_db *db, const struct mp_pins_owner *owner, struct mp_pins_batch *b)
{
	struct note *note;

	if (b->rows.len == 0)
		return;
	note = mp_alloc(sizeof(*note));
	*note = (struct note){.owner = *owner, .rows = b->rows, .used = b->used};
	mp_pins_batch_init(b);
	if (mp_db_write_later(db, pins_keep, forget_note, note) < 0)
		forget_note(0, note);
}

static int forget(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct mp_pins_owner *owner = u;

	return delete_owner(sql, owner->bytes, reterr);
}

int mp_pins_forget(struct mp_db *db, const struct mp_pins_owner *owner, struct mcpool_error *reterr)
{
	struct mp_pins_owner copy = *owner;

	return mp_db_write(db, forget, &copy, reterr);
}
