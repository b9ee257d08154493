/*
 * schema.c - the tables of mcpool.db, and the migrations of older files.
 * Several processes may find the same old file: the one with the write lock checks again.
 */
#include "store/schema.h"

#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/local_key.h"
#include "store/sealed.h"
#include "store/sql.h"

/* "mcpl" in the file's header, so that another program's database is never taken for ours. */
#define APPLICATION_ID 0x6d63706c

/* A step that was ever released is never changed: what is new comes as another one. */
static const char *const steps[] = {
	"CREATE TABLE approvals ("
	" n INTEGER PRIMARY KEY," /* counts up: of two in the same millisecond the later wins */
	" id BLOB NOT NULL UNIQUE CHECK (length(id) = 32),"
	" name TEXT NOT NULL,"
	" file TEXT NOT NULL,"
	" root TEXT NOT NULL,"
	" content TEXT NOT NULL,"
	" scripts TEXT NOT NULL,"
	" how TEXT NOT NULL,"
	" approved_ms INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX approvals_by_place ON approvals (file, name);"
	"CREATE TABLE trusted_files ("
	" path TEXT NOT NULL PRIMARY KEY,"
	" since_ms INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE sights ("
	" n INTEGER PRIMARY KEY,"
	" id BLOB NOT NULL UNIQUE CHECK (length(id) = 32),"
	" first_ms INTEGER NOT NULL"
	") STRICT;"
	"CREATE TABLE eras ("
	" launch_key BLOB NOT NULL PRIMARY KEY,"
	" era INTEGER NOT NULL,"
	" expires_ms INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX eras_by_time ON eras (expires_ms);",

	/* What is small comes first: a look at the counts reads none of the texts' pages. */
	"CREATE TABLE definitions ("
	" n INTEGER PRIMARY KEY,"
	" name TEXT NOT NULL,"
	" launch_key BLOB NOT NULL,"
	" format INTEGER NOT NULL,"
	" saved_ms INTEGER NOT NULL,"
	" size INTEGER NOT NULL," /* of all texts */
	" n_tools INTEGER NOT NULL,"
	" n_prompts INTEGER NOT NULL,"
	" n_resources INTEGER NOT NULL,"
	" n_templates INTEGER NOT NULL,"
	" digest BLOB NOT NULL CHECK (length(digest) = 32),"
	" server BLOB NOT NULL,"
	" tools BLOB NOT NULL,"
	" prompts BLOB NOT NULL,"
	" resources BLOB NOT NULL,"
	" templates BLOB NOT NULL,"
	" UNIQUE (name, launch_key)"
	") STRICT;"
	"CREATE INDEX definitions_by_time ON definitions (saved_ms, n, size);",

	/* owner: whose tools; pin: digests of what agents act upon. */
	"CREATE TABLE pins ("
	" n INTEGER PRIMARY KEY,"
	" owner BLOB NOT NULL CHECK (length(owner) = 32),"
	" tool BLOB NOT NULL,"
	" pin BLOB NOT NULL,"
	" UNIQUE (owner, tool)"
	") STRICT;",

	/* Literal secrets of approved entries become keyed hashes. */
	"UPDATE approvals SET content = mcpool_seal(content);",

	/* Public names that a tool had for itself alone; scope: a workspace, a style, a kind. */
	"CREATE TABLE held_names ("
	" n INTEGER PRIMARY KEY,"
	" scope BLOB NOT NULL CHECK (length(scope) = 32),"
	" public BLOB NOT NULL,"
	" server BLOB NOT NULL,"
	" name BLOB NOT NULL,"
	" is_earlier INTEGER NOT NULL," /* of a run before the present one */
	" UNIQUE (scope, public, server, name)"
	") STRICT;",

	/* Approved servers of a file, as it was when it could be read; content is encrypted. */
	"CREATE TABLE last_good ("
	" file TEXT NOT NULL PRIMARY KEY,"
	" digest BLOB NOT NULL CHECK (length(digest) = 32),"
	" content BLOB NOT NULL,"
	" saved_ms INTEGER NOT NULL"
	") STRICT;",

	/* Named tokens of the HTTP face. A removed one's n is not used again. */
	"CREATE TABLE tokens ("
	" n INTEGER PRIMARY KEY AUTOINCREMENT,"
	" name TEXT NOT NULL UNIQUE,"
	" digest BLOB NOT NULL UNIQUE CHECK (length(digest) = 32),"
	" servers TEXT NOT NULL,"
	" tools TEXT NOT NULL,"
	" created_ms INTEGER NOT NULL,"
	" expires_ms INTEGER NOT NULL,"
	" used_ms INTEGER NOT NULL"
	") STRICT;",

	/* Calls that ended. calls_size: the sum of their sizes, in one row. */
	"CREATE TABLE calls ("
	" n INTEGER PRIMARY KEY AUTOINCREMENT,"
	" time_ms INTEGER NOT NULL,"
	" session INTEGER NOT NULL,"
	" client TEXT NOT NULL,"
	" principal TEXT NOT NULL,"
	" project TEXT NOT NULL,"
	" server TEXT NOT NULL,"
	" method TEXT NOT NULL,"
	" tool TEXT NOT NULL,"
	" outcome TEXT NOT NULL,"
	" code TEXT,"
	" args TEXT,"
	" took_us INTEGER NOT NULL,"
	" queue_us INTEGER NOT NULL,"
	" bytes_in INTEGER NOT NULL,"
	" bytes_out INTEGER NOT NULL,"
	" args_hash INTEGER NOT NULL,"
	" size INTEGER NOT NULL"
	") STRICT;"
	"CREATE TABLE calls_size (bytes INTEGER NOT NULL) STRICT;"
	"INSERT INTO calls_size VALUES (0);",
};

