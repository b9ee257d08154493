/*
 * progress_line.h - a temporary line on the terminal, for operations that take more than a moment.
 */
#ifndef MP_PROGRESS_LINE_H
#define MP_PROGRESS_LINE_H

#include <time.h>

#include "base/base.h"
#include "base/str.h"
#include "rpc/message.h"

enum { MP_BLINK_MS = 300, MP_TICK_MS = 1000 };

struct mp_progress_line {
	bool is_shown;
	bool is_held;          /* a form uses the terminal: show nothing */
	bool is_call;          /* Ctrl-C cancels it */
	struct timespec began; /* for the time behind the text; 0: none */
	char progress[256];    /* of the last notification, safe; "": none yet */
};

/* A call begins: from now on the time is shown, and that it can be cancelled. */
void mp_progress_line_begin_call(struct mp_progress_line *l);
/* The call has ended; the line is erased. */
void mp_progress_line_end_call(struct mp_progress_line *l);

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
/* Show a notifications/progress, as a bar if there is a total. */
void mp_progress_line_show_progress(struct mp_progress_line *l, const struct mp_message *m);
/* Show the last one again, with the time that has passed. False: there was none. */
bool mp_progress_line_show_again(struct mp_progress_line *l);

#endif
