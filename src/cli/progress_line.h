/*
 * progress_line.h - a line on the terminal that comes and goes, while something takes longer than a
 * blink.
 */
#ifndef MP_PROGRESS_LINE_H
#define MP_PROGRESS_LINE_H

#include "base/base.h"
#include "base/str.h"
#include "rpc/message.h"

enum { MP_BLINK_MS = 700, MP_TICK_MS = 1000 };

struct mp_progress_line {
	bool is_shown;
	bool is_held; /* a form has the terminal: nothing is shown */
};

/* In the place of what is there; nothing where stderr is no terminal. */
void mp_progress_line_show(struct mp_progress_line *l, struct mp_str text);
/*
 * "starting NAME (and 2 more), 7 s: LAST LINE OF STDERR". program: its command, of which npx and
 * uvx may be downloading; NULL: not known.
 */
void mp_progress_line_show_start(struct mp_progress_line *l, const char *name, size_t more,
				 int64_t ms, const char *program, struct mp_str tail);
/* What is printed next stands where the line stood. */
void mp_progress_line_clear(struct mp_progress_line *l);
/* What a notifications/progress says. */
void mp_progress_line_show_progress(struct mp_progress_line *l, const struct mp_message *m);

#endif
