/*
 * login.h - gets a token for one server: finds out who issues it, who we are there, and asks for it
 * as the entry's grant says. A refresh is the last step alone.
 */
#ifndef MP_LOGIN_H
#define MP_LOGIN_H

#include "auth/credential.h"
#include "base/base.h"
#include "base/loop.h"
#include "base/machine.h"
#include "base/str.h"
#include "config/values/oauth.h"
#include "net/http_client.h"

#define MP_LOGIN_STATES(X)                                                                 \
	X(MP_LOGIN_NEW, "new", "not started")                                              \
	X(MP_LOGIN_DISCOVERING, "discovering", "who issues tokens is found out")           \
	X(MP_LOGIN_REGISTERING, "registering", "we introduce ourselves there")             \
	X(MP_LOGIN_PERSON, "person", "a person is to agree in a browser")                  \
	X(MP_LOGIN_IDENTITY, "identity", "the identity provider is asked to vouch for us") \
	X(MP_LOGIN_TOKEN, "token", "the token is asked for")                               \
	X(MP_LOGIN_OVER, "over", "the last state")

MP_MACHINE_ENUM(mp_login_state, MP_LOGIN_STATES);

struct mp_login;

/* What a person is asked to agree to. */
struct mp_login_visit {
	const char *url;            /* https, or on this machine; to be opened without a shell */
	const char *issuer, *scope; /* scope: may be NULL */
	const char *redirect_uri;
};

struct mp_login_hooks {
	/*
	 * A redirect address is needed that leads to mp_login_take_redirect(). NULL, or it fails:
	 * the login does. *ret_uri: valid until done.
	 */
	int (*listen)(void *u, int64_t port, const char **ret_uri, struct mcpool_error *reterr);
	void (*visit)(void *u, const struct mp_login_visit *visit);
	/*
	 * Last, once, from the loop. error NULL: c is whole and is copied by the owner. Otherwise c
	 * is NULL, and error->code: MCPOOL_EPERM what was granted is no longer valid; MCPOOL_ENOENT
	 * our registration is not, either; others: later it may work.
	 */
	void (*done)(void *u, const struct mp_credential *c, const struct mcpool_error *error);
};

/* All texts are copied. */
struct mp_login_options {
	struct mp_loop *loop;
	struct mp_http_client *http;
	const char *server_url; /* http or https; NULL: a process, whose oauth names an issuer */
	const char *ca_file, *cert_file, *key_file;
	struct mp_str challenge; /* WWW-Authenticate; may be empty */
	const struct mp_oauth *oauth;
	const struct mp_credential *before; /* a registration, scopes, a refresh token; or NULL */
	const char *more_scope;             /* beside those of before; NULL: none */
};

struct mp_login *mp_login_new(const struct mp_login_options *options,
			      const struct mp_login_hooks *hooks, void *u);
struct mp_login *mp_login_free(struct mp_login *l); /* at any time; accepts NULL, returns NULL */
void mp_login_start(struct mp_login *l);
/* With the refresh token of `before`, at its issuer. */
void mp_login_refresh(struct mp_login *l);
/*
 * The address that the browser was sent to, from the listener or pasted. MCPOOL_EINVAL: it is not
 * the answer to this login, which goes on (V34); else 0, and done() follows.
 */
int mp_login_take_redirect(struct mp_login *l, const char *url,
			   struct mcpool_error *reterr) MP_MUST;
/* NULL: no person is asked at the moment. */
const struct mp_login_visit *mp_login_get_visit(const struct mp_login *l);

#endif
