/*
 * failed_call.h - describes a failed call: its stage, its cause and the next step.
 * The only place that decides this, for agents (`data` of a JSON-RPC error), for --json and for
 * people (U23).
 */
#ifndef MP_FAILED_CALL_H
#define MP_FAILED_CALL_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/write.h"
#include "pool/pool_call.h"

#define MP_FAILED_STAGES(X)                                                  \
	X(CONNECT, "connect", "the server was not there for it")             \
	X(SEND, "send", "the server was there, and the call did not go out") \
	X(RECEIVE, "receive", "it went out, and no answer came back")        \
	X(DECODE, "decode", "what came back cannot be read")                 \
	X(PROTOCOL, "protocol", "the server answered, and said no")

enum mp_failed_stage {
#define X(name, word, meaning) MP_FAILED_##name,
	MP_FAILED_STAGES(X)
#undef X
		MP_FAILED_STAGE_COUNT
};
const char *mp_failed_stage_get_name(enum mp_failed_stage s);

/* All members are borrowed. */
struct mp_failed_call {
	const char *server;             /* NULL: it reached no server */
	bool is_configured;             /* the commands know its name */
	struct mp_str tool;             /* the server's own name for it; empty: not a tool */
	const char *transport;          /* "stdio"; NULL: unknown */
	const struct mcpool_error *why; /* its message begins with "MCP error: " */
	enum mp_outcome outcome;        /* ANSWERED: the server returned an error */
	bool was_up, was_out;           /* how far it got; see struct mp_pool_answer */
	unsigned attempt;               /* number of the restart attempt; 0: none */
	bool retryable;
	int64_t next_at_ms;      /* 0: unknown */
	int64_t took_us;         /* at the server; 0: it got nothing */
	struct mp_str data;      /* `data` of the server's error, JSON; or empty */
	struct mp_str tail;      /* its last stderr lines; or empty */
	const char *environment; /* environment of the server's last start; NULL: unknown */
	const char *next_step;   /* a better one from the caller; or NULL */
};

/* From the pool's answer to a failed call of a configured server. */
struct mp_failed_call mp_failed_call_of(const struct mp_pool_answer *a, struct mp_str tool);

enum mp_failed_stage mp_failed_call_get_stage(const struct mp_failed_call *f);
enum mcpool_fault mp_failed_call_get_class(const struct mp_failed_call *f);
/* One line without a full stop, with existing commands; truncated if too long; "": none. */
void mp_failed_call_get_next_step(const struct mp_failed_call *f, char *out, size_t size);

/* The part of a server's stderr that belongs to a failure: ten lines. */
struct mp_str mp_failed_call_get_last_lines(struct mp_str tail);

/* Writes the members of `data` (doc/protocol.md, "Errors") into an open object. */
void mp_failed_call_write(struct mp_writer *w, const struct mp_failed_call *f);
/*
 * As text: `MCP error: ...`, one field per line, then the last stderr lines. Secrets are redacted;
 * every line ends in a newline. now_ms: wall clock. MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_failed_call_project(const struct mp_failed_call *f, int64_t now_ms,
			   struct mp_buf *out) MP_MUST;

#endif
