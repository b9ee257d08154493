/*
 * screen.h - a terminal with log lines that scroll away and, below them, the table of all servers.
 */
#ifndef MP_SCREEN_H
#define MP_SCREEN_H

#include "base/base.h"
#include "hub/hub.h"

struct mp_screen;

/* Takes over the log's sink. hub is borrowed; its workspace may still be missing. */
struct mp_screen *mp_screen_new(struct mp_hub *hub);
/* What is left to be shown is, then the terminal is as it was. Accepts NULL, returns NULL. */
struct mp_screen *mp_screen_free(struct mp_screen *s);
/* One line among those of the log; made safe. */
void mp_screen_say(struct mp_screen *s, struct mp_str text);
void mp_screen_resize(struct mp_screen *s); /* on SIGWINCH */

#endif
