/*
 * callback.h - the address on this machine that a browser is sent back to; it listens only while a
 * login waits for it.
 */
#ifndef MP_CALLBACK_H
#define MP_CALLBACK_H

#include "base/base.h"
#include "base/loop.h"
#include "base/str.h"

struct mp_callback;

/*
 * The browser came back with this address. NULL: the login goes on from here; else a sentence for
 * the page it shows. May free the callback.
 */
typedef const char *(*mp_callback_fn)(void *u, const char *url);

/* port 0: any. MCPOOL_E* with a sentence, if it cannot listen. */
int mp_callback_new(struct mp_loop *loop, int64_t port, mp_callback_fn fn, void *u,
		    struct mp_callback **ret, struct mcpool_error *reterr) MP_MUST;
struct mp_callback *mp_callback_free(struct mp_callback *c); /* accepts NULL, returns NULL */
const char *mp_callback_get_uri(
	const struct mp_callback *c); /* "http://127.0.0.1:41234/callback" */

#endif
