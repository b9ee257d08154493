/*
 * media.h - what is binary in a result: shown where the terminal can, or saved.
 */
#ifndef MP_MEDIA_H
#define MP_MEDIA_H

#include <stdio.h>

#include "base/base.h"
#include "base/str.h"

/* Write the bytes that this base64 stands for. False: it is not valid base64. */
bool mp_media_decode(struct mp_str base64, FILE *to);

/*
 * Show the images of a result on a terminal that can: by the protocol of kitty or iTerm2, or as
 * sixels if they are PNG. On another one say how to get what is binary. Nothing into a pipe or
 * file.
 */
void mp_media_show(struct mp_str result);
/*
 * Save what is binary in a result, decoded: into this file, and further blocks into files beside it
 * with a number; without anything binary the text. Says what it did on stderr. An exit code.
 */
int mp_media_save(struct mp_str result, struct mp_str text, const char *file);

#endif
