/* peer_parts.h - what the files of a conversation share: peer*.c and round.c. */
#ifndef MP_PEER_PARTS_H
#define MP_PEER_PARTS_H

#include "rpc/peer.h"

/* A request of the server that our side has not answered. */
struct mp_server_slot {
	mp_id id;             /* in the peer's server_requests */
	struct mp_call *call; /* modern: the call whose answer it was in; NULL: legacy */
	/* legacy */
	struct mp_link link; /* in the peer's serving */
	char *their_id;      /* as they wrote it; owned */
	/* modern */
	mp_value key;         /* on the round's tape */
	struct mp_buf answer; /* empty: not yet */
};

/* peer_call.c: the only way a call's state changes. */
void mp_call_advance(struct mp_call *c, enum mp_call_event ev);
/* Forget it without calling its hook. */
void mp_call_drop(struct mp_call *c);
/* RESUME when the turn ends: the last reply may come from within a hook. */
void mp_call_resume_later(struct mp_call *c);

/* Write and send a call: an id of its own, and its time begins. */
int mp_peer_send(struct mp_call *c, struct mp_str params) MP_MUST;
void mp_peer_tell_cancelled(struct mp_call *c, const char *reason);
/* Send what is in `out`. */
int mp_peer_send_out(struct mp_peer *p, uint64_t *ret_at) MP_MUST;

/* peer_serve.c */
void mp_peer_take_request(struct mp_peer *p, const struct mp_message *m);
/* They no longer want the answer to a request. */
void mp_peer_withdraw(struct mp_peer *p, struct mp_server_slot *slot);
void mp_peer_free_slot(struct mp_peer *p, struct mp_server_slot *slot); /* legacy */
void mp_peer_refuse_id(struct mp_peer *p, struct mp_str id, int code, struct mp_str words);

#endif
