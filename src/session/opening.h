/*
 * opening.h - initialize, server/discover, and what `_meta` of modern requests says.
 */
#ifndef MP_SESSION_OPENING_H
#define MP_SESSION_OPENING_H

#include "json/write.h"
#include "session/request.h"

void mp_session_answer_initialize(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_discover(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_level(struct mp_request *e, const struct mp_message *m);
/* -32021, with what the agent would have to be able to do. */
void mp_session_refuse_capability(struct mp_request *e, struct mp_str required);
/* What _meta of a modern request says; refused and false where it is wrong. */
bool mp_session_read_modern(struct mp_request *e, const struct mp_message *m);
/* Members for _meta of a modern result: who we are. */
void mp_session_write_server_info(struct mp_writer *w, const struct mp_sessions *l);

#endif
