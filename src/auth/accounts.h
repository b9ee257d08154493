/*
 * accounts.h - the accounts of all servers, made when a server that may need one is started.
 */
#ifndef MP_ACCOUNTS_H
#define MP_ACCOUNTS_H

#include "auth/account.h"
#include "base/base.h"
#include "base/loop.h"
#include "config/values/resolve.h"

struct mp_accounts;

/* changed: see mp_account_hooks; server: its name. */
typedef void (*mp_accounts_changed)(void *u, const char *server, bool has_token);

struct mp_accounts *mp_accounts_new(struct mp_loop *loop, struct mp_secret_values *secrets);
/* Free all transports first. Accepts NULL, returns NULL. */
struct mp_accounts *mp_accounts_free(struct mp_accounts *as);
void mp_accounts_set_hook(struct mp_accounts *as, mp_accounts_changed changed, void *u);

/* No token of any is being asked for or saved. */
bool mp_accounts_are_at_rest(const struct mp_accounts *as);

/* Does a server with these values use an account? Not if the entry has a token of its own. */
bool mp_accounts_has_use(const struct mp_resolved *r);
/* The name of its credential in the secret store, as a C string. Any thread. */
int mp_accounts_write_secret(const char *server, const struct mp_resolved *r,
			     struct mp_buf *out) MP_MUST;
/* NULL, with an error: no HTTP client, or too many. */
struct mp_account *mp_accounts_get(struct mp_accounts *as, const char *server,
				   const struct mp_resolved *r, struct mcpool_error *reterr);
/* The one of this server that was last asked for; NULL: none. */
struct mp_account *mp_accounts_find(struct mp_accounts *as, const char *server);

#endif
