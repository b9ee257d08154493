/*
 * http_token.h - the secret that HTTP needs: a file of this user's alone.
 * It is made when it is missing, and it is looked at again before every decision: a token that was
 * changed is void from that moment (V19). There is no token that is not in the file (V18).
 */
#ifndef MP_HTTP_TOKEN_H
#define MP_HTTP_TOKEN_H

#include <time.h>

#include "base/base.h"
#include "base/str.h"

enum {
	MP_HTTP_TOKEN_BYTES = 32, /* of randomness; written as twice as many digits */
	MP_HTTP_TOKEN_LEAST = 32, /* characters of one that somebody wrote there */
	MP_HTTP_TOKEN_MOST = 512,
	MP_HTTP_TOKEN_MARK = 16, /* characters of its name for people */
};

struct mp_http_token {
	char *path;      /* owned */
	uint64_t season; /* goes up whenever the file has changed */
	bool is_valid;   /* there is one; otherwise nothing matches */
	char text[MP_HTTP_TOKEN_MOST + 1];
	size_t len;
	struct mp_http_token_trace { /* of the file as it was read */
		uint64_t device, inode;
		int64_t size;
		struct timespec modified, changed;
	} trace;
};

/* Read it, made if it is missing. MCPOOL_EPERM, MCPOOL_EINVAL, MCPOOL_EIO with words. */
int mp_http_token_open(struct mp_http_token *t, const char *path,
		       struct mcpool_error *reterr) MP_MUST;
void mp_http_token_done(struct mp_http_token *t);

/* Is it the file that was read? Read it again if not. True: the season is a new one. */
bool mp_http_token_look(struct mp_http_token *t);
/* In a time that does not depend on where they differ. */
bool mp_http_token_matches(const struct mp_http_token *t, struct mp_str presented);
/* A name for whoever holds it, from which it cannot be found out. */
void mp_http_token_get_mark(const struct mp_http_token *t, char mark[MP_HTTP_TOKEN_MARK + 1]);

/* A new one in its place (mcpool token). */
int mp_http_token_rotate(const char *path, struct mcpool_error *reterr) MP_MUST;
/* $XDG_STATE_HOME/mcpool/token; as mp_path_state(). */
struct mp_buf;
int mp_http_token_get_path(struct mp_buf *out) MP_MUST;

#endif
