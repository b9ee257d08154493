/*
 * call_input.h - a call that a modern server answers with "input required" (2026-07-28).
 * Its requests go to our side; with their answers the call is sent again, under a new id, until the
 * result is complete. The memory for this is taken when a server asks.
 */
#ifndef MP_CALL_INPUT_H
#define MP_CALL_INPUT_H

#include "rpc/peer.h"

enum { MP_CALL_INPUT_MAX = 16, MP_CALL_INPUT_REQUESTS = 64 };

/* What a result means for the call: COMPLETE, ASK or FAIL. */
enum mp_call_event mp_call_input_judge(struct mp_call *c, const struct mp_message *m);
/* Hand the requests to our side; FAIL, or MP_QUIET: then the call may be gone. */
enum mp_call_event mp_call_input_serve(struct mp_call *c);
/* Our side answers one. result: an object; empty: declined. */
void mp_call_input_answer(struct mp_server_slot *slot, struct mp_str result);
void mp_call_input_decline(struct mp_server_slot *slot, struct mp_str words);
/* Send the call again, with what was answered. */
int mp_call_input_send(struct mp_call *c) MP_MUST;
/* Tell our side that the open requests are over, and free it. input may be NULL. */
void mp_call_input_withdraw(struct mp_peer *p, struct mp_call_input *input);
struct mp_call_input *mp_call_input_free(struct mp_peer *p, struct mp_call_input *input);

#endif
