/*
 * http_token.h - the HTTP bearer token: a file that only this user can read.
 * It is created if missing and checked again before every decision: a changed token is invalid at
 * once (V19). Only the token in the file is accepted (V18).
 */
#ifndef MP_HTTP_TOKEN_H
#define MP_HTTP_TOKEN_H

#include <time.h>

#include "base/base.h"
#include "base/str.h"

enum {
	MP_HTTP_TOKEN_BYTES = 32, /* random bytes; written as hex digits */
	MP_HTTP_TOKEN_LEAST = 32, /* minimum length of a token written by hand */
	MP_HTTP_TOKEN_MOST = 512,
	MP_HTTP_TOKEN_MARK = 16, /* length of its fingerprint */
};

struct mp_http_token {
	char *path;      /* owned */
	uint64_t season; /* incremented when the file changes */
	bool is_valid;   /* false: nothing matches */
	char text[MP_HTTP_TOKEN_MOST + 1];
	size_t len;
	struct mp_http_token_trace { /* identity of the file that was read */
		uint64_t device, inode;
		int64_t size;
		struct timespec modified, changed;
	} trace;
};

/* Read the token, or create it. MCPOOL_EPERM, MCPOOL_EINVAL, MCPOOL_EIO with a reason. */
int mp_http_token_open(struct mp_http_token *t, const char *path,
		       struct mcpool_error *reterr) MP_MUST;
void mp_http_token_done(struct mp_http_token *t);

/* Read the file again if it changed. True: the season is new. */
bool mp_http_token_look(struct mp_http_token *t);
/* Compares in constant time. */
bool mp_http_token_matches(const struct mp_http_token *t, struct mp_str presented);
/* A fingerprint that identifies the token and does not reveal it. */
void mp_http_token_get_mark(const struct mp_http_token *t, char mark[MP_HTTP_TOKEN_MARK + 1]);

/* Replace the token (mcpool token). */
int mp_http_token_rotate(const char *path, struct mcpool_error *reterr) MP_MUST;
/* $XDG_STATE_HOME/mcpool/token; as mp_path_state(). */
struct mp_buf;
int mp_http_token_get_path(struct mp_buf *out) MP_MUST;

#endif
