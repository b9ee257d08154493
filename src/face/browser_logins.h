/*
 * browser_logins.h - browsers that a person has let into the dashboard.
 * `mcpool dashboard` gets a code, which works once and for a minute. A browser exchanges it for a
 * cookie and a proof. The cookie says until when it is good and carries a MAC, so that a login
 * outlives the hub; a new key ends all of them. Cookies of a host go to all its ports, so the
 * proof, which the page keeps to its own origin, is asked for besides.
 */
#ifndef MP_BROWSER_LOGINS_H
#define MP_BROWSER_LOGINS_H

#include "base/base.h"
#include "base/loop.h"
#include "base/random_id.h"
#include "base/str.h"
#include "face/holders.h"
#include "face/http_token.h"
#include "store/digest.h"

enum {
	MP_BROWSER_CODE = MP_RANDOM_ID,
	MP_BROWSER_CODES = 8, /* that are not used yet; the oldest goes */
	MP_BROWSER_CODE_MS = 60000,
	MP_BROWSER_PROOF = 2 * MP_DIGEST_SIZE,
	MP_BROWSER_NAME = 16 + MP_RANDOM_ID, /* "1795129769000.ID" */
	MP_BROWSER_COOKIE = MP_BROWSER_NAME + 1 + MP_BROWSER_PROOF,
};
#define MP_BROWSER_LOGIN_MS ((int64_t)7 * 24 * 3600 * 1000)

struct mp_browser_logins {
	struct mp_loop *loop;
	struct mp_http_token key; /* the file; the secret of all MACs */
	struct {
		char text[MP_BROWSER_CODE + 1];
		int64_t until_ms; /* the loop's clock; 0: none */
	} codes[MP_BROWSER_CODES];
	size_t next_code;
	char cookie[32]; /* its name, with our port: "mcpool_7717" */
};

struct mp_browser_login {
	char cookie[MP_BROWSER_COOKIE + 1], proof[MP_BROWSER_PROOF + 1];
	int64_t until_ms; /* wall clock */
};

/* path: of the key. */
int mp_browser_logins_open(struct mp_browser_logins *l, struct mp_loop *loop, const char *path,
			   int port, struct mcpool_error *reterr) MP_MUST;
void mp_browser_logins_done(struct mp_browser_logins *l);
/* $XDG_STATE_HOME/mcpool/dashboard.key; as mp_path_state(). */
int mp_browser_logins_get_path(struct mp_buf *out) MP_MUST;

void mp_browser_logins_make_code(struct mp_browser_logins *l, char ret_code[MP_BROWSER_CODE + 1]);
/* False: it is unknown, used or too old. */
bool mp_browser_logins_take_code(struct mp_browser_logins *l, struct mp_str code,
				 struct mp_browser_login *ret);

/*
 * The login of a request, from its Cookie header; a holder that ends with it. NULL: none is valid,
 * or there are too many.
 */
const struct mp_holder *mp_browser_logins_find(struct mp_browser_logins *l,
					       struct mp_holders *holders, struct mp_str cookies);
/* Is this the proof of the login that this holder has? */
bool mp_browser_logins_is_proven(const struct mp_browser_logins *l, const struct mp_holder *holder,
				 struct mp_str proof);

/* If the key was changed: the holders of logins are removed. */
void mp_browser_logins_look(struct mp_browser_logins *l, struct mp_holders *holders);
/* Ends all logins, of all browsers. */
int mp_browser_logins_end_all(struct mp_browser_logins *l, struct mp_holders *holders,
			      struct mcpool_error *reterr) MP_MUST;

#endif
