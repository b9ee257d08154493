/*
 * png.h - decodes a PNG image (RFC 2083, ISO 15948) into pixels. The bytes come from a server.
 */
#ifndef MP_PNG_H
#define MP_PNG_H

#include "base/base.h"
#include "base/str.h"

struct mp_png {
	uint32_t width, height;
	uint8_t *rgba; /* owned; four bytes a pixel, row by row from the top; alpha 0: nothing */
};

/*
 * All colour types, bit depths and interlacing; of 16 bits the upper 8. Gamma, profiles and frames
 * of an animation behind the first are ignored. MCPOOL_EPARSE: it is none, is broken or cut off;
 * MCPOOL_ELIMIT: too large (limits.h); MCPOOL_ENOMEM.
 */
int mp_png_read(struct mp_str bytes, struct mp_png *ret, struct mcpool_error *reterr) MP_MUST;
void mp_png_done(struct mp_png *p); /* accepts a zeroed one */

#endif
