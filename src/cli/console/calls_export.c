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

/* Unchanged into a pipe or file. */
static int export_print(struct mp_str json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	int r = 0;

	mp_buf_init(&safe, MP_LIMIT_MESSAGE);
	if (mp_print_is_terminal())
		r = mp_safe_add_json(&safe, json);
	if (r < 0)
		return r;
	json = mp_print_is_terminal() ? mp_buf_get(&safe) : json;
	return printf("%.*s\n", MP_STR_ARGS(json)) < 0 ? MCPOOL_EIO : 0;
}

static int export_row(const struct mp_call_row *row, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	struct mp_writer w;
	int r;

	if (!export_wants(row, u))
		return 0;
	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &line, NULL);
	mp_write_begin_object(&w);
	mp_call_row_write(&w, row);
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? r : export_print(mp_buf_get(&line));
}

int mp_calls_export(const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_db_closep) struct mp_db *db = NULL;
	struct mcpool_error why = {0};
	int64_t since_ms = args->since_ms ? (int64_t)time(NULL) * 1000 - args->since_ms : 0;
	int r = mp_db_open_default(&db, &why);

	if (r == 0)
		r = mp_calls_each(db, since_ms, export_row, (void *)args, &why);
	mp_print_need_no_json();
	if (ferror(stdout))
		return mp_print_finish(MP_EXIT_DONE);
	if (r == 0)
		return mp_print_finish(MP_EXIT_DONE);
	mp_cli_complain_as(r, "%s", why.code ? why.message : mcpool_error_text(r));
	return MP_EXIT_CONFIG;
}
