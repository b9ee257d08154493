/*
 * request_state.h - what an agent must bring back before a parked call goes on (V42).
 * The text is opaque to the agent and worthless to anybody else: it names one question of one call,
 * with a MAC over who was asked, what for and until when. The key lives as long as the process.
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
/* Names one question; a new one for each, so that none is answered twice. */
struct mp_request_state_id {
	unsigned char bytes[MP_REQUEST_STATE_ID];
};

/* What the MAC is over, besides the id. */
struct mp_request_state_bond {
	struct mp_str principal;
	struct mp_str method;
	const unsigned char *digest; /* of the params, MP_DIGEST_SIZE bytes */
	int64_t expires_ms;          /* since 1970 */
};

void mp_request_state_make_key(struct mp_request_state_key *k);
void mp_request_state_id_make(struct mp_request_state_id *id);
/* Adds the text: visible ASCII without quotes. */
int mp_request_state_write(const struct mp_request_state_key *k,
			   const struct mp_request_state_id *id,
			   const struct mp_request_state_bond *bond, struct mp_buf *out) MP_MUST;
/* Is it one of ours, as far as its beginning tells? Others' pass through. */
bool mp_request_state_is_ours(struct mp_str text);
/* Which question it names; whether it is genuine is for mp_request_state_check(). */
bool mp_request_state_read(struct mp_str text, struct mp_request_state_id *ret_id);
/* Is it word for word what was written for this? */
bool mp_request_state_check(const struct mp_request_state_key *k,
			    const struct mp_request_state_id *id,
			    const struct mp_request_state_bond *bond, struct mp_str text);

#endif
