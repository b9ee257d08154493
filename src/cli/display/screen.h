/*
 * screen.h - a terminal with scrolling log lines and, below them, the table of all servers.
 */
#ifndef MP_SCREEN_H
#define MP_SCREEN_H

#include "base/base.h"
#include "hub/hub.h"

struct mp_screen;

/* Takes over the log's sink. hub is borrowed; its workspace may be NULL at first. */
struct mp_screen *mp_screen_new(struct mp_hub *hub);
/* Shows pending lines and restores the terminal. Accepts NULL, returns NULL. */
struct mp_screen *mp_screen_free(struct mp_screen *s);
/* Add one line to the log lines; made safe. */
void mp_screen_say(struct mp_screen *s, struct mp_str text);
void mp_screen_resize(struct mp_screen *s); /* on SIGWINCH */

#endif
