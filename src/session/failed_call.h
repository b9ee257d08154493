/*
 * failed_call.h - a call that brought no result: what is known of it, at which stage it failed,
 * what broke, and what to do now. The one place that decides this, for agents (`data` of a JSON-RPC
 * error), for --json and for people (U23).
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

/* Everything is borrowed. */
struct mp_failed_call {
	const char *server;             /* NULL: it came to no server */
	bool is_configured;             /* it has a name that the verbs know */
	struct mp_str tool;             /* as its server calls it; empty: it is about none */
	const char *transport;          /* "stdio"; NULL: unknown */
	const struct mcpool_error *why; /* its message begins with "MCP error: " */
	enum mp_outcome outcome;        /* ANSWERED: the server itself says no */
	bool was_up, was_out;           /* how far it came; see struct mp_pool_answer */
	unsigned attempt;               /* of a restart; 0: none */
	bool retryable;
	int64_t next_at_ms;      /* 0: unknown */
	struct mp_str data;      /* what the server says beside its words, JSON; or empty */
	struct mp_str tail;      /* what it wrote to stderr last; or empty */
	const char *environment; /* whose the server's last start had; NULL: unknown */
	const char *next_step;   /* if the caller knows a better one; NULL */
};

/* What the pool says of a call of a configured server that was not answered. */
struct mp_failed_call mp_failed_call_of(const struct mp_pool_answer *a, struct mp_str tool);

enum mp_failed_stage mp_failed_call_get_stage(const struct mp_failed_call *f);
enum mcpool_fault mp_failed_call_get_class(const struct mp_failed_call *f);
/* One line without its full stop, with commands that exist; cut where it is too long; "": none. */
void mp_failed_call_get_next_step(const struct mp_failed_call *f, char *out, size_t size);

/* Of what a server wrote to stderr: as much as belongs to a failure, ten lines. */
struct mp_str mp_failed_call_get_last_lines(struct mp_str tail);

/* The members of `data` (doc/protocol.md, "Errors"), into an object that was begun. */
void mp_failed_call_write(struct mp_writer *w, const struct mp_failed_call *f);
/*
 * As text: `MCP error: ...`, a field in each line, then its last lines on stderr. Secrets are dots;
 * every line ends. now_ms: on the wall's clock. MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_failed_call_project(const struct mp_failed_call *f, int64_t now_ms,
			   struct mp_buf *out) MP_MUST;

#endif
