/*
 * safe.h - makes text from servers safe for a terminal (V40).
 * Control characters, escape sequences and characters that reorder or hide text are shown in
 * escaped form.
 */
#ifndef MP_SAFE_H
#define MP_SAFE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum mp_safe_kind {
	MP_SAFE_LINE, /* on one line: a run of white space becomes one blank */
	MP_SAFE_TEXT, /* line breaks and tabs stay */
};

/* Add text to out: \x1b for a control character, \u{202e} for a deceptive character. */
int mp_safe_add(struct mp_buf *out, struct mp_str text, enum mp_safe_kind kind) MP_MUST;
/*
 * Add one word in quotes, for an approval question: different words never look the same. Quotes,
 * backslashes, line breaks and ambiguous blanks are escaped.
 */
int mp_safe_add_word(struct mp_buf *out, struct mp_str word) MP_MUST;
/* The same for JSON, which is already quoted. */
int mp_safe_add_json(struct mp_buf *out, struct mp_str json) MP_MUST;
/* The width of a safe text in terminal columns. */
size_t mp_safe_get_width(struct mp_str text);
/* The longest prefix of at most this many columns. */
size_t mp_safe_cut(struct mp_str text, size_t columns);

/* --plain: neither colours nor characters of our own that are not ASCII. */
void mp_safe_set_plain(void);
bool mp_safe_is_plain(void);
/* Shapes that are not ASCII may be shown. */
bool mp_safe_has_utf8(void);
/* The mark for a cut text: an ellipsis, or dots in the C locale. */
struct mp_str mp_safe_get_cut_mark(void);

#endif
