/*
 * listening.h - requests change notifications from a modern server (subscriptions/listen), and
 * opens the stream again when it ends.
 */
#ifndef MP_LISTENING_H
#define MP_LISTENING_H

#include "base/base.h"
#include "base/loop.h"
#include "client/upstream.h"

struct mp_listening;

/*
 * For a ready upstream (borrowed). Requests changes of the lists for which the server declares
 * listChanged. NULL: a legacy server, or one without change notifications. reopened: a new stream
 * replaced one that ended; changes in between were missed.
 */
struct mp_listening *mp_listening_new(struct mp_upstream *up, struct mp_loop *loop,
				      void (*reopened)(void *u), void *u);
/* Also request changes of these resources; copied. */
void mp_listening_set_uris(struct mp_listening *l, const struct mp_str *uris, size_t n);
/* Before the upstream is freed. Accepts NULL, returns NULL. */
struct mp_listening *mp_listening_free(struct mp_listening *l);
/* Returns true if m is the expected acknowledgement. l may be NULL. */
bool mp_listening_hear(struct mp_listening *l, const struct mp_message *m);
const char *mp_listening_get_state(const struct mp_listening *l); /* its name; "" for NULL */

#endif
