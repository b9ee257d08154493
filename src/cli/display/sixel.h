/*
 * sixel.h - pixels as sixels, the images of terminals such as foot, mlterm and xterm.
 */
#ifndef MP_SIXEL_H
#define MP_SIXEL_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/display/png.h"

/*
 * Append the escape sequence that draws the image, made smaller if it is wider than this many
 * pixels: at most 256 colours, and nothing where it is transparent. Only letters, digits and
 * punctuation are between its ends (V40). MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_sixel_write(const struct mp_png *image, uint32_t max_width, struct mp_buf *out) MP_MUST;

#endif
