/*
 * subscriptions.h - subscriptions of a session: to lists, and to single resources.
 */
#ifndef MP_SESSION_SUBSCRIPTIONS_H
#define MP_SESSION_SUBSCRIPTIONS_H

#include "session/request.h"

void mp_session_answer_subscribe(struct mp_request *e, const struct mp_message *m);
void mp_session_answer_listen(struct mp_request *e, const struct mp_message *m);
void mp_session_tell_updated(struct mp_session *s, const char *server, const struct mp_message *m);
void mp_session_end_listening(struct mp_request *e); /* a normal end, with its result */
void mp_session_drop_subscriptions(struct mp_session *s);

#endif
