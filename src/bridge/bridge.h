/*
 * bridge.h - connects one agent to the hub: the logic of `mcpool stdio`, without descriptors.
 * Lines are forwarded unchanged. The bridge notes unanswered requests, so that each is answered
 * when the hub dies, and the session's state, so that the session continues with the next hub.
 */
#ifndef MP_BRIDGE_H
#define MP_BRIDGE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/machine.h"
#include "base/str.h"
#include "bridge/inflight.h"

#define MP_BRIDGE_STATES(X)                                                               \
	X(MP_BRIDGE_RESTING, "resting", "no hub, and none is needed")                     \
	X(MP_BRIDGE_SEEKING, "seeking", "looks for a hub")                                \
	X(MP_BRIDGE_STARTING, "starting", "started a hub that does not listen yet")       \
	X(MP_BRIDGE_GREETING, "greeting", "sent hello, waits for the answer")             \
	X(MP_BRIDGE_REPLACING, "replacing", "asks an older hub to shut down")             \
	X(MP_BRIDGE_RESUMING, "resuming", "sends a new hub the state of the session")     \
	X(MP_BRIDGE_OPEN, "open", "forwards lines")                                       \
	X(MP_BRIDGE_DRAINING, "draining", "the hub shuts down; open requests may finish") \
	X(MP_BRIDGE_LEAVING, "leaving", "the agent has gone")

MP_MACHINE_ENUM(mp_bridge_state, MP_BRIDGE_STATES, MP_BRIDGE_STATE_COUNT);

#define MP_BRIDGE_WAIT_MS  10000     /* how long messages wait for a hub */
#define MP_BRIDGE_MAX_KEPT (1 << 20) /* waiting bytes; above it the agent is not read */

struct mp_bridge;

struct mp_bridge_hooks {
	/* 0; MCPOOL_ENOENT: no hub listens; MCPOOL_EAGAIN; MCPOOL_EPERM: another user's hub. */
	int (*connect)(void *u, struct mcpool_error *reterr);
	/* 0: mp_bridge_hub_ready() follows; MCPOOL_EAGAIN: another process starts one. */
	int (*start_hub)(void *u, struct mcpool_error *reterr);
	/* Closes the connection; mp_bridge_lost() does not follow. */
	void (*disconnect)(void *u);
	/* One message; or several, each with its newline. */
	void (*send_hub)(void *u, struct mp_str line);
	void (*send_hub_lines)(void *u, struct mp_str lines);
	void (*send_agent)(void *u, struct mp_str line);
	/* mp_bridge_timer() follows after ms; -1 stops the timer. */
	void (*set_timer)(void *u, int64_t ms);
	int64_t (*now_ms)(void *u);
	/* The bridge is finished. */
	void (*leave)(void *u);
};

struct mp_bridge_options {
	struct mp_str hello; /* the hello message, borrowed */
	const char *version; /* of this program */
	const char *log;     /* log file of the hub, for error messages, or "" */
};

struct mp_bridge *mp_bridge_new(const struct mp_bridge_options *o,
				const struct mp_bridge_hooks *hooks, void *u);
struct mp_bridge *mp_bridge_free(struct mp_bridge *b); /* accepts NULL, returns NULL */

enum mp_bridge_action {
	MP_BRIDGE_FORWARD, /* forward the line unchanged */
	MP_BRIDGE_DROP,    /* the line was kept, answered, or was for the bridge */
};
/* size includes the line break. */
enum mp_bridge_action mp_bridge_from_agent(struct mp_bridge *b, struct mp_str line, size_t size);
enum mp_bridge_action mp_bridge_from_hub(struct mp_bridge *b, struct mp_str line);
/* Reject an agent's line above the limit: its first and last bytes. */
void mp_bridge_refuse_oversize(struct mp_bridge *b, struct mp_str head, struct mp_str tail);

void mp_bridge_start(struct mp_bridge *b);
/*
 * The hub closed the connection after `written` bytes. rest is what was not written, from the
 * start of the line that was cut off; rest_at is the offset of that start.
 */
void mp_bridge_lost(struct mp_bridge *b, uint64_t written, struct mp_str rest, uint64_t rest_at);
void mp_bridge_hub_ready(struct mp_bridge *b);
void mp_bridge_timer(struct mp_bridge *b);
void mp_bridge_agent_gone(struct mp_bridge *b);
/* May the agent be read? */
bool mp_bridge_wants_more(const struct mp_bridge *b);
enum mp_bridge_state mp_bridge_get_state(const struct mp_bridge *b);

/* --- for the files of the bridge ------------------------------------------------------------- */

struct mp_bridge {
	struct mp_bridge_options o;
	const struct mp_bridge_hooks *hooks;
	void *u;
	enum mp_bridge_state state;
	struct mp_inflight inflight;
	uint64_t queued;         /* bytes sent to this hub */
	struct mp_buf kept;      /* lines for the next hub */
	unsigned replaced;       /* how many older hubs were asked to shut down */
	bool shutdown_sent;      /* to this hub */
	int64_t protocol;        /* of the hub that is replaced */
	int64_t successor_ms;    /* until then another process starts the next hub */
	int64_t give_up_ms;      /* then waiting requests are rejected */
	int64_t retry_ms;        /* delay of the next attempt to connect */
	unsigned replays;        /* requests of our own that are not answered */
	uint64_t last_own;       /* last id of our own */
	bool was_open;           /* the agent has used a hub: the next one may have other lists */
	unsigned changed;        /* lists to announce as changed; bits of LISTS */
	struct mcpool_error why; /* why there is no hub */
};

/* hub_lost.c: answer with an error of its table. */
void mp_bridge_answer(struct mp_bridge *b, struct mp_str id, int code, const char *words);
/* The hub died; parameters as in mp_bridge_lost(). */
void mp_bridge_keep_unsent(struct mp_bridge *b, uint64_t written, struct mp_str rest,
			   uint64_t rest_at);
/* Cancel the lost hub's requests to the agent. */
void mp_bridge_cancel_server_requests(struct mp_bridge *b);
/* Reject all requests that wait: they were never sent. */
void mp_bridge_refuse_kept(struct mp_bridge *b);
/* Reject the requests of the line that ends there in what is kept. */
void mp_bridge_refuse_one(struct mp_bridge *b, uint64_t end);

#endif
