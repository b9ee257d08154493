/*
 * stored_catalog.c - the stored catalog of a server, as last seen.
 * Any failure here means "unknown". A row is valid if its digest matches, which also covers name
 * and launch key: a row moved under other credentials is invalid.
 */
#include "store/stored_catalog.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "store/digest.h"
#include "store/sql.h"

/* Of server and lists, and of what the digest covers; counted up when either changes. */
enum { FORMAT = 1 };
enum { TEXTS = 1 + MP_STORED_CATALOG_LISTS }; /* the server's, and the lists */

#define DAY_MS  ((int64_t)24 * 3600 * 1000)
#define LIFE_MS (30 * DAY_MS)
/*
 * Others write as well, and our `now` is that of a turn: this much ahead does not mean that the
 * clock was set back.
 */
#define AHEAD_MS MP_SECONDS(60)

/* --- what fits ------------------------------------------------------------------------------ */

static struct mp_str get_text(const struct mp_stored_catalog *d, int i)
{
	return i == 0 ? d->server : d->lists[i - 1];
}

static size_t get_size(const struct mp_stored_catalog *d)
{
	size_t size = 0;

	for (int i = 0; i < TEXTS; i++)
		size += get_text(d, i).len;
	return size;
}

/* An item of a list is an object, and takes two bytes at the least. */
static bool stored_catalog_fits(const struct mp_stored_catalog *d)
{
	for (int i = 0; i < TEXTS; i++)
		if (get_text(d, i).len > MP_LIMIT_DEFINITION)
			return false;
	for (int i = 0; i < MP_STORED_CATALOG_LISTS; i++)
		if (d->counts[i] > d->lists[i].len / 2)
			return false;
	return get_size(d) <= MP_LIMIT_DEFINITION;
}

static void stored_catalog_digest(const struct mp_stored_catalog_key *key,
				  const struct mp_stored_catalog *d,
				  unsigned char out[MP_DIGEST_SIZE])
{
	struct mp_digest *all = mp_digest_new();
	char room[MP_STR_DIGITS];

	mp_digest_add(all, mp_str_from_u64(FORMAT, room));
	mp_digest_add(all, mp_str_of(key->name));
	mp_digest_add(all, key->launch_key);
	for (int i = 0; i < TEXTS; i++)
		mp_digest_add(all, get_text(d, i));
	for (int i = 0; i < MP_STORED_CATALOG_LISTS; i++)
		mp_digest_add(all, mp_str_from_u64(d->counts[i], room));
	mp_digest_finish(all, out);
}

/* --- reading -------------------------------------------------------------------------------- */

struct catalog_read {
	const struct mp_stored_catalog_key *key;
	int64_t wall_ms;
	struct mp_stored_catalog *ret;
};

#define SELECT_CATALOG(more)                                                   \
	"SELECT saved_ms, size, n_tools, n_prompts, n_resources, n_templates," \
	" length(server), length(tools), length(prompts), length(resources),"  \
	" length(templates)" more " FROM definitions"                          \
	" WHERE name = ?1 AND launch_key = ?2 AND format = ?3"                 \
	" AND saved_ms > ?4 AND saved_ms <= ?5"
enum {
	SAVED,
	SIZE,
	COUNTS,
	LENGTHS = COUNTS + MP_STORED_CATALOG_LISTS,
	DIGEST = LENGTHS + TEXTS,
	BYTES
};

static int ask_for(struct sqlite3 *sql, const struct catalog_read *ask, const char *text,
		   struct sqlite3_stmt **ret_s, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "looking up a server's catalog", text, mp_sql_text(ask->key->name),
		     mp_sql_blob(ask->key->launch_key.p, ask->key->launch_key.len),
		     mp_sql_int(FORMAT), mp_sql_int(ask->wall_ms - LIFE_MS),
		     mp_sql_int(ask->wall_ms + AHEAD_MS));
	int r = mp_sql_prepare(sql, &q, ret_s, reterr);

	return r < 0 ? r : mp_sql_step(*ret_s, q.doing, reterr);
}

