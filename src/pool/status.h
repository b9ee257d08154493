/*
 * status.h - the status of a server: the one value that every display, --json and the control
 * socket show, with one table between its fields and JSON (doc/protocol.md, "Command line").
 * Texts are in an arena, secrets in them are dots from the beginning.
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

/* What `withheld` lists, for people. */
#define MP_STATUS_WITHHELD "roots, sampling, elicitation"

/* Times are since 1970, durations in the unit of their name; -1: unknown, or does not apply. */
struct mp_status {
	const char *name;
	enum mp_status_state state;
	const char *detail; /* the keeper's state, "listing"; "" without an instance */
	const char *error;  /* why it failed, or failed last, with its last line on stderr; "" */
	int64_t next_at_ms; /* of the next attempt */
	const char *transport, *mode;
	/* Not offered to it, because nothing would say which of the sessions that share it is
	 * meant. */
	struct mp_bind_list withheld;
	struct mp_status_source source;
	struct mp_str shadowed;        /* JSON: false, true (left to the host), or by which entry */
	bool is_new, is_changed;       /* never approved; approved in another form */
	const char *command, *url;     /* mp_status_add_target(); NULL: not asked for */
	int64_t tools, seen_ms;        /* how many, and when they were listed */
	int64_t pid, uptime_ms;        /* while it is connected */
	int64_t restarts, attempt;     /* attempt: while it is pending */
	int64_t calls, p50_us, p99_us; /* calls that have ended */
	int64_t waiting, open;         /* calls: for the server or a slot; with the server */
	const char *environment;       /* of its last start: "the hub, 6 variables"; "" */

	const char *message;  /* error without the line on stderr; "" */
	const char *tail;     /* the last lines of its stderr at that time; "" */
	int64_t code, fault;  /* of the error: MCPOOL_E*, enum mcpool_fault; 0: none */
	mp_id instance;       /* 0: none yet */
	const char *provider; /* the tool whose file has it: "Claude Code"; NULL: unknown */
	int64_t timeout_ms;   /* of a start */
	bool is_required;
	struct mp_bind_list tools_allowed, tools_denied;
	int64_t prompts, resources;
	int64_t failed_at_ms, since_ms; /* of the error; of detail */
	int64_t tries, max_tries;       /* attempts since it was last up; 0: without end */
	int64_t starts, unfinished;     /* unfinished calls, whatever they wait for (D13) */
	int64_t prepare_us, spawn_us, handshake_us,
		list_us; /* of the last start; -1: not reached */
	uint64_t present;
	struct mp_server_catalog *catalog; /* a reference; NULL: unknown, or not asked for */
};

/* All of it unknown, and ready. */
void mp_status_init(struct mp_status *s);
/* Taken at this moment. A failing arena leaves texts short; mp_arena_get_error() says so. */
void mp_status_take(struct mp_workspace *w, size_t i, mp_id session, struct mp_arena *arena,
		    struct mp_status *ret);
/* The same of an entry that no workspace has: what the files alone lead to. */
void mp_status_take_entry(const struct mp_config_set *set, const struct mp_entry *e,
			  struct mp_arena *arena, struct mp_status *ret);
/* Adds command or url; of an invalid entry neither. */
void mp_status_add_target(struct mp_status *s, const struct mp_entry *e, struct mp_arena *arena);

/* Which members: as a hub shows it, as `list` does, all. */
enum mp_status_view { MP_STATUS_HUB = 1 << 0, MP_STATUS_LIST = 1 << 1, MP_STATUS_ALL = 1 << 2 };
/* status_json.c. Not the catalog. */
void mp_status_write(struct mp_writer *w, const struct mp_status *s, enum mp_status_view view);
/* Of any of these forms. */
int mp_status_read(const struct mp_tape *t, mp_value v, struct mp_arena *arena,
		   struct mp_status *ret, struct mcpool_error *reterr) MP_MUST;

/* --- many of them ---------------------------------------------------------------------------- */

struct mp_status_list {
	struct mp_arena arena; /* has the texts */
	int naming;            /* enum mp_naming */
	struct mp_status *items;
	size_t n;
};

/* Empty, with room for so many. */
int mp_status_list_new(size_t max, struct mp_status_list **ret) MP_MUST;
/* In the workspace's order. only: which of them; NULL: all. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_status_list_take(struct mp_workspace *w, mp_id session, const bool *only, bool with_catalogs,
			struct mp_status_list **ret) MP_MUST;
struct mp_status_list *mp_status_list_free(
	struct mp_status_list *l); /* accepts NULL, returns NULL */
static inline void mp_status_list_freep(struct mp_status_list **l)
{
	mp_status_list_free(*l);
}
const struct mp_status *mp_status_list_find(const struct mp_status_list *l, const char *name);

/* status_json.c: as the members `naming` and `servers`. MCPOOL_ELIMIT: too large for a message; the
 * writer is of no use then. */
int mp_status_list_write(struct mp_writer *w, const struct mp_status_list *l) MP_MUST;
int mp_status_list_read(const struct mp_tape *t, mp_value v, struct mp_status_list **ret,
			struct mcpool_error *reterr) MP_MUST;

#endif
