/*
 * answer.h - asks a person at a terminal to fill in a server's elicitation form, or to open an
 * address.
 */
#ifndef MP_ANSWER_H
#define MP_ANSWER_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/* Is there a terminal to ask on? */
bool mp_answer_is_possible(void);
/*
 * Show the question, ask for each field, and write the result of elicitation/create: accept with
 * its content, decline or cancel; cancel also when stop_fd becomes readable. Blocks, so it runs on
 * a worker (forms.c). MCPOOL_ETYPE: fields that are objects.
 */
int mp_answer_form(const char *server, struct mp_str params, int stop_fd,
		   struct mp_buf *out) MP_MUST;

#endif
