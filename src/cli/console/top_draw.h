/*
 * top_draw.h - one picture of `top` as lines of text; the terminal is top_screen.c's.
 */
#ifndef MP_TOP_DRAW_H
#define MP_TOP_DRAW_H

#include "cli/console/top_frame.h"

enum { MP_TOP_LEAST_COLUMNS = 60, MP_TOP_LEAST_LINES = 15 };

/* How many servers fit below each other. */
size_t mp_top_view_get_rows(const struct mp_top_view *v);
/*
 * Add the lines of the picture to out. scroll becomes one that exists. ret_marked: the line of the
 * selected server; SIZE_MAX: none.
 */
int mp_top_draw(struct mp_top_view *v, struct mp_buf *out, size_t *ret_marked) MP_MUST;

#endif
