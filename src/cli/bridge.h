/*
 * bridge.h - between an agent and the hub: what `mcpool stdio` does, without the descriptors.
 * Lines pass unchanged. The bridge only keeps count of who waits for what, so that everybody is
 * answered when the hub dies, and remembers how the session began, so that it can go on with the
 * next hub without the agent's noticing (DESIGN 1).
 */
#ifndef MP_BRIDGE_H
#define MP_BRIDGE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/machine.h"
#include "base/str.h"

#define MP_BRIDGE_STATES(X)                                                                \
	X(MP_BRIDGE_RESTING, "resting", "there is no hub, and nobody needs one")           \
	X(MP_BRIDGE_SEEKING, "seeking", "a hub is looked for")                             \
	X(MP_BRIDGE_STARTING, "starting", "one was started, and does not listen yet")      \
	X(MP_BRIDGE_GREETING, "greeting", "it was told who we are")                        \
	X(MP_BRIDGE_REPLACING, "replacing", "it is older than we are, and asked to leave") \
	X(MP_BRIDGE_RESUMING, "resuming", "it is told what the last one knew")             \
	X(MP_BRIDGE_OPEN, "open", "lines come and go")                                     \
	X(MP_BRIDGE_DRAINING, "draining", "the hub leaves; what is open may finish")       \
	X(MP_BRIDGE_LEAVING, "leaving", "the agent is gone")

MP_MACHINE_ENUM(mp_bridge_state, MP_BRIDGE_STATES, MP_BRIDGE_STATE_COUNT);

#define MP_BRIDGE_WAIT_MS  10000     /* messages wait this long for a hub */
#define MP_BRIDGE_MAX_KEPT (1 << 20) /* bytes that wait; over it the agent is not read from */

struct mp_bridge;

struct mp_bridge_hooks {
	/* 0, MCPOOL_ENOENT: nobody listens; MCPOOL_EAGAIN; MCPOOL_EPERM: it is somebody else's. */
	int (*connect)(void *u, struct mcpool_error *reterr);
	/* 0: mp_bridge_is_ready() follows; MCPOOL_EAGAIN: another one is about to start. */
	int (*start_hub)(void *u, struct mcpool_error *reterr);
	/* The connection is closed from this side; mp_bridge_lost() does not follow. */
	void (*hang_up)(void *u);
	/* One message, or many with their newlines. */
	void (*say_hub)(void *u, struct mp_str line);
	void (*pour_to_hub)(void *u, struct mp_str lines);
	void (*say_agent)(void *u, struct mp_str line);
	/* mp_bridge_timer() follows after so long; -1: not at all. */
	void (*set_timer)(void *u, int64_t ms);
	int64_t (*now_ms)(void *u);
	/* All is said: end with exit code 0. */
	void (*leave)(void *u);
};

struct mp_bridge_options {
	struct mp_str hello; /* the message, borrowed */
	const char *version; /* ours */
	const char *log;     /* where a hub that does not start says why; "" */
};

struct mp_bridge *mp_bridge_new(const struct mp_bridge_options *o,
				const struct mp_bridge_hooks *hooks, void *u);
struct mp_bridge *mp_bridge_free(struct mp_bridge *b); /* accepts NULL, returns NULL */

/* What to do with a line. */
enum mp_bridge_verdict {
	MP_BRIDGE_PASS, /* forward it as it is */
	MP_BRIDGE_DROP, /* nothing; it was kept, answered, or meant for us */
};
/* size: with its line break. */
enum mp_bridge_verdict mp_bridge_from_agent(struct mp_bridge *b, struct mp_str line, size_t size);
enum mp_bridge_verdict mp_bridge_from_hub(struct mp_bridge *b, struct mp_str line);
/* One of the agent's that was too long: its first and last bytes. */
void mp_bridge_refuse_oversize(struct mp_bridge *b, struct mp_str head, struct mp_str tail);

void mp_bridge_begin(struct mp_bridge *b);
/*
 * The hub's end is closed. So many bytes were written to it; rest is what was not, from the
 * beginning of the line that was cut; rest_at is that place in all that was sent.
 */
void mp_bridge_lost(struct mp_bridge *b, uint64_t written, struct mp_str rest, uint64_t rest_at);
void mp_bridge_is_ready(struct mp_bridge *b);
void mp_bridge_timer(struct mp_bridge *b);
void mp_bridge_agent_gone(struct mp_bridge *b);
/* Shall the agent be read from? */
bool mp_bridge_wants_more(const struct mp_bridge *b);
enum mp_bridge_state mp_bridge_get_state(const struct mp_bridge *b);

#endif