/* A negative number becomes one that fits nothing. */
static size_t column_size(struct sqlite3_stmt *s, int at)
{
	return (size_t)sqlite3_column_int64(s, at);
}

/* All but the texts, whose lengths are there and whose bytes are not. Do they fit? */
static bool read_numbers(struct sqlite3_stmt *s, int64_t wall_ms, struct mp_stored_catalog *d)
{
	int64_t saved_ms = sqlite3_column_int64(s, SAVED);

	d->saved_ms = saved_ms < wall_ms ? saved_ms : wall_ms;
	d->server.len = column_size(s, LENGTHS);
	for (int i = 0; i < MP_STORED_CATALOG_LISTS; i++) {
		d->counts[i] = column_size(s, COUNTS + i);
		d->lists[i].len = column_size(s, LENGTHS + 1 + i);
	}
	return stored_catalog_fits(d) && column_size(s, SIZE) == get_size(d);
}

/* The bytes of one column behind `at`; NULL where they are not as many as was said. */
static char *copy_text(struct sqlite3_stmt *s, int column, struct mp_str *text, char *at)
{
	const void *bytes = sqlite3_column_blob(s, column);

	if ((size_t)sqlite3_column_bytes(s, column) != text->len)
		return NULL;
	if (text->len)
		memcpy(at, bytes, text->len);
	text->p = at;
	return at + text->len;
}

static bool read_texts(struct sqlite3_stmt *s, struct mp_stored_catalog *d)
{
	char *at = d->text = mp_try_alloc(get_size(d) + 1);

	if (at)
		at = copy_text(s, BYTES, &d->server, at);
	for (int i = 0; at && i < MP_STORED_CATALOG_LISTS; i++)
		at = copy_text(s, BYTES + 1 + i, &d->lists[i], at);
	return at;
}

static bool is_genuine(struct sqlite3_stmt *s, const struct mp_stored_catalog_key *key,
		       const struct mp_stored_catalog *d)
{
	const void *said = sqlite3_column_blob(s, DIGEST);
	unsigned char found[MP_DIGEST_SIZE];

	if (!said || sqlite3_column_bytes(s, DIGEST) != MP_DIGEST_SIZE)
		return false;
	stored_catalog_digest(key, d, found);
	return memcmp(found, said, sizeof(found)) == 0;
}

static int stored_catalog_find(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct catalog_read *ask = u;
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = ask_for(sql, ask,
			SELECT_CATALOG(", digest, server, tools, prompts, resources, templates"),
			&s, reterr);

	if (r <= 0)
		return r;
	return read_numbers(s, ask->wall_ms, ask->ret) && read_texts(s, ask->ret) &&
	       is_genuine(s, ask->key, ask->ret);
}

static int stored_catalog_look(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct catalog_read *ask = u;
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	struct mp_stored_catalog found = {0};
	int r = ask_for(sql, ask, SELECT_CATALOG(""), &s, reterr);

	if (r <= 0 || !read_numbers(s, ask->wall_ms, &found))
		return r < 0 ? r : 0;
	memcpy(ask->ret->counts, found.counts, sizeof(found.counts));
	ask->ret->tools_size = column_size(s, LENGTHS + 1);
	ask->ret->saved_ms = found.saved_ms;
	return 1;
}

static int read_with(struct mp_db *db, mp_db_fn fn, struct catalog_read *ask)
{
	*ask->ret = (struct mp_stored_catalog){0};
	if (db && mp_db_read(db, fn, ask, NULL) > 0)
		return 1;
	mp_stored_catalog_done(ask->ret);
	return 0;
}

int mp_stored_catalog_get(struct mp_db *db, const struct mp_stored_catalog_key *key,
			  int64_t wall_ms, struct mp_stored_catalog *ret)
{
	return read_with(db, stored_catalog_find, &(struct catalog_read){key, wall_ms, ret});
}

