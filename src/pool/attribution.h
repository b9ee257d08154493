/*
 * attribution.h - which session a message of a server belongs to (doc/design.md 4, V24).
 * Never a guess: what cannot be attributed to one session belongs to none.
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
	struct mp_pool_call *call; /* during which call; NULL: that cannot be said */
};

/*
 * origin: the call on whose stream it came, where that can be said; NULL: that one has ended.
 * False: there is none, or several it could be.
 */
bool mp_attribution_find(struct mp_instance *in, bool has_origin, struct mp_call *origin,
			 struct mp_attribution *ret);

/*
 * Ids of elicitations, which are spoken of after the call, in a server request to this session. And
 * whose an id is; 0: unknown.
 */
void mp_attribution_note_request(struct mp_instance *in, mp_id session, struct mp_str params);
mp_id mp_attribution_find_id(const struct mp_instance *in, struct mp_str id);

#endif
