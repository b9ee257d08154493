/*
 * refresh.h - fetches lists again that change while a server runs.
 * notifications/.../list_changed are coalesced, then the list is fetched and passed on;
 * mp_server_catalog_list_equals() tells whether it differs (C17, U25). A modern server is asked for
 * notifications (subscriptions/listen); a legacy server sends them unasked.
 */
#ifndef MP_REFRESH_H
#define MP_REFRESH_H

#include "base/base.h"
#include "base/loop.h"
#include "client/upstream.h"
#include "pool/server_catalog.h"

enum {
	MP_REFRESH_QUIET_MS = 100,   /* after the last notification */
	MP_REFRESH_LATEST_MS = 1000, /* after the first, even if more follow */
};

struct mp_refresh;

struct mp_refresh_hooks {
	/* The current list of its kind; the callee unrefs it. */
	void (*fetched)(void *u, struct mp_server_catalog_list *list);
	/* It could not be fetched; the old one stays. */
	void (*failed)(void *u, enum mp_catalog_kind kind, const struct mcpool_error *why);
};

/*
 * For one ready upstream (borrowed). Requests notifications from a modern server. Make it before
 * the first fetch of the lists, so that no change is missed. A hook may free it.
 */
struct mp_refresh *mp_refresh_new(struct mp_upstream *up, struct mp_loop *loop, int64_t timeout_ms,
				  const struct mp_refresh_hooks *hooks, void *u);
/* Before the upstream is freed; no hook runs afterwards. Accepts NULL, returns NULL. */
struct mp_refresh *mp_refresh_free(struct mp_refresh *r);
/* A notification of the server. True: it was list_changed and is handled. */
bool mp_refresh_hear(struct mp_refresh *r, const struct mp_message *m);
/* Name of the state, for traces and tests. */
/* Fetch this list again, as if the server had reported a change. */
void mp_refresh_again(struct mp_refresh *r, enum mp_catalog_kind kind);
/* Also request changes of these resources; copied. Modern servers only. */
void mp_refresh_listen_to(struct mp_refresh *r, const struct mp_str *uris, size_t n);
bool mp_refresh_is_quiet(const struct mp_refresh *r); /* no change is pending */
const char *mp_refresh_get_state(const struct mp_refresh *r, enum mp_catalog_kind kind);

#endif
