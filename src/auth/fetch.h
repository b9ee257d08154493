/*
 * fetch.h - one request of a login, and its whole answer: a document or the answer to a form.
 */
#ifndef MP_FETCH_H
#define MP_FETCH_H

#include "base/base.h"
#include "base/buf.h"
#include "base/loop.h"
#include "base/str.h"
#include "net/http_client.h"
#include "net/http_fields.h"

enum { MP_FETCH_MAX = 256 * 1024 }; /* bytes of an answer */

struct mp_fetch_answer {
	int status;          /* 0: there is none; then why says so */
	struct mp_str body;  /* valid during the call, as is all of it */
	struct mp_str nonce; /* DPoP-Nonce; may be empty */
	enum mp_zone zone;   /* of the address that answered */
	struct mcpool_error
		why; /* no sentence has a header, a body, or more of the URL than its place */
};

typedef void (*mp_fetch_fn)(void *u, const struct mp_fetch_answer *answer);

struct mp_fetch {
	struct mp_http_client *client; /* borrowed */
	mp_id exchange;                /* 0: none */
	mp_fetch_fn fn;
	void *u;
	int status, hops;
	bool is_get;
	bool is_moved; /* the present answer is a redirect that is followed */
	char *url;     /* owned */
	struct mp_buf body, nonce;
	enum mp_zone zone;
	struct mcpool_error why;
	struct mp_http_request request; /* what a redirect keeps; without texts of the caller */
	struct mp_http_fields headers;
	struct mp_task failed; /* tells that it could not begin */
};

void mp_fetch_init(struct mp_fetch *f, struct mp_http_client *client, mp_fetch_fn fn, void *u);
/* fn is not called any more. */
void mp_fetch_done(struct mp_fetch *f);
/*
 * The one before must be answered. fn follows, once, from the loop, also if it cannot begin.
 * Redirects of a GET are followed, five at most, never from https to http. ca_file and the like are
 * borrowed until then.
 */
void mp_fetch_start(struct mp_fetch *f, const struct mp_http_request *request);

#endif
