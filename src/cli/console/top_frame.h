/*
 * top_frame.h - what is to be shown, and the lines of one picture of it.
 */
#ifndef MP_TOP_FRAME_H
#define MP_TOP_FRAME_H

#include "base/buf.h"
#include "cli/console/top_hub.h"
#include "cli/console/top_model.h"

enum mp_top_page {
	MP_TOP_TABLE,
	MP_TOP_DETAILS, /* these three of the selected server */
	MP_TOP_LOG,
	MP_TOP_CALLS_PAGE,
	MP_TOP_SESSIONS,
	MP_TOP_HELP,
};

struct mp_top_view {
	struct mp_top_model *model;
	const struct mp_top_hub *hub;
	struct mp_live_room room;
	size_t widths[MP_LIVE_COLUMNS]; /* of the table's columns so far */
	enum mp_top_page page;
	size_t scroll;      /* lines: of the log and the calls from the end, else from the start */
	struct mp_str log;  /* whole lines that the selected server wrote to stderr */
	const char *bottom; /* a question or a message in place of the keys; NULL: none */
};

struct mp_top_frame {
	struct mp_top_view *view;
	struct mp_buf *out;
	int error; /* the first one */
};

/* The result of something that wrote to out. */
void mp_top_frame_take(struct mp_top_frame *f, int r);
/* One line, made safe and cut, in this colour. */
void mp_top_frame_add(struct mp_top_frame *f, const char *color, struct mp_str text);
void mp_top_frame_addf(struct mp_top_frame *f, const char *color, const char *format, ...)
	MP_PRINTF(3, 4);
/* Empty lines, until there are so many. */
void mp_top_frame_fill(struct mp_top_frame *f, size_t lines);
size_t mp_top_count_lines(struct mp_str text);

#endif
