/*
 * attribution.h - finds the session that a message of a server belongs to (doc/design.md 4, V24).
 * It never guesses: a message that cannot be attributed to one session belongs to none.
 */
#ifndef MP_ATTRIBUTION_H
#define MP_ATTRIBUTION_H

#include "base/base.h"
#include "base/ids.h"
#include "rpc/message.h"

struct mp_instance;
struct mp_pool_call;
struct mp_call;

struct mp_attribution {
	mp_id session;
	struct mp_pool_call *call; /* the call it belongs to; NULL: unknown */
};

/*
 * origin: the call on whose stream the message came, if has_origin; NULL: that call has ended.
 * Returns false if no session or more than one session matches.
 */
bool mp_attribution_find(struct mp_instance *in, bool has_origin, struct mp_call *origin,
			 struct mp_attribution *ret);

/*
 * Records the ids of elicitations in a server request to this session. The server refers to them
 * after the call. The lookup returns the session of an id; 0: unknown.
 */
void mp_attribution_note_request(struct mp_instance *in, mp_id session, struct mp_str params);
mp_id mp_attribution_find_id(const struct mp_instance *in, struct mp_str id);

#endif
