/*
 * calls_export.c - `mcpool calls --export`: the records in the store, a JSON object a line.
 */
#include "cli/console/calls_export.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/display/safe.h"
#include "store/calls.h"

static bool export_wants(const struct mp_call_row *row, const struct mp_cli_args *args)
{
	uint64_t session;

	if (args->server && strcmp(row->server, args->server) != 0)
		return false;
	if (args->session &&
	    (mp_str_to_u64(mp_str_of(args->session), &session) < 0 || session != row->session))
		return false;
	return !args->failed || strcmp(row->outcome, "answered") != 0;
}

/* Lines are printed between walks: a pipe that nothing reads must not hold the store. */
enum { PORTION = 256 << 10 };

struct export
{
	const struct mp_cli_args *args;
	struct mp_buf lines;
	uint64_t last; /* number of the record that was read last */
};

/* Unchanged into a pipe or file. */
static int export_add(struct mp_buf *out, struct mp_str json)
{
	int r = mp_print_is_terminal() ? mp_safe_add_json(out, json) : mp_buf_add_str(out, json);

	return r < 0 ? r : mp_buf_add_char(out, '\n');
}

static int export_row(const struct mp_call_row *row, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	struct export *e = u;
	struct mp_writer w;
	int r;

	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	e->last = row->number;
	if (!export_wants(row, e->args))
		return 0;
	mp_write_init(&w, &line, NULL);
	mp_write_begin_object(&w);
	mp_call_row_write(&w, row);
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	if (r == 0)
		r = export_add(&e->lines, mp_buf_get(&line));
	return r < 0 ? r : e->lines.len >= PORTION;
}

static int export_run(struct export *e, struct mp_db *db, struct mcpool_error *reterr)
{
	const struct mp_cli_args *args = e->args;
	int64_t since_ms = args->since_ms ? (int64_t)time(NULL) * 1000 - args->since_ms : 0;
	int r;

	do {
		r = mp_calls_each(db, since_ms, e->last, export_row, e, reterr);
		if (e->lines.len)
			(void)!fwrite(e->lines.data, 1, e->lines.len, stdout); /* see ferror() */
		mp_buf_clear(&e->lines);
	} while (r > 0 && !ferror(stdout));
	return r;
}

int mp_calls_export(const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct export e = {.args = args};
	struct mcpool_error why = {0};
	int r = mp_db_open_default(&db, &why);

	mp_buf_init(&e.lines, MP_LIMIT_MESSAGE);
	if (r == 0)
		r = export_run(&e, db, &why);
	mp_buf_done(&e.lines);
	mp_print_need_no_json();
	if (r == 0 || ferror(stdout))
		return mp_print_finish(MP_EXIT_DONE);
	mp_cli_complain_as(r, "%s", why.code ? why.message : mcpool_error_text(r));
	return MP_EXIT_CONFIG;
}
