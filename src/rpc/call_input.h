/*
 * round.h - a call that a modern server answers with "input required" (2026-07-28).
 * Its requests go to our side; with their answers the call is sent again, under a new id, until the
 * result is complete. The memory for this is taken when a server asks.
 */
#ifndef MP_ROUND_H
#define MP_ROUND_H

#include "rpc/peer.h"

enum { MP_ROUNDS_MAX = 16, MP_ROUND_REQUESTS = 64 };

/* What a result means for the call: COMPLETE, ASK or FAIL. */
enum mp_call_event mp_round_judge(struct mp_call *c, const struct mp_message *m);
/* Hand the requests to our side; FAIL, or MP_QUIET: then the call may be gone. */
enum mp_call_event mp_round_ask(struct mp_call *c);
/* Our side answers one. result: an object; empty: declined. */
void mp_round_answer(struct mp_server_slot *slot, struct mp_str result);
void mp_round_decline(struct mp_server_slot *slot, struct mp_str words);
/* Send the call again, with what was answered. */
int mp_round_send(struct mp_call *c) MP_MUST;
/* Tell our side that the open requests are over, and free it. round may be NULL. */
void mp_round_withdraw(struct mp_peer *p, struct mp_round *round);
struct mp_round *mp_round_free(struct mp_peer *p, struct mp_round *round);

#endif