int mp_stored_catalog_peek(struct mp_db *db, const struct mp_stored_catalog_key *key,
			   int64_t wall_ms, struct mp_stored_catalog *ret)
{
	return read_with(db, stored_catalog_look, &(struct catalog_read){key, wall_ms, ret});
}

void mp_stored_catalog_done(struct mp_stored_catalog *d)
{
	mp_free(d->text);
	*d = (struct mp_stored_catalog){0};
}

/* --- writing -------------------------------------------------------------------------------- */

/* A catalog on its way to the writer's thread, in one block. */
struct note {
	struct mp_stored_catalog_key key;
	struct mp_stored_catalog d;
	int64_t wall_ms;
	char bytes[];
};

static struct mp_str stored_catalog_pack(char **at, struct mp_str s)
{
	struct mp_str packed = {*at, s.len};

	if (s.len)
		memcpy(*at, s.p, s.len);
	*at += s.len;
	return packed;
}

static struct note *note_new(const struct mp_stored_catalog_key *key,
			     const struct mp_stored_catalog *d, int64_t wall_ms)
{
	struct mp_str name = {key->name, strlen(key->name) + 1};
	struct note *note =
		mp_try_alloc(sizeof(*note) + name.len + key->launch_key.len + get_size(d));
	char *at;

	if (!note)
		return NULL;
	*note = (struct note){.wall_ms = wall_ms};
	at = note->bytes;
	note->key.name = stored_catalog_pack(&at, name).p;
	note->key.launch_key = stored_catalog_pack(&at, key->launch_key);
	note->d.server = stored_catalog_pack(&at, d->server);
	for (int i = 0; i < MP_STORED_CATALOG_LISTS; i++)
		note->d.lists[i] = stored_catalog_pack(&at, d->lists[i]);
	memcpy(note->d.counts, d->counts, sizeof(d->counts));
	return note;
}

static void forget_note(int result, void *u)
{
	(void)result;
	mp_free(u);
}

static void write_later(struct mp_db *db, mp_db_fn fn, struct note *note)
{
	if (note && mp_db_write_later(db, fn, forget_note, note) < 0)
		mp_free(note);
}

static struct mp_sql_value sql_str(struct mp_str s)
{
	return mp_sql_blob(s.p, s.len);
}

static int stored_catalog_sweep(struct sqlite3 *sql, int64_t wall_ms, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping catalogs",
		     "DELETE FROM definitions WHERE saved_ms <= ?1 OR saved_ms > ?2",
		     mp_sql_int(wall_ms - LIFE_MS), mp_sql_int(wall_ms + AHEAD_MS));

	return mp_sql_run(sql, &q, reterr);
}

/*
 * As many stay as may, and as have room. Those of the server that has most go first, and of these
 * the oldest: one server with many credentials or large lists pushes out its own and no others.
 */
static int stored_catalog_trim(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	MP_SQL_QUERY(q, "sweeping catalogs",
		     "DELETE FROM definitions WHERE n IN (SELECT n FROM (SELECT n,"
		     " sum(size) OVER (ORDER BY own, saved_ms DESC, n DESC) AS bytes,"
		     " row_number() OVER (ORDER BY nth, saved_ms DESC, n DESC) AS rows"
		     " FROM (SELECT n, size, saved_ms, sum(size) OVER newest AS own,"
		     " row_number() OVER newest AS nth FROM definitions WINDOW newest AS"
		     " (PARTITION BY name ORDER BY saved_ms DESC, n DESC)))"
		     " WHERE rows > ?1 OR bytes > ?2)",
		     mp_sql_int(MP_LIMIT_DEFINITIONS), mp_sql_int(MP_LIMIT_DEFINITIONS_ALL));

	return mp_sql_run(sql, &q, reterr);
}

