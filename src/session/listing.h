/*
 * listing.h - lists of tools, prompts and resources, page by page.
 */
#ifndef MP_SESSION_LISTING_H
#define MP_SESSION_LISTING_H

#include "session/request.h"

void mp_session_answer_list(struct mp_request *e, const struct mp_message *m);

#endif
