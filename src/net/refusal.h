/*
 * refusal.h - an answer that is no: its head, and the beginning of what it says, kept until it can
 * be put into words.
 */
#ifndef MP_REFUSAL_H
#define MP_REFUSAL_H

#include "base/base.h"
#include "base/buf.h"
#include "net/http_fields.h"
#include "net/http_head.h"

enum { MP_REFUSAL_BODY = 64 * 1024 }; /* bytes of what it says: may be a JSON-RPC error */

struct mp_refusal {
	int status; /* 0: there is none */
	struct mp_http_fields fields;
	struct mp_buf body;
};

void mp_refusal_init(struct mp_refusal *r);
void mp_refusal_done(struct mp_refusal *r);
/* Copies; the one before is forgotten. Headers that there is no memory for are left out. */
void mp_refusal_begin(struct mp_refusal *r, const struct mp_http_head *head);
/* More of what it says. False: that was enough, more is not kept. */
bool mp_refusal_add(struct mp_refusal *r, struct mp_str bytes);
/* Valid as long as the refusal; status 0: there is none. */
struct mp_http_head mp_refusal_get_head(const struct mp_refusal *r);
/* As mp_http_status_explain(). */
void mp_refusal_explain(const struct mp_refusal *r, const char *place, int64_t wall_ms,
			struct mcpool_error *ret);
/* WWW-Authenticate: the one for tokens, or else the first; empty: there is none. */
struct mp_str mp_refusal_get_challenge(const struct mp_refusal *r);

#endif
