/*
 * progress_line.h - a temporary line on the terminal, for operations that take more than a moment.
 */
#ifndef MP_PROGRESS_LINE_H
#define MP_PROGRESS_LINE_H

#include "base/base.h"
#include "base/str.h"
#include "rpc/message.h"

enum { MP_BLINK_MS = 700, MP_TICK_MS = 1000 };

struct mp_progress_line {
	bool is_shown;
	bool is_held; /* a form uses the terminal: show nothing */
};

/* Replace the line; nothing if stderr is not a terminal. */
void mp_progress_line_show(struct mp_progress_line *l, struct mp_str text);
/*
 * "starting NAME (and 2 more), 7 s: LAST LINE OF STDERR". program: its command; npx and uvx may be
 * downloading; NULL: unknown.
 */
void mp_progress_line_show_start(struct mp_progress_line *l, const char *name, size_t more,
				 int64_t ms, const char *program, struct mp_str tail);
/* Erase the line; the next output takes its place. */
void mp_progress_line_clear(struct mp_progress_line *l);
/* Show a notifications/progress. */
void mp_progress_line_show_progress(struct mp_progress_line *l, const struct mp_message *m);

#endif
