/*
 * top_screen.h - the terminal as a screen of lines: taken over, drawn, and given back.
 */
#ifndef MP_TOP_SCREEN_H
#define MP_TOP_SCREEN_H

#include "base/base.h"
#include "base/str.h"
#include "cli/display/live_table.h"

struct mp_top_screen;

/* Keys that are not characters; characters are themselves. */
enum {
	MP_TOP_KEY_NONE = 0,
	MP_TOP_KEY_TAB = 9,
	MP_TOP_KEY_ENTER = 13,
	MP_TOP_KEY_ESCAPE = 27,
	MP_TOP_KEY_UP = 0x110000, /* behind the last character of Unicode */
	MP_TOP_KEY_DOWN,
	MP_TOP_KEY_PAGE_UP,
	MP_TOP_KEY_PAGE_DOWN,
	MP_TOP_KEY_HOME,
	MP_TOP_KEY_END,
	MP_TOP_KEY_BACKSPACE,
	MP_TOP_KEY_OTHER,
};

/* MCPOOL_ENOENT: the library is missing; MCPOOL_EINVAL: no terminal for it. reterr has words. */
int mp_top_screen_open(struct mp_top_screen **ret, struct mcpool_error *reterr) MP_MUST;
/* The terminal is as it was. Accepts NULL, returns NULL. */
struct mp_top_screen *mp_top_screen_close(struct mp_top_screen *s);
/* The same for a while. */
void mp_top_screen_leave(struct mp_top_screen *s);
void mp_top_screen_return(struct mp_top_screen *s);
/* The terminal may have another size. */
void mp_top_screen_resize(struct mp_top_screen *s);

/* Its size and colours now; widths is NULL. */
struct mp_live_room mp_top_screen_get_room(const struct mp_top_screen *s);
/*
 * Show these lines, made safe before; what does not change is not written. They may have the escape
 * sequences of live_table.c. marked: the line that is shown in reverse; SIZE_MAX: none.
 */
void mp_top_screen_show(struct mp_top_screen *s, struct mp_str text, size_t marked);
/* The next key; MP_TOP_KEY_NONE: none is there. */
int mp_top_screen_get_key(struct mp_top_screen *s);

#endif
