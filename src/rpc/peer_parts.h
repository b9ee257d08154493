/* peer_parts.h - what the two files of the peer share. */
#ifndef MP_PEER_PARTS_H
#define MP_PEER_PARTS_H

#include "rpc/peer.h"

/* The open call of ours with this id; NULL for one that is not, or not any more. */
struct mp_call *mp_peer_find_ours(struct mp_peer *p, struct mp_str id);
void mp_peer_take_request(struct mp_peer *p, const struct mp_message *m);
void mp_peer_take_answer(struct mp_peer *p, const struct mp_message *m);
void mp_peer_refuse_id(struct mp_peer *p, struct mp_str id, int code, struct mp_str words);
/* The words of an ending without an answer, to be written. */
struct mcpool_error *mp_peer_get_why(struct mp_call *c);

#endif