const struct mp_schema mp_schema_present = {steps, (int)MP_ARRAY_LEN(steps)};

/* mcpool_seal(TEXT): a text that is not JSON is replaced, because it cannot be searched. */
static void schema_seal(sqlite3_context *c, int n, sqlite3_value **values)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	const char *text = (const char *)sqlite3_value_text(values[0]);
	unsigned char key[MP_LOCAL_KEY_SIZE];
	struct mcpool_error why = {0};
	int r = mp_local_key_get_beside(sqlite3_db_filename(sqlite3_context_db_handle(c), "main"),
					key, &why);

	(void)n;
	mp_buf_init(&out, MP_LIMIT_DB_VALUE);
	if (r == 0)
		r = mp_sealed_add(mp_str_of(text ? text : ""), key, &out);
	mp_wipe(key, sizeof(key));
	if (r == MCPOOL_ENOMEM)
		sqlite3_result_error_nomem(c);
	else if (why.code < 0)
		sqlite3_result_error(c, why.message, -1);
	else if (r < 0)
		sqlite3_result_text(c, "{}", 2, SQLITE_STATIC);
	else
		sqlite3_result_text(c, out.data, (int)out.len, SQLITE_TRANSIENT);
}

static int add_functions(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	int r = sqlite3_create_function(sql, "mcpool_seal", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
					NULL, schema_seal, NULL, NULL);

	return r == SQLITE_OK ? 0
			      : mp_fail(reterr, r == SQLITE_NOMEM ? MCPOOL_ENOMEM : MCPOOL_EIO,
					"bringing it up to date failed: %s", sqlite3_errstr(r));
}

/* One statement sees one state of the file, whatever others commit meanwhile. */
static int look_at(struct sqlite3 *sql, int64_t ret_numbers[3], struct mcpool_error *reterr)
{
	const struct mp_sql_query q = {"reading its version",
				       "SELECT count(*),"
				       " (SELECT user_version FROM pragma_user_version),"
				       " (SELECT application_id FROM pragma_application_id)"
				       " FROM sqlite_schema",
				       NULL, 0};
	MP_CLEANUP(mp_sql_finalizep) struct sqlite3_stmt *s = NULL;
	int r = mp_sql_prepare(sql, &q, &s, reterr);

	if (r == 0)
		r = mp_sql_step(s, q.doing, reterr);
	if (r < 0)
		return r;
	for (int i = 0; i < 3; i++)
		ret_numbers[i] = sqlite3_column_int64(s, i);
	return 0;
}

int mp_schema_check(struct sqlite3 *sql, const struct mp_schema *schema,
		    struct mcpool_error *reterr)
{
	const char *file = sqlite3_db_filename(sql, "main");
	int64_t numbers[3], tables, version, application;
	int r = look_at(sql, numbers, reterr);

	if (r < 0)
		return r;
	tables = numbers[0];
	version = numbers[1];
	application = numbers[2];
	if (application != APPLICATION_ID && (version || application || tables))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "%s is another program's database and was not touched; move it away",
			       file);
	if (version > schema->n || version < 0)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "%s was written by a newer mcpool: its version is %lld, this mcpool "
			       "knows %d; update mcpool",
			       file, (long long)version, schema->n);
	return (int)version;
}

static int take_step(struct sqlite3 *sql, const struct mp_schema *schema, int version,
		     struct mcpool_error *reterr)
{
	char mark[100];
	int r = mp_sql_exec(sql, "bringing it up to date", schema->steps[version], reterr);

	if (r < 0)
		return r;
	snprintf(mark, sizeof(mark), "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
		 APPLICATION_ID, version + 1);
	return mp_sql_exec(sql, "bringing it up to date", mark, reterr);
}

/* One step; the version behind it. */
static int go_on(struct sqlite3 *sql, const struct mp_schema *schema, struct mcpool_error *reterr)
{
	int r, version;

	r = mp_sql_exec(sql, "bringing it up to date", "BEGIN IMMEDIATE", reterr);
	if (r < 0)
		return r;
	version = mp_schema_check(sql, schema, reterr); /* others may have been faster */
	r = version;
	if (version >= 0 && version < schema->n) {
		r = take_step(sql, schema, version, reterr);
		if (r == 0)
			return version + 1;
	}
	if (!sqlite3_get_autocommit(sql))
		(void)sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL); /* the failure is known */
	return r;
}

/*
 * The switch needs exclusive access for a moment, and SQLite does not always wait for that. Without
 * shared memory on the file system SQLite answers with another mode, which works too.
 */
static int use_log(struct sqlite3 *sql, struct mcpool_error *reterr)
{
	const struct timespec nap = {0, 10 * 1000000L};
	int r;

	for (int tries = 0; tries < 500; tries++) {
		r = mp_sql_exec(sql, "switching to a write-ahead log", "PRAGMA journal_mode=WAL",
				reterr);
		if (r != MCPOOL_EAGAIN)
			break;
		nanosleep(&nap, NULL);
	}
	return r;
}

int mp_schema_update(struct sqlite3 *sql, const struct mp_schema *schema,
		     struct mcpool_error *reterr)
{
	int version = mp_schema_check(sql, schema, reterr), r;

	if (version < 0)
		return version;
	r = use_log(sql, reterr);
	if (r >= 0 && version < schema->n)
		r = add_functions(sql, reterr);
	while (r >= 0 && version < schema->n)
		r = version = go_on(sql, schema, reterr);
	return r < 0 ? r : 0;
}
