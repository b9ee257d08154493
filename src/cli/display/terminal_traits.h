/*
 * terminal_traits.h - what the terminal can, as it says itself.
 */
#ifndef MP_TERMINAL_TRAITS_H
#define MP_TERMINAL_TRAITS_H

#include "base/base.h"
#include "base/str.h"

/*
 * Does the terminal of stdout show sixels? Well-known ones are taken at their name; another one is
 * asked for its attributes, once, for at most half a second. Never asked: what is not a terminal,
 * or one that another process group reads.
 */
bool mp_terminal_has_sixels(void);
/* Width in pixels for an image; never 0. */
uint32_t mp_terminal_get_pixels(void);
/* Another program is between us and the terminal, such as tmux or screen. */
bool mp_terminal_is_multiplexed(void);

/* --- for tests ------------------------------------------------------------------------------- */

/* The answer to "primary device attributes" among what was read; empty: not whole yet. */
struct mp_str mp_terminal_find_attributes(struct mp_str read);
/* Is this one of them? The first number, the class of the terminal, is none. */
bool mp_terminal_has_attribute(struct mp_str attributes, unsigned wanted);

#endif
