/*
 * listening.h - a modern server is asked to tell of changes (subscriptions/listen), and asked again
 * when that stream ends, for as long as somebody wants to hear.
 */
#ifndef MP_LISTENING_H
#define MP_LISTENING_H

#include "base/base.h"
#include "base/loop.h"
#include "client/upstream.h"

struct mp_listening;

/*
 * For a ready upstream (borrowed). Changes of the lists it offers changes of are asked for; NULL:
 * it is a legacy one or tells of no changes, and nothing is to be asked. reopened: another stream
 * took the place of one that ended, and what happened in between was not heard.
 */
struct mp_listening *mp_listening_new(struct mp_upstream *up, struct mp_loop *loop,
				      void (*reopened)(void *u), void *u);
/* Changes of these resources, too; copied. */
void mp_listening_set_uris(struct mp_listening *l, const struct mp_str *uris, size_t n);
/* Before the upstream goes. Accepts NULL, returns NULL. */
struct mp_listening *mp_listening_free(struct mp_listening *l);
/* An acknowledgement, if that is what it is and one is waited for: then true. l may be NULL. */
bool mp_listening_hear(struct mp_listening *l, const struct mp_message *m);
const char *mp_listening_get_state(const struct mp_listening *l); /* a word; "" for NULL */

#endif
