/*
 * status.h - the status of a server: the one value that every display, --json and the control
 * socket show.
 * One table maps its fields to JSON (doc/protocol.md, "Command line"). Texts are in an arena;
 * secrets in them are already redacted.
 */
#ifndef MP_STATUS_H
#define MP_STATUS_H

#include "base/arena.h"
#include "base/base.h"
#include "json/bind.h"
#include "json/write.h"
#include "pool/pool.h"

/* Where an entry is configured. */
struct mp_status_source {
	const char *file;
	int64_t line;
	const char *tool, *level;
	uint64_t present;
};

/* Display text for `withheld`. */
#define MP_STATUS_WITHHELD "roots, sampling, elicitation"

/* Times are since 1970, durations in the unit of their name; -1: unknown or not applicable. */
struct mp_status {
	const char *name;
	enum mp_status_state state;
	const char *connection; /* the state in three words (A28); set when it is written */
	const char *detail;     /* the keeper's state, "listing"; "" without an instance */
	const char *error;      /* the last failure with its last stderr line; "" */
	int64_t next_at_ms;     /* of the next attempt */
	const char *transport, *mode;
	/* Not offered to it, because its requests could not be attributed to a session. */
	struct mp_bind_list withheld;
	struct mp_status_source source;
	struct mp_str shadowed;    /* JSON: false, true (left to the host), or an object */
	bool is_new, is_changed;   /* never approved; approved in another form */
	const char *command, *url; /* mp_status_add_target(); NULL: not asked for */
	int64_t tools, seen_ms;    /* their number, and when they were listed */
	int64_t pid, uptime_ms;    /* while it is connected */
	int64_t restarts;
	int64_t attempt, max_attempts; /* number of the retry, of at most so many (C6) */
	int64_t calls, p50_us, p99_us; /* calls that have ended */
	int64_t failures; /* of them: without an answer, or with an error; not cancelled ones */
	int64_t waiting, open;   /* calls that wait for the server or a slot; calls at the server */
	const char *environment; /* of its last start: "the hub, 6 variables"; "" */
	/* Of its process and all descendants, as measured last (usage.h). */
	int64_t memory, cpu_us, processes;
	int64_t sessions;          /* that see it, as counted last */
	int64_t calls_last_minute; /* that have ended */
	int64_t tool_tokens;       /* what its tools cost a model, estimated */
	struct mp_str history;     /* JSON: calls per 15 s of the last 15 minutes; empty: none */

	const char *message;  /* error without the line on stderr; "" */
	const char *tail;     /* the last stderr lines at that time; "" */
	int64_t code, fault;  /* of the error: MCPOOL_E*, enum mcpool_fault; 0: none */
	mp_id instance;       /* 0: none yet */
	const char *provider; /* the tool that owns its file: "Claude Code"; NULL: unknown */
	int64_t timeout_ms;   /* of a start */
	bool is_required;
	struct mp_bind_list tools_allowed, tools_denied;
	int64_t prompts, resources;
	int64_t failed_at_ms, since_ms; /* of the error; of detail */
	int64_t tries, max_tries;       /* retries since it was last stable; 0: unlimited */
	int64_t starts, unfinished;     /* calls that have not ended, in any state (D13) */
	int64_t prepare_us, spawn_us, handshake_us,
		list_us; /* of the last start; -1: not reached */
	/* What a connected server said of itself; empty and NULL: not asked for (MP_STATUS_HELLO).
	 */
	struct mp_str capabilities, server_info; /* JSON */
	const char *protocol, *instructions;
	struct mp_str health; /* JSON, empty: not asked for: health.h */
	uint64_t present;
	struct mp_server_catalog *catalog; /* a reference; NULL: unknown, or not asked for */
};

/* Sets all fields to unknown. */
void mp_status_init(struct mp_status *s);
/* Takes the current status. If the arena fails, texts are missing; mp_arena_get_error() says so. */
void mp_status_take(struct mp_workspace *w, size_t i, mp_id session, struct mp_arena *arena,
		    struct mp_status *ret);
/* Adds health: why it does not work, what to type, its limits and last changes. */
void mp_status_add_health(struct mp_status *s, struct mp_workspace *w, size_t i, mp_id session,
			  struct mp_arena *arena);
/* The same for an entry without a workspace: from the files alone. */
void mp_status_take_entry(const struct mp_config_set *set, const struct mp_entry *e,
			  struct mp_arena *arena, struct mp_status *ret);
/* Adds command or url; neither for an invalid entry. */
void mp_status_add_target(struct mp_status *s, const struct mp_entry *e, struct mp_arena *arena);

/* Which members: those of the hub, those of `list`, those of `get`, all. */
enum mp_status_view {
	MP_STATUS_HUB = 1 << 0,
	MP_STATUS_LIST = 1 << 1,
	MP_STATUS_ONE = 1 << 2,
	MP_STATUS_ALL = 1 << 3
};
/* status_json.c. Without the catalog. */
void mp_status_write(struct mp_writer *w, const struct mp_status *s, enum mp_status_view view);
/* Reads any of these forms. */
int mp_status_read(const struct mp_tape *t, mp_value v, struct mp_arena *arena,
		   struct mp_status *ret, struct mcpool_error *reterr) MP_MUST;

/* --- lists ----------------------------------------------------------------------------------- */

struct mp_status_list {
	struct mp_arena arena; /* owns the texts */
	int naming;            /* enum mp_naming */
	struct mp_status *items;
	size_t n;
};

/* Empty, with capacity max. */
int mp_status_list_new(size_t max, struct mp_status_list **ret) MP_MUST;
/* What a list has beyond the statuses. */
enum { MP_STATUS_CATALOG = 1 << 0, MP_STATUS_HELLO = 1 << 1 };
/* In the workspace's order. only: a selection; NULL: all. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_status_list_take(struct mp_workspace *w, mp_id session, const bool *only, unsigned with,
			struct mp_status_list **ret) MP_MUST;
struct mp_status_list *mp_status_list_free(
	struct mp_status_list *l); /* accepts NULL, returns NULL */
static inline void mp_status_list_freep(struct mp_status_list **l)
{
	mp_status_list_free(*l);
}
const struct mp_status *mp_status_list_find(const struct mp_status_list *l, const char *name);

/*
 * status_json.c: the members `naming` and `servers`. MCPOOL_ELIMIT: too large for a message; the
 * writer cannot be used afterwards.
 */
int mp_status_list_write(struct mp_writer *w, const struct mp_status_list *l) MP_MUST;
int mp_status_list_read(const struct mp_tape *t, mp_value v, struct mp_status_list **ret,
			struct mcpool_error *reterr) MP_MUST;

#endif
