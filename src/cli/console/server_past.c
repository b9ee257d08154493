/*
 * server_past.c - what `status NAME` shows besides the status: the last calls of a server, and what
 * it wrote to stderr last.
 */
#include "cli/console/server_past.h"

#include <limits.h>

#include "base/limits.h"
#include "base/paths.h"
#include "cli/console/call_line.h"
#include "cli/console/log_file.h"
#include "cli/servers/hub_status.h"

enum { LINES = 5, LOG_BYTES = 16 * 1024, QUIET_MS = 300 };

/* The last lines, oldest first. */
struct last {
	struct mp_buf lines[LINES];
	size_t n; /* how many there were */
};

static void last_init(struct last *l)
{
	l->n = 0;
	for (size_t i = 0; i < LINES; i++)
		mp_buf_init(&l->lines[i], MP_MIB(1));
}

static void last_done(struct last *l)
{
	for (size_t i = 0; i < LINES; i++)
		mp_buf_done(&l->lines[i]);
}

/* The place of the next line, emptied. */
static struct mp_buf *last_add(struct last *l)
{
	struct mp_buf *line = &l->lines[l->n++ % LINES];

	mp_buf_clear(line);
	return line;
}

static void last_print(const struct last *l, const char *title)
{
	for (size_t i = l->n > LINES ? l->n - LINES : 0; i < l->n; i++) {
		mp_hub_status_print_line(title, mp_buf_get(&l->lines[i % LINES]));
		title = " ";
	}
}

static bool is_last(const struct mp_feed *f)
{
	return mp_call_line_get_number(f, "number") >= (int64_t)f->last;
}

static void calls_print(const char *server)
{
	MP_CLEANUP(mp_feed_done) struct mp_feed f;
	MP_CLEANUP(last_done) struct last last;
	struct mcpool_error why;

	mp_feed_init(&f);
	last_init(&last);
	if (mp_feed_open(&f, &mp_feed_calls, 1, &why) < 0 || f.last == 0)
		return;
	while (mp_feed_next(&f, QUIET_MS) == 0) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;

		mp_arena_init(&arena, MP_LIMIT_ARENA);
		if (mp_str_eq(mp_feed_get_text(&f, &arena, "server"), mp_str_of(server)) &&
		    mp_call_line_add(&f, &arena, false, last_add(&last)) < 0)
			break;
		if (is_last(&f))
			break;
	}
	last_print(&last, "calls");
}

static void stderr_print(const char *server)
{
	MP_CLEANUP(mp_log_file_close) struct mp_log_file file = {.fd = -1};
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	MP_CLEANUP(last_done) struct last last;
	struct mp_str line;
	size_t at = 0;

	last_init(&last);
	mp_buf_init(&path, PATH_MAX);
	if (mp_path_log(server, &path) < 0)
		return;
	mp_log_file_open(&file, server, path.data);
	mp_log_file_read_end(&file, LOG_BYTES);
	while (mp_log_file_next_line(&file, &at, &line))
		if (mp_buf_add_str(last_add(&last), line) < 0)
			break;
	last_print(&last, "stderr");
}

void mp_server_past_print(const char *server)
{
	calls_print(server);
	stderr_print(server);
}
