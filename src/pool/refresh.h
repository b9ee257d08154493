/*
 * refresh.h - lists that change while a server runs: its notifications/.../list_changed are
 * gathered, the list is fetched again and handed on; whether it differs is
 * mp_server_catalog_list_equals()'s to say (C17, U25). A modern server is asked to tell
 * (subscriptions/listen); a legacy one tells by itself.
 */
#ifndef MP_REFRESH_H
#define MP_REFRESH_H

#include "base/base.h"
#include "base/loop.h"
#include "client/upstream.h"
#include "pool/server_catalog.h"

enum {
	MP_REFRESH_QUIET_MS = 100,   /* after the last notification */
	MP_REFRESH_LATEST_MS = 1000, /* after the first, however many follow */
};

struct mp_refresh;

struct mp_refresh_hooks {
	/* The list of its kind as it is now; to be unref'ed by the callee. */
	void (*fetched)(void *u, struct mp_server_catalog_list *list);
	/* It could not be fetched; the old one stays. */
	void (*failed)(void *u, enum mp_catalog_kind kind, const struct mcpool_error *why);
};

/*
 * For the life of one ready upstream (borrowed). Asks a modern one to tell; made before the lists
 * are fetched for the first time, it misses nothing. A hook may free it.
 */
struct mp_refresh *mp_refresh_new(struct mp_upstream *up, struct mp_loop *loop, int64_t timeout_ms,
				  const struct mp_refresh_hooks *hooks, void *u);
/* Before the upstream goes; nothing is told any more. Accepts NULL, returns NULL. */
struct mp_refresh *mp_refresh_free(struct mp_refresh *r);
/* A notification of the server. True: it was one of these, and is taken care of. */
bool mp_refresh_hear(struct mp_refresh *r, const struct mp_message *m);
/* A word, for traces and tests. */
/* Fetch this list again, as if the server had said that it changed. */
void mp_refresh_again(struct mp_refresh *r, enum mp_catalog_kind kind);
/* Changes of these resources are to be told as well; copied. Only modern servers are asked here. */
void mp_refresh_listen_to(struct mp_refresh *r, const struct mp_str *uris, size_t n);
bool mp_refresh_is_quiet(const struct mp_refresh *r); /* what we have is what there is */
const char *mp_refresh_get_state(const struct mp_refresh *r, enum mp_catalog_kind kind);

#endif