/* In the order of both statements below; ms is what they say about time. */
enum { COLUMNS = 6 + MP_STORED_CATALOG_LISTS + TEXTS };
static void bind_row(const struct note *note, int64_t ms, const unsigned char *sum,
		     struct mp_sql_value out[COLUMNS])
{
	*out++ = mp_sql_text(note->key.name);
	*out++ = sql_str(note->key.launch_key);
	*out++ = mp_sql_int(FORMAT);
	*out++ = mp_sql_int(ms);
	*out++ = mp_sql_blob(sum, MP_DIGEST_SIZE);
	*out++ = mp_sql_int((int64_t)get_size(&note->d));
	for (int i = 0; i < MP_STORED_CATALOG_LISTS; i++)
		*out++ = mp_sql_int((int64_t)note->d.counts[i]);
	for (int i = 0; i < TEXTS; i++)
		*out++ = sql_str(get_text(&note->d, i));
}

/* Compared by content: a row whose texts are broken has the right digest, and is to be replaced. */
static int is_fresh(struct sqlite3 *sql, const struct note *note, const unsigned char *sum,
		    struct mcpool_error *reterr)
{
	struct mp_sql_value row[COLUMNS];
	const struct mp_sql_query q = {
		"comparing catalogs",
		"SELECT 1 FROM definitions"
		" WHERE name = ?1 AND launch_key = ?2 AND format = ?3 AND saved_ms > ?4"
		" AND digest = ?5 AND size = ?6 AND n_tools = ?7 AND n_prompts = ?8"
		" AND n_resources = ?9 AND n_templates = ?10 AND server = ?11 AND tools = ?12"
		" AND prompts = ?13 AND resources = ?14 AND templates = ?15",
		row, COLUMNS};
	int64_t one;

	bind_row(note, note->wall_ms - DAY_MS, sum, row);
	return mp_sql_get(sql, &q, &one, reterr);
}

static int stored_catalog_insert(struct sqlite3 *sql, const struct note *note,
				 const unsigned char *sum, struct mcpool_error *reterr)
{
	struct mp_sql_value row[COLUMNS];
	const struct mp_sql_query q = {
		"keeping a catalog",
		"INSERT OR REPLACE INTO definitions (name, launch_key, format, saved_ms,"
		" digest, size, n_tools, n_prompts, n_resources, n_templates,"
		" server, tools, prompts, resources, templates)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
		row, COLUMNS};

	bind_row(note, note->wall_ms, sum, row);
	return mp_sql_run(sql, &q, reterr);
}

static int stored_catalog_keep(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct note *note = u;
	unsigned char sum[MP_DIGEST_SIZE];
	int r = stored_catalog_sweep(sql, note->wall_ms, reterr);

	if (r < 0)
		return r;
	stored_catalog_digest(&note->key, &note->d, sum);
	r = is_fresh(sql, note, sum, reterr);
	if (r == 0)
		r = stored_catalog_insert(sql, note, sum, reterr);
	return r < 0 ? r : stored_catalog_trim(sql, reterr);
}

static int remove_row(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	const struct note *note = u;
	MP_SQL_QUERY(q, "forgetting a catalog",
		     "DELETE FROM definitions WHERE name = ?1 AND launch_key = ?2",
		     mp_sql_text(note->key.name), sql_str(note->key.launch_key));

	return mp_sql_run(sql, &q, reterr);
}

/* What cannot be kept still makes untrue what is there. */
void mp_stored_catalog_put(struct mp_db *db, const struct mp_stored_catalog_key *key,
			   const struct mp_stored_catalog *d, int64_t wall_ms)
{
	if (!stored_catalog_fits(d))
		mp_stored_catalog_forget(db, key);
	else if (db)
		write_later(db, stored_catalog_keep, note_new(key, d, wall_ms));
}

void mp_stored_catalog_forget(struct mp_db *db, const struct mp_stored_catalog_key *key)
{
	if (db)
		write_later(db, remove_row, note_new(key, &(struct mp_stored_catalog){0}, 0));
}
