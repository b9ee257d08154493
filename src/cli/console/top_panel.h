/*
 * top_panel.h - what `top` shows of one server.
 */
#ifndef MP_TOP_PANEL_H
#define MP_TOP_PANEL_H

#include "cli/console/top_frame.h"

/* Below the table: the last 15 minutes, calls and lines of stderr of the selected server. */
void mp_top_panel_draw(struct mp_top_frame *f, size_t lines);
/* Pages of the selected server. */
void mp_top_details_draw(struct mp_top_frame *f, size_t lines);
void mp_top_log_draw(struct mp_top_frame *f, size_t lines);
void mp_top_calls_draw(struct mp_top_frame *f, size_t lines);

#endif
