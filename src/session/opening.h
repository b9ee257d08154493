/*
 * opening.h - initialize, server/discover, and `_meta` of modern requests.
 */
#ifndef MP_SESSION_OPENING_H
#define MP_SESSION_OPENING_H

#include "json/write.h"
#include "session/request.h"

void mp_session_answer_initialize(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_discover(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_level(struct mp_request *e, const struct mp_message *m);
/* -32021, with the capability that the agent lacks. */
void mp_session_refuse_capability(struct mp_request *e, struct mp_str required);
/* Reads _meta of a modern request; refuses the request and returns false if it is invalid. */
bool mp_session_read_modern(struct mp_request *e, const struct mp_message *m);
/* Writes our identity as members for _meta of a modern result. */
void mp_session_write_server_info(struct mp_writer *w, const struct mp_sessions *l);

#endif
