/*
 * safe.h - text from servers, made fit for a terminal (V40).
 * Control characters, escape sequences, characters that reorder or hide text: all are shown, none
 * is obeyed.
 */
#ifndef MP_SAFE_H
#define MP_SAFE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum mp_safe_kind {
	MP_SAFE_LINE, /* all on one line: white space of any kind is one blank */
	MP_SAFE_TEXT, /* line breaks and tabs stay */
};

/* text, added to out: \x1b for a control character, \u{202e} for a character that plays tricks. */
int mp_safe_add(struct mp_buf *out, struct mp_str text, enum mp_safe_kind kind) MP_MUST;
/*
 * One word in quotes, for a question whose answer hangs on it: two different words never look the
 * same. Quotes, backslashes and line breaks are escaped, and blanks that nobody could count are.
 */
int mp_safe_add_word(struct mp_buf *out, struct mp_str word) MP_MUST;
/* The same for JSON, which has its quotes and backslashes already. */
int mp_safe_add_json(struct mp_buf *out, struct mp_str json) MP_MUST;
/* How many columns of a terminal this (safe) text takes. */
size_t mp_safe_get_width(struct mp_str text);
/* The longest beginning that takes at most this many columns. */
size_t mp_safe_cut(struct mp_str text, size_t columns);

/* What stands for the part that was cut off: an ellipsis, or dots where the locale is C. */
struct mp_str mp_safe_get_cut_mark(void);

#endif
