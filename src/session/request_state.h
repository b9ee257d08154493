/*
 * request_state.h - the requestState that resumes a parked call (V42).
 * The text is opaque to the agent and useless to all others: it names one server request of one
 * call, with a MAC over the principal, the request and the expiry. The key lives as long as the
 * process.
 */
#ifndef MP_REQUEST_STATE_H
#define MP_REQUEST_STATE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/digest.h"

enum { MP_REQUEST_STATE_KEY = 32, MP_REQUEST_STATE_ID = 16 };

struct mp_request_state_key {
	unsigned char bytes[MP_REQUEST_STATE_KEY];
};
/* Names one server request; never reused, so that none is answered twice. */
struct mp_request_state_id {
	unsigned char bytes[MP_REQUEST_STATE_ID];
};

/* Input of the MAC, besides the id. */
struct mp_request_state_bond {
	struct mp_str principal;
	struct mp_str method;
	const unsigned char *digest; /* of the params, MP_DIGEST_SIZE bytes */
	int64_t expires_ms;          /* since 1970 */
};

void mp_request_state_make_key(struct mp_request_state_key *k);
void mp_request_state_id_make(struct mp_request_state_id *id);
/* Appends the text: visible ASCII without quotes. */
int mp_request_state_write(const struct mp_request_state_key *k,
			   const struct mp_request_state_id *id,
			   const struct mp_request_state_bond *bond, struct mp_buf *out) MP_MUST;
/* Does it begin like one of ours? Others are passed to the server. */
bool mp_request_state_is_ours(struct mp_str text);
/* Reads the id only; mp_request_state_check() verifies the text. */
bool mp_request_state_read(struct mp_str text, struct mp_request_state_id *ret_id);
/* Is it exactly what was written for this bond? */
bool mp_request_state_check(const struct mp_request_state_key *k,
			    const struct mp_request_state_id *id,
			    const struct mp_request_state_bond *bond, struct mp_str text);

#endif
