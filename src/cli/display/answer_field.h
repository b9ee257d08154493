/*
 * answer_field.h - one field of an elicitation form: what it takes, and a typed text as its value.
 */
#ifndef MP_ANSWER_FIELD_H
#define MP_ANSWER_FIELD_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "json/value.h"
#include "json/write.h"

/* Can a person type its value? All fields that MCP allows in a form. */
bool mp_answer_field_is_plain(const struct mp_tape *t, mp_value field);
/* " (1 red, 2 green)", " (yes or no)", " (1 to 100)"; nothing if any text is a value. */
int mp_answer_field_add_hint(const struct mp_tape *t, mp_value field, struct mp_arena *arena,
			     struct mp_buf *out) MP_MUST;
/* Write the value of a typed text. NULL, or why it is none; nothing was written then. */
const char *mp_answer_field_write(const struct mp_tape *t, mp_value field, struct mp_str text,
				  struct mp_arena *arena, struct mp_writer *w);

#endif
