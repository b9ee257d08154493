/*
 * account.h - the credential of one server: gives tokens to its requests, renews them, and runs its
 * login. A refresh happens once, also if several processes share the credential: a lock is taken,
 * and what another process saved meanwhile is used instead.
 */
#ifndef MP_ACCOUNT_H
#define MP_ACCOUNT_H

#include "auth/person.h"
#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "config/values/secret_values.h"
#include "net/authorization.h"

#define MP_ACCOUNT_STATES(X)                                                     \
	X(MP_ACCOUNT_IDLE, "idle", "the token is used, or there is none")        \
	X(MP_ACCOUNT_LOCKING, "locking", "the lock is taken and the store read") \
	X(MP_ACCOUNT_ASKING, "asking", "a token is asked for; we have the lock") \
	X(MP_ACCOUNT_SAVING, "saving", "the new credential is saved")

MP_MACHINE_ENUM(mp_account_state, MP_ACCOUNT_STATES);

/* What is before the names of credentials in the secret store. */
#define MP_ACCOUNT_SECRETS "oauth/"

struct mp_account;

struct mp_account_hooks {
	/* There is a token where there was none, or none any more. May be NULL. */
	void (*changed)(void *u, struct mp_account *a);
	/* A person must open an address. May be NULL: those who began the login know. */
	void (*visit)(void *u, struct mp_account *a, const struct mp_login_visit *visit);
};

/* Texts are copied. */
struct mp_account_options {
	struct mp_loop *loop;
	struct mp_http_client *http;
	struct mp_secret_values *secrets; /* the store, borrowed; NULL: in memory only */
	const char *server;               /* name, for log lines */
	const char *secret;               /* its name in the store */
	const char *server_url;           /* NULL: a process */
	const char *ca_file, *cert_file, *key_file;
	const struct mp_oauth *oauth;
	/* Where the browser is sent back to; NULL: to this machine, while a login waits. */
	const char *redirect_uri;
	bool asks_at_once; /* a refused request begins a login and waits for it */
	const struct mp_account_hooks *hooks;
	void *u;
};

struct mp_account *mp_account_new(const struct mp_account_options *options);
struct mp_account *mp_account_free(struct mp_account *a); /* accepts NULL, returns NULL */
/* For destinations; as long as the account. */
struct mp_authorization *mp_account_get_authorization(struct mp_account *a);
/* No token is being asked for or saved. */
bool mp_account_is_at_rest(const struct mp_account *a);
/* The entry may have changed. */
void mp_account_set_oauth(struct mp_account *a, const struct mp_oauth *oauth);
/* WWW-Authenticate of a request that went without a token, for the next login. */
void mp_account_note_challenge(struct mp_account *a, struct mp_str text);
/* What a worker read from the store; what it holds now may be newer and is kept then. */
void mp_account_take_stored(struct mp_account *a, struct mp_str text);
/* Before a start: true: a token is being renewed, decided() follows. */
bool mp_account_prepare(struct mp_account *a, struct mp_authorization_waiter *waiter);
/* NULL: none. Valid until the loop turns. */
const char *mp_account_get_token(const struct mp_account *a);
bool mp_account_has_token(const struct mp_account *a);
/* Why the last token was not renewed; code 0: nothing is wrong. */
const struct mcpool_error *mp_account_get_problem(const struct mp_account *a);

/* --- login ----------------------------------------------------------------------------------- */

/*
 * Join the login that is under way, or begin one. From the loop, never at once, visit() may follow,
 * and over() does.
 */
void mp_account_login(struct mp_account *a, struct mp_person_watcher *watcher);
/* A login failed just now: calls of agents begin none for a while; people may. */
bool mp_account_is_login_paused(const struct mp_account *a);
void mp_account_leave(struct mp_account *a, struct mp_person_watcher *watcher);
/* See mp_login_take_redirect(). */
int mp_account_take_redirect(struct mp_account *a, const char *url,
			     struct mcpool_error *reterr) MP_MUST;
/*
 * Forget the credential, here and in the store, and revoke it where the issuer offers that. over()
 * follows; error: it could not be removed from the store.
 */
void mp_account_logout(struct mp_account *a, struct mp_person_watcher *watcher);

#endif
