/*
 * stored.h - results that agents get shortened (result.sessions), and all of them, when an agent
 * reads one (U22).
 */
#ifndef MP_SESSION_STORED_H
#define MP_SESSION_STORED_H

#include "session/index.h"
#include "session/request.h"

/*
 * json: the result of this call for its agent. If it exceeds the limit, a worker shortens and
 * stores it, and mp_session_take_result() follows. False: it may be sent as it is.
 */
bool mp_stored_shorten(struct mp_request *e, const struct mp_message *m, struct mp_str json);
/* Results of this tool are shortened because its entry says so: they may lack structuredContent. */
bool mp_stored_has_limit(const struct mp_workspace *v, const struct mp_index_item *tool);
/* Answers resources/read of a stored result. */
void mp_stored_answer(struct mp_request *e, struct mp_str uri);

#endif
