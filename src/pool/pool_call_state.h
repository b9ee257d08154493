/*
 * pool_call_state.h - states and events of a call in the pool.
 * An instance has a list of calls for each state.
 */
#ifndef MP_POOL_CALL_STATE_H
#define MP_POOL_CALL_STATE_H

#include "base/machine.h"

#define MP_POOL_CALL_STATES(X)                                                                  \
	X(MP_POOL_CALL_REST, "at rest", "not started, or it has ended and the hook was called") \
	X(MP_POOL_CALL_WAITING, "waiting", "for its server")                                    \
	X(MP_POOL_CALL_LINED, "lined up", "for a slot of its queue")                            \
	X(MP_POOL_CALL_OUT, "out", "the request is with the server")                            \
	X(MP_POOL_CALL_HELD, "held", "the server was up, nothing is asked of it yet")           \
	X(MP_POOL_CALL_ENDING, "ending", "it is over; the hook runs when the turn ends")

#define MP_POOL_CALL_EVENTS(X)                                                     \
	X(MP_POOL_CALL_ON_ASK, "ask", "see what its server does")                  \
	X(MP_POOL_CALL_ON_WAIT, "wait", "the server is on its way")                \
	X(MP_POOL_CALL_ON_UP, "up", "the server is up")                            \
	X(MP_POOL_CALL_ON_SLOT, "slot", "there is a slot for it")                  \
	X(MP_POOL_CALL_ON_HOLD, "hold", "there is nothing to send")                \
	X(MP_POOL_CALL_ON_BACK, "back", "it was not sent, and the server is gone") \
	X(MP_POOL_CALL_ON_ANSWER, "answer", "the server answered")                 \
	X(MP_POOL_CALL_ON_REFUSE, "refuse", "it cannot be; why is noted")          \
	X(MP_POOL_CALL_ON_PATIENCE, "patience", "a restart took too long")         \
	X(MP_POOL_CALL_ON_DEADLINE, "deadline", "its time is up")                  \
	X(MP_POOL_CALL_ON_CANCEL, "cancel", "the answer is no longer wanted")      \
	X(MP_POOL_CALL_ON_TELL, "tell", "the turn has ended")                      \
	X(MP_POOL_CALL_ON_END, "end", "the hook may run")

MP_MACHINE_ENUM(mp_pool_call_state, MP_POOL_CALL_STATES, MP_POOL_CALL_STATE_COUNT);
MP_MACHINE_ENUM(mp_pool_call_event, MP_POOL_CALL_EVENTS);

#endif
